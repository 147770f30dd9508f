// The routes of sessions on a real unix socket: what reaches the daemon, what comes back, what is no request at all, and a
// reader that follows.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../src/api/client.ts';
import type { SessionEvent } from '../../../src/api/client-types.ts';
import { managedListSchema, managedReplySchema, messagePageSchema } from '../../../src/api/sessions.ts';
import { fail } from '../../../src/model/errors.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { until } from '../../kit/live.ts';
import { ask, type Reply, startServer, type TestServer } from './kit.ts';
import { sessionRow } from './kit-sessions.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startServer();
});
afterEach(async () => {
  await server.close();
});

const post = (path: string, body: unknown): Promise<Reply> =>
  ask(server, { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
const codeOf = (reply: Reply): readonly [number, string] => [reply.status, JSON.parse(reply.text).error.code];
describe('sessions over the API', () => {
  it('FED3 a list and a session have no secrets and nothing that only the daemon needs', async () => {
    const list = await ask(server, { path: '/v1/managed' });
    const { items } = managedListSchema.parse(JSON.parse(list.text));
    expect(items[0]).toMatchObject({ id: 's1', ref: 'session:s1', pid: 4711, state: 'streaming' });
    for (const word of ['private', 'asked-before', 'rejoin']) expect(list.text).not.toContain(word);
    const one = await ask(server, { path: '/v1/managed/session:s1' });
    expect(managedReplySchema.parse(JSON.parse(one.text)).session).toEqual(items[0]);
    expect(codeOf(await ask(server, { path: '/v1/managed/s7' }))).toEqual([404, 'E_REF_NOT_FOUND']);
  });

  it('ACT6 a start reaches the daemon whole, with who asks', async () => {
    const wish = {
      agent: 'claude',
      prompt: 'go',
      cwd: '/w',
      model: 'large',
      auto_approve: true,
      worktree: '',
      title: 'mine',
      env: { A: 'b' },
      driver: null,
      resume: null,
    };
    const reply = await post('/v1/managed', { ...wish, pid: 7, hops: 2 });
    expect([reply.status, managedReplySchema.parse(JSON.parse(reply.text)).session.auto_approve]).toEqual([201, true]);
    expect(server.daemon.sessions.asked).toEqual([{ ref: '', what: wish, claim: { pid: 7, hops: 2 } }]);
  });

  it.each([
    ['send', { text: 'go on' }],
    ['approve', { ask_id: 'a1-x' }],
    ['reject', { because: 'no' }],
    ['answer', { option: '2' }],
    ['answer', { text: 'mine', ask_id: 'a' }],
    ['stop', {}],
    ['resume', { text: 'on' }],
    ['resume', {}],
    ['retry', {}],
    ['remove', { force: true }],
  ] as const)('ACT1 %s reaches the daemon with what it needs', async (name, body) => {
    const reply = await post(`/v1/managed/s1/${name}`, { ...body, pid: 7 });
    expect(reply.status).toBe(200);
    expect(server.daemon.sessions.asked).toEqual([
      { ref: 's1', what: { action: name, ...body }, claim: { pid: 7, hops: 0 } },
    ]);
  });

  it.each([
    ['/v1/managed', { agent: 'claude', prompt: 'x', cwd: 'relative', env: {} }, 'E_INPUT'],
    ['/v1/managed', { agent: 'claude', prompt: 'x', cwd: '/w', env: {}, yolo: true }, 'E_INPUT'],
    ['/v1/managed/s1/send', {}, 'E_INPUT'],
    ['/v1/managed/s1/send', { text: '' }, 'E_INPUT'],
    ['/v1/managed/s1/stop', { force: true }, 'E_INPUT'],
    ['/v1/managed/s1/dance', {}, 'E_ROUTE'],
    ['/v1/managed/s1/constructor', {}, 'E_ROUTE'],
  ])('FED3 %s with %j is no request', async (path, body, code) => {
    expect(codeOf(await post(path, body))[1]).toBe(code);
    expect(server.daemon.sessions.asked).toEqual([]);
  });

  it('ACT1 a refusal is an error with its code and what to do next', async () => {
    server.daemon.sessions.refusal = fail('E_AGENT_MISSING', 'codex is not in the PATH', 'install it');
    const reply = await post('/v1/managed', { agent: 'codex', prompt: 'x', cwd: '/w', env: {} });
    expect(reply.status).toBe(409);
    expect(JSON.parse(reply.text).error).toEqual({
      code: 'E_AGENT_MISSING',
      message: 'codex is not in the PATH',
      next: 'install it',
    });
  });

  it('SEC3 messages are JSON that does nothing to a terminal', async () => {
    const reply = await ask(server, { path: '/v1/managed/s1/messages' });
    expect(messagePageSchema.parse(JSON.parse(reply.text))).toMatchObject({
      cursor: 1,
      messages: [{ id: 'm1', partial: true }],
    });
    expect(reply.text).not.toContain('\u001b');
  });
});

describe('following a session', () => {
  it('FED2 messages and changes are told as they come, and the end', async () => {
    const client = createClient({ socketPath: server.path, clock: createRealClock() });
    const heard: SessionEvent[] = [];
    const reading = (async () => {
      for await (const event of client.session('s1')) heard.push(event);
    })();
    await until(() => heard.length === 2);
    expect(heard.map(({ type }) => type)).toEqual(['messages', 'session']);
    server.daemon.sessions.said = [{ id: 'm1', role: 'agent', at: 999_500, text: 'on it now', partial: false }];
    server.daemon.sessions.cursor = 2;
    server.daemon.sessions.tell();
    await until(() => heard.length === 3);
    expect(heard[2]).toMatchObject({ type: 'messages', data: { cursor: 2, messages: [{ text: 'on it now' }] } });
    // The same again is not news.
    server.daemon.sessions.tell();
    server.daemon.sessions.rows = [sessionRow({ state: 'completed' })];
    server.daemon.sessions.tell();
    await until(() => heard.length === 4);
    expect(heard[3]).toMatchObject({ type: 'session', data: { session: { state: 'completed' } } });
    server.daemon.sessions.rows = [];
    server.daemon.sessions.tell();
    await reading;
    expect(heard.at(-1)).toEqual({ type: 'gone' });
    expect(server.daemon.sessions.followers.size).toBe(0);
  });

  it('FED2 a reader that leaves is forgotten, and one that comes back goes on where it stopped', async () => {
    const leaving = new AbortController();
    const client = createClient({ socketPath: server.path, clock: createRealClock() });
    for await (const event of client.session('s1', { after: 1, signal: leaving.signal })) {
      // Nothing after the first message: only the session itself.
      expect(event.type).toBe('session');
      leaving.abort();
    }
    await until(() => server.daemon.sessions.followers.size === 0);
  });

  it('FED3 a read that fails ends that reader alone; it comes back to where it was', async () => {
    const { sessions } = server.daemon;
    const { messages } = sessions;
    const unhandled: unknown[] = [];
    const note = (problem: unknown): void => void unhandled.push(problem);
    process.on('unhandledRejection', note);
    try {
      sessions.messages = () => Promise.reject(new Error('EMFILE'));
      await expect(ask(server, { path: '/v1/managed/s1/follow' })).rejects.toThrow();
      await until(() => sessions.followers.size === 0);
      sessions.messages = messages;
      expect((await ask(server, { path: '/v1/managed/s1' })).status).toBe(200);
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });

  it('FED3 there is nothing to follow of a session that is not there', async () => {
    const client = createClient({ socketPath: server.path, clock: createRealClock() });
    await expect(client.session('s9').next()).rejects.toMatchObject({ code: 'E_REF_NOT_FOUND' });
  });
});
