// Of one tmux server no control client leaves, and no command of ours opens a window or a session, while another one attaches.
// Before 3.7 tmux tells that to everyone, also to a client that is still being attached, and ends with a segmentation fault:
// every session of the user with it (FED6).

import { limits } from '../../model/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Executor } from '../../targets/executor.ts';
import { type TmuxAddress, tmuxArgv } from './address.ts';

/** Any number may attach at once, and any number may leave, or change what there is, at once. */
export class ClientTurns {
  #attaching = 0;
  #leaving = 0;
  readonly #toAttach: (() => void)[] = [];
  readonly #toLeave: (() => void)[] = [];

  /** Runs `work`, which is over when the client is attached or has failed to: at once, or when nobody leaves any more. */
  attach<Value>(work: () => Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        this.#attaching += 1;
        const done = (): void => {
          this.#attaching -= 1;
          this.#goOn();
        };
        void work().finally(done).then(resolve, reject);
      };
      if (this.#leaving > 0 || this.#toLeave.length > 0) this.#toAttach.push(start);
      else start();
    });
  }

  /**
   * Calls `end`, at once or when nobody attaches any more. Returns what is to be called when the client is gone; after a
   * while it is taken for gone without.
   */
  leave(end: () => void, clock: Clock): () => void {
    let isGone = false;
    let isLeaving = false;
    const gone = (): void => {
      if (isGone) return;
      isGone = true;
      cancel();
      if (!isLeaving) return;
      this.#leaving -= 1;
      this.#goOn();
    };
    let cancel = (): void => undefined;
    const start = (): void => {
      if (!isGone) {
        isLeaving = true;
        this.#leaving += 1;
        cancel = clock.after(limits.tmuxLeaveMs, gone);
      }
      end();
    };
    if (this.#attaching > 0) this.#toLeave.push(start);
    else start();
    return gone;
  }

  /**
   * Runs `work`, which opens, moves or shows windows or sessions: at once, or when nobody attaches any more. It waits for a
   * while only: a client that never comes up must not keep a person from opening a window.
   */
  change<Value>(work: () => Promise<Value>, clock: Clock): Promise<Value> {
    return new Promise((resolve, reject) => {
      let hasBegun = false;
      let cancel = (): void => undefined;
      const start = (): void => {
        if (hasBegun) return;
        hasBegun = true;
        cancel();
        this.#leaving += 1;
        const done = (): void => {
          this.#leaving -= 1;
          this.#goOn();
        };
        void work().finally(done).then(resolve, reject);
      };
      if (this.#attaching === 0) return start();
      this.#toLeave.push(start);
      cancel = clock.after(limits.tmuxLeaveMs, start);
    });
  }

  #goOn(): void {
    if (this.#attaching === 0) for (const start of this.#toLeave.splice(0)) start();
    if (this.#leaving === 0 && this.#toLeave.length === 0) for (const start of this.#toAttach.splice(0)) start();
  }
}

const known = new WeakMap<Executor, Map<string, ClientTurns>>();

/** Those of one server, whoever opens its clients. */
export function turnsOf(address: TmuxAddress): ClientTurns {
  const servers = known.get(address.executor) ?? new Map<string, ClientTurns>();
  known.set(address.executor, servers);
  const name = tmuxArgv(address).join('\n');
  const turns = servers.get(name) ?? new ClientTurns();
  servers.set(name, turns);
  return turns;
}
