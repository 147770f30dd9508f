// The routes of acting on a real unix socket: what reaches the daemon, what comes back, and what is no request at all.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { createClient } from '../../../src/api/client.ts';
import { pathTo } from '../../../src/api/requests.ts';
import { type DocumentName, documents } from '../../../src/api/routes.ts';
import { failure } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { ask, type Reply, startServer, type TestServer } from './kit.ts';
import { auditRecord, queuedMessage } from './kit-act.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startServer();
  server.daemon.put({ id: 1, state: 'idle' });
});
afterEach(async () => {
  await server.close();
});

const post = (path: string, body: unknown): Promise<Reply> =>
  ask(server, { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

function parsed<Name extends DocumentName>(reply: Reply, name: Name): z.infer<(typeof documents)[Name]> {
  expect(reply.status).toBe(200);
  return documents[name].parse(JSON.parse(reply.text)) as z.infer<(typeof documents)[Name]>;
}

const codeOf = (reply: Reply): readonly [number, string] => [reply.status, JSON.parse(reply.text).error.code];

describe('POST /v1/act', () => {
  it('ACT1 the request reaches the daemon whole, with who asks and under which conditions', async () => {
    const conditions = { if_runtime: 'host-work-1', if_state: ['idle'], if_updated_within_ms: 500, force_stale: true };
    const receipt = parsed(
      await post('/v1/act', { action: 'kill', ref: '%1', signal: 'TERM', conditions, pid: 42, hops: 3 }),
      'Receipt',
    );
    expect(receipt).toMatchObject({ outcome: 'delivered', action: 'kill', ref: 'runtime:host-work-1', way: 'keys' });
    expect(server.daemon.acting.asked).toEqual([
      {
        what: 'kill',
        value: { action: 'kill', ref: '%1', signal: 'TERM', conditions },
        claim: { pid: 42, hops: 3 },
      },
    ]);
  });

  it.each([
    [
      { action: 'send', text: 'a' },
      { enter: true, when_ready: false, strip_control: false },
    ],
    [{ action: 'kill' }, { signal: 'INT' }],
    [{ action: 'approve' }, {}],
    [{ action: 'approve', any_ask: true }, {}],
    [{ action: 'reject', because: 'no', ask_id: 'a1' }, {}],
    [{ action: 'answer', option: '2' }, {}],
    [{ action: 'interrupt' }, {}],
    [{ action: 'resume' }, {}],
    [{ action: 'seen' }, {}],
    [{ action: 'activate' }, {}],
    [{ action: 'name', nick: null }, {}],
  ])('%j has its defaults, and nothing that was not said', async (said, defaults) => {
    parsed(await post('/v1/act', { ref: 'claude', ...said }), 'Receipt');
    expect(server.daemon.acting.asked).toEqual([
      {
        what: said.action,
        value: { ref: 'claude', conditions: {}, ...said, ...defaults },
        claim: { pid: null, hops: 0 },
      },
    ]);
  });

  it('ACT4 a refusal is a receipt, and answered with 200', async () => {
    const refusal = failure('E_STATE_CHANGED', 'it waits for an approval', 'approve or reject first');
    server.daemon.acting.told = { outcome: 'refused', failure: refusal, way: null };
    const receipt = parsed(await post('/v1/act', { action: 'send', ref: 'claude', text: 'yes' }), 'Receipt');
    expect(receipt).toMatchObject({ outcome: 'refused', ref: 'runtime:host-work-1', failure: refusal });
    const nobody = parsed(await post('/v1/act', { action: 'seen', ref: 'nobody' }), 'Receipt');
    expect([nobody.outcome, nobody.ref]).toEqual(['refused', null]);
  });

  it('RTE4 only a message may go to nobody by name, and says so in a field of its own', async () => {
    const told = parsed(await post('/v1/act', { action: 'send', connected: true, text: 'a' }), 'Receipt');
    expect(told.ref).toBe('runtime:host-work-1');
    for (const body of [
      { action: 'send', ref: '', text: 'a' },
      { action: 'send', text: 'a' },
      { action: 'send', ref: 'claude', connected: true, text: 'a' },
      { action: 'kill', ref: '' },
      { action: 'kill', connected: true },
    ]) {
      expect(codeOf(await post('/v1/act', body))).toEqual([400, 'E_INPUT']);
    }
    expect(server.daemon.acting.asked).toHaveLength(1);
  });

  it.each([
    [{ action: 'fly', ref: 'claude' }],
    [{ action: 'send', ref: 'claude' }],
    [{ action: 'send', ref: 'claude', text: 'a', entre: false }],
    [{ action: 'kill', ref: 'claude', signal: 'HUP' }],
    [{ action: 'kill', ref: 'claude', conditions: { if_state: ['asleep'] } }],
    [{ action: 'kill', ref: 'claude', conditions: { if_stat: 'idle' } }],
    [{ action: 'seen', ref: 'claude', pid: -1 }],
    [{ action: 'seen', ref: 'claude', hops: limits.hopsSaidMax + 1 }],
    [{ action: 'send', ref: 'claude', text: '', files: [{ path: '/a', from: 9, to: 3 }] }],
    [{ action: 'send', ref: 'claude', text: '', files: [{ path: '/a', to: 3 }] }],
  ])('%j is no request, and nothing is done', async (body) => {
    expect(codeOf(await post('/v1/act', body))).toEqual([400, 'E_INPUT']);
    expect(server.daemon.acting.asked).toEqual([]);
  });

  it('a text of a megabyte passes, and one over the limit of a request does not', async () => {
    const text = 'ä'.repeat(500_000);
    parsed(await post('/v1/act', { action: 'send', ref: 'claude', text }), 'Receipt');
    expect(server.daemon.acting.asked[0]?.value).toMatchObject({ text });
    const over = { action: 'send', ref: 'claude', text: 'a'.repeat(limits.requestBytesMax) };
    expect(codeOf(await post('/v1/act', over))).toEqual([413, 'E_TOO_LARGE']);
  });
});

describe('the other routes of acting', () => {
  it('attach tells where to go, or why not', async () => {
    const plan = parsed(await post('/v1/attach', { ref: 'claude', pid: 7 }), 'AttachPlan');
    expect(plan).toMatchObject({ session_id: '$1', window_id: '@1', pane_id: '%1', socket_path: '/nowhere/default' });
    expect(codeOf(await post('/v1/attach', { ref: 'nobody' }))).toEqual([404, 'E_REF_NOT_FOUND']);
  });

  it('output is bounded', async () => {
    const output = (query: string): Promise<Reply> => ask(server, { path: `/v1/output?${query}` });
    expect(parsed(await output('ref=claude&lines=1'), 'ViewedOutput').lines).toEqual(['second']);
    expect(parsed(await output('ref=claude&pid=5&hops=2'), 'ViewedOutput').lines).toHaveLength(2);
    expect(server.daemon.acting.asked.map(({ value, claim }) => [value, claim])).toEqual([
      [
        { ref: 'claude', linesMax: 1 },
        { pid: null, hops: 0 },
      ],
      [
        { ref: 'claude', linesMax: limits.outputLinesDefault },
        { pid: 5, hops: 2 },
      ],
    ]);
    for (const query of ['', 'ref=claude&lines=0', 'ref=claude&lines=99999999', 'ref=claude&lines=-1', 'ref=']) {
      expect(codeOf(await output(query))).toEqual([400, 'E_FILTER']);
    }
  });

  it('an agent is started', async () => {
    const wanted = { agent: 'claude', target: 'host', session: 'work', cwd: '/tmp', args: ['--continue'] };
    expect(parsed(await post('/v1/runtimes', { ...wanted, pid: 7 }), 'Receipt')).toMatchObject({ action: 'new' });
    expect(server.daemon.acting.asked).toEqual([{ what: 'new', value: wanted, claim: { pid: 7, hops: 0 } }]);
    expect(codeOf(await post('/v1/runtimes', { agent: '' }))).toEqual([400, 'E_INPUT']);
  });

  it('ACT7 what waits is seen, edited and dropped', async () => {
    const client = createClient({ socketPath: server.path, clock: createRealClock() });
    server.daemon.acting.messages.push(queuedMessage({ id: 'q/1' }));
    const queue = await client.get('/v1/queue');
    expect(queue.items).toMatchObject([{ id: 'q/1', text: 'go on', queued_at: '2023-11-14T22:29:59.000Z' }]);
    const path = pathTo('/v1/queue/{id}', { id: 'q/1' });
    expect((await client.post(path, { text: 'stop', pid: 7 })).outcome).toBe('queued');
    expect((await client.get('/v1/queue')).items).toMatchObject([{ text: 'stop' }]);
    expect((await client.delete(path, { caller: { pid: 7 } })).outcome).toBe('delivered');
    expect((await client.delete(path)).failure).toMatchObject({ code: 'E_REF_NOT_FOUND' });
    expect(server.daemon.acting.asked.map(({ claim }) => claim.pid)).toEqual([7, 7, null]);
  });

  it('ACT1 the audit is told newest first, as many as are wanted', async () => {
    server.daemon.acting.records.push(auditRecord({ action: 'kill' }), auditRecord());
    const all = parsed(await ask(server, { path: '/v1/audit' }), 'AuditList');
    expect(all.items.map(({ action }) => action)).toEqual(['kill', 'send']);
    expect(all.items[0]).toMatchObject({ at: '2023-11-14T22:29:50.000Z', detail: { target: 'host' } });
    expect(parsed(await ask(server, { path: '/v1/audit?count=1' }), 'AuditList').items).toHaveLength(1);
    expect(codeOf(await ask(server, { path: '/v1/audit?count=0' }))).toEqual([400, 'E_FILTER']);
  });
});
