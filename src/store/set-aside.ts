// How a damaged log makes way for a new one. The new one is written under a name of its own; once it is whole, the damaged
// one is moved aside, so that a person can look at it, and the new one takes its place. Killed at any step, the next start
// finds the damaged log where it was, or a whole new one whose way it only has to clear. Keeps the newest few that were set
// aside and removes older ones.

import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { limits } from '../model/limits.ts';
import type { StorePaths } from './database.ts';
import { storeError } from './sqlite-errors.ts';

const companions = ['-wal', '-head'];

const wholePath = (paths: StorePaths): string => `${paths.database}.new`;

/** Where a new log is written: until it is whole it has a passing name, and a mark of its own. */
export function newLogPaths(paths: StorePaths): StorePaths {
  const database = `${wholePath(paths)}.part`;
  return { ...paths, database, wal: `${database}-wal`, head: `${database}-head` };
}

/** What was left of a new log that did not become whole. */
export function discardNewLog(paths: StorePaths): void {
  const part = newLogPaths(paths);
  for (const path of [part.database, part.wal, part.head, `${part.database}-journal`]) rmSync(path, { force: true });
}

/** Nothing is missing in it and nobody has it open: from here on it is the log, wherever the damaged one stands. */
export function declareNewLogWhole(paths: StorePaths): void {
  try {
    renameSync(newLogPaths(paths).database, wholePath(paths));
    discardNewLog(paths);
  } catch (error) {
    throw storeError(error, `name ${wholePath(paths)}`);
  }
}

/**
 * Puts a whole new log in the place of the damaged one. Null when there is none; otherwise where the damaged one stands
 * now, null when nothing was left of it. The caller holds the lock; nothing is open.
 */
export function putNewLogInPlace(paths: StorePaths, now: number): { readonly setAside: string | null } | null {
  if (!existsSync(wholePath(paths))) return null;
  const aside = setAside(paths, now);
  try {
    renameSync(wholePath(paths), paths.database);
  } catch (error) {
    throw storeError(error, `put ${paths.database} in place`);
  }
  return { setAside: aside };
}

/** The path the database stands at now, null when there was none. The caller holds the lock; nothing is open. */
export function setAside(paths: StorePaths, now: number): string | null {
  try {
    const aside = halfMoved(paths.database) ?? freeName(`${paths.database}.damaged-${stampOf(now)}`);
    // Its companions go first: after a crash half-way they tell under which name the rest belongs, and a write-ahead log
    // never stands beside a database that is not its own.
    moveIfThere(paths.wal, `${aside}-wal`);
    moveIfThere(paths.head, `${aside}-head`);
    const moved = moveIfThere(paths.database, aside);
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

function namesAside(database: string): readonly string[] {
  const prefix = `${basename(database)}.damaged-`;
  return readdirSync(dirname(database)).filter((name) => name.startsWith(prefix));
}

/** The name under which only companions stand: whoever moved them was killed before the database followed. */
function halfMoved(database: string): string | null {
  if (!existsSync(database)) return null;
  const names = namesAside(database);
  const bases = companions.flatMap((companion) =>
    names.filter((name) => name.endsWith(companion)).map((name) => name.slice(0, -companion.length)),
  );
  const alone = bases.find((base) => !names.includes(base));
  return alone === undefined ? null : join(dirname(database), alone);
}

/** By the time they were renamed: a clock that was set back must not make the newest look old. */
function removeOldest(database: string, newest: string): void {
  const others = namesAside(database)
    .filter((name) => !companions.some((companion) => name.endsWith(companion)))
    .map((name) => join(dirname(database), name))
    .filter((path) => path !== newest)
    .map((path) => ({ path, movedAt: statSync(path).ctimeMs }))
    .sort((one, other) => other.movedAt - one.movedAt);
  for (const { path } of others.slice(limits.damagedKeptMax - 1)) {
    for (const each of [path, ...companions.map((companion) => path + companion)]) rmSync(each, { force: true });
  }
}
