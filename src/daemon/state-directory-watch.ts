// Notices when the ground is taken away: a daemon whose state directory was removed or replaced keeps nothing any more
// and nobody can reach it, so it leaves instead of living on unseen.

import { stat } from 'node:fs/promises';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';

export class StateDirectoryWatch {
  readonly #clock: Clock;
  readonly #path: string;
  readonly #onGone: () => void;
  #known: string | null = null;
  #timer: Cancel | null = null;
  #isStopped = false;

  /** `path` is a file that nobody but this daemon makes, such as its lock. */
  constructor(clock: Clock, path: string, onGone: () => void) {
    this.#clock = clock;
    this.#path = path;
    this.#onGone = onGone;
  }

  async start(): Promise<void> {
    this.#known = await this.#identity();
    this.#arm();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.();
  }

  #arm(): void {
    this.#timer = this.#clock.after(limits.groundLookMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    const seen = await this.#identity();
    if (this.#isStopped) return;
    if (seen === this.#known) return this.#arm();
    this.#isStopped = true;
    this.#onGone();
  }

  /** A disk that does not answer is not a directory that is gone. */
  async #identity(): Promise<string | null> {
    try {
      const { dev, ino } = await stat(this.#path);
      return `${dev}:${ino}`;
    } catch (problem) {
      const code = (problem as NodeJS.ErrnoException).code;
      return code === 'ENOENT' || code === 'ENOTDIR' ? null : this.#known;
    }
  }
}
