// Whoever resumes from any version, at any cut point, ends with the same state as one that
// never left, as the snapshot, and as the truth; versions never repeat or go back, over restarts too; nothing grows.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FeedCursor, FeedMessage, Subscriber } from './feed.ts';
import { createFeed, type Feed } from './feed.ts';

const bounds = { changesMax: 12, subscriberChangesMax: 6, subscriberResetsMax: 2, subscribersMax: 8 };
const keys = ['a', 'b', 'c', 'd', 'e'];

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('publish' as const),
      changes: fc.array(fc.tuple(fc.constantFrom(...keys), fc.option(fc.integer(), { freq: 4 })), { maxLength: 8 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      client: fc.nat(3),
      count: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave' as const), client: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('return' as const), client: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), lostVersions: fc.nat(5) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Kind> ? Kind : never;

/** A client as the screens are: it knows its last version and what it was told. */
class Client {
  state = new Map<string, number>();
  cursor: FeedCursor | null = null;
  subscriber: Subscriber<number> | null = null;

  connect(feed: Feed<number>): void {
    if (this.subscriber !== null) return;
    const result = feed.subscribe(this.cursor === null ? {} : { since: this.cursor });
    if (!result.ok) throw new Error(result.failure.message);
    this.subscriber = result.value;
  }

  leave(): void {
    this.subscriber?.close();
    this.subscriber = null;
  }

  /** False when there was nothing. */
  take(count?: number): boolean {
    const message = this.subscriber?.take(count) ?? null;
    if (message === null) return false;
    this.apply(message);
    return true;
  }

  apply(message: FeedMessage<number>): void {
    switch (message.type) {
      case 'cut':
        this.subscriber = null;
        return;
      case 'snapshot':
        this.state = new Map(message.items.map((item) => [item.key, item.value]));
        this.cursor = { epoch: message.epoch, version: message.version };
        return;
      case 'changes':
        expect(message.from).toBe(this.cursor?.version);
        expect(message.to).toBeGreaterThan(message.from);
        expect(new Set(message.changes.map((change) => change.key)).size).toBe(message.changes.length);
        for (const change of message.changes) {
          expect(change.version > message.from && change.version <= message.to).toBe(true);
          if (change.value === null) this.state.delete(change.key);
          else this.state.set(change.key, change.value);
        }
        this.cursor = { epoch: this.cursor?.epoch ?? '', version: message.to };
        return;
    }
  }
}

class World {
  truth = new Map<string, number>();
  runs = 0;
  feed: Feed<number>;
  clients = [new Client(), new Client(), new Client(), new Client()];
  stayer = new Client();

  constructor() {
    this.feed = this.newFeed(50);
  }

  newFeed(firstVersion: number): Feed<number> {
    this.runs += 1;
    const snapshot = () => [...this.truth].map(([key, value]) => ({ key, value }));
    return createFeed<number>({ epoch: `run-${this.runs}`, firstVersion, snapshot, ...bounds });
  }

  do(one: Step): void {
    switch (one.kind) {
      case 'publish': {
        for (const [key, value] of one.changes) {
          if (value === null) this.truth.delete(key);
          else this.truth.set(key, value);
        }
        const before = this.feed.version();
        const after = this.feed.publish(one.changes.map(([key, value]) => ({ key, value })));
        expect(after).toBe(before + one.changes.length);
        break;
      }
      case 'take':
        this.clients[one.client]?.take(one.count);
        break;
      case 'leave':
        this.clients[one.client]?.leave();
        break;
      case 'return':
        this.clients[one.client]?.connect(this.feed);
        break;
      case 'restart':
        // The store may know fewer versions than clients have seen; then only the epoch keeps them apart.
        this.feed.close();
        for (const client of [...this.clients, this.stayer]) client.subscriber = null;
        this.feed = this.newFeed(Math.max(this.feed.version() - one.lostVersions, 0));
        break;
    }
    this.stayer.connect(this.feed);
    while (this.stayer.take());
    this.check();
  }

  check(): void {
    const stats = this.feed.stats();
    expect(stats.ringChanges).toBeLessThanOrEqual(bounds.changesMax);
    expect(stats.backlogChangesMax).toBeLessThanOrEqual(bounds.changesMax);
    expect(stats.subscribers).toBeLessThanOrEqual(bounds.subscribersMax);
    expect(this.stayer.state).toEqual(this.truth);
  }
}

describe('feed: resuming at any point', () => {
  it('FED2 all clients end with the truth, whatever they missed', () => {
    const seen = { resumed: 0, reset: 0, cut: 0 };
    fc.assert(
      fc.property(fc.array(step, { minLength: 10, maxLength: 120 }), (steps) => {
        const world = new World();
        for (const one of steps) world.do(one);
        for (const client of world.clients) {
          const resumes = client.cursor?.epoch === world.feed.epoch && client.subscriber === null;
          client.connect(world.feed);
          while (client.take()) client.connect(world.feed);
          expect(client.state).toEqual(world.truth);
          expect(client.cursor).toEqual({ epoch: world.feed.epoch, version: world.feed.version() });
          if (resumes) seen.resumed += 1;
        }
        seen.reset += world.feed.stats().resets;
        seen.cut += world.feed.stats().cuts;
      }),
      { numRuns: 1_500 },
    );
    // The run only counts when the rare ways were walked.
    expect(seen.resumed).toBeGreaterThan(20);
    expect(seen.reset).toBeGreaterThan(100);
    expect(seen.cut).toBeGreaterThan(20);
  });

  it('FED2 a snapshot at a version plus the changes after it is the state, for every version and every size of taking', () => {
    const change = fc.tuple(fc.constantFrom(...keys), fc.option(fc.integer(), { freq: 4 }));
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 30 }),
        fc.integer({ min: 1, max: 8 }),
        fc.nat(),
        (changes, count, offset) => {
          const truth = new Map<string, number>();
          const history: Map<string, number>[] = [new Map()];
          const snapshot = () => [...truth].map(([key, value]) => ({ key, value }));
          const feed = createFeed<number>({ epoch: 'one', firstVersion: offset, snapshot });
          for (const [key, value] of changes) {
            if (value === null) truth.delete(key);
            else truth.set(key, value);
            feed.publish([{ key, value }]);
            history.push(new Map(truth));
          }
          history.forEach((past, index) => {
            const client = new Client();
            client.state = new Map(past);
            client.cursor = { epoch: 'one', version: offset + index };
            client.connect(feed);
            while (client.take(count)) {
              // Every place on the way is a state that really was.
              expect(client.state).toEqual(history[(client.cursor?.version ?? 0) - offset]);
            }
            expect(client.state).toEqual(truth);
          });
          expect(feed.stats().snapshots).toBe(0);
        },
      ),
      { numRuns: 300 },
    );
  });
});
