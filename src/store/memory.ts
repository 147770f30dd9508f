// The store in memory: the same contract without a disk, for simulations, for tests, and as the plain reading of what the
// contract means. Keeps the records it is given; it never copies them, they are immutable.

import { AgtmuxError, assert } from '../model/errors.ts';
import type { EventId, RuntimeId, TargetId } from '../model/ids.ts';
import type {
  AdapterRecord,
  AuditRecord,
  DocumentChange,
  DocumentKind,
  DocumentRecord,
  NewEvent,
  NumberedAudit,
  PlaceRecord,
  RuntimeRecord,
  SnapshotRecord,
  StateRecord,
  StoredEvent,
  TargetRecord,
} from '../model/records.ts';
import { storable } from './row.ts';
import {
  type Commit,
  type CompactOrder,
  type EventIdentity,
  eachOnce,
  isStray,
  type KnownCopy,
  type NewLog,
  type PruneOrder,
  type PruneReport,
  type PruneTurn,
  type ReplayRow,
  type Store,
} from './store.ts';

/** A logged event as replay shows it. */
export function replayRow(stored: StoredEvent): ReplayRow {
  const { event } = stored;
  return {
    event_id: stored.event_id,
    runtime_id: stored.runtime_id,
    verdict: stored.verdict,
    target: event.evidence.target,
    source: event.source,
    kind: event.fact.kind,
    key: event.key,
    time: event.time,
    ingested_at: event.ingested_at,
    dedupe_key: event.dedupe_key,
    decode: () => event,
  };
}

export class MemoryStore implements Store {
  readonly #events = new Map<EventId, StoredEvent>();
  readonly #ids = new Map<string, EventId[]>();
  readonly #runtimes = new Map<RuntimeId, RuntimeRecord>();
  readonly #states = new Map<RuntimeId, StateRecord>();
  readonly #documents = new Map<string, DocumentRecord>();
  readonly #targets = new Map<TargetId, TargetRecord>();
  readonly #places = new Map<RuntimeId, PlaceRecord>();
  readonly #snapshots = new Map<SnapshotRecord['snapshot_id'], SnapshotRecord>();
  readonly #adapters = new Map<string, AdapterRecord>();
  #audit: AuditRecord[] = [];
  #auditDropped = 0;
  #lastId: EventId = 0;
  #feedVersion = 0;
  #open = true;

  async commit(commit: Commit): Promise<readonly EventId[]> {
    this.#assertOpen();
    this.#check(commit);
    const ids = commit.events.map((event) => this.#append(event));
    for (const { event_id, runtime_id, verdict } of commit.rebindings) {
      const stored = this.#events.get(event_id);
      if (stored !== undefined) this.#events.set(event_id, { ...stored, runtime_id, verdict });
    }
    for (const record of commit.runtimes) this.#runtimes.set(record.identity.runtime_id, record);
    for (const record of commit.states) this.#states.set(record.runtime_id, record);
    this.#audit.push(...commit.audit);
    this.#feedVersion = commit.feed_version;
    return ids;
  }

  async replay(visit: (row: ReplayRow) => void): Promise<{ readonly events: number; readonly feed_version: number }> {
    this.#assertOpen();
    // Ids are given in order, and a map keeps the order in which keys first came.
    for (const stored of [...this.#events.values()].reverse()) visit(replayRow(stored));
    return { events: this.#events.size, feed_version: this.#feedVersion };
  }

  async known(identities: readonly EventIdentity[]): Promise<readonly KnownCopy[]> {
    this.#assertOpen();
    const copies: KnownCopy[] = [];
    for (const identity of identities) {
      for (const id of this.#ids.get(identityText(identity)) ?? []) {
        const stored = this.#events.get(id);
        if (stored === undefined) continue;
        copies.push({ ...identity, event_id: id, runtime_id: stored.runtime_id, key: stored.event.key });
      }
    }
    return eachOnce(copies);
  }

  async eventsOf(runtime: RuntimeId, countMax: number): Promise<readonly StoredEvent[]> {
    this.#assertOpen();
    const own = [...this.#events.values()].filter((stored) => stored.runtime_id === runtime);
    return own.reverse().slice(0, countMax);
  }

  async states(): Promise<readonly StateRecord[]> {
    this.#assertOpen();
    return inKeyOrder(this.#states);
  }

  async runtimes(): Promise<readonly RuntimeRecord[]> {
    this.#assertOpen();
    return inKeyOrder(this.#runtimes);
  }

  async audit(countMax: number): Promise<readonly AuditRecord[]> {
    this.#assertOpen();
    return this.#audit.slice(-countMax).reverse();
  }

  async auditAfter(number: number | null, countMax: number): Promise<readonly NumberedAudit[]> {
    this.#assertOpen();
    const numbered = this.#audit.map((record, index) => ({ ...record, audit_id: this.#auditDropped + index + 1 }));
    if (number === null) return numbered.slice(-1);
    return numbered.filter(({ audit_id }) => audit_id > number).slice(0, countMax);
  }

  async targets(): Promise<readonly TargetRecord[]> {
    this.#assertOpen();
    return inKeyOrder(this.#targets);
  }

  async putTarget(target: TargetRecord): Promise<void> {
    this.#assertOpen();
    this.#targets.set(target.target, target);
  }

  async removeTarget(target: TargetId): Promise<void> {
    this.#assertOpen();
    this.#targets.delete(target);
  }

  async places(): Promise<readonly PlaceRecord[]> {
    this.#assertOpen();
    return inKeyOrder(this.#places);
  }

  async putPlaces(places: readonly PlaceRecord[]): Promise<void> {
    this.#assertOpen();
    for (const place of places) if (this.#isOnRecord(place.runtime_id)) this.#places.set(place.runtime_id, place);
  }

  async putSnapshot(snapshot: SnapshotRecord): Promise<void> {
    this.#assertOpen();
    this.#snapshots.set(snapshot.snapshot_id, snapshot);
  }

  async snapshot(id: SnapshotRecord['snapshot_id']): Promise<SnapshotRecord | null> {
    this.#assertOpen();
    return this.#snapshots.get(id) ?? null;
  }

  async adapters(): Promise<readonly AdapterRecord[]> {
    this.#assertOpen();
    return inKeyOrder(this.#adapters);
  }

  async putAdapter(adapter: AdapterRecord): Promise<void> {
    this.#assertOpen();
    this.#adapters.set(adapter.adapter, adapter);
  }

  async documents(kinds: readonly DocumentKind[]): Promise<readonly DocumentRecord[]> {
    this.#assertOpen();
    const found = (kind: DocumentKind) => [...this.#documents.values()].filter((document) => document.kind === kind);
    return kinds.flatMap((kind) => found(kind).sort((one, other) => one.number - other.number));
  }

  async putDocuments({ put, remove }: DocumentChange): Promise<void> {
    this.#assertOpen();
    for (const { kind, id } of remove) this.#documents.delete(`${kind} ${id}`);
    for (const document of put) this.#documents.set(`${document.kind} ${document.id}`, document);
  }

  timesStartedOver = 0;

  /** Memory is not damaged; what starts over keeps what it had. */
  readonly isDamaged = false;

  async startOver(begin: (saved: readonly StoredEvent[]) => Commit): Promise<NewLog> {
    this.#assertOpen();
    const saved = [...this.#events.values()];
    this.#events.clear();
    this.#ids.clear();
    this.timesStartedOver += 1;
    return { ids: await this.commit(begin(saved)), setAside: null };
  }

  /** One step is enough here. */
  prune(order: PruneOrder, turn: PruneTurn = async (step) => step()): Promise<PruneReport> {
    return turn(() => this.#prune(order));
  }

  #prune(order: PruneOrder): PruneReport {
    this.#assertOpen();
    const bytesBefore = this.#bytes();
    const eventsBefore = this.#events.size;
    const keep = new Set(order.keep ?? []);
    let runtimes = this.#dropEnded(order, (ended_at, id) => ended_at < order.before && !keep.has(id));
    this.#dropWhere((stored) => {
      const isLoose = stored.runtime_id === null ? isStray(replayRow(stored)) : !this.#isOnRecord(stored.runtime_id);
      return isLoose && stored.event.ingested_at < order.before;
    });
    const bases = order.compact === undefined ? 0 : this.#compact(order.compact);
    const auditBefore = this.#audit.length;
    this.#audit = this.#audit.filter((record) => record.at >= order.auditBefore);
    this.#auditDropped += auditBefore - this.#audit.length;
    const snapshots = this.#dropSnapshots(order);
    runtimes += this.#dropOverSize(order, keep);
    return {
      events: eventsBefore + bases - this.#events.size,
      runtimes,
      audit: auditBefore - this.#audit.length,
      snapshots,
      bytes: Math.max(0, bytesBefore - this.#bytes()),
    };
  }

  /** Returns how many bases were written. */
  #compact({ runtimes, before, dueBefore, baseOf }: CompactOrder): number {
    let bases = 0;
    for (const runtime of runtimes) {
      const own = [...this.#events.values()].filter(
        (one) => one.runtime_id === runtime && one.event.fact.kind !== 'runtime.started',
      );
      const known = own.some((one) => one.event.ingested_at < dueBefore) ? baseOf(runtime) : null;
      if (known === null) continue;
      const old = own.filter((one) => one.event.ingested_at < before && one.event_id <= known.upTo);
      if (old.length === 0) continue;
      this.#append(known.base);
      bases += 1;
      for (const { event_id } of old) this.#drop(event_id);
    }
    return bases;
  }

  /** Memory has no disk that could be full. */
  pruneWhenFull(order: PruneOrder): Promise<PruneReport> {
    return this.prune(order);
  }

  async close(): Promise<void> {
    this.#open = false;
  }

  #assertOpen(): void {
    if (!this.#open) throw new AgtmuxError('E_STORE_IO', 'the event log is closed');
  }

  /** Everything that could fail is asked before anything is changed: all of a commit, or nothing. */
  #check(commit: Commit): void {
    assert(commit.feed_version >= this.#feedVersion, 'versions of the feed never go back (FED2)');
    for (const { event } of commit.events) {
      for (const number of [event.key.major, event.key.minor, event.time, event.ingested_at]) {
        assert(Number.isFinite(number), `an event's order key and times are finite numbers, not ${number}`);
      }
    }
    const lastId = this.#lastId + commit.events.length;
    for (const { event_id } of commit.rebindings) {
      assert(event_id > 0 && event_id <= lastId, `event ${event_id} is rebound but was never logged`);
    }
  }

  #append(event: NewEvent): EventId {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#events.set(id, { ...event, event_id: id });
    const text = identityText({ target: event.event.evidence.target, ...event.event });
    const ids = this.#ids.get(text);
    if (ids === undefined) this.#ids.set(text, [id]);
    else ids.push(id);
    return id;
  }

  #drop(id: EventId): void {
    const stored = this.#events.get(id);
    if (stored === undefined) return;
    this.#events.delete(id);
    const text = identityText({ target: stored.event.evidence.target, ...stored.event });
    const others = (this.#ids.get(text) ?? []).filter((other) => other !== id);
    if (others.length === 0) this.#ids.delete(text);
    else this.#ids.set(text, others);
  }

  #dropWhere(goes: (stored: StoredEvent) => boolean): void {
    for (const stored of [...this.#events.values()]) if (goes(stored)) this.#drop(stored.event_id);
  }

  #isOnRecord(runtime: RuntimeId | null): boolean {
    return runtime !== null && this.#runtimes.has(runtime);
  }

  /** Ended runtimes that should go, oldest end first; returns how many went. */
  #dropEnded({ onDropped }: PruneOrder, goes: (ended_at: number, runtime: RuntimeId) => boolean): number {
    const ended = [...this.#runtimes.values()]
      .filter((record) => record.ended_at !== null && goes(record.ended_at, record.identity.runtime_id))
      .map((record) => record.identity.runtime_id);
    for (const runtime of ended) {
      this.#dropRuntime(runtime);
      onDropped?.(runtime);
    }
    return ended.length;
  }

  #dropRuntime(runtime: RuntimeId): void {
    this.#dropWhere((stored) => stored.runtime_id === runtime);
    this.#runtimes.delete(runtime);
    this.#states.delete(runtime);
    this.#places.delete(runtime);
  }

  #dropSnapshots({ before, snapshotsMax }: PruneOrder): number {
    const newestFirst = [...this.#snapshots.values()].sort((one, other) => other.observed_at - one.observed_at);
    const goes = newestFirst.filter(({ observed_at }, index) => observed_at < before || index >= snapshotsMax);
    for (const { snapshot_id } of goes) this.#snapshots.delete(snapshot_id);
    return goes.length;
  }

  #dropOverSize(order: PruneOrder, keep: ReadonlySet<RuntimeId>): number {
    let dropped = 0;
    while (this.#bytes() > order.bytesMax) {
      const ends = [...this.#runtimes.values()]
        .filter((record) => !keep.has(record.identity.runtime_id))
        .flatMap((record) => record.ended_at ?? [])
        .filter((ended_at) => ended_at < (order.endedBefore ?? Number.MAX_VALUE));
      if (ends.length === 0) break;
      const oldest = Math.min(...ends);
      dropped += this.#dropEnded(order, (ended_at, id) => ended_at === oldest && !keep.has(id));
    }
    if (this.#bytes() > order.bytesMax)
      this.#dropWhere((stored) => stored.runtime_id === null && isStray(replayRow(stored)));
    return dropped;
  }

  /** About what the events would take on a disk. */
  #bytes(): number {
    let bytes = 0;
    for (const { event } of this.#events.values()) bytes += JSON.stringify(event).length;
    return bytes;
  }
}

function identityText({ target, source, dedupe_key }: EventIdentity): string {
  return JSON.stringify([storable(target), source, storable(dedupe_key)]);
}

/** As SQLite orders text keys: by their bytes. */
function inKeyOrder<Kept>(records: ReadonlyMap<string, Kept>): Kept[] {
  return [...records]
    .sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    .map(([, kept]) => kept);
}
