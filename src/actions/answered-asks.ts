// Asks that were answered from here, by agent: none is answered twice, not even by the next daemon (ASK3). A key that was
// pressed may wait in the terminal of an agent that hangs, so a dialog that is still shown is no proof that it was lost.

import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { ActionContent } from './action-documents.ts';
import type { AnsweredAsks } from './pressing.ts';

export class Answered implements AnsweredAsks {
  readonly #save: () => Promise<void>;
  #rows: ActionContent['answered'] = [];

  constructor(save: () => Promise<void>) {
    this.#save = save;
  }

  load({ answered }: Pick<ActionContent, 'answered'>): void {
    this.#rows = [...answered];
  }

  kept(): Pick<ActionContent, 'answered'> {
    return { answered: [...this.#rows] };
  }

  has(runtime: RuntimeId, key: string): boolean {
    return this.#rows.some((row) => row.runtime_id === runtime && row.key === key);
  }

  async add(runtime: RuntimeId, key: string): Promise<void> {
    this.#rows = [...this.#rows, { runtime_id: runtime, key }].slice(-limits.actingKeptMax);
    try {
      await this.#save();
    } catch (problem) {
      // What is not on disk was not answered either: nothing is typed after this.
      this.#rows = this.#rows.filter((row) => row.runtime_id !== runtime || row.key !== key);
      throw problem;
    }
  }

  remove(runtime: RuntimeId, key: string): Promise<void> {
    this.#rows = this.#rows.filter((row) => row.runtime_id !== runtime || row.key !== key);
    return this.#save();
  }

  /** An agent that has ended asks nothing any more. True when anything was forgotten. */
  forget(isOver: (runtime: RuntimeId) => boolean): boolean {
    const before = this.#rows.length;
    this.#rows = this.#rows.filter(({ runtime_id }) => !isOver(runtime_id));
    return this.#rows.length !== before;
  }
}
