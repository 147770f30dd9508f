// One daemon per state directory. The lock is an empty SQLite file that stays locked as long as its holder lives: the
// system frees it with the process, so it can be neither stale nor forged by a reused pid. It is apart from the log
// because the log can be set aside and made anew while the lock is held.

import { closeSync, constants, ftruncateSync, openSync } from 'node:fs';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { lockHolderOf } from '../platform/lock-holder.ts';
import { type DatabaseSync, openDatabase } from './node-sqlite.ts';
import { createPrivate } from './private-file.ts';
import { isDamage, storeError } from './sqlite-errors.ts';

export interface StoreLock {
  release(): void;
}

/** Locks end when they are released or with the process, never because the garbage collector found no one using them. */
const held = new Set<StoreLock>();

/** Throws E_STORE_LOCKED when another process, or another store of this one, holds the directory. */
export function takeLock(path: string): StoreLock {
  createPrivate(path);
  try {
    return lockOnce(path);
  } catch (error) {
    const mapped = storeError(error, 'lock the state directory');
    if (isDamage(mapped)) {
      // Nothing is ever written into the lock, so whatever stands in it is not ours to keep.
      emptyFile(path);
      return lockOnce(path);
    }
    if (!(mapped instanceof AgtmuxError) || mapped.code !== 'E_STORE_LOCKED') throw mapped;
    const holder = lockHolderOf(path);
    const words = holder === null ? 'another process holds' : `process ${holder} holds`;
    throw new AgtmuxError('E_STORE_LOCKED', `${words} ${path}`, { cause: error });
  }
}

function lockOnce(path: string): StoreLock {
  const database: DatabaseSync = openDatabase(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${limits.storeLockWaitMs}`);
    // No journal beside it: there is nothing to roll back.
    database.exec('PRAGMA journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    throw error;
  }
  const lock: StoreLock = {
    release: () => {
      if (held.delete(lock)) database.close();
    },
  };
  held.add(lock);
  return lock;
}

function emptyFile(path: string): void {
  const file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    ftruncateSync(file, 0);
  } finally {
    closeSync(file);
  }
}
