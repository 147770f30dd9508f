// The routes of background shells on a real unix socket: what reaches the daemon, what comes back, what is no request at
// all, and that nothing an agent has to be told is lost on the way.

import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { createClient } from '../../../src/api/client.ts';
import { feedChangesSchema, feedSnapshotSchema } from '../../../src/api/feed.ts';
import { pathTo } from '../../../src/api/requests.ts';
import { type DocumentName, documents } from '../../../src/api/routes.ts';
import type { ShellEventItem } from '../../../src/api/shells.ts';
import { failure } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createSimulatedClock } from '../../../src/platform/simulated/clock.ts';
import { ask, type Reply, startServer, type TestServer } from './kit.ts';
import { finishedRow, owner, shellNotice, shellRow } from './kit-shells.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startServer();
});
afterEach(async () => {
  await server.close();
});

const get = (path: string): Promise<Reply> => ask(server, { path });
const post = (path: string, body: unknown): Promise<Reply> =>
  ask(server, { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

function parsed<Name extends DocumentName>(reply: Reply, name: Name): z.infer<(typeof documents)[Name]> {
  expect(reply.status).toBe(200);
  return documents[name].parse(JSON.parse(reply.text)) as z.infer<(typeof documents)[Name]>;
}

const codeOf = (reply: Reply): readonly [number, string] => [reply.status, JSON.parse(reply.text).error.code];
const client = () => createClient({ socketPath: server.path, clock: createRealClock() });
const wanted = { command: 'make', cwd: '/repo' };

describe('POST /v1/shells', () => {
  it('SHL2 is one long request: answered when the command has ended or went to the background', async () => {
    const body = {
      ...{ ...wanted, label: 'build', expected_duration_s: 90, timeout_s: 600.5, tty: true, env: { A: 'b=c' } },
      ...{ budget_ms: 55_000, call_id: 'call-7', pid: 42, client: 'codex 1', thread: 't1' },
    };
    const told = client().post('/v1/shells', body);
    await expect.poll(() => server.daemon.shells.isWaiting('make')).toBe(true);
    expect(server.daemon.shells.asked).toEqual([
      {
        what: 'run',
        value: {
          ...{ ...wanted, label: 'build', run_in_background: false, expected_duration_s: 90, timeout_s: 600.5 },
          ...{ tty: true, env: { A: 'b=c' }, budget_ms: 55_000, call_id: 'call-7' },
        },
        claim: { pid: 42, client: 'codex 1', thread: 't1', via: null },
      },
    ]);
    server.daemon.shells.answer('make', { result: 'Running', shell: shellRow() });
    const { result, shell } = await told;
    expect([result, shell?.shell_id, shell?.started_at]).toEqual([
      'Running',
      'shell-1',
      new Date(server.daemon.toWall(990_000)).toISOString(),
    ]);
    expect(server.daemon.shells.cancelled).toBe(0);
  });

  it('what was left out has its default', async () => {
    parsed(await post('/v1/shells', { ...wanted, run_in_background: true }), 'ShellReceipt');
    expect(server.daemon.shells.asked[0]).toMatchObject({
      value: {
        label: null,
        expected_duration_s: null,
        timeout_s: null,
        tty: false,
        env: {},
        budget_ms: null,
        call_id: '',
      },
      claim: { pid: null, client: null, thread: null },
    });
  });

  it('SHL7 a client that leaves cancels its command, and only its own', async () => {
    const leaving = new AbortController();
    const left = client().post('/v1/shells', { ...wanted, command: 'first' }, { signal: leaving.signal });
    const stays = client().post('/v1/shells', { ...wanted, command: 'second' });
    await expect
      .poll(() => server.daemon.shells.isWaiting('first') && server.daemon.shells.isWaiting('second'))
      .toBe(true);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await expect.poll(() => server.daemon.shells.cancelled).toBe(1);
    server.daemon.shells.answer('second');
    expect(await stays).toMatchObject({ result: 'Completed' });
    expect(server.daemon.shells.cancelled).toBe(1);
  });

  it('ACT4 a refusal is an answer, with the code that commands use', async () => {
    const refusal = failure('E_ROLE', 'only agents start shells', 'run it yourself');
    server.daemon.shells.told = { result: 'Refused', reason: refusal.message, failure: refusal };
    const told = parsed(await post('/v1/shells', { ...wanted, run_in_background: true }), 'ShellReceipt');
    expect(told).toMatchObject({ result: 'Refused', failure: refusal });
  });

  it.each([
    [{ cwd: '/repo' }],
    [{ command: '', cwd: '/repo' }],
    [{ command: 'a\0b', cwd: '/repo' }],
    [{ command: 'a'.repeat(limits.shellCommandBytesMax + 1), cwd: '/repo' }],
    [{ command: 'make', cwd: 'repo' }],
    [{ command: 'make' }],
    [{ ...wanted, timeout_s: 0 }],
    [{ ...wanted, timeout_s: limits.shellTimeoutSecondsMax + 1 }],
    [{ ...wanted, budget_ms: limits.shellBudgetMs + 1 }],
    [{ ...wanted, env: { 'A=B': 'c' } }],
    [{ ...wanted, env: { A: 'c\0' } }],
    [{ ...wanted, run_in_backgrund: true }],
    [{ ...wanted, pid: -1 }],
  ])('is no request, and nothing is run: %j', async (body) => {
    expect(codeOf(await post('/v1/shells', body))).toEqual([400, 'E_INPUT']);
    expect(server.daemon.shells.asked).toEqual([]);
  });

  it('an environment of a megabyte passes, and one over the limit of a request does not', async () => {
    const env = { BIG: 'x'.repeat(1_000_000) };
    parsed(await post('/v1/shells', { ...wanted, env, run_in_background: true }), 'ShellReceipt');
    const over = { ...wanted, env: { BIG: 'x'.repeat(limits.requestBytesMax) } };
    expect(codeOf(await post('/v1/shells', over))).toEqual([413, 'E_TOO_LARGE']);
  });
});

describe('GET /v1/shells', () => {
  beforeEach(() => {
    const { shells } = server.daemon;
    shells.put(shellRow({ shell_id: 'shell-1', owner: owner('pid:42') }));
    shells.put(finishedRow({ shell_id: 'shell-2', owner: owner('pid:42') }));
    shells.put(finishedRow({ shell_id: 'shell-3', status: 'failed', exit_code: 1, owner: owner('pid:43') }));
  });

  const idsOf = async (query: string): Promise<readonly string[]> =>
    parsed(await get(`/v1/shells${query}`), 'ShellList').items.map(({ shell_id }) => shell_id);

  it('tells those that run, and the others on request', async () => {
    expect(await idsOf('')).toEqual(['shell-1']);
    expect(await idsOf('?completed')).toEqual(['shell-1', 'shell-2']);
    expect(await idsOf('?failed')).toEqual(['shell-1', 'shell-3']);
    expect(await idsOf('?completed&failed')).toEqual(['shell-1', 'shell-2', 'shell-3']);
  });

  it('tells an agent its own, and counts what it has besides', async () => {
    const list = parsed(await get('/v1/shells?owner=mine&pid=42'), 'ShellList');
    expect(list).toMatchObject({
      filters: { ref: null, completed: false, failed: false, owner: 'mine' },
      summary: { running: 1, completed: 1, failed: 0 },
      items: [{ shell_id: 'shell-1' }],
    });
    expect(await idsOf('?owner=mine&pid=7&completed&failed')).toEqual([]);
  });

  it('tells the one that is named, whatever became of it', async () => {
    expect(await idsOf('?ref=shell-3')).toEqual(['shell-3']);
    expect(codeOf(await get('/v1/shells?ref=shell-9'))).toEqual([404, 'E_REF_NOT_FOUND']);
  });

  it('reads as a table for who asks for text', async () => {
    const { text, headers } = await get('/v1/shells?completed&failed&format=text&columns=100');
    expect(headers['content-type']).toContain('text/plain');
    for (const id of ['shell-1', 'shell-2', 'shell-3']) expect(text).toContain(id);
  });

  it('refuses a filter that it does not know', async () => {
    expect(codeOf(await get('/v1/shells?complete'))).toEqual([400, 'E_FILTER']);
    expect(codeOf(await get('/v1/shells?owner=yours'))).toEqual([400, 'E_FILTER']);
  });
});

describe('one shell', () => {
  beforeEach(() => {
    server.daemon.shells.put(shellRow({ label: 'build / test' }));
  });

  it('SHL5 its log is asked for page by page', async () => {
    const page = parsed(await get('/v1/shells/shell-1/log?mode=body&cursor=1:4096&lines=7'), 'ShellPage');
    expect(page).toMatchObject({ shell_id: 'shell-1', lines: ['one', 'two'], cursor: '1:8', notices: [] });
    await get('/v1/shells/shell-1/log');
    expect(server.daemon.shells.asked.map(({ value }) => value)).toEqual([
      { ref: 'shell-1', mode: 'body', cursor: '1:4096', lines: 7 },
      { ref: 'shell-1', mode: 'tail', cursor: null, lines: null },
    ]);
  });

  it('SHL5 what is no page is refused', async () => {
    expect(codeOf(await get('/v1/shells/shell-9/log'))).toEqual([404, 'E_REF_NOT_FOUND']);
    expect(codeOf(await get('/v1/shells/shell-1/log?cursor=here'))).toEqual([400, 'E_INPUT']);
    for (const query of ['lines=0', `lines=${limits.shellPageLinesMax + 1}`, 'mode=all', 'page=2']) {
      expect(codeOf(await get(`/v1/shells/shell-1/log?${query}`))).toEqual([400, 'E_FILTER']);
    }
  });

  it.each(['kill', 'background', 'resume', 'seen'] as const)('%s reaches the daemon with who asks', async (what) => {
    const told = await client().post(pathTo(`/v1/shells/{ref}/${what}`, { ref: 'build / test' }), {
      pid: 42,
      via: 'command line',
    });
    expect(told).toMatchObject({ shell: { shell_id: 'shell-1' }, failure: null, notices: [] });
    expect(server.daemon.shells.asked).toEqual([
      { what, value: 'build / test', claim: { pid: 42, client: null, thread: null, via: 'command line' } },
    ]);
  });

  it('one that is not there is an answer too', async () => {
    const told = parsed(await post('/v1/shells/shell-9/kill', {}), 'ShellReceipt');
    expect(told).toMatchObject({ result: 'NotFound', shell: null, failure: { code: 'E_REF_NOT_FOUND' } });
  });

  it('what is no request changes nothing', async () => {
    expect(codeOf(await post('/v1/shells/shell-1/kill', { via: 'a window' }))).toEqual([400, 'E_INPUT']);
    expect(codeOf(await post('/v1/shells/shell-1/kill?now', {}))).toEqual([400, 'E_FILTER']);
    expect(codeOf(await post('/v1/shells/shell-1/explode', {}))).toEqual([404, 'E_ROUTE']);
    expect(server.daemon.shells.asked).toEqual([]);
  });
});

describe('notices', () => {
  const notice = shellNotice();
  const words = (reply: { readonly notices: readonly { readonly words: string }[] }): readonly string[] =>
    reply.notices.map((one) => one.words);

  beforeEach(() => {
    server.daemon.shells.put(shellRow());
    server.daemon.shells.notices.set('pid:42', [notice]);
  });

  it.each([
    ['the list', async () => parsed(await get('/v1/shells?pid=42&take_notices'), 'ShellList')],
    ['a log page', async () => parsed(await get('/v1/shells/shell-1/log?pid=42&take_notices'), 'ShellPage')],
    [
      'a deed',
      () => client().post(pathTo('/v1/shells/{ref}/kill', { ref: 'shell-1' }), { pid: 42, take_notices: true }),
    ],
    ['a run', () => client().post('/v1/shells', { ...wanted, run_in_background: true, pid: 42, take_notices: true })],
    ['no shell at all', () => client().post('/v1/shells/notices', { pid: 42 })],
  ])('SHL7 come once with whatever is asked: %s', async (_, answer) => {
    expect(words(await answer())).toEqual([notice.words]);
    expect(words(await answer())).toEqual([]);
  });

  it('SHL7 are not taken by another, nor by who does not ask for them', async () => {
    expect(words(parsed(await get('/v1/shells?pid=42'), 'ShellList'))).toEqual([]);
    expect(words(parsed(await get('/v1/shells?pid=43&take_notices'), 'ShellList'))).toEqual([]);
    expect(words(await client().post('/v1/shells/notices', { pid: 42 }))).toEqual([notice.words]);
  });

  /** Sends a request by hand. */
  function knock(path: string, body: string): Socket {
    const socket = connect({ path: server.path });
    socket.on('error', () => undefined);
    const head = `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
    socket.write(`${head}\r\n\r\n${body}`);
    return socket;
  }

  it('SHL7 are not lost when the reply could not be written', async () => {
    let takes = 0;
    const socket = knock('/v1/shells/notices', '{"pid":42}');
    server.daemon.shells.onTaken = () => {
      takes += 1;
      socket.destroy();
    };
    await expect.poll(() => takes).toBe(1);
    await expect.poll(() => server.daemon.shells.notices.get('pid:42')?.length).toBe(1);
    server.daemon.shells.onTaken = () => undefined;
    expect(words(await client().post('/v1/shells/notices', { pid: 42 }))).toEqual([notice.words]);
    expect(words(await client().post('/v1/shells/notices', { pid: 42 }))).toEqual([]);
  });

  it('SHL7 stay for one that left while its command ran', async () => {
    const socket = knock('/v1/shells', JSON.stringify({ ...wanted, pid: 42, take_notices: true }));
    await expect.poll(() => server.daemon.shells.isWaiting('make')).toBe(true);
    socket.destroy();
    await expect.poll(() => server.daemon.shells.cancelled).toBe(1);
    await expect.poll(() => server.connections()).toBe(0);
    expect(server.daemon.shells.notices.get('pid:42')).toEqual([notice]);
  });
});

describe('shells on the feed', () => {
  interface Heard {
    readonly keys: string[];
    readonly events: ShellEventItem[];
    cursor: string;
    leave(): Promise<void>;
  }

  async function follow(scope: 'all' | 'shells' | 'panes', since?: string): Promise<Heard> {
    const leaving = new AbortController();
    const heard: Heard = { keys: [], events: [], cursor: '', leave: async () => undefined };
    const reading = (async () => {
      const options = { scope, signal: leaving.signal, ...(since === undefined ? {} : { since }) };
      for await (const event of client().events(options)) {
        if (event.type === 'snapshot') {
          const { items, events } = feedSnapshotSchema.parse(event.data);
          heard.keys.push(...items.map(({ key }) => key));
          heard.events.push(...events);
        } else if (event.type === 'changes') {
          const { changes, events } = feedChangesSchema.parse(event.data);
          heard.keys.push(...changes.map(({ key, value }) => (value === null ? `-${key}` : key)));
          heard.events.push(...events);
        } else continue;
        heard.cursor = event.cursor;
      }
    })();
    heard.leave = async () => {
      leaving.abort();
      await reading;
    };
    if (since === undefined) await expect.poll(() => heard.cursor).not.toBe('');
    return heard;
  }

  const kindsOf = (heard: Heard): readonly string[] => heard.events.map(({ kind }) => kind);

  it('SHL8 each is an item that changes in place, and what happened stands beside the changes', async () => {
    const { shells } = server.daemon;
    const before = shells.put(shellRow());
    const heard = await follow('shells');
    expect([heard.keys, heard.events]).toEqual([['shell:shell-1'], []]);
    shells.happen('promote', { ...before, start_mode: 'background', promoted_by: 'system' });
    shells.happen('terminate', finishedRow({ ended_by: 'user', exit_code: 143, status: 'failed' }));
    shells.forget('shell-1');
    server.daemon.put({ id: 1 });
    await expect.poll(() => heard.keys.at(-1)).toBe('-shell:shell-1');
    expect(heard.events).toMatchObject([
      { kind: 'promote', shell_id: 'shell-1', start_mode: 'background', ended_by: null },
      { kind: 'terminate', shell_id: 'shell-1', ended_by: 'user', exit_code: 143, pid: 4_242 },
    ]);
    expect(heard.keys.filter((key) => !key.includes('shell:'))).toEqual([]);
    await heard.leave();
  });

  it('SHL7 one that comes back hears each event once, in order', async () => {
    const { shells } = server.daemon;
    const row = shells.put(shellRow());
    const first = await follow('all');
    shells.happen('start', row);
    await expect.poll(() => kindsOf(first)).toEqual(['start']);
    await first.leave();
    shells.happen('promote', row);
    shells.happen('terminate', finishedRow());
    const second = await follow('all', first.cursor);
    shells.happen('resume', row);
    await expect.poll(() => kindsOf(second)).toEqual(['promote', 'terminate', 'resume']);
    await second.leave();
  });

  it('SHL7 also one that comes back too late for the changes, or to another run of the daemon', async () => {
    const { shells } = server.daemon;
    const row = shells.put(shellRow());
    const first = await follow('all');
    await first.leave();
    shells.happen('start', row);
    for (let id = 0; id < 600; id += 1) server.daemon.put({ id });
    shells.happen('terminate', finishedRow());
    const late = await follow('all', first.cursor);
    await expect.poll(() => kindsOf(late)).toEqual(['start', 'terminate']);
    await late.leave();
    const other = await follow('shells', first.cursor.replace(/^.*:/, 'another:'));
    await expect.poll(() => kindsOf(other)).toEqual(['start', 'terminate']);
    await other.leave();
    const fresh = await follow('shells');
    expect([fresh.keys, fresh.events]).toEqual([['shell:shell-1'], []]);
    await fresh.leave();
  });

  it('those who watch panes hear nothing of shells', async () => {
    const { shells } = server.daemon;
    const heard = await follow('panes');
    const row = shells.put(shellRow());
    shells.happen('start', row);
    server.daemon.put({ id: 9 });
    await expect.poll(() => heard.keys.length).toBe(1);
    expect([heard.keys[0]?.startsWith('row:'), heard.events]).toEqual([true, []]);
    await heard.leave();
  });

  it('lists of windows are not made anew for what happens to shells', async () => {
    await server.close();
    const clock = createSimulatedClock();
    server = await startServer({ clock });
    const { daemon } = server;
    const lists: number[] = [];
    const leaving = new AbortController();
    const reading = (async () => {
      for await (const event of client().events({ scope: 'windows', signal: leaving.signal })) {
        if (event.type === 'list') lists.push(event.data.version);
      }
    })();
    await expect.poll(() => lists.length).toBe(1);
    clock.advance(limits.feedListPauseMs);
    daemon.shells.happen('terminate', finishedRow());
    daemon.put({ id: 9, state: 'idle' });
    clock.advance(limits.feedListPauseMs);
    await expect.poll(() => lists.at(-1)).toBe(daemon.feed.version());
    expect(lists).toHaveLength(2);
    leaving.abort();
    await reading;
  });
});
