// The one way in: a bounded queue that commits first and acknowledges then. When it is full, observations that a newer
// one has made pointless are merged; asks and ends never are, their senders are told to come back instead.

import { canonical } from '../engine/canonical.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { isSourceName, sources } from '../model/sources.ts';
import { type Verdict, verdict } from '../model/verdicts.ts';
import type { Clock } from '../platform/clock.ts';

/** What the inbox hands its batches to. */
export interface Taker {
  take(raws: readonly unknown[]): Promise<readonly Verdict[]>;
  countMerged(count: number): void;
  countRefused(count: number): void;
  /** Shows what waits while it cannot be written; null when that is over. */
  preview?(raws: readonly unknown[] | null): Promise<void>;
}

export interface InboxLimits {
  readonly eventsMax: number;
  readonly batchMax: number;
  readonly retryMs: number;
}

const standardLimits: InboxLimits = {
  eventsMax: limits.inboxEventsMax,
  batchMax: limits.batchEventsMax,
  retryMs: limits.inboxRetryMs,
};

/** The disk may take it later; everything else that goes wrong is a defect and would go wrong again. */
function isTemporary(problem: unknown): boolean {
  return problem instanceof AgtmuxError && problem.code.startsWith('E_STORE_');
}

interface Item {
  readonly raw: unknown;
  /** What a newer observation has to share with this one to make it pointless; null when nothing does. */
  readonly mergeKey: string | null;
  readonly acknowledge: (verdict: Verdict) => void;
}

export class Inbox {
  readonly #taker: Taker;
  readonly #clock: Clock;
  readonly #limits: InboxLimits;
  /** Told at every failed try; may ask for a job that helps. */
  readonly #onFailure: (problem: unknown) => void;
  #queue: Item[] = [];
  readonly #mergeable = new Map<string, Item>();
  readonly #idle: (() => void)[] = [];
  readonly #jobs: (() => Promise<void>)[] = [];
  #working = false;
  #failure: unknown = null;
  #failures = 0;

  constructor(
    taker: Taker,
    clock: Clock,
    inboxLimits: InboxLimits = standardLimits,
    onFailure: (problem: unknown) => void = () => undefined,
  ) {
    this.#taker = taker;
    this.#clock = clock;
    this.#limits = inboxLimits;
    this.#onFailure = onFailure;
  }

  /** Events taken and not yet acknowledged. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Why the log does not take anything at the moment, null when it does. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Resolves when the event is on disk, with its verdict. Rejects with E_INBOX_FULL when it was not taken at all. */
  offer(raw: unknown): Promise<Verdict> {
    const mergeKey = mergeKeyOf(raw);
    if (this.#queue.length >= this.#limits.eventsMax && !this.#mergeAway(mergeKey)) {
      return Promise.reject(new AgtmuxError('E_INBOX_FULL', `${this.#queue.length} events are waiting to be written`));
    }
    return new Promise((acknowledge) => {
      const item = { raw, mergeKey, acknowledge };
      this.#queue.push(item);
      if (mergeKey !== null) this.#mergeable.set(mergeKey, item);
      if (!this.#working) void this.#work();
    });
  }

  /** Resolves when everything that was taken has been acknowledged. */
  async drain(): Promise<void> {
    if (this.#queue.length === 0 && !this.#working) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Does something that must not meet a batch on its way, such as pruning. */
  between<Value>(work: () => Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#jobs.push(() => work().then(resolve, reject));
      if (!this.#working) void this.#work();
    });
  }

  /** Makes room by dropping the waiting observation that the new one repeats. False when there is none. */
  #mergeAway(mergeKey: string | null): boolean {
    const older = mergeKey === null ? undefined : this.#mergeable.get(mergeKey);
    if (older === undefined) return false;
    this.#queue = this.#queue.filter((item) => item !== older);
    this.#taker.countMerged(1);
    older.acknowledge(verdict('newer_waiting'));
    return true;
  }

  async #work(): Promise<void> {
    this.#working = true;
    while (this.#queue.length > 0 || this.#jobs.length > 0) {
      const job = this.#jobs.shift();
      if (job !== undefined) {
        await job();
        continue;
      }
      const batch = this.#queue.slice(0, this.#limits.batchMax);
      // From here on they can no longer be merged: they are on their way to the disk.
      for (const item of batch) this.#unmerge(item);
      await this.#hand(batch);
    }
    this.#working = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #hand(batch: readonly Item[]): Promise<void> {
    try {
      const verdicts = await this.#taker.take(batch.map((item) => item.raw));
      this.#failure = null;
      this.#failures = 0;
      this.#queue.splice(0, batch.length);
      await this.#taker.preview?.(null);
      for (const [place, one] of verdicts.entries()) batch[place]?.acknowledge(one);
    } catch (problem) {
      if (!isTemporary(problem)) return this.#handEach(batch, problem);
      // Nothing was written, nothing is lost: the batch stays in front and is tried again.
      this.#failure = problem;
      this.#failures += 1;
      this.#onFailure(problem);
      // After the first failure room is made; from the second on nothing is kept for longer.
      if (this.#failures > 1) await this.#taker.preview?.(this.#queue.map((item) => item.raw)).catch(() => undefined);
      await new Promise<void>((resolve) => this.#clock.after(this.#limits.retryMs, resolve));
    }
  }

  /** Something in this batch makes the engine fail: each event on its own, and whoever does it again is refused. */
  async #handEach(batch: readonly Item[], problem: unknown): Promise<void> {
    if (batch.length === 1) {
      this.#onFailure(problem);
      this.#queue.shift();
      batch[0]?.acknowledge(verdict('defect'));
      this.#taker.countRefused(1);
      return;
    }
    for (const item of batch) {
      await this.#hand([item]);
      // The disk does not take it now: it and those behind it stay in the queue.
      if (this.#queue[0] === item) return;
    }
  }

  #unmerge(item: Item): void {
    if (item.mergeKey !== null && this.#mergeable.get(item.mergeKey) === item) this.#mergeable.delete(item.mergeKey);
  }
}

/**
 * Only a level source that says the same again can be merged: everything the older one adds to the state, the newer one
 * adds too. Different words are never merged, they may have ended a wait or begun one.
 */
export function mergeKeyOf(raw: unknown): string | null {
  if (typeof raw !== 'object' || raw === null) return null;
  const { source, kind, evidence, payload } = raw as Record<string, unknown>;
  if (typeof source !== 'string' || !isSourceName(source) || sources[source].style !== 'level') return null;
  if (kind !== 'state.observed' && kind !== 'state.repeated') return null;
  return canonical({ source, kind, evidence, payload });
}
