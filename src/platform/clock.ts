// Time as a port. Wall time is for people and for stamps that come from files; every deadline and every age uses
// monotonic time, so that a clock that is set never ends or revives anything. No one outside this folder reads a clock.

import { assert } from '../model/errors.ts';

export type Cancel = () => void;

export interface Clock {
  /** Milliseconds since 1970 as the machine believes. May jump either way at any moment. */
  wallMs(): number;
  /** Milliseconds from an arbitrary start, never going back, possibly standing still while the machine sleeps. */
  monotonicMs(): number;
  /** Added to `monotonicMs` it gives a clock that all processes of one boot share; absent where nobody knows. */
  readonly originMs?: number;
  /**
   * Calls back once, not before `delayMs` of monotonic time have passed. Cancelling is idempotent and final: after it
   * the callback is never called, not even when it was already due.
   */
  after(delayMs: number, callback: () => void): Cancel;
}

/** Longer delays make Node's timers fire at once, so they are cut into pieces of this length. */
const timerMsMax = 2 ** 31 - 1;

/**
 * A timer that is this late shows that the process stood still: stopped, asleep, or without a processor. What came in
 * meanwhile is read before the timer counts, or every deadline that passed would end what was answered in time.
 */
const stoodStillMs = 50;

/**
 * What waits this long may come later by as much as the beat: whatever is looked at every few seconds is then looked at in
 * one turn, and an idle program wakes up once instead of ten times. A wake-up costs more than such a look.
 */
const slowMs = 1_000;
/** From here on a millisecond more is nothing. */
const longMs = 50;
const beatMs = 100;
const onBeat = (dueMs: number): number => Math.ceil(dueMs / beatMs) * beatMs;

export function createRealClock(): Clock {
  // Not `performance`: loading that costs a twentieth of a whole `agtmux list`.
  const monotonicMs = (): number => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  };

  /** Timers that wait for what came in; those behind them wait too, so that they keep their order. */
  let waiting = 0;

  function after(delayMs: number, callback: () => void): Cancel {
    assertDelay(delayMs);
    const exactMs = monotonicMs() + delayMs;
    const dueMs = delayMs < slowMs ? exactMs : onBeat(exactMs);
    let timer: NodeJS.Timeout | null = null;
    let isCancelled = false;
    const arm = (): void => {
      // The machine may have been busy with something else since `dueMs` was worked out.
      const restMs = Math.max(0, Math.ceil(dueMs - monotonicMs()));
      // Node counts from when its turn began, which is a little earlier: without the last one every timer would ring twice.
      timer = setTimeout(wake, Math.min(restMs < longMs ? restMs : restMs + 1, timerMsMax));
    };
    const wake = (): void => {
      // Node rounds its timers and may wake a fraction of a millisecond early.
      if (monotonicMs() < dueMs) {
        arm();
        return;
      }
      timer = null;
      if (monotonicMs() - dueMs < stoodStillMs && waiting === 0) {
        callback();
        return;
      }
      waiting += 1;
      setImmediate(() => {
        waiting -= 1;
        if (!isCancelled) callback();
      });
    };
    arm();
    return () => {
      isCancelled = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
    };
  }

  return { wallMs: () => Date.now(), monotonicMs, originMs: 0, after };
}

export function assertDelay(delayMs: number): void {
  assert(Number.isFinite(delayMs) && delayMs >= 0, `a delay is a finite number from 0 up, not ${delayMs}`);
}
