// Writing down what is about to be done. What comes in meanwhile must not be written over it.

import { type Failure, failure } from '../model/errors.ts';
import { FileError } from '../platform/files.ts';
import type { LiveHandlers } from './live-parts.ts';
import type { KeptSession } from './store-record.ts';

export class KeptFirst {
  readonly #keep: LiveHandlers['keep'];
  #isHolding = false;

  constructor(keep: LiveHandlers['keep']) {
    this.#keep = keep;
  }

  /** Something was written down that is not done yet. */
  get isHolding(): boolean {
    return this.#isHolding;
  }

  /** Null when it is on disk. */
  async keep(record: KeptSession): Promise<Failure | null> {
    this.#isHolding = true;
    try {
      await this.#keep(record);
      return null;
    } catch (problem) {
      if (problem instanceof FileError) return failure('E_STORE_IO', problem.message);
      throw problem;
    } finally {
      this.#isHolding = false;
    }
  }
}
