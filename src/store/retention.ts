// Keeps the log within age and size (PruneOrder). Goes in small transactions with a pause between them, so that commits are
// never held up for long; each step leaves a log that replays to the truth.

import type { EventId, RuntimeId } from '../model/ids.ts';
import type { NewEvent } from '../model/records.ts';
import type { StoreDatabase } from './database.ts';
import type { EventLog } from './event-log.ts';
import type { Head } from './head.ts';
import type { Row } from './node-sqlite.ts';
import type { LoggedRow } from './row.ts';
import { isStray, type PruneOrder, type PruneReport } from './store.ts';
import type { StoreTables } from './store-tables.ts';

const everyEvent: EventId = Number.MAX_SAFE_INTEGER;

export interface PrunePace {
  readonly eventsPerStep: number;
  readonly pagesPerStep: number;
  /** Between two steps others may commit. */
  pause(): Promise<void>;
  /** On a full disk the write-ahead log is folded in after every step, so that it never outgrows the ballast. */
  readonly checkpointEachStep: boolean;
}

export class Retention {
  readonly #database: StoreDatabase;
  readonly #log: EventLog;
  readonly #tables: StoreTables;
  readonly #pace: PrunePace;
  #events = 0;
  #runtimes = 0;
  #audit = 0;
  #snapshots = 0;

  constructor(database: StoreDatabase, log: EventLog, tables: StoreTables, pace: PrunePace) {
    this.#database = database;
    this.#log = log;
    this.#tables = tables;
    this.#pace = pace;
  }

  async prune(order: PruneOrder): Promise<PruneReport> {
    const bytesBefore = this.#database.usedBytes();
    const keep = new Set(order.keep ?? []);
    for (const runtime of this.#endedBefore(order.before)) if (!keep.has(runtime)) await this.#dropRuntime(runtime);
    await this.#dropUnbound(order.before);
    await this.#dropOrphans(order.before);
    for (const { runtime_id, upTo, base } of order.bases) await this.#replaceByBase(runtime_id, upTo, base);
    await this.#dropAudit(order.auditBefore);
    await this.#dropSnapshots(order.before, order.snapshotsMax);
    await this.#dropOverSize(order.bytesMax, keep);
    await this.#giveBack();
    const bytes = Math.max(0, bytesBefore - this.#database.usedBytes());
    return {
      events: this.#events,
      runtimes: this.#runtimes,
      audit: this.#audit,
      snapshots: this.#snapshots,
      bytes,
    };
  }

  #endedBefore(before: number, countMax = -1): RuntimeId[] {
    const rows = this.#tables.runtimes.select('WHERE ended_at < ? ORDER BY ended_at LIMIT ?', before, countMax);
    return rows.map((row) => this.#tables.runtimes.decode(row).identity.runtime_id);
  }

  /**
   * All of a runtime. When it takes several steps, the word that it ended goes last: a crash in between must not leave a
   * runtime that looks alive.
   */
  async #dropRuntime(runtime: RuntimeId): Promise<void> {
    for (let after = 0; ; ) {
      const rows = this.#log.oldestOf(runtime, after, everyEvent, this.#pace.eventsPerStep);
      if (rows.length < this.#pace.eventsPerStep) break;
      after = rows.at(-1)?.event_id ?? after;
      await this.#removeEvents(rows.filter((row) => row.kind !== 'runtime.ended'));
    }
    const rest = this.#log.oldestOf(runtime, 0, everyEvent, -1);
    await this.#step((head) => {
      this.#log.remove(head, rest);
      this.#forgetRuntime(head, runtime);
    });
    this.#events += rest.length;
    this.#runtimes += 1;
  }

  #forgetRuntime(head: Head, runtime: RuntimeId): void {
    this.#tables.states.remove(head, runtime);
    this.#tables.cursors.remove(head, runtime);
    this.#tables.places.remove(head, runtime);
    this.#tables.runtimes.remove(head, runtime);
  }

  async #dropUnbound(before: number): Promise<void> {
    await this.#dropEventsOf(null, everyEvent, (row) => row.ingested_at < before && isStray(row));
  }

  /** Events whose runtime is not on record: leftovers of a crash between two steps. */
  async #dropOrphans(before: number): Promise<void> {
    for (const runtime of this.#log.runtimesWithEvents()) {
      if (this.#tables.runtimes.under(runtime).length > 0) continue;
      await this.#dropEventsOf(runtime, everyEvent, (row) => row.ingested_at < before);
    }
  }

  async #dropEventsOf(runtime: RuntimeId | null, upTo: EventId, goes: (row: LoggedRow) => boolean): Promise<void> {
    for (let after = 0; ; ) {
      const rows = this.#log.oldestOf(runtime, after, upTo, this.#pace.eventsPerStep);
      if (rows.length === 0) return;
      after = rows.at(-1)?.event_id ?? after;
      await this.#removeEvents(rows.filter(goes));
    }
  }

  async #removeEvents(rows: readonly LoggedRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.#step((head) => this.#log.remove(head, rows));
    this.#events += rows.length;
  }

  /** The base is there from the first step on; what is left of the old events until the last one says nothing new. */
  async #replaceByBase(runtime: RuntimeId, upTo: EventId, base: NewEvent): Promise<void> {
    const rows = this.#log.oldestOf(runtime, 0, upTo, this.#pace.eventsPerStep);
    // Its start stays: it is what can be saved of a living runtime when the log is damaged (LOG2).
    const goes = (row: LoggedRow): boolean => row.kind !== 'runtime.started';
    const going = rows.filter(goes);
    if (going.length === 0) return;
    const encoded = this.#log.encode([base]);
    await this.#step((head) => {
      this.#log.append(head, encoded);
      this.#log.remember(encoded);
      this.#log.remove(head, going);
    });
    this.#events += going.length;
    if (rows.length === this.#pace.eventsPerStep) await this.#dropEventsOf(runtime, upTo, goes);
  }

  async #dropAudit(before: number): Promise<void> {
    for (;;) {
      const rows = this.#tables.audit.select(
        'WHERE at < ? ORDER BY audit_id LIMIT ?',
        before,
        this.#pace.eventsPerStep,
      );
      if (rows.length === 0) return;
      await this.#step((head) => this.#tables.audit.removeRows(head, rows));
      this.#audit += rows.length;
    }
  }

  /** What actions were decided on: the old ones, and the oldest of too many. */
  async #dropSnapshots(before: number, countMax: number): Promise<void> {
    for (;;) {
      const over = Math.max(0, this.#database.head.digests.action_snapshots.count - countMax);
      const rows = this.#tables.snapshots.select('ORDER BY observed_at LIMIT ?', this.#pace.eventsPerStep);
      const isOld = (row: Row): boolean => this.#tables.snapshots.decode(row).observed_at < before;
      const going = rows.filter((row, index) => index < over || isOld(row));
      if (going.length === 0) return;
      await this.#step((head) => this.#tables.snapshots.removeRows(head, going));
      this.#snapshots += going.length;
    }
  }

  /** Oldest ended runtimes first, then events that never found a runtime; what lives on stays. */
  async #dropOverSize(bytesMax: number, keep: ReadonlySet<RuntimeId>): Promise<void> {
    while (this.#database.usedBytes() > bytesMax) {
      const [runtime] = this.#endedBefore(Number.MAX_VALUE, keep.size + 1).filter((one) => !keep.has(one));
      if (runtime === undefined) break;
      await this.#dropRuntime(runtime);
    }
    if (this.#database.usedBytes() > bytesMax) await this.#dropUnbound(Number.MAX_VALUE);
  }

  async #giveBack(): Promise<void> {
    for (let left = this.#database.freePages(); left > 0; ) {
      this.#database.vacuum(this.#pace.pagesPerStep);
      await this.#afterStep();
      const now = this.#database.freePages();
      if (now >= left) break;
      left = now;
    }
    this.#database.checkpoint();
  }

  async #step(work: (head: Head) => unknown): Promise<void> {
    this.#database.transact('prune the event log', work);
    await this.#afterStep();
  }

  async #afterStep(): Promise<void> {
    if (this.#pace.checkpointEachStep) this.#database.checkpoint();
    await this.#pace.pause();
  }
}
