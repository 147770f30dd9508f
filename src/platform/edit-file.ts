// Changing a file that belongs to somebody else: only if it is still as it was when the change was decided on, and so that
// its owner, its mode and every name it has stay. A new file, and a folder for it, belongs to whoever owns the folder.

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { chmod, chown, link, lstat, mkdir, open, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCodeOf } from './error-code.ts';
import { CutShortError } from './file-stat.ts';

export interface FileEdit {
  /** What must still be there, null for nothing. */
  readonly before: Uint8Array | null;
  readonly after: Uint8Array;
  /** For a new file; one that was there keeps its own. */
  readonly mode: number;
}

/** False when the file is not as it was: then nothing was written. The path is no link; `temporary` is one beside it. */
export async function editFile(path: string, temporary: string, edit: FileEdit): Promise<boolean> {
  const held = await statOrNull(path);
  if ((held === null) !== (edit.before === null)) return false;
  try {
    const owner = held ?? (isRoot() ? await stat(dirname(path)) : null);
    const isAlike = await writeTemporary(temporary, edit.after, owner, held === null ? edit.mode : held.mode & 0o7777);
    return held === null ? await putNew(temporary, path) : putOver(temporary, path, held, edit, isAlike);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

/** Removes a file that is still as it was; false when it is not. */
export function removeIfSame(path: string, before: Uint8Array): boolean {
  const held = lstatSync(path, { throwIfNoEntry: false });
  if (held?.isFile() !== true || !isSame(readFileSync(path), before)) return false;
  unlinkSync(path);
  return true;
}

/** Makes what is missing of a folder, and tells it, outermost first. */
export async function makeFolders(folder: string, mode: number): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let place = folder; dirname(place) !== place; place = dirname(place)) {
    if ((await stat(place).catch(() => null)) !== null) break;
    missing.unshift(place);
  }
  for (const place of missing) {
    const isMade = await mkdir(place, { mode }).then(
      () => true,
      (error: unknown) => {
        // Somebody else made it meanwhile.
        if (errorCodeOf(error) !== 'EEXIST') throw error;
        return false;
      },
    );
    if (!isMade || !isRoot()) continue;
    const { uid, gid } = await stat(dirname(place));
    await chown(place, uid, gid);
  }
  return missing;
}

const isRoot = (): boolean => process.getuid?.() === 0;

async function statOrNull(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Whether it has the owner and the mode that it should. */
async function writeTemporary(path: string, bytes: Uint8Array, owner: Stats | null, mode: number): Promise<boolean> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  // Who may not give it away changes the file in its place. The owner first: a change of it takes set-id bits away.
  if (owner !== null) await chown(path, owner.uid, owner.gid).catch(() => undefined);
  await chmod(path, mode);
  const made = await lstat(path);
  const isOwned = owner === null || (made.uid === owner.uid && made.gid === owner.gid);
  return isOwned && (made.mode & 0o7777) === mode;
}

/** A link never takes the place of a file that came meanwhile, as a rename would. */
async function putNew(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Nothing is waited for between the last look and the change, so that hardly anyone can come in between. */
function putOver(temporary: string, path: string, held: Stats, edit: FileEdit, isAlike: boolean): boolean {
  const { before, after } = edit;
  const file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!isSameFile(fstatSync(file), held) || before === null || !isSame(readFileSync(file), before)) return false;
    const named = lstatSync(path, { throwIfNoEntry: false });
    if (named === undefined || !isSameFile(named, held)) return false;
    if (isAlike && held.nlink === 1 && isMovedOver(temporary, path)) return true;
    writeInPlace(file, before, after, () => keepCopy(temporary, path));
    return true;
  } finally {
    closeSync(file);
  }
}

/** False for a file that is mounted by itself, which only takes bytes. */
function isMovedOver(temporary: string, path: string): boolean {
  try {
    renameSync(temporary, path);
    return true;
  } catch (error) {
    if (errorCodeOf(error) === 'EBUSY') return false;
    throw error;
  }
}

const isSameFile = (one: Stats, other: Stats): boolean =>
  (['dev', 'ino', 'mode', 'uid', 'gid', 'nlink'] as const).every((fact) => one[fact] === other[fact]);

/**
 * Its other names see the change too. What cannot be written whole is put back; where even that fails, the new text that
 * lies beside it is all there is, and is kept.
 */
function writeInPlace(file: number, before: Uint8Array, after: Uint8Array, keep: () => string): void {
  try {
    writeWhole(file, after);
  } catch (error) {
    try {
      writeWhole(file, before);
    } catch {
      throw new CutShortError(errorCodeOf(error) ?? 'EIO', keep(), error);
    }
    throw error;
  }
}

/** Under a name that nobody takes for a leftover. */
function keepCopy(temporary: string, path: string): string {
  for (let count = 1; ; count += 1) {
    const copy = `${path}.agtmux-copy${count === 1 ? '' : `-${count}`}`;
    if (lstatSync(copy, { throwIfNoEntry: false }) !== undefined) continue;
    renameSync(temporary, copy);
    return copy;
  }
}

function writeWhole(file: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(file, bytes, written, bytes.length - written, written);
  ftruncateSync(file, bytes.length);
  fsyncSync(file);
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
