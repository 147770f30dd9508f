// Saves from a damaged log what cannot make a state look certain: that runtimes started and ended and where they were, the
// audit trail, the known targets, and what people said; only rows whose own checksum holds. Steps over unreadable places and gives up after a bounded
// number of them.

import { limits } from '../model/limits.ts';
import type {
  AdapterRecord,
  AuditRecord,
  DocumentRecord,
  PlaceRecord,
  StoredEvent,
  TargetRecord,
} from '../model/records.ts';
import { type DatabaseSync, openDatabase, prepareRows, type Row } from './node-sqlite.ts';
import { eventColumns, LoggedRow } from './row.ts';
import {
  adapterTable,
  auditTable,
  documentTable,
  isSound,
  placeTable,
  type TableShape,
  targetTable,
} from './tables.ts';

export interface Salvage {
  /** runtime.started, runtime.ended and server.seen only, oldest first. */
  readonly events: readonly StoredEvent[];
  readonly audit: readonly AuditRecord[];
  readonly targets: readonly TargetRecord[];
  readonly places: readonly PlaceRecord[];
  readonly adapters: readonly AdapterRecord[];
  /** Without who is signed in: an older row of it could let somebody in again who was signed out. */
  readonly documents: readonly DocumentRecord[];
}

export const nothingSaved: Salvage = { events: [], audit: [], targets: [], places: [], adapters: [], documents: [] };

/** What lets somebody in: a damaged log lets nobody in. */
const keyKinds: ReadonlySet<string> = new Set(['web_server', 'editor']);

const savedKinds: readonly string[] = ['runtime.started', 'runtime.ended', 'server.seen'];

export function salvage(path: string): Salvage {
  let database: DatabaseSync;
  try {
    database = openDatabase(path);
  } catch {
    return nothingSaved;
  }
  try {
    ignoring(() =>
      database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0;'),
    );
    return {
      events: readable(database, { table: 'events', columns: eventColumns, id: 'event_id' }, savedEvent),
      audit: readable(
        database,
        { table: 'audit', columns: [...auditTable.columns, 'crc'], id: 'audit_id' },
        savedAudit,
      ),
      targets: ignoring(() => allRows(database, targetTable)) ?? [],
      places: ignoring(() => allRows(database, placeTable)) ?? [],
      adapters: ignoring(() => allRows(database, adapterTable)) ?? [],
      documents: (ignoring(() => allRows(database, documentTable)) ?? []).filter(({ kind }) => !keyKinds.has(kind)),
    };
  } finally {
    ignoring(() => database.close());
  }
}

function savedEvent(row: Row): StoredEvent[] {
  return (
    ignoring(() => {
      const logged = new LoggedRow(row);
      return savedKinds.includes(logged.kind) ? [logged.stored()] : [];
    }) ?? []
  );
}

function savedAudit(row: Row): AuditRecord[] {
  if (!isSound(auditTable, row)) return [];
  const { audit_id: _, ...record } = auditTable.decode(row);
  return [record];
}

function allRows<Kept>(database: DatabaseSync, table: TableShape<Kept>): Kept[] {
  const rows = prepareRows(database, `SELECT ${table.columns.join(', ')}, crc FROM ${table.name}`)();
  return rows.filter((row) => isSound(table, row)).map((row) => table.decode(row));
}

interface NumberedTable {
  readonly table: string;
  readonly columns: readonly string[];
  /** The column that numbers the rows; it comes first. */
  readonly id: string;
}

/**
 * Every row that can be read, in the order of its number. A read that fails is tried again for fewer rows; when not even
 * one can be read, the place is stepped over, in doubling steps until there is solid ground again.
 */
function readable<Kept>(database: DatabaseSync, place: NumberedTable, keep: (row: Row) => Kept[]): Kept[] {
  const { table, columns, id } = place;
  const query = `SELECT ${columns.join(', ')} FROM ${table} WHERE ${id} >= ? ORDER BY ${id} LIMIT ?`;
  const read = ignoring(() => prepareRows(database, query));
  if (read === undefined) return [];
  const kept: Kept[] = [];
  let from = 1;
  let count = countMax;
  let stride = 1;
  for (let failures = 0; failures < limits.salvageFailuresMax && from < Number.MAX_SAFE_INTEGER; ) {
    const found = risingFrom(
      from,
      ignoring(() => read(from, count)),
    );
    if (found !== null && found.length === 0) break;
    if (found !== null) {
      kept.push(...found.flatMap(keep));
      from = (found.at(-1)?.[0] as number) + 1;
      count = Math.min(count * 2, countMax);
      stride = 1;
    } else {
      failures += 1;
      if (count === 1) {
        from += stride;
        stride *= 2;
      }
      count = Math.max(1, Math.floor(count / 8));
    }
  }
  return kept;
}

const countMax = 1_024;

/** Rows whose numbers do not rise come from a damaged tree: the read counts as failed. */
function risingFrom(from: number, rows: Row[] | undefined): Row[] | null {
  if (rows === undefined) return null;
  let last = from - 1;
  for (const row of rows) {
    if (typeof row[0] !== 'number' || row[0] <= last) return null;
    last = row[0];
  }
  return rows;
}

/** Undefined when it failed: here every failure is the damage itself. */
function ignoring<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
