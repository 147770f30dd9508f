// Real repositories: what is told of them, when git is asked again, and what a turn has changed.

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChangedFile } from '../model/git.ts';
import type { StateName } from '../model/states.ts';
import { createRealClock } from '../platform/clock.ts';
import { type Command, createRealExec, type Exec } from '../platform/exec.ts';
import { createRealFileWatch } from '../platform/file-watch.ts';
import { createRealFiles, createRealFolders, FileError } from '../platform/files.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { GitProgram, parseChanges, parseStatus, statusArgs } from './git-program.ts';
import { TurnDiffs } from './turn-diffs.ts';
import { WorkTrees } from './work-trees.ts';

/** `git` is a program of its own, which takes its time on a busy machine. */
const waitFor = (holds: () => unknown): Promise<unknown> => vi.waitFor(holds, { timeout: 30_000, interval: 20 });

let folder: string;
let shop: string;
const opened: WorkTrees[] = [];

const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync(
    'git',
    ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main', '-C', cwd, ...args],
    {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );

function put(path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(shop, path)), { recursive: true });
  writeFileSync(join(shop, path), text);
}

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'agt-git-')));
  shop = join(folder, 'shop');
  mkdirSync(join(shop, 'src'), { recursive: true });
  git(shop, 'init', '-q');
  put('src/a.ts', 'one\ntwo\nthree\n');
  put('gone.md', 'words\n');
  git(shop, 'add', '-A');
  git(shop, 'commit', '-qm', 'first');
});
afterEach(() => {
  for (const trees of opened.splice(0)) trees.stop();
  rmSync(folder, { recursive: true, force: true });
});

function setUp(mkdirPrivate = createRealFiles().mkdirPrivate) {
  const clock = createSimulatedClock();
  const runs: Command[] = [];
  const real = createRealExec(createRealClock());
  const exec: Exec = {
    run: (command) => {
      runs.push(command);
      return real.run(command);
    },
  };
  const program = new GitProgram(exec, { PATH: process.env.PATH, HOME: folder, GIT_DIR: '/nowhere' });
  const onChange = vi.fn();
  const watch = createRealFileWatch();
  const trees = new WorkTrees({ clock, files: watch, git: program, onChange });
  opened.push(trees);
  const diffs = new TurnDiffs({
    ...{
      clock,
      files: { ...createRealFiles(), mkdirPrivate },
      watch,
      folders: createRealFolders(),
      git: program,
      trees,
    },
    folder: join(folder, 'turns'),
  });
  const seen = (state: StateName, mark = '1', cwd = shop) => [
    { runtime_id: 'r', cwd, state, mark, isRunning: state === 'running' },
  ];
  const statuses = (): number => runs.filter(({ args }) => args.includes('--untracked-files=normal')).length;
  return { clock, runs, program, trees, diffs, onChange, seen, statuses };
}

const without = ({ GIT_NO_LAZY_FETCH: _, ...env }: Readonly<Record<string, string>>): Record<string, string> => env;

/** Facts of a folder, once git has told them. */
async function facts(of: ReturnType<typeof setUp>, cwd = shop) {
  of.trees.look(of.seen('idle', '1', cwd));
  await waitFor(() => expect(of.trees.factsOf(cwd)).not.toBeNull());
  return of.trees.factsOf(cwd);
}

describe('facts', () => {
  it('GIT1 branch, files that differ, and the repository, from any folder in it', async () => {
    put('src/a.ts', 'one\n');
    put('new/b.ts', 'b\n');
    put('new/c.ts', 'c\n');
    expect(await facts(setUp(), join(shop, 'src'))).toEqual({
      ...{ root: shop, repository: 'shop', branch: 'main', head: git(shop, 'rev-parse', '--short=12', 'HEAD').trim() },
      ...{ dirty: 2, ahead: null, behind: null, worktree: false },
    });
  });

  it('GIT1 a linked work tree is one of its repository, and commits to push and to pull are counted', async () => {
    const copy = join(folder, 'copy');
    git(folder, 'clone', '-q', shop, copy);
    git(copy, 'commit', '-q', '--allow-empty', '-m', 'mine');
    expect(await facts(setUp(), copy)).toMatchObject({ ahead: 1, behind: 0 });
    const linked = join(folder, 'shop-fix');
    git(shop, 'worktree', 'add', '-q', '-b', 'fix/it', linked);
    expect(await facts(setUp(), linked)).toMatchObject({
      root: linked,
      repository: 'shop',
      branch: 'fix/it',
      worktree: true,
    });
    git(linked, 'checkout', '-q', '--detach');
    expect(await facts(setUp(), linked)).toMatchObject({ branch: null });
  });

  it('GIT1 outside of a repository no program is run', async () => {
    const of = setUp();
    mkdirSync(join(folder, 'plain'));
    of.trees.look(of.seen('idle', '1', join(folder, 'plain')));
    expect(await of.trees.placeOf(join(folder, 'plain'))).toBeNull();
    expect([of.trees.factsOf(join(folder, 'plain')), of.runs]).toEqual([null, []]);
  });

  it('GIT1 a folder that is not known yet, or is none, is in no work tree', async () => {
    const of = setUp();
    for (const cwd of ['', '.', 'shop', `${shop}/../nowhere`]) {
      of.trees.look(of.seen('idle', '1', cwd));
      of.diffs.look(of.seen('running', '2', cwd));
      expect([cwd, await of.trees.placeOf(cwd)]).toEqual([cwd, null]);
    }
    expect(of.runs).toEqual([]);
  });

  it('GIT1a git is asked again when the repository or an agent in it changes, and not twice within a moment', async () => {
    const of = setUp();
    await facts(of);
    for (let round = 0; round < 20; round += 1) of.trees.look(of.seen('idle'));
    git(shop, 'checkout', '-q', '-b', 'other');
    await of.clock.advance(2_500);
    await waitFor(async () => {
      await of.clock.advance(2_500);
      expect(of.trees.factsOf(shop)?.branch).toBe('other');
    });
    const before = of.statuses();
    expect(before).toBeLessThanOrEqual(5);
    put('src/a.ts', 'changed\n');
    of.trees.look(of.seen('running', '2'));
    await waitFor(async () => {
      await of.clock.advance(2_500);
      expect(of.trees.factsOf(shop)?.dirty).toBe(1);
    });
    // Nothing happens, and nothing is run.
    of.trees.look(of.seen('idle', '2'));
    await of.clock.advance(5_000);
    const calm = of.statuses();
    for (let minute = 0; minute < 10; minute += 1) await of.clock.advance(60_000);
    expect(of.statuses()).toBe(calm);
  });

  it('GIT1a what a repository would have run is not run, and nothing is locked or written', async () => {
    const trap = join(folder, 'trap');
    const ran = join(folder, 'ran');
    writeFileSync(trap, `#!/bin/sh\necho "$@" >>${ran}\ncat\n`);
    chmodSync(trap, 0o755);
    for (const key of ['core.fsmonitor', 'diff.external', 'core.pager', 'diff.x.textconv', 'diff.x.command']) {
      git(shop, 'config', key, `${trap} ${key}`);
    }
    for (const key of ['clean', 'smudge', 'process']) git(shop, 'config', `filter.a.b.${key}`, `${trap} ${key}`);
    git(shop, 'config', 'filter.a.b.required', 'true');
    // Also what another file of it says, and programs that would sign or fetch.
    writeFileSync(join(shop, '.git', 'more'), `[FILTER "Two"]\n\tclean = ${trap} included\n`);
    const others = {
      'include.path': 'more',
      'filter.process-only.process': `${trap} process`,
      'core.splitIndex': 'true',
      'core.sshCommand': `${trap} ssh`,
      'gpg.program': `${trap} gpg`,
      'log.showSignature': 'true',
      'status.submoduleSummary': 'true',
      'diff.submodule': 'log',
    };
    for (const [key, value] of Object.entries(others)) git(shop, 'config', key, value);
    const post = join(shop, '.git', 'hooks', 'post-index-change');
    mkdirSync(dirname(post), { recursive: true });
    writeFileSync(post, `#!/bin/sh\necho hook >>${ran}\n`, { mode: 0o755 });
    put('.gitattributes', '* diff=x\n*.two filter=Two\n*.three filter=process-only\n');
    writeFileSync(join(shop, '.git', 'info', 'attributes'), '*.ts filter=a.b\n*.md filter=Two\n');
    put('gone.md', 'other\n');
    for (const name of ['of.two', 'of.three']) put(name, 'first\n');
    const of = setUp();
    const before = readdirSync(join(shop, '.git')).sort();
    put('src/a.ts', 'one\ntwo\nTHREE\n');
    await facts(of);
    of.diffs.look(of.seen('running'));
    put('src/a.ts', 'changed\n');
    const made = await of.diffs.diff({ runtime_id: 'r', cwd: shop });
    expect(made).toMatchObject({ ok: true });
    expect(readdirSync(folder)).not.toContain('ran');
    expect(readdirSync(join(shop, '.git')).sort()).toEqual(before);
    expect(of.runs.every(({ env }) => env.GIT_OPTIONAL_LOCKS === '0' && env.GIT_DIR === undefined)).toBe(true);
  });

  it('GIT1 an object that is missing is not fetched, whatever the repository calls its remote', async () => {
    const config = {
      'core.repositoryFormatVersion': '1',
      'extensions.partialClone': 'origin',
      'remote.origin.promisor': 'true',
      'remote.origin.url': `ext::sh -c echo% ran% >>${join(folder, 'ran')}`,
      'protocol.ext.allow': 'always',
    };
    const tree = git(shop, 'rev-parse', 'HEAD^{tree}').trim();
    for (const [key, value] of Object.entries(config)) git(shop, 'config', key, value);
    rmSync(join(shop, '.git', 'objects', tree.slice(0, 2), tree.slice(2)));
    const of = setUp();
    // An old git knows no other word for it than the protocols.
    const old = new GitProgram(
      { run: (command) => createRealExec(createRealClock()).run({ ...command, env: without(command.env) }) },
      { PATH: process.env.PATH, HOME: folder },
    );
    expect(await of.program.run(shop, ['diff-tree', '-r', '-p', tree, tree.replace(/^./, 'f')])).toBeNull();
    expect(await old.run(shop, ['read-tree', 'HEAD'], { env: { GIT_INDEX_FILE: join(folder, 'index') } })).toBeNull();
    expect(readdirSync(folder)).not.toContain('ran');
  });

  it('GIT1c it is not led into another folder', async () => {
    const secret = join(folder, 'secret');
    mkdirSync(secret);
    writeFileSync(join(secret, 'key'), 'of another\n');
    git(shop, 'config', 'core.worktree', secret);
    const of = setUp();
    expect(await facts(of)).toMatchObject({ root: shop, dirty: 0 });
    const made = await of.diffs.diff({ runtime_id: 'r', cwd: shop });
    expect(made).toMatchObject({ ok: true, value: { files_total: 0, patch: '' } });
  });

  it.each([
    [
      'more filters than are switched off',
      Array.from({ length: 65 }, (_, n) => `[filter "f${n}"]\n\tclean = x\n`).join(''),
    ],
    ['a filter that cannot be named', '[filter "a=b"]\n\tclean = x\n'],
    ['a filter without a name', '[filter ""]\n\tclean = x\n'],
    ['a filter whose name is no text', Buffer.from('[filter "\xff"]\n\tclean = x\n', 'latin1')],
    ['a config that cannot be read', '[filter "a'],
  ])('GIT1b a repository with %s is not asked', async (_, config) => {
    const of = setUp();
    expect(await of.program.run(shop, statusArgs('normal'))).not.toBeNull();
    const before = of.runs.length;
    appendFileSync(join(shop, '.git', 'config'), config);
    expect(await of.program.run(shop, statusArgs('normal'))).toBeNull();
    expect(of.runs.slice(before).some(({ args }) => args.includes('status'))).toBe(false);
  });
});

describe('since the turn began', () => {
  async function after(turn: () => void, states: readonly StateName[] = ['idle', 'running', 'idle']) {
    const of = setUp();
    await facts(of);
    for (const state of states) {
      of.diffs.look(of.seen(state));
      // What was there when it began is read before the agent goes on.
      if (state === 'running')
        await waitFor(() => expect(of.runs.some(({ args }) => args.includes('write-tree'))).toBe(true));
    }
    turn();
    const made = await of.diffs.diff({ runtime_id: 'r', cwd: shop });
    if (!made.ok) throw new Error(made.failure.message);
    return { of, diff: made.value };
  }
  const line = ({ path, old_path, change, added, removed }: ChangedFile): string =>
    [change, old_path, path, added, removed].filter((word) => word !== null).join(' ');

  it('GIT2 tells what the turn changed and not what was changed before, also what it has committed', async () => {
    put('src/a.ts', 'one\ntwo\nthree\nmine before\n');
    put('notes.txt', 'mine\n');
    const { diff } = await after(() => {
      appendFileSync(join(shop, 'src/a.ts'), 'of the turn\n');
      rmSync(join(shop, 'gone.md'));
      put('made/new file.ts', 'new\n');
      git(shop, 'add', 'src');
      git(shop, 'commit', '-qm', 'turn');
      put('picture.png', new Uint8Array([0, 1, 2, 0]));
    });
    expect(diff.base.kind).toBe('turn');
    expect(diff.files.map(line)).toEqual([
      'deleted gone.md 0 1',
      'added made/new file.ts 1 0',
      'added picture.png',
      'modified src/a.ts 1 0',
    ]);
    expect(diff.patch).toContain('+of the turn\n');
    expect(diff.patch).not.toContain('+mine before');
    expect(diff).toMatchObject({ files_total: 4, left_out: 0, is_cut: false });
  });

  it('GIT2 nothing of it is written into the repository, and only the last turn is kept', async () => {
    put('notes.txt', 'mine\n');
    const objects = (): string => git(shop, 'count-objects', '-v');
    const before = objects();
    const { of } = await after(() => put('notes.txt', 'mine\nand more\n'));
    of.diffs.look(of.seen('running'));
    await waitFor(() => expect(readdirSync(join(folder, 'turns'))).toHaveLength(1));
    await of.diffs.diff({ runtime_id: 'r', cwd: shop });
    expect(readdirSync(join(folder, 'turns'))).toHaveLength(1);
    of.diffs.look([]);
    await waitFor(() => expect(readdirSync(join(folder, 'turns'))).toHaveLength(0));
    expect(objects()).toBe(before);
  });

  it('GIT2a an answered ask goes on with the turn, and of who was never seen at work the commit is the base', async () => {
    put('notes.txt', 'mine\n');
    const states = ['idle', 'running', 'waiting_approval', 'running', 'completed'] as const;
    const { diff } = await after(() => put('notes.txt', 'mine\nmore\n'), states);
    expect([diff.base.kind, diff.files.map(line)]).toEqual(['turn', ['modified notes.txt 1 0']]);
    const of = setUp();
    await facts(of);
    of.diffs.look(of.seen('idle'));
    const made = await of.diffs.diff({ runtime_id: 'r', cwd: shop });
    expect(made).toMatchObject({ ok: true, value: { base: { kind: 'commit', at: null }, files_total: 1 } });
    const busy = setUp();
    await facts(busy);
    busy.diffs.look(busy.seen('running'));
    await waitFor(async () => {
      const first = await busy.diffs.diff({ runtime_id: 'r', cwd: shop });
      expect(first).toMatchObject({ value: { base: { kind: 'first_seen' }, files_total: 0 } });
    });
  });

  it('GIT2c is bounded: a file too large is left out and counted, a long patch is cut at a line', async () => {
    put('large.bin', new Uint8Array(1_100_000));
    const { diff } = await after(() => {
      for (const name of ['b', 'c']) put(`${name}.txt`, `${name.repeat(60)}\n`.repeat(16_000));
    });
    expect(diff).toMatchObject({ left_out: 1, is_cut: true, files_total: 2 });
    expect(diff.patch.length).toBeLessThanOrEqual(1_048_576);
    expect(diff.patch.endsWith('\n')).toBe(true);
  });

  it('GIT2a where there is no room to keep what was there, no base is told, and why', async () => {
    put('notes.txt', 'mine\n');
    let isFull = true;
    const of = setUp(async (path) => {
      if (isFull) throw new FileError('make the directory', path, 'ENOSPC');
      await createRealFiles().mkdirPrivate(path);
    });
    await facts(of);
    of.diffs.look(of.seen('running'));
    await waitFor(async () => {
      const made = await of.diffs.diff({ runtime_id: 'r', cwd: shop });
      expect(made).toMatchObject({ failure: { code: 'E_STORE_FULL', message: expect.stringContaining('no base') } });
    });
    isFull = false;
    expect(await of.diffs.diff({ runtime_id: 'r', cwd: shop })).toMatchObject({ failure: { code: 'E_STORE_FULL' } });
    of.diffs.look(of.seen('idle'));
    of.diffs.look(of.seen('running', '2'));
    await waitFor(async () => {
      const made = await of.diffs.diff({ runtime_id: 'r', cwd: shop });
      expect(made).toMatchObject({ ok: true, value: { base: { kind: 'turn' }, files_total: 0 } });
    });
  });

  it('GIT2 a repository without a commit has one too, and no repository is said to be none', async () => {
    rmSync(join(shop, '.git'), { recursive: true });
    git(shop, 'init', '-q');
    const of = setUp();
    await facts(of);
    const made = await of.diffs.diff({ runtime_id: 'r', cwd: shop });
    expect(made).toMatchObject({ ok: true, value: { files_total: 2, git: { head: null, branch: 'main' } } });
    expect(await of.diffs.diff({ runtime_id: 'r', cwd: folder })).toMatchObject({ failure: { code: 'E_UNSUPPORTED' } });
  });
});

describe('what git prints', () => {
  it('names with spaces and renames are read from a status', () => {
    const text = [
      '# branch.oid 0123',
      '# branch.head a branch',
      '# branch.upstream origin/x',
      '# branch.ab +2 -3',
      '1 .M N... 100644 100644 100644 a a a file.ts',
      '2 R. N... 100644 100644 100644 a a R100 to here.ts',
      'from here.ts',
      'u UU N... 100644 100644 100644 100644 a a a both.ts',
      '? new/',
      '',
    ].join('\0');
    expect(parseStatus(text)).toEqual({
      ...{ head: '0123', branch: 'a branch', upstream: 'origin/x', ahead: 2, behind: 3, dirty: 4 },
      paths: ['a file.ts', 'to here.ts', 'from here.ts', 'both.ts', 'new/'],
    });
  });

  it('a rename stands with both names and its lines', () => {
    const text =
      ':100644 100644 a b R090\0old.ts\0new.ts\0:100644 000000 a 0 D\0gone\0' + '1\t2\t\0old.ts\0new.ts\0-\t-\tgone\0';
    expect(parseChanges(text)).toEqual([
      { path: 'new.ts', old_path: 'old.ts', change: 'renamed', added: 1, removed: 2 },
      { path: 'gone', old_path: null, change: 'deleted', added: null, removed: null },
    ]);
  });
});
