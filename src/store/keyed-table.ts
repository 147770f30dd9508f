// One small table: rows by key, each with its checksum, all of them counted in the head. Shared by every projection and
// register of the store.

import type { StoreDatabase } from './database.ts';
import { addCrc, checkDigest, type Digest, type Head, removeCrc } from './head.ts';
import { prepareRows, type Row, type SQLInputValue } from './node-sqlite.ts';
import { damaged } from './sqlite-errors.ts';
import { decodeRow, encodeRow, type TableShape } from './tables.ts';

export class KeyedTable<Kept> {
  readonly #database: StoreDatabase;
  readonly #shape: TableShape<Kept>;
  readonly #sql: ReturnType<typeof prepareStatements>;

  constructor(database: StoreDatabase, shape: TableShape<Kept>) {
    this.#database = database;
    this.#shape = shape;
    this.#sql = database.read(`prepare table ${shape.name}`, () => prepareStatements(database, shape));
  }

  /** Inside a transaction: inserts, or replaces the row with the same key. */
  put(head: Head, record: Kept): void {
    const values = encodeRow(this.#shape, record);
    const key = values.slice(0, this.#shape.keyColumns);
    const digest = head.digests[this.#shape.name];
    const [old] = this.#sql.crcOf(...key);
    if (old !== undefined) removeCrc(digest, old[0] as number);
    this.#sql.put.run(...values);
    addCrc(digest, values.at(-1) as number);
  }

  /** Inside a transaction: removes all rows whose key begins with these values; returns how many. */
  remove(head: Head, ...key: SQLInputValue[]): number {
    const rows = this.#verified(this.#sql.under(key.length)(...key));
    return this.removeRows(head, rows);
  }

  /** Inside a transaction: removes rows that were read from this table. */
  removeRows(head: Head, rows: readonly Row[]): number {
    for (const row of rows) {
      const { changes } = this.#sql.remove.run(...(row.slice(0, this.#shape.keyColumns) as SQLInputValue[]));
      if (Number(changes) !== 1) throw damaged(`a row of ${this.#shape.name} cannot be found by its key`);
      removeCrc(head.digests[this.#shape.name], row.at(-1) as number);
    }
    return rows.length;
  }

  /** All records in the order of their keys, verified against the head. */
  all(): Kept[] {
    const { name } = this.#shape;
    return this.#database.read(`read table ${name}`, () => {
      const digest: Digest = { count: 0, sum: 0 };
      const records = this.#sql.all().map((row) => {
        addCrc(digest, row.at(-1) as number);
        return decodeRow(this.#shape, row);
      });
      checkDigest(name, digest, this.#database.head);
      return records;
    });
  }

  /** The records whose key begins with these values. */
  under(...key: SQLInputValue[]): Kept[] {
    const { name } = this.#shape;
    return this.#database.read(`read table ${name}`, () =>
      this.#sql
        .under(key.length)(...key)
        .map((row) => decodeRow(this.#shape, row)),
    );
  }

  /** Verified rows of a query of the caller's own; it must select all columns of this table. */
  select(sql: string, ...values: SQLInputValue[]): Row[] {
    const { name } = this.#shape;
    return this.#database.read(`read table ${name}`, () => {
      const query = `SELECT ${this.#sql.columns} FROM ${name} ${sql}`;
      return this.#verified(prepareRows(this.#database.connection, query)(...values));
    });
  }

  decode(row: Row): Kept {
    return this.#shape.decode(row);
  }

  #verified(rows: Row[]): Row[] {
    for (const row of rows) decodeRow(this.#shape, row);
    return rows;
  }
}

function prepareStatements<Kept>({ connection }: StoreDatabase, { name, columns, keyColumns }: TableShape<Kept>) {
  const names = [...columns, 'crc'];
  const key = columns.slice(0, keyColumns);
  const where = (count: number): string =>
    key
      .slice(0, count)
      .map((column) => `${column} = ?`)
      .join(' AND ');
  const updates = names.slice(keyColumns).map((column) => `${column} = excluded.${column}`);
  const under = key.map((_, index) =>
    prepareRows(
      connection,
      `SELECT ${names.join(', ')} FROM ${name} WHERE ${where(index + 1)} ORDER BY ${key.join(', ')}`,
    ),
  );
  return {
    columns: names.join(', '),
    // Only the key may be met again; a clash of any other unique rule is a defect and must fail.
    put: connection.prepare(
      `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
       ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${updates.join(', ')}`,
    ),
    crcOf: prepareRows(connection, `SELECT crc FROM ${name} WHERE ${where(keyColumns)}`),
    remove: connection.prepare(`DELETE FROM ${name} WHERE ${where(keyColumns)}`),
    all: prepareRows(connection, `SELECT ${names.join(', ')} FROM ${name} ORDER BY ${key.join(', ')}`),
    under: (count: number): ((...values: SQLInputValue[]) => Row[]) => {
      const query = under[count - 1];
      if (query === undefined) throw new Error(`broken invariant: ${name} has ${keyColumns} key columns, not ${count}`);
      return query;
    },
  };
}
