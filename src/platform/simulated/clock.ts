// Virtual time: stands still until it is moved, then jumps from one due callback to the next, so that hours of life take
// moments. Wall time runs along with monotonic time but can be set apart from it, as on a real machine.

import { assert } from '../../model/errors.ts';
import { assertDelay, type Cancel, type Clock } from '../clock.ts';

// The due list of the simulated clock: a binary heap by (due time, order of asking), so that equal due times fire in the
// order they were asked for on every run. Knows nothing of time itself.

interface HeapTimer {
  readonly dueMs: number;
  readonly order: number;
  /** Null once cancelled or fired; such timers are dropped when they surface. */
  callback: (() => void) | null;
}

class TimerHeap {
  #timers: HeapTimer[] = [];
  #cancelled = 0;

  /** Timers that still wait. */
  get size(): number {
    return this.#timers.length - this.#cancelled;
  }

  push(timer: HeapTimer): void {
    this.#timers.push(timer);
    this.#rise(this.#timers.length - 1);
  }

  cancel(timer: HeapTimer): void {
    if (timer.callback === null) return;
    timer.callback = null;
    this.#cancelled += 1;
    // Deadlines are nearly always cancelled long before they are due; without this they would pile up.
    if (this.#cancelled > 64 && this.#cancelled * 2 > this.#timers.length) this.#compact();
  }

  /** The next timer that is not cancelled, without taking it. */
  peek(): HeapTimer | null {
    for (;;) {
      const top = this.#timers[0];
      if (top === undefined) return null;
      if (top.callback !== null) return top;
      this.#removeTop();
      this.#cancelled -= 1;
    }
  }

  pop(): HeapTimer | null {
    const top = this.peek();
    if (top !== null) this.#removeTop();
    return top;
  }

  #removeTop(): void {
    const last = this.#timers.pop();
    if (last === undefined || this.#timers.length === 0) return;
    this.#timers[0] = last;
    this.#sink(0);
  }

  #compact(): void {
    // A list sorted by the heap's own order is a heap.
    this.#timers = this.#timers.filter((timer) => timer.callback !== null).sort(compare);
    this.#cancelled = 0;
  }

  #rise(from: number): void {
    let index = from;
    while (index > 0) {
      const above = (index - 1) >> 1;
      if (!this.#swapIfBefore(index, above)) return;
      index = above;
    }
  }

  #sink(from: number): void {
    let index = from;
    for (;;) {
      const left = index * 2 + 1;
      const next = this.#earlierOf(left, left + 1);
      if (next === null || !this.#swapIfBefore(next, index)) return;
      index = next;
    }
  }

  #earlierOf(left: number, right: number): number | null {
    const first = this.#timers[left];
    const second = this.#timers[right];
    if (first === undefined) return null;
    return second !== undefined && compare(second, first) < 0 ? right : left;
  }

  #swapIfBefore(lower: number, upper: number): boolean {
    const below = this.#timers[lower];
    const above = this.#timers[upper];
    if (below === undefined || above === undefined || compare(below, above) >= 0) return false;
    this.#timers[lower] = above;
    this.#timers[upper] = below;
    return true;
  }
}

function compare(left: HeapTimer, right: HeapTimer): number {
  return left.dueMs - right.dueMs || left.order - right.order;
}

export interface SimulatedClock extends Clock {
  /** Lets time pass and runs what falls due on the way, in order. Callbacks that ask for more time are included. */
  advance(elapsedMs: number): void;
  /** The same for code with promises: after each callback everything that can go on goes on before time moves. */
  advanceSettled(elapsedMs: number): Promise<void>;
  /** Jumps to the next due callback and runs it. False when nothing waits. */
  runNext(): boolean;
  /** Sets the wall clock forwards or back; monotonic time does not notice. */
  jumpWall(deltaMs: number): void;
  /** The machine sleeps: wall time passes, monotonic time stands still, nothing fires. */
  suspend(elapsedMs: number): void;
  /** The process hangs: both times pass, what falls due fires late, with the next advance. */
  stall(elapsedMs: number): void;
  /** Monotonic time of the next due callback, or null. */
  nextDueMs(): number | null;
  /** How many callbacks wait. */
  pending(): number;
}

/** Callbacks at one instant. More is a loop that asks for time without letting any pass, which would hang the run. */
const callbacksPerInstantMax = 1_000_000;

export function createSimulatedClock(start: { wallMs?: number; monotonicMs?: number } = {}): SimulatedClock {
  const heap = new TimerHeap();
  let monotonicMs = start.monotonicMs ?? 0;
  let wallLeadMs = (start.wallMs ?? 1_700_000_000_000) - monotonicMs;
  let orders = 0;
  let callbacksAtInstant = 0;

  function moveTo(ms: number): void {
    if (ms <= monotonicMs) return;
    monotonicMs = ms;
    callbacksAtInstant = 0;
  }

  function runDue(untilMs: number): boolean {
    const top = heap.peek();
    if (top === null || top.dueMs > untilMs) return false;
    heap.pop();
    moveTo(top.dueMs);
    callbacksAtInstant += 1;
    assert(callbacksAtInstant <= callbacksPerInstantMax, 'a timer loop lets no time pass');
    const callback = top.callback;
    top.callback = null;
    callback?.();
    return true;
  }

  function after(delayMs: number, callback: () => void): Cancel {
    assertDelay(delayMs);
    const timer: HeapTimer = { dueMs: monotonicMs + delayMs, order: orders++, callback };
    heap.push(timer);
    return () => heap.cancel(timer);
  }

  return {
    wallMs: () => Math.floor(monotonicMs + wallLeadMs),
    monotonicMs: () => monotonicMs,
    after,
    advance(elapsedMs) {
      assertDelay(elapsedMs);
      const untilMs = monotonicMs + elapsedMs;
      while (runDue(untilMs));
      moveTo(untilMs);
    },
    async advanceSettled(elapsedMs) {
      assertDelay(elapsedMs);
      const untilMs = monotonicMs + elapsedMs;
      await settled();
      while (runDue(untilMs)) await settled();
      moveTo(untilMs);
    },
    runNext: () => runDue(Number.POSITIVE_INFINITY),
    jumpWall(deltaMs) {
      wallLeadMs += deltaMs;
    },
    suspend(elapsedMs) {
      assertDelay(elapsedMs);
      wallLeadMs += elapsedMs;
    },
    stall(elapsedMs) {
      assertDelay(elapsedMs);
      moveTo(monotonicMs + elapsedMs);
    },
    nextDueMs: () => heap.peek()?.dueMs ?? null,
    pending: () => heap.size,
  };
}

/** One turn of the event loop: every promise that can be kept has been kept after it. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
