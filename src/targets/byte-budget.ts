// How much one target may send a second: a bucket that refills with time. Who overdraws it is told how long to stop
// reading, so that a flood makes its own sender wait and nobody else.

import type { Clock } from '../platform/clock.ts';

export class ByteBudget {
  readonly #clock: Clock;
  readonly #bytesPerSecond: number;
  #left: number;
  #filledAt: number;

  constructor(clock: Clock, bytesPerSecond: number) {
    this.#clock = clock;
    this.#bytesPerSecond = bytesPerSecond;
    this.#left = bytesPerSecond;
    this.#filledAt = clock.monotonicMs();
  }

  /** Milliseconds to wait before reading on; 0 while there is something left. */
  take(bytes: number): number {
    const now = this.#clock.monotonicMs();
    const refill = ((now - this.#filledAt) / 1_000) * this.#bytesPerSecond;
    this.#left = Math.min(this.#left + refill, this.#bytesPerSecond) - bytes;
    this.#filledAt = now;
    return this.#left >= 0 ? 0 : (-this.#left / this.#bytesPerSecond) * 1_000;
  }
}
