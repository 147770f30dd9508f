// How fast the log takes events in, how fast a daemon is back after a restart with a million of them, what memory that
// takes, and what it costs to ask whether events are known. The log of a million is written once, as measured.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Loader } from '../src/engine/load.ts';
import { World } from '../src/engine/world.ts';
import { targetId } from '../src/model/ids.ts';
import { loadStore } from '../src/store/recover.ts';
import { SampleWorld, sampleTime } from '../src/store/samples.contract.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { type BenchRow, table } from './row.ts';

const eventCount = 1_000_000;
const batchEvents = 512;
const runtimeCount = 200;
const lookupCount = 200_000;

interface Loading {
  readonly seconds: number;
  readonly rssMb: number;
  readonly events: number;
}

/** Events a second, counting only the time inside `commit`; and the slowest of a hundred commits. */
async function fill(store: Store, events: number): Promise<{ perSecond: number; p99Ms: number }> {
  const world = new SampleWorld(1, runtimeCount);
  const times: number[] = [];
  for (let done = 0; done < events; done += batchEvents) {
    const commit = world.next(Math.min(batchEvents, events - done));
    const start = performance.now();
    await store.commit(commit);
    times.push(performance.now() - start);
  }
  const total = times.reduce((sum, time) => sum + time, 0);
  times.sort((one, other) => one - other);
  return { perSecond: (events / total) * 1_000, p99Ms: times[Math.floor(times.length * 0.99)] ?? 0 };
}

/** Look-ups a second, in batches as the inbox asks them. */
async function lookUp(store: Store, keyOf: (index: number) => string): Promise<number> {
  const start = performance.now();
  for (let done = 0; done < lookupCount; done += batchEvents) {
    await store.known(
      Array.from({ length: batchEvents }, (_, index) => ({
        target: targetId('host'),
        source: 'hook' as const,
        dedupe_key: keyOf(done + index),
      })),
    );
  }
  return (lookupCount / (performance.now() - start)) * 1_000;
}

/** In a process of its own: from nothing to a world that is verified, replayed and ready to serve. */
async function load(dir: string): Promise<Loading> {
  const start = performance.now();
  let loader = new Loader(new World());
  const { store, events } = await loadStore({
    dir,
    now: () => sampleTime,
    visitor: () => {
      loader = new Loader(new World());
      return (row) => loader.visit(row);
    },
  });
  loader.finish(await store.states());
  const seconds = (performance.now() - start) / 1_000;
  await store.close();
  return { seconds, rssMb: process.resourceUsage().maxRSS / 1_024, events };
}

async function loadApart(dir: string): Promise<Loading> {
  const { stdout } = await promisify(execFile)(process.execPath, [import.meta.filename, loadFlag, dir]);
  return JSON.parse(stdout) as Loading;
}

export async function run(): Promise<readonly BenchRow[]> {
  const dir = await mkdtemp(join(tmpdir(), 'agtmux-bench-store-'));
  try {
    const options = { dir, now: () => sampleTime };
    const first = await openSqliteStore(options);
    const filled = await fill(first, eventCount);
    await first.close();
    const { size } = await stat(join(dir, 'agtmux.db'));
    const loads = [await loadApart(dir), await loadApart(dir), await loadApart(dir)];
    const median = [...loads].sort((one, other) => one.seconds - other.seconds)[1];
    const { store, events } = await loadStore({ ...options, visitor: () => () => {} });
    const fresh = await lookUp(store, (index) => `new_${index}`);
    const held = await lookUp(store, (index) => `toolu_${1 + ((index * 7_919) % eventCount)}`);
    await store.close();
    if (events !== eventCount || median?.events !== eventCount) throw new Error('the log lost events');
    const how = `${eventCount.toLocaleString('en-US')} events, ${runtimeCount} runtimes`;
    return [
      {
        name: 'store: commit',
        value: filled.perSecond,
        unit: 'events/s',
        goal: { atLeast: 10_000 },
        note: `batches of ${batchEvents} with states and full sync; ${how}`,
      },
      { name: 'store: commit, 99th percentile', value: filled.p99Ms, unit: 'ms', goal: { atMost: 250 } },
      { name: 'store: size of an event', value: size / eventCount, unit: 'bytes' },
      {
        name: 'open, verify and replay to ready',
        value: median.seconds,
        unit: 's',
        goal: { atMost: 5 },
        note: `${how}; median of ${loads.length}`,
      },
      {
        name: 'memory while replaying',
        value: Math.max(...loads.map((one) => one.rssMb)),
        unit: 'MB',
        goal: { atMost: 250 },
        note: 'highest resident set',
      },
      { name: 'store: known(), new events', value: fresh, unit: 'look-ups/s', note: how },
      { name: 'store: known(), events in the log', value: held, unit: 'look-ups/s', note: how },
    ];
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const loadFlag = '--load';

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  const [flag, dir] = process.argv.slice(2);
  if (flag === loadFlag && dir !== undefined) console.log(JSON.stringify(await load(dir)));
  else console.log(table(await run()));
}
