// How long agents waited for the answers to their commands: the last calls in a ring, and what is told of them. Pure.

import type { ShellLatency } from '../model/shells.ts';

export class LatencyRing {
  readonly #callsMax: number;
  readonly #times: number[] = [];
  #next = 0;

  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  add(ms: number): void {
    this.#times[this.#next] = ms;
    this.#next = (this.#next + 1) % this.#callsMax;
  }

  /** In tenths of a millisecond: more would only look exact. */
  told(): ShellLatency {
    const sorted = [...this.#times].sort((one, other) => one - other);
    const rounded = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms * 10) / 10);
    const middle = sorted[Math.ceil(sorted.length / 2) - 1];
    return { count: sorted.length, p50_ms: rounded(middle), max_ms: rounded(sorted.at(-1)) };
  }
}
