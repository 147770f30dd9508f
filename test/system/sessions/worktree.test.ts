// A session in a worktree of its own, from the command line to the last branch; and one that prints without end.

import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathTo } from '../../../src/api/requests.ts';
import { limits } from '../../../src/model/limits.ts';
import { until } from '../../kit/live.ts';
import { LedWorld } from './kit.ts';

let world: LedWorld;
const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', folder, ...args], {
    env: world.env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

const which = (program: string): string =>
  execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();

beforeAll(async () => {
  world = new LedWorld();
  const who = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' };
  Object.assign(world.env, who);
  git(world.project, 'init', '--quiet', '--initial-branch=main');
  writeFileSync(join(world.project, 'first'), 'x');
  git(world.project, 'add', '--all');
  git(world.project, 'commit', '--quiet', '-m', 'first');
  await world.startDaemon();
});
afterAll(async () => {
  await world.close();
});

describe('session start --worktree', () => {
  it('SES8 works beside the repository; what is in it goes only when nothing is lost, or confirmed', async () => {
    const started = await world.agtmux([
      'session',
      'start',
      '--agent',
      'claude',
      '--worktree=fix',
      'text hello',
      '--json',
    ]);
    expect([started.status, started.stderr]).toEqual([0, '']);
    const { id, cwd, worktree } = JSON.parse(started.stdout).session;
    expect([cwd, worktree.branch]).toEqual([join(world.dir, 'project-agtmux/fix'), 'fix']);
    await world.becomes(id, 'completed');
    writeFileSync(join(cwd, 'second'), 'y');
    const kept = await world.agtmux(['session', 'remove', id, '--yes']);
    expect([kept.status, kept.stderr]).toEqual([4, expect.stringContaining('uncommitted changes')]);
    // Nothing was lost, and it can still be used.
    expect(existsSync(join(cwd, 'second'))).toBe(true);
    await world.deed(id, 'send', { text: 'text again' });
    await until(async () => (await world.words(id, 'agent')) === 'hello\nagain');
    git(cwd, 'add', '--all');
    git(cwd, 'commit', '--quiet', '-m', 'second');
    git(world.project, 'merge', '--quiet', 'fix');
    await world.becomes(id, 'completed');
    expect((await world.agtmux(['session', 'remove', id, '--yes'])).status).toBe(0);
    expect([existsSync(cwd), git(world.project, 'branch', '--list', 'fix')]).toEqual([false, '']);
  });

  it('SES8 nothing is started in a session that is being removed', async () => {
    const { id } = await world.begin('text hello', { worktree: 'slow' });
    await world.becomes(id, 'completed');
    const [begun, go, real] = [join(world.dir, 'git.begun'), join(world.dir, 'git.go'), which('git')];
    const slow = `#!/bin/sh\ncase "$*" in *'worktree remove'*) : > '${begun}'; until [ -e '${go}' ]; do sleep 0.05; done;; esac\nexec '${real}' "$@"\n`;
    writeFileSync(join(world.bin, 'git'), slow, { mode: 0o755 });
    try {
      const removed = world.deed(id, 'remove');
      await until(() => existsSync(begun));
      const starts = world.noted('start').length;
      await expect(world.deed(id, 'send', { text: 'text more' })).rejects.toMatchObject({ code: 'E_STATE_CHANGED' });
      await expect(world.deed(id, 'remove')).rejects.toMatchObject({ code: 'E_STATE_CHANGED' });
      writeFileSync(go, '');
      await removed;
      expect(world.noted('start').length).toBe(starts);
    } finally {
      writeFileSync(go, '');
      rmSync(join(world.bin, 'git'));
    }
  });

  it('SES8 a start that fails leaves no worktree and no branch behind', async () => {
    const ran = await world.agtmux(['session', 'start', '--agent', 'codex', '--worktree', '--', 'text x']);
    expect([ran.status, ran.stderr]).toEqual([9, expect.stringContaining('E_AGENT_MISSING')]);
    expect(git(world.project, 'worktree', 'list').split('\n').length).toBe(1);
    expect(git(world.project, 'branch', '--list', 'agtmux/*')).toBe('');
  });
});

describe('a session that prints without end', () => {
  it('SES10 is bounded in what is kept, says so, and is heard to its end', async () => {
    const { id } = await world.begin('flood 12');
    await until(async () => (await world.session(id)).state === 'completed', 60_000);
    const page = await world.client.get(pathTo('/v1/managed/{id}/messages', { id: id }), {
      count: limits.sessionPageMax,
    });
    expect(page.truncated).toBe(true);
    expect(page.messages.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(
      limits.sessionMessagesBytesMax,
    );
    expect(statSync(join(world.stateDir, `sessions/${id}.messages`)).size).toBeLessThan(
      limits.sessionMessagesBytesMax * 3,
    );
  });
});
