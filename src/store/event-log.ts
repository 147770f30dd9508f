// The event log on SQLite: append, rebind, look up copies, replay with verification, remove. Every row that is read, changed
// or removed has passed its checksum first, so a damaged index can hide a row but never make another one act in its place.

import { assert } from '../model/errors.ts';
import type { EventId, RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { NewEvent, Rebinding, StoredEvent } from '../model/records.ts';
import { sourceCodes } from './codes.ts';
import type { StoreDatabase } from './database.ts';
import { addCrc, checkDigest, type Digest, type Head, removeCrc } from './head.ts';
import { IdentityFilter } from './identity-filter.ts';
import { prepareRows, type Row, type SQLInputValue } from './node-sqlite.ts';
import { encodeEvent, eventColumns, generationOf, identityHash, LoggedRow, seal, storable } from './row.ts';
import { damaged } from './sqlite-errors.ts';
import { type EventIdentity, eachOnce, type KnownCopy, type ReplayRow } from './store.ts';

const columns = eventColumns.join(', ');

/** Events that were encoded, and after the transaction have their ids. */
export type Encoded = SQLInputValue[];

function prepareStatements(database: StoreDatabase) {
  const { connection } = database;
  return {
    insert: connection.prepare(`INSERT INTO events (${columns}) VALUES (${eventColumns.map(() => '?').join(', ')})`),
    rebind: connection.prepare('UPDATE events SET runtime_id = ?, verdict = ?, crc = ? WHERE event_id = ?'),
    remove: connection.prepare('DELETE FROM events WHERE event_id = ?'),
    byId: prepareRows(connection, `SELECT ${columns} FROM events WHERE event_id = ?`),
    older: prepareRows(
      connection,
      `SELECT ${columns} FROM events WHERE event_id < ? ORDER BY event_id DESC LIMIT ${limits.storeReplayRowsMax}`,
    ),
    copies: prepareRows(
      connection,
      `SELECT ${columns} FROM events INDEXED BY events_by_identity WHERE event_id >> 14 = ? AND identity = ?`,
    ),
    latestOf: prepareRows(
      connection,
      `SELECT ${columns} FROM events INDEXED BY events_by_runtime WHERE runtime_id = ? ORDER BY event_id DESC LIMIT ?`,
    ),
    oldest: prepareRows(connection, `SELECT ${columns} FROM events WHERE event_id > ? ORDER BY event_id LIMIT ?`),
    oldestOf: prepareRows(
      connection,
      `SELECT ${columns} FROM events INDEXED BY events_by_runtime
       WHERE runtime_id IS ? AND event_id > ? AND event_id <= ? ORDER BY event_id LIMIT ?`,
    ),
    // Found by their generation, as look-ups find them; in parts, so that no sum outgrows a number.
    identityTotals: prepareRows(
      connection,
      `SELECT count(*), total(event_id), total(identity & 0xffffff), total(identity >> 24)
       FROM events INDEXED BY events_by_identity WHERE event_id >> 14 = ?`,
    ),
    identityCount: prepareRows(connection, 'SELECT count(*) FROM events INDEXED BY events_by_identity'),
    runtimeTotals: prepareRows(
      connection,
      'SELECT runtime_id, count(*), sum(event_id) FROM events INDEXED BY events_by_runtime GROUP BY runtime_id',
    ),
    identities: prepareRows(connection, 'SELECT event_id, identity FROM events WHERE event_id > ? LIMIT 4096'),
    nextRuntime: prepareRows(
      connection,
      'SELECT runtime_id FROM events INDEXED BY events_by_runtime WHERE runtime_id > ? ORDER BY runtime_id LIMIT 1',
    ),
  };
}

export class EventLog {
  readonly #database: StoreDatabase;
  readonly #sql: ReturnType<typeof prepareStatements>;
  /** Null until the log has been walked through once in this process. */
  #filter: IdentityFilter | null = null;

  constructor(database: StoreDatabase) {
    this.#database = database;
    this.#sql = database.read('prepare the event log', () => prepareStatements(database));
  }

  encode(events: readonly NewEvent[]): Encoded[] {
    return events.map(encodeEvent);
  }

  /** Inside a transaction. */
  append(head: Head, encoded: readonly Encoded[]): EventId[] {
    const ids: EventId[] = [];
    for (const values of encoded) {
      const id = head.last_event_id + 1;
      addCrc(head.digests.events, seal(values, id));
      this.#sql.insert.run(...values);
      head.last_event_id = id;
      ids.push(id);
    }
    return ids;
  }

  /** Copies of these events will be found. To remember what was then rolled back costs one look in vain. */
  remember(encoded: readonly Encoded[]): void {
    if (this.#filter === null) return;
    for (const values of encoded) this.#filter.add(values[0] as number, values[12] as number);
  }

  /** Inside a transaction. Events that retention dropped in the meantime are passed over. */
  rebind(head: Head, rebindings: readonly Rebinding[]): void {
    for (const { event_id, runtime_id: runtime, verdict } of rebindings) {
      assert(event_id > 0 && event_id <= head.last_event_id, `event ${event_id} is rebound but was never logged`);
      const [row] = this.#sql.byId(event_id);
      if (row === undefined) continue;
      const logged = new LoggedRow(row);
      const runtime_id = runtime === null ? null : (storable(runtime) as RuntimeId);
      const { verdictCode, crc } = logged.rebound(runtime_id, verdict);
      this.#sql.rebind.run(runtime_id, verdictCode, crc, event_id);
      removeCrc(head.digests.events, logged.crc);
      addCrc(head.digests.events, crc);
    }
  }

  /** Inside a transaction. */
  remove(head: Head, rows: readonly LoggedRow[]): void {
    for (const row of rows) {
      const { changes } = this.#sql.remove.run(row.event_id);
      if (Number(changes) !== 1) throw damaged(`event ${row.event_id} cannot be found by its id`);
      removeCrc(head.digests.events, row.crc);
    }
  }

  known(identities: readonly EventIdentity[]): KnownCopy[] {
    this.#filter ??= this.#buildFilter();
    const copies: KnownCopy[] = [];
    for (const identity of identities) {
      const target = storable(identity.target);
      const dedupe_key = storable(identity.dedupe_key);
      const { source } = identity;
      const hash = identityHash({ target: target as EventIdentity['target'], source, dedupe_key });
      for (const generation of this.#filter.candidates(hash)) {
        for (const row of this.#sql.copies(generation, hash)) {
          // The hash only finds candidates: another event may share it.
          if (row[10] !== target || row[11] !== dedupe_key || row[2] !== sourceCodes[source]) continue;
          const { event_id, runtime_id, key } = new LoggedRow(row);
          copies.push({ ...identity, event_id, runtime_id, key });
        }
      }
    }
    return eachOnce(copies);
  }

  eventsOf(runtime: RuntimeId, countMax: number): StoredEvent[] {
    return this.#sql.latestOf(runtime, countMax).map((row) => verified(row, runtime).stored());
  }

  /** Events of whomever that stand after `after`, oldest first. */
  oldest(after: EventId, countMax: number): LoggedRow[] {
    const read = (): LoggedRow[] => this.#sql.oldest(after, countMax).map((row) => new LoggedRow(row));
    return this.#database.read('read events', read);
  }

  /** Events of one runtime, or of none, that stand after `after` and not after `upTo`; oldest first. */
  oldestOf(runtime: RuntimeId | null, after: EventId, upTo: EventId, countMax: number): LoggedRow[] {
    return this.#database.read('read events', () =>
      this.#sql.oldestOf(runtime, after, upTo, countMax).map((row) => verified(row, runtime)),
    );
  }

  /** The runtime that has events and comes next by its name; null after the last one. */
  nextRuntime(after: string): RuntimeId | null {
    const [row] = this.#database.read('read events', () => this.#sql.nextRuntime(after));
    return row === undefined ? null : (row[0] as RuntimeId);
  }

  /** Newest first, each row verified, the whole against the head, and the indexes against the rows. */
  replay(visit: (row: ReplayRow) => void): number {
    const filter = new IdentityFilter();
    const digest: Digest = { count: 0, sum: 0 };
    const totals = new Totals();
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const rows = this.#database.read('read the event log', () => this.#sql.older(before));
      if (rows.length === 0) break;
      for (const row of rows) {
        const logged = new LoggedRow(row);
        if (logged.event_id >= before) throw damaged(`event ${logged.event_id} stands in the wrong place`);
        before = logged.event_id;
        addCrc(digest, logged.crc);
        totals.add(logged);
        filter.add(logged.event_id, logged.identity);
        visit(logged);
      }
    }
    checkDigest('events', digest, this.#database.head);
    this.#database.read('check the indexes of the event log', () =>
      totals.check(this.#sql.identityTotals, this.#sql.identityCount, this.#sql.runtimeTotals),
    );
    this.#filter = filter;
    return digest.count;
  }

  #buildFilter(): IdentityFilter {
    const filter = new IdentityFilter();
    for (let after = 0; ; ) {
      const rows = this.#sql.identities(after);
      if (rows.length === 0) return filter;
      for (const row of rows) {
        after = row[0] as EventId;
        filter.add(after, row[1] as number);
      }
    }
  }
}

function verified(row: Row, runtime: RuntimeId | null): LoggedRow {
  const logged = new LoggedRow(row);
  if (logged.runtime_id !== runtime) throw damaged(`the index of runtimes names event ${logged.event_id} wrongly`);
  return logged;
}

type Query = (...values: SQLInputValue[]) => Row[];

/** What one generation of the index of identities must add up to: entries, ids, low and high part of the identities. */
class GenerationTotals {
  count = 0;
  ids = 0;
  low = 0;
  high = 0;

  add(row: LoggedRow): void {
    this.count += 1;
    this.ids += row.event_id;
    this.low += row.identity % 2 ** 24;
    this.high += Math.floor(row.identity / 2 ** 24);
  }

  fits(found: Row | undefined): boolean {
    return found?.[0] === this.count && found[1] === this.ids && found[2] === this.low && found[3] === this.high;
  }
}

/** What the indexes must add up to. SQLite answers queries from an index without looking at the row behind it. */
class Totals {
  readonly #generations = new Map<number, GenerationTotals>();
  readonly #runtimes = new Map<string | null, { count: number; ids: number }>();
  #count = 0;

  add(row: LoggedRow): void {
    this.#count += 1;
    const generation = generationOf(row.event_id);
    const totals = this.#generations.get(generation) ?? new GenerationTotals();
    if (totals.count === 0) this.#generations.set(generation, totals);
    totals.add(row);
    const total = this.#runtimes.get(row.runtime_id);
    if (total === undefined) this.#runtimes.set(row.runtime_id, { count: 1, ids: row.event_id });
    else {
      total.count += 1;
      total.ids += row.event_id;
    }
  }

  check(ofGeneration: Query, countAll: Query, ofRuntimes: Query): void {
    const generationsFit = [...this.#generations].every(([generation, totals]) =>
      totals.fits(ofGeneration(generation)[0]),
    );
    if (!generationsFit || countAll()[0]?.[0] !== this.#count) {
      throw damaged('the index of identities does not fit the events');
    }
    const rows = ofRuntimes();
    const runtimesFit = rows.every(([name, count, ids]) => {
      const total = this.#runtimes.get(name as string | null);
      return total !== undefined && total.count === count && total.ids === ids;
    });
    if (!runtimesFit || rows.length !== this.#runtimes.size) {
      throw damaged('the index of runtimes does not fit the events');
    }
  }
}
