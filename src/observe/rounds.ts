// Work that is done again and again at a pace that may change, until it is stopped.

import type { Cancel, Clock } from '../platform/clock.ts';

export class Rounds {
  readonly #clock: Clock;
  readonly #timers = new Set<Cancel>();
  #isStopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls again and again; what it gives back begins the wait anew. */
  every(ms: () => number, work: () => void): () => void {
    let cancel: Cancel = () => undefined;
    const arm = (): void => {
      cancel = this.#clock.after(ms(), () => {
        this.#timers.delete(cancel);
        if (this.#isStopped) return;
        work();
        arm();
      });
      this.#timers.add(cancel);
    };
    arm();
    return () => {
      if (this.#isStopped) return;
      cancel();
      this.#timers.delete(cancel);
      arm();
    };
  }

  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }
}
