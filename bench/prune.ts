// Pruning beside busy agents: most of a log of COUNT events is too old, sixty agents work, and a client asks without pause.
// How long it waits at worst and how long the daemon's loop stands still, against the same minute before. The machine may
// be busy with other things: time in which a process could run and had no processor is counted apart, as the kernel tells it.

import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as rest } from 'node:timers/promises';
import { Inbox } from '../src/ingest/inbox.ts';
import { Retention } from '../src/ingest/retention.ts';
import { limits } from '../src/model/limits.ts';
import type { NewEvent, RuntimeRecord } from '../src/model/records.ts';
import { StoreDatabase } from '../src/store/database.ts';
import { EventLog } from '../src/store/event-log.ts';
import { sampleIdentity, sampleNew } from '../src/store/samples.contract.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { Live, until } from '../test/kit/live.ts';
import { Churn, lookMs } from './churn.ts';
import { type BenchRow, figure, percentile } from './row.ts';

const events = Number(process.env.COUNT ?? 100_000);
const agents = Number(process.env.AGENTS ?? 60);
const eventsPerRuntime = Math.min(2_000, Math.ceil(events / 500));
/** Runtimes that work at the same time: their events stand among each other in the log, as they do on a busy day. */
const atOnce = 50;
const batchEvents = 20_000;
const strayShare = 0.02;
/** This much is older than a month and goes. */
const oldShare = 0.8;
const day = 86_400_000;
const baselineMs = 60_000;
/** Not longer than this, whether it is done or not. */
const pruneMsMax = Number(process.env.MINUTES ?? 60) * 60_000;
const pace = { min: 2_000, spread: 4_000, turnsPerLife: 20 };

/** As the store writes it, in large transactions. */
async function fill(dir: string): Promise<void> {
  const now = Date.now();
  const store = await openSqliteStore({ dir, now: () => now });
  const timeOf = (number: number): number =>
    number < events * oldShare ? now - (60 - (25 * number) / events) * day : now - 20 * day + number;
  let number = 0;
  let batch: NewEvent[] = [];
  let runtimes: RuntimeRecord[] = [];
  const put = (runtime: number | null, overrides: Parameters<typeof sampleNew>[2] = {}): void => {
    number += 1;
    const time = timeOf(number);
    const key = { major: time, minor: number, hash: String(number) };
    batch.push(sampleNew(number, runtime, { time, ingested_at: time, key, ...overrides }));
  };
  const flush = async (): Promise<void> => {
    const nothing = { rebindings: [], states: [], audit: [], feed_version: 0 };
    await store.commit({ ...nothing, events: batch, runtimes });
    batch = [];
    runtimes = [];
  };
  for (let first = 1; number < events; first += atOnce) {
    const group = Array.from({ length: atOnce }, (_, place) => first + place);
    const identities = group.map((one) => sampleIdentity(one, { started_at: timeOf(number) }));
    for (const [place, runtime] of identities.entries()) {
      put(group[place] ?? 0, { source: 'process', fact: { kind: 'runtime.started', runtime } });
    }
    for (let turn = 0; turn < eventsPerRuntime - 2; turn += 1) {
      for (const one of group) put(turn % (1 / strayShare) === 0 ? null : one);
      if (batch.length >= batchEvents) await flush();
    }
    // One of them lives on: of its past one event is made.
    for (const one of group.slice(1)) put(one, { source: 'process', fact: { kind: 'runtime.ended', cause: 'exit' } });
    runtimes = identities.map((identity, place) => ({ identity, ended_at: place === 0 ? null : timeOf(number) }));
    await flush();
  }
  await store.close();
}

interface Stall {
  /** Without the time for which there was no processor: computing, and waiting for the disk. */
  readonly ms: number;
  readonly wallMs: number;
  readonly cpuMs: number;
}

interface Moment {
  readonly at: number;
  readonly cpuMs: number;
  /** For so long it could have run and had no processor. */
  readonly delayedMs: number;
}

/** Of the main thread. */
function momentOf(pid: number | 'self'): Moment {
  const [cpu, delayed] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return { at: performance.now(), cpuMs: Number(cpu) / 1e6, delayedMs: Number(delayed) / 1e6 };
}

function since(before: Moment): Stall {
  const now = momentOf('self');
  const wallMs = now.at - before.at;
  return { wallMs, ms: wallMs - (now.delayedMs - before.delayedMs), cpuMs: now.cpuMs - before.cpuMs };
}

/** What the daemon tells about one stretch of time, the longest first. */
interface Watched {
  /** From one turn of the loop to the next. */
  readonly stalls: readonly Stall[];
  /** What pruning took of each of them, in its steps and between them. */
  readonly pruning: readonly Stall[];
  readonly steps: number;
}

const none: Stall = { ms: 0, wallMs: 0, cpuMs: 0 };

function timeMethods<Name extends string>(
  prototype: Record<Name, (...args: never[]) => unknown>,
  names: readonly Name[],
  timed: <Value>(work: () => Value) => Value,
): void {
  for (const name of names) {
    const method = prototype[name];
    prototype[name] = function (this: unknown, ...args: never[]): unknown {
      return timed(() => method.apply(this, args));
    };
  }
}

const tickMs = 5;
const kept = 20;

/** In the daemon's own process: prunes when told to, and measures itself. */
async function daemon(): Promise<void> {
  let stalls: Stall[] = [];
  let pruning: Stall[] = [];
  let steps = 0;
  const keep = (list: Stall[], one: Stall): void => {
    list.push(one);
    if (list.length > 2 * kept) list.sort((a, b) => b.ms - a.ms).splice(kept);
  };
  let inTurn = { ...none };
  let last = momentOf('self');
  setInterval(() => {
    keep(stalls, since(last));
    if (inTurn.ms > 0) keep(pruning, inTurn);
    inTurn = { ...none };
    last = momentOf('self');
  }, tickMs);
  let depth = 0;
  const timed = <Value>(work: () => Value): Value => {
    const before = depth === 0 ? momentOf('self') : null;
    depth += 1;
    try {
      return work();
    } finally {
      depth -= 1;
      if (before !== null) {
        const { ms, wallMs, cpuMs } = since(before);
        inTurn = { ms: inTurn.ms + ms, wallMs: inTurn.wallMs + wallMs, cpuMs: inTurn.cpuMs + cpuMs };
      }
    }
  };
  const between = Inbox.prototype.between;
  Inbox.prototype.between = function <Value>(this: Inbox, work: () => Promise<Value>): Promise<Value> {
    steps += 1;
    // What a step does it does before its first await.
    return between.call(this, () => timed(work)) as Promise<Value>;
  };
  // What pruning does outside of its steps.
  timeMethods(EventLog.prototype, ['nextRuntime', 'oldestOf'], timed);
  timeMethods(StoreDatabase.prototype, ['checkpoint', 'freePages', 'usedBytes'], timed);
  const start = Retention.prototype.start;
  let pruneNow: () => void = () => undefined;
  Retention.prototype.start = function (this: Retention): void {
    pruneNow = () => {
      (limits as { pruneEveryMs: number }).pruneEveryMs = 0;
      start.call(this);
    };
    process.send?.('rests');
  };
  process.on('message', (message) => {
    if (message === 'prune') pruneNow();
    else {
      const largest = (list: Stall[]): Stall[] => list.sort((a, b) => b.ms - a.ms).slice(0, kept);
      process.send?.({ stalls: largest(stalls), pruning: largest(pruning), steps } satisfies Watched);
      stalls = [];
      pruning = [];
      steps = 0;
    }
  });
  await import('../src/daemon/main.ts');
}

class Watch {
  readonly child: ChildProcess;
  #rests = 0;

  constructor(live: Live) {
    this.child = fork(import.meta.filename, [daemonFlag], {
      env: live.env,
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.child.on('message', (message) => {
      if (message === 'rests') this.#rests += 1;
    });
  }

  /** The figures since they were asked for last. */
  figures(): Promise<Watched> {
    return new Promise((resolve) => {
      const take = (message: unknown): void => {
        if (message === 'rests') return;
        this.child.off('message', take);
        resolve(message as Watched);
      };
      this.child.on('message', take);
      this.child.send('figures');
    });
  }

  /** Resolves when the pruning that begins now is over, or has taken long enough. */
  async prune(): Promise<void> {
    const before = this.#rests;
    this.child.send('prune');
    const began = performance.now();
    await until(() => this.#rests > before || performance.now() - began > pruneMsMax, pruneMsMax * 2, 100);
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await gone;
  }
}

/** Asks until told to stop; each answer without the time for which daemon or client had no processor, ms. */
async function ask(live: Live, pid: number, signal: AbortSignal): Promise<readonly number[]> {
  const times: number[] = [];
  while (!signal.aborted) {
    const [own, daemonBefore] = [momentOf('self'), momentOf(pid)];
    await live.client.getText('/v1/panes', {});
    times.push(since(own).ms - (momentOf(pid).delayedMs - daemonBefore.delayedMs));
    await rest(20);
  }
  return times;
}

interface Stretch extends Watched {
  readonly answers: readonly number[];
  readonly seconds: number;
}

async function measured(live: Live, watch: Watch, work: () => Promise<unknown>): Promise<Stretch> {
  await watch.figures();
  const stop = new AbortController();
  const began = performance.now();
  const asking = ask(live, watch.child.pid ?? 0, stop.signal);
  await work();
  const seconds = (performance.now() - began) / 1_000;
  stop.abort();
  return { answers: await asking, ...(await watch.figures()), seconds };
}

export async function run(): Promise<readonly BenchRow[]> {
  const live = new Live(lookMs);
  const churn = new Churn(live, pace);
  mkdirSync(live.stateDir, { mode: 0o700 });
  const began = performance.now();
  await fill(live.stateDir);
  process.stderr.write(`${figure(events)} events in ${figure((performance.now() - began) / 1_000)} s\n`);
  const watch = new Watch(live);
  try {
    await until(async () => (await live.client.get('/v1/status').catch(() => null))?.ready === true, 600_000, 200);
    churn.start(agents);
    await until(() => churn.turns >= agents, 600_000, 200);
    const before = await measured(live, watch, () => rest(baselineMs));
    const during = await measured(live, watch, () => watch.prune());
    const told = ({ ms, wallMs, cpuMs }: Stall): string =>
      `${figure(ms)} ms (${figure(cpuMs)} of CPU, ${figure(wallMs)} with the wait for a processor)`;
    const most = (list: readonly number[]): number => Math.max(0, ...list);
    const worst = (list: readonly Stall[]): Stall => list[0] ?? none;
    const asked = `${figure(during.answers.length)} answers while pruning; ${figure(most(before.answers))} ms in the minute before`;
    process.stderr.write(
      `${JSON.stringify({ before: before.stalls, during: during.stalls, pruning: during.pruning })}\n`,
    );
    return [
      { name: 'prune: slowest answer', value: most(during.answers), unit: 'ms', goal: { atMost: 100 }, note: asked },
      {
        name: 'prune: answers, p99',
        value: percentile(during.answers, 0.99),
        unit: 'ms',
        note: `${figure(percentile(before.answers, 0.99))} ms before`,
      },
      {
        name: 'prune: longest part of a turn of the loop',
        value: worst(during.pruning).ms,
        unit: 'ms',
        goal: { atMost: 50 },
        note: `${told(worst(during.pruning))}; ${figure(during.steps)} steps`,
      },
      {
        name: 'prune: longest turn of the loop',
        value: worst(during.stalls).ms,
        unit: 'ms',
        note: `${told(worst(during.stalls))}; in the minute before ${told(worst(before.stalls))}`,
      },
      {
        name: 'prune: whole',
        value: during.seconds,
        unit: 's',
        note: `${figure(events * oldShare)} of ${figure(events)} events go, ${agents} agents at work`,
      },
    ];
  } finally {
    await churn.stop();
    await watch.end();
    await live.close();
  }
}

const daemonFlag = '--daemon';

if (process.argv[2] === daemonFlag) await daemon();
