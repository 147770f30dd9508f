// `agtmux watch`: on a terminal, into a file, as events; and how it ends.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StatusReply } from '../../src/api/daemon.ts';
import { paneItemSchema, sessionItemSchema, windowItemSchema } from '../../src/api/panes.ts';
import { until } from '../kit/tmux-server.ts';
import { createWorld, headOf, type Running, root, type World } from './kit.ts';

let world: World;

beforeAll(async () => {
  world = createWorld();
  world.tmux('new-session', '-d', '-s', 'work', '-x', '100', '-y', '30', `${world.agent('claude')} 600`);
  await until('the agent is listed', async () => (await world.agtmux('list')).stdout.includes('claude'));
});

afterAll(() => world.end());

interface Line {
  readonly schema_version: number;
  readonly version: number;
  readonly type: string;
  readonly key: string | null;
  readonly item: { readonly agent?: string | null; readonly window_name?: string } | null;
}

const linesOf = (text: readonly string[]): readonly Line[] => text.map((line) => JSON.parse(line) as Line);

async function onceAs(...args: string[]): Promise<readonly Line[]> {
  const { status, stdout, stderr } = await world.agtmux('watch', '--format', 'jsonl', '--once', ...args);
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return linesOf(stdout.split('\n').filter((line) => line !== ''));
}

const events = (...args: string[]): Running => world.start('watch', '--format', 'jsonl', ...args);

describe('agtmux watch --format jsonl', () => {
  it.each([
    ['watch', '--format', 'jsonl'],
    ['watch', '--scope', 'windows', '--format', 'jsonl'],
  ])('%j ends when its reader has left, though nothing happens any more', (...args) => {
    // The shell waits for both ends of the pipe.
    const line = `"$0" ${join(root, 'bin/agtmux')} ${args.join(' ')} | head -n 1`;
    const { env, directory: cwd } = world;
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', line, process.execPath], {
      env,
      cwd,
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).not.toBe('');
  });

  it('FED3 tells what there is, one event a line with the same fields', async () => {
    const panes = await onceAs();
    expect(panes).toHaveLength(1);
    expect(Object.keys(panes[0] ?? {})).toEqual(['schema_version', 'version', 'type', 'key', 'item']);
    expect(panes[0]).toMatchObject({ schema_version: 1, type: 'present' });
    paneItemSchema.parse(panes[0]?.item);
    windowItemSchema.parse((await onceAs('--scope', 'windows'))[0]?.item);
    const [session] = await onceAs('--scope', 'sessions');
    sessionItemSchema.parse(session?.item);
    expect(session?.key).toBe('session:host/work');
    expect(await onceAs('--agent', 'codex')).toEqual([]);
    expect(await onceAs('--needs-action')).toEqual([]);
  });

  it('FED2 tells of what comes and goes, and goes on from a version', async () => {
    const running = events('--all-panes', '--interval', '50ms');
    const windows = events('--scope', 'windows', '--all-panes');
    await until('both have begun', () => running.lines.length > 0 && windows.lines.length > 0);
    world.tmux('new-window', '-d', '-t', 'work:', '-n', 'fresh', 'sleep 600');
    const come = await until('the new pane', () =>
      linesOf(running.lines).find((line) => line.type === 'changed' && line.item?.window_name === 'fresh'),
    );
    await until('the new window', () => linesOf(windows.lines).some((line) => line.item?.window_name === 'fresh'));
    world.tmux('kill-window', '-t', 'work:fresh');
    const gone = await until('the pane is gone', () =>
      linesOf(running.lines).find((line) => line.type === 'gone' && line.key === come.key),
    );
    expect(gone.version).toBeGreaterThan(come.version);
    await until('the window is gone', () => linesOf(windows.lines).some((line) => line.type === 'gone'));
    for (const one of [running, windows]) {
      one.signal('SIGINT');
      expect(await one.ended).toMatchObject({ status: 0, stderr: '' });
    }
    const later = await onceAs('--all-panes', '--since', String(come.version - 1));
    expect(later.every((line) => line.version >= come.version && line.type !== 'present')).toBe(true);
    // What was changed last may still be told.
    await until('nothing is newer than now', async () => {
      const { daemon } = await world.json<{ daemon: StatusReply }>('status', '--json');
      return (await onceAs('--since', String(daemon.feed_version))).length === 0;
    });
    expect(await onceAs('--since', '2001-01-01T00:00:00Z')).toHaveLength(1);
    expect(await onceAs('--since', '2999-01-01T00:00:00Z')).toEqual([]);
  });

  it('ends quietly when nobody reads any more', async () => {
    const running = events('--all-panes');
    await until('it has begun', () => running.lines.length > 0);
    running.closeOutput();
    let round = 0;
    const ended = running.ended.then((ran) => ran);
    const ran = await until('it has ended', async () => {
      round += 1;
      world.tmux('rename-window', '-t', 'work:0', `name${round}`);
      return Promise.race([ended, new Promise<null>((resolve) => setTimeout(() => resolve(null), 100))]);
    });
    expect(ran).toMatchObject({ status: 0, stderr: '' });
  });

  it('says that the daemon was lost, and goes on when it is back', async () => {
    const running = events();
    await until('it has begun', () => running.lines.length > 0);
    await world.agtmux('daemon', 'restart');
    const types = (): readonly string[] => linesOf(running.lines).map((line) => line.type);
    await until('lost and found', () =>
      types()
        .join()
        .match(/^present,(changed,)*lost,.*present/),
    );
    // The next daemon listens where the environment of whoever starts it says.
    const elsewhere = { AGTMUX_RUNTIME_DIR: join(world.directory, 'elsewhere') };
    expect((await world.agtmuxWith(elsewhere, 'daemon', 'restart')).status).toBe(0);
    await until('lost and found elsewhere', () =>
      types()
        .join()
        .match(/lost,.*present.*lost,.*present/),
    );
    running.signal('SIGTERM');
    expect((await running.ended).status).toBe(0);
  });
});

describe('agtmux watch', () => {
  it('appends a table for each change when it writes into a file', async () => {
    const running = world.start('watch', '--all-panes', '--interval', '100ms');
    await until('the first table', () => running.lines.some((line) => line.startsWith('STATE')));
    world.tmux('new-window', '-d', '-t', 'work:', 'sleep 601');
    await until('the second', () => running.lines.filter((line) => line.startsWith('STATE')).length >= 2);
    running.signal('SIGINT');
    const { status, stdout, stderr } = await running.ended;
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).not.toContain('\u001b');
    expect((await world.agtmux('watch', '--once', '--scope', 'sessions')).stdout).toContain('host/work');
  });

  it('draws in place on a small terminal, and leaves it as it was', async () => {
    const line = `trap : INT; '${process.execPath}' '${join(root, 'bin/agtmux')}' watch --interval 100ms; echo left with $?; sleep 600`;
    world.tmux('-L', 'other', 'new-session', '-d', '-s', 'tiny', '-x', '30', '-y', '6', line);
    const screen = (): string => world.tmux('-L', 'other', 'capture-pane', '-p', '-t', 'tiny:');
    await until('the table', () => screen().includes('claude'));
    const states = (): string =>
      world.tmux('-L', 'other', 'display', '-p', '-t', 'tiny:', '#{alternate_on}#{cursor_flag}');
    expect(states().trim()).toBe('10');
    world.tmux('-L', 'other', 'send-keys', '-t', 'tiny:', 'C-c');
    await until('it has left', () => screen().includes('left with 0'));
    expect(states().trim()).toBe('01');
  });

  it.each([
    [['--interval', 'soon'], '50ms to 60m'],
    [['--since', '5'], '--format jsonl'],
    [['--since', 'yesterday', '--format', 'jsonl'], 'ISO time'],
    [['--since', '5', '--format', 'jsonl', '--scope', 'windows'], '--scope panes'],
    [['--scope', 'world'], 'panes, windows, sessions'],
    [['--target', 'mars'], 'there is no target'],
  ])('%j is refused in one line', async (args, words) => {
    const ran = await world.agtmux('watch', ...args);
    expect(ran).toMatchObject({ status: 2, stdout: '' });
    expect(ran.stderr).toMatch(/^agtmux: [^\n]+\n$/);
    expect(ran.stderr).toContain(words);
  });
});

describe('a pipe whose reader left', () => {
  it('ends whatever goes on printing, though nothing more comes to be printed', async () => {
    expect(await headOf(world.env, 'watch')).toContain('AGENT');
    expect(await headOf(world.env, 'logs', '--follow')).toMatch(/\S/);
  });
});
