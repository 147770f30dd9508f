// A few bytes to a terminal that another program draws on: whole, in one write, or not at all. A terminal that takes
// nothing at the moment is left alone: whoever draws there may be in the middle of a sequence exactly then.

import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { errorCodeOf } from './files.ts';

/** Null when it was written; else why not. */
export function writeToTerminal(path: string, bytes: Uint8Array, uid: number): string | null {
  if (!/^\/dev\/(?:pts\/\d+|tty[\w.]+)$/.test(path)) return `${path.slice(0, 64)} is not a terminal`;
  let handle: number | null = null;
  try {
    handle = openSync(path, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
    const stat = fstatSync(handle);
    if (!stat.isCharacterDevice() || stat.uid !== uid) return `${path} is not yours`;
    return writeSync(handle, bytes) === bytes.length ? null : `${path} accepted only a part`;
  } catch (problem) {
    return `${path} cannot be written (${errorCodeOf(problem) ?? 'EUNKNOWN'})`;
  } finally {
    if (handle !== null) closeSync(handle);
  }
}
