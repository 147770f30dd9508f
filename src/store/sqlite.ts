// The store on SQLite: the contract of store.ts, carried out by the event log and the small tables, and what a daemon needs
// besides when the disk is full. How to open one after a crash or damage is in recover.ts.

import { existsSync } from 'node:fs';
import { AgtmuxError, assert } from '../model/errors.ts';
import type { EventId, RuntimeId, TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type {
  AdapterRecord,
  AuditRecord,
  DocumentChange,
  DocumentKind,
  DocumentRecord,
  NumberedAudit,
  PlaceRecord,
  RuntimeRecord,
  SnapshotRecord,
  StateRecord,
  StoredEvent,
  TargetRecord,
} from '../model/records.ts';
import { createRealFiles } from '../platform/files.ts';
import { ensurePrivateDirectory } from '../platform/private-directory.ts';
import { createRealRandom, type RandomSource } from '../platform/random.ts';
import { Ballast } from './ballast.ts';
import { StoreDatabase, type StorePaths, storePaths } from './database.ts';
import { EventLog } from './event-log.ts';
import type { Head } from './head.ts';
import { type StoreLock, takeLock } from './lock.ts';
import { type Migrated, type Migration, migrations } from './migrations.ts';
import { Retention } from './retention.ts';
import { nothingSaved, type Salvage, salvage } from './salvage.ts';
import { declareNewLogWhole, discardNewLog, newLogPaths, putNewLogInPlace } from './set-aside.ts';
import type {
  Commit,
  EventIdentity,
  KnownCopy,
  NewLog,
  PruneOrder,
  PruneReport,
  PruneTurn,
  ReplayRow,
  Store,
} from './store.ts';
import { openTables, type StoreTables, verifyTables } from './store-tables.ts';

export interface SqliteStoreOptions {
  /** The state directory: created 0700 when missing, refused when anyone else can use it (SEC1). */
  readonly dir: string;
  /** Wall time, for names and stamps. */
  readonly now: () => number;
  readonly ballastBytes?: number;
  readonly random?: RandomSource;
  /** Called between two steps of pruning; the daemon lets its other work run here. */
  readonly pause?: () => Promise<void>;
  /** Other schemas than the shipped ones, for tests of upgrades. */
  readonly migrations?: readonly Migration[];
  /** A bound on the size of the file in pages; a full disk in miniature. */
  readonly pagesMax?: number;
  /** How much of the file is kept in memory; little makes every read a read from the disk. */
  readonly cacheKib?: number;
}

/** Makes the directory safe to use and takes it for this process. */
export async function lockDirectory(options: SqliteStoreOptions): Promise<StoreLock> {
  const uid = process.getuid?.();
  assert(uid !== undefined, 'agtmux runs on systems with user ids');
  const checked = await ensurePrivateDirectory(createRealFiles(), options.dir, uid);
  if (!checked.ok) {
    const { code, message, next } = checked.failure;
    throw new AgtmuxError(code, message, { next });
  }
  return takeLock(storePaths(options.dir).lock);
}

/** Opens the store without reading the log. E_STORE_LOCKED, E_UNSAFE_DIR, E_STORE_NEWER, E_STORE_DAMAGED, E_STORE_IO. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const lock = await lockDirectory(options);
  try {
    return new SqliteStore(options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

interface OpenFile {
  readonly database: StoreDatabase;
  readonly log: EventLog;
  readonly tables: StoreTables;
}

function openFile(options: SqliteStoreOptions, random: RandomSource, paths: StorePaths): OpenFile {
  const database = new StoreDatabase({
    paths,
    storeId: random.hex(16),
    migrations: options.migrations ?? migrations,
    pagesMax: options.pagesMax ?? null,
    cacheKib: options.cacheKib ?? limits.storeCacheKib,
  });
  try {
    return { database, log: new EventLog(database), tables: openTables(database) };
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Replaces a damaged log by a new one that begins with what `begin` makes of what could be saved. All of it is in the new
 * file before the damaged one is moved, so it may be killed at any step and repeated after any failure: nothing is lost by
 * that and nothing is there twice. The caller holds the lock; nothing is open.
 */
export function replaceLog(
  options: SqliteStoreOptions,
  random: RandomSource,
  begin: (saved: Salvage) => Commit,
): NewLog {
  const paths = storePaths(options.dir);
  // A try that failed at the very end left one that is whole.
  putNewLogInPlace(paths, options.now());
  discardNewLog(paths);
  const saved = existsSync(paths.database) ? salvage(paths.database) : nothingSaved;
  try {
    const ids = writeNewLog(openFile(options, random, newLogPaths(paths)), saved, begin(saved));
    declareNewLogWhole(paths);
    return { ids, setAside: putNewLogInPlace(paths, options.now())?.setAside ?? null };
  } catch (error) {
    discardNewLog(paths);
    throw error;
  }
}

function writeNewLog(made: OpenFile, saved: Salvage, commit: Commit): readonly EventId[] {
  const known = new Set(commit.runtimes.map(({ identity }) => identity.runtime_id));
  try {
    const events = made.log.encode(commit.events);
    const ids = made.database.transact('begin a new event log', (head) => {
      for (const target of saved.targets) made.tables.targets.put(head, target);
      for (const adapter of saved.adapters) made.tables.adapters.put(head, adapter);
      for (const document of saved.documents) made.tables.documents.put(head, document);
      const ids = write(made, head, events, { ...commit, audit: [...saved.audit, ...commit.audit] });
      for (const place of saved.places) if (known.has(place.runtime_id)) made.tables.places.put(head, place);
      return ids;
    });
    // One file that can be moved: nothing of it is left in its write-ahead log.
    if (!made.database.checkpoint()) throw new AgtmuxError('E_STORE_FULL', 'there is no room for a new event log');
    return ids;
  } finally {
    made.database.close();
  }
}

/** One commit, inside a transaction. */
function write(
  { log, tables }: OpenFile,
  head: Head,
  events: ReturnType<EventLog['encode']>,
  commit: Commit,
): readonly EventId[] {
  assert(commit.feed_version >= head.feed_version, 'versions of the feed never go back (FED2)');
  head.feed_version = commit.feed_version;
  const appended = log.append(head, events);
  log.rebind(head, commit.rebindings);
  for (const record of commit.runtimes) tables.runtimes.put(head, record);
  for (const record of commit.states) tables.states.put(head, record);
  for (const record of commit.audit) {
    head.last_audit_id += 1;
    tables.audit.put(head, { ...record, audit_id: head.last_audit_id });
  }
  return appended;
}

/** For whoever has the log to himself. */
const atOnce: PruneTurn = async (step) => step();

export class SqliteStore implements Store {
  readonly #options: SqliteStoreOptions;
  readonly #lock: StoreLock;
  readonly #random: RandomSource;
  readonly #ballast: Ballast;
  #open: OpenFile;
  #pruning: Promise<unknown> = Promise.resolve();
  /** The damaged log is closed and its place not taken by a new one yet. */
  #isReplaced = false;
  timesStartedOver = 0;

  /** The caller has the lock of the directory; the store releases it when it is closed. */
  constructor(options: SqliteStoreOptions, lock: StoreLock) {
    this.#random = options.random ?? createRealRandom();
    this.#options = options;
    this.#lock = lock;
    this.#open = openFile(options, this.#random, storePaths(options.dir));
    const ballastBytes = options.ballastBytes ?? limits.ballastBytes;
    this.#ballast = new Ballast(this.#database.paths.ballast, ballastBytes, this.#random);
    this.#ballast.restore();
  }

  get #database(): StoreDatabase {
    return this.#open.database;
  }

  get #log(): EventLog {
    return this.#open.log;
  }

  get #tables(): StoreTables {
    return this.#open.tables;
  }

  get migrated(): Migrated | null {
    return this.#database.migrated;
  }

  get isDamaged(): boolean {
    return this.#isReplaced || this.#database.isDamaged;
  }

  async startOver(begin: (saved: readonly StoredEvent[]) => Commit): Promise<NewLog> {
    // Pruning that is under way is not waited for, it may be waiting for us: it meets a closed file and ends.
    this.#database.close();
    this.#isReplaced = true;
    const made = replaceLog(this.#options, this.#random, (saved) => begin(saved.events));
    this.#open = openFile(this.#options, this.#random, storePaths(this.#options.dir));
    this.#isReplaced = false;
    this.timesStartedOver += 1;
    return made;
  }

  async commit(commit: Commit): Promise<readonly EventId[]> {
    const encoded = this.#log.encode(commit.events);
    const ids = this.#database.transact('commit to the event log', (head) => write(this.#open, head, encoded, commit));
    this.#log.remember(encoded);
    return ids;
  }

  async replay(visit: (row: ReplayRow) => void): Promise<{ readonly events: number; readonly feed_version: number }> {
    this.#database.checkStructure();
    verifyTables(this.#tables);
    const events = this.#log.replay(visit);
    return { events, feed_version: this.#database.head.feed_version };
  }

  async known(identities: readonly EventIdentity[]): Promise<readonly KnownCopy[]> {
    return this.#database.read('look up events', () => this.#log.known(identities));
  }

  async eventsOf(runtime: RuntimeId, countMax: number): Promise<readonly StoredEvent[]> {
    return this.#database.read('read events', () => this.#log.eventsOf(runtime, countMax));
  }

  async states(): Promise<readonly StateRecord[]> {
    return this.#tables.states.all();
  }

  async runtimes(): Promise<readonly RuntimeRecord[]> {
    return this.#tables.runtimes.all();
  }

  async audit(countMax: number): Promise<readonly AuditRecord[]> {
    return this.#tables.audit.select('ORDER BY audit_id DESC LIMIT ?', countMax).map((row) => {
      const { audit_id: _, ...record } = this.#tables.audit.decode(row);
      return record;
    });
  }

  async auditAfter(number: number | null, countMax: number): Promise<readonly NumberedAudit[]> {
    const { audit } = this.#tables;
    const rows =
      number === null
        ? audit.select('ORDER BY audit_id DESC LIMIT 1')
        : audit.select('WHERE audit_id > ? ORDER BY audit_id LIMIT ?', number, countMax);
    return rows.map((row) => audit.decode(row));
  }

  async targets(): Promise<readonly TargetRecord[]> {
    return this.#tables.targets.all();
  }

  async putTarget(target: TargetRecord): Promise<void> {
    this.#database.transact('store a target', (head) => this.#tables.targets.put(head, target));
  }

  async removeTarget(target: TargetId): Promise<void> {
    this.#database.transact('remove a target', (head) => this.#tables.targets.remove(head, target));
  }

  async places(): Promise<readonly PlaceRecord[]> {
    return this.#tables.places.all();
  }

  async putPlaces(places: readonly PlaceRecord[]): Promise<void> {
    const known = places.filter(({ runtime_id }) => this.#tables.runtimes.under(runtime_id).length > 0);
    if (known.length === 0) return;
    this.#database.transact('store places', (head) => {
      for (const place of known) this.#tables.places.put(head, place);
    });
  }

  async putSnapshot(snapshot: SnapshotRecord): Promise<void> {
    this.#database.transact('store a snapshot', (head) => this.#tables.snapshots.put(head, snapshot));
  }

  async snapshot(id: SnapshotRecord['snapshot_id']): Promise<SnapshotRecord | null> {
    return this.#tables.snapshots.under(id)[0] ?? null;
  }

  async adapters(): Promise<readonly AdapterRecord[]> {
    return this.#tables.adapters.all();
  }

  async putAdapter(adapter: AdapterRecord): Promise<void> {
    this.#database.transact('store an adapter', (head) => this.#tables.adapters.put(head, adapter));
  }

  async documents(kinds: readonly DocumentKind[]): Promise<readonly DocumentRecord[]> {
    return kinds.flatMap((kind) => this.#tables.documents.under(kind).sort((one, other) => one.number - other.number));
  }

  async putDocuments({ put, remove }: DocumentChange): Promise<void> {
    if (put.length + remove.length === 0) return;
    this.#database.transact('store documents', (head) => {
      for (const { kind, id } of remove) this.#tables.documents.remove(head, kind, id);
      for (const document of put) this.#tables.documents.put(head, document);
    });
  }

  prune(order: PruneOrder, turn: PruneTurn = atOnce): Promise<PruneReport> {
    return this.#afterOthers(async () => {
      const report = await this.#retention(limits.pruneStepEventsMax, turn, false).prune(order);
      this.restoreBallast();
      return report;
    });
  }

  /** False when it was given up on a full disk, and there is not enough room yet to have it back. */
  get hasBallast(): boolean {
    return this.#ballast.isInPlace;
  }

  /** Gives the ballast up; returns how many bytes that freed. */
  freeBallast(): number {
    return this.#ballast.free();
  }

  /** Puts the ballast back when there is room for it; true when it is in place. */
  restoreBallast(): boolean {
    return this.#ballast.restore();
  }

  /**
   * After E_STORE_FULL: gives the ballast up, prunes in the space that this frees, shrinks the file, and puts the ballast
   * back when there is room. Drops ended runtimes before their time if that is what it takes. Rejects with E_STORE_FULL
   * when even that did not fit; the store stays usable and the call may be repeated.
   */
  pruneWhenFull(order: PruneOrder): Promise<PruneReport> {
    return this.#afterOthers(async () => {
      const bytes = this.freeBallast();
      this.#database.checkpoint();
      const wanted =
        this.#database.usedBytes() - 2 * Math.max(bytes, this.#options.ballastBytes ?? limits.ballastBytes);
      const bytesMax = Math.max(0, Math.min(order.bytesMax, wanted));
      const report = await this.#retention(limits.pruneFullStepEventsMax, atOnce, true).prune({ ...order, bytesMax });
      this.restoreBallast();
      return report;
    });
  }

  async close(): Promise<void> {
    this.closeNow(true);
  }

  /** For recovery, which keeps the lock while it replaces the file. */
  closeNow(release: boolean): void {
    if (!this.#database.isOpen) return;
    try {
      this.#database.close();
    } finally {
      if (release) this.#lock.release();
    }
  }

  #retention(eventsPerStep: number, turn: PruneTurn, checkpointEachStep: boolean): Retention {
    const pause = this.#options.pause ?? (() => Promise.resolve());
    return new Retention(this.#database, this.#log, this.#tables, {
      eventsPerStep,
      pagesPerStep: limits.vacuumStepPagesMax,
      turn,
      pause,
      checkpointEachStep,
    });
  }

  /** One pruning at a time. */
  #afterOthers<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#pruning.then(work);
    this.#pruning = turn.catch(() => undefined);
    return turn;
  }
}
