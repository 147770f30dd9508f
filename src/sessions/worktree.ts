// A fresh git worktree for a session, beside its repository, and its removal: only what is merged and clean goes by itself,
// everything else after a person said so.

import { basename, dirname, join, relative } from 'node:path';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { SessionRecord } from '../model/sessions.ts';
import type { Exec } from '../platform/exec.ts';

export type Worktree = NonNullable<SessionRecord['worktree']>;

export interface MadeWorktree extends Worktree {
  /** The directory that the session works in: the same below the worktree as it was below the repository. */
  readonly cwd: string;
  readonly madeBranch: boolean;
}

type Env = Readonly<Record<string, string>>;

/** What a caller has set for another repository must not lead us there. */
const withoutGit = (env: Env): Env =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX)$/.test(name)),
  );

class Git {
  readonly #exec: Exec;
  readonly #env: Env;
  readonly #folder: string;

  constructor(exec: Exec, env: Env, folder: string) {
    this.#exec = exec;
    this.#env = { ...withoutGit(env), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' };
    this.#folder = folder;
  }

  /** What it printed, or what it said when it failed. */
  async run(...args: readonly string[]): Promise<Result<string>> {
    const { status, stdout, stderr, spawnError } = await this.#exec.run({
      program: 'git',
      args: ['-C', this.#folder, ...args],
      env: this.#env,
      deadlineMs: limits.sessionGitMs,
      outputBytesMax: 1_048_576,
    });
    if (spawnError !== null)
      return fail('E_AGENT_MISSING', `git cannot be run (${spawnError})`, 'install git, or omit --worktree');
    if (status === 0) return ok(Buffer.from(stdout).toString().trimEnd());
    const words = Buffer.from(stderr).toString().trim().split('\n').at(-1) ?? '';
    return fail(
      'E_INPUT',
      `git: ${words === '' ? `${args[0]} failed` : words}`,
      'fix it in the repository, then try again',
    );
  }

  async holds(...args: readonly string[]): Promise<boolean> {
    return (await this.run(...args)).ok;
  }
}

/** `branch`: '' for a name of our own, made of `name`. */
export async function makeWorktree(
  exec: Exec,
  env: Env,
  wish: { readonly cwd: string; readonly branch: string; readonly name: string },
): Promise<Result<MadeWorktree>> {
  const here = new Git(exec, env, wish.cwd);
  const top = await here.run('rev-parse', '--show-toplevel');
  if (!top.ok)
    return fail('E_INPUT', `${wish.cwd} is not in a git repository, which a worktree needs`, 'omit --worktree');
  const repository = top.value;
  const git = new Git(exec, env, repository);
  const branch = wish.branch === '' ? `agtmux/${wish.name}` : wish.branch;
  if (branch.startsWith('-') || !(await git.holds('check-ref-format', '--branch', branch))) {
    return fail('E_INPUT', `${branch} cannot be the name of a branch`, 'use another one: --worktree=<branch>');
  }
  if (!(await git.holds('rev-parse', '--verify', '--quiet', 'HEAD^{commit}'))) {
    return fail('E_INPUT', `${repository} has no commit yet to start from`, 'create one, or omit --worktree');
  }
  const path = join(dirname(repository), `${basename(repository)}-agtmux`, branch.replaceAll('/', '-'));
  const isThere = await git.holds('show-ref', '--verify', '--quiet', `refs/heads/${branch}`);
  const added = await git.run('worktree', 'add', '--quiet', ...(isThere ? [path, branch] : ['-b', branch, path]));
  if (!added.ok) return added;
  const cwd = join(path, relative(repository, wish.cwd));
  return ok({ path, branch, repository, cwd, madeBranch: !isThere });
}

/**
 * What speaks against removing it; null when nothing is lost. `path` is null when somebody has removed it by hand; `gone` is
 * the branch that goes with it, if one does.
 */
async function losses(git: Git, path: string | null, gone: string | null): Promise<string | null> {
  const inside = path === null ? [] : ['-C', path];
  const status = path === null ? ok('') : await git.run(...inside, 'status', '--porcelain', '--untracked-files=all');
  if (!status.ok) return `its state cannot be read (${status.failure.message})`;
  const changes = status.value === '' ? 0 : status.value.split('\n').length;
  if (changes > 0) return `it has uncommitted changes (files: ${changes})`;
  const tips = path === null ? [] : [await git.run(...inside, 'rev-parse', 'HEAD')];
  if (gone !== null) tips.push(await git.run('rev-parse', '--verify', `refs/heads/${gone}`));
  for (const tip of tips) {
    if (tip.ok && !(await isKept(git, tip.value, gone)))
      return `its commits exist nowhere else (${tip.value.slice(0, 10)})`;
  }
  return null;
}

/** Some other branch or tag has this commit, or the repository stands on it. */
async function isKept(git: Git, commit: string, gone: string | null): Promise<boolean> {
  const places = ['refs/heads', 'refs/tags', 'refs/remotes'];
  const held = await git.run('for-each-ref', '--contains', commit, '--format=%(refname)', ...places);
  const names = held.ok ? held.value.split('\n') : [];
  if (names.some((name) => name !== '' && name !== `refs/heads/${gone}`)) return true;
  return git.holds('merge-base', '--is-ancestor', commit, 'HEAD');
}

/** Gone with its branch when that was made for it; words on what was lost, if anything was. */
export async function removeWorktree(
  exec: Exec,
  env: Env,
  worktree: Worktree,
  how: { readonly force: boolean; readonly madeBranch: boolean },
): Promise<Result<string | null>> {
  const git = new Git(exec, env, worktree.repository);
  const list = await git.run('worktree', 'list', '--porcelain');
  if (!list.ok)
    return how.force ? ok(`its repository ${worktree.repository} is gone; ${worktree.path} was kept`) : list;
  const isKnown = list.value.split('\n').includes(`worktree ${worktree.path}`);
  const gone = how.madeBranch ? worktree.branch : null;
  const lost = await losses(git, isKnown ? worktree.path : null, gone);
  if (lost !== null && !how.force) {
    return fail(
      'E_STATE_CHANGED',
      `the worktree ${worktree.path} was kept: ${lost}`,
      'merge or save it, or remove it with --force',
    );
  }
  if (isKnown) {
    const removed = await git.run('worktree', 'remove', ...(how.force ? ['--force'] : []), worktree.path);
    if (!removed.ok) return removed;
  } else await git.run('worktree', 'prune');
  if (gone !== null) await git.run('branch', '--delete', '--force', '--', gone);
  return ok(lost);
}
