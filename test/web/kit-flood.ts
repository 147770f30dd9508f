// A pane that prints and prints while a page of a real browser shows it: does the page freeze, does it or the daemon grow,
// is the program held up, and is the picture right in the end? For a test at a small size and for the benchmark at any.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { until } from '../kit/live.ts';
import type { LookAlike } from '../kit/look-alike.ts';
import type { OpenPage, WebWorld } from './kit.ts';

export interface FloodFigures {
  /** How long the program printed, with nobody looking and with the page. */
  readonly aloneMs: number;
  readonly watchedMs: number;
  /** The longest time between two frames of the page, and of a page beside it that shows nothing: a busy machine. */
  readonly worstGapMs: number;
  readonly idleGapMs: number;
  /** The longest task of the page, as the browser told it; tasks below 50 ms are not told. */
  readonly longestTaskMs: number;
  /** Different pictures that were on the page meanwhile. */
  readonly pictures: number;
  /** Of the page's scripts, after a collection: before, and after the flood. */
  readonly heapMb: readonly [number, number];
  /** What the daemon grew by at most while the page was open. */
  readonly daemonMb: number;
  readonly shown: string;
  readonly captured: string;
}

const megabyte = 2 ** 20;
const lastWords = 'the end of it';
/** A machine that others use prints a few megabytes a second through tmux. */
const patienceMs = (megabytes: number): number => 60_000 + megabytes * 3_000;

/** Colours, wide characters and a number in each line, so that every picture differs from the one before. */
const printer = `
const [count, done] = [Number(process.argv[2]), process.argv[3]];
const line = (n) => '\\u001b[' + (31 + n % 7) + 'm' + n + ' \\u65e5\\u672c\\u8a9e \\u001b[1m' + 'x'.repeat(70) + '\\u001b[0m\\n';
const block = (n) => { let text = ''; while (text.length < 65536) text += line(n++); return text; };
const out = require('node:fs').openSync('/dev/tty', 'w');
const began = performance.now();
let left = count * ${megabyte}, turn = 0;
while (left > 0) {
  const part = Buffer.from(block((turn += 1) * 1000));
  for (let at = 0; at < part.length; ) at += require('node:fs').writeSync(out, part, at);
  left -= part.length;
}
require('node:fs').writeSync(out, '\\n${lastWords}');
require('node:fs').writeFileSync(done + '.part', String(performance.now() - began));
require('node:fs').renameSync(done + '.part', done);
`;

export async function measureFlood(world: WebWorld, agent: LookAlike, megabytes: number): Promise<FloodFigures> {
  const { runtime_id } = await world.daemon.itemOf(agent);
  const aloneMs = await flood(world, agent, megabytes);
  const idle = await (await world.browser.newContext()).newPage();
  const open = await world.page('desktop', { path: `/agents/${runtime_id}` });
  const { page } = open;
  await page.locator('.xterm-rows').waitFor();
  await until(async () => (await shownIn(page)) === capturedOf(world, agent));
  const wire = await page.context().newCDPSession(page);
  const before = await heapMb(wire);
  await Promise.all([watchFrames(page), watchFrames(idle)]);
  const daemon = watchDaemon(world);
  const pictures = watchPictures(page);
  const watchedMs = await flood(world, agent, megabytes);
  await until(async () => (await shownIn(page)).includes(lastWords));
  await until(async () => (await shownIn(page)) === capturedOf(world, agent)).catch(() => undefined);
  const [seen, quiet] = [await framesOf(page), await framesOf(idle)];
  const figures = {
    aloneMs,
    watchedMs,
    worstGapMs: seen.gap,
    idleGapMs: quiet.gap,
    longestTaskMs: seen.task,
    pictures: await pictures(),
    heapMb: [before, await heapMb(wire)] as const,
    daemonMb: await daemon(),
    shown: await shownIn(page),
    captured: capturedOf(world, agent),
  };
  await closeAll(open, idle);
  return figures;
}

async function closeAll({ context }: OpenPage, idle: Page): Promise<void> {
  await Promise.all([context.close(), idle.context().close()]);
}

/** As a child of the agent, into its terminal; how long the program itself took. */
async function flood({ daemon }: WebWorld, agent: LookAlike, megabytes: number): Promise<number> {
  const [file, done] = [join(daemon.live.dir, 'printer.cjs'), join(daemon.live.dir, 'printed')];
  writeFileSync(file, printer);
  rmSync(done, { force: true });
  // In the background and with nothing of the agent's open, which waits for its children otherwise.
  const line = `${process.execPath} ${file} ${megabytes} ${done} < /dev/null > /dev/null 2>&1 &`;
  await agent.call([{ argv: ['sh', '-c', line], input: '' }]);
  await until(() => existsSync(done), patienceMs(megabytes), 50);
  return Number(readFileSync(done, 'utf8'));
}

/** The rows as they stand on the page; wide characters take no second place there. */
async function shownIn(page: Page): Promise<string> {
  const rows = await page.locator('.xterm-rows > div').allTextContents();
  return tidied(rows.map((row) => row.replaceAll('\u00a0', ' ')));
}

const capturedOf = ({ daemon }: WebWorld, { pane }: LookAlike): string =>
  tidied(
    // Behind a word, for whoever trims what tmux says.
    daemon.live.tmux('display-message', '-p', 'screen', ';', 'capture-pane', '-p', '-t', pane).split('\n').slice(1),
  );

const tidied = (rows: readonly string[]): string =>
  rows
    .map((row) => row.trimEnd())
    .join('\n')
    .trimEnd();

interface Frames {
  readonly gap: number;
  readonly task: number;
}

/** Runs in the page, for as long as that lives. */
const frameWatch = `{
  const frames = { gap: 0, task: 0 };
  window.agtmuxFrames = frames;
  let last = performance.now();
  const next = () => {
    const now = performance.now();
    frames.gap = Math.max(frames.gap, now - last);
    last = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
  const told = (list) => {
    for (const { duration } of list.getEntries()) frames.task = Math.max(frames.task, duration);
  };
  new PerformanceObserver(told).observe({ type: 'longtask' });
}`;

const watchFrames = async (page: Page): Promise<void> => {
  await page.evaluate(frameWatch);
};

const framesOf = (page: Page): Promise<Frames> => page.evaluate<Frames>('window.agtmuxFrames');

async function heapMb(wire: CDPSession): Promise<number> {
  await wire.send('HeapProfiler.collectGarbage');
  return (await wire.send('Runtime.getHeapUsage')).usedSize / megabyte;
}

/** Looks again and again until it is asked what it saw. */
function watching(look: () => Promise<void>, everyMs: number): () => Promise<void> {
  let isOver = false;
  const done = (async () => {
    while (!isOver) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  return () => {
    isOver = true;
    return done;
  };
}

function watchDaemon({ daemon }: WebWorld): () => Promise<number> {
  const seen: number[] = [];
  const stop = watching(async () => {
    seen.push((await daemon.live.client.get('/v1/status')).memory_bytes / megabyte);
  }, 200);
  return async () => {
    await stop();
    return Math.max(...seen) - (seen[0] ?? 0);
  };
}

function watchPictures(page: Page): () => Promise<number> {
  const seen = new Set<string>();
  const stop = watching(async () => {
    seen.add(await shownIn(page));
  }, 500);
  return async () => {
    await stop();
    return seen.size;
  };
}
