// What leading sessions costs: twenty scripted agents that stream at once, each followed by a reader, and one that floods.
// The words they say are the time at which they say them.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../test/kit/live.ts';
import { LedWorld } from '../test/system/sessions/kit.ts';
import { type BenchRow, percentile } from './row.ts';

const sessionCount = 20;
/** A word every so often: a fast model says some fifty in a second. */
const everyMs = 20;
const seconds = 20;
const floodMegabytes = 100;

const cpuMs = (pid: number): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
const rssMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** How old the newest word was when it arrived, for every change that is told. */
async function follow(world: LedWorld, id: string, lags: number[], signal: AbortSignal): Promise<void> {
  for await (const event of world.client.session(id, { signal })) {
    if (event.type !== 'messages') continue;
    const now = Date.now();
    for (const { role, text } of event.data.messages) {
      const said = role === 'agent' ? Number(text.trimEnd().split(' ').at(-1)) : 0;
      if (said > 0) lags.push(now - said);
    }
  }
}

async function streaming(): Promise<readonly BenchRow[]> {
  const world = new LedWorld();
  const leaving = new AbortController();
  const lags: number[] = [];
  try {
    await world.startDaemon();
    const ids: string[] = [];
    for (let place = 0; place < sessionCount; place++) ids.push((await world.begin(`slow ${everyMs}`)).id);
    for (const id of ids) await world.becomes(id, 'streaming');
    const followers = ids.map((id) => follow(world, id, lags, leaving.signal));
    await wait(3_000);
    lags.length = 0;
    const before = cpuMs(world.daemonPid);
    const began = performance.now();
    await wait(seconds * 1_000);
    const percent = ((cpuMs(world.daemonPid) - before) / (performance.now() - began)) * 100;
    const memory = rssMb(world.daemonPid);
    leaving.abort();
    await Promise.allSettled(followers);
    const how = `${sessionCount} sessions, a word every ${everyMs} ms each, each followed, ${seconds} s, ${lags.length} changes`;
    return [
      { name: 'sessions: daemon CPU', value: percent, unit: '% of a core', goal: { atMost: 30 }, note: how },
      { name: 'sessions: word to reader, p50', value: percentile(lags, 0.5), unit: 'ms', note: how },
      {
        name: 'sessions: word to reader, p95',
        value: percentile(lags, 0.95),
        unit: 'ms',
        goal: { atMost: 150 },
        note: how,
      },
      { name: 'sessions: daemon memory', value: memory, unit: 'MB', goal: { atMost: 250 }, note: how },
    ];
  } finally {
    await world.close();
  }
}

async function flood(): Promise<readonly BenchRow[]> {
  const world = new LedWorld();
  try {
    await world.startDaemon();
    const first = rssMb(world.daemonPid);
    const { id } = await world.begin(`flood ${floodMegabytes}`);
    const { id: other } = await world.begin(`slow ${everyMs}`);
    const lags: number[] = [];
    const leaving = new AbortController();
    const follower = follow(world, other, lags, leaving.signal);
    let peak = 0;
    const began = performance.now();
    await until(
      async () => {
        peak = Math.max(peak, rssMb(world.daemonPid));
        return (await world.session(id)).state === 'completed';
      },
      300_000,
      50,
    );
    const tookS = (performance.now() - began) / 1_000;
    leaving.abort();
    await Promise.allSettled([follower]);
    const file = join(world.stateDir, `sessions/${id}.messages`);
    const bytes = existsSync(file) ? statSync(file).size : 0;
    const note = `${floodMegabytes} MB of words in ${tookS.toFixed(0)} s`;
    return [
      { name: 'session that floods: memory it adds', value: peak - first, unit: 'MB', goal: { atMost: 256 }, note },
      { name: 'session that floods: on disk', value: bytes / 1_048_576, unit: 'MB', goal: { atMost: 16 }, note },
      {
        name: 'session that floods: lag of another one, p95',
        value: percentile(lags, 0.95),
        unit: 'ms',
        goal: { atMost: 150 },
        note,
      },
    ];
  } finally {
    await world.close();
  }
}

export const run = async (): Promise<readonly BenchRow[]> => [...(await streaming()), ...(await flood())];
