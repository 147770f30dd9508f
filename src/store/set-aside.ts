// Moves a damaged log out of the way under a name of its own, together with its companions, so that a person can look at it
// and rows can be saved from it. Keeps the newest few and removes older ones.

import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { limits } from '../model/limits.ts';
import type { StorePaths } from './database.ts';
import { storeError } from './sqlite-errors.ts';

const companions = ['-wal', '-head'];

/** The path the database stands at now, null when there was none. The caller holds the lock; nothing is open. */
export function setAside(paths: StorePaths, now: number): string | null {
  const aside = freeName(`${paths.database}.damaged-${stampOf(now)}`);
  try {
    const moved = moveIfThere(paths.database, aside);
    moveIfThere(paths.wal, `${aside}-wal`);
    // The head goes last: after a crash half-way it still says that a log was here, and the next start is not fooled.
    moveIfThere(paths.head, `${aside}-head`);
    removeOldest(paths.database, aside);
    return moved ? aside : null;
  } catch (error) {
    throw storeError(error, `set ${paths.database} aside`);
  }
}

function moveIfThere(from: string, to: string): boolean {
  if (!existsSync(from)) return false;
  renameSync(from, to);
  return true;
}

/** 20261115T120000Z: sorts by time and needs no quoting anywhere. */
function stampOf(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}

function freeName(name: string): string {
  if (!existsSync(name)) return name;
  for (let count = 2; ; count++) if (!existsSync(`${name}.${count}`)) return `${name}.${count}`;
}

/** By the time they were renamed: a clock that was set back must not make the newest look old. */
function removeOldest(database: string, newest: string): void {
  const prefix = `${basename(database)}.damaged-`;
  const others = readdirSync(dirname(database))
    .filter((name) => name.startsWith(prefix) && !companions.some((companion) => name.endsWith(companion)))
    .map((name) => join(dirname(database), name))
    .filter((path) => path !== newest)
    .map((path) => ({ path, movedAt: statSync(path).ctimeMs }))
    .sort((one, other) => other.movedAt - one.movedAt);
  for (const { path } of others.slice(limits.damagedKeptMax - 1)) {
    for (const each of [path, ...companions.map((companion) => path + companion)]) rmSync(each, { force: true });
  }
}
