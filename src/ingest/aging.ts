// What time alone changes: wakes when the next state ages and lets the ledger tell it. Nothing is polled.

import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { EventProcessor } from './event-processor.ts';
import type { Inbox } from './inbox.ts';

export interface TickingParts {
  readonly clock: Clock;
  readonly now: () => number;
  readonly ledger: EventProcessor;
  readonly inbox: Inbox;
}

export class StateAging {
  readonly #parts: TickingParts;
  #timer: Cancel | null = null;
  #isStopped = false;

  constructor(parts: TickingParts) {
    this.#parts = parts;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.();
  }

  /** The disk does not take it now; the retry of the inbox comes first. */
  later(): void {
    if (!this.#isStopped) this.#timer = this.#parts.clock.after(limits.inboxRetryMs, () => this.tick());
  }

  /** Sets the alarm anew. */
  tick(): void {
    const { clock, now, ledger, inbox } = this.#parts;
    this.#timer?.();
    const due = ledger.world.nextDue();
    if (due === null || this.#isStopped) return;
    this.#timer = clock.after(Math.max(0, due - now()), () => {
      this.#timer = null;
      void inbox
        .between(() => ledger.tick())
        .then(
          () => this.tick(),
          () => this.later(),
        );
    });
  }
}
