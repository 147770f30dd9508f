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
  /** What such a schema kept in files of its own, under the names that they were put aside by: the copy alone lacks it. */
  readonly files: readonly string[];
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
  return copy === undefined ? '' : `, or go back: ${stepsBack(path, copy)}`;
}

/** From one of the copies to the log that it was. */
export function stepsBack(path: string, { path: copy, files }: StoreCopy): string {
  const rest = files.length === 0 ? '' : `, and take .backup from the names of ${files.join(', ')} beside it`;
  return `stop the daemon, then move ${copy} to ${path}${rest}`;
}

/** Names, messages and notices stand in the log from this schema on; they were files before. */
const documentsSchema = 3;
const fileNames = ['acting.json', 'notices.json', 'notices.log', 'web.json'].map((name) => `${name}.backup`);

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
  const all = namesIn(dirname(path));
  const names = all.filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)));
  return names.map((name) => {
    const schema = Number(name.slice(prefix.length));
    const copy = join(dirname(path), basename(backupPath(path, schema)));
    const files = schema < documentsSchema ? fileNames.filter((one) => all.includes(one)) : [];
    return { path: copy, schema, bytes: statSync(copy, { throwIfNoEntry: false })?.size ?? 0, files };
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
