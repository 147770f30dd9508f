import { describe, expect, it } from 'vitest';
import { limits } from '../model/limits.ts';
import type { FeedMessage, Subscriber } from './feed.ts';
import { createFeed, type FeedOptions, type SubscribeOptions } from './feed.ts';

interface Bounds {
  changesMax?: number;
  subscribersMax?: number;
  subscriberChangesMax?: number;
  subscriberResetsMax?: number;
}

/** A feed over a plain map: the map is the truth. */
function world(bounds: Bounds = {}, more: Partial<FeedOptions<number>> = {}) {
  const truth = new Map<string, number>();
  const feed = createFeed<number>({
    epoch: 'run-1',
    firstVersion: 100,
    snapshot: () => [...truth].map(([key, value]) => ({ key, value })),
    ...bounds,
    ...more,
  });
  const set = (...changes: [string, number | null][]): number => {
    for (const [key, value] of changes) {
      if (value === null) truth.delete(key);
      else truth.set(key, value);
    }
    return feed.publish(changes.map(([key, value]) => ({ key, value })));
  };
  const subscribe = (options: SubscribeOptions = {}): Subscriber<number> => {
    const result = feed.subscribe(options);
    if (!result.ok) throw new Error(result.failure.message);
    return result.value;
  };
  const at = (version: number): SubscribeOptions => ({ since: { epoch: 'run-1', version } });
  return { truth, feed, set, subscribe, at };
}

const typeOf = (message: FeedMessage<number> | null): string => message?.type ?? 'nothing';

describe('feed: versions', () => {
  it('FED2 each change gets the next version, from the one the store knows', () => {
    const { feed, set } = world();
    expect(feed.version()).toBe(100);
    expect(set(['a', 1], ['b', 2])).toBe(102);
    expect(set()).toBe(102);
    expect(set(['a', 3])).toBe(103);
  });

  it('FED2 refuses to start from what is no version', () => {
    for (const firstVersion of [-1, 0.5, Number.NaN]) {
      expect(() => world({}, { firstVersion })).toThrow('broken invariant');
    }
    expect(() => world({ changesMax: 5, subscriberChangesMax: 6 })).toThrow('broken invariant');
  });
});

describe('feed: what a subscriber is told', () => {
  it('FED2 a new one gets the whole state with its version, then the changes', () => {
    const { set, subscribe } = world();
    set(['a', 1], ['b', 2]);
    const subscriber = subscribe();
    expect(subscriber.version()).toBeNull();
    expect(subscriber.take()).toEqual({
      type: 'snapshot',
      epoch: 'run-1',
      version: 102,
      after: null,
      items: [
        { key: 'a', value: 1 },
        { key: 'b', value: 2 },
      ],
    });
    expect(subscriber.take()).toBeNull();
    set(['a', 5], ['b', null]);
    expect(subscriber.take()).toEqual({
      type: 'changes',
      from: 102,
      to: 104,
      changes: [
        { version: 103, key: 'a', value: 5 },
        { version: 104, key: 'b', value: null },
      ],
    });
    expect(subscriber.version()).toBe(104);
  });

  it('changes of one key are told as its last one, in the order of versions', () => {
    const { set, subscribe, at } = world();
    const subscriber = subscribe(at(100));
    set(['a', 1], ['b', 1], ['a', 2], ['c', 1], ['b', null], ['a', 3]);
    const message = subscriber.take();
    expect(message).toEqual({
      type: 'changes',
      from: 100,
      to: 106,
      changes: [
        { version: 104, key: 'c', value: 1 },
        { version: 105, key: 'b', value: null },
        { version: 106, key: 'a', value: 3 },
      ],
    });
  });

  it('takes no more than asked for and goes on from there', () => {
    const { set, subscribe, at } = world();
    const subscriber = subscribe(at(100));
    set(['a', 1], ['b', 1], ['c', 1], ['d', 1], ['e', 1]);
    const spans: string[] = [];
    for (let message = subscriber.take(2); message?.type === 'changes'; message = subscriber.take(2)) {
      spans.push(`${message.from}-${message.to}`);
    }
    expect(spans).toEqual(['100-102', '102-104', '104-105']);
    for (const bad of [0, -1, 1.5, Number.NaN]) expect(() => subscriber.take(bad)).toThrow('broken invariant');
  });
});

describe('feed: resuming', () => {
  it('FED2 from a version that is still held come exactly the missing changes', () => {
    const { set, subscribe, at } = world();
    set(['a', 1], ['b', 1], ['c', 1]);
    expect(subscribe(at(103)).take()).toBeNull();
    expect(subscribe(at(102)).take()).toMatchObject({ type: 'changes', from: 102, to: 103 });
    expect(subscribe(at(100)).take()).toMatchObject({ type: 'changes', from: 100, to: 103 });
  });

  it('FED2 too old, ahead of us, of another run or no version at all: the whole state', () => {
    const { set, subscribe, at } = world({ changesMax: 3, subscriberChangesMax: 3 });
    set(['a', 1], ['b', 1], ['c', 1], ['d', 1]);
    expect(typeOf(subscribe(at(101)).take())).toBe('changes');
    for (const version of [100, 99, 0, -1, 105, 1e15, 102.5, Number.NaN]) {
      expect(typeOf(subscribe(at(version)).take()), String(version)).toBe('snapshot');
    }
    expect(typeOf(subscribe({ since: { epoch: 'run-0', version: 103 } }).take())).toBe('snapshot');
  });

  it('FED2 a snapshot says what its client had, so that what happened meanwhile can be told beside it', () => {
    const { set, subscribe, at } = world({ changesMax: 3, subscriberChangesMax: 3 });
    set(['a', 1], ['b', 1], ['c', 1], ['d', 1]);
    expect(subscribe(at(100)).take()).toMatchObject({ type: 'snapshot', after: 100 });
    expect(subscribe({ since: { epoch: 'run-0', version: 42 } }).take()).toMatchObject({ after: 42 });
    for (const bad of [102.5, Number.NaN]) expect(subscribe(at(bad)).take()).toMatchObject({ after: null });
    const slow = subscribe(at(103));
    slow.take();
    for (const index of [1, 2, 3, 4]) set(['a', index]);
    expect(slow.take()).toMatchObject({ type: 'snapshot', version: 108, after: 104 });
  });

  it('one that comes back far behind is not punished for it', () => {
    const { feed, set, subscribe, at } = world({ changesMax: 100, subscriberChangesMax: 10 });
    for (let index = 0; index < 90; index += 1) set([`k${index}`, index]);
    const subscriber = subscribe(at(100));
    set(['x', 1]);
    expect(subscriber.take()).toMatchObject({ type: 'changes', from: 100, to: 191 });
    expect(feed.stats().resets).toBe(0);
  });

  it('but when the ring moves on without it, it gets the whole state', () => {
    const { set, subscribe, at } = world({ changesMax: 100, subscriberChangesMax: 50 });
    for (let index = 0; index < 100; index += 1) set([`k${index}`, index]);
    const subscriber = subscribe(at(100));
    set(['x', 1]);
    expect(typeOf(subscriber.take())).toBe('snapshot');
  });
});

describe('feed: news', () => {
  it('is announced once for each time there was nothing', () => {
    const { set, subscribe } = world();
    const calls: string[] = [];
    const subscriber = subscribe({ onReady: () => calls.push('ready') });
    set(['a', 1]);
    expect(calls).toEqual([]);
    expect([typeOf(subscriber.take()), typeOf(subscriber.take())]).toEqual(['snapshot', 'nothing']);
    set(['a', 2]);
    set(['a', 3]);
    expect(calls).toEqual(['ready']);
    expect(typeOf(subscriber.take())).toBe('changes');
    set(['a', 4]);
    expect(calls).toEqual(['ready']);
    expect([typeOf(subscriber.take()), typeOf(subscriber.take())]).toEqual(['changes', 'nothing']);
    set(['a', 5]);
    expect(calls).toEqual(['ready', 'ready']);
  });

  it('may be taken, answered and left from inside the announcement', () => {
    const { feed, set, subscribe, at } = world();
    const seen: number[] = [];
    const first: Subscriber<number> = subscribe({
      ...at(100),
      onReady: () => {
        for (let message = first.take(); message?.type === 'changes'; message = first.take()) seen.push(message.to);
        if (seen.length < 3) set(['again', seen.length]);
        else first.close();
      },
    });
    first.take();
    const second = subscribe(at(100));
    set(['a', 1]);
    expect(seen).toEqual([101, 102, 103]);
    expect(second.take()).toMatchObject({ from: 100, to: 103 });
    expect(feed.stats().subscribers).toBe(1);
  });

  it('a defect in one announcement reaches the caller, after all others have their news', () => {
    const { set, subscribe, at } = world();
    const calls: string[] = [];
    const onReady = (): void => {
      calls.push('broken');
      throw new Error('defect');
    };
    subscribe({ ...at(100), onReady }).take();
    subscribe({ ...at(100), onReady: () => calls.push('fine') }).take();
    expect(() => set(['a', 1])).toThrow('defect');
    expect(calls).toEqual(['broken', 'fine']);
  });

  it('can be waited for', async () => {
    const { set, subscribe, at } = world();
    const subscriber = subscribe(at(100));
    const waiting = subscriber.next();
    await expect(subscriber.next()).rejects.toThrow('broken invariant');
    set(['a', 1]);
    set(['b', 1]);
    // Taken when the waiter goes on, so both changes come at once.
    expect(await waiting).toMatchObject({ type: 'changes', from: 100, to: 102 });
    const last = subscriber.next();
    subscriber.close();
    expect(await last).toEqual({ type: 'cut', reason: 'closed' });
    expect(await subscriber.next()).toEqual({ type: 'cut', reason: 'closed' });
  });

  it('can be looped over; leaving the loop gives the place back', async () => {
    const { feed, set, subscribe } = world();
    const subscriber = subscribe();
    const seen: string[] = [];
    for await (const message of subscriber) {
      seen.push(message.type);
      if (seen.length === 2) break;
      set(['a', 1]);
    }
    expect(seen).toEqual(['snapshot', 'changes']);
    expect(feed.stats().subscribers).toBe(0);
    const ended = subscribe();
    feed.close();
    const rest: string[] = [];
    for await (const message of ended) rest.push(message.type);
    expect(rest).toEqual(['cut']);
  });
});

describe('feed: slow and too many subscribers', () => {
  const bounds = { changesMax: 20, subscriberChangesMax: 10, subscriberResetsMax: 3 };

  it('FED2 one that is too far behind gets the newest state instead of the backlog', () => {
    const { set, subscribe, at } = world(bounds);
    const subscriber = subscribe(at(100));
    for (let index = 0; index < 10; index += 1) set(['a', index]);
    expect(typeOf(subscriber.take())).toBe('changes');
    for (let index = 0; index < 11; index += 1) set(['a', index]);
    expect(subscriber.take()).toEqual({
      type: 'snapshot',
      epoch: 'run-1',
      version: 121,
      after: 110,
      items: [{ key: 'a', value: 10 }],
    });
  });

  it('FED2 one that never takes anything is cut, and told so at once', () => {
    const { feed, set, subscribe } = world(bounds);
    const cuts: string[] = [];
    const ready: string[] = [];
    const subscriber = subscribe({ onCut: (reason) => cuts.push(reason), onReady: () => ready.push('ready') });
    let published = 0;
    while (cuts.length === 0 && published < 1_000) {
      set(['a', published]);
      published += 1;
    }
    expect(published).toBe(4 * 11);
    expect(cuts).toEqual(['too_slow']);
    expect(ready).toEqual([]);
    expect(subscriber.take()).toEqual({ type: 'cut', reason: 'too_slow' });
    expect(feed.stats()).toMatchObject({ subscribers: 0, cuts: 1, resets: 4 });
    for (let index = 0; index < 100; index += 1) set(['a', index]);
    expect(cuts).toEqual(['too_slow']);
  });

  it('FED2 one that only ever manages snapshots is cut too', () => {
    const { feed, set, subscribe } = world(bounds);
    const subscriber = subscribe();
    const seen: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      seen.push(typeOf(subscriber.take()));
      for (let index = 0; index < 11; index += 1) set(['a', index]);
    }
    expect(seen).toEqual(['snapshot', 'snapshot', 'snapshot', 'snapshot', 'cut']);
    expect(feed.stats().cuts).toBe(1);
  });

  it('FED2 one that catches up in between starts with a clean sheet', () => {
    const { feed, set, subscribe } = world(bounds);
    const subscriber = subscribe();
    subscriber.take();
    for (let round = 0; round < 20; round += 1) {
      for (let index = 0; index < 11; index += 1) set(['a', index]);
      expect(typeOf(subscriber.take())).toBe('snapshot');
      set(['b', round]);
      expect(typeOf(subscriber.take())).toBe('changes');
    }
    expect(feed.stats()).toMatchObject({ cuts: 0, resets: 20, subscribers: 1 });
  });

  it('taking a part is not catching up', () => {
    const { feed, set, subscribe } = world({ ...bounds, changesMax: 10_000 });
    const subscriber = subscribe();
    for (let round = 0; round < 60 && feed.stats().cuts === 0; round += 1) {
      subscriber.take(1);
      for (let index = 0; index < 4; index += 1) set(['a', index]);
      expect(feed.stats().backlogChangesMax).toBeLessThanOrEqual(bounds.subscriberChangesMax);
    }
    expect(feed.stats().cuts).toBe(1);
  });

  it('FED2 subscribers over the bound are refused until one leaves', () => {
    const { feed, subscribe } = world({ subscribersMax: 2 });
    const first = subscribe();
    subscribe();
    const refused = feed.subscribe();
    expect(!refused.ok && refused.failure.code).toBe('E_FEED_FULL');
    first.close();
    first.close();
    expect(feed.subscribe().ok).toBe(true);
    expect(feed.stats().subscribers).toBe(2);
    expect(first.take()).toEqual({ type: 'cut', reason: 'closed' });
  });

  it('closing the feed tells everybody, but not those who left', () => {
    const { feed, subscribe } = world();
    const reasons: string[] = [];
    const left = subscribe({ onCut: (reason) => reasons.push(`left ${reason}`) });
    const stays = subscribe({ onCut: (reason) => reasons.push(`stays ${reason}`) });
    left.close();
    feed.close();
    expect(reasons).toEqual(['stays shutdown']);
    expect(stays.take()).toEqual({ type: 'cut', reason: 'shutdown' });
    expect(feed.stats()).toMatchObject({ subscribers: 0, cuts: 0 });
  });

  it('FED2 50 that never read cost nothing: ring bounded, 50 readers unharmed, all 50 resume with equal state', () => {
    const { truth, feed, set, subscribe } = world();
    const cutVersions: (number | null)[] = [];
    for (let index = 0; index < 50; index += 1) {
      const slow: Subscriber<number> = subscribe({ onCut: () => cutVersions.push(slow.version()) });
      slow.take();
    }
    const readers = Array.from({ length: 50 }, () => ({ state: new Map<string, number>(), subscriber: subscribe() }));
    for (let index = 0; index < 40_000; index += 1) {
      set([`k${index % 300}`, index % 7 === 0 ? null : index]);
      if (index % 100 === 0) for (const reader of readers) drain(reader.subscriber, reader.state);
      if (index % 1_000 !== 0) continue;
      const stats = feed.stats();
      expect(stats.ringChanges).toBeLessThanOrEqual(limits.feedChangesMax);
      expect(stats.backlogChangesMax).toBeLessThanOrEqual(limits.subscriberChangesMax);
    }
    for (const reader of readers) {
      drain(reader.subscriber, reader.state);
      expect(reader.state).toEqual(truth);
    }
    expect(cutVersions.length).toBe(50);
    expect(feed.stats()).toMatchObject({ subscribers: 50, cuts: 50, ringChanges: limits.feedChangesMax });
    // What was cut comes back by its version and is told the whole state once, from one shared copy.
    const before = feed.stats().snapshots;
    for (const version of cutVersions) {
      const state = new Map<string, number>();
      drain(subscribe({ since: { epoch: 'run-1', version: version ?? 0 } }), state);
      expect(state).toEqual(truth);
    }
    expect(feed.stats().snapshots - before).toBeLessThanOrEqual(1);
  });
});

function drain(subscriber: Subscriber<number>, state: Map<string, number>): void {
  for (let message = subscriber.take(); message !== null; message = subscriber.take()) {
    if (message.type === 'cut') return;
    if (message.type === 'snapshot') {
      state.clear();
      for (const item of message.items) state.set(item.key, item.value);
      continue;
    }
    for (const change of message.changes) {
      if (change.value === null) state.delete(change.key);
      else state.set(change.key, change.value);
    }
  }
}
