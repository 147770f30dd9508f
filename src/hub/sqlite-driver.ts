// The embedded engine: one SQLite file beside the hub, for a team on one machine. Several processes of that machine may use it:
// the hub itself, and the commands that make codes.

import { AgtmuxError } from '../model/errors.ts';
import { type DatabaseSync, openDatabase, type SQLInputValue } from '../store/node-sqlite.ts';
import { createPrivate } from '../store/private-file.ts';
import { migrations, type Query, type SqlRow } from './schema.ts';
import type { SqlDriver } from './sql-table.ts';

/** Statements are the same few again and again; those with lists of values come in many lengths. */
const statementsMax = 200;

export function createSqliteDriver(path: string): SqlDriver {
  if (path !== ':memory:') createPrivate(path);
  const database = openDatabase(path);
  // What is lost with the power the daemons tell again: their versions say so.
  database.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000; PRAGMA cache_size = -32000;',
  );
  migrate(database);
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const query: Query = async (sql, values = []) => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      if (statements.size >= statementsMax) statements.clear();
      statement = database.prepare(sql);
      statements.set(sql, statement);
    }
    return statement.all(...(values as SQLInputValue[])) as readonly SqlRow[];
  };
  let turn: Promise<unknown> = Promise.resolve();
  return {
    kind: 'sqlite',
    within(_, work) {
      const done = turn.then(async () => {
        database.exec('BEGIN IMMEDIATE');
        try {
          const value = await work(query);
          database.exec('COMMIT');
          return value;
        } catch (problem) {
          database.exec('ROLLBACK');
          throw problem;
        }
      });
      turn = done.catch(() => undefined);
      return done;
    },
    admin: query,
    tell: async () => undefined,
    // There is one hub process; what commands change are codes and links.
    onChange: () => undefined,
    async close() {
      await turn;
      database.close();
    },
  };
}

function migrate(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE');
  const found = Number(Object.values(database.prepare('PRAGMA user_version').get() ?? {})[0] ?? 0);
  if (found > migrations.length) {
    database.exec('ROLLBACK');
    throw new AgtmuxError(
      'E_STORE_NEWER',
      `the hub's database has schema ${found}, this agtmux knows ${migrations.length}`,
    );
  }
  for (const statements of migrations.slice(found)) {
    for (const sql of statements) database.exec(sql.replaceAll(/\bJSON\b/g, 'TEXT').replaceAll(/\bBIG\b/g, 'INTEGER'));
  }
  database.exec('CREATE VIEW IF NOT EXISTS tenant_names AS SELECT tenant FROM tenants');
  database.exec(`PRAGMA user_version = ${migrations.length}`);
  database.exec('COMMIT');
}
