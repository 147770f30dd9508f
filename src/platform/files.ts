// The few things agtmux does with files, as a port, and their real implementation. What is not there is a value (null or
// false); every other trouble is a FileError with the system's own code. Everything written is 0600 unless said otherwise.

import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, opendir, readlink, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assert } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { editFile, type FileEdit } from './edit-file.ts';
import { errorCodeOf } from './error-code.ts';
import { assertAbsolute, FileError, type FileStat, statOf } from './file-stat.ts';

export { assertAbsolute, FileError, type FileKind, type FileStat } from './file-stat.ts';
export { errorCodeOf };

/** Bytes and stat of one open file: the owner and the stamp belong to exactly these bytes. */
export interface FileContent {
  readonly bytes: Uint8Array;
  readonly stat: FileStat;
}

export interface DirectoryList {
  /** Sorted. When there are more than asked for, which ones are missing is the file system's choice. */
  readonly names: readonly string[];
  readonly more: boolean;
}

export interface Files {
  /**
   * A whole regular file, or null. Refuses a larger one (EFBIG), a link (ELOOP) unless `followLinks`, and what is not a
   * regular file (EISDIR, EINVAL): a pipe planted in the spool would otherwise hang the reader (T1).
   */
  read(path: string, options: { bytesMax: number; followLinks?: boolean }): Promise<FileContent | null>;
  /** After it resolves the new content survives a power cut; before, and on failure, readers see old or new, whole. */
  writeAtomic(path: string, bytes: Uint8Array, options?: { mode?: number }): Promise<void>;
  /**
   * Changes a file that belongs to somebody else, or makes a new one: false when it is not as it was, and then nothing was
   * written. Owner, mode and hard links stay. For a link give the place it leads to.
   */
  edit(path: string, edit: FileEdit): Promise<boolean>;
  /** Creates the file when needed. A failed or unsynced append may leave a part of the bytes behind. */
  append(path: string, bytes: Uint8Array, options: { sync: boolean }): Promise<void>;
  /** Null when there is no such directory. */
  list(path: string, entriesMax: number): Promise<DirectoryList | null>;
  /** Removes a file, link or socket; false when there was none. */
  remove(path: string): Promise<boolean>;
  /** Replaces what stands at `to`; false when there is nothing at `from`. Not synced. */
  rename(from: string, to: string): Promise<boolean>;
  /** Of the thing itself: a link is told as a link. */
  stat(path: string): Promise<FileStat | null>;
  readLink(path: string): Promise<string | null>;
  /**
   * Where a name leads in the end: the same word as long as it is the same file, of this size and written at this time, and
   * another one after that. Within one tick of the disk's clock it may miss a change. Null when there is nothing.
   */
  stamp(path: string): Promise<string | null>;
  /** Creates the directory and missing parents 0700. What is there already is left as it is: check it afterwards. */
  mkdirPrivate(path: string): Promise<void>;
}

export function isDiskFull(error: unknown): boolean {
  return error instanceof FileError && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

const temporaryNamePattern = /^\.agtmux-[0-9a-f]{16}\.tmp$/;

/** Whether a name in a directory is a leftover of a write that was cut short. */
export function isTemporaryName(name: string): boolean {
  return temporaryNamePattern.test(name);
}

export function temporaryName(hex16: string): string {
  const name = `.agtmux-${hex16}.tmp`;
  assert(isTemporaryName(name), 'a temporary name is made of 16 hex digits');
  return name;
}

/** Not by `node:crypto`: loading that costs a tenth of a whole `agtmux list`. */
const freshName = (): string => temporaryName(Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex'));

export const privateFileMode = 0o600;
export const privateDirectoryMode = 0o700;

export function createRealFiles(): Files {
  return {
    read: (path, options) => orNull('read', path, () => readWhole(path, options)),
    writeAtomic: (path, bytes, options) => guarded('write', path, () => writeWhole(path, bytes, options?.mode)),
    edit: (path, edit) =>
      guarded('write', path, async () => {
        const isDone = await editFile(path, join(dirname(path), freshName()), edit);
        if (isDone) await syncDirectory(dirname(path));
        return isDone;
      }),
    append: (path, bytes, options) => guarded('append to', path, () => appendBytes(path, bytes, options.sync)),
    list: (path, entriesMax) => orNull('list', path, () => listNames(path, entriesMax)),
    remove: async (path) => (await orNull('remove', path, () => unlink(path).then(() => true))) ?? false,
    rename: (from, to) => guarded('rename', from, () => moveOver(from, to)),
    stat: (path) => orNull('stat', path, async () => statOf(await lstat(path))),
    readLink: (path) => orNull('read the link', path, () => readlink(path)),
    stamp: (path) => orNull('stat', path, async () => stampOf(await stat(path, { bigint: true }))),
    mkdirPrivate: (path) =>
      guarded('make the directory', path, async () => {
        await mkdir(path, { recursive: true, mode: privateDirectoryMode });
      }),
  };
}

/** The change time too: a write time can be set. */
const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');

async function readWhole(
  path: string,
  options: { bytesMax: number; followLinks?: boolean },
): Promise<FileContent | null> {
  const noFollow = options.followLinks === true ? 0 : constants.O_NOFOLLOW;
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | noFollow);
  try {
    const stat = statOf(await handle.stat());
    if (stat.kind === 'directory') throw new FileError('read', path, 'EISDIR');
    if (stat.kind !== 'file') throw new FileError('read', path, 'EINVAL');
    if (stat.sizeBytes > options.bytesMax) throw new FileError('read', path, 'EFBIG');
    const bytes = await readToEnd(handle, stat.sizeBytes, options.bytesMax);
    if (bytes === null) throw new FileError('read', path, 'EFBIG');
    return { bytes, stat };
  } finally {
    await handle.close();
  }
}

/** Null when the file turned out longer than allowed: it may grow while it is read, and /proc tells size 0. */
async function readToEnd(handle: FileHandle, sizeBytes: number, bytesMax: number): Promise<Uint8Array | null> {
  let buffer = new Uint8Array(Math.min(sizeBytes + 1, bytesMax + 1));
  let filled = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, null);
    if (bytesRead === 0) return buffer.subarray(0, filled);
    filled += bytesRead;
    if (filled > bytesMax) return null;
    if (filled < buffer.length) continue;
    const larger = new Uint8Array(Math.min(Math.max(buffer.length * 2, 4_096), bytesMax + 1));
    larger.set(buffer);
    buffer = larger;
  }
}

async function writeWhole(path: string, bytes: Uint8Array, mode: number = privateFileMode): Promise<void> {
  const directory = dirname(path);
  const temporary = join(directory, freshName());
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    // The first failure is the one to tell; a leftover is recognised by its name later.
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncDirectory(directory);
}

async function appendBytes(path: string, bytes: Uint8Array, sync: boolean): Promise<void> {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
  const handle = await open(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, privateFileMode);
  let fresh = false;
  try {
    fresh = sync && (await handle.stat()).size === 0;
    await handle.writeFile(bytes);
    if (sync) await handle.sync();
  } finally {
    await handle.close();
  }
  // A synced file whose name was never synced is gone all the same.
  if (fresh) await syncDirectory(dirname(path));
}

async function moveOver(from: string, to: string): Promise<boolean> {
  assertAbsolute(to);
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    // The system says the same when the directory of `to` is missing; only a missing `from` is a value.
    const gone = errorCodeOf(error) === 'ENOENT' && (await lstat(from).catch(() => null)) === null;
    if (gone) return false;
    throw error;
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function listNames(path: string, entriesMax: number): Promise<DirectoryList> {
  const names: string[] = [];
  let more = false;
  // Leaving the loop closes the directory.
  for await (const entry of await opendir(path, { bufferSize: 1_024 })) {
    more = names.length >= entriesMax;
    if (more) break;
    names.push(entry.name);
  }
  return { names: names.sort(), more };
}

async function guarded<Value>(operation: string, path: string, work: () => Promise<Value>): Promise<Value> {
  assertAbsolute(path);
  try {
    return await work();
  } catch (error) {
    if (error instanceof FileError) throw error;
    const code = errorCodeOf(error);
    if (code === null) throw error;
    throw new FileError(operation, path, code, error);
  }
}

async function orNull<Value>(operation: string, path: string, work: () => Promise<Value>): Promise<Value | null> {
  try {
    return await guarded(operation, path, work);
  } catch (error) {
    if (error instanceof FileError && error.code === 'ENOENT') return null;
    throw error;
  }
}

// Removes a folder of ours with all that is in it. A link in it is removed as a link; what it leads to is left alone.

export interface Folders {
  /** False when there was none. A FileError when it could not be removed, or is no folder itself but a link to one. */
  removeAll(path: string): Promise<boolean>;
}

export function createRealFolders(): Folders {
  return { removeAll };
}

async function removeAll(path: string): Promise<boolean> {
  assertAbsolute(path);
  try {
    const stats = await lstat(path);
    if (!stats.isDirectory()) throw new FileError('remove', path, 'ENOTDIR');
    await rm(path, { recursive: true, force: true });
    return true;
  } catch (error) {
    const code = errorCodeOf(error);
    if (error instanceof FileError || code === null) throw error;
    if (code === 'ENOENT') return false;
    throw new FileError('remove', path, code, error);
  }
}

// What is left of writes that were cut short, as by kill -9: found by its name, and removed by whoever writes there next.

/**
 * Removes what writes that were cut short have left in a folder: regular files of this user under our own names, not touched
 * since `before` (wall time), so that nobody is still writing them. Tidying up never stands in anybody's way: what cannot be
 * looked at or removed stays. The names that are gone.
 */
export async function removeLeftovers(
  files: Pick<Files, 'list' | 'stat' | 'remove'>,
  folder: string,
  { uid, before }: { readonly uid: number; readonly before: number },
): Promise<readonly string[]> {
  const gone: string[] = [];
  const listed = await untroubled(() => files.list(folder, limits.leftoverNamesMax));
  for (const name of listed?.names.filter(isTemporaryName) ?? []) {
    const path = join(folder, name);
    const stat = await untroubled(() => files.stat(path));
    const isLeft = stat?.kind === 'file' && stat.uid === uid && stat.mtimeMs < before;
    if (isLeft && (await untroubled(() => files.remove(path))) === true) gone.push(name);
  }
  return gone;
}

/** Beside files of the user's own, where another program of ours may be writing at this moment. */
export async function removeOldLeftovers(files: Files, folder: string, wallMs: number): Promise<void> {
  const own = await untroubled(() => files.stat(folder));
  if (own !== null) await removeLeftovers(files, folder, { uid: own.uid, before: wallMs - limits.leftoverMs });
}

async function untroubled<Value>(work: () => Promise<Value>): Promise<Value | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FileError) return null;
    throw error;
  }
}
