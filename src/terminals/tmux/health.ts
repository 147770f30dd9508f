// Whether a tmux server answers: a look that takes too long or fails is a miss, one miss is degraded, some in a row are
// down, one answer is ok again. Tells only changes.

import type { ErrorCode } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Health } from '../../model/records.ts';
import type { Cancel, Clock } from '../../platform/clock.ts';

export interface LinkHealth {
  readonly health: Health;
  /** Why it is not ok, or what is worth knowing; safe to show. */
  readonly trouble: string | null;
  readonly code: ErrorCode | null;
}

export class HealthWatch {
  readonly #clock: Clock;
  readonly #tell: (health: LinkHealth) => void;
  #misses = 0;
  #told: LinkHealth | null = null;

  constructor(clock: Clock, tell: (health: LinkHealth) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** `note` is for what is no trouble but explains an empty list. */
  answer(note: string | null = null): void {
    this.#misses = 0;
    this.#say({ health: 'ok', trouble: note, code: null });
  }

  miss(trouble: string, code: ErrorCode = 'E_TARGET_DOWN'): void {
    this.#misses += 1;
    this.#say({ health: this.#misses >= limits.sweepMissesMax ? 'down' : 'degraded', trouble, code });
  }

  /** What will not get better by waiting. */
  refuse(trouble: string, code: ErrorCode): void {
    this.#misses = limits.sweepMissesMax;
    this.#say({ health: 'down', trouble, code });
  }

  /** Counts a miss for every period that passes before the promise settles. */
  async watch<Value>(promise: Promise<Value>): Promise<Value> {
    let cancel: Cancel = () => undefined;
    const arm = (): void => {
      cancel = this.#clock.after(limits.sweepAnswerMs, () => {
        this.miss(`no answer within ${limits.sweepAnswerMs} ms`);
        arm();
      });
    };
    arm();
    try {
      return await promise;
    } finally {
      cancel();
    }
  }

  #say(health: LinkHealth): void {
    if (health.health === this.#told?.health && health.trouble === this.#told.trouble) return;
    this.#told = health;
    this.#tell(health);
  }
}
