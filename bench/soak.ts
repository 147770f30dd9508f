// What grows when a day is long: sixty panes whose agents come and go, the board open in a pane, a page that follows the feed
// and a live terminal in it. MINUTES is how long, 60 for the real thing; a table of twelve lines is written to stderr as it
// goes. Nothing may grow after the first sixth.

import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Live, until } from '../test/kit/live.ts';
import { act } from '../test/kit/scenes.ts';
import { Reader } from '../test/web/kit-crowd.ts';
import { DaemonWorld } from '../test/web/kit-server.ts';
import { Churn, filesIn, lookMs, usageOf } from './churn.ts';
import { type BenchRow, figure } from './row.ts';

const minutes = Number(process.env.MINUTES ?? 3);
const panes = Number(process.env.COUNT ?? 60);
const lines = 12;
const pace = { min: 4_000, spread: 8_000, turnsPerLife: 4 };
const program = fileURLToPath(new URL('../bin/agtmux', import.meta.url));

interface Sample {
  readonly minute: number;
  readonly cpuPercent: number;
  readonly boardPercent: number;
  readonly rssMb: number;
  readonly boardMb: number;
  readonly descriptors: number;
  readonly files: number;
  /** Hook calls that wait to be read: not a leak, a machine that is busy. */
  readonly callsWaiting: number;
  readonly diskMbPerMinute: number;
  readonly writtenMbPerMinute: number;
  readonly logRows: number;
  readonly logRowsPerMinute: number;
  readonly logMb: number;
  readonly agentsStarted: number;
  readonly livesFailed: number;
}

/** Every event that was taken is a row, except for copies of one. */
async function logRows(live: Live): Promise<number> {
  let rows: number | null = null;
  // On a busy machine an answer may come too late for whoever asked.
  await until(async () => {
    const { events } = (await live.client.get('/v1/status').catch(() => null)) ?? { events: null };
    if (events !== null) rows = events.taken - (events.verdicts.duplicate ?? 0);
    return rows !== null;
  }, 120_000);
  return rows ?? 0;
}

async function openBoard(live: Live): Promise<number> {
  const pane = live.tmux(
    'new-session',
    '-d',
    '-P',
    '-F',
    '#{pane_id}',
    '-s',
    'board',
    '-x',
    '120',
    '-y',
    '40',
    `exec '${process.execPath}' '${program}'`,
  );
  await until(() => live.tmux('capture-pane', '-p', '-t', pane).includes('agtmux'), 60_000, 200);
  return Number(live.tmux('display-message', '-p', '-t', pane, '#{pane_pid}'));
}

async function follow(live: Live, churn: Churn, board: number): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  const take = async () => ({
    at: performance.now(),
    daemon: usageOf(live.daemonPid),
    board: usageOf(board),
    rows: await logRows(live),
  });
  let before = await take();
  const began = before.at;
  for (let line = 1; line <= lines; line += 1) {
    await rest(Math.max(0, began + (line / lines) * minutes * 60_000 - performance.now()));
    const now = await take();
    const ms = now.at - before.at;
    const waiting = filesIn(join(live.stateDir, 'spool'));
    const perMinute = (grown: number): number => (grown / ms) * 60_000;
    const sample: Sample = {
      minute: (now.at - began) / 60_000,
      cpuPercent: ((now.daemon.cpuMs - before.daemon.cpuMs) / ms) * 100,
      boardPercent: ((now.board.cpuMs - before.board.cpuMs) / ms) * 100,
      rssMb: now.daemon.rssMb,
      boardMb: now.board.rssMb,
      descriptors: now.daemon.descriptors,
      files: filesIn(live.stateDir) - waiting,
      callsWaiting: waiting,
      diskMbPerMinute: perMinute(now.daemon.diskBytes - before.daemon.diskBytes) / 1e6,
      writtenMbPerMinute: perMinute(now.daemon.writtenBytes - before.daemon.writtenBytes) / 1e6,
      logRows: now.rows,
      logRowsPerMinute: perMinute(now.rows - before.rows),
      logMb: statSync(join(live.stateDir, 'agtmux.db')).size / 1e6,
      agentsStarted: churn.started,
      livesFailed: churn.problems.length,
    };
    if (samples.length === 0) process.stderr.write(`${Object.keys(sample).join('\t')}\n`);
    samples.push(sample);
    process.stderr.write(`${Object.values(sample).map(figure).join('\t')}\n`);
    before = now;
  }
  return samples;
}

function rows(samples: readonly Sample[], problems: readonly string[]): readonly BenchRow[] {
  const settled = samples.slice(lines / 6);
  const half = Math.floor(settled.length / 2);
  const mean = (list: readonly Sample[], of: (sample: Sample) => number): number =>
    list.reduce((sum, one) => sum + of(one), 0) / Math.max(1, list.length);
  const grown = (of: (sample: Sample) => number): number =>
    mean(settled.slice(-half), of) - mean(settled.slice(0, half), of);
  const times = (of: (sample: Sample) => number): number =>
    mean(settled.slice(-half), of) / Math.max(mean(settled.slice(0, half), of), 0.001);
  const span = `${minutes} minutes, ${panes} panes; second half against the first, without the first sixth`;
  const last = samples.at(-1);
  return [
    {
      name: 'soak: CPU of the daemon',
      value: times(({ cpuPercent }) => cpuPercent),
      unit: 'times',
      goal: { atMost: 1.2 },
      note: `${figure(mean(settled, ({ cpuPercent }) => cpuPercent))} % of a core; ${span}`,
    },
    {
      name: 'soak: memory of the daemon grows by',
      value: grown(({ rssMb }) => rssMb),
      unit: 'MB',
      goal: { atMost: 15 },
      note: `${figure(last?.rssMb ?? 0)} MB at the end`,
    },
    {
      name: 'soak: memory of the board grows by',
      value: grown(({ boardMb }) => boardMb),
      unit: 'MB',
      goal: { atMost: 15 },
      note: `${figure(last?.boardMb ?? 0)} MB at the end`,
    },
    {
      name: 'soak: open descriptors grow by',
      value: grown(({ descriptors }) => descriptors),
      unit: '',
      goal: { atMost: 5 },
      note: `${last?.descriptors} at the end`,
    },
    {
      name: 'soak: files grow by',
      value: grown(({ files }) => files),
      unit: '',
      goal: { atMost: 20 },
      note: `${last?.files} at the end, state and runtime directory`,
    },
    {
      name: 'soak: written to disk a minute',
      value: times(({ diskMbPerMinute }) => diskMbPerMinute),
      unit: 'times',
      goal: { atMost: 1.2 },
      note: `${figure(mean(settled, ({ diskMbPerMinute }) => diskMbPerMinute))} MB a minute`,
    },
    {
      name: 'soak: rows in the log',
      value: last?.logRows ?? 0,
      unit: '',
      note: `${figure(mean(settled, ({ logRowsPerMinute }) => logRowsPerMinute))} a minute, ${last?.agentsStarted} agents started`,
    },
    {
      name: 'soak: lives of agents that failed',
      value: problems.length,
      unit: '',
      goal: { atMost: 0 },
      note: problems[0]?.slice(0, 200) ?? '',
    },
  ];
}

export async function run(): Promise<readonly BenchRow[]> {
  const live = new Live(lookMs);
  const folder = join(live.dir, 'home/.config/agtmux');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'notifications.toml'), 'channels = ["command"]\n[command]\nargv = ["/bin/true"]\n');
  const world = await DaemonWorld.open(undefined, live);
  const churn = new Churn(live, pace);
  const visitor = await world.enter();
  const page = await Reader.open(visitor);
  try {
    churn.start(panes);
    const board = await openBoard(live);
    const watched = await world.agent('claude', 'watched');
    await act(watched, 'running', 250);
    const view = await visitor.pane((await world.itemOf(watched)).ref);
    const samples = await follow(live, churn, board);
    view.close();
    return rows(samples, churn.problems);
  } finally {
    page.close();
    await churn.stop();
    await world.close();
  }
}
