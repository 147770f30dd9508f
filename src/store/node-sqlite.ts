// The one import of node:sqlite. Node 22 and 24 print one ExperimentalWarning when it is first loaded; exactly that one is
// kept from the user's terminal, every other warning passes.

import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import { AgtmuxError } from '../model/errors.ts';

export type { DatabaseSync, SQLInputValue };

/** One row as a list of values in the order of the query. */
export type Row = readonly SQLOutputValue[];

export function isSqliteWarning(warning: unknown, type: unknown): boolean {
  const text = warning instanceof Error ? warning.message : warning;
  const name = warning instanceof Error ? warning.name : type;
  return name === 'ExperimentalWarning' && typeof text === 'string' && text.startsWith('SQLite is an experimental');
}

function load(): typeof import('node:sqlite') {
  const emitWarning = process.emitWarning;
  const filtered = (...given: unknown[]): void => {
    if (!isSqliteWarning(given[0], given[1])) Reflect.apply(emitWarning, process, given);
  };
  process.emitWarning = filtered as typeof process.emitWarning;
  try {
    const sqlite = process.getBuiltinModule('node:sqlite');
    if (sqlite === undefined) throw new AgtmuxError('E_RUNTIME_OLD', 'this Node has no node:sqlite');
    return sqlite;
  } finally {
    process.emitWarning = emitWarning;
  }
}

const sqlite = load();

export function openDatabase(path: string, options: { readonly readOnly?: boolean } = {}): DatabaseSync {
  return new sqlite.DatabaseSync(path, options);
}

/**
 * A prepared query that hands back whole rows as lists, which costs half of what objects with named fields cost. Where
 * Node cannot do that yet (22.13 to 22.15), the fields of the object stand in the order of the query as well. `iterate`
 * is not used anywhere: on 22.13 the garbage collector may take the statement from under it.
 */
export function prepareRows(database: DatabaseSync, sql: string): (...values: SQLInputValue[]) => Row[] {
  const statement = database.prepare(sql);
  if (typeof statement.setReturnArrays === 'function') {
    statement.setReturnArrays(true);
    return (...values) => statement.all(...values) as unknown as Row[];
  }
  return (...values) => statement.all(...values).map((row) => Object.values(row));
}
