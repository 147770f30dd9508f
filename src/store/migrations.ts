// Numbered steps from one schema to the next. All steps that are due run in one transaction, after a copy of the
// file was put beside it: a crash at any point leaves the old schema or the new one, never something between.

import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { AgtmuxError } from '../model/errors.ts';
import { encodeHead, type Head, metaCrc, newHead, storeIdCharsMax } from './head.ts';
import { type DatabaseSync, openDatabase, prepareRows } from './node-sqlite.ts';
import { schema1, schema2, schema3 } from './schema.ts';
import { damaged, openingError } from './sqlite-errors.ts';

export interface Migration {
  /** One more than the step before. */
  readonly version: number;
  readonly words: string;
  apply(database: DatabaseSync): void;
}

export const migrations: readonly Migration[] = [
  { version: 1, words: 'the event log and its projections', apply: (database) => database.exec(schema1) },
  { version: 2, words: 'the last place of each runtime', apply: (database) => database.exec(schema2) },
  { version: 3, words: 'documents instead of files and cursors', apply: (database) => database.exec(schema3) },
];

interface SchemaRow {
  readonly version: number;
  /** Of the text of all tables and indexes: a changed byte in it could change what a query means. */
  readonly crc: number;
}

/** An older schema that became the newest, and the copy that was made before. */
export interface Migrated {
  readonly from: number;
  readonly to: number;
  readonly backup: string;
}

/** Brings an open database from schema `found` to the newest. `store_id` is used when the database is new. */
export function migrate(
  database: DatabaseSync,
  path: string,
  found: number,
  steps: readonly Migration[],
  store_id: string,
): Migrated | null {
  const newest = steps.length;
  if (found > newest) {
    const backup = backupPath(path, newest);
    throw new AgtmuxError(
      'E_STORE_NEWER',
      `the event log has schema ${found}, this agtmux supports schemas up to ${newest}`,
      existsSync(backup) ? { next: `upgrade agtmux, or go back: move ${backup} to ${path}` } : {},
    );
  }
  if (found === newest) return null;
  if (found > 0) backUp(database, path, found);
  database.exec('BEGIN EXCLUSIVE');
  try {
    for (const step of steps.slice(found)) step.apply(database);
    if (found === 0) putMeta(database, 'head', encodeHead(newHead(store_id)));
    const schema: SchemaRow = { version: newest, crc: schemaCrc(database) };
    putMeta(database, 'schema', JSON.stringify(schema));
    database.exec(`PRAGMA user_version = ${newest}`);
    database.exec('COMMIT');
  } catch (error) {
    rollBack(database);
    throw openingError(error, 'bring the event log to the newest schema');
  }
  foldSchema(database);
  if (found === 0) return null;
  dropOlderBackups(path, found);
  return { from: found, to: newest, backup: backupPath(path, found) };
}

/** Into the file itself: whoever may not open it while a daemon has it reads its schema there. */
function foldSchema(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // A full disk: it is safe in the write-ahead log, and folded later.
  }
}

export function rollBack(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // SQLite had already ended the transaction by itself.
  }
}

/**
 * The schema version in the file header, believed only when the checksummed row and the schema itself agree with it.
 * 0 for an empty database.
 */
export function verifiedVersion(database: DatabaseSync): number {
  const version = Number(prepareRows(database, 'PRAGMA user_version')()[0]?.[0]);
  const [tables] = prepareRows(database, 'SELECT count(*) FROM sqlite_schema')();
  if (version === 0 && tables?.[0] === 0) return 0;
  const text = readMeta(database, 'schema');
  const schema = text === null ? null : (JSON.parse(text) as SchemaRow);
  if (schema === null || schema.version !== version) throw damaged(`schema version ${version} is not what was written`);
  if (schema.crc !== schemaCrc(database)) throw damaged('the schema is not what was written');
  return version;
}

function schemaCrc(database: DatabaseSync): number {
  const rows = prepareRows(database, 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name')();
  return crc32(JSON.stringify(rows));
}

/** The value of a meta row, null when there is none. */
export function readMeta(database: DatabaseSync, name: string): string | null {
  const [row] = prepareRows(database, 'SELECT value, crc FROM meta WHERE name = ?')(name);
  if (row === undefined) return null;
  const value = String(row[0]);
  if (row[1] !== metaCrc(name, value)) throw damaged(`meta row ${name} does not match its checksum`);
  return value;
}

function putMeta(database: DatabaseSync, name: string, value: string): void {
  const put = database.prepare('INSERT OR REPLACE INTO meta (name, value, crc) VALUES (?, ?, ?)');
  put.run(name, value, metaCrc(name, value));
}

export function prepareHeadWrite(database: DatabaseSync): (head: Head) => void {
  const update = database.prepare("UPDATE meta SET value = ?, crc = ? WHERE name = 'head'");
  return (head) => {
    const value = encodeHead(head);
    const { changes } = update.run(value, metaCrc('head', value));
    if (Number(changes) !== 1) throw damaged('the head row is gone');
  };
}

export const backupPath = (path: string, version: number): string => `${path}.backup-${version}`;

/** A whole copy under a passing name first: a name without `.part` is always a complete file. */
function backUp(database: DatabaseSync, path: string, version: number): void {
  const part = `${backupPath(path, version)}.part`;
  rmSync(part, { force: true });
  // SQLite takes an empty file as it is, so the copy is private from its first byte (SEC1).
  closeSync(openSync(part, 'wx', 0o600));
  try {
    database.exec(`VACUUM INTO '${part.replaceAll("'", "''")}'`);
    nameAnew(part);
  } catch (error) {
    rmSync(part, { force: true });
    throw openingError(error, 'copy the event log before its schema changes');
  }
  const file = openSync(part, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(part, backupPath(path, version));
}

/** A copy is a store of its own: the mark beside the original says nothing about it, so it can be put back as it is. */
function nameAnew(path: string): void {
  const copy = openDatabase(path);
  try {
    const head = readMeta(copy, 'head');
    if (head === null) throw damaged('its head row is missing');
    const { store_id, ...rest } = JSON.parse(head) as Head;
    putMeta(copy, 'head', JSON.stringify({ ...rest, store_id: `${store_id}b`.slice(-storeIdCharsMax) }));
  } finally {
    copy.close();
  }
}

function dropOlderBackups(path: string, newest: number): void {
  const prefix = `${basename(path)}.backup-`;
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(prefix) && name !== `${prefix}${newest}`) rmSync(join(dirname(path), name), { force: true });
  }
}
