// Which folders setup brings into being: noted before anything is made, so that uninstall can take exactly those away
// again, and only while nothing else has moved into them.

import { existsSync, lstatSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { AgtmuxError } from '../model/errors.ts';
import { errorCodeOf } from '../platform/files.ts';
import { configPath, places } from './context.ts';

interface Noted {
  readonly version: 1;
  readonly folders: readonly string[];
}

export const notePath = (): string => join(places().stateDir, 'setup.json');

const configHome = (): string => dirname(dirname(configPath()));

/** Where something of ours may come to stand. */
function ownPlaces(): readonly string[] {
  const home = homedir();
  const { stateDir, runtimeDir } = places();
  return [
    stateDir,
    runtimeDir,
    dirname(configPath()),
    join(configHome(), 'tmux'),
    join(configHome(), 'systemd/user'),
    join(configHome(), 'systemd/user/default.target.wants'),
    join(home, 'Library/LaunchAgents'),
  ];
}

/** Those that are not there, with what is missing above them. */
export function missingFolders(): readonly string[] {
  const missing = new Set<string>();
  for (const place of ownPlaces()) {
    for (let folder = place; dirname(folder) !== folder && !existsSync(folder); folder = dirname(folder))
      missing.add(folder);
  }
  return [...missing];
}

/** Added to what an earlier setup noted. */
export function noteFolders(missing: readonly string[]): void {
  const made = missing.filter((folder) => existsSync(folder));
  const note: Noted = { version: 1, folders: [...new Set([...notedFolders(), ...made])] };
  try {
    mkdirSync(dirname(notePath()), { recursive: true, mode: 0o700 });
    writeFileSync(notePath(), `${JSON.stringify(note)}\n`, { mode: 0o600 });
  } catch (cause) {
    const why = errorCodeOf(cause) ?? 'unknown error';
    throw new AgtmuxError('E_FILE', `cannot write ${notePath()} (${why})`, { next: 'make its folder writable', cause });
  }
}

export function notedFolders(): readonly string[] {
  try {
    const { folders } = JSON.parse(readFileSync(notePath(), 'utf8')) as Partial<Noted>;
    return Array.isArray(folders) ? folders.filter((one): one is string => typeof one === 'string') : [];
  } catch {
    // No setup was run, or nobody can say what it did: then nothing is taken for ours.
    return [];
  }
}

/** The deepest first; what holds anything stays. */
export function removeEmpty(folders: readonly string[]): readonly string[] {
  const removed: string[] = [];
  for (const folder of folders.toSorted((one, other) => other.length - one.length)) {
    try {
      if (lstatSync(folder).isDirectory()) {
        rmdirSync(folder);
        removed.push(folder);
      }
    } catch {
      // Not empty, or gone already.
    }
  }
  return removed;
}
