// When a session at rest lets its process go (SES11): what counts as rest, how long it lasts, why one stays awake, and the
// clock that looks at it.

import type { Wakeful } from '../agents/protocol/adapter.ts';
import { limits } from '../model/limits.ts';
import type { MachineState } from '../model/sessions.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { StoredSession } from './store.ts';

/** It rested long enough, or another session wanted its place. */
export type SleepCause = 'rested' | 'room';

/** Nobody is waited for, and nothing is to be answered. One in an error may still be tried again as it is. */
const restStates: readonly MachineState[] = ['idle', 'completed', 'paused'];

export const isResting = ({ state, queue, outgoing, memory }: StoredSession): boolean =>
  restStates.includes(state) && queue.length === 0 && outgoing.length === 0 && memory.held === null;

/** Only as long as it rests: one that was stopped meanwhile has another reason to have no process. */
export const asleepSince = (record: StoredSession): number | null =>
  restStates.includes(record.state) ? record.asleep_since : null;

export const sleepWords: Readonly<Record<SleepCause, string>> = {
  rested: `asleep: nothing happened for ${limits.sessionRestMs / 60_000} minutes, so its process was stopped; the next message starts it again`,
  room: 'asleep: its process was stopped to make room for another session; the next message starts it again',
};

/** What a person is told of one whose time has come and that stays; null: nothing of interest. */
const awakeWords: Readonly<Record<Wakeful, string | null>> = {
  busy: null,
  shared: null,
  behind: 'idle, process kept: it has background work, which would end with it',
  no_resume: 'idle, process kept: this conversation could not be resumed',
};

export class RestClock {
  readonly #clock: Clock;
  readonly #now: () => number;
  readonly #notices: { tell(text: string): void };
  readonly #onDue: () => void;
  /** Nobody can have touched it before we were there. */
  #from: number;
  #due: number | null = null;
  #cancel: Cancel | null = null;
  readonly #told = new Set<Wakeful>();

  constructor(clock: Clock, now: () => number, notices: { tell(text: string): void }, onDue: () => void) {
    this.#clock = clock;
    this.#now = now;
    this.#notices = notices;
    this.#onDue = onDue;
    this.#from = now();
  }

  /** After every change. */
  watch(record: StoredSession, isAlive: boolean): void {
    const isCounted = isAlive && isResting(record);
    const due = isCounted ? Math.max(record.updated_at, this.#from) + limits.sessionRestMs : null;
    if (due === this.#due) return;
    this.stop();
    this.#due = due;
    if (due !== null) this.#cancel = this.#clock.after(Math.max(0, due - this.#now()), this.#onDue);
  }

  /** It stays for now; whoever reads along is told why, once. */
  stay(why: Wakeful): void {
    this.#from = this.#now();
    const words = this.#told.has(why) ? null : awakeWords[why];
    this.#told.add(why);
    if (words !== null) this.#notices.tell(words);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#due = null;
  }
}
