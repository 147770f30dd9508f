// Keeps the log within age and size (PruneOrder). Goes in small steps: each reads what goes and drops it in one
// transaction, in a turn of its own and with a pause after it, so that neither commits nor answers are held up; each step
// leaves a log that replays to the truth.

import type { EventId, RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StoreDatabase } from './database.ts';
import type { EventLog } from './event-log.ts';
import type { Head } from './head.ts';
import type { Row } from './node-sqlite.ts';
import type { LoggedRow } from './row.ts';
import { type CompactOrder, isStray, type PruneOrder, type PruneReport, type PruneTurn } from './store.ts';
import type { StoreTables } from './store-tables.ts';

const everyEvent: EventId = Number.MAX_SAFE_INTEGER;

export interface PrunePace {
  readonly eventsPerStep: number;
  readonly pagesPerStep: number;
  /** Nothing else uses the log while a step has its turn. */
  readonly turn: PruneTurn;
  /** Between two steps others may commit and answer. */
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
    this.#database.foldAt(limits.pruneWalPagesMax);
    try {
      return await this.#prune(order);
    } finally {
      // It may have been replaced by a new one meanwhile.
      if (this.#database.isOpen) this.#database.foldAt(limits.storeWalPagesMax);
    }
  }

  async #prune(order: PruneOrder): Promise<PruneReport> {
    const bytesBefore = this.#database.usedBytes();
    await this.#sweepEnded(order);
    await this.#dropEnded(order);
    await this.#dropEventsOf(null, order.before, isStray);
    await this.#dropOrphans(order.before);
    if (order.compact !== undefined) await this.#compact(order.compact);
    await this.#dropAudit(order.auditBefore);
    await this.#dropSnapshots(order.before, order.snapshotsMax);
    await this.#dropOverSize(order);
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

  /**
   * Most of what goes, in the order of the log. Events of many agents stand among each other there: taken agent by agent,
   * nearly each of them would be a page to read and to write. That a runtime ended is dropped last, with the runtime.
   */
  async #sweepEnded(order: PruneOrder): Promise<void> {
    const going = await this.#endedBefore(order);
    for (let after: EventId | null = going.size === 0 ? null : 0; after !== null; ) {
      const from: EventId = after;
      after = await this.#turn(() => {
        const rows = this.#log.oldest(from, this.#pace.eventsPerStep);
        const gone = rows.filter((row) => going.has(row.runtime_id) && row.kind !== 'runtime.ended');
        if (gone.length > 0) this.#remove(gone);
        const last = rows.at(-1);
        return last === undefined || last.ingested_at >= order.before ? null : last.event_id;
      });
    }
  }

  async #endedBefore({ before, keep = [] }: PruneOrder): Promise<ReadonlySet<RuntimeId | null>> {
    const { runtimes } = this.#tables;
    const ended = new Set<RuntimeId | null>();
    const query = 'WHERE runtime_id > ? AND ended_at < ? ORDER BY runtime_id LIMIT ?';
    for (let after: string | null = ''; after !== null; ) {
      const rows: Row[] = runtimes.select(query, after, before, this.#pace.eventsPerStep);
      const ids = rows.map((row) => runtimes.decode(row).identity.runtime_id);
      for (const one of ids) ended.add(one);
      after = ids.at(-1) ?? null;
      await this.#pace.pause();
    }
    for (const one of keep) ended.delete(one);
    return ended;
  }

  async #dropEnded(order: PruneOrder): Promise<void> {
    for (;;) {
      const runtime = this.#firstEnded(order, order.before);
      if (runtime === undefined) return;
      await this.#dropRuntime(runtime, order);
    }
  }

  #firstEnded({ keep = [] }: PruneOrder, before: number): RuntimeId | undefined {
    const rows = this.#tables.runtimes.select('WHERE ended_at < ? ORDER BY ended_at LIMIT ?', before, keep.length + 1);
    const ids = rows.map((row) => this.#tables.runtimes.decode(row).identity.runtime_id);
    return ids.find((one) => !keep.includes(one));
  }

  /**
   * All of a runtime. When it takes several steps, the word that it ended goes last: a crash in between must not leave a
   * runtime that looks alive.
   */
  async #dropRuntime(runtime: RuntimeId, { onDropped }: PruneOrder): Promise<void> {
    for (let isGone = false; !isGone; ) isGone = await this.#turn(() => this.#dropPart(runtime, onDropped));
    this.#runtimes += 1;
  }

  /** One step of it; true after the last one. */
  #dropPart(runtime: RuntimeId, onDropped: PruneOrder['onDropped']): boolean {
    const rows = this.#log.oldestOf(runtime, 0, everyEvent, this.#pace.eventsPerStep);
    const others = rows.filter((row) => row.kind !== 'runtime.ended');
    if (rows.length === this.#pace.eventsPerStep && others.length > 0) {
      this.#remove(others);
      return false;
    }
    const rest = rows.length < this.#pace.eventsPerStep ? rows : this.#log.oldestOf(runtime, 0, everyEvent, -1);
    this.#transact((head) => {
      this.#log.remove(head, rest);
      this.#tables.states.remove(head, runtime);
      this.#tables.places.remove(head, runtime);
      this.#tables.runtimes.remove(head, runtime);
    });
    this.#events += rest.length;
    onDropped?.(runtime);
    return true;
  }

  /** Events whose runtime is not on record: leftovers of a crash between two steps. */
  async #dropOrphans(before: number): Promise<void> {
    let looked = 0;
    for (let runtime = this.#log.nextRuntime(''); runtime !== null; runtime = this.#log.nextRuntime(runtime)) {
      looked += 1;
      if (looked % this.#pace.eventsPerStep === 0) await this.#pace.pause();
      if (this.#tables.runtimes.under(runtime).length > 0) continue;
      await this.#dropEventsOf(runtime, before, () => true);
    }
  }

  /** Events of one runtime, or of none, that are older than this. They stand in the order they were taken in. */
  async #dropEventsOf(
    runtime: RuntimeId | null,
    before: number,
    goes: (row: LoggedRow) => boolean,
    upTo: EventId = everyEvent,
  ): Promise<void> {
    for (let after: EventId | null = 0; after !== null; ) {
      const from: EventId = after;
      after = await this.#turn(() => {
        const rows = this.#log.oldestOf(runtime, from, upTo, this.#pace.eventsPerStep);
        const going = rows.filter((row) => row.ingested_at < before && goes(row));
        if (going.length > 0) this.#remove(going);
        const last = rows.at(-1);
        return last === undefined || last.ingested_at >= before ? null : last.event_id;
      });
    }
  }

  async #compact(order: CompactOrder): Promise<void> {
    for (const [index, runtime] of order.runtimes.entries()) {
      if (index % this.#pace.eventsPerStep === this.#pace.eventsPerStep - 1) await this.#pace.pause();
      const [first] = this.#log.oldestOf(runtime, 0, everyEvent, 2).filter(isReplaceable);
      if (first === undefined || first.ingested_at >= order.dueBefore) continue;
      const upTo = await this.#turn(() => this.#writeBase(runtime, order));
      if (upTo !== null) await this.#dropEventsOf(runtime, order.before, isReplaceable, upTo);
    }
  }

  /** The base is there from the first step on; what is left of the old events until the last one says nothing new. */
  #writeBase(runtime: RuntimeId, order: CompactOrder): EventId | null {
    const known = order.baseOf(runtime);
    if (known === null) return null;
    const rows = this.#log.oldestOf(runtime, 0, known.upTo, this.#pace.eventsPerStep);
    const going = rows.filter((row) => row.ingested_at < order.before && isReplaceable(row));
    if (going.length === 0) return null;
    const encoded = this.#log.encode([known.base]);
    this.#transact((head) => {
      this.#log.append(head, encoded);
      this.#log.remove(head, going);
    });
    this.#log.remember(encoded);
    this.#events += going.length;
    return known.upTo;
  }

  async #dropAudit(before: number): Promise<void> {
    for (let dropped = -1; dropped !== 0; this.#audit += dropped) {
      dropped = await this.#turn(() => {
        const query = 'WHERE at < ? ORDER BY audit_id LIMIT ?';
        const rows = this.#tables.audit.select(query, before, this.#pace.eventsPerStep);
        return rows.length === 0 ? 0 : this.#transact((head) => this.#tables.audit.removeRows(head, rows));
      });
    }
  }

  /** What actions were decided on: the old ones, and the oldest of too many. */
  async #dropSnapshots(before: number, countMax: number): Promise<void> {
    for (let dropped = -1; dropped !== 0; this.#snapshots += dropped) {
      dropped = await this.#turn(() => {
        const over = Math.max(0, this.#database.head.digests.action_snapshots.count - countMax);
        const rows = this.#tables.snapshots.select('ORDER BY observed_at LIMIT ?', this.#pace.eventsPerStep);
        const isOld = (row: Row): boolean => this.#tables.snapshots.decode(row).observed_at < before;
        const going = rows.filter((row, index) => index < over || isOld(row));
        return going.length === 0 ? 0 : this.#transact((head) => this.#tables.snapshots.removeRows(head, going));
      });
    }
  }

  /** Oldest ended runtimes first, then events that never found a runtime; what lives on stays. */
  async #dropOverSize(order: PruneOrder): Promise<void> {
    while (this.#database.usedBytes() > order.bytesMax) {
      const runtime = this.#firstEnded(order, order.endedBefore ?? Number.MAX_VALUE);
      if (runtime === undefined) break;
      await this.#dropRuntime(runtime, order);
    }
    if (this.#database.usedBytes() > order.bytesMax) await this.#dropEventsOf(null, Number.MAX_VALUE, isStray);
  }

  async #giveBack(): Promise<void> {
    for (let left = this.#database.freePages(); left > 0; ) {
      await this.#turn(() => this.#database.vacuum(this.#pace.pagesPerStep));
      const now = this.#database.freePages();
      if (now >= left) break;
      left = now;
    }
    this.#database.checkpoint();
  }

  #remove(rows: readonly LoggedRow[]): void {
    this.#transact((head) => this.#log.remove(head, rows));
    this.#events += rows.length;
  }

  #transact<Result>(work: (head: Head) => Result): Result {
    return this.#database.transactUnsynced('prune the event log', work);
  }

  /** What is read in a step is dropped in the same one: in between, others may change it. */
  async #turn<Result>(step: () => Result): Promise<Result> {
    const result = await this.#pace.turn(step);
    if (this.#pace.checkpointEachStep) this.#database.checkpoint();
    await this.#pace.pause();
    return result;
  }
}

/** Its start stays: it is what can be saved of a living runtime when the log is damaged (LOG2). */
const isReplaceable = (row: LoggedRow): boolean => row.kind !== 'runtime.started';
