// The daemon among things that break: tmux servers that die, clients that are killed, the daemon itself killed while it
// works. COUNT repeats each, a few times by default. After each the list agrees with tmux.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Live, until } from '../../kit/live.ts';

const count = Number(process.env.COUNT ?? 3);
let live: Live;

beforeEach(() => {
  live = new Live();
  live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
  live.tmux('split-window', '-t', 'work', 'sleep 100000');
});

afterEach(async () => {
  await live.close();
});

const agrees = (): Promise<void> =>
  until(async () => (await live.listed().catch(() => [])).join('\n') === live.tmuxListed().join('\n'));
const rssMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

const redraw = `sh -c 'while :; do printf "\\033[Hbusy %s" "$$"; sleep 0.1; done'`;

/** The control clients that the daemon has at this tmux server. */
function clientPids(): readonly number[] {
  return live
    .tmux('list-clients', '-F', '#{client_pid}')
    .split('\n')
    .filter((line) => line !== '')
    .map(Number);
}

describe('the state directory', () => {
  it('a daemon whose directory is removed, or replaced by another, leaves', async () => {
    await live.startDaemon();
    const left = live.daemonLeft();
    // In one step: the daemon goes on writing meanwhile, and makes folders anew that it misses.
    renameSync(live.stateDir, join(live.dir, 'taken'));
    expect(await left).toBe(0);
  });
});

describe('where no tmux server runs', () => {
  it('FED6 none is started by looking for one: it would have the environment of the daemon, and run the configuration', async () => {
    live.tmux('kill-server');
    const started = join(live.dir, 'started');
    writeFileSync(join(live.dir, 'home/.tmux.conf'), `run-shell -b "touch ${started}"\nset -g exit-empty off\n`);
    await live.startDaemon();
    await until(async () => {
      const { items } = await live.client.get('/v1/targets');
      return items.some(({ target, trouble }) => target === 'host' && trouble === 'no tmux server is running');
    });
    expect(() => live.tmux('list-sessions')).toThrow(/no server running|No such file/);
    expect(existsSync(started)).toBe(false);
  });
});

describe('a daemon that was killed while it wrote', () => {
  it('SEC1 what it left half written, messages among it, is removed by the next one; what is not its own stays', async () => {
    await live.startDaemon();
    await live.stopDaemon('SIGKILL');
    const name = '.agtmux-0123456789abcdef.tmp';
    const folders = ['.', 'sessions', 'shells'].map((folder) => join(live.stateDir, folder));
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, name), 'a message that waits', { mode: 0o600 });
      writeFileSync(join(folder, 'mine.tmp'), 'not ours', { mode: 0o600 });
      // A moment older than the next daemon, which cannot tell its own start to the millisecond on a busy machine.
      const written = new Date(Date.now() - 5_000);
      utimesSync(join(folder, name), written, written);
    }
    await live.startDaemon();
    for (const folder of folders)
      expect([folder, existsSync(join(folder, name)), existsSync(join(folder, 'mine.tmp'))]).toEqual([
        folder,
        false,
        true,
      ]);
  });
});

describe('tmux servers', () => {
  it('IDN2 are noticed to be gone and to be back, with other panes under the same ids', async () => {
    await live.startDaemon();
    for (let turn = 0; turn < count; turn++) {
      await agrees();
      live.tmux('kill-server');
      await until(async () => (await live.listed()).length === 0);
      live.tmux('new-session', '-d', '-s', `again${turn}`, 'sleep 100000');
    }
    await agrees();
  });

  it('RSV8 an agent ends with its server', async () => {
    live.tmux('new-window', '-t', 'work', live.lookAlike());
    await live.startDaemon();
    const agents = async () => (await live.client.get('/v1/panes', { ended: true })).items;
    await until(async () => (await agents()).length === 1);
    live.tmux('kill-server');
    await until(async () => (await agents()).every((one) => one.ended !== null));
    expect((await agents()).map((one) => one.agent)).toEqual(['claude']);
  });
});

describe('a tmux of another version', () => {
  it('RSV6a is named with the version of the server, which is not taken for gone', async () => {
    const pane = live.tmux('new-window', '-t', 'work', '-P', '-F', '#{pane_id}', live.lookAlike());
    await live.startDaemon();
    const agent = async () =>
      (await live.client.get('/v1/panes', { ended: true })).items.find(({ agent: name }) => name !== null);
    await until(async () => (await agent())?.identity.pane_id === pane);
    await live.stopDaemon();
    // A stand-in for a tmux that was upgraded beside a server that runs on.
    const bin = join(live.dir, 'bin');
    mkdirSync(bin);
    const standIn =
      '#!/bin/sh\n[ "$1" = -V ] && { echo tmux 2.1; exit 0; }\necho "server exited unexpectedly" >&2\nexit 1\n';
    writeFileSync(join(bin, 'tmux'), standIn, { mode: 0o755 });
    const path = live.env.PATH;
    live.env.PATH = `${bin}:${path}`;
    await live.startDaemon();
    live.env.PATH = path;
    const target = async () => (await live.client.get('/v1/targets')).items.find((one) => one.target === 'host');
    await until(async () => (await target())?.health === 'down');
    const version = live.tmux('display-message', '-p', '#{version}');
    await until(async () => (await target())?.trouble?.includes('tmux 2.1 cannot talk') === true);
    expect((await target())?.trouble).toContain(`the server that runs tmux ${version}`);
    expect(await agent()).toMatchObject({
      ended: null,
      reason_code: 'target_unreachable',
      identity: { pane_id: pane },
    });
  });
});

describe('control clients', () => {
  it('FED4 that are killed come back, and the server is neither wedged nor grown', async () => {
    await live.startDaemon();
    await agrees();
    const server = live.serverPid;
    const before = rssMb(server);
    for (let turn = 0; turn < count * 2; turn++) {
      await until(() => clientPids().length > 0);
      for (const pid of clientPids()) process.kill(pid, 'SIGKILL');
      live.tmux('rename-window', '-t', 'work:0', `turn${turn}`);
      await agrees();
    }
    expect(live.serverPid).toBe(server);
    expect(rssMb(server) - before).toBeLessThan(10);
  });
});

describe('the daemon', () => {
  it('LOG1 killed at any moment starts again with what it knew, and leaves nothing behind', async () => {
    live.tmux('new-window', '-t', 'work', '-n', 'agent', live.lookAlike());
    // Panes that redraw all the time: the daemon is never idle when it is killed.
    for (let pane = 0; pane < 8; pane++) live.tmux('new-window', '-d', '-t', 'work', redraw);
    await live.startDaemon();
    const runtimes = async () =>
      (await live.client.get('/v1/panes')).items.map((one) => `${one.runtime_id} ${one.started_at}`);
    await until(async () => (await runtimes()).length === 1);
    const known = await runtimes();
    for (let turn = 0; turn < count; turn++) {
      await live.stopDaemon('SIGKILL');
      live.tmux('rename-window', '-t', 'work:0', `life${turn}`);
      await live.startDaemon();
      await agrees();
      await until(async () => (await runtimes()).join() === known.join());
    }
    await live.stopDaemon();
    await until(() => clientPids().length === 0);
    expect(live.tmux('show-hooks', '-g')).not.toContain('wait-for -S agtmux');
    execFileSync('tmux', ['kill-server'], { env: live.env, timeout: 5_000 });
  });

  it('LOG6 there is only one: a second is turned away with its code', async () => {
    await live.startDaemon();
    const second = new Live({ ...live.env });
    await expect(second.startDaemon()).rejects.toThrow('left with 6');
    expect((await live.client.get('/v1/status')).pid).toBe(live.daemonPid);
  });
});
