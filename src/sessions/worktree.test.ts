// Worktrees of a real repository: made beside it, and gone only with what is safe elsewhere.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRealClock } from '../platform/clock.ts';
import { createRealExec } from '../platform/exec.ts';
import { type MadeWorktree, makeWorktree, removeWorktree } from './worktree.ts';

const exec = createRealExec(createRealClock());
let root: string;
let repository: string;
let env: Record<string, string>;

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', folder, ...args], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'agtmux-tree-')));
  repository = join(root, 'shop');
  const who = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' };
  env = { PATH: process.env.PATH ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1', ...who };
  mkdirSync(join(repository, 'web'), { recursive: true });
  git(repository, 'init', '--quiet', '--initial-branch=main');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function commit(folder: string, name: string): void {
  writeFileSync(join(folder, name), name);
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '-m', name);
}

async function made(branch = '', cwd = repository): Promise<MadeWorktree> {
  const result = await makeWorktree(exec, env, { cwd, branch, name: 's7' });
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
}

const remove = (tree: MadeWorktree, force = false) =>
  removeWorktree(exec, env, tree, { force, madeBranch: tree.madeBranch });

describe('a worktree for a session', () => {
  beforeEach(() => commit(repository, 'web/first'));

  it('SES8 stands beside its repository, on a branch of its own, with the same directory below', async () => {
    const tree = await made('', join(repository, 'web'));
    expect(tree).toEqual({
      repository,
      branch: 'agtmux/s7',
      path: join(root, 'shop-agtmux/agtmux-s7'),
      cwd: join(root, 'shop-agtmux/agtmux-s7/web'),
      madeBranch: true,
    });
    expect(existsSync(join(tree.cwd, 'first'))).toBe(true);
    expect(git(tree.path, 'branch', '--show-current')).toBe('agtmux/s7');
  });

  it('SES8 is removed with its branch when nothing was done in it, or all of it is merged', async () => {
    const untouched = await made();
    expect(await remove(untouched)).toEqual({ ok: true, value: null });
    expect([existsSync(untouched.path), git(repository, 'branch', '--list', 'agtmux/*')]).toEqual([false, '']);
    const merged = await made('feature');
    commit(merged.path, 'second');
    git(repository, 'merge', '--quiet', 'feature');
    expect(await remove(merged)).toEqual({ ok: true, value: null });
    expect(git(repository, 'branch', '--list', 'feature')).toBe('');
  });

  it('SES8 stays while it holds commits or files that are nowhere else; force takes them along and says which', async () => {
    const tree = await made();
    writeFileSync(join(tree.path, 'unsaved'), 'x');
    expect(await remove(tree)).toMatchObject({
      failure: { code: 'E_STATE_CHANGED', message: expect.stringContaining('uncommitted changes') },
    });
    commit(tree.path, 'second');
    const tip = git(tree.path, 'rev-parse', 'HEAD');
    expect(await remove(tree)).toMatchObject({
      failure: { message: expect.stringContaining(`nowhere else (${tip.slice(0, 10)})`) },
    });
    expect(existsSync(join(tree.path, 'second'))).toBe(true);
    expect(await remove(tree, true)).toMatchObject({ ok: true, value: expect.stringContaining(tip.slice(0, 10)) });
    expect([existsSync(tree.path), git(repository, 'branch', '--list', 'agtmux/*')]).toEqual([false, '']);
    expect(git(repository, 'cat-file', '-t', tip)).toBe('commit');
  });

  it('SES8 a branch that was there before is used and left', async () => {
    git(repository, 'branch', 'mine');
    const tree = await made('mine');
    expect(tree.madeBranch).toBe(false);
    commit(tree.path, 'second');
    expect(await remove(tree)).toEqual({ ok: true, value: null });
    expect(git(repository, 'branch', '--list', 'mine')).toBe('mine');
  });

  it('SES8 one that somebody removed by hand is no obstacle', async () => {
    const tree = await made();
    rmSync(tree.path, { recursive: true });
    git(repository, 'worktree', 'prune');
    expect(await remove(tree)).toEqual({ ok: true, value: null });
  });

  it('SES8 a stash on top of commits keeps them for nobody', async () => {
    const tree = await made();
    commit(tree.path, 'second');
    writeFileSync(join(tree.path, 'second'), 'changed');
    git(tree.path, 'stash');
    expect(await remove(tree)).toMatchObject({ failure: { message: expect.stringContaining('nowhere else') } });
  });

  it('SES8 the commits of one that somebody removed by hand are not lost with its branch', async () => {
    const tree = await made();
    commit(tree.path, 'second');
    const tip = git(tree.path, 'rev-parse', 'HEAD');
    git(repository, 'worktree', 'remove', tree.path);
    expect(await remove(tree)).toMatchObject({
      failure: { message: expect.stringContaining(`nowhere else (${tip.slice(0, 10)})`) },
    });
    expect(git(repository, 'rev-parse', 'agtmux/s7')).toBe(tip);
    git(repository, 'branch', '--delete', '--force', 'agtmux/s7');
    expect(await remove(tree)).toEqual({ ok: true, value: null });
  });

  it.each([
    ['a branch that is checked out already', 'main'],
    ['no name of a branch', 'a b'],
    ['an option', '--detach'],
    ['a name with dots', '../up'],
  ])('SES8 %s is refused with words', async (_, branch) => {
    const result = await makeWorktree(exec, env, { cwd: repository, branch, name: 's7' });
    expect(result).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    expect(existsSync(join(root, 'shop-agtmux'))).toBe(false);
  });

  it('SES8 variables of the caller do not lead to another repository', async () => {
    const other = join(root, 'other');
    mkdirSync(other);
    git(other, 'init', '--quiet');
    const result = await makeWorktree(
      exec,
      { ...env, GIT_DIR: join(other, '.git'), GIT_WORK_TREE: other },
      { cwd: repository, branch: '', name: 's7' },
    );
    expect(result).toMatchObject({ ok: true, value: { repository } });
  });
});

describe('no worktree', () => {
  it('SES8 outside a repository, and in one without a commit, it is refused with words', async () => {
    expect(await makeWorktree(exec, env, { cwd: root, branch: '', name: 's7' })).toMatchObject({
      failure: { message: expect.stringContaining('not in a git repository') },
    });
    expect(await makeWorktree(exec, env, { cwd: repository, branch: '', name: 's7' })).toMatchObject({
      failure: { message: expect.stringContaining('no commit yet') },
    });
  });
});
