// One question to a database that another program keeps and may be writing: read only, answered at once or not at all.

import { openDatabase, prepareRows } from './node-sqlite.ts';
import { sqliteCodeOf } from './sqlite-errors.ts';

/** The texts in the first column; null when there is no such database, it is of another kind, or it is locked now. */
export function textsFrom(path: string, query: string, values: readonly (string | number)[]): readonly string[] | null {
  try {
    const database = openDatabase(path, { readOnly: true });
    try {
      return prepareRows(database, query)(...values).flatMap(([text]) => (typeof text === 'string' ? [text] : []));
    } finally {
      database.close();
    }
  } catch (error) {
    if (sqliteCodeOf(error) === null) throw error;
    return null;
  }
}
