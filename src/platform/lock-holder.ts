// Which process holds the lock of a state directory. The system frees the lock with the process, so whoever is named here
// lives and is the daemon, even one that answers nobody any more.

import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';

export const lockPathOf = (stateDir: string): string => join(stateDir, 'agtmux.lock');

/** The pid that Linux names for the lock; null where nobody holds it, and where the system does not tell. */
export function lockHolderOf(path: string): number | null {
  try {
    const file = statSync(path);
    const held = new RegExp(`POSIX .* WRITE +(\\d+) [0-9a-f:]+:${file.ino} `, 'g');
    const pids = [...readFileSync('/proc/locks', 'latin1').matchAll(held)].map(([, pid]) => Number(pid));
    return pids.find((pid) => pid > 0 && hasOpen(pid, file)) ?? null;
  } catch {
    return null;
  }
}

/** Numbers of files are those of one file system, and the list does not always name it in the same way: it is asked. */
function hasOpen(pid: number, { dev, ino }: Stats): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      const open = statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false });
      return open?.dev === dev && open.ino === ino;
    });
  } catch {
    return false;
  }
}
