// What is left of writes that were cut short, as by kill -9: found by its name, and removed by whoever writes there next.

import { join } from 'node:path';
import { limits } from '../model/limits.ts';
import { FileError, type Files, isTemporaryName } from './files.ts';

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
