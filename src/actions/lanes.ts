// One action at a time for each agent: two that type at once would type into each other. The line is bounded; who comes
// to a full one is turned away and has done nothing.

import { fail, ok, type Result } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';

export class Lanes {
  readonly #lanes = new Map<RuntimeId, { waiting: number; last: Promise<void> }>();

  async run<Value>(runtime: RuntimeId, work: () => Promise<Value>): Promise<Result<Value>> {
    const lane = this.#lanes.get(runtime) ?? { waiting: 0, last: Promise.resolve() };
    if (lane.waiting > limits.actionsWaitingMax) {
      return fail('E_QUEUE_FULL', 'too many actions wait for this agent', 'try again in a moment');
    }
    this.#lanes.set(runtime, lane);
    lane.waiting += 1;
    const before = lane.last;
    let leave: () => void = () => undefined;
    lane.last = new Promise<void>((resolve) => {
      leave = resolve;
    });
    await before;
    try {
      return ok(await work());
    } finally {
      lane.waiting -= 1;
      if (lane.waiting === 0) this.#lanes.delete(runtime);
      leave();
    }
  }

  /** Whether someone acts on it, or waits to. */
  isBusy(runtime: RuntimeId): boolean {
    return this.#lanes.has(runtime);
  }
}
