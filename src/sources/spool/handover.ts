// Hands calls over in their order, so many at a time and no more, and keeps count. A call whose taker fails comes again
// later: the file stays until it is acknowledged.

import { limits } from '../../model/limits.ts';
import { type SpoolCall, type SpoolRefusal, spoolRefusals, type TakeCall } from './call.ts';

export interface SpoolCounts {
  readonly taken: number;
  readonly refused: Readonly<Record<SpoolRefusal, number>>;
  /** Files that are there and neither taken nor refused. */
  readonly waiting: number;
  /** Times that a taker failed and the call had to be handed over again. */
  readonly repeated: number;
}

/** What became of a call: `again` when its taker failed. */
export type Outcome = 'done' | 'refused' | 'again';

export class Handover {
  readonly #take: TakeCall;
  readonly #refused: Record<SpoolRefusal, number>;
  readonly #flights = new Set<Promise<void>>();
  #taken = 0;
  #repeated = 0;
  #bytes = 0;

  constructor(take: TakeCall) {
    this.#take = take;
    const none = Object.keys(spoolRefusals).map((reason) => [reason, 0]);
    this.#refused = Object.fromEntries(none) as Record<SpoolRefusal, number>;
  }

  counts(waiting: number): SpoolCounts {
    return { taken: this.#taken, refused: { ...this.#refused }, waiting, repeated: this.#repeated };
  }

  countRefused(why: SpoolRefusal): void {
    this.#refused[why] += 1;
  }

  /** Waits for room, then hands over. `settled` is called when it is known what became of the call; it must not throw. */
  async hand(call: SpoolCall, settled: (outcome: Outcome) => Promise<void>): Promise<void> {
    const weight = call.text.length;
    while (this.#isFull(weight)) await Promise.race(this.#flights);
    this.#bytes += weight;
    const flight = this.#ask(call).then(settled);
    const over = flight.finally(() => {
      this.#bytes -= weight;
      this.#flights.delete(over);
    });
    this.#flights.add(over);
  }

  /** Until nothing is under way. */
  async settled(): Promise<void> {
    while (this.#flights.size > 0) await Promise.race(this.#flights);
  }

  #isFull(weight: number): boolean {
    if (this.#flights.size === 0) return false;
    return this.#flights.size >= limits.spoolFlightCallsMax || this.#bytes + weight > limits.spoolFlightBytesMax;
  }

  async #ask(call: SpoolCall): Promise<Outcome> {
    try {
      const answer = await this.#take(call);
      if (answer === 'done') this.#taken += 1;
      else this.countRefused('handler');
      return answer;
    } catch {
      // Not taken is not lost: the inbox is full or the disk is. The sender of a call has left long ago.
      this.#repeated += 1;
      return 'again';
    }
  }
}
