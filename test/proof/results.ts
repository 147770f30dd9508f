// What was tried, kept in an ignored folder: a file of JSON lines a commit. A later sitting goes on where they end.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem, type } from 'node:os';
import { join } from 'node:path';

interface Told {
  readonly suite: string;
  readonly commit: string;
  /** Of everything that ships, so that a commit which changes only words takes nothing back. */
  readonly product: string;
  readonly date: string;
  readonly machine: string;
  readonly seconds: number;
}

export interface Tried extends Told {
  readonly kind: 'tried';
  readonly before: number;
  readonly count: number;
  readonly isSound: boolean;
}

export interface Found extends Told {
  readonly kind: 'planted';
  readonly bug: string;
  readonly isFound: boolean;
}

export type Result = Tried | Found;

const git = (root: string, ...args: readonly string[]): string =>
  execFileSync('git', ['--no-optional-locks', ...args], { cwd: root, encoding: 'utf8' }).trim();

/** Commit and product as they are now; a checkout with changes is not its commit. */
export function stampOf(root: string): Pick<Told, 'commit' | 'product' | 'machine'> {
  const parts = ['src', 'bin'];
  const isChanged = git(root, 'status', '--porcelain', '--', ...parts) !== '';
  const { dependencies } = JSON.parse(git(root, 'show', 'HEAD:package.json')) as { readonly dependencies: unknown };
  const hash = createHash('sha256').update(JSON.stringify(dependencies));
  hash.update(parts.map((part) => git(root, 'rev-parse', `HEAD:${part}`)).join());
  if (isChanged) hash.update(git(root, 'diff', 'HEAD', '--', ...parts));
  return {
    commit: git(root, 'rev-parse', 'HEAD').slice(0, 12) + (isChanged ? '.changed' : ''),
    product: hash.digest('hex').slice(0, 12),
    machine: `${availableParallelism()} x ${cpus()[0]?.model.trim() ?? 'cpu'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()}, Node ${process.versions.node}`,
  };
}

export class Results {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  add(result: Result): void {
    appendFileSync(join(this.#folder, `${result.commit}.jsonl`), `${JSON.stringify(result)}\n`);
  }

  all(): readonly Result[] {
    if (!existsSync(this.#folder)) return [];
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) => readFileSync(join(this.#folder, name), 'utf8').split('\n'))
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Result)
      .sort((one, other) => one.date.localeCompare(other.date));
  }
}

export const isTried = (result: Result): result is Tried => result.kind === 'tried';

/** How far a suite has come with one product. What failed counts as tried: it is shown as failed. */
export function reached(all: readonly Result[], suite: string, product: string): number {
  return all
    .filter(isTried)
    .filter((one) => one.suite === suite && one.product === product)
    .reduce((sum, { count }) => sum + count, 0);
}
