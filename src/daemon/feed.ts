// The versioned stream of changes that every screen lives on (FED1, FED2). Pure bookkeeping: the truth is elsewhere and is
// asked for by `snapshot`; there is no timer, no I/O, and a subscriber is only a place in the shared ring.

import { assert, fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { CutReason, FeedCursor, FeedItem, Subscriber } from './feed-messages.ts';
import { FeedRing } from './feed-ring.ts';
import { FeedSubscriber } from './feed-subscriber.ts';

export interface FeedOptions<Value> {
  /**
   * A new one for each run of the daemon: after a crash a client may have seen versions that were never committed, and
   * must not take the new ones of the same number for what it has.
   */
  readonly epoch: string;
  /** The newest version that the store knows. The state at the start carries it; the first change gets the next one. */
  readonly firstVersion: number;
  /**
   * The whole state now. It must already show everything that was published. Asked for once per version, so a change
   * that is never published may stay unseen.
   */
  readonly snapshot: () => readonly FeedItem<Value>[];
  readonly changesMax?: number;
  readonly subscribersMax?: number;
  readonly subscriberChangesMax?: number;
  readonly subscriberResetsMax?: number;
}

export interface SubscribeOptions {
  readonly since?: FeedCursor;
  /**
   * Called when there is something to take again, once for each time that `take` came back with nothing. Called inside
   * `publish`; it may take, subscribe and close.
   */
  readonly onReady?: () => void;
  /**
   * Called once when the feed cuts it, whatever it is doing: a reader that is stuck writing to a client that does not
   * read would never come back to take the news.
   */
  readonly onCut?: (reason: CutReason) => void;
}

export interface FeedStats {
  readonly version: number;
  /** The oldest version that can still be resumed from. */
  readonly resumableVersion: number;
  readonly ringChanges: number;
  readonly subscribers: number;
  /** How far the slowest subscriber is behind, in changes of the shared ring. */
  readonly backlogChangesMax: number;
  readonly resets: number;
  readonly cuts: number;
  readonly snapshots: number;
}

export interface Feed<Value> {
  readonly epoch: string;
  version(): number;
  /** Each change gets the next version. Returns the newest one. */
  publish(changes: readonly { readonly key: string; readonly value: Value | null }[]): number;
  /** E_FEED_FULL when there are too many. */
  subscribe(options?: SubscribeOptions): Result<Subscriber<Value>>;
  stats(): FeedStats;
  /** Cuts every subscriber with the reason `shutdown`. */
  close(): void;
}

export function createFeed<Value>(options: FeedOptions<Value>): Feed<Value> {
  return new VersionedFeed(options);
}

class VersionedFeed<Value> implements Feed<Value> {
  readonly epoch: string;
  readonly #options: FeedOptions<Value>;
  readonly #ring: FeedRing<Value>;
  readonly #subscribers = new Set<FeedSubscriber<Value>>();
  readonly #counters = { resets: 0, cuts: 0, snapshots: 0 };
  readonly #subscribersMax: number;
  readonly #changesMax: number;
  readonly #resetsMax: number;
  #cached: { readonly version: number; readonly items: readonly FeedItem<Value>[] } | null = null;

  constructor(options: FeedOptions<Value>) {
    const changesMax = options.changesMax ?? limits.feedChangesMax;
    this.#options = options;
    this.#subscribersMax = options.subscribersMax ?? limits.feedSubscribersMax;
    this.#changesMax = options.subscriberChangesMax ?? limits.subscriberChangesMax;
    this.#resetsMax = options.subscriberResetsMax ?? limits.subscriberResetsMax;
    assert(this.#changesMax <= changesMax, 'a subscriber within its bound is never behind the ring');
    this.epoch = options.epoch;
    this.#ring = new FeedRing<Value>(changesMax, options.firstVersion);
  }

  version(): number {
    return this.#ring.newest;
  }

  publish(changes: readonly { readonly key: string; readonly value: Value | null }[]): number {
    if (changes.length === 0) return this.#ring.newest;
    for (const change of changes) this.#ring.push(change.key, change.value);
    const told = [...this.#subscribers];
    for (const subscriber of told) this.#holdBounds(subscriber);
    notifyAll(told);
    return this.#ring.newest;
  }

  subscribe({ since, onReady, onCut }: SubscribeOptions = {}): Result<Subscriber<Value>> {
    if (this.#subscribers.size >= this.#subscribersMax) {
      return fail('E_FEED_FULL', `the feed has ${this.#subscribersMax} subscribers already`);
    }
    const subscriber: FeedSubscriber<Value> = new FeedSubscriber({
      epoch: this.epoch,
      ring: this.#ring,
      snapshot: () => this.#snapshot(),
      position: since !== undefined && this.#canResume(since) ? since.version : null,
      known: since === undefined || !Number.isSafeInteger(since.version) ? null : since.version,
      onReady: onReady ?? null,
      onCut: onCut ?? null,
      onClose: () => this.#cut(subscriber, 'closed'),
    });
    this.#subscribers.add(subscriber);
    return ok(subscriber);
  }

  stats(): FeedStats {
    return {
      version: this.#ring.newest,
      resumableVersion: this.#ring.resumable,
      ringChanges: this.#ring.length,
      subscribers: this.#subscribers.size,
      backlogChangesMax: Math.max(0, ...[...this.#subscribers].map((subscriber) => subscriber.backlog())),
      ...this.#counters,
    };
  }

  close(): void {
    const told = [...this.#subscribers];
    for (const subscriber of told) this.#cut(subscriber, 'shutdown');
    notifyAll(told);
  }

  #canResume({ epoch, version }: NonNullable<SubscribeOptions['since']>): boolean {
    const isHeld = version >= this.#ring.resumable && version <= this.#ring.newest;
    return epoch === this.epoch && Number.isSafeInteger(version) && isHeld;
  }

  /** One copy for all who need it at this version. */
  #snapshot(): readonly FeedItem<Value>[] {
    if (this.#cached?.version !== this.#ring.newest) {
      this.#cached = { version: this.#ring.newest, items: this.#options.snapshot() };
      this.#counters.snapshots += 1;
    }
    return this.#cached.items;
  }

  #cut(subscriber: FeedSubscriber<Value>, reason: CutReason): void {
    this.#subscribers.delete(subscriber);
    subscriber.cut(reason);
    if (reason === 'too_slow') this.#counters.cuts += 1;
  }

  /** Done when publishing, so that a subscriber that never takes anything is found as well (FED2). */
  #holdBounds(subscriber: FeedSubscriber<Value>): void {
    if (subscriber.lag() <= this.#changesMax && !subscriber.fellOut()) return;
    this.#counters.resets += 1;
    if (subscriber.reset() > this.#resetsMax) this.#cut(subscriber, 'too_slow');
  }
}

function notifyAll<Value>(told: readonly FeedSubscriber<Value>[]): void {
  const errors: unknown[] = [];
  for (const subscriber of told) {
    try {
      subscriber.notify();
    } catch (error) {
      errors.push(error);
    }
  }
  // A defect in one screen's code must not keep the news from the others; then it comes out.
  if (errors.length > 0) throw errors[0];
}
