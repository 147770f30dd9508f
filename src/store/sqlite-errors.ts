// What SQLite's and the file system's errors mean to agtmux: locked, full, damaged, or plain I/O trouble. Errors that mean
// a defect of agtmux itself pass through unchanged.

import { AgtmuxError } from '../model/errors.ts';

/** SQLite's primary result codes; the upper bits of an extended code say more. */
const primary = {
  error: 1,
  permission: 3,
  busy: 5,
  locked: 6,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  constraint: 19,
  notDatabase: 26,
} as const;

/** Extended codes of reads that failed: the bytes are there no more. */
const readFailures: readonly number[] = [266, 522, 8458];

export function sqliteCodeOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null;
  return typeof error.errcode === 'number' ? error.errcode : null;
}

function systemCodeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function damaged(what: string, cause?: unknown): AgtmuxError {
  return new AgtmuxError('E_STORE_DAMAGED', `the event log is damaged: ${what}`, { cause });
}

/** The failure behind an error of SQLite or of a file call; anything else comes back as it is. */
export function storeError(error: unknown, doing: string): unknown {
  if (error instanceof AgtmuxError) return error;
  const code = sqliteCodeOf(error);
  return code === null ? ofSystem(error, doing) : ofSqlite(error, code, doing);
}

function ofSqlite(error: unknown, code: number, doing: string): unknown {
  const words = `cannot ${doing}: ${wordsOf(error)}`;
  switch (code & 0xff) {
    case primary.busy:
    case primary.locked:
      return new AgtmuxError('E_STORE_LOCKED', words, { cause: error });
    case primary.full:
      return new AgtmuxError('E_STORE_FULL', words, { cause: error });
    case primary.corrupt:
    case primary.notDatabase:
      return damaged(wordsOf(error), error);
    case primary.io:
      return readFailures.includes(code)
        ? damaged(wordsOf(error), error)
        : new AgtmuxError('E_STORE_IO', words, { cause: error });
    case primary.permission:
    case primary.readOnly:
    case primary.cannotOpen:
      return new AgtmuxError('E_STORE_IO', words, { cause: error });
    case primary.constraint:
      return new AgtmuxError('E_INTERNAL', words, { cause: error });
    default:
      return error;
  }
}

function ofSystem(error: unknown, doing: string): unknown {
  const words = `cannot ${doing}: ${wordsOf(error)}`;
  switch (systemCodeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new AgtmuxError('E_STORE_FULL', words, { cause: error });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'EIO':
    case 'EISDIR':
    case 'ENOTDIR':
      return new AgtmuxError('E_STORE_IO', words, { cause: error });
    // An integer that no number of ours can be: a changed byte in a row.
    case 'ERR_OUT_OF_RANGE':
      return damaged(wordsOf(error), error);
    default:
      return error;
  }
}

/** While a database is being opened and its schema is not verified yet, a query that does not compile means damage. */
export function openingError(error: unknown, doing: string): unknown {
  const mapped = storeError(error, doing);
  return sqliteCodeOf(mapped) === primary.error ? damaged(wordsOf(mapped), mapped) : mapped;
}

export function isDamage(error: unknown): boolean {
  return error instanceof AgtmuxError && error.code === 'E_STORE_DAMAGED';
}
