// The due list of the simulated clock: a binary heap by (due time, order of asking), so that equal due times fire in the
// order they were asked for on every run. Knows nothing of time itself.

export interface HeapTimer {
  readonly dueMs: number;
  readonly order: number;
  /** Null once cancelled or fired; such timers are dropped when they surface. */
  callback: (() => void) | null;
}

export class TimerHeap {
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
