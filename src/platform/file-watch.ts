// Looking at files that other programs write, as a port: what stands at a path, a piece of it, the names in a folder, and
// the system's hint that something in a folder changed. A hint may be missing or lost, so nobody relies on one alone.

import { constants, type FSWatcher, lstat, lstatSync, type Stats, stat, watch } from 'node:fs';
import { type FileHandle, open, opendir } from 'node:fs/promises';
import { assertAbsolute, errorCodeOf, FileError } from './files.ts';

export interface FileLook {
  readonly kind: 'file' | 'directory' | 'socket' | 'other';
  /** Device and inode: another one under the same name is another file. */
  readonly id: string;
  readonly sizeBytes: number;
  /** Wall time of this machine, with fractions: two writes may lie in one millisecond. */
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly uid: number;
  /** Reached through a link: its folder gives no hint when it changes. */
  readonly isLink: boolean;
}

export interface FilePiece {
  readonly look: FileLook;
  readonly bytes: Uint8Array;
}

export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

export interface FolderHint {
  close(): void;
}

export interface FileWatch {
  /** Of what a link leads to; null when nothing is there. */
  look(path: string): Promise<FileLook | null>;
  /** At most `bytesMax` bytes of a regular file from `from` on; null when nothing is there, EINVAL when it is no file. */
  readPiece(path: string, from: number, bytesMax: number): Promise<FilePiece | null>;
  /** At most `entriesMax` names, in no order; null when there is no such folder. */
  entries(folder: string, entriesMax: number): Promise<{ entries: readonly FolderEntry[]; more: boolean } | null>;
  /**
   * Calls `onHint` with the name that changed, null when the system does not say which; `onLost` once when no more
   * hints will come. Null where the system gives none: no such folder, no watches left.
   */
  hint(folder: string, onHint: (name: string | null) => void, onLost: () => void): FolderHint | null;
  /** Something stands at the path, if only a link to nothing. Asked at once, without the thread pool. */
  isThere(path: string): boolean;
}

export function createRealFileWatch(): FileWatch {
  return {
    look: (path) => orNull('look at', path, () => lookAt(path)),
    readPiece: (path, from, bytesMax) => orNull('read', path, () => readPiece(path, from, bytesMax)),
    entries: (folder, entriesMax) => orNull('list', folder, () => entriesOf(folder, entriesMax)),
    hint: hintOf,
    isThere,
  };
}

/** What may not be looked at is there for all that is known. */
function isThere(path: string): boolean {
  assertAbsolute(path);
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    return !absent.includes(errorCodeOf(error) ?? '');
  }
}

/** Callbacks instead of promises: hundreds of looks are taken together, and each costs half. */
function statWith(how: typeof lstat, path: string): Promise<Stats> {
  return new Promise((resolve, reject) => {
    how(path, (error, stats) => (error === null ? resolve(stats) : reject(error)));
  });
}

async function lookAt(path: string): Promise<FileLook> {
  const own = await statWith(lstat, path);
  return own.isSymbolicLink() ? lookOf(await statWith(stat as typeof lstat, path), true) : lookOf(own, false);
}

function lookOf(stats: Stats, isLink: boolean): FileLook {
  return {
    kind: kindOf(stats),
    id: `${stats.dev}:${stats.ino}`,
    sizeBytes: stats.size,
    mtimeMs: stats.mtimeMs,
    ctimeMs: stats.ctimeMs,
    uid: stats.uid,
    isLink,
  };
}

function kindOf(stats: Stats): FileLook['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSocket() ? 'socket' : 'other';
}

async function readPiece(path: string, from: number, bytesMax: number): Promise<FilePiece> {
  // A pipe must not hold us up, and a terminal must not become ours.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new FileError('read', path, 'EINVAL');
    const room = Math.max(0, Math.min(bytesMax, stats.size - from));
    return { look: lookOf(stats, false), bytes: await fill(handle, from, room) };
  } finally {
    await handle.close();
  }
}

async function fill(handle: FileHandle, from: number, room: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(room);
  let filled = 0;
  while (filled < room) {
    const { bytesRead } = await handle.read(buffer, filled, room - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

async function entriesOf(
  folder: string,
  entriesMax: number,
): Promise<{ entries: readonly FolderEntry[]; more: boolean }> {
  const entries: FolderEntry[] = [];
  // Leaving the loop closes the folder.
  for await (const entry of await opendir(folder, { bufferSize: 256 })) {
    if (entries.length >= entriesMax) return { entries, more: true };
    entries.push({ name: entry.name, isFolder: entry.isDirectory() });
  }
  return { entries, more: false };
}

function hintOf(folder: string, onHint: (name: string | null) => void, onLost: () => void): FolderHint | null {
  assertAbsolute(folder);
  let watcher: FSWatcher;
  try {
    // Not a reason for the process to live on.
    watcher = watch(folder, { persistent: false });
  } catch (error) {
    if (errorCodeOf(error) === null) throw error;
    return null;
  }
  const ownName = folder.slice(folder.lastIndexOf('/') + 1);
  let open = true;
  const close = (): void => {
    open = false;
    watcher.close();
  };
  const lost = (): void => {
    if (!open) return;
    close();
    onLost();
  };
  watcher.on('change', (_kind, name) => {
    if (!open) return;
    const text = typeof name === 'string' ? name : null;
    onHint(text);
    // The folder itself was moved or removed: the watch stays with what is no longer there.
    if (text === ownName) lost();
  });
  watcher.on('error', lost);
  return { close };
}

const absent = ['ENOENT', 'ENOTDIR'];

async function orNull<Value>(operation: string, path: string, work: () => Promise<Value>): Promise<Value | null> {
  assertAbsolute(path);
  try {
    return await work();
  } catch (error) {
    if (error instanceof FileError) throw error;
    const code = errorCodeOf(error);
    if (code === null) throw error;
    if (absent.includes(code)) return null;
    throw new FileError(operation, path, code, error);
  }
}
