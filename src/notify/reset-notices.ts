// Says once that the usage limit of an agent has reset (LIM4). That it was hit is a notice like every other error.

import type { PaneRow } from '../api/panes.ts';
import type { RuntimeId } from '../model/ids.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Announcement } from './notifier.ts';
import { placeOf, projectOf } from './words.ts';

export interface ResetNoticesParts {
  readonly clock: Clock;
  /** The daemon's timeline. */
  readonly now: () => number;
  readonly announce: (announcement: Announcement) => void;
}

interface Waiting {
  readonly until: number;
  readonly cancel: Cancel;
}

/** A timer that is longer overflows; what lies further ahead is looked at again. */
const timerMsMax = 86_400_000;

export class ResetNotices {
  readonly #parts: ResetNoticesParts;
  readonly #waiting = new Map<RuntimeId, Waiting>();

  constructor(parts: ResetNoticesParts) {
    this.#parts = parts;
  }

  /** To be called whenever the rows have changed. */
  look(rows: readonly PaneRow[]): void {
    const limited = new Map<RuntimeId, PaneRow>();
    for (const row of rows) {
      const { runtime_id, reason_code, until, ended } = row;
      if (runtime_id === null || ended !== null || reason_code !== 'usage_limit' || until === null) continue;
      limited.set(runtime_id, row);
    }
    for (const [runtime, { until, cancel }] of this.#waiting) {
      if (limited.get(runtime)?.until === until) continue;
      cancel();
      this.#waiting.delete(runtime);
    }
    // One that has passed already was told by the daemon before, or nobody waited for it.
    for (const [runtime, row] of limited) {
      if (!this.#waiting.has(runtime) && (row.until ?? 0) > this.#parts.now()) this.#wait(runtime, row);
    }
  }

  stop(): void {
    for (const { cancel } of this.#waiting.values()) cancel();
    this.#waiting.clear();
  }

  #wait(runtime: RuntimeId, row: PaneRow): void {
    const until = row.until ?? 0;
    const restMs = until - this.#parts.now();
    const cancel = this.#parts.clock.after(Math.min(restMs, timerMsMax), () => {
      if (until > this.#parts.now()) {
        this.#wait(runtime, row);
        return;
      }
      const project = projectOf(row.cwd);
      const title = `${row.nick ?? row.agent ?? 'agent'}${project === '' ? '' : ` in ${project}`}: usage limit has reset`;
      this.#parts.announce({ id: `reset-${runtime}-${until}`, title, body: `${placeOf(row)} can go on` });
    });
    this.#waiting.set(runtime, { until, cancel });
  }
}
