// What following one thing means, whatever it is: inputs told in order, a state for people, one piece of work at a time,
// and looks of all followers taken together.

import type { NativeInput, Watch } from '../../agents/contract.ts';
import { limits } from '../../model/limits.ts';
import type { Cancel, Clock } from '../../platform/clock.ts';

/** waiting: not there, or not yet; failed: there, but not to be read. */
export type FollowState = 'ok' | 'waiting' | 'failed';

export interface FollowHandlers {
  readonly onInput: (input: NativeInput) => void;
  readonly onState: (state: FollowState, trouble: string | null) => void;
  /** Pieces that were too large or too many, in words. */
  readonly onDropped: (what: string) => void;
}

export interface Follower {
  /** False when it cannot be sent: not a stream, or not open now. */
  send(text: string): boolean;
  /** One last look, so that what an agent left behind at its end is known; then nothing more. */
  finish(): void;
  close(): void;
}

/** The ways to follow things on one machine. */
export interface Reach {
  /** Over ssh: only sources that say so work there. */
  readonly isRemote: boolean;
  follow(watch: Watch, handlers: FollowHandlers): Follower;
  close(): void;
}

/**
 * Calls back everyone of one period in the same moment: a look at a file costs 5 microseconds among others and 40 alone,
 * because the threads that take it have to be woken up.
 */
export class Pacer {
  readonly #clock: Clock;
  readonly #groups = new Map<number, { readonly members: Set<() => void>; cancel: Cancel }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  every(periodMs: number, callback: () => void): Cancel {
    let group = this.#groups.get(periodMs);
    if (group === undefined) {
      group = { members: new Set(), cancel: this.#clock.after(periodMs, () => this.#beat(periodMs)) };
      this.#groups.set(periodMs, group);
    }
    // A function of its own, so that the same callback may be there twice.
    const member = (): void => callback();
    group.members.add(member);
    return () => this.#leave(periodMs, member);
  }

  #beat(periodMs: number): void {
    const group = this.#groups.get(periodMs);
    if (group === undefined) return;
    group.cancel = this.#clock.after(periodMs, () => this.#beat(periodMs));
    for (const member of [...group.members]) if (group.members.has(member)) member();
  }

  #leave(periodMs: number, member: () => void): void {
    const group = this.#groups.get(periodMs);
    if (group === undefined || !group.members.delete(member) || group.members.size > 0) return;
    group.cancel();
    this.#groups.delete(periodMs);
  }
}

/** Enough for what a journal may be behind. */
const lastRoundsMax = Math.ceil(limits.journalBehindBytesMax / limits.journalReadBytesMax) + 1;

/** Runs one piece of asynchronous work at a time. Who asks while it runs gets one more round afterwards, not many. */
export class Turns {
  readonly #clock: Clock;
  readonly #work: (isForced: boolean) => Promise<void>;
  readonly #onTrouble: (error: unknown) => void;
  #running = false;
  #wanted = false;
  #lastAt = Number.NEGATIVE_INFINITY;
  #cancelGap: Cancel | null = null;
  /** Set when the end was asked for; who grows without end does not get it put off for ever. */
  #roundsLeft: number | null = null;
  #onDone: () => void = () => undefined;
  #closed = false;

  constructor(clock: Clock, work: (isForced: boolean) => Promise<void>, onTrouble: (error: unknown) => void) {
    this.#clock = clock;
    this.#work = work;
    this.#onTrouble = onTrouble;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** A look that may be left out when one is under way. */
  poll(): void {
    if (!this.#running && !this.#closed && this.#cancelGap === null) void this.#run(false);
  }

  /** Something changed: look as soon as may be, and do not believe that it looks the same. */
  poke(): void {
    if (this.#closed) return;
    if (this.#running) {
      this.#wanted = true;
      return;
    }
    if (this.#cancelGap !== null) return;
    const waitMs = this.#lastAt + limits.nativeHintGapMs - this.#clock.monotonicMs();
    if (waitMs <= 0) {
      void this.#run(true);
      return;
    }
    this.#cancelGap = this.#clock.after(waitMs, () => {
      this.#cancelGap = null;
      void this.#run(true);
    });
  }

  /** One more round, then `onDone`, unless closed before. */
  finish(onDone: () => void): void {
    if (this.#closed) return;
    this.#roundsLeft = lastRoundsMax;
    this.#onDone = onDone;
    this.#cancelGap?.();
    this.#cancelGap = null;
    if (this.#running) this.#wanted = true;
    else void this.#run(true);
  }

  close(): void {
    this.#closed = true;
    this.#cancelGap?.();
    this.#cancelGap = null;
  }

  async #run(isForced: boolean): Promise<void> {
    this.#running = true;
    this.#wanted = false;
    try {
      await this.#work(isForced);
    } catch (error) {
      if (!this.#closed) this.#onTrouble(error);
    }
    this.#running = false;
    this.#lastAt = this.#clock.monotonicMs();
    if (this.#closed) return;
    if (this.#roundsLeft === null) {
      if (this.#wanted) this.poke();
      return;
    }
    this.#roundsLeft -= 1;
    if (this.#wanted && this.#roundsLeft > 0) void this.#run(true);
    else this.#onDone();
  }
}
