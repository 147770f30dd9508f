// What has to be remembered between OpenCode's events to understand the next one: which conversation is a subagent's, and
// how a turn went before the event that only says that it is over. Bounded; whatever was forgotten counts as unknown.

import { limits } from '../../model/limits.ts';

/** busy and retry as the agent says it. */
type Phase = 'busy' | 'retry' | 'over';

/** How the turn went: known before its end is told, and kept until the next one begins. */
type Outcome = 'failed' | 'interrupted' | 'refused' | 'cut' | 'finished';

export interface Conversation {
  /** The conversation it was started by; null for one of its own; undefined as long as nobody said. */
  parent: string | null | undefined;
  phase: Phase | null;
  outcome: Outcome | null;
  /** The last answer was longer than allowed, or was held back. */
  isCut: boolean;
  /** The call of a tool that runs, so that its output is not told again and again. */
  call: string | null;
}

export class Memory {
  readonly #conversations = new Map<string, Conversation>();

  of(id: string): Conversation {
    const known = this.#conversations.get(id) ?? {
      parent: undefined,
      phase: null,
      outcome: null,
      isCut: false,
      call: null,
    };
    // Whoever spoke last stays longest.
    this.#conversations.delete(id);
    this.#conversations.set(id, known);
    for (const oldest of this.#conversations.keys()) {
      if (this.#conversations.size <= limits.conversationsRememberedMax) break;
      this.#conversations.delete(oldest);
    }
    return known;
  }

  forget(id: string): void {
    this.#conversations.delete(id);
  }

  /** The conversation a person started; itself where no parent is known. */
  rootOf(id: string): string {
    let at = id;
    for (let steps = 0; steps < limits.conversationDepthMax; steps += 1) {
      const parent = this.#conversations.get(at)?.parent;
      if (parent === undefined || parent === null) return at;
      at = parent;
    }
    return at;
  }

  isChild(id: string): boolean {
    return this.rootOf(id) !== id;
  }

  /** How many conversations below this one are at work. */
  busyBelow(root: string): number {
    let count = 0;
    for (const [id, one] of this.#conversations) {
      const isBusy = one.phase === 'busy' || one.phase === 'retry';
      if (isBusy && id !== root && this.rootOf(id) === root) count += 1;
    }
    return count;
  }
}
