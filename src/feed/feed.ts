// The versioned stream of changes that every screen lives on (FED1, FED2). Pure bookkeeping: the truth is elsewhere and is
// asked for by `snapshot`; there is no timer, no I/O. The ring is shared by all subscribers, who are pulled from: a screen
// takes only what it can pass on, and what waits costs nothing here.

import type { PaneRow } from '../api/panes.ts';
import type { TargetRow } from '../api/targets.ts';
import { assert, fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { NoticeRow } from '../model/notices.ts';
import type { ShellEvent, ShellRow } from '../model/shells.ts';

/** What the feed carries: rows by their key, and what happened to shells, each under a key of its own. */
export type FeedRow = PaneRow | TargetRow | ShellRow | ShellEvent | NoticeRow;

export interface FeedItem<Value> {
  readonly key: string;
  readonly value: Value;
}

/** Null: it is gone. */
export type FeedChange<Value> = FeedItem<Value | null>;
type Numbered<Value> = FeedChange<Value> & { readonly version: number };

/** Where a client stands: enough to resume from. A version means nothing outside its epoch. */
export interface FeedCursor {
  readonly epoch: string;
  readonly version: number;
}

/** Why a subscriber gets nothing more: it could not keep up, it left, or the daemon leaves. */
export type CutReason = 'too_slow' | 'closed' | 'shutdown';

/** Replaces everything the client knows. */
interface SnapshotMessage<Value> extends FeedCursor {
  readonly type: 'snapshot';
  /**
   * The version that the client had before, of whichever run of the daemon: versions never repeat. Null when it had none.
   * What happened since is in no snapshot, and is told apart.
   */
  readonly after: number | null;
  readonly items: readonly FeedItem<Value>[];
}

/** What happened after `from` up to and including `to`: of each key its last change, by version. */
interface ChangesMessage<Value> {
  readonly type: 'changes';
  readonly from: number;
  readonly to: number;
  readonly changes: readonly Numbered<Value>[];
}

/** The last message; it can be taken again and again. */
interface CutMessage {
  readonly type: 'cut';
  readonly reason: CutReason;
}

export type FeedMessage<Value> = SnapshotMessage<Value> | ChangesMessage<Value> | CutMessage;

export interface Subscriber<Value> extends AsyncIterable<FeedMessage<Value>> {
  /** The next message, or null when there is nothing new. At most this many changes of the ring at once; all by default. */
  take(changesMax?: number): FeedMessage<Value> | null;
  /** The next message, waiting for it. One caller at a time. */
  next(): Promise<FeedMessage<Value>>;
  /** The version up to which everything was taken; null before the first snapshot. */
  version(): number | null;
  close(): void;
}

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
  publish(changes: readonly FeedChange<Value>[]): number;
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

  publish(changes: readonly FeedChange<Value>[]): number {
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

/** The last changes, in a ring that never grows beyond its bound. Versions are consecutive, so a version is its place. */
class FeedRing<Value> {
  readonly #changesMax: number;
  readonly #firstVersion: number;
  readonly #slots: Numbered<Value>[] = [];
  #newest: number;

  constructor(changesMax: number, firstVersion: number) {
    assert(Number.isSafeInteger(changesMax) && changesMax >= 1, 'a ring has room for a change');
    assert(Number.isSafeInteger(firstVersion) && firstVersion >= 0, 'versions are whole numbers from 0 up');
    this.#changesMax = changesMax;
    this.#firstVersion = firstVersion;
    this.#newest = firstVersion;
  }

  get newest(): number {
    return this.#newest;
  }

  get length(): number {
    return this.#slots.length;
  }

  /** The oldest version that can still be resumed from: every change after it is here. */
  get resumable(): number {
    return this.#newest - this.#slots.length;
  }

  push(key: string, value: Value | null): void {
    const version = this.#newest + 1;
    assert(Number.isSafeInteger(version), 'versions do not run out');
    this.#slots[this.#slotOf(version)] = { version, key, value };
    this.#newest = version;
  }

  /** Changes after `from` up to `to`, by version; of several changes of one key only the last. */
  between(from: number, to: number): Numbered<Value>[] {
    assert(from >= this.resumable && to <= this.#newest, 'the ring still holds what is asked for');
    const seen = new Set<string>();
    const changes: Numbered<Value>[] = [];
    for (let version = to; version > from; version -= 1) {
      const change = this.#slots[this.#slotOf(version)];
      assert(change !== undefined && change.version === version, 'a version stands in its own slot');
      if (seen.has(change.key)) continue;
      seen.add(change.key);
      changes.push(change);
    }
    return changes.reverse();
  }

  /** The first change ever pushed stands in slot 0, and the others follow it round. */
  #slotOf(version: number): number {
    return (version - this.#firstVersion - 1) % this.#changesMax;
  }
}

interface SubscriberParts<Value> {
  readonly epoch: string;
  readonly ring: FeedRing<Value>;
  readonly snapshot: () => readonly FeedItem<Value>[];
  /** Null: starts with a snapshot. */
  readonly position: number | null;
  /** The version that the client says it has. */
  readonly known: number | null;
  readonly onReady: (() => void) | null;
  readonly onCut: ((reason: CutReason) => void) | null;
  readonly onClose: () => void;
}

/** One reader: a place in the shared ring, whether it needs the whole state next, and how often it was too slow. */
class FeedSubscriber<Value> implements Subscriber<Value> {
  readonly #parts: SubscriberParts<Value>;
  /** Everything up to here was taken. Null: the whole state comes next. */
  #position: number | null;
  /** Lag is counted from here: the position, or the moment of the last reset or of a resume. */
  #lagFrom: number;
  #taken: number | null;
  #resets = 0;
  #cut: CutReason | null = null;
  #cutTold = false;
  /** True after `take` came back with nothing: the next news is announced. */
  #armed = false;
  #wake: (() => void) | null = null;

  constructor(parts: SubscriberParts<Value>) {
    this.#parts = parts;
    this.#position = parts.position;
    this.#taken = parts.position;
    // A client that comes back may be far behind through no fault of its own.
    this.#lagFrom = parts.ring.newest;
  }

  take(changesMax: number = Number.POSITIVE_INFINITY): FeedMessage<Value> | null {
    assert(changesMax >= 1 && (Number.isSafeInteger(changesMax) || changesMax === Infinity), 'whole changes are taken');
    if (this.#cut !== null) return { type: 'cut', reason: this.#cut };
    const { epoch, ring, snapshot, known } = this.#parts;
    const from = this.#position;
    if (from === null) {
      const items = snapshot();
      const after = this.#taken ?? known;
      this.#moveTo(ring.newest);
      return { type: 'snapshot', epoch, version: ring.newest, after, items };
    }
    const to = Math.min(ring.newest, from + changesMax);
    // Having caught up by reading changes is what makes a reader fast again; a snapshot alone does not.
    if (to === ring.newest) this.#resets = 0;
    if (to === from) {
      this.#armed = true;
      return null;
    }
    this.#moveTo(to);
    return { type: 'changes', from, to, changes: ring.between(from, to) };
  }

  async next(): Promise<FeedMessage<Value>> {
    assert(this.#wake === null, 'one caller waits at a time');
    for (;;) {
      const message = this.take();
      if (message !== null) return message;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Ends after the cut message. Leaving the loop early closes the subscriber. */
  async *[Symbol.asyncIterator](): AsyncGenerator<FeedMessage<Value>, void, void> {
    try {
      for (;;) {
        const message = await this.next();
        yield message;
        if (message.type === 'cut') return;
      }
    } finally {
      this.close();
    }
  }

  version(): number | null {
    return this.#taken;
  }

  close(): void {
    if (this.#cut !== null) return;
    this.#parts.onClose();
    this.notify();
  }

  /** Changes that wait for it in the ring. After a reset none do: the state is asked for when it is taken. */
  backlog(): number {
    return this.#position === null ? 0 : this.#parts.ring.newest - this.#position;
  }

  /** Changes published since it last kept up, or was last excused. */
  lag(): number {
    return this.#parts.ring.newest - this.#lagFrom;
  }

  fellOut(): boolean {
    return this.#position !== null && this.#position < this.#parts.ring.resumable;
  }

  /** Too slow: the newest state comes next instead of the backlog. Returns how often in a row. */
  reset(): number {
    this.#position = null;
    this.#lagFrom = this.#parts.ring.newest;
    this.#resets += 1;
    return this.#resets;
  }

  cut(reason: CutReason): void {
    this.#cut ??= reason;
    this.#position = null;
  }

  /** Tells whoever waits. Its own leaving is no news to a reader, so only the other reasons are handed over. */
  notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
    if (this.#cut !== null && this.#cut !== 'closed' && !this.#cutTold) {
      this.#cutTold = true;
      this.#parts.onCut?.(this.#cut);
    }
    if (!this.#armed) return;
    this.#armed = false;
    this.#parts.onReady?.();
  }

  #moveTo(version: number): void {
    this.#position = version;
    this.#taken = version;
    this.#lagFrom = Math.max(this.#lagFrom, version);
  }
}
