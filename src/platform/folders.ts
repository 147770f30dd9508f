// Removes a folder of ours with all that is in it. A link in it is removed as a link; what it leads to is left alone.

import { lstat, rm } from 'node:fs/promises';
import { assertAbsolute, errorCodeOf, FileError } from './files.ts';

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
