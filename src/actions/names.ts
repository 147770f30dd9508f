// Names that people give to agents, and what they have seen: both belong to one run of an agent and go with it.

import { fail, ok, type Result } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { ActionContent } from './action-documents.ts';

/** Nothing that could be read as a pane id, a canonical reference, the pane one is in, or an option. */
const nickPattern = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u;

export class Names {
  readonly #runtimes = new Map<string, RuntimeId>();
  readonly #seen = new Map<RuntimeId, number>();

  load({ names, seen }: Pick<ActionContent, 'names' | 'seen'>): void {
    for (const { nick, runtime_id } of names) this.#runtimes.set(nick, runtime_id);
    for (const { runtime_id, at } of seen) this.#seen.set(runtime_id, at);
  }

  kept(): Pick<ActionContent, 'names' | 'seen'> {
    return {
      names: [...this.#runtimes].map(([nick, runtime_id]) => ({ nick, runtime_id })),
      seen: [...this.#seen].map(([runtime_id, at]) => ({ runtime_id, at })),
    };
  }

  /** For references. */
  get nicks(): ReadonlyMap<string, RuntimeId> {
    return this.#runtimes;
  }

  nickOf(runtime: RuntimeId): string | null {
    for (const [nick, owner] of this.#runtimes) if (owner === runtime) return nick;
    return null;
  }

  seenAt(runtime: RuntimeId): number | null {
    return this.#seen.get(runtime) ?? null;
  }

  /** Null takes the name away. One agent has one name, and one name means one agent. */
  give(runtime: RuntimeId, nick: string | null, isTaken: (nick: string) => boolean): Result<null> {
    if (nick === null) {
      this.#free(runtime);
      return ok(null);
    }
    if (nick.length > limits.nickCharsMax || !nickPattern.test(nick)) {
      return fail(
        'E_INPUT',
        'a name may contain letters, digits, dots, dashes and underscores',
        `choose one of at most ${limits.nickCharsMax} characters that begins with a letter or digit`,
      );
    }
    const owner = this.#runtimes.get(nick);
    if (owner !== undefined && owner !== runtime)
      return fail('E_INPUT', `${nick} is already the name of another agent`);
    if (isTaken(nick)) return fail('E_INPUT', `${nick} already has another meaning`, 'choose another name');
    if (owner === undefined && this.nickOf(runtime) === null && this.#runtimes.size >= limits.actingKeptMax) {
      return fail('E_QUEUE_FULL', 'too many agents have names', 'remove some');
    }
    this.#free(runtime);
    this.#runtimes.set(nick, runtime);
    return ok(null);
  }

  /** Marks go by age, the oldest first. */
  markSeen(runtime: RuntimeId, at: number): void {
    this.#seen.delete(runtime);
    this.#seen.set(runtime, at);
    for (const [oldest] of this.#seen) {
      if (this.#seen.size <= limits.actingKeptMax) break;
      this.#seen.delete(oldest);
    }
  }

  /** Names of agents that have ended are free again. True when any was. */
  freeEnded(isEnded: (runtime: RuntimeId) => boolean): boolean {
    const gone = [...this.#runtimes].filter(([, runtime]) => isEnded(runtime));
    for (const [nick] of gone) this.#runtimes.delete(nick);
    return gone.length > 0;
  }

  #free(runtime: RuntimeId): void {
    for (const [nick, owner] of this.#runtimes) if (owner === runtime) this.#runtimes.delete(nick);
  }
}
