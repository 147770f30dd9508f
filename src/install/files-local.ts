// The files of this machine's user: found behind their links, and changed only if they are still as they were, so that
// owner, mode and links stay.

import type { Stats } from 'node:fs';
import { access, constants, lstat, mkdir, readlink, rmdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { AgtmuxError, failure, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { createRealClock } from '../platform/clock.ts';
import { makeFolders, removeIfSame } from '../platform/edit-file.ts';
import { CutShortError } from '../platform/file-stat.ts';
import { createRealFiles, errorCodeOf, FileError, removeOldLeftovers } from '../platform/files.ts';
import { decode, type FileChange, type FoundFile, fileBytesMax, type HookFiles } from './files.ts';

const files = createRealFiles();

export function createLocalHookFiles(): HookFiles {
  return {
    find: (path) => told(path, () => find(path)),
    write: (change) => told(change.realPath, () => write(change)),
    remove: (realPath, before) =>
      told(realPath, async () => {
        if (!removeIfSame(realPath, Buffer.from(before))) throw changed(realPath);
        return null;
      }),
    makePrivateFolder: (path) =>
      told(path, async () => {
        await mkdir(path, { recursive: true, mode: 0o700 });
        return null;
      }),
    hasFolder: (path) => told(path, async () => (await statOf(path))?.isDirectory() === true),
    removeEmptyFolder: (path) => rmdir(path).catch(() => undefined),
  };
}

async function find(path: string): Promise<FoundFile> {
  const realPath = await follow(path);
  const text = await read(realPath);
  if (text === null && realPath !== path && (await lstat(path).catch(() => null)) !== null) {
    throw new AgtmuxError('E_HOOKS', `${path} is a broken link`, { next: 'fix or remove the link' });
  }
  const places = text === null ? await nearest(dirname(realPath)) : [realPath, dirname(realPath)];
  const protections = await Promise.all(places.map(isProtected));
  return { path, realPath, text, isWritable: !protections.includes(true) };
}

/** Where the last of its links leads, whether something is there or not. Links among its folders stay as they are. */
async function follow(path: string): Promise<string> {
  let place = path;
  for (let links = 0; links < limits.linksMax; links += 1) {
    const target = await readlink(place).catch(() => null);
    if (target === null) return place;
    place = resolve(dirname(place), target);
  }
  throw new AgtmuxError('E_HOOKS', `${path} is a chain of too many links`, { next: 'fix or remove the link' });
}

async function read(path: string): Promise<string | null> {
  const found = await files.read(path, { bytesMax: fileBytesMax });
  if (found === null) return null;
  const text = decode(found.bytes);
  if (text === null) throw new AgtmuxError('E_HOOKS', `${path} is not UTF-8 text`);
  return text;
}

/** The innermost folder that is there. */
async function nearest(folder: string): Promise<readonly string[]> {
  let place = folder;
  while (place !== '/' && (await statOf(place)) === null) place = dirname(place);
  return [place];
}

/** By its rights, also for root: whoever took the right to write away meant it. */
async function isProtected(path: string): Promise<boolean> {
  const found = await statOf(path);
  if (found === null) return false;
  const isRefused = await access(path, constants.W_OK).then(
    () => false,
    () => true,
  );
  return isRefused || (found.mode & 0o200) === 0;
}

const statOf = (path: string): Promise<Stats | null> => stat(path).catch(() => null);

async function write({ realPath, before, after, mode }: FileChange): Promise<readonly string[]> {
  const made = await makeFolders(dirname(realPath), 0o700);
  await removeOldLeftovers(files, dirname(realPath), createRealClock().wallMs());
  const bytes = { before: before === null ? null : Buffer.from(before), after: Buffer.from(after) };
  if (!(await files.edit(realPath, { ...bytes, mode }))) throw changed(realPath);
  return made;
}

const changed = (path: string): AgtmuxError =>
  new AgtmuxError('E_STATE_CHANGED', `${path} was changed meanwhile; nothing was written to it`, {
    next: 'check the new difference, then try again',
  });

async function told<Value>(path: string, work: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return ok(await work());
  } catch (error) {
    if (error instanceof AgtmuxError) return { ok: false, failure: failure(error.code, error.message, error.next) };
    const code = error instanceof FileError ? error.code : errorCodeOf(error);
    if (code === null) throw error;
    if (error instanceof FileError && error.cause instanceof CutShortError) {
      const next = `free disk space, then move ${error.cause.copy} over it`;
      return { ok: false, failure: failure('E_FILE', error.message, next) };
    }
    const next = 'check the permissions of that file and its folder, and the free disk space';
    return { ok: false, failure: failure('E_FILE', `${path} cannot be read or written (${code})`, next) };
  }
}
