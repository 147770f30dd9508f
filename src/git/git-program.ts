// Runs git for reading: bounded in time, output and number, without locks, hooks, pagers, monitors, filters, fetches or programs
// for diffs; and reads what it prints. Who can write into a repository must not have a command run by the daemon (T12).

import type { ChangedFile } from '../model/git.ts';
import type { Exec } from '../platform/exec.ts';

/** A status of a large repository with a cold cache takes a second or two. */
const deadlineMs = 5_000;
/** At once: git is quick, and the machine is the agents'. */
const runsMax = 2;
const outputBytesMax = 1_048_576;

export interface GitOutput {
  readonly text: string;
  readonly isCut: boolean;
}

interface Wish {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const quiet = [
  ...['--no-optional-locks', '--no-pager', '--no-replace-objects', '-c', 'core.fsmonitor=false'],
  ...['-c', 'core.hooksPath=/dev/null', '-c', 'core.quotePath=false', '-c', 'submodule.recurse=false'],
  // It would write its other half beside the repository's own index.
  ...['-c', 'core.splitIndex=false'],
];

/** Filters and hooks that a config names. Far more than anybody has; each stands in the arguments of every run. */
const namesMax = 64;
const namesBytesMax = 16_384;
const asksNames = ['config', '-z', '--name-only', '--get-regexp', '^(filter|hook)\\.|^core\\.worktree$'];
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What switches off everything that the keys of a config would run, or lead to; null when that cannot be said to git. */
function switchedOff(keys: readonly string[], root: string): readonly string[] | null {
  const filters = new Set<string>();
  const hooks = new Set<string>();
  let leadsAway = false;
  for (const key of keys) {
    if (key === 'core.worktree') leadsAway = true;
    const [, kind, name] = /^(filter|hook)\.(.*)\.[^.]*$/s.exec(key) ?? [];
    if (name === undefined) continue;
    // A key ends at its first equals sign there.
    if (name === '' || name.includes('=')) return null;
    (kind === 'filter' ? filters : hooks).add(name);
  }
  if (filters.size + hooks.size > namesMax) return null;
  const off = [
    ...[...filters].flatMap((name) =>
      ['clean=', 'smudge=', 'process=', 'required=false'].map((value) => `filter.${name}.${value}`),
    ),
    ...[...hooks].map((name) => `hook.${name}.enabled=false`),
  ];
  return [...off.flatMap((value) => ['-c', value]), ...(leadsAway ? [`--work-tree=${root}`] : [])];
}

export class GitProgram {
  readonly #exec: Exec;
  readonly #env: Readonly<Record<string, string>>;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** What a caller has set for another repository must not lead us there. */
  constructor(exec: Exec, variables: Readonly<Record<string, string | undefined>>) {
    this.#exec = exec;
    const own = Object.entries(variables).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('GIT_'),
    );
    this.#env = {
      ...Object.fromEntries(own),
      LC_ALL: 'C',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_TERMINAL_PROMPT: '0',
      GIT_NO_LAZY_FETCH: '1',
      // None: for a git that does not know the line before (2.44 and older).
      GIT_ALLOW_PROTOCOL: '',
      GIT_ATTR_NOSYSTEM: '1',
    };
  }

  /** Null when it failed, was too slow, cannot be run or must not be; what it printed up to the bound otherwise. */
  async run(root: string, args: readonly string[], { stdin, env = {} }: Wish = {}): Promise<GitOutput | null> {
    if (this.#running >= runsMax) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      // Each time anew: the config may be another one, and what it includes stands elsewhere.
      const off = await this.#switchedOff(root);
      if (off === null) return null;
      const result = await this.#exec.run({
        program: 'git',
        args: [...quiet, ...off, '-C', root, ...args],
        env: { ...this.#env, ...env },
        ...(stdin === undefined ? {} : { stdin: Buffer.from(stdin) }),
        deadlineMs,
        outputBytesMax,
      });
      if (result.status !== 0 && !result.truncated) return null;
      return { text: Buffer.from(result.stdout).toString(), isCut: result.truncated };
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #switchedOff(root: string): Promise<readonly string[] | null> {
    const { status, stdout, truncated } = await this.#exec.run({
      program: 'git',
      args: [...quiet, '-C', root, ...asksNames],
      env: this.#env,
      deadlineMs,
      outputBytesMax: namesBytesMax,
    });
    // 1: there are none.
    if (truncated || (status !== 0 && status !== 1)) return null;
    try {
      return switchedOff(utf8.decode(stdout).split('\0'), root);
    } catch {
      // Git would be given another name than that.
      return null;
    }
  }
}

export interface Status {
  readonly head: string | null;
  readonly branch: string | null;
  readonly upstream: string | null;
  readonly ahead: number | null;
  readonly behind: number | null;
  /** Paths from the top, both of a rename; a new folder ends with a slash. */
  readonly paths: readonly string[];
  readonly dirty: number;
}

export const statusArgs = (untracked: 'normal' | 'all' | 'no'): readonly string[] => [
  ...['status', '--porcelain=v2', '--branch', '-z', '--ignore-submodules=all'],
  `--untracked-files=${untracked}`,
];

/** How many words stand before the path of an entry, by its first letter. */
const wordsBefore: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10, '?': 1 };

export function parseStatus(text: string): Status {
  const headers = new Map<string, string>();
  const paths: string[] = [];
  let dirty = 0;
  const entries = text.split('\0');
  for (let place = 0; place < entries.length; place += 1) {
    const entry = entries[place] ?? '';
    const header = /^# branch\.(\S+) (.*)$/s.exec(entry);
    if (header !== null) headers.set(header[1] ?? '', header[2] ?? '');
    const before = wordsBefore[entry.slice(0, 1)];
    if (before === undefined) continue;
    dirty += 1;
    paths.push(entry.split(' ').slice(before).join(' '));
    // A rename is followed by what it was called.
    if (entry.startsWith('2')) {
      place += 1;
      paths.push(entries[place] ?? '');
    }
  }
  const oid = headers.get('oid') ?? '(initial)';
  const name = headers.get('head') ?? '(detached)';
  const counts = /^\+(\d+) -(\d+)$/.exec(headers.get('ab') ?? '');
  return {
    head: oid === '(initial)' ? null : oid,
    branch: name === '(detached)' ? null : name,
    upstream: headers.get('upstream') ?? null,
    ahead: counts === null ? null : Number(counts[1]),
    behind: counts === null ? null : Number(counts[2]),
    paths,
    dirty,
  };
}

const changeOf: Readonly<Record<string, ChangedFile['change']>> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
};

/** What `diff-tree -r -z --raw --numstat` prints: first every file with its kind of change, then each with its lines. */
export function parseChanges(text: string): readonly ChangedFile[] {
  const words = text.split('\0');
  const files = new Map<string, ChangedFile>();
  for (let place = 0; place < words.length; place += 1) {
    const word = words[place] ?? '';
    if (word.startsWith(':')) {
      const letter = word.split(' ')[4]?.slice(0, 1) ?? '';
      const isRename = letter === 'R' || letter === 'C';
      const first = words[place + 1] ?? '';
      const path = isRename ? (words[place + 2] ?? '') : first;
      place += isRename ? 2 : 1;
      const old_path = isRename ? first : null;
      files.set(path, { path, old_path, change: changeOf[letter] ?? 'other', added: null, removed: null });
      continue;
    }
    const [added = '', removed = '', name = ''] = word.split('\t');
    if (removed === '') continue;
    // A rename stands behind its line, in two words.
    const path = name === '' ? (words[place + 2] ?? '') : name;
    if (name === '') place += 2;
    const file = files.get(path);
    if (file !== undefined && added !== '-')
      files.set(path, { ...file, added: Number(added), removed: Number(removed) });
  }
  return [...files.values()];
}
