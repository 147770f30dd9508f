// Which files a process of this machine holds open, as Linux shows it below /proc. Synchronous like all of /proc; null
// where there is no such folder or it is not ours to see.

import { opendirSync, readlinkSync } from 'node:fs';
import { assert } from '../model/errors.ts';
import { errorCodeOf } from './files.ts';

/** Paths of regular names only: pipes, sockets and removed files have none. */
export type OpenFilesOf = (pid: number, entriesMax: number) => readonly string[] | null;

export const realOpenFilesOf: OpenFilesOf = (pid, entriesMax) => {
  assert(Number.isSafeInteger(pid) && pid > 0, `a pid is a positive number, not ${pid}`);
  const folder = `/proc/${pid}/fd`;
  const numbers = orNull(() => namesIn(folder, entriesMax));
  if (numbers === null) return null;
  const paths = numbers.map((number) => orNull(() => readlinkSync(`${folder}/${number}`)));
  return paths.filter((path) => path !== null).filter((path) => path.startsWith('/') && !path.endsWith(' (deleted)'));
};

function namesIn(folder: string, entriesMax: number): string[] {
  const names: string[] = [];
  const open = opendirSync(folder);
  try {
    for (let entry = open.readSync(); entry !== null && names.length < entriesMax; entry = open.readSync()) {
      names.push(entry.name);
    }
  } finally {
    open.closeSync();
  }
  return names;
}

/** Processes end while one looks at them, and those of other users are closed to us. */
function orNull<Value>(work: () => Value): Value | null {
  try {
    return work();
  } catch (error) {
    if (errorCodeOf(error) === null) throw error;
    return null;
  }
}
