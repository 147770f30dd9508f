// The typed client against the real server, and against daemons that are gone, strange, older or newer.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../src/api/client.ts';
import { ask as askLean } from '../../../src/api/client-lean.ts';
import type { FeedEvent } from '../../../src/api/client-types.ts';
import { paneListSchema } from '../../../src/api/panes.ts';
import { pathTo } from '../../../src/api/requests.ts';
import { AgtmuxError } from '../../../src/model/errors.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { FakeDaemon, startServer, type TestServer } from './kit.ts';

const clock = createRealClock();
const clientOf = (socketPath: string) => createClient({ socketPath, clock });
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof AgtmuxError ? error.code : String(error)),
  );

describe('with a daemon', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer();
  });
  afterEach(async () => {
    await server.close();
  });

  it('FED1 gets lists, with filters', async () => {
    const client = clientOf(server.path);
    server.daemon.put({ id: 1, state: 'idle' });
    server.daemon.put({ id: 2, state: 'error' });
    expect(client.daemonVersion()).toBeNull();
    const list = await client.get('/v1/panes', { state: ['idle', 'running'], sort: 'age', ended: undefined });
    expect(paneListSchema.parse(list).items.map((item) => item.state)).toEqual(['idle']);
    expect(client.daemonVersion()).toBe('9.8.7');
    expect(await client.getText('/v1/panes', { format: 'text', columns: 60 })).toMatch(/^STATE/);
    expect(JSON.parse(await client.getText('/v1/openapi.json')).openapi).toBe('3.1.0');
  });

  it('posts and deletes', async () => {
    const client = clientOf(server.path);
    const added = await client.post('/v1/targets', { name: 'vm/1', kind: 'ssh' });
    expect(added.target.target).toBe('vm/1');
    expect((await client.post(pathTo('/v1/targets/{name}/connect', { name: 'vm/1' }))).target.kind).toBe('ssh');
    expect((await client.delete(pathTo('/v1/targets/{name}', { name: 'vm/1' }))).done).toBe(true);
    expect((await client.post('/v1/events', [{}])).verdicts).toHaveLength(1);
    await client.post('/v1/stop');
    await expect.poll(() => server.daemon.stops).toBe(1);
  });

  it('failures come as they were meant', async () => {
    const client = clientOf(server.path);
    const failed = client.get('/v1/panes', { state: ['bogus'] });
    await expect(failed).rejects.toMatchObject({ code: 'E_FILTER', next: 'use one of the values the message names' });
    expect(await codeOf(client.delete(pathTo('/v1/targets/{name}', { name: 'nobody' })))).toBe('E_REF_NOT_FOUND');
  });

  it('FED2 follows the feed over a loss without missing or repeating anything', async () => {
    const { daemon, path } = server;
    const stop = new AbortController();
    const seen: FeedEvent[] = [];
    const versions = (): number[] =>
      seen.flatMap((event) => (event.type === 'changes' ? event.data.changes.map((change) => change.version) : []));
    const done = (async () => {
      for await (const event of clientOf(path).events({ scope: 'all', signal: stop.signal })) seen.push(event);
    })();
    await expect.poll(() => seen.map((event) => event.type)).toEqual(['connected', 'snapshot']);
    daemon.put({ id: 1 });
    await expect.poll(versions).toEqual([9]);
    await server.shut();
    await expect.poll(() => seen.at(-1)?.type).toBe('lost');
    for (let id = 0; id < 30; id += 1) daemon.put({ id });
    const again = await startServer({ daemon, path });
    await expect.poll(versions, { timeout: 10_000 }).toEqual(Array.from({ length: 31 }, (_, index) => index + 9));
    const types = seen.map((event) => event.type);
    expect(types.filter((type) => type === 'snapshot')).toHaveLength(1);
    expect(types.filter((type) => type === 'lost')).toHaveLength(1);
    expect(types.filter((type) => type === 'connected')).toHaveLength(2);
    stop.abort();
    await done;
    await expect.poll(() => daemon.feed.stats().subscribers).toBe(0);
    await again.shut();
  });

  it('FED2 another run of the daemon begins with its whole state', async () => {
    const stop = new AbortController();
    const seen: FeedEvent[] = [];
    const done = (async () => {
      for await (const event of clientOf(server.path).events({ since: 'yesterday:5', signal: stop.signal }))
        seen.push(event);
    })();
    await expect.poll(() => seen.at(-1)?.type).toBe('snapshot');
    stop.abort();
    await done;
  });

  it('leaving the loop leaves the daemon', async () => {
    for await (const event of clientOf(server.path).events()) if (event.type === 'snapshot') break;
    await expect.poll(() => server.daemon.feed.stats().subscribers).toBe(0);
  });
});

describe('without one', () => {
  let directory: string;
  let path: string;
  let strange: Server | null = null;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'agtmux-client-'));
    path = join(directory, 's.sock');
  });
  afterEach(async () => {
    strange?.closeAllConnections();
    await new Promise<void>((resolve) => (strange === null ? resolve() : strange.close(() => resolve())));
    strange = null;
    rmSync(directory, { recursive: true });
  });

  function listen(headers: Record<string, string>, body: string): Promise<void> {
    strange = createServer((_, answer) => {
      answer.writeHead(200, headers);
      answer.end(body);
    });
    return open();
  }

  async function open(): Promise<void> {
    await new Promise<void>((resolve) => strange?.listen(path, resolve));
    chmodSync(path, 0o600);
  }

  it('nobody listens', async () => {
    expect(await codeOf(clientOf(path).get('/v1/status'))).toBe('E_DAEMON_DOWN');
    expect(await codeOf(clientOf(path).events().next())).toBe('E_DAEMON_DOWN');
  });

  it('a leftover that is no socket', async () => {
    writeFileSync(path, '');
    expect(await codeOf(clientOf(path).get('/v1/status'))).toBe('E_DAEMON_DOWN');
  });

  it('something else listens', async () => {
    await listen({}, '{}');
    expect(await codeOf(clientOf(path).get('/v1/status'))).toBe('E_SOCKET');
  });

  it('a daemon answers nonsense', async () => {
    await listen({ 'agtmux-api': '1' }, '<html>');
    expect(await codeOf(clientOf(path).get('/v1/status'))).toBe('E_SOCKET');
  });

  it.each([
    ['2', /upgrade agtmux/],
    ['0', /agtmux daemon restart/],
  ])('a daemon of API %s is told apart, with what to do', async (api, next) => {
    await listen({ 'agtmux-api': api, 'agtmux-version': '5.0.0' }, '{}');
    const error = await clientOf(path)
      .get('/v1/status')
      .catch((problem: unknown) => problem as AgtmuxError);
    expect(error).toMatchObject({ code: 'E_VERSION', message: expect.stringContaining('5.0.0') });
    expect((error as AgtmuxError).next).toMatch(next);
    expect(await codeOf(clientOf(path).events().next())).toBe('E_VERSION');
    const asked = await askLean(path, { path: '/v1/status', isAnyVersion: true });
    expect(asked).toEqual({ body: '{}', version: '5.0.0' });
  });

  it('a daemon that leaves in the middle of its answer', async () => {
    strange = createServer((_, answer) => {
      answer.writeHead(200, { 'agtmux-api': '1', 'content-length': '1000' });
      answer.write('{', () => answer.destroy());
    });
    await open();
    expect(await codeOf(clientOf(path).get('/v1/status'))).toBe('E_DAEMON_DOWN');
  });
});

it('FED2 a client that waits for a daemon to come back does not give up', async () => {
  const daemon = new FakeDaemon();
  const first = await startServer({ daemon });
  const seen: string[] = [];
  const stop = new AbortController();
  const done = (async () => {
    for await (const event of clientOf(first.path).events({ signal: stop.signal })) seen.push(event.type);
  })();
  await expect.poll(() => seen).toContain('snapshot');
  for (let round = 0; round < 3; round += 1) {
    await (round === 0 ? first : await startServer({ daemon, path: first.path })).shut();
  }
  const last = await startServer({ daemon, path: first.path });
  await expect.poll(() => seen.at(-1), { timeout: 10_000 }).toBe('connected');
  stop.abort();
  await done;
  await last.shut();
  await first.close();
});
