// When history is dropped: regularly by age and size, and at once when the disk is full (LOG4, LOG5). How it is dropped is
// the store's business.

import type { Config } from '../config/config.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { EventProcessor } from './event-processor.ts';
import type { Inbox } from './inbox.ts';

export interface RetentionParts {
  readonly clock: Clock;
  readonly now: () => number;
  readonly ledger: Pick<EventProcessor, 'prune'>;
  readonly inbox: Pick<Inbox, 'between'>;
  readonly settings: { readonly current: Pick<Config, 'retention'> };
  readonly log: Pick<Log, 'info' | 'warn'>;
}

const day = 86_400_000;

export class Retention {
  readonly #parts: RetentionParts;
  #timer: Cancel | null = null;
  #isMakingRoom = false;
  #isStopped = false;
  /** The dropping by age that is under way, if any. */
  #regular: Promise<void> | null = null;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = this.#parts.clock.after(limits.pruneEveryMs, () => {
      this.#regular = this.#prune(false);
      void this.#regular.finally(() => {
        this.#regular = null;
        if (!this.#isStopped) this.start();
      });
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.();
  }

  /** A commit failed: when the disk is full, make room now; everything else is not ours to mend. */
  onFailure(problem: unknown): void {
    const isFull = problem instanceof AgtmuxError && problem.code === 'E_STORE_FULL';
    if (!isFull || this.#isMakingRoom || this.#isStopped) return;
    this.#isMakingRoom = true;
    // First the other one has to end: it takes turns among the batches, and none comes while this one has the log.
    const other = this.#regular?.catch(() => undefined);
    const work = other === undefined ? this.#prune(true) : other.then(() => this.#prune(true));
    void work.finally(() => {
      this.#isMakingRoom = false;
    });
  }

  async #prune(isFull: boolean): Promise<void> {
    const { inbox, ledger, now, settings, log } = this.#parts;
    const { days, megabytes } = settings.current.retention;
    try {
      const before = now() - days * day;
      const bytesMax = megabytes * 1_048_576;
      // With the disk full no batch can be written anyway; else each step waits its turn among the batches (LOG4).
      const report = isFull
        ? await inbox.between(() => ledger.prune({ before, bytesMax, isFull }))
        : await ledger.prune({ before, bytesMax, turn: (step) => inbox.between(async () => step()) });
      if (report.events > 0) log.info('history was dropped', { ...report, isFull });
    } catch (problem) {
      const code = problem instanceof AgtmuxError ? problem.code : 'E_INTERNAL';
      log.warn('history could not be dropped', { code, isFull });
      if (code === 'E_INTERNAL') throw problem;
    }
  }
}
