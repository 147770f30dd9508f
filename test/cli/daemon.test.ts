// The life of the daemon as commands see it: started by the first one, once, and again after any death.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { StatusReply } from '../../src/api/daemon.ts';
import type { PaneList } from '../../src/api/panes.ts';
import { limits } from '../../src/model/limits.ts';
import { StoreDatabase, storePaths } from '../../src/store/database.ts';
import { type Migration, migrations } from '../../src/store/migrations.ts';
import { until } from '../kit/tmux-server.ts';
import { createWorld, panesOf, type World } from './kit.ts';

let world: World;

afterEach(() => world.end());

interface StatusOutput {
  readonly daemon: StatusReply;
}

const pidOf = async (): Promise<number> => (await world.json<StatusOutput>('status', '--json')).daemon.pid;

const listed = async (): Promise<readonly string[]> => {
  const { items } = await world.json<PaneList>('list', 'panes', '--all-panes', '--json');
  return items.map((item) => item.identity.pane_id ?? '').sort();
};

describe('the daemon', () => {
  it('is started once by ten commands at once', async () => {
    world = createWorld();
    world.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 600');
    const ran = await Promise.all(Array.from({ length: 10 }, () => world.agtmux('list', '--all-panes')));
    expect(ran.map(({ status, stderr }) => `${status} ${stderr}`)).toEqual(Array(10).fill('0 '));
    for (const { stdout } of ran) expect(stdout).toContain('host/work:0.0');
    const log = world.log();
    expect(log.match(/"words":"ready"/g)).toHaveLength(1);
    expect(log).not.toContain('E_STORE_LOCKED');
    expect(existsSync(join(world.stateDir, 'run/starting'))).toBe(false);
    expect(statSync(join(world.stateDir, 'daemon.log')).mode & 0o777).toBe(0o600);
  });

  it('restarts with the environment it had, whoever restarts it and whoever misses it meanwhile', async () => {
    world = createWorld();
    world.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 600');
    const variable = async (name: string): Promise<string | undefined> =>
      readFileSync(`/proc/${await pidOf()}/environ`, 'utf8')
        .split('\0')
        .find((pair) => pair.startsWith(`${name}=`));
    const first = `${world.env.PATH}:/first`;
    await world.agtmuxWith({ PATH: first, MARK: 'two\nlines=1' }, 'daemon', 'start');
    const pids = [await pidOf()];
    for (let count = 0; count < 3; count += 1) {
      let isOver = false;
      // As an open board does it, which starts the daemon that it misses.
      const others = ['a', 'b'].map(async (name) => {
        while (!isOver) await world.agtmuxWith({ PATH: `${world.env.PATH}:/${name}` }, 'list');
      });
      const restarted = await world.agtmuxWith({ PATH: `${world.env.PATH}:/restart` }, 'daemon', 'restart');
      isOver = true;
      await Promise.all(others);
      expect([restarted.stderr, restarted.status]).toEqual(['', 0]);
      expect([await variable('PATH'), await variable('MARK')]).toEqual([`PATH=${first}`, 'MARK=two\nlines=1']);
      pids.push(await pidOf());
    }
    expect(new Set(pids).size).toBe(pids.length);
  });

  it('ACT6 is stopped by a script without a terminal that started it, and by no other', async () => {
    world = createWorld();
    rmSync(join(world.directory, '.config/agtmux/policy.toml'));
    const agtmux = `${process.execPath} ${join(import.meta.dirname, '../../bin/agtmux')}`;
    /** A script whose parents are gone, as cron's and a build server's are; what it printed. */
    const script = async (name: string, lines: string): Promise<string> => {
      const file = join(world.directory, name);
      writeFileSync(file, `exec >${file}.out 2>&1 </dev/null\n${lines}\necho the end\n`);
      spawn('setsid', ['-f', 'sh', file], { env: world.env, stdio: 'ignore' });
      const told = (): string => (existsSync(`${file}.out`) ? readFileSync(`${file}.out`, 'utf8') : '');
      await until(`${name} is over`, () => told().endsWith('the end\n'));
      return told();
    };
    const own = await script('own', `${agtmux} daemon start\nsh -c '${agtmux} daemon stop; true'`);
    expect(own).toMatch(/^started, pid (\d+)\nstopped, pid \1\nthe end\n$/);
    const first = await script('first', `${agtmux} daemon start`);
    expect(first).toContain('started');
    expect(await script('second', `${agtmux} daemon stop`)).toContain('E_ROLE');
    const pid = await pidOf();
    process.kill(pid, 'SIGTERM');
    await until('the daemon is gone', () => !existsSync(`/proc/${pid}`));
  });

  it('is found by whoever has another runtime directory, or none', async () => {
    world = createWorld();
    world.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 600');
    await world.agtmux('daemon', 'start');
    const pid = await pidOf();
    const elsewhere = { AGTMUX_RUNTIME_DIR: join(world.directory, 'elsewhere') };
    const found = await world.agtmuxWith(elsewhere, 'status', '--json');
    expect((JSON.parse(found.stdout) as StatusOutput).daemon.pid).toBe(pid);
    expect(await world.agtmuxWith(elsewhere, 'list', '--all-panes')).toMatchObject({ status: 0, stderr: '' });
    expect(statSync(join(world.stateDir, 'socket-path')).mode & 0o777).toBe(0o600);
    // Whoever comes first after its death starts the next one where its own environment says; the others follow.
    process.kill(pid, 'SIGKILL');
    expect(await world.agtmuxWith(elsewhere, 'list', '--all-panes')).toMatchObject({ status: 0, stderr: '' });
    expect(existsSync(join(world.directory, 'elsewhere/agtmux.sock'))).toBe(true);
    expect(await world.agtmux('list', '--all-panes')).toMatchObject({ status: 0, stderr: '' });
    expect(await pidOf()).not.toBe(pid);
    expect(world.log()).not.toContain('E_STORE_LOCKED');
  });

  it('says what is missing for a new agent: the agent, the machine, or a tmux server on it', async () => {
    world = createWorld();
    const refused = async (...args: string[]) => {
      const { status, stderr } = await world.agtmux('new', ...args);
      return `${status} ${stderr}`;
    };
    expect(await refused('nobody')).toMatch(/^3 .*there is no agent nobody; run `agtmux agents` to see them/);
    expect(await refused('claude', '--target', 'zz')).toMatch(/^3 .*there is no target zz; see `agtmux target list`/);
    expect(await refused('claude')).toMatch(
      /^5 .*no tmux server is running on host; start one with `tmux new -s work` \[/,
    );
    world.tmux('-L', 'other', 'new-session', '-d', '-s', 'work', 'sleep 600');
    await until('it sees the other server', async () =>
      (await refused('claude')).includes('or use --target host@other'),
    );
  });

  it('is there again after kill -9, and the list agrees with tmux', async () => {
    world = createWorld();
    world.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 600');
    for (const round of [1, 2]) {
      await world.agtmux('list');
      const pid = await pidOf();
      process.kill(pid, 'SIGKILL');
      world.tmux('new-window', '-d', '-t', 'work:', 'sleep 600');
      expect(await listed(), `round ${round}`).toEqual(panesOf(world));
      expect(await pidOf()).not.toBe(pid);
    }
  });

  it('starts, restarts and stops by hand; status tells by its exit status', async () => {
    world = createWorld();
    const down = await world.agtmux('status');
    expect(down).toMatchObject({ status: 5, stdout: '' });
    expect(down.stderr).toMatch(/^agtmux: no daemon listens at .*\[E_DAEMON_DOWN\]\n$/);
    expect((await world.agtmux('daemon', 'stop')).stdout).toBe('no daemon is running\n');

    expect((await world.agtmux('daemon', 'start')).stdout).toMatch(/^started, pid \d+\n$/);
    const first = await pidOf();
    expect((await world.agtmux('daemon', 'start')).stdout).toContain(`pid ${first}`);
    expect((await world.agtmux('daemon', 'status')).stdout).toContain(`pid ${first}`);

    expect((await world.agtmux('daemon', 'restart')).status).toBe(0);
    const second = await pidOf();
    expect(second).not.toBe(first);
    expect((await world.agtmux('daemon', 'stop')).stdout).toBe(`stopped, pid ${second}\n`);
    expect((await world.agtmux('daemon', 'status')).status).toBe(5);
  });

  it('stop and restart end a daemon that hangs', async () => {
    world = createWorld();
    for (const [command, words] of [
      ['stop', 'stopped, pid'],
      ['restart', 'started, pid'],
    ] as const) {
      expect((await world.agtmux('daemon', 'start')).status).toBe(0);
      const pid = await pidOf();
      process.kill(pid, 'SIGSTOP');
      const ended = await world.agtmux('daemon', command);
      expect(ended.stdout).toContain(words);
      expect(ended.stderr).toContain(`the daemon (pid ${pid}) does not respond`);
      expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    }
    expect((await world.agtmux('daemon', 'stop')).stdout).toMatch(/^stopped, pid/);
  });

  it('runs in the foreground under its own pid and ends on SIGTERM', async () => {
    world = createWorld();
    const running = world.start('daemon', 'run', '--tmux-socket', 'other');
    await until('it answers', async () => (await world.agtmux('status')).status === 0);
    expect(await pidOf()).toBe(running.pid);
    expect((await world.agtmux('target', 'list')).stdout).toContain('host@other');
    running.signal('SIGTERM');
    expect((await running.ended).status).toBe(0);
    expect((await world.agtmux('status', '--json')).stderr).toMatch(/^\{"error":\{"code":"E_DAEMON_DOWN".*\}\n$/);
  });

  it('that cannot start is told of in its own words', async () => {
    world = createWorld();
    const config = join(world.directory, 'config.toml');
    writeFileSync(config, '[log]\nlevel = "loud"\n');
    const ran = await world.agtmuxWith({ AGTMUX_CONFIG: config }, 'list');
    expect(ran.status).toBe(2);
    expect(ran.stderr.trim().split('\n')).toHaveLength(1);
    expect(ran.stderr).toMatch(/did not start: .*log\.level.*\[E_CONFIG\]/);
  });

  it('SEC1 is not started in a directory that others can enter', async () => {
    world = createWorld();
    mkdirSync(world.stateDir, { mode: 0o700 });
    chmodSync(world.stateDir, 0o755);
    const ran = await world.agtmux('list');
    expect(ran).toMatchObject({ status: 6, stdout: '' });
    expect(ran.stderr).toMatch(/mode 0755.*0700 \[E_UNSAFE_DIR\]\n$/);
    const doctor = await world.agtmux('doctor');
    expect(doctor.status).toBe(1);
    expect(doctor.stdout).toMatch(
      /✕ state directory .*mode 0755[^\n]*\n +→ make sure that you own the directory and that its mode is 0700/,
    );
    chmodSync(world.stateDir, 0o700);
  });

  it.each([
    ['1', '0.0.1', 0, /^agtmux: the daemon is version 0\.0\.1, this is .*; run `agtmux daemon restart`\n$/],
    ['1', '99.0.0', 0, /^agtmux: the daemon is version 99\.0\.0, this is .*; upgrade agtmux: .*\n$/],
    ['0', '0.0.1', 8, /API 0.*agtmux daemon restart.*\[E_VERSION\]\n$/],
    ['2', '9.0.0', 8, /API 2.*upgrade agtmux.*\[E_VERSION\]\n$/],
  ])('of API %s and version %s is told apart', async (api, version, status, words) => {
    world = createWorld();
    mkdirSync(join(world.stateDir, 'run'), { recursive: true, mode: 0o700 });
    const server = createServer((_, answer) => {
      answer.setHeader('agtmux-api', api).setHeader('agtmux-version', version).end('a list\n');
    });
    await new Promise<void>((resolve) => server.listen(world.socketPath, resolve));
    chmodSync(world.socketPath, 0o600);
    try {
      const ran = await world.agtmux('list');
      expect(ran.status).toBe(status);
      expect(ran.stderr).toMatch(words);
      // What goes on working is told once, and again of the next daemon.
      const again = await world.agtmux('list');
      if (status === 0) expect(again.stderr).toBe('');
      else expect(again.stderr).toMatch(words);
      const hence = Date.now() / 1_000 + 60;
      utimesSync(world.socketPath, hence, hence);
      expect((await world.agtmux('list')).stderr).toMatch(words);
      expect(ran.stdout).toBe(status === 0 ? 'a list\n' : '');
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('INS5 of another build that does not know a command says so, and what to do', async () => {
    world = createWorld();
    mkdirSync(join(world.stateDir, 'run'), { recursive: true, mode: 0o700 });
    let code = 'E_ROUTE';
    const server = createServer((_, answer) => {
      answer.writeHead(404, { 'agtmux-api': '1', 'agtmux-version': '0.1.0' });
      answer.end(JSON.stringify({ error: { code, message: 'there is no such thing', next: 'look' } }));
    });
    await new Promise<void>((resolve) => server.listen(world.socketPath, resolve));
    chmodSync(world.socketPath, 0o600);
    try {
      for (const args of [['timeline'], ['queue', 'list'], ['session', 'list'], ['notify', 'status']]) {
        const ran = await world.agtmux(...args);
        expect(ran).toMatchObject({ status: 8, stdout: '' });
        expect(ran.stderr).toMatch(/the running daemon is version 0\.1\.0, .*`agtmux daemon restart` \[E_VERSION\]\n$/);
      }
      code = 'E_INPUT';
      expect((await world.agtmux('timeline')).stderr).toMatch(/look; .*`agtmux daemon restart` \[E_INPUT\]\n$/);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('INS5 of the same build says nothing, and status and doctor name it', async () => {
    world = createWorld();
    const version = (await world.agtmux('version')).stdout.trim();
    expect((await world.agtmux('list')).stderr).toBe('');
    expect((await world.json<StatusOutput>('status', '--json')).daemon.version).toBe(version);
    expect((await world.agtmux('status')).stdout).toContain(`version ${version}`);
    expect((await world.agtmux('doctor')).stdout).toContain(`version ${version}`);
  });

  it('LOG3 is not stopped by a program that could not open its log', async () => {
    world = createWorld();
    await world.agtmux('daemon', 'start');
    const pid = await pidOf();
    const database = join(world.stateDir, 'agtmux.db');
    const schema = (value: number): void => {
      const file = openSync(database, 'r+');
      // Where a SQLite file has its user_version.
      writeSync(file, Buffer.from([0, 0, 0, value]), 0, 4, 60);
      closeSync(file);
    };
    schema(migrations.length + 1);
    const ran = await world.agtmux('daemon', 'restart');
    expect(ran).toMatchObject({ status: 6, stdout: '' });
    expect(ran.stderr).toMatch(/schema \d+, .*the daemon keeps running; .*newer agtmux.*\[E_STORE_NEWER\]\n$/);
    schema(migrations.length);
    expect(await pidOf()).toBe(pid);
  });

  it('LOG3 an upgrade is in its log and in doctor with the copy it made, and the way back works', async () => {
    world = createWorld();
    const leave = (steps: readonly Migration[]): void => {
      const fixed = { storeId: 'a'.repeat(32), pagesMax: null, cacheKib: 1_024 };
      new StoreDatabase({ paths: storePaths(world.stateDir), migrations: steps, ...fixed }).close();
    };
    // As an older program left it.
    mkdirSync(world.stateDir, { mode: 0o700 });
    leave(migrations.slice(0, -1));
    const acting = join(world.stateDir, 'acting.json');
    writeFileSync(acting, '{"version":1,"messages":[],"names":[],"seen":[],"answered":[]}', { mode: 0o600 });
    await world.agtmux('daemon', 'start');
    await until('what stood in a file is in the log', () => existsSync(`${acting}.backup`));
    const older = join(world.stateDir, `agtmux.db.backup-${migrations.length - 1}`);
    expect(world.log()).toContain(JSON.stringify(older));
    expect((await world.agtmux('doctor')).stdout).toMatch(
      new RegExp(`✓ event log +schema ${migrations.length}.*${older}.* the names of acting.json.backup`),
    );
    await world.agtmux('daemon', 'stop');
    // As a newer one leaves it.
    const version = migrations.length + 1;
    leave([...migrations, { version, words: 'a step of tomorrow', apply: () => undefined }]);
    const copy = join(world.stateDir, `agtmux.db.backup-${migrations.length}`);
    const refused = await world.agtmux('daemon', 'start');
    expect(refused).toMatchObject({ status: 6, stderr: expect.stringContaining(copy) });
    const doctor = await world.agtmux('doctor');
    expect(doctor.status).toBe(1);
    expect(doctor.stdout).toMatch(/✕ event log +schema \d+, .*\[E_STORE_NEWER\]\n.*→ use the newer agtmux/);
    expect(doctor.stdout).toContain(copy);
    renameSync(copy, join(world.stateDir, 'agtmux.db'));
    expect((await world.agtmux('daemon', 'start')).stdout).toMatch(/^started/);
  });

  it('sets a large log aside at its start', async () => {
    world = createWorld();
    await world.agtmux('daemon', 'start');
    await world.agtmux('daemon', 'stop');
    const log = join(world.stateDir, 'daemon.log');
    truncateSync(log, limits.daemonLogBytesMax + 1);
    await world.agtmux('daemon', 'start');
    expect(statSync(`${log}.1`).size).toBe(limits.daemonLogBytesMax + 1);
    expect(statSync(log).size).toBeLessThan(65_536);
  });
});
