// The running processes of this machine as Linux shows them in /proc, and whether a pid is there at all. Reading is
// synchronous on purpose: /proc is memory, and the asynchronous way costs four hops through the thread pool a file.
// What is gone or forbidden is null: processes end while one looks at them.

import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { assert } from '../model/errors.ts';
import { errorCodeOf } from './files.ts';

export interface Processes {
  /** The file below /proc as bytes in a string (one character a byte), cut at `bytesMax`; null when it is not readable. */
  read(path: string, bytesMax: number): string | null;
  /** Where a link below /proc leads; null when it is gone or not ours to see. */
  readLink(path: string): string | null;
  /** Every pid; null where there is no /proc. */
  list(): readonly number[] | null;
  /** Some process, even a dead one that nobody has collected, has this pid now. Says nothing about which one (IDN3). */
  exists(pid: number): boolean;
}

/** What one process can do to us: it may be gone, another user's, or in the middle of ending. */
const expected = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL', 'EIO', 'ENOTDIR', 'EFAULT', 'ENAMETOOLONG'];

export function createRealProcesses(): Processes {
  let buffer = Buffer.alloc(8_192);

  function readBytes(path: string, bytesMax: number): string {
    if (buffer.length < bytesMax) buffer = Buffer.alloc(bytesMax);
    const handle = openSync(path, 'r');
    try {
      // One read is enough: these files are one record each, handed out whole or until the buffer is full.
      return buffer.toString('latin1', 0, readSync(handle, buffer, 0, bytesMax, null));
    } finally {
      closeSync(handle);
    }
  }

  return {
    read: (path, bytesMax) => orNull(path, () => readBytes(path, bytesMax)),
    readLink: (path) => orNull(path, () => readlinkSync(path)),
    list: () => orNull('/proc', () => readdirSync('/proc').filter(isNumber).map(Number)),
    exists,
  };
}

const isNumber = (name: string): boolean => {
  const first = name.charCodeAt(0);
  return first >= 0x31 && first <= 0x39;
};

function exists(pid: number): boolean {
  // 0 and negative numbers would ask for whole groups.
  assert(Number.isSafeInteger(pid) && pid > 0, `a pid is a positive number, not ${pid}`);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCodeOf(error) === 'EPERM';
  }
}

function orNull<Value>(path: string, work: () => Value): Value | null {
  assert(path.startsWith('/proc'), `only /proc is read here, not ${path}`);
  try {
    return work();
  } catch (error) {
    if (expected.includes(errorCodeOf(error) ?? '')) return null;
    throw error;
  }
}
