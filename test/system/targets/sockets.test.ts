// The user's tmux sockets as targets, found on real tmux servers, directly and through the collector in every shell that
// is here.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { targetId } from '../../../src/model/ids.ts';
import { limits } from '../../../src/model/limits.ts';
import { Collector } from '../../../src/targets/collector.ts';
import type { Executor } from '../../../src/targets/executor.ts';
import { createLocalExecutor } from '../../../src/targets/local.ts';
import { TargetManager } from '../../../src/targets/manager.ts';
import { findSockets, type TargetSocket } from '../../../src/targets/sockets.ts';
import { isAlive, ports, removeTemporaries, temporary, text, uid, until } from './bench.ts';

const machine = targetId('host');
let base = '';
let directory = '';
let stray: Server | null = null;

function tmux(socket: string, ...args: string[]): void {
  const { TMUX: _, ...env } = process.env;
  execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], { env: { ...env, TMUX_TMPDIR: base } });
}

const find = (explicit?: readonly string[]): Promise<readonly TargetSocket[]> => {
  const search = { machine, files: ports.files, clock: ports.clock, uid, variables: { TMUX_TMPDIR: base } };
  return findSockets(explicit === undefined ? search : { ...search, explicit });
};
const namesOf = (sockets: readonly TargetSocket[]): string[] =>
  sockets.map((socket) => `${socket.target}${socket.alive ? '' : ' (quiet)'}`);

beforeAll(async () => {
  base = await temporary('sockets');
  directory = join(base, `tmux-${uid}`);
  for (const socket of ['work', 'dead', 'odd name']) tmux(socket, 'new-session', '-d');
  // Killed, so that its socket stays.
  const pid = execFileSync('tmux', ['-S', join(directory, 'dead'), 'display-message', '-p', '#{pid}'], {
    encoding: 'utf8',
  });
  process.kill(Number(pid), 'SIGKILL');
  await until(async () => !(await isAlive(Number(pid))));
  await mkdir(join(directory, 'folder'));
  await symlink(join(directory, 'work'), join(directory, 'link'));
});
afterAll(async () => {
  for (const socket of ['work', 'odd name', 'default']) {
    try {
      tmux(socket, 'kill-server');
    } catch {
      // It did not run.
    }
  }
  stray?.close();
  await removeTemporaries();
});

describe('sockets of this machine', () => {
  it('IDN1 host is always there; live sockets become host@name; dead, foreign and odd ones do not', async () => {
    expect(namesOf(await find())).toEqual(['host (quiet)', 'host@work']);
    tmux('default', 'new-session', '-d');
    expect(namesOf(await find())).toEqual(['host', 'host@work']);
    expect((await find())[1]?.path).toBe(join(directory, 'work'));
  });

  it('IDN1 a socket of another user is never asked', async () => {
    const search = { machine, files: ports.files, clock: ports.clock, variables: { TMUX_TMPDIR: base } };
    // Seen with the eyes of a user who owns none of them, in a directory of that user's name.
    await symlink(directory, join(base, 'tmux-4294967'));
    expect(namesOf(await findSockets({ ...search, uid: 4_294_967 }))).toEqual(['host (quiet)']);
  });

  it('IDN1 more servers than are watched are told by name, and a new one takes the place of none', async () => {
    const crowded = await temporary('crowd');
    const folder = join(crowded, `tmux-${uid}`);
    await mkdir(folder, { recursive: true });
    const servers: Server[] = [];
    const listen = async (name: string): Promise<void> => {
      const server = createServer((socket) => socket.destroy());
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(join(folder, name), resolve));
    };
    const named = (count: number): string => `s${String(count).padStart(2, '0')}`;
    for (let count = 0; count < 40; count += 1) await listen(named(count));
    const book = { targets: async () => [], putTarget: async () => undefined, removeTarget: async () => undefined };
    const variables = { ...process.env, TMUX_TMPDIR: crowded };
    const made = new TargetManager({ ...ports, book, uid, variables, runtimeDir: crowded, onEvent: () => undefined });
    try {
      await made.start();
      await until(() => made.targets().length === limits.targetSocketsMax);
      const watched = made.targets().map(({ target }) => target);
      const unwatched = (): string[] => made.unwatched().map(({ target }) => target);
      const last = Array.from({ length: 9 }, (_, index) => `host@${named(index + 31)}`);
      expect(unwatched()).toEqual(last);
      await listen('a-new-one');
      await made.connect('host');
      expect(made.targets().map(({ target }) => target)).toEqual(watched);
      expect(unwatched()).toEqual(['host@a-new-one', ...last]);
    } finally {
      await made.close();
      for (const server of servers) server.close();
    }
  });

  it('sockets may be named instead, by name or by path, and are listed dead or alive', async () => {
    expect(namesOf(await find(['work', join(directory, 'dead')]))).toEqual(['host@work', 'host@dead (quiet)']);
  });

  it('a server that listens but does not answer counts as alive', async () => {
    const path = join(directory, 'slow');
    stray = createServer(() => undefined);
    await new Promise<void>((resolve) => stray?.listen(path, resolve));
    expect(namesOf(await find())).toContain('host@slow');
  });
});

/** The same programs by another shell. */
function withShell(shell: readonly string[]): Executor {
  // A home of its own: bash would run the user's start file where its input is a socket.
  const variables = { ...process.env, HOME: base, TMUX_TMPDIR: base };
  const local = createLocalExecutor({ target: machine, exec: ports.exec, channels: ports.channels, variables });
  return { ...local, open: (argv, handlers) => local.open([...shell, ...argv.slice(1)], handlers) };
}

/** Those that this machine has; `sh` is on every one. */
const shells = [['sh'], ['dash'], ['bash', '--posix'], ['busybox', 'sh']].filter(([program = '']) =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program))),
);

describe.each(shells.map((shell) => [shell]))('the collector in %j', (shell) => {
  it('tells host, sockets, clock and processes as they are', async () => {
    const executor = withShell(shell);
    const collector = new Collector({ executor, clock: ports.clock, random: ports.random });
    const host = await collector.host();
    expect(host).toMatchObject({ ok: true, value: { uid, tmuxVersion: expect.stringMatching(/^tmux \d/) } });
    expect(host.ok && /^[0-9a-f-]{36}$/.test(host.value.boot)).toBe(true);
    const sockets = await collector.sockets(machine);
    expect(sockets.ok ? namesOf(sockets.value) : sockets).toEqual(namesOf(await find()));
    const clock = await collector.clock();
    expect(clock.ok && Math.abs(clock.value.remoteMs - clock.value.answeredMs)).toBeLessThan(5_000);
    const processes = await collector.ask('processes', 30_000);
    const lines = processes.ok ? text(processes.value).split('\n') : [];
    const own = lines.find((line) => line.trim().startsWith(`${process.pid} ${process.ppid} `));
    expect(own ?? lines.find((line) => line.trim().split(/\s+/)[0] === String(process.pid))).toBeDefined();
    collector.close();
    await executor.close();
  });

  it('a glance at processes stays the same while nothing happens, and changes with whoever starts below or ends', async () => {
    const executor = withShell(shell);
    const collector = new Collector({ executor, clock: ports.clock, random: ports.random });
    const parent = spawn('sh', ['-c', 'read x; sleep 1000 & wait'], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    const pid = parent.pid ?? 0;
    const glance = async (): Promise<string> => {
      const told = await collector.glance([pid]);
      return told.ok ? told.value : told.failure.message;
    };
    await until(async () => (await glance()).includes(`${pid} (sh`));
    const before = await glance();
    expect(await glance()).toBe(before);
    parent.stdin?.end('go\n');
    await until(async () => (await glance()).includes(`${pid}: `));
    process.kill(-pid, 'SIGKILL');
    await until(async () => (await glance()).includes(`${pid} gone`));
    expect((await collector.ping()).ok).toBe(true);
    collector.close();
    await executor.close();
  });
});
