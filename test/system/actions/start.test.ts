// Starting agents: where they begin, what is said when they do not, and hostile words, which are never run.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ActingWorld } from '../../kit/acting.ts';
import { Live, until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { programsMayAll } from '../../kit/policy.ts';
import { act } from '../../kit/scenes.ts';
import { cliProgram } from '../../kit/self-tries.ts';

let live: Live;

beforeEach(() => {
  live = new Live();
  live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
});

afterEach(async () => {
  await live.close();
});

describe('starting an agent', () => {
  it('SEC3 a directory called like a format of tmux is a directory', async () => {
    const folder = join(live.dir, 'wd', `#(touch ${'$'}HOME-PWNED)#{pane_id},}`);
    mkdirSync(folder, { recursive: true });
    // Whoever runs this may have no parents left; it counts as a program of the user's.
    const config = join(live.dir, 'home/.config/agtmux');
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'policy.toml'), programsMayAll);
    live.tmux('set-option', '-g', 'remain-on-exit', 'on');
    await live.startDaemon();
    const wanted = {
      agent: 'claude',
      target: null,
      session: 'work',
      cwd: folder,
      args: ['; touch x', '$(touch y)'],
      pid: process.pid,
      hops: 0,
    };
    void live.client.post('/v1/runtimes', wanted).catch(() => null);
    await until(() => live.tmux('list-panes', '-s', '-t', 'work', '-F', '#{pane_dead}').split('\n').includes('1'));
    expect(existsSync(join(live.dir, 'home-PWNED'))).toBe(false);
    expect(existsSync(join(folder, 'x')) || existsSync(join(folder, 'y'))).toBe(false);
  });
});

describe('agtmux new', () => {
  let world: ActingWorld;

  beforeEach(async () => {
    world = new ActingWorld();
    const bin = join(world.dir, 'bin');
    LookAlike.putOnPath(world, 'claude', bin);
    world.tmux('set-environment', '-g', 'PATH', `${bin}:${world.env.PATH}`);
    await world.startDaemon();
  });
  afterEach(async () => {
    await world.close();
  });

  const windows = (): readonly string[] =>
    world.tmux('list-windows', '-a', '-F', '#{session_name}:#{window_name}').split('\n');

  it('ACT1 does nothing in a directory that is not there', async () => {
    writeFileSync(join(world.dir, 'file'), '');
    const before = windows();
    for (const cwd of [join(world.dir, 'none'), join(world.dir, 'file')]) {
      const said = await world.agtmux(['new', 'claude', '--cwd', cwd]);
      expect(said).toMatchObject({ status: 2, stderr: expect.stringMatching(/no such directory.*E_FILE/) });
    }
    expect(windows()).toEqual(before);
    expect((await world.audit()).map(({ result, detail }) => `${result} ${detail.code}`)).toEqual([
      'refused E_FILE',
      'refused E_FILE',
    ]);
  });

  it('ACT1 opens the session that is named when there is none of that name, and uses it the next time', async () => {
    for (const time of ['first', 'second']) {
      const said = await world.agtmux(['new', 'claude', '--session', 'fresh #{pid}', '--json']);
      expect({ time, ...said }).toMatchObject({ time, status: 0, stderr: '' });
    }
    expect(windows().filter((line) => line.startsWith('fresh'))).toEqual([
      'fresh #{pid}:claude',
      'fresh #{pid}:claude',
    ]);
    const dotted = await world.agtmux(['new', 'claude', '--session', 'a.b']);
    expect(dotted.stderr).toContain('E_INPUT');
  });

  it('ACT4 says at once that the program ended, and what to look at', async () => {
    for (const remain of ['off', 'on']) {
      world.tmux('set-option', '-g', 'remain-on-exit', remain);
      const said = await world.agtmux(['new', 'gemini', '--session', 'work']);
      expect(said).toMatchObject({
        status: 4,
        stderr: expect.stringMatching(/gemini exited right after its start.*PATH of tmux/),
      });
    }
  });

  it('ACT11 a preset starts its agents in one window, and a prompt is typed only once its agent can take it', async () => {
    const bin = join(world.dir, 'bin');
    const claude = LookAlike.putOnPath(world, 'claude', bin);
    LookAlike.putOnPath(world, 'codex', bin);
    mkdirSync(join(world.dir, 'shop'));
    const path = join(world.dir, 'presets.toml');
    const agents = [
      '{ agent = "gemini" }',
      '{ agent = "claude", directory = "shop", prompt = "review the last commit" }',
      '{ agent = "codex", directory = "none" }',
      '{ agent = "codex" }',
    ];
    writeFileSync(path, `[preset.review]\nlayout = "tiled"\nagents = [\n${agents.join(',\n')},\n]\n`);
    world.env.AGTMUX_CONFIG = path;
    // The recorded screens need room.
    world.tmux('new-session', '-d', '-s', 'team', '-n', 'first', '-x', '160', '-y', '100', 'sleep 1000');
    await until(async () => (await world.items()).some(({ identity }) => identity.session_name === 'team'));
    const said = await world.agtmux(['new', '--preset', 'review', '--session', 'team']);
    expect(said.stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^started, prompt queued, for [^;]+ \(runtime:\S+\); queued as /),
      expect.stringMatching(/^delivered: new as \S+, \S+ \(runtime:\S+\), by tmux$/),
    ]);
    expect(said).toMatchObject({
      status: 4,
      stderr: expect.stringMatching(
        /gemini \(1 of 4\): .*E_ENDED\]\n.*codex \(3 of 4\): .*no such directory.*E_FILE\]/,
      ),
    });
    const panes = world.tmux('list-panes', '-s', '-t', 'team', '-F', '#{window_name} #{pane_current_path}');
    expect(panes.split('\n').slice(1)).toEqual([`claude ${join(world.dir, 'shop')}`, `claude ${world.dir}`]);
    expect(claude.typed()).toBe('');
    await act(claude, 'waiting_approval');
    expect(claude.typed()).toBe('');
    await act(claude, 'settled');
    await until(() => claude.typed() === 'review the last commit\r');
  });

  it('opens its window in the session one is in, under the name of the agent', async () => {
    world.tmux('new-session', '-d', '-s', 'mine', '-x', '80', '-y', '24', '-c', world.dir);
    // The other one was used last.
    world.tmux('new-window', '-t', 'work:', 'sleep 1000');
    const out = join(world.dir, 'said');
    const line = `${process.execPath} ${cliProgram} new claude >${out} 2>&1`;
    await until(async () => (await world.items()).some(({ identity }) => identity.session_name === 'mine'));
    world.tmux('send-keys', '-t', 'mine:', '-l', line);
    world.tmux('send-keys', '-t', 'mine:', 'Enter');
    await until(() => existsSync(out) && /\n$/.test(readFileSync(out, 'utf8')));
    expect(readFileSync(out, 'utf8')).toMatch(/^delivered: new as [^(]+\(runtime:/);
    expect(windows()).toContain('mine:claude');
    expect(windows().filter((name) => name.endsWith(':claude'))).toHaveLength(1);
  });
});
