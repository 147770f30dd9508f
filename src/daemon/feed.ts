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
  const {
    changesMax = limits.feedChangesMax,
    subscribersMax = limits.feedSubscribersMax,
    subscriberChangesMax = limits.subscriberChangesMax,
    subscriberResetsMax = limits.subscriberResetsMax,
  } = options;
  assert(subscriberChangesMax <= changesMax, 'a subscriber within its bound is never behind the ring');
  const ring = new FeedRing<Value>(changesMax, options.firstVersion);
  const subscribers = new Set<FeedSubscriber<Value>>();
  const counters = { resets: 0, cuts: 0, snapshots: 0 };
  let cached: { readonly version: number; readonly items: readonly FeedItem<Value>[] } | null = null;

  /** One copy for all who need it at this version. */
  function snapshot(): readonly FeedItem<Value>[] {
    if (cached?.version !== ring.newest) {
      cached = { version: ring.newest, items: options.snapshot() };
      counters.snapshots += 1;
    }
    return cached.items;
  }

  function cut(subscriber: FeedSubscriber<Value>, reason: CutReason): void {
    subscribers.delete(subscriber);
    subscriber.cut(reason);
    if (reason === 'too_slow') counters.cuts += 1;
  }

  /** Done when publishing, so that a subscriber that never takes anything is found as well (FED2). */
  function holdBounds(subscriber: FeedSubscriber<Value>): void {
    if (subscriber.lag() <= subscriberChangesMax && !subscriber.fellOut()) return;
    counters.resets += 1;
    if (subscriber.reset() > subscriberResetsMax) cut(subscriber, 'too_slow');
  }

  function notifyAll(told: readonly FeedSubscriber<Value>[]): void {
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

  return {
    epoch: options.epoch,
    version: () => ring.newest,
    publish(changes) {
      if (changes.length === 0) return ring.newest;
      for (const change of changes) ring.push(change.key, change.value);
      const told = [...subscribers];
      for (const subscriber of told) holdBounds(subscriber);
      notifyAll(told);
      return ring.newest;
    },
    subscribe({ since, onReady, onCut } = {}) {
      if (subscribers.size >= subscribersMax) {
        return fail('E_FEED_FULL', `the feed has ${subscribersMax} subscribers already`);
      }
      const resumes =
        since !== undefined &&
        since.epoch === options.epoch &&
        Number.isSafeInteger(since.version) &&
        since.version >= ring.resumable &&
        since.version <= ring.newest;
      const subscriber: FeedSubscriber<Value> = new FeedSubscriber({
        epoch: options.epoch,
        ring,
        snapshot,
        position: resumes ? since.version : null,
        onReady: onReady ?? null,
        onCut: onCut ?? null,
        onClose: () => cut(subscriber, 'closed'),
      });
      subscribers.add(subscriber);
      return ok(subscriber);
    },
    stats: () => ({
      version: ring.newest,
      resumableVersion: ring.resumable,
      ringChanges: ring.length,
      subscribers: subscribers.size,
      backlogChangesMax: Math.max(0, ...[...subscribers].map((subscriber) => subscriber.backlog())),
      ...counters,
    }),
    close() {
      const told = [...subscribers];
      for (const subscriber of told) cut(subscriber, 'shutdown');
      notifyAll(told);
    },
  };
}
