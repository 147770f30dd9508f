// How soon a fact that an agent wrote is known: from the write of a file, a line or a message to the finding, with the
// files of 200 agents followed; and what following them costs while nothing happens.

import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createRealClock } from '../src/platform/clock.ts';
import { createRealFileWatch } from '../src/platform/file-watch.ts';
import { createLocalReach } from '../src/sources/native/local-reach.ts';
import { runOf, toyAgent, until, World } from '../test/system/native/kit.ts';
import { type BenchRow, percentile } from './row.ts';

const runs = 200;
const writes = 100;
/** The first seconds are not like those after: the code is still being compiled. */
const warmMs = 10_000;
const idleMs = 10_000;
/** Of the two hundred milliseconds from the agent to the feed, what the commit and the feed need is taken off. */
const goalMs = 150;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Writes at moments that have nothing to do with our looking, and waits for each to be told. */
async function timed(one: World, act: (turn: number) => void): Promise<number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < writes; turn++) {
    await wait((turn * 37) % 101);
    const before = one.told.length;
    const began = performance.now();
    act(turn);
    await until(() => one.told.slice(before).some((line) => line.includes(`turn ${turn}!`)));
    times.push(performance.now() - began);
  }
  return times;
}

function filesWorld(isHinted: boolean): World {
  const files = createRealFileWatch();
  const one = new World(createLocalReach(createRealClock(), isHinted ? files : { ...files, hint: () => null }));
  mkdirSync(one.path('rows'));
  const agent = toyAgent('toy', {
    plan: (run) => [
      { kind: 'file', path: one.path(`rows/${run.title}.json`) },
      { kind: 'journal', path: one.path(`rows/${run.title}.jsonl`), tailBytes: 4_096 },
    ],
  });
  for (let at = 0; at < runs; at++) {
    writeFileSync(one.path(`rows/${at}.json`), '{}');
    writeFileSync(one.path(`rows/${at}.jsonl`), '{}\n');
  }
  one.sources.setRuns(
    Array.from({ length: runs }, (_, at) => ({ agent, run: runOf(`r${at}`, { title: String(at) }) })),
  );
  return one;
}

async function idleShare(one: World): Promise<number> {
  await until(() => one.told.length >= runs * 2);
  await wait(warmMs);
  const before = process.cpuUsage();
  await wait(idleMs);
  const used = process.cpuUsage(before);
  return (used.user + used.system) / 10 / idleMs;
}

async function files(isHinted: boolean): Promise<readonly BenchRow[]> {
  const words = isHinted ? 'hinted' : 'no hints';
  const one = filesWorld(isHinted);
  try {
    const idle = await idleShare(one);
    const whole = await timed(one, (turn) => {
      const path = join(one.dir, `rows/${turn % runs}.json`);
      writeFileSync(`${path}.new`, `turn ${turn}!`);
      renameSync(`${path}.new`, path);
    });
    const lines = await timed(one, (turn) => {
      appendFileSync(one.path(`rows/${turn % runs}.jsonl`), `turn ${turn}!\n`);
    });
    const note = `${writes} writes, ${runs} agents with a file and a journal each`;
    const row = (name: string, times: readonly number[]): BenchRow => ({
      name: `native ${name} to finding, ${words}, p95`,
      value: percentile(times, 0.95),
      unit: 'ms',
      goal: { atMost: goalMs },
      note,
    });
    return [
      row('file', whole),
      row('journal line', lines),
      { name: `native files followed, idle, ${words}`, value: idle, unit: '% of a core', note },
    ];
  } finally {
    one.close();
  }
}

async function events(): Promise<readonly BenchRow[]> {
  const one = new World();
  let send: (text: string) => void = () => undefined;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    send = (text) => response.write(`data: ${text}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const agent = toyAgent('toy', { plan: () => [{ kind: 'sse', port, path: '/event' }] });
    one.sources.setRuns([{ agent, run: runOf('r0') }]);
    await until(() => one.told.length > 0);
    const times = await timed(one, (turn) => send(`turn ${turn}!`));
    const value = percentile(times, 0.95);
    return [
      { name: 'native event to finding, p95', value, unit: 'ms', goal: { atMost: goalMs }, note: `${writes} events` },
    ];
  } finally {
    one.close();
    server.closeAllConnections();
    server.close();
  }
}

export async function run(): Promise<readonly BenchRow[]> {
  return [...(await files(true)), ...(await files(false)), ...(await events())];
}
