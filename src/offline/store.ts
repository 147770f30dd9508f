// What the files of the event log say without being opened: its schema, and the copies that upgrades made. For commands that
// must know before they stop a daemon, and for `agtmux doctor`; a running daemon has the log to itself.

import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCodeOf } from '../platform/files.ts';
import { storePaths } from '../store/database.ts';
import { backupPath, migrations } from '../store/migrations.ts';

interface StoreCopy {
  readonly path: string;
  /** The schema it has. */
  readonly schema: number;
  readonly bytes: number;
}

export interface StoreFiles {
  readonly path: string;
  /** Null when there is no event log yet, nobody may read it, or what is in it stands in its write-ahead log alone. */
  readonly schema: number | null;
  /** The newest schema that this program knows. */
  readonly newest: number;
  readonly copies: readonly StoreCopy[];
}

export function lookAtStore(stateDir: string): StoreFiles {
  const path = storePaths(stateDir).database;
  return { path, schema: schemaOf(path), newest: migrations.length, copies: copiesOf(path) };
}

/** What a start did to the log, by how its files were before and are now; null when that is nothing. */
export function upgradeWords(before: StoreFiles, after: StoreFiles): string | null {
  // The schema of a log that was not closed may stand in its write-ahead log alone; its copy tells then.
  const made = after.copies.find(({ path }) => !before.copies.some((one) => one.path === path));
  const from = before.schema ?? made?.schema ?? null;
  if (from === null || after.schema === null || from >= after.schema) return null;
  const copy = after.copies.find(({ schema }) => schema === from);
  const kept = copy === undefined ? '' : `, and how it was before is kept in ${copy.path}`;
  return `the event log was brought from schema ${from} to ${after.schema}${kept}`;
}

/** How an older program gets to a log that it can open; empty when no copy of one is left. */
export function wayBack({ path, newest, copies }: StoreFiles): string {
  const copy = copies.find(({ schema }) => schema <= newest);
  return copy === undefined ? '' : `, or go back: stop the daemon, then move ${copy.path} to ${path}`;
}

const magic = 'SQLite format 3\0';
/** Where the header of a SQLite file has its user_version, as four bytes. */
const schemaAt = 60;
const headBytes = 64;

function schemaOf(path: string): number | null {
  try {
    const file = openSync(path, 'r');
    try {
      const head = Buffer.alloc(headBytes);
      const isWhole = readSync(file, head, 0, headBytes, 0) === headBytes;
      const isDatabase = isWhole && head.toString('latin1', 0, magic.length) === magic;
      return (isDatabase && head.readUInt32BE(schemaAt)) || null;
    } finally {
      closeSync(file);
    }
  } catch (problem) {
    if (errorCodeOf(problem) === null) throw problem;
    return null;
  }
}

function copiesOf(path: string): readonly StoreCopy[] {
  const prefix = `${basename(path)}.backup-`;
  const names = namesIn(dirname(path)).filter(
    (name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)),
  );
  return names.map((name) => {
    const schema = Number(name.slice(prefix.length));
    const copy = join(dirname(path), basename(backupPath(path, schema)));
    return { path: copy, schema, bytes: statSync(copy, { throwIfNoEntry: false })?.size ?? 0 };
  });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (problem) {
    if (errorCodeOf(problem) === null) throw problem;
    return [];
  }
}
