// What is told of a file, and how it is told that nothing could be. Apart from the port in files.ts and without node:fs/promises,
// because every command looks at the socket of the daemon before it says a word, and loads no more for that.

import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { isAbsolute } from 'node:path';
import { assert } from '../model/errors.ts';
import { errorCodeOf } from './error-code.ts';

export type FileKind = 'file' | 'directory' | 'link' | 'socket' | 'other';

export interface FileStat {
  readonly kind: FileKind;
  readonly sizeBytes: number;
  /** Permission bits with set-id and sticky, 0 to 0o7777. */
  readonly mode: number;
  readonly uid: number;
  /** Wall time of this machine. */
  readonly mtimeMs: number;
}

/** The file could neither be written whole nor put back: what should stand in it is in `copy`. */
export class CutShortError extends Error {
  readonly code: string;
  readonly copy: string;

  constructor(code: string, copy: string, cause: unknown) {
    super(`written in part only: ${code}`, { cause });
    this.name = 'CutShortError';
    this.code = code;
    this.copy = copy;
  }
}

export class FileError extends Error {
  /** The system's name of the trouble: ENOSPC, EIO, EACCES. */
  readonly code: string;
  readonly operation: string;
  readonly path: string;

  constructor(operation: string, path: string, code: string, cause?: unknown) {
    const copy =
      cause instanceof CutShortError ? `; it may be cut short, what should stand in it is in ${cause.copy}` : '';
    super(`cannot ${operation} ${path}: ${code}${copy}`, cause === undefined ? undefined : { cause });
    this.name = 'FileError';
    this.code = code;
    this.operation = operation;
    this.path = path;
  }
}

export function assertAbsolute(path: string): void {
  assert(isAbsolute(path), `paths are absolute, not ${path}`);
}

export function statOf(stats: Stats): FileStat {
  return {
    kind: kindOf(stats),
    sizeBytes: stats.size,
    mode: stats.mode & 0o7777,
    uid: stats.uid,
    mtimeMs: Math.floor(stats.mtimeMs),
  };
}

function kindOf(stats: Stats): FileKind {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isSocket()) return 'socket';
  return 'other';
}

/** What a client needs to look at before it speaks. */
export interface PathFiles {
  /** Of the thing itself: a link is told as a link. */
  stat(path: string): Promise<FileStat | null>;
  readLink(path: string): Promise<string | null>;
}

/** Looks at once: a handful of names, each of them in memory, are told before a thread could be asked. */
export function createPathFiles(): PathFiles {
  return {
    stat: async (path) => orNull('stat', path, () => statOf(lstatSync(path))),
    readLink: async (path) => orNull('read the link', path, () => readlinkSync(path)),
  };
}

function orNull<Value>(operation: string, path: string, work: () => Value): Value | null {
  assertAbsolute(path);
  try {
    return work();
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ENOENT') return null;
    if (code === null) throw error;
    throw new FileError(operation, path, code, error);
  }
}
