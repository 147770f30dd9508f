// Wakes the ledger when the next state ages by time alone.

import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Inbox } from './inbox.ts';
import type { Ledger } from './ledger.ts';

export interface TickerParts {
  readonly clock: Clock;
  readonly now: () => number;
  readonly ledger: Ledger;
  readonly inbox: Inbox;
}

export class Ticker {
  readonly #parts: TickerParts;
  #timer: Cancel | null = null;
  #isStopped = false;

  constructor(parts: TickerParts) {
    this.#parts = parts;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.();
  }

  /** Something has changed: the next moment may be another one. */
  tick(): void {
    const { ledger, inbox, now } = this.#parts;
    this.#timer?.();
    const due = ledger.world.nextDue();
    if (due === null || this.#isStopped) return;
    this.#after(Math.max(0, due - now()), () => {
      void inbox
        .between(() => ledger.tick())
        .then(
          () => this.tick(),
          // The disk does not take it now; the retry of the inbox comes first.
          () => this.tickLater(),
        );
    });
  }

  tickLater(): void {
    if (!this.#isStopped) this.#after(limits.inboxRetryMs, () => this.tick());
  }

  #after(delayMs: number, work: () => void): void {
    this.#timer = this.#parts.clock.after(delayMs, () => {
      this.#timer = null;
      work();
    });
  }
}
