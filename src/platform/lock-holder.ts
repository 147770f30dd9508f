// Which process holds the lock of a state directory. The system frees the lock with the process, so whoever is named here
// lives and is the daemon, even one that answers nobody any more.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const lockPathOf = (stateDir: string): string => join(stateDir, 'agtmux.lock');

/** The pid that Linux names for the lock; null where nobody holds it, and where the system does not tell. */
export function lockHolderOf(path: string): number | null {
  try {
    const inode = statSync(path).ino;
    const held = new RegExp(`POSIX .* WRITE +(\\d+) [0-9a-f:]+:${inode} `);
    const pid = Number(held.exec(readFileSync('/proc/locks', 'latin1'))?.[1]);
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}
