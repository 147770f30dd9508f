// Ending a process in good order: its input is closed, then TERM, then KILL, with time between the steps. What comes first
// may be taken back, as long as nothing was done.

import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Runner } from './runner-parts.ts';
import type { KeptSession } from './store-record.ts';

export class Ending {
  readonly #clock: Clock;
  readonly #runner: Runner;
  readonly #stepMs: number;
  #cancel: Cancel | null = null;
  #step = 0;

  constructor(clock: Clock, runner: Runner, stepMs: number, delayMs: number) {
    this.#clock = clock;
    this.#runner = runner;
    this.#stepMs = stepMs;
    if (delayMs === 0) this.#next();
    else this.#cancel = clock.after(delayMs, () => this.#next());
  }

  /** It was told; there is no way back. */
  get isBegun(): boolean {
    return this.#step > 0;
  }

  stop(): void {
    this.#cancel?.();
  }

  #next(): void {
    this.#step += 1;
    if (this.#step === 1) this.#runner.endInput();
    else this.#runner.signal(this.#step === 2 ? 'TERM' : 'KILL');
    if (this.#step < 3) this.#cancel = this.#clock.after(this.#stepMs, () => this.#next());
  }
}

/** One that was stopped has a moment to finish, and can be called back in it; one that never spoke has had its time. */
export function endIfOver(
  line: { endAfter(delayMs: number): void; callBack(): void },
  { state, reason }: Pick<KeptSession, 'state' | 'reason'>,
): void {
  if (state === 'stopped') line.endAfter(limits.sessionEndStepMs);
  else if (state === 'error' && reason === 'creation_timeout') line.endAfter(0);
  else line.callBack();
}
