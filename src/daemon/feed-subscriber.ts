// One reader of the feed: a place in the shared ring, whether it needs the whole state next, and how often it was too
// slow. It is pulled from, so a screen takes only what it can pass on; what waits costs nothing here (FED2).

import { assert } from '../model/errors.ts';
import type { CutReason, FeedItem, FeedMessage, Subscriber } from './feed-messages.ts';
import type { FeedRing } from './feed-ring.ts';

interface Parts<Value> {
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

export class FeedSubscriber<Value> implements Subscriber<Value> {
  readonly #parts: Parts<Value>;
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

  constructor(parts: Parts<Value>) {
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
