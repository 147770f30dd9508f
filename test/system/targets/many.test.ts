// Many machines at once, each with a tmux server of its own behind a real sshd: what they cost while nothing happens, and
// that a fault of one is felt by no other. COUNT=50 is the whole; the default keeps `make test` short, FAULTS=all adds the faults
// that only the whole has.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathTo } from '../../../src/api/requests.ts';
import { limits } from '../../../src/model/limits.ts';
import { forgedTmux } from '../../kit/forged-tmux.ts';
import { Live, until } from '../../kit/live.ts';
import { type Relay, startRelay } from '../../kit/relay.ts';
import { startSshd, type TestSshd } from '../../kit/sshd.ts';

const count = Math.max(Math.min(Number(process.env.COUNT ?? 4), 60), 2);
const isWhole = count >= 50;
const others = Array.from({ length: count - 1 }, (_, place) => `vm${place + 1}`);
const program = fileURLToPath(new URL('../../../bin/agtmux', import.meta.url));
/** How long the cost of doing nothing is measured. */
const idleMs = isWhole ? 20_000 : 4_000;
const patienceMs = 120_000;

/** One sshd for all others; the client's configuration tells each alias apart by the folder of its tmux sockets. */
let sshd: TestSshd;
let worlds: Live;
/** The one that has the faults: its own sshd, behind a relay. */
let victim: TestSshd;
let far: Live;
let relay: Relay;
let live: Live;
let memoryBefore = 0;
const table: (readonly [string, string])[] = [];

const folderOf = (name: string): string => join(worlds.dir, name);
const tmuxOf = (name: string, ...args: string[]): string =>
  execFileSync('tmux', ['-u', '-f', '/dev/null', ...args], {
    env: { ...worlds.env, TMUX_TMPDIR: folderOf(name) },
    encoding: 'utf8',
  });

beforeAll(async () => {
  worlds = new Live();
  far = new Live();
  const bin = join(far.dir, 'bin');
  mkdirSync(bin);
  for (const name of others) mkdirSync(folderOf(name), { mode: 0o700 });
  for (const name of others) tmuxOf(name, 'new-session', '-d', '-s', name, 'sleep 100000');
  far.tmux('new-session', '-d', '-s', 'far', '-x', '80', '-y', '24', 'sleep 100000');
  sshd = await startSshd({ alias: 'unused', lines: ['AcceptEnv TMUX_TMPDIR'] });
  victim = await startSshd({
    environment: {
      HOME: join(far.dir, 'home'),
      TMUX_TMPDIR: join(far.dir, 'tmux'),
      PATH: `${bin}:${process.env.PATH}`,
    },
  });
  relay = await startRelay(victim.port);
  for (const name of others) await sshd.addAlias(name, sshd.port, [`SetEnv TMUX_TMPDIR=${folderOf(name)}`]);
  await sshd.addAlias('victim', relay.port, [
    `IdentityFile ${victim.directory}/user_key`,
    `UserKnownHostsFile ${victim.directory}/known_hosts`,
  ]);
  live = new Live({ AGTMUX_SSH_CONFIG: sshd.configFile });
  live.trustPrograms();
  live.tmux('new-session', '-d', '-s', 'here', 'sleep 100000');
  await live.startDaemon();
  memoryBefore = memoryOf(live.daemonPid);
  for (const name of [...others, 'victim']) {
    await live.client.post('/v1/targets', { name, kind: 'ssh', connection_ref: name });
  }
  await until(async () => (await sick()).length === 0 && (await panes()) === count, patienceMs, 250);
}, 600_000);

afterAll(async () => {
  if (isWhole || process.env.FAULTS === 'all')
    process.stdout.write(`${table.map((row) => row.join(': ')).join('\n')}\n`);
  await live.close();
  await relay.close();
  await victim.close();
  await sshd.close();
  await far.close();
  for (const name of others) tmuxOf(name, 'kill-server');
  await worlds.close();
});

const targets = async () => (await live.client.get('/v1/targets')).items.filter((one) => one.kind === 'ssh');
/** Who is not well, by name. */
const sick = async (): Promise<readonly string[]> => {
  const items = await targets();
  return items.length < count ? ['not all there'] : items.flatMap((one) => (one.health === 'ok' ? [] : [one.target]));
};
const panes = async (): Promise<number> => (await targets()).reduce((sum, one) => sum + one.panes, 0);
const victimIs = async () => (await targets()).find((one) => one.target === 'victim');

const statOf = (pid: number): readonly string[] => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
};
const childrenOf = (pid: number): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((one) => Number(statOf(one)[1]) === pid);
/** Processor time in milliseconds: user and system, in ticks of ten. */
const busyMsOf = (pid: number): number => (Number(statOf(pid)[11] ?? 0) + Number(statOf(pid)[12] ?? 0)) * 10;
/** What only it holds, and its part of what it shares. */
const memoryOf = (pid: number): number =>
  Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) * 1_024;

/** How long `agtmux list` takes, the median of some, and what it was the moment before. */
async function listMs(): Promise<number> {
  const taken: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const began = performance.now();
    const child = spawn(process.execPath, [program, 'list'], { env: live.env, stdio: 'ignore' });
    const status = await new Promise((resolve) => child.once('exit', resolve));
    taken.push(performance.now() - began);
    // A target that is missing is told by the status.
    expect([0, 1, 3]).toContain(status);
  }
  return taken.sort((one, other) => one - other)[2] ?? 0;
}

describe('many machines', () => {
  it('FED4b doing nothing each costs one local process, a few megabytes and next to no time', async () => {
    const pids = [live.daemonPid, ...childrenOf(live.daemonPid)];
    const clients = pids.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(sshd.configFile));
    const busy = (): number => pids.reduce((sum, pid) => sum + busyMsOf(pid), 0);
    const before = busy();
    const daemonBefore = busyMsOf(live.daemonPid);
    const began = performance.now();
    await until(() => performance.now() - began >= idleMs, patienceMs, 100);
    const part = (busy() - before) / (performance.now() - began);
    const daemonPart = (busyMsOf(live.daemonPid) - daemonBefore) / (performance.now() - began);
    const clientBytes = clients.reduce((sum, pid) => sum + memoryOf(pid), 0);
    const bytes = (clientBytes + memoryOf(live.daemonPid) - memoryBefore) / count;
    table.push(
      ['targets', String(count)],
      ['ssh processes', String(clients.length)],
      ['processor, of one core', `${(part * 100).toFixed(2)} % (daemon ${(daemonPart * 100).toFixed(2)} %)`],
      [
        'memory a target',
        `${(bytes / 1_048_576).toFixed(2)} MiB (ssh ${(clientBytes / count / 1_048_576).toFixed(2)})`,
      ],
    );
    expect(clients.length).toBe(count);
    // Processor time, which a loaded machine stretches too; most of it is the start that is still settling.
    expect(part).toBeLessThan(0.03 + count * 0.002);
    expect(bytes).toBeLessThan(8 * 1_048_576);
  });

  interface Fault {
    readonly name: string;
    readonly begin: () => Promise<void> | void;
    /** How it shows. */
    readonly shows: (told: Awaited<ReturnType<typeof victimIs>>) => boolean;
    readonly heal: () => Promise<void> | void;
  }
  let mend = (): void => undefined;
  /** A file with other content until it is healed; connections are made anew under it. */
  const otherContent = (path: string, content: string | Uint8Array): void => {
    const kept = readFileSync(path);
    writeFileSync(path, content);
    mend = () => writeFileSync(path, kept);
    relay.cut();
    relay.mend();
  };
  const isDown = (told: Awaited<ReturnType<typeof victimIs>>): boolean => told?.health === 'down';
  const faults: readonly Fault[] = [
    {
      name: 'hung tmux',
      begin: () => {
        const pid = far.serverPid;
        process.kill(pid, 'SIGSTOP');
        mend = () => void process.kill(pid, 'SIGCONT');
      },
      shows: (told) => told?.health !== 'ok',
      heal: () => mend(),
    },
    { name: 'network cut', begin: () => relay.freeze(), shows: isDown, heal: () => relay.thaw() },
    {
      name: 'key refused',
      begin: () => otherContent(join(victim.directory, 'authorized_keys'), ''),
      shows: (told) => isDown(told) && told?.trouble?.includes('did not accept your key') === true,
      heal: () => mend(),
    },
    ...(isWhole || process.env.FAULTS === 'all' ? moreFaults() : []),
  ];
  function moreFaults(): readonly Fault[] {
    const tmux = (): string => join(far.dir, 'bin/tmux');
    return [
      {
        name: 'host key changed',
        begin: () => {
          const key = readFileSync(join(victim.directory, 'other_key.pub'), 'utf8').split(' ').slice(0, 2).join(' ');
          otherContent(join(victim.directory, 'known_hosts'), `agtmux-test ${key}\n`);
        },
        shows: (told) => isDown(told) && told?.trouble?.includes('host key') === true,
        heal: () => mend(),
      },
      {
        name: 'flood of output',
        begin: () => {
          far.tmux('new-window', '-t', 'far', '-n', 'flood', `sh -c 'yes flood & exec ${far.lookAlike()}'`);
        },
        shows: (told) => (told?.panes ?? 0) > 1,
        heal: () => void far.tmux('kill-window', '-t', 'far:flood'),
      },
      {
        name: 'forged panes',
        begin: () => {
          writeFileSync(tmux(), forgedTmux, { mode: 0o755 });
          relay.cut();
          relay.mend();
        },
        shows: (told) => (told?.panes ?? 0) >= limits.farPanesMax,
        heal: () => {
          rmSync(tmux());
          relay.cut();
          relay.mend();
        },
      },
      {
        name: 'machine killed',
        begin: async () => {
          relay.cut();
          for (const pid of await victim.sessionPids()) process.kill(pid, 'SIGKILL');
        },
        shows: isDown,
        heal: () => relay.mend(),
      },
    ];
  }

  it.each(faults)(
    'FED4 $name at one of them slows no list, harms no other, and is not dialled without end',
    async ({ name, begin, shows, heal }) => {
      const listBefore = await listMs();
      const dialsBefore = relay.dials();
      const began = performance.now();
      const harmed = new Set<string>();
      await begin();
      await until(async () => shows(await victimIs()), patienceMs, 100);
      const watchMs = isWhole ? 12_000 : 1_000;
      const shownAt = performance.now();
      await until(
        async () => {
          for (const one of await sick()) harmed.add(one);
          return performance.now() - shownAt > watchMs;
        },
        patienceMs,
        100,
      );
      const listDuring = await listMs();
      const seconds = (performance.now() - began) / 1_000;
      const dials = relay.dials() - dialsBefore;
      await heal();
      const healed = performance.now();
      // One that refused the user is tried again when a person asks.
      if (name.includes('key'))
        await live.client.post(pathTo('/v1/targets/{name}/connect', { name: 'victim' })).catch(() => undefined);
      await until(async () => (await sick()).length === 0, patienceMs, 50);
      const back = (performance.now() - healed) / 1_000;
      table.push([
        name,
        `list ${listBefore.toFixed(0)} ms, with the fault ${listDuring.toFixed(0)} ms; others harmed ${harmed.size - (harmed.has('victim') ? 1 : 0)}; ` +
          `${dials} dials in ${seconds.toFixed(0)} s; ok again after ${back.toFixed(1)} s`,
      ]);
      harmed.delete('victim');
      expect([...harmed]).toEqual([]);
      expect(listDuring).toBeLessThan(Math.max(150, listBefore * 2 + 100));
      // The first at once, then never two within five seconds.
      expect(dials).toBeLessThanOrEqual(2 + seconds / (limits.reconnectFirstMs / 1_000));
    },
    600_000,
  );
});
