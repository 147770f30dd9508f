// Every route on a real unix socket, against a small daemon: what is asked, what is answered, what is refused.

import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { errorSchema } from '../../../src/api/common.ts';
import { type DocumentName, documents, type Route, routes } from '../../../src/api/routes.ts';
import { AgtmuxError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { type Ask, ask, type Reply, startServer, type TestServer } from './kit.ts';
import { shellRow } from './kit-shells.ts';

const run = promisify(execFile);
let server: TestServer;

beforeEach(async () => {
  server = await startServer();
});
afterEach(async () => {
  await server.close();
});

const json = { 'content-type': 'application/json' };
const lines = { 'content-type': 'application/x-ndjson' };

function parsed<Name extends DocumentName>(reply: Reply, name: Name): z.infer<(typeof documents)[Name]> {
  expect(reply.status).toBeLessThan(300);
  return documents[name].parse(JSON.parse(reply.text)) as z.infer<(typeof documents)[Name]>;
}

function errorOf(reply: Reply): { readonly code: string; readonly message: string; readonly next: string } {
  return errorSchema.parse(JSON.parse(reply.text)).error;
}

/** One good request a route. */
const good: Readonly<Record<keyof typeof routes, Ask>> = {
  panes: { path: '/v1/panes' },
  windows: { path: '/v1/windows?with_agent_status' },
  sessions: { path: '/v1/sessions?group_by=session-name' },
  targets: { path: '/v1/targets' },
  addTarget: { method: 'POST', path: '/v1/targets', headers: json, body: '{"name":"vm1","kind":"ssh"}' },
  connectTarget: { method: 'POST', path: '/v1/targets/host/connect' },
  removeTarget: { method: 'DELETE', path: '/v1/targets/host' },
  explain: { path: '/v1/explain?ref=claude' },
  timeline: { path: '/v1/timeline?ref=claude' },
  agents: { path: '/v1/agents' },
  agentDiff: { path: '/v1/agents/claude/diff' },
  changeAgent: { method: 'POST', path: '/v1/agents/claude', headers: json, body: '{"enabled":false}' },
  hooks: { path: '/v1/hooks?target=host&agent=claude&env=CODEX_HOME=/x' },
  mcp: { path: '/v1/mcp?agent=claude&env=CODEX_HOME=/x' },
  planMcp: { method: 'POST', path: '/v1/mcp/plan', headers: json, body: '{"action":"install"}' },
  applyMcp: { method: 'POST', path: '/v1/mcp/apply', headers: json, body: '{"action":"install","digest":"d"}' },
  planHooks: { method: 'POST', path: '/v1/hooks/plan', headers: json, body: '{"action":"install"}' },
  applyHooks: {
    method: 'POST',
    path: '/v1/hooks/apply',
    headers: json,
    body: '{"action":"install","digest":"d"}',
  },
  act: { method: 'POST', path: '/v1/act', headers: json, body: '{"action":"send","ref":"claude","text":"go on"}' },
  attach: { method: 'POST', path: '/v1/attach', headers: json, body: '{"ref":"claude"}' },
  output: { path: '/v1/output?ref=claude&lines=1&pid=7&hops=1' },
  startAgent: { method: 'POST', path: '/v1/runtimes', headers: json, body: '{"agent":"claude"}' },
  queue: { path: '/v1/queue' },
  editQueued: { method: 'POST', path: '/v1/queue/q1', headers: json, body: '{"text":"stop"}' },
  dropQueued: { method: 'DELETE', path: '/v1/queue/q1?pid=7' },
  audit: { path: '/v1/audit?count=5' },
  shells: { path: '/v1/shells?completed&failed&owner=mine&pid=42&take_notices' },
  runShell: {
    method: 'POST',
    path: '/v1/shells',
    headers: json,
    body: '{"command":"make","cwd":"/repo","run_in_background":true}',
  },
  shellNotices: { method: 'POST', path: '/v1/shells/notices', headers: json, body: '{"pid":42}' },
  shellLog: { path: '/v1/shells/shell-1/log?mode=body&cursor=1:0&lines=5' },
  killShell: { method: 'POST', path: '/v1/shells/shell-1/kill', headers: json, body: '{"pid":42}' },
  backgroundShell: { method: 'POST', path: '/v1/shells/shell-1/background', headers: json, body: '{}' },
  resumeShell: { method: 'POST', path: '/v1/shells/shell-1/resume', headers: json, body: '{}' },
  seenShell: { method: 'POST', path: '/v1/shells/shell-1/seen', headers: json, body: '{}' },
  managed: { path: '/v1/managed' },
  startManaged: {
    method: 'POST',
    path: '/v1/managed',
    headers: json,
    body: '{"agent":"claude","prompt":"go","cwd":"/w","env":{}}',
  },
  managedOne: { path: '/v1/managed/s1' },
  managedMessages: { path: '/v1/managed/s1/messages?after=0&count=5' },
  followManaged: { path: '/v1/managed/nobody/follow' },
  sendManaged: { method: 'POST', path: '/v1/managed/s1/send', headers: json, body: '{"text":"go"}' },
  approveManaged: { method: 'POST', path: '/v1/managed/s1/approve', headers: json, body: '{}' },
  rejectManaged: { method: 'POST', path: '/v1/managed/s1/reject', headers: json, body: '{}' },
  answerManaged: { method: 'POST', path: '/v1/managed/s1/answer', headers: json, body: '{}' },
  stopManaged: { method: 'POST', path: '/v1/managed/s1/stop', headers: json, body: '{}' },
  resumeManaged: { method: 'POST', path: '/v1/managed/s1/resume', headers: json, body: '{}' },
  retryManaged: { method: 'POST', path: '/v1/managed/s1/retry', headers: json, body: '{}' },
  removeManaged: { method: 'POST', path: '/v1/managed/s1/remove', headers: json, body: '{}' },
  notices: { path: '/v1/notifications?count=5' },
  noticeSettings: { path: '/v1/notifications/settings' },
  changeNotices: {
    method: 'POST',
    path: '/v1/notifications/settings',
    headers: json,
    body: '{"on":["error"],"quiet":"22:00-07:00"}',
  },
  muteNotices: { method: 'POST', path: '/v1/notifications/mute', headers: json, body: '{"minutes":5,"pid":7}' },
  unmuteNotices: { method: 'POST', path: '/v1/notifications/unmute', headers: json, body: '{"agent":"claude"}' },
  testNotices: { method: 'POST', path: '/v1/notifications/test', headers: json, body: '{"channel":"desktop"}' },
  planRestore: { path: '/v1/restore' },
  grep: { path: '/v1/grep?pattern=a&in=screens&hits=5' },
  usage: { path: '/v1/usage?by=day&since=2026-11-01' },
  restore: { method: 'POST', path: '/v1/restore', headers: json, body: '{"choices":{"lost-1":"leave"}}' },
  status: { path: '/v1/status' },
  events: { method: 'POST', path: '/v1/events', headers: json, body: '[{"a":1},{"b":2}]' },
  feed: { path: '/v1/feed?since=broken' },
  hub: { path: '/v1/hub' },
  joinHub: { method: 'POST', path: '/v1/hub', headers: json, body: '{"url":"https://hub","code":"main-1"}' },
  shareHub: { method: 'POST', path: '/v1/hub/share', headers: json, body: '{"share":"states"}' },
  leaveHub: { method: 'DELETE', path: '/v1/hub' },
  hubPanes: { path: '/v1/hub/panes?machine=box&sort=age' },
  web: { path: '/v1/web' },
  openWeb: { method: 'POST', path: '/v1/web', headers: json, body: '{}' },
  editors: { path: '/v1/editors' },
  openEditorCode: { method: 'POST', path: '/v1/editors/codes', headers: json, body: '{}' },
  pairEditor: {
    method: 'POST',
    path: '/v1/editors',
    headers: json,
    body: '{"code":"ABCDE-FGHJK","name":"VS Code on box"}',
  },
  reportTerminals: {
    method: 'POST',
    path: '/v1/editors/terminals',
    headers: json,
    body: JSON.stringify({ socket: '/run/editor.sock', secret: '0'.repeat(64), terminals: [{ id: '1', pid: 4711 }] }),
  },
  revokeEditor: { method: 'DELETE', path: '/v1/editors/0a0b0c0d' },
  shutWeb: { method: 'DELETE', path: '/v1/web' },
  stop: { method: 'POST', path: '/v1/stop' },
  openapi: { path: '/v1/openapi.json' },
  schema: { path: '/v1/schema.json' },
};

describe('every route', () => {
  const rows = Object.entries(routes).filter(([, route]) => route.reply !== null) as [keyof typeof routes, Route][];

  it.each(rows)('FED3 %s answers with its document', async (name, route) => {
    server.daemon.put({ state: 'running' });
    server.daemon.shells.put(shellRow());
    const reply = await ask(server, good[name]);
    expect(reply.status).toBe(route.status ?? 200);
    parsed(reply, route.reply as DocumentName);
    expect(reply.headers).toMatchObject({ 'agtmux-api': '1', 'agtmux-version': '9.8.7', 'cache-control': 'no-store' });
  });

  it.each(Object.keys(good) as (keyof typeof routes)[])('%s refuses a parameter it does not know', async (name) => {
    const path = `${good[name].path.split('?')[0]}?stat=error`;
    const reply = await ask(server, { ...good[name], path });
    expect([reply.status, errorOf(reply).code]).toEqual([400, 'E_FILTER']);
  });

  it('FED3 the printed OpenAPI has every route, and every reference leads somewhere', async () => {
    const api = JSON.parse((await ask(server, good.openapi)).text);
    for (const route of Object.values(routes)) expect(api.paths[route.path][route.method]).toBeDefined();
    const references = [...JSON.stringify(api).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
      ([, id]) => id,
    );
    expect(references.length).toBeGreaterThan(20);
    expect(references.filter((id) => !Object.hasOwn(api.components.schemas, id ?? ''))).toEqual([]);
    expect(JSON.stringify(api).match(/"\$ref":"(?!#\/components\/schemas\/)/)).toBeNull();
  });

  it('FED3 the printed JSON Schema has every document', async () => {
    const schema = JSON.parse((await ask(server, good.schema)).text);
    expect(Object.keys(schema.$defs).sort()).toEqual(Object.keys(documents).sort());
    expect(schema.$defs.PaneList.properties.items.items).toEqual({ $ref: '#/$defs/PaneItem' });
  });
});

describe('lists', () => {
  it('FED1 pass filters on, repeated ones too', async () => {
    server.daemon.put({ id: 1, state: 'running' });
    server.daemon.put({ id: 2, state: 'idle' });
    server.daemon.put({ id: 3, state: 'error', agent: 'codex' });
    const list = parsed(
      await ask(server, { path: '/v1/panes?state=idle&state=error&agent=codex&sort=age' }),
      'PaneList',
    );
    expect(list.items.map((item) => item.agent)).toEqual(['codex']);
    expect(list.filters).toMatchObject({ state: ['idle', 'error'], agent: ['codex'], sort: 'age' });
  });

  it.each(['needs_action', 'needs_action=1', 'needs_action=true'])('a flag may be written %s', async (flag) => {
    server.daemon.put({ id: 1, state: 'idle' });
    expect(parsed(await ask(server, { path: `/v1/panes?${flag}` }), 'PaneList').items).toEqual([]);
  });

  it.each(['panes', 'windows', 'sessions', 'targets'])('%s are a table on request', async (name) => {
    server.daemon.put({ id: 1, state: 'running' });
    const accepted = await ask(server, { path: `/v1/${name}`, headers: { accept: 'text/plain' } });
    const formatted = await ask(server, { path: `/v1/${name}?format=text&columns=40&colour=1` });
    expect(accepted.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(accepted.text).toMatch(/^(STATE|TARGET) /);
    expect(accepted.text).not.toContain('\u001b');
    expect(formatted.text).toContain('\u001b[1m');
  });

  it('curl is a client', async () => {
    server.daemon.put({ id: 1, state: 'waiting_approval' });
    const { stdout } = await run('curl', ['-s', '--unix-socket', server.path, 'http://agtmux/v1/panes?format=text']);
    expect(stdout).toContain('▲ approve  claude  web-shop');
    const document = await run('curl', ['-s', '--unix-socket', server.path, 'http://agtmux/v1/panes']);
    expect(JSON.parse(document.stdout).items).toHaveLength(1);
  });

  it('SEC3 JSON on a terminal has no effect and loses nothing', async () => {
    const evil = '\u001b[2J\u009b31m\u007f\u202e\u{e0041}👩‍👩‍👧 "\\';
    server.daemon.put({ id: 1, session: evil, fields: { title: evil } });
    const reply = await ask(server, { path: '/v1/panes' });
    expect(reply.text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e\u{e0041}]/u);
    expect(parsed(reply, 'PaneList').items[0]?.title).toBe(evil);
  });
});

describe('targets', () => {
  it('are added, found and removed', async () => {
    expect(parsed(await ask(server, good.addTarget), 'TargetReply').target).toMatchObject({
      target: 'vm1',
      kind: 'ssh',
    });
    parsed(await ask(server, { method: 'POST', path: '/v1/targets/vm1/connect' }), 'TargetReply');
    parsed(await ask(server, { method: 'DELETE', path: '/v1/targets/vm1' }), 'Done');
    const again = await ask(server, { method: 'DELETE', path: '/v1/targets/vm1' });
    expect([again.status, errorOf(again).code]).toEqual([404, 'E_REF_NOT_FOUND']);
  });

  it('may have names with any character', async () => {
    const name = 'host@a/b %?#';
    await ask(server, { ...good.addTarget, body: JSON.stringify({ name, kind: 'local' }) });
    const path = `/v1/targets/${encodeURIComponent(name)}/connect`;
    expect(parsed(await ask(server, { method: 'POST', path }), 'TargetReply').target.target).toBe(name);
  });
});

describe('events', () => {
  it('are taken as an array or as lines, with a verdict for each', async () => {
    expect(parsed(await ask(server, good.events), 'Verdicts').verdicts).toHaveLength(2);
    const reply = await ask(server, { ...good.events, headers: lines, body: '{"c":3}\n\n  \n{"d":4}\r\n' });
    expect(parsed(reply, 'Verdicts').verdicts).toEqual([
      { verdict: 'applied', reason: 'joined' },
      { verdict: 'applied', reason: 'joined' },
    ]);
    expect(server.daemon.taken).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }, { d: 4 }]);
  });

  it('may come in pieces of unknown number', async () => {
    const headers = { ...json, 'transfer-encoding': 'chunked' };
    parsed(await ask(server, { ...good.events, headers }), 'Verdicts');
    expect(server.daemon.taken).toHaveLength(2);
  });

  it('nothing is taken of a body that is broken somewhere', async () => {
    const reply = await ask(server, { ...good.events, headers: lines, body: '{"c":3}\n{' });
    expect(errorOf(reply)).toMatchObject({ code: 'E_INPUT', message: 'line 2 is not JSON' });
    expect(server.daemon.taken).toEqual([]);
  });

  it('a full inbox is told as such', async () => {
    server.daemon.trouble = new AgtmuxError('E_INBOX_FULL', 'full');
    const reply = await ask(server, good.events);
    expect([reply.status, errorOf(reply).code]).toEqual([503, 'E_INBOX_FULL']);
    expect(server.troubles).toEqual([]);
  });

  it('a defect goes to the log and not to the client', async () => {
    server.daemon.trouble = new TypeError('secret of the inside');
    const reply = await ask(server, good.events);
    expect([reply.status, errorOf(reply).code]).toEqual([500, 'E_INTERNAL']);
    expect(reply.text).not.toContain('secret');
    expect(server.troubles.map((error) => error.message)).toEqual(['secret of the inside']);
  });
});

describe('stop', () => {
  it('is answered first', async () => {
    expect((await ask(server, good.stop)).status).toBe(202);
    await expect.poll(() => server.daemon.stops).toBe(1);
  });
});

describe('who asks', () => {
  const headers = { 'agtmux-caller-pid': '42', 'agtmux-caller-hops': '3' };
  const claimed = async (request: Ask): Promise<unknown> => {
    expect((await ask(server, request)).status).toBe(200);
    return server.daemon.claims.at(-1) ?? server.daemon.acting.asked.at(-1)?.claim;
  };

  it('ACT6 is read from the headers of the caller, whatever the method', async () => {
    server.daemon.put({ agent: 'claude' });
    const post = { ...good.changeAgent, headers: { ...json, ...headers } };
    expect(await claimed({ path: '/v1/output?ref=claude', headers })).toEqual({ pid: 42, hops: 3 });
    expect(await claimed({ method: 'DELETE', path: '/v1/queue/q1', headers })).toEqual({ pid: 42, hops: 3 });
    expect(await claimed(post)).toEqual({ pid: 42, hops: 3 });
    expect(await claimed(good.changeAgent)).toEqual({ pid: null, hops: 0 });
  });

  it('ACT6 is still read from bodies and queries as clients of the version before write them; headers win', async () => {
    server.daemon.put({ agent: 'claude' });
    const body = '{"enabled":false,"pid":7,"hops":1}';
    expect(await claimed({ path: '/v1/output?ref=claude&pid=7&hops=1' })).toEqual({ pid: 7, hops: 1 });
    expect(await claimed({ ...good.changeAgent, body })).toEqual({ pid: 7, hops: 1 });
    expect(await claimed({ ...good.changeAgent, body, headers: { ...json, ...headers } })).toEqual({
      pid: 42,
      hops: 3,
    });
  });

  it.each([
    ['0', '0'],
    ['-1', '0'],
    ['x', '0'],
    ['7', '1.5'],
    ['7', String(limits.hopsSaidMax + 1)],
  ])('ACT6 a process %s after %s hops is refused', async (pid, hops) => {
    const wrong = { ...json, 'agtmux-caller-pid': pid, 'agtmux-caller-hops': hops };
    expect((await ask(server, { ...good.changeAgent, headers: wrong })).status).toBe(400);
    expect(server.daemon.claims).toEqual([]);
  });
});

describe('bad input', () => {
  const tooLong = 'x'.repeat(limits.requestBytesMax + 1);
  const cases: readonly (readonly [string, Ask, number, string])[] = [
    ['no such route', { path: '/v1/nothing' }, 404, 'E_ROUTE'],
    ['the root', { path: '/' }, 404, 'E_ROUTE'],
    ['a wrong method', { path: '/v1/panes', method: 'PUT' }, 404, 'E_ROUTE'],
    ['a path that climbs', { path: '/v1/../../etc/passwd' }, 404, 'E_ROUTE'],
    ['a broken escape', { path: '/v1/targets/%zz/connect', method: 'POST' }, 404, 'E_REF_NOT_FOUND'],
    ['no such state', { path: '/v1/panes?state=bogus' }, 400, 'E_FILTER'],
    ['no such target', { path: '/v1/sessions?target=vm9' }, 400, 'E_FILTER'],
    ['no such order', { path: '/v1/panes?sort=random' }, 400, 'E_FILTER'],
    ['no such grouping', { path: '/v1/sessions?group_by=x' }, 400, 'E_FILTER'],
    ['no such format', { path: '/v1/panes?format=xml' }, 400, 'E_FILTER'],
    ['no columns', { path: '/v1/panes?format=text&columns=0' }, 400, 'E_FILTER'],
    ['endless columns', { path: '/v1/panes?format=text&columns=999999' }, 400, 'E_FILTER'],
    ['columns that are no number', { path: '/v1/panes?columns=1e3' }, 400, 'E_FILTER'],
    ['a flag that is none', { path: '/v1/panes?ended=maybe' }, 400, 'E_FILTER'],
    ['two orders', { path: '/v1/panes?sort=age&sort=name' }, 400, 'E_FILTER'],
    ['a parameter named like a prototype', { path: '/v1/panes?__proto__=1' }, 400, 'E_FILTER'],
    ['too many values', { path: `/v1/panes?${'agent=a&'.repeat(limits.filterValuesMax + 1)}` }, 400, 'E_FILTER'],
    ['no such scope', { path: '/v1/feed?scope=x' }, 400, 'E_FILTER'],
    ['no such place', { path: '/v1/feed?since=x' }, 400, 'E_FILTER'],
    ['no JSON', { ...good.events, body: '[' }, 400, 'E_INPUT'],
    ['an empty body', { ...good.addTarget, body: '' }, 400, 'E_INPUT'],
    ['no array', { ...good.events, body: '{}' }, 400, 'E_INPUT'],
    ['a target without a name', { ...good.addTarget, body: '{"kind":"ssh"}' }, 400, 'E_INPUT'],
    ['a target with more than it has', { ...good.addTarget, body: '{"name":"a","kind":"ssh","x":1}' }, 400, 'E_INPUT'],
    ['a form', { ...good.events, headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415, 'E_MEDIA'],
    ['text', { ...good.events, headers: { 'content-type': 'text/plain' } }, 415, 'E_MEDIA'],
    ['a body without a type', { ...good.events, headers: {} }, 415, 'E_MEDIA'],
    [
      'a form to a route without a body',
      { ...good.stop, headers: { 'content-type': 'text/plain' }, body: 'a' },
      415,
      'E_MEDIA',
    ],
    ['too much', { ...good.events, body: tooLong }, 413, 'E_TOO_LARGE'],
    [
      'too much in pieces',
      { ...good.events, headers: { ...json, 'transfer-encoding': 'chunked' }, body: tooLong },
      413,
      'E_TOO_LARGE',
    ],
    ['too many events', { ...good.events, body: `[${'1,'.repeat(limits.inboxEventsMax)}1]` }, 413, 'E_TOO_LARGE'],
    ['a page', { path: '/v1/panes', headers: { origin: 'https://example.com' } }, 403, 'E_ORIGIN'],
    ['a page without an origin', { path: '/v1/panes', headers: { origin: 'null' } }, 403, 'E_ORIGIN'],
    ['a client of another API', { path: '/v1/panes', headers: { 'agtmux-api': '2' } }, 426, 'E_VERSION'],
  ];

  it.each(cases)('%s is refused', async (_, request, status, code) => {
    const reply = await ask(server, request);
    expect([reply.status, errorOf(reply).code]).toEqual([status, code]);
    expect(errorOf(reply).next).not.toBe('');
    expect(reply.headers['agtmux-api']).toBe('1');
    expect(server.daemon.taken).toEqual([]);
    expect(server.daemon.stops).toBe(0);
    expect(server.troubles).toEqual([]);
    expect((await ask(server, good.panes)).status).toBe(200);
  });

  it('SEC3 what was sent comes back without an effect', async () => {
    const reply = await ask(server, { path: '/v1/panes?target=%1b%5d0;x%07%c2%9b2J' });
    expect(errorOf(reply).message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });
});

it('SEC1 the socket belongs to its owner alone', () => {
  expect(statSync(server.path).mode & 0o777).toBe(0o600);
});
