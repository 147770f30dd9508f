// A disk that can be filled in a moment: a real one (a tmpfs of its own) where we may mount, otherwise a database that may
// not grow beyond a number of pages, for which SQLite gives the same SQLITE_FULL.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SqliteStoreOptions } from '../../src/store/sqlite.ts';

export interface SmallDisk {
  readonly dir: string;
  readonly kind: 'tmpfs' | 'pages';
  readonly options: Partial<SqliteStoreOptions>;
  remove(): void;
}

export function boundedFile(root: string, bytes: number): SmallDisk {
  const dir = join(root, 'pages');
  return { dir, kind: 'pages', options: { pagesMax: Math.floor(bytes / 4_096) }, remove: () => {} };
}

export function smallDisk(root: string, bytes: number): SmallDisk {
  const place = join(root, 'tmpfs');
  mkdirSync(place, { mode: 0o700 });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'tmpfs', place], { stdio: 'ignore' });
  } catch {
    return boundedFile(root, bytes);
  }
  return {
    dir: join(place, 'state'),
    kind: 'tmpfs',
    options: {},
    remove: () => {
      // Lazily: a failed test may still have files open, and must not leave a disk behind.
      execFileSync('umount', ['-l', place]);
      rmSync(place, { recursive: true });
    },
  };
}
