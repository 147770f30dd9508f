// One shell as the keeper holds it in memory: its record and who waits for it. Everything that is done to one shell is
// done in turns, so that no step sees half of another.

import type { ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { ShellAnswer, ShellNotice, ShellRecord, ShellResult, ShellRow } from '../model/shells.ts';
import type { Cancel } from '../platform/clock.ts';
import type { ShellActor } from './life.ts';
import type { LogSource } from './pages.ts';
import type { StoryBounds } from './story.ts';

/** What tests make smaller. */
export interface ShellBounds extends StoryBounds {
  readonly runningMax: number;
  readonly keptMax: number;
  readonly keptMs: number;
  readonly keptBytesMax: number;
  readonly attemptsKept: number;
  readonly killMs: number;
  readonly killAnswerMs: number;
  readonly startMs: number;
  readonly adoptMs: number;
  readonly drainMs: number;
  readonly sweepMs: number;
}

export const usualBounds: ShellBounds = {
  runningMax: limits.shellsRunningMax,
  keptMax: limits.shellsKeptMax,
  keptMs: limits.shellKeptMs,
  keptBytesMax: limits.shellsKeptBytesMax,
  attemptsKept: limits.shellAttemptsKept,
  killMs: limits.shellKillMs,
  killAnswerMs: limits.shellKillAnswerMs,
  startMs: limits.shellStartMs,
  adoptMs: limits.shellAdoptMs,
  drainMs: limits.shellDrainMs,
  sweepMs: limits.shellSweepMs,
  segmentBytes: limits.shellSegmentBytes,
  logBytesMax: limits.shellLogBytesMax,
  printedBytesMax: limits.shellPrintedBytesMax,
};

export interface WaitingCall {
  /** The caller is gone: the answer reaches nobody. */
  isCancelled: boolean;
  readonly answer: (answer: ShellAnswer) => void;
}

export interface WaitingKill {
  readonly by: ShellActor;
  readonly answer: (answer: ShellAnswer) => void;
}

type TimerName = 'budget' | 'timeout' | 'kill' | 'drain';

export class RunningShell {
  record: ShellRecord;
  /** Told by nobody yet, and on disk with the record. */
  notices: readonly ShellNotice[];
  readonly boot: string;
  lastLog: readonly string[] = [];
  /** Its log, when it will not change any more. */
  ended: LogSource | null = null;
  /** Where the segment begins that is written to. */
  segment = 0;
  /** Its environment, while an attempt is being started. */
  env: Readonly<Record<string, string>> | null = null;
  holder: ProcessIdentity | null = null;
  call: WaitingCall | null = null;
  kills: readonly WaitingKill[] = [];
  /** This daemon started the present attempt. */
  isFresh = false;
  /** TERM has to wait until it is known whom to send it to. */
  isTermDue = false;
  /** The command has ended, and its log was waited for long enough. */
  isDrained = false;
  readonly #timers = new Map<TimerName, Cancel>();
  #turns: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(record: ShellRecord, notices: readonly ShellNotice[], boot: string) {
    this.record = record;
    this.notices = notices;
    this.boot = boot;
  }

  get isRunning(): boolean {
    return this.record.status === 'running';
  }

  /** An agent waits for exactly this end, so it need not be told of it once more. */
  get isAwaited(): boolean {
    const isCalled = this.call !== null && !this.call.isCancelled;
    return isCalled || this.kills.some(({ by }) => by === 'agent');
  }

  get row(): ShellRow {
    return { ...this.record, last_log: this.lastLog };
  }

  /** After everything that was begun before. What one turn throws does not stop the next. */
  turn<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#waiting += 1;
    const done = this.#turns.then(work);
    this.#turns = done
      .catch(() => undefined)
      .then(() => {
        this.#waiting -= 1;
      });
    return done;
  }

  /** Nothing is being done to it. */
  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  /** Resolves when everything that was begun is done. */
  settled(): Promise<unknown> {
    return this.#turns;
  }

  arm(name: TimerName, cancel: Cancel): void {
    this.disarm(name);
    this.#timers.set(name, cancel);
  }

  isArmed(name: TimerName): boolean {
    return this.#timers.has(name);
  }

  disarm(...names: readonly TimerName[]): void {
    for (const name of names) {
      this.#timers.get(name)?.();
      this.#timers.delete(name);
    }
  }

  disarmAll(): void {
    this.disarm('budget', 'timeout', 'kill', 'drain');
  }

  answerOf(result: ShellResult, reason: string, fields: Partial<ShellAnswer> = {}): ShellAnswer {
    return { result, reason, ended_by: this.record.ended_by, shell: this.row, page: null, ...fields };
  }
}
