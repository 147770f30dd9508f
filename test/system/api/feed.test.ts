// The feed over a real socket: what a client gets, how it goes on after a loss, and what becomes of one that is slow.

import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { feedChangesSchema, feedCutSchema, feedListSchema, feedSnapshotSchema } from '../../../src/api/feed.ts';
import { limits } from '../../../src/model/limits.ts';
import { createSimulatedClock } from '../../../src/platform/simulated/clock.ts';
import { ask, startServer, type TestServer } from './kit.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startServer();
});
afterEach(async () => {
  await server.close();
});

interface Reader {
  /** Everything that came, as it came. */
  text(): string;
  frames(): readonly Frame[];
  readonly status: number;
  isOver(): boolean;
  leave(): void;
}

interface Frame {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: unknown;
}

function read(path = '/v1/feed', headers: Record<string, string> = {}, from = server): Promise<Reader> {
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = request(
      { socketPath: from.path, path, headers, agent: false },
      (answer: IncomingMessage) => {
        let text = '';
        let isOver = false;
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => {
          text += part;
        });
        answer.on('close', () => {
          isOver = true;
        });
        answer.on('error', () => undefined);
        resolve({
          text: () => text,
          frames: () => framesOf(text),
          status: answer.statusCode ?? 0,
          isOver: () => isOver,
          leave: () => sent.destroy(),
        });
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

function framesOf(text: string): readonly Frame[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
      const data = field('data');
      return data === undefined ? [] : [{ event: field('event'), id: field('id'), data: JSON.parse(data) }];
    });
}

const lastId = (reader: Reader): string => [...reader.text().matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';

/** The versions a reader was told of by changes. */
const versionsOf = (reader: Reader): readonly number[] =>
  reader
    .frames()
    .flatMap(({ event, data }) =>
      event === 'changes' ? feedChangesSchema.parse(data).changes.map((change) => change.version) : [],
    );

describe('the feed', () => {
  it('FED2 begins with the whole state and goes on with changes', async () => {
    const row = server.daemon.put({ id: 1, state: 'running' });
    const reader = await read();
    await expect.poll(() => reader.frames().length).toBe(1);
    const snapshot = feedSnapshotSchema.parse(reader.frames()[0]?.data);
    expect(snapshot).toMatchObject({ epoch: 'ep:och', version: 9 });
    expect(snapshot.items.map((item) => item.key)).toEqual([`row:${row.ref}`, 'target:host']);
    expect(lastId(reader)).toBe('ep:och:9');

    server.daemon.put({ id: 1, state: 'idle' });
    server.daemon.drop(row);
    await expect.poll(() => lastId(reader)).toBe('ep:och:11');
    const last = feedChangesSchema.parse(reader.frames().at(-1)?.data);
    expect(last.changes.at(-1)).toEqual({ version: 11, key: `row:${row.ref}`, value: null });
    reader.leave();
    await expect.poll(() => server.daemon.feed.stats().subscribers).toBe(0);
  });

  it('FED2 after a loss exactly the missing changes come', async () => {
    const first = await read();
    await expect.poll(() => first.frames().length).toBe(1);
    for (let id = 0; id < 20; id += 1) server.daemon.put({ id });
    await expect.poll(() => lastId(first)).toBe('ep:och:28');
    first.leave();
    await expect.poll(() => server.daemon.feed.stats().subscribers).toBe(0);
    for (let id = 20; id < 70; id += 1) server.daemon.put({ id });

    const second = await read('/v1/feed', { 'last-event-id': lastId(first) });
    await expect.poll(() => lastId(second)).toBe('ep:och:78');
    expect(second.frames().map((frame) => frame.event)).not.toContain('snapshot');
    expect([...versionsOf(first), ...versionsOf(second)]).toEqual(Array.from({ length: 70 }, (_, index) => index + 9));
  });

  it.each(['other:8', 'ep:och:3', 'ep:och:99999', 'garbage', ''])(
    'FED2 from a place nobody knows (%j) the whole state comes',
    async (place) => {
      const reader = await read('/v1/feed', { 'last-event-id': place });
      await expect.poll(() => reader.frames()[0]?.event).toBe('snapshot');
      reader.leave();
    },
  );

  it('a place may stand in the query too', async () => {
    server.daemon.put({ id: 1 });
    const reader = await read('/v1/feed?since=ep:och:8');
    await expect.poll(() => versionsOf(reader)).toEqual([9]);
  });

  it('one scope gets its own and moves on past the others', async () => {
    const panes = await read('/v1/feed?scope=panes');
    const targets = await read('/v1/feed?scope=targets');
    await expect.poll(() => [panes, targets].map((reader) => reader.frames().length)).toEqual([1, 1]);
    server.daemon.put({ id: 1 });
    await expect.poll(() => [panes, targets].map(lastId)).toEqual(['ep:och:9', 'ep:och:9']);
    expect(versionsOf(panes)).toEqual([9]);
    expect(targets.frames()).toHaveLength(1);
    expect(feedSnapshotSchema.parse(targets.frames()[0]?.data).items.map((item) => item.key)).toEqual(['target:host']);
    expect(feedSnapshotSchema.parse(panes.frames()[0]?.data).items).toEqual([]);
  });

  it.each(['windows', 'sessions'])('the scope %s gets whole lists, few of them', async (scope) => {
    const reader = await read(`/v1/feed?scope=${scope}`);
    await expect.poll(() => reader.frames().length).toBe(1);
    for (let id = 0; id < 50; id += 1) {
      server.daemon.put({ id, window: id });
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => lastId(reader)).toBe('ep:och:58');
    const list = feedListSchema.parse(reader.frames().at(-1)?.data);
    expect(list.version).toBe(58);
    expect(list.list.items).toHaveLength(scope === 'windows' ? 50 : 1);
    expect(reader.frames().length).toBeLessThan(20);
  });

  it('says that it is alive', async () => {
    const clock = createSimulatedClock();
    const other = await startServer({ clock });
    const reader = await read('/v1/feed', {}, other);
    await expect.poll(() => reader.frames().length).toBe(1);
    clock.advance(limits.feedHeartbeatMs * 2);
    await expect.poll(() => reader.text().match(/^: alive$/gm)?.length).toBe(2);
    await other.close();
  });

  it('tells why it ends', async () => {
    const reader = await read();
    await expect.poll(() => reader.frames().length).toBe(1);
    server.daemon.feed.close();
    await expect.poll(() => reader.isOver()).toBe(true);
    expect(feedCutSchema.parse(reader.frames().at(-1)?.data)).toEqual({ reason: 'shutdown' });
  });

  it('has room for so many, and says so', async () => {
    const readers = await Promise.all(Array.from({ length: 64 }, () => read('/v1/feed?scope=targets')));
    const reply = await ask(server, { path: '/v1/feed' });
    expect([reply.status, JSON.parse(reply.text).error.code]).toEqual([503, 'E_FEED_FULL']);
    for (const reader of readers) reader.leave();
    await expect.poll(() => server.daemon.feed.stats().subscribers).toBe(0);
    expect((await read()).status).toBe(200);
  });

  it('a HEAD request leaves no reader behind', async () => {
    expect((await ask(server, { method: 'HEAD', path: '/v1/feed' })).status).toBe(404);
    expect(server.daemon.feed.stats().subscribers).toBe(0);
  });
});

describe('a slow reader', () => {
  it('FED2 is cut, and costs the daemon nothing on the way', async () => {
    const count = 10;
    const stuck = Array.from({ length: count }, () => {
      const socket = connect(server.path);
      socket.pause();
      socket.on('error', () => undefined);
      socket.write('GET /v1/feed HTTP/1.1\r\nhost: agtmux\r\n\r\n');
      return socket;
    });
    await expect.poll(() => server.daemon.feed.stats().subscribers).toBe(count);
    const quick = await read();
    const memory = (): number => {
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const before = memory();
    let most = 0;
    let published = 0;
    const detail = 'x'.repeat(20_000);
    while (server.daemon.feed.stats().cuts < count && published < 5_000) {
      for (let id = 0; id < 20; id += 1)
        server.daemon.put({ id, state: 'running', fields: { detail: detail + published } });
      published += 20;
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, memory());
    }
    expect(server.daemon.feed.stats()).toMatchObject({ cuts: count, subscribers: 1 });
    await expect.poll(() => server.connections()).toBe(1);
    // Each of them was behind by 400 changes of 20 kB, 8 MB: together 80 MB that must not have been kept.
    expect(published).toBeGreaterThanOrEqual(400);
    expect(most - before).toBeLessThan(60 * 1_048_576);
    await expect.poll(() => lastId(quick)).toBe(`ep:och:${server.daemon.feed.version()}`);
    for (const socket of stuck) socket.destroy();
  });
});
