// One wish at a time: two that change a session at once would decide on what the other one changes.

export class Lane {
  readonly #onFree: () => void;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(onFree: () => void) {
    this.#onFree = onFree;
  }

  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  run<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#waiting += 1;
    const done = this.#last.then(work).finally(() => {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#onFree();
    });
    this.#last = done.catch(() => undefined);
    return done;
  }
}
