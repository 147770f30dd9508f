// The contract of the event log and its projections. Whatever stands behind it (SQLite, memory, one day PostgreSQL)
// passes the suite in store.contract.ts; nothing above this folder may know which one it is.

import type { AdmittedEvent, FactKind, OrderKey } from '../model/events.ts';
import type { EventId, RuntimeId, TargetId } from '../model/ids.ts';
import type {
  AdapterRecord,
  AuditRecord,
  DocumentStore,
  NewEvent,
  NumberedAudit,
  PlaceRecord,
  Rebinding,
  RuntimeRecord,
  SnapshotRecord,
  StateRecord,
  StoredEvent,
  TargetRecord,
} from '../model/records.ts';
import type { SourceName } from '../model/sources.ts';
import type { VerdictReason } from '../model/verdicts.ts';

/** Everything that becomes true at once. One transaction with full sync: all of it, or nothing. */
export interface Commit {
  readonly events: readonly NewEvent[];
  readonly rebindings: readonly Rebinding[];
  readonly runtimes: readonly RuntimeRecord[];
  readonly states: readonly StateRecord[];
  readonly audit: readonly AuditRecord[];
  /** Versions of the feed never repeat, not even over a restart (FED2). */
  readonly feed_version: number;
}

/** What identifies an event before it is bound (DED1). */
export interface EventIdentity {
  readonly target: TargetId;
  readonly source: SourceName;
  readonly dedupe_key: string;
}

/** A copy that the log already holds. */
export interface KnownCopy extends EventIdentity {
  readonly event_id: EventId;
  readonly runtime_id: RuntimeId | null;
  readonly key: OrderKey;
}

/** In the order of the log, each copy once, however often its identity was asked for. */
export function eachOnce(copies: readonly KnownCopy[]): KnownCopy[] {
  const byId = new Map(copies.map((copy) => [copy.event_id, copy]));
  return [...byId.values()].sort((one, other) => one.event_id - other.event_id);
}

/**
 * One logged event during replay: what most events are judged by stands here ready, the rest is read by `decode` only
 * for the few that matter. Each row is a value of its own and may be kept.
 */
export interface ReplayRow {
  readonly event_id: EventId;
  readonly runtime_id: RuntimeId | null;
  readonly verdict: VerdictReason;
  readonly target: TargetId;
  readonly source: SourceName;
  readonly kind: FactKind;
  readonly key: OrderKey;
  readonly time: number;
  readonly ingested_at: number;
  readonly dedupe_key: string;
  decode(): AdmittedEvent;
}

/** What retention is asked to keep, and what it did. */
export interface PruneOrder {
  /** Events of runtimes that ended before this, and unbound events and snapshots older than it, are dropped whole. */
  readonly before: number;
  readonly auditBefore: number;
  /** Of the snapshots that are younger, so many stay: the newest. */
  readonly snapshotsMax: number;
  /** Over this the oldest ended runtimes go first, whatever their age. */
  readonly bytesMax: number;
  /** Ended runtimes that stay whatever their age: who was active last decides who is active now (RTE2). */
  readonly keep?: readonly RuntimeId[];
  /** What ended later than this stays too: it may have been the active one when the list to keep was made. */
  readonly endedBefore?: number;
  /** Runtimes that live on, and how old their events may become before they are replaced by their join. */
  readonly compact?: CompactOrder;
  /** Called in the very step that dropped a runtime, so that nobody meets one that is half gone. */
  readonly onDropped?: (runtime: RuntimeId) => void;
}

export interface CompactOrder {
  readonly runtimes: readonly RuntimeId[];
  /** Events older than this are replaced... */
  readonly before: number;
  /** ...once the oldest of them is older than this: one base a day, not one an hour. */
  readonly dueBefore: number;
  /**
   * The join of what a runtime said up to event `upTo`, asked for in the step that writes it. It may hold more than the
   * events that go: what base and later events both say changes nothing, because the fold is a join. The base is
   * committed with the first events that go, a long tail goes in further steps. Null for a runtime that has none.
   */
  baseOf(runtime: RuntimeId): { readonly upTo: EventId; readonly base: NewEvent } | null;
}

/** Runs one step of pruning when nothing else uses the log. Each step leaves a log that replays to the truth. */
export type PruneTurn = <Result>(step: () => Result) => Promise<Result>;

export interface PruneReport {
  readonly events: number;
  readonly runtimes: number;
  readonly audit: number;
  readonly snapshots: number;
  /** How much smaller the live content became. */
  readonly bytes: number;
}

export interface NewLog {
  /** Of the events of its first commit. */
  readonly ids: readonly EventId[];
  /** Where the damaged one stands now; null when nothing was left of it. */
  readonly setAside: string | null;
}

export interface Store extends DocumentStore {
  /**
   * Resolves after the commit is on disk: acknowledged means committed. Rejects with an AgtmuxError, nothing written.
   * A rebinding of an event that retention has dropped since is passed over; one of an event that never was is a defect.
   */
  commit(commit: Commit): Promise<readonly EventId[]>;
  /**
   * Visits every event of the log, newest first: the fold is a join, so order does not matter, and newest first lets it
   * skip what is already outdone. Each row's checksum is verified, and the whole store against its head;
   * rejects with E_STORE_DAMAGED when anything is missing or altered. Then nothing that was visited may be used.
   */
  replay(visit: (row: ReplayRow) => void): Promise<{ readonly events: number; readonly feed_version: number }>;
  /** Copies of these events that the log already holds, from any runtime. */
  known(identities: readonly EventIdentity[]): Promise<readonly KnownCopy[]>;
  /** The latest events of one runtime, newest first. */
  eventsOf(runtime: RuntimeId, countMax: number): Promise<readonly StoredEvent[]>;
  states(): Promise<readonly StateRecord[]>;
  runtimes(): Promise<readonly RuntimeRecord[]>;
  audit(countMax: number): Promise<readonly AuditRecord[]>;
  /** Those after this number, oldest first; null: the newest one alone. Numbers only grow. */
  auditAfter(number: number | null, countMax: number): Promise<readonly NumberedAudit[]>;

  targets(): Promise<readonly TargetRecord[]>;
  putTarget(target: TargetRecord): Promise<void>;
  removeTarget(target: TargetId): Promise<void>;
  /** Where each runtime on record was last seen. */
  places(): Promise<readonly PlaceRecord[]>;
  /** All at once; a place of a runtime that is not on record is passed over. It goes with its runtime. */
  putPlaces(places: readonly PlaceRecord[]): Promise<void>;
  putSnapshot(snapshot: SnapshotRecord): Promise<void>;
  snapshot(id: SnapshotRecord['snapshot_id']): Promise<SnapshotRecord | null>;
  adapters(): Promise<readonly AdapterRecord[]>;
  putAdapter(adapter: AdapterRecord): Promise<void>;

  /** True once the log gave back something else than was written: then it has to start over. */
  readonly isDamaged: boolean;
  /**
   * Sets a log that was damaged while it was open aside and begins a new one with this commit, which is made from the
   * starts, ends and servers that could be read. Audit, targets, adapters, places and documents are saved as far as they
   * can be read. May be called again when it failed.
   */
  startOver(begin: (saved: readonly StoredEvent[]) => Commit): Promise<NewLog>;

  /** Goes in small steps, each in a turn of its own, so that commits are never held up for long. */
  prune(order: PruneOrder, turn?: PruneTurn): Promise<PruneReport>;
  /** The same on a full disk: makes the room it needs itself, and drops more than asked for if that is what it takes. */
  pruneWhenFull(order: PruneOrder): Promise<PruneReport>;
  close(): Promise<void>;
}

/**
 * Whether retention may drop an event that belongs to no runtime: only one that was given up. What still waits may be
 * bound tomorrow, and which servers there were decides who is gone with them.
 */
export function isStray({ kind, verdict }: Pick<ReplayRow, 'kind' | 'verdict'>): boolean {
  return kind !== 'server.seen' && verdict !== 'runtime_not_known';
}
