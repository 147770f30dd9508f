// An open store file: connection, settings, head, and the one way to change anything (`transact`). It knows tables only by
// their names; what stands in them is the business of event-log.ts and keyed-table.ts.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { lockPathOf } from '../platform/lock-holder.ts';
import { copyHead, decodeHead, type Head } from './head.ts';
import { HeadFile, type HeadMark, readMark } from './head-file.ts';
import {
  type Migrated,
  type Migration,
  migrate,
  prepareHeadWrite,
  readMeta,
  rollBack,
  verifiedVersion,
} from './migrations.ts';
import { type DatabaseSync, openDatabase, prepareRows } from './node-sqlite.ts';
import { createPrivate, refuseForeign } from './private-file.ts';
import { damaged, isDamage, openingError, storeError } from './sqlite-errors.ts';

export interface StorePaths {
  readonly database: string;
  readonly wal: string;
  readonly head: string;
  readonly lock: string;
  readonly ballast: string;
}

export function storePaths(dir: string): StorePaths {
  const database = join(dir, 'agtmux.db');
  return {
    database,
    wal: `${database}-wal`,
    head: join(dir, 'agtmux.head'),
    lock: lockPathOf(dir),
    ballast: join(dir, 'agtmux.ballast'),
  };
}

export interface DatabaseOptions {
  readonly paths: StorePaths;
  /** For a new store. */
  readonly storeId: string;
  readonly migrations: readonly Migration[];
  /** The file may not grow beyond this many pages; null for no bound. */
  readonly pagesMax: number | null;
  /** Pages kept in memory. */
  readonly cacheKib: number;
}

export class StoreDatabase {
  readonly paths: StorePaths;
  readonly connection: DatabaseSync;
  /** What opening it changed; null when it had the newest schema. */
  readonly migrated: Migrated | null;
  readonly #headFile: HeadFile;
  readonly #writeHead: (head: Head) => void;
  #head: Head;
  #open = true;
  #isDamaged = false;

  /** The caller holds the lock. Throws E_STORE_DAMAGED, E_STORE_NEWER or E_STORE_IO and leaves nothing open. */
  constructor(options: DatabaseOptions) {
    this.paths = options.paths;
    for (const path of Object.values(this.paths)) refuseForeign(path);
    const mark = readMark(this.paths.head);
    refuseLostFile(this.paths.database, mark);
    createPrivate(this.paths.database);
    this.connection = openDatabase(this.paths.database);
    try {
      configure(this.connection, options);
      const found = verifiedVersion(this.connection);
      if (found === 0 && mark !== null && mark.commits > 0) throw damaged('it is empty, but events were committed');
      this.migrated = migrate(this.connection, this.paths.database, found, options.migrations, options.storeId);
      this.#head = readHead(this.connection);
      refuseLostTail(this.#head, mark);
      this.#writeHead = prepareHeadWrite(this.connection);
      refuseReadOnly(this.connection, this.paths.database);
    } catch (error) {
      this.connection.close();
      throw openingError(error, `open ${this.paths.database}`);
    }
    this.#headFile = new HeadFile(this.paths.head);
    this.#headFile.write(this.#head);
  }

  get head(): Readonly<Head> {
    return this.#head;
  }

  /** Runs `work` in one transaction with full sync: all of it is on disk when this returns, or none of it ever. */
  transact<Result>(doing: string, work: (head: Head) => Result): Result {
    const result = this.#transact(doing, work);
    this.#headFile.write(this.#head);
    return result;
  }

  /**
   * For what nobody is told is done. It is not synced: a machine that loses its power may lose it, together with all that
   * came later and was not synced either. The next commit with full sync, or a checkpoint, keeps it. The mark of how far
   * commits have come is left behind, because it may never be ahead of the disk.
   */
  transactUnsynced<Result>(doing: string, work: (head: Head) => Result): Result {
    return this.#unsynced(() => this.#transact(doing, work));
  }

  #transact<Result>(doing: string, work: (head: Head) => Result): Result {
    this.assertOpen();
    const head = copyHead(this.#head);
    head.commits += 1;
    let result: Result;
    try {
      this.connection.exec('BEGIN IMMEDIATE');
      result = work(head);
      this.#writeHead(head);
      this.connection.exec('COMMIT');
    } catch (error) {
      rollBack(this.connection);
      throw this.#noted(storeError(error, doing));
    }
    this.#head = head;
    return result;
  }

  /** In the write-ahead log the order of what is written is kept, so what is synced later holds all that came before. */
  #unsynced<Result>(work: () => Result): Result {
    this.assertOpen();
    this.connection.exec('PRAGMA synchronous = NORMAL');
    try {
      return work();
    } finally {
      this.connection.exec('PRAGMA synchronous = FULL');
    }
  }

  /** Runs a read; what SQLite says is wrong becomes a failure with a code. */
  read<Result>(doing: string, work: () => Result): Result {
    this.assertOpen();
    try {
      return work();
    } catch (error) {
      throw this.#noted(storeError(error, doing));
    }
  }

  /** Structure of the whole file: pages, order of keys, free list. Contents are for the checksums to judge. */
  checkStructure(): void {
    this.read('check the event log', () => {
      const rows = prepareRows(this.connection, 'PRAGMA quick_check(1)')();
      if (rows.length !== 1 || rows[0]?.[0] !== 'ok') throw damaged(String(rows[0]?.[0]));
    });
  }

  /** Bytes of live content, without what pruning has already freed. */
  usedBytes(): number {
    return (this.#pragma('page_count') - this.#pragma('freelist_count')) * this.#pragma('page_size');
  }

  freePages(): number {
    return this.#pragma('freelist_count');
  }

  /** Folds the write-ahead log into the file and empties it. False when it could not be done completely. */
  checkpoint(): boolean {
    this.assertOpen();
    try {
      return prepareRows(this.connection, 'PRAGMA wal_checkpoint(TRUNCATE)')()[0]?.[0] === 0;
    } catch (error) {
      const mapped = storeError(error, 'fold the write-ahead log into the file');
      if (mapped instanceof AgtmuxError && mapped.code === 'E_STORE_FULL') return false;
      throw mapped;
    }
  }

  /** From now on the write-ahead log is folded into the file at this many pages. */
  foldAt(pages: number): void {
    this.assertOpen();
    this.connection.exec(`PRAGMA wal_autocheckpoint = ${pages}`);
  }

  /** Gives free pages back to the file system. */
  vacuum(pagesMax: number): void {
    const shrink = (): void => this.connection.exec(`PRAGMA incremental_vacuum(${pagesMax})`);
    this.#unsynced(() => this.read('shrink the event log', shrink));
  }

  /** True once anything that was read was not what had been written. */
  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  #noted(error: unknown): unknown {
    if (isDamage(error)) this.#isDamaged = true;
    return error;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  assertOpen(): void {
    if (!this.#open) throw new AgtmuxError('E_STORE_IO', 'the event log is closed');
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#headFile.close();
    this.connection.close();
  }

  #pragma(name: string): number {
    return this.read('measure the event log', () => Number(prepareRows(this.connection, `PRAGMA ${name}`)()[0]?.[0]));
  }
}

function configure(connection: DatabaseSync, { pagesMax, cacheKib }: DatabaseOptions): void {
  // Exclusive locking comes before the first read: then SQLite keeps its index of the log in memory, in no shared file.
  connection.exec(`
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA cell_size_check = ON;
    PRAGMA trusted_schema = OFF;
    PRAGMA temp_store = MEMORY;
    PRAGMA mmap_size = 0;
    PRAGMA cache_size = -${cacheKib};
  `);
  const mode = prepareRows(connection, 'PRAGMA journal_mode = WAL')()[0]?.[0];
  if (mode !== 'wal') throw damaged(`its journal mode is ${String(mode)}`);
  connection.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${limits.storeWalPagesMax};`);
  if (pagesMax !== null) connection.exec(`PRAGMA max_page_count = ${pagesMax}`);
}

function readHead(connection: DatabaseSync): Head {
  const text = readMeta(connection, 'head');
  if (text === null) throw damaged('its head row is missing');
  return decodeHead(text);
}

/** SQLite would start a file anew that is gone or empty, and remove the write-ahead log beside it. */
function refuseLostFile(path: string, mark: HeadMark | null): void {
  if (mark === null || mark.commits === 0) return;
  if (!existsSync(path) || statSync(path).size === 0) throw damaged('it is gone, but events were committed');
}

function refuseLostTail(head: Head, mark: HeadMark | null): void {
  if (mark === null || mark.store_id !== head.store_id || mark.commits <= head.commits) return;
  throw damaged(`it ends at commit ${head.commits}, but commit ${mark.commits} was acknowledged`);
}

/** A changed byte in the file header can make SQLite read a file but never write it; better to know now. */
function refuseReadOnly(connection: DatabaseSync, path: string): void {
  try {
    connection.exec('BEGIN IMMEDIATE; ROLLBACK;');
  } catch (error) {
    // Unless the file system forbids it too.
    accessSync(path, constants.W_OK);
    throw isReadOnly(error) ? damaged('its header makes it read-only', error) : error;
  }
}

function isReadOnly(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 8;
}
