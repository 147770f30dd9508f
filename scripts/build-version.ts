// Which build this is: the version of the package and the commit it was made of, as semantic versioning writes build
// metadata (`0.1.0+1a2b3c4d5e6f`). The same sources give the same text everywhere: no time, no network, no machine in it.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What a bundle is made of. */
const sources = ['src', 'bin', 'package.json', 'package-lock.json', 'rolldown.config.ts', 'vite.config.ts'];
const commitDigits = 12;
const hashDigits = 8;

interface Manifest {
  readonly version: string;
  /** The commit a package of sources was made of. */
  readonly gitHead?: string;
}

export function buildVersion(root: string): string {
  const { version, gitHead } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  const commit = commitOf(root);
  if (commit === null) return `${version}+${gitHead?.slice(0, commitDigits) ?? `source.${hashOf(root)}`}`;
  const isChanged = git(root, 'status', '--porcelain', '--', ...sources, ':!*.test.ts') !== '';
  return `${version}+${commit.slice(0, commitDigits)}${isChanged ? `.changed.${hashOf(root)}` : ''}`;
}

/** Null where this is no checkout of its own: a folder inside somebody else's has another commit. */
function commitOf(root: string): string | null {
  const top = git(root, 'rev-parse', '--show-toplevel');
  return top !== null && realpathSync(top) === realpathSync(root) ? git(root, 'rev-parse', 'HEAD') : null;
}

/** Null without git, or when it refuses. Variables that point it elsewhere, as in its own hooks, are not for this. */
function git(root: string, ...args: readonly string[]): string | null {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  try {
    const options = { cwd: root, env: { ...env, LC_ALL: 'C' }, encoding: 'utf8', stdio: 'pipe' } as const;
    return execFileSync('git', ['--no-optional-locks', ...args], options).trim();
  } catch {
    return null;
  }
}

function hashOf(root: string): string {
  const hash = createHash('sha256');
  for (const name of sources)
    for (const file of filesOf(root, name)) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, hashDigits);
}

function filesOf(root: string, path: string): readonly string[] {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (found === undefined || path.endsWith('.test.ts')) return [];
  if (!found.isDirectory()) return [path];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesOf(root, `${path}/${name}`));
}
