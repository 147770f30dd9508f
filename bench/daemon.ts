// What watching costs and how soon it notices: a real daemon on a private tmux server. CPU is CPU time of the daemon and
// of the tmux server over what the server uses alone; the dear way for comparison is a spawned tmux for every pane.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Live, until } from '../test/kit/live.ts';
import { type BenchRow, percentile } from './row.ts';

const cpuMs = (pid: number): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const rssMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

async function cpuPerSecond(pids: readonly number[], seconds: number): Promise<number> {
  const before = pids.map(cpuMs);
  await wait(seconds * 1000);
  return pids.reduce((sum, pid, place) => sum + cpuMs(pid) - (before[place] ?? 0), 0) / seconds;
}

function openPanes(live: Live, count: number, command: string): void {
  live.tmux('new-session', '-d', '-s', 's0', '-x', '120', '-y', '40', command);
  for (let place = 1; place < count; place++) live.tmux('new-window', '-d', '-t', 's0:', command);
}

/** Percent of a core for daemon and tmux's extra work together. */
async function costOf(panes: number, command: string): Promise<{ percent: number; rss: number; dear: number | null }> {
  const live = new Live();
  try {
    openPanes(live, panes, command);
    const server = live.serverPid;
    await wait(2_000);
    const alone = await cpuPerSecond([server], 5);
    await live.startDaemon();
    await wait(3_000);
    const watched = await cpuPerSecond([server, live.daemonPid], 10);
    const rss = rssMb(live.daemonPid);
    await live.stopDaemon();
    const dear = panes === 60 && command.startsWith('sleep') ? await dearWay(live, server) : null;
    return { percent: (watched - alone) / 10, rss, dear };
  } finally {
    await live.close();
  }
}

/** A spawned capture for each pane every 500 ms: CPU of the spawned processes and of the server, percent of a core. */
async function dearWay(live: Live, server: number): Promise<number> {
  const panes = live.tmux('list-panes', '-a', '-F', '#{pane_id}').split('\n');
  const rounds = 2;
  const before = process.resourceUsage();
  const children = childCpuMs();
  const serverBefore = cpuMs(server);
  for (let round = 0; round < rounds; round++) {
    for (const pane of panes)
      execFileSync('tmux', ['capture-pane', '-p', '-t', pane], { env: live.env, stdio: 'ignore' });
  }
  const after = process.resourceUsage();
  const own = (after.userCPUTime + after.systemCPUTime - before.userCPUTime - before.systemCPUTime) / 1000;
  const spent = own + childCpuMs() - children + cpuMs(server) - serverBefore;
  // Two rounds are what one second would have seen.
  return (spent / rounds) * 2 * 0.1;
}

/** CPU of ended children, as the kernel adds it up: fields 16 and 17 of /proc/self/stat, in hundredths of a second. */
function childCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

type Items = Awaited<ReturnType<typeof listOf>>;

const listOf = async (live: Live) => (await live.client.get('/v1/panes', { all_panes: true })).items;

/** How long until the list shows it, by asking the API without pause. */
async function noticed(live: Live, act: () => void, shows: (items: Items) => boolean): Promise<number> {
  const began = performance.now();
  act();
  await until(async () => shows(await listOf(live)), 10_000, 3);
  return performance.now() - began;
}

async function latencies(): Promise<readonly BenchRow[]> {
  const live = new Live();
  const topology: number[] = [];
  const kills: number[] = [];
  const asked: number[] = [];
  try {
    openPanes(live, 100, 'sleep 100000');
    await live.startDaemon();
    await until(async () => (await live.client.get('/v1/panes', { all_panes: true })).items.length === 100);
    for (let turn = 0; turn < 12; turn++) {
      const name = `w${turn}`;
      topology.push(
        await noticed(
          live,
          () => void live.tmux('new-window', '-d', '-t', 's0:', '-n', name, 'sleep 100000'),
          (items) => items.some((one) => one.window_name === name),
        ),
      );
      topology.push(
        await noticed(
          live,
          () => void live.tmux('rename-window', '-t', `s0:${name}`, `${name}x`),
          (items) => items.some((one) => one.window_name === `${name}x`),
        ),
      );
      topology.push(
        await noticed(
          live,
          () => void live.tmux('kill-window', '-t', `s0:${name}x`),
          (items) => !items.some((one) => one.window_name === `${name}x`),
        ),
      );
    }
    for (let turn = 0; turn < 12; turn++) {
      const has = (pane: string) => (items: Items) => items.some((one) => one.identity.pane_id === pane);
      let split = '';
      topology.push(
        await noticed(
          live,
          () => {
            split = live.tmux('split-window', '-d', '-P', '-F', '#{pane_id}', '-t', 's0:0', 'sleep 100000');
          },
          (items) => has(split)(items),
        ),
      );
      const windowOf = (items: Items) => items.find((one) => one.identity.pane_id === split)?.identity.window_id;
      topology.push(
        await noticed(
          live,
          () => void live.tmux('break-pane', '-d', '-s', split),
          (items) => windowOf(items) !== '@0',
        ),
      );
      topology.push(
        await noticed(
          live,
          () => void live.tmux('kill-pane', '-t', split),
          (items) => !has(split)(items),
        ),
      );
    }
    for (let turn = 0; turn < 200; turn++) {
      const began = performance.now();
      await live.client.getText('/v1/panes', { all_panes: true });
      asked.push(performance.now() - began);
    }
    kills.push(...(await killTimes(live, 12)));
  } finally {
    await live.close();
  }
  return [
    {
      name: 'API: list of 100 panes, median',
      value: percentile(asked, 0.5),
      unit: 'ms',
      goal: { atMost: 3 },
      note: '200 requests, one after the other',
    },
    {
      name: 'new, renamed, killed, split, moved pane to list, p95',
      value: percentile(topology, 0.95),
      unit: 'ms',
      goal: { atMost: 500 },
      note: '100 panes, 72 changes, incl. the tmux command itself',
    },
    {
      name: 'agent under its shell killed to list, p95',
      value: percentile(kills, 0.95),
      unit: 'ms',
      goal: { atMost: 200 },
      note: '100 panes, 12 kills',
    },
  ];
}

async function killTimes(live: Live, count: number): Promise<readonly number[]> {
  const times: number[] = [];
  const command = live.lookAlike();
  for (let turn = 0; turn < count; turn++) {
    live.tmux('new-window', '-d', '-t', 's0:', '-n', `agent${turn}`, `sh -c '${command}; sleep 1000'`);
    const agents = async () =>
      (await live.client.get('/v1/panes', { ended: false })).items.filter(
        (one) => one.ended === null && one.window_name === `agent${turn}`,
      );
    await until(async () => (await agents()).length === 1, 20_000, 20);
    const shell = Number(live.tmux('list-panes', '-t', `s0:agent${turn}`, '-F', '#{pane_pid}'));
    const child = Number(
      execFileSync('ps', ['--ppid', String(shell), '-o', 'pid='])
        .toString()
        .trim(),
    );
    const began = performance.now();
    process.kill(child, 'SIGKILL');
    await until(async () => (await agents()).length === 0, 10_000, 3);
    times.push(performance.now() - began);
  }
  return times;
}

const redraw = `sh -c 'i=0; while :; do i=$((i+1)); printf "\\033[H%s working" "$i"; sleep 0.25; done'`;

export async function run(): Promise<readonly BenchRow[]> {
  const idle60 = await costOf(60, 'sleep 100000');
  const idle200 = await costOf(200, 'sleep 100000');
  const busy60 = await costOf(60, redraw);
  const note = 'daemon plus what tmux does more, over 10 s';
  return [
    { name: '60 idle panes', value: idle60.percent, unit: '% of a core', goal: { atMost: 1 }, note },
    { name: '200 idle panes', value: idle200.percent, unit: '% of a core', goal: { atMost: 2 }, note },
    {
      name: '60 panes redrawing 4 times a second',
      value: busy60.percent,
      unit: '% of a core',
      goal: { atMost: 4 },
      note,
    },
    { name: 'memory with 200 panes', value: idle200.rss, unit: 'MB', goal: { atMost: 120 } },
    { name: 'a spawn for each of 60 panes every 500 ms', value: idle60.dear ?? 0, unit: '% of a core' },
    {
      name: 'that way against ours',
      value: (idle60.dear ?? 0) / Math.max(idle60.percent, 0.01),
      unit: 'times',
      goal: { atLeast: 30 },
    },
    ...(await latencies()),
  ];
}
