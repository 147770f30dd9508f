// What agents have used, in a database of its own: made from their records, and thrown away and made again whenever it is
// damaged or of another version. Nothing is decided by it.

import { rmSync } from 'node:fs';
import { type DatabaseSync, openDatabase, prepareRows } from './node-sqlite.ts';
import { createPrivate } from './private-file.ts';

/** Another table, another meaning of a row, another way to read a record: another version. */
const version = 1;

const schema = `
CREATE TABLE records (path TEXT PRIMARY KEY, id TEXT NOT NULL, offset INTEGER NOT NULL, stamp REAL NOT NULL,
  broken INTEGER NOT NULL, state TEXT NOT NULL) STRICT;
CREATE TABLE answers (agent TEXT NOT NULL, key TEXT NOT NULL, time INTEGER NOT NULL, day TEXT NOT NULL,
  session TEXT NOT NULL, project TEXT NOT NULL, model TEXT NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, cost REAL, PRIMARY KEY (agent, key)) STRICT, WITHOUT ROWID;
CREATE INDEX answers_by_day ON answers (day);
PRAGMA user_version = ${version};`;

/** How far a record was read. */
export interface ReadRecord {
  readonly path: string;
  /** Of the file: another one under the same name is read from its beginning. */
  readonly id: string;
  readonly offset: number;
  readonly stamp: number;
  readonly broken: number;
  readonly state: Readonly<Record<string, unknown>>;
}

export interface KeptAnswer {
  readonly agent: string;
  readonly key: string;
  readonly time: number;
  readonly day: string;
  readonly session: string;
  readonly project: string;
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly cost: number | null;
}

/** One group and one model: prices differ. */
export interface ModelSum {
  readonly name: string;
  readonly agent: string;
  readonly model: string;
  readonly answers: number;
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
  /** Told by the agent itself. */
  readonly cost: number;
  /** Of those whose agent tells no cost. */
  readonly uncosted: Readonly<Record<'input' | 'output' | 'cache_read' | 'cache_write', number>>;
}

export type AnswerColumn = 'agent' | 'project' | 'day' | 'model' | 'session';

export interface UsageDatabase {
  records(): readonly ReadRecord[];
  /** Together, or not at all. Of two answers of one key the one with more output stays. */
  put(record: ReadRecord, answers: readonly KeptAnswer[]): void;
  sums(by: AnswerColumn, since: string): readonly ModelSum[];
  /** By conversation, what the model was given with its last answer. */
  contexts(since: string): ReadonlyMap<string, number>;
  close(): void;
}

/** A database that cannot be opened or is of another version is made anew. */
export function openUsageDatabase(path: string): UsageDatabase {
  try {
    return usageDatabase(opened(path));
  } catch {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${end}`, { force: true });
    return usageDatabase(opened(path));
  }
}

function opened(path: string): DatabaseSync {
  if (path !== ':memory:') createPrivate(path);
  const database = openDatabase(path);
  try {
    // What is lost with the power is read again.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8000;');
    const found = Number(prepareRows(database, 'PRAGMA user_version')()[0]?.[0]);
    if (found === 0) database.exec(schema);
    else if (found !== version) throw new Error('it is of another version');
    prepareRows(database, 'SELECT count(*) FROM records')();
    return database;
  } catch (problem) {
    database.close();
    throw problem;
  }
}

function usageDatabase(database: DatabaseSync): UsageDatabase {
  const putRecord = database.prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?)');
  const putAnswer = database.prepare(`INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (agent, key) DO UPDATE SET time = excluded.time, day = excluded.day, session = excluded.session,
    project = excluded.project, model = excluded.model, input = excluded.input, output = excluded.output,
    cache_read = excluded.cache_read, cache_write = excluded.cache_write, cost = excluded.cost
    WHERE excluded.output > output OR (excluded.output = output AND excluded.input > input)`);
  const allRecords = prepareRows(database, 'SELECT path, id, offset, stamp, broken, state FROM records');
  return {
    records: () =>
      allRecords().map(([path, id, offset, stamp, broken, state]) => ({
        path: String(path),
        id: String(id),
        offset: Number(offset),
        stamp: Number(stamp),
        broken: Number(broken),
        state: JSON.parse(String(state)) as Readonly<Record<string, unknown>>,
      })),
    put({ path, id, offset, stamp, broken, state }, answers) {
      database.exec('BEGIN');
      try {
        for (const one of answers) {
          const { agent, key, time, day, session, project, model } = one;
          const counts = [one.input, one.output, one.cache_read, one.cache_write].map(Math.round);
          putAnswer.run(agent, key, Math.round(time), day, session, project, model, ...counts, one.cost);
        }
        putRecord.run(path, id, offset, stamp, broken, JSON.stringify(state));
        database.exec('COMMIT');
      } catch (problem) {
        database.exec('ROLLBACK');
        throw problem;
      }
    },
    sums: (by, since) => sumsOf(database, by, since),
    contexts(since) {
      const rows = prepareRows(
        database,
        `SELECT session, input + cache_read + cache_write, max(time) FROM answers
         WHERE day >= ? AND session <> '' GROUP BY agent, session`,
      )(since);
      return new Map(rows.map(([session, tokens]) => [String(session), Number(tokens)]));
    },
    close: () => database.close(),
  };
}

function sumsOf(database: DatabaseSync, by: AnswerColumn, since: string): readonly ModelSum[] {
  const counts = ['input', 'output', 'cache_read', 'cache_write'];
  const own = counts.map((name) => `sum(CASE WHEN cost IS NULL THEN ${name} ELSE 0 END)`);
  const sql = `SELECT ${by}, agent, model, count(*), ${counts.map((name) => `sum(${name})`).join(', ')},
    sum(coalesce(cost, 0)), ${own.join(', ')} FROM answers WHERE day >= ? GROUP BY ${by}, agent, model`;
  return prepareRows(
    database,
    sql,
  )(since).map((row) => {
    const number = (place: number): number => Number(row[place]);
    return {
      name: String(row[0]),
      agent: String(row[1]),
      model: String(row[2]),
      answers: number(3),
      input: number(4),
      output: number(5),
      cache_read: number(6),
      cache_write: number(7),
      cost: number(8),
      uncosted: { input: number(9), output: number(10), cache_read: number(11), cache_write: number(12) },
    };
  });
}
