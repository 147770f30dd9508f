// Files of the store are ours alone (SEC1): created 0600, and never opened when they turn out to be something else.

import { chmodSync, closeSync, constants, lstatSync, openSync } from 'node:fs';
import { AgtmuxError } from '../model/errors.ts';
import { storeError } from './sqlite-errors.ts';

/** Creates an empty file when it is missing; SQLite gives its companions the same mode. */
export function createPrivate(path: string): void {
  refuseForeign(path);
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw storeError(error, `create ${path}`);
  }
}

/** Links and files of other users are never opened, even inside our own directory. What is not there is fine. */
export function refuseForeign(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  const ours = stat.isFile() && stat.uid === process.getuid?.();
  if (!ours) throw new AgtmuxError('E_UNSAFE_DIR', `${path} is not a regular file of this user`);
  if ((stat.mode & 0o077) !== 0) chmodSync(path, 0o600);
}
