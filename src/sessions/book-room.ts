// Room for one more process: so many may run at once, and where there is none left, whoever has rested longest is put to
// sleep (SES11). A start that is on its way has its place already.

import { failure, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ManagedId } from '../model/sessions.ts';
import type { Entry } from './book-entry.ts';

export class Room {
  readonly #entries: () => readonly Entry[];
  /** Starts that are on their way, by the session once that is known. */
  readonly #coming = new Set<ManagedId | symbol>();

  constructor(entries: () => readonly Entry[]) {
    this.#entries = entries;
  }

  /** Does what starts a process, or says that there is no room. `name` says which session it is for. */
  async run<Value>(work: (name: (id: ManagedId) => void) => Promise<Result<Value>>): Promise<Result<Value>> {
    const place = Symbol('a start');
    const names = new Set<ManagedId | symbol>([place]);
    if (!(await this.#make())) return tooManyLed();
    this.#coming.add(place);
    const name = (id: ManagedId): void => {
      this.#coming.delete(place);
      this.#coming.add(id);
      names.add(id);
    };
    try {
      return await work(name);
    } finally {
      for (const one of names) this.#coming.delete(one);
    }
  }

  /** False: nobody can be put to sleep. */
  async #make(): Promise<boolean> {
    const tried = new Set<ManagedId>();
    while (this.#taken() >= limits.sessionsLedMax) {
      const longest = this.#entries()
        .filter(({ id, live }) => !tried.has(id) && !this.#coming.has(id) && live.wakeful === null)
        .sort((one, other) => one.live.record.updated_at - other.live.record.updated_at)[0];
      if (longest === undefined) return false;
      tried.add(longest.id);
      await longest.live.sleep('room');
    }
    return true;
  }

  #taken(): number {
    return this.#entries().filter(({ id, live }) => live.isLed && !this.#coming.has(id)).length + this.#coming.size;
  }
}

const tooManyLed = (): Result<never> => ({
  ok: false,
  failure: failure(
    'E_QUEUE_FULL',
    `${limits.sessionsLedMax} sessions run already, and none of them can be put to sleep`,
    'stop some, or wait until they have ended',
  ),
});
