// Keeping one session: its record on disk first, then served, then told to the engine. What is served is never ahead of
// what is kept, except on a disk that takes nothing any more.

import type { EventEnvelope } from '../model/events.ts';
import type { TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { FileError } from '../platform/files.ts';
import {
  changeFacts,
  endFacts,
  type Place,
  repeatFact,
  startFact,
  type Told,
  toldBefore,
  toldNothing,
} from './book-facts.ts';
import { canonicalOf } from './canonical.ts';
import type { SessionStore } from './store.ts';
import type { KeptSession } from './store-record.ts';

export interface KeepingParts {
  readonly clock: Clock;
  readonly now: () => number;
  readonly target: TargetId;
  readonly store: SessionStore;
  /** Of this run of the daemon. */
  readonly epoch: number;
  readonly nextSeq: () => number;
  readonly offer: (events: readonly EventEnvelope[]) => Promise<unknown>;
  /**
   * What was said until now is on disk: a state is never ahead of the words that led to it. `isAll`: also what nobody was
   * shown yet.
   */
  readonly said: (isAll: boolean) => Promise<void>;
  /** The last line that the agent said, as lists show it: kept with the record, so that it outlives us. */
  readonly lastWords: () => string | null;
  /** What is served has changed. */
  readonly onShown: () => void;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** What people wait for, as opposed to counters that may be written later. */
const urgent = [
  'state',
  'state_version',
  'reason',
  'words',
  'pending_ask',
  'agent_session',
  'queue',
  'outgoing',
  'asleep_since',
  'is_led',
  'process',
  'address',
  'rejoin',
] as const;

export class Keeping {
  readonly #parts: KeepingParts;
  #shown: KeptSession;
  #wanted: KeptSession;
  #writing: Promise<void> | null = null;
  #told: Told = toldNothing;
  #cancelLater: Cancel | null = null;
  #cancelRepeat: Cancel | null = null;
  #isBegun = false;
  #isClosed = false;

  constructor(parts: KeepingParts, record: KeptSession) {
    this.#parts = parts;
    this.#shown = record;
    this.#wanted = record;
  }

  /** As everyone sees it. */
  get shown(): KeptSession {
    return this.#shown;
  }

  /** Resolves when this very record, or one that came after it, is on disk. */
  async keep(record: KeptSession): Promise<void> {
    this.#wanted = record;
    // One that is being written may be older than this one.
    if (this.#writing !== null) await this.#writing.catch(() => undefined);
    try {
      if (this.#shown !== record) await this.#write();
    } catch (problem) {
      // It was not to be without being kept.
      if (this.#wanted === record) this.#wanted = this.#shown;
      throw problem;
    }
  }

  changed(record: KeptSession): void {
    if (record === this.#wanted) return;
    const before = this.#wanted;
    this.#wanted = record;
    if (this.#isClosed) return;
    if (urgent.some((name) => record[name] !== before[name])) void this.#tryWrite();
    else this.#cancelLater ??= this.#parts.clock.after(limits.sessionGrowingKeptMs, () => void this.#tryWrite());
  }

  /** The engine gets to know it, or is told again what it is after a restart. */
  async begin(known: StateRecord | null): Promise<void> {
    if (known !== null) this.#told = toldBefore(this.#shown, known);
    this.#isBegun = true;
    if (known === null) await this.#parts.offer([startFact(this.#shown, this.#place())]);
    this.#tell();
  }

  async end(): Promise<void> {
    if (this.#isBegun) await this.#parts.offer(endFacts(this.#shown, this.#place()));
  }

  /** Nothing is written behind the scenes any more; what is wanted is on disk when it resolves. */
  async close(): Promise<void> {
    await this.stop();
    if (this.#shown !== this.#wanted) await this.#tryWrite();
  }

  /** Nothing is written any more once it resolves: a record that is on its way would come back after it was removed. */
  async stop(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLater?.();
    this.#cancelRepeat?.();
    await this.#writing?.catch(() => undefined);
  }

  #place(): Place {
    const { target, now, epoch, nextSeq } = this.#parts;
    return { target, at: now(), epoch, seq: nextSeq };
  }

  async #tryWrite(): Promise<void> {
    try {
      await this.#write();
    } catch (problem) {
      if (!(problem instanceof FileError)) throw problem;
      this.#parts.warn('a session could not be kept', { session: this.#wanted.id, problem: problem.message });
      // People see what is true, also on a full disk (LOG5).
      this.#show(this.#wanted);
    }
  }

  #write(): Promise<void> {
    this.#cancelLater?.();
    this.#cancelLater = null;
    if (this.#shown !== this.#wanted) this.#writing ??= this.#writeAll();
    return this.#writing ?? Promise.resolve();
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#shown !== this.#wanted) {
        const record = this.#wanted;
        // What is no longer on its way has left its trace in the conversation.
        await this.#parts.said(record.outgoing !== this.#shown.outgoing);
        await this.#parts.store.save({ ...record, last_words: this.#parts.lastWords() });
        this.#show(record);
      }
    } finally {
      // In the same turn as the last look: what comes after it begins a writing of its own.
      this.#writing = null;
    }
  }

  #show(record: KeptSession): void {
    this.#shown = record;
    this.#tell();
    this.#parts.onShown();
  }

  #tell(): void {
    if (!this.#isBegun) return;
    const { events, told } = changeFacts(this.#shown, this.#told, this.#place());
    this.#told = told;
    if (events.length > 0) void this.#parts.offer(events);
    this.#repeatLater();
  }

  /** Work that says nothing for minutes is still work, as long as its process is there (RSV0). */
  #repeatLater(): void {
    this.#cancelRepeat?.();
    const isRunning = this.#shown.is_led && canonicalOf(this.#shown).state === 'running';
    if (!isRunning || this.#isClosed) return;
    this.#cancelRepeat = this.#parts.clock.after(limits.sessionRepeatMs, () => {
      void this.#parts.offer([repeatFact(this.#shown, this.#place())]);
      this.#repeatLater();
    });
  }
}
