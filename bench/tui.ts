// What the full-screen view costs: two hundred agents on it with five changes a second, nothing at all, twenty thousand
// changes in a row; how soon it is there, and how soon a change is on the screen. The program is the real one, on a terminal
// of tmux whose every byte is read as it comes; the daemon is one that only tells made-up rows.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { PaneItem } from '../src/api/panes.ts';
import { type FakeDaemon, itemOf, startFakeDaemon } from '../test/kit/fake-daemon.ts';
import { paneRow } from '../test/kit/rows.ts';
import { type BenchRow, percentile } from './row.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const agents = 200;
const updates = 20_000;
const startRounds = 9;
const busyMs = 20_000;
const idleMs = 20_000;
const changeEveryMs = 200;
const previewMs = 20_000;
const presses = 60;
/** Something is broken, not slow. */
const lateMs = 20_000;

export async function run(): Promise<readonly BenchRow[]> {
  spawnSync('sh', [join(root, 'scripts/build.sh')]);
  const daemon = await startFakeDaemon();
  const screens: Screen[] = [];
  try {
    await daemon.put(Array.from({ length: agents }, (_, place) => rowOf(place, 'at work')));
    const starts: number[] = [];
    for (let round = 0; round < startRounds; round += 1) {
      const screen = new Screen(daemon, `start-${round}`);
      screens.push(screen);
      starts.push(await screen.first());
      screen.end();
    }
    const screen = new Screen(daemon, 'long');
    screens.push(screen);
    await screen.first();
    await rest(2_000);
    const idle = await cpuShare(screen.pid, () => rest(idleMs));
    const latencies: number[] = [];
    const busy = await cpuShare(screen.pid, () => changing(daemon, screen, latencies));
    const keys: number[] = [];
    const preview = await cpuShare(screen.pid, () => drawing(daemon));
    await pressing(screen, keys);
    daemon.answer(() => undefined);
    const growth = await grown(daemon, screen.pid);
    return [
      {
        name: 'TUI, start to first screen',
        value: percentile(starts, 0.95),
        unit: 'ms',
        goal: { atMost: 400 },
        note: `p95 of ${startRounds}, ${agents} agents, 120x40`,
      },
      {
        name: 'TUI, idle',
        value: idle,
        unit: '% of a core',
        goal: { atMost: 0.5 },
        note: `${idleMs / 1_000} s, ${agents} agents`,
      },
      {
        name: 'TUI, 5 changes a second',
        value: busy,
        unit: '% of a core',
        goal: { atMost: 5 },
        note: `${busyMs / 1_000} s, ${agents} agents`,
      },
      {
        name: 'TUI, change to screen',
        value: percentile(latencies, 0.95),
        unit: 'ms',
        goal: { atMost: 300 },
        note: `p95 of ${latencies.length}`,
      },
      {
        name: 'TUI, a preview that draws 4 times a second',
        value: preview,
        unit: '% of a core',
        goal: { atMost: 5 },
        note: `${previewMs / 1_000} s, ${agents} agents`,
      },
      {
        name: 'TUI, key to screen',
        value: percentile(keys, 0.95),
        unit: 'ms',
        goal: { atMost: 50 },
        note: `p95 of ${keys.length}, beside that preview`,
      },
      {
        name: `TUI, growth over ${updates} updates`,
        value: growth,
        unit: 'MiB',
        goal: { atMost: 20 },
        note: 'resident memory',
      },
    ];
  } finally {
    // Before the daemon: they would start another one.
    for (const screen of screens) screen.end();
    await daemon.end();
  }
}

const began = Date.now();

/** One in ten needs a person; ages in minutes, as on most boards of a long day. */
function rowOf(place: number, words: string): PaneItem {
  const state = place % 10 === 9 ? 'waiting_approval' : 'running';
  const row = paneRow({ session: `s${place % 7}`, window: place, id: place, state, fields: { detail: words } });
  return itemOf(row, {}, Date.now() - began + 3_600_000 - place * 1_000);
}

/** A terminal of tmux in control mode: what the program writes is told at once. */
class Screen {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #env: NodeJS.ProcessEnv;
  readonly #began = performance.now();
  #seen = '';
  #waiting: { readonly text: string; readonly found: () => void } | null = null;

  constructor(daemon: FakeDaemon, name: string) {
    this.#name = `bench-tui-${process.pid}-${name}`;
    this.#env = daemon.env;
    const program = `exec '${process.execPath}' '${join(root, 'bin/agtmux')}'`;
    const words = ['-u', '-L', this.#name, '-f', '/dev/null', '-C', 'new-session', '-x', '120', '-y', '40', program];
    this.#child = spawn('tmux', words, { env: daemon.env, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#child.stdout?.setEncoding('latin1').on('data', (text: string) => {
      // Told in lines, cut wherever a piece of the output ended.
      this.#seen = (this.#seen + text).replaceAll(/\r?\n%output %\d+ /g, '').slice(-65_536);
      if (this.#waiting === null || !this.#seen.includes(this.#waiting.text)) return;
      const { found } = this.#waiting;
      this.#waiting = null;
      found();
    });
  }

  /** Resolves with how long it took when this text has been written. */
  async until(text: string, began: number): Promise<number> {
    const seen = new Promise<void>((resolve) => {
      this.#waiting = { text, found: resolve };
      if (this.#seen.includes(text)) resolve();
    });
    const isLate = await Promise.race([seen.then(() => false), rest(lateMs, true, { ref: false })]);
    if (isLate) throw new Error(`"${text}" was not on the screen within ${lateMs} ms: ${this.#seen.slice(-2_000)}`);
    return performance.now() - began;
  }

  first(): Promise<number> {
    return this.until('Needs you', this.#began);
  }

  /** Until a row is marked as the selected one. */
  press(key: string): Promise<number> {
    this.#seen = '';
    const began = performance.now();
    this.#child.stdin?.write(`send-keys ${key}\n`);
    return this.until('> ', began);
  }

  get pid(): number {
    const words = ['-L', this.#name, 'display-message', '-p', '#{pane_pid}'];
    return Number(spawnSync('tmux', words, { env: this.#env, encoding: 'utf8' }).stdout);
  }

  end(): void {
    spawnSync('tmux', ['-L', this.#name, 'kill-server'], { env: this.#env });
  }
}

async function changing(daemon: FakeDaemon, screen: Screen, latencies: number[]): Promise<void> {
  const until = performance.now() + busyMs;
  for (let count = 0; performance.now() < until; count += 1) {
    const began = performance.now();
    const mark = `mark-${count}-`;
    // Always one that is in sight.
    await daemon.put([rowOf((count % 10) * 7, mark)]);
    latencies.push(await screen.until(mark, began));
    await rest(Math.max(0, changeEveryMs - (performance.now() - began)));
  }
}

/** The screen of the selected agent is another one with every look. */
async function drawing(daemon: FakeDaemon): Promise<void> {
  let picture = 0;
  daemon.answer(({ path }) => {
    if (!path.startsWith('/v1/output')) return undefined;
    picture += 1;
    const lines = Array.from(
      { length: 40 },
      (_, line) => `\u001b[0;3${line % 8}mpicture ${picture} line ${line}\u001b[0m`,
    );
    return { ref: 'runtime:any', from: 'screen', lines };
  });
  await rest(previewMs);
}

/** Down and up again: what is drawn first after a key is the row that it selects. */
async function pressing(screen: Screen, latencies: number[]): Promise<void> {
  for (let press = 0; press < presses; press += 1) {
    await rest(120);
    latencies.push(await screen.press(press % 2 === 0 ? 'j' : 'k'));
  }
}

const ticksPerSecond = 100;

function cpuSeconds(pid: number): number {
  if (existsSync(`/proc/${pid}/stat`)) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  }
  const told = spawnSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  return told.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
}

async function cpuShare(pid: number, work: () => Promise<void>): Promise<number> {
  const [cpu, began] = [cpuSeconds(pid), performance.now()];
  await work();
  return ((cpuSeconds(pid) - cpu) / ((performance.now() - began) / 1_000)) * 100;
}

const residentMiB = (pid: number): number =>
  Number(spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).stdout) / 1_024;

async function grown(daemon: FakeDaemon, pid: number): Promise<number> {
  const many = async (count: number): Promise<void> => {
    for (let sent = 0; sent < count; sent += 1) {
      await daemon.put([rowOf(sent % agents, `update ${sent}`)]);
      // As fast as it reads, and not faster than a machine with many agents ever could be.
      if (sent % 20 === 0) await rest(5);
    }
    await rest(3_000);
  };
  // What any start leaves behind is no growth.
  await many(2_000);
  const before = residentMiB(pid);
  await many(updates);
  return Math.max(0, residentMiB(pid) - before);
}
