// `make proof`: tries everything in suites.ts piece by piece, keeps what came of it, and writes docs/reliability.md. It may be
// stopped at any time and goes on where it was. `--quick` tries a little of each, `--planted` plants the bugs instead.

import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { copyOf, plant, removeCopy } from './planted.ts';
import { report } from './report.ts';
import { isTried, Results, reached, stampOf } from './results.ts';
import { type PlantedBug, type Suite, suites } from './suites.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'tmp/proof');
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    planted: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    minutes: { type: 'string', default: '' },
    pieces: { type: 'string', default: '' },
  },
});
const results = new Results(folder);
const began = performance.now();

interface Ended {
  readonly status: number | null;
  readonly output: string;
  readonly seconds: number;
}

/** In a group of its own, so that a piece that takes too long ends with all that it started. */
function run(order: ReturnType<Suite['order']>, cwd: string, minutesMax: number): Promise<Ended> {
  const from = performance.now();
  const env = { ...process.env, NO_COLOR: '1', CI: '1', ...order.env };
  const child = spawn('sh', ['scripts/run.sh', ...order.argv], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (piece: Buffer): void => {
    output = (output + piece.toString()).slice(-400_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const tooLong = setTimeout(() => {
    output += `\nproof: ended after ${minutesMax} minutes\n`;
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  }, minutesMax * 60_000);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => {
      clearTimeout(tooLong);
      resolve({ status, output, seconds: Math.round((performance.now() - from) / 1000) });
    });
  });
}

/** A title that fits no test would pass without one. */
const ranSomething = ({ output }: Ended, isVitest: boolean): boolean => !isVitest || /Tests .*?\d+ passed/.test(output);

async function tryPiece(suite: Suite, wanted: number): Promise<boolean> {
  const { commit, product, machine } = stampOf(root);
  const before = results
    .all()
    .filter(isTried)
    .reduce((sum, one) => sum + (one.suite === suite.name ? one.count : 0), 0);
  const order = suite.order(wanted, before);
  const ended = await run(order, root, suite.minutesMax);
  const isSound = ended.status === 0 && ranSomething(ended, order.argv[0] === 'vitest');
  const count = Number(suite.counted?.exec(ended.output)?.[1] ?? (suite.counted === undefined ? wanted : 0));
  const date = new Date().toISOString();
  results.add({
    kind: 'tried',
    suite: suite.name,
    commit,
    product,
    machine,
    date,
    seconds: ended.seconds,
    before,
    count,
    isSound,
  });
  console.log(`${isSound ? 'ok    ' : 'FAILED'} ${suite.name}: ${count} ${suite.unit} in ${ended.seconds} s`);
  if (!isSound) {
    mkdirSync(join(folder, 'failed'), { recursive: true });
    const again = Object.entries(order.env ?? {}).map(([name, value]) => `${name}=${value}`);
    const words = `${[...again, 'sh scripts/run.sh', ...order.argv].join(' ')}\n${ended.output}`;
    writeFileSync(join(folder, 'failed', `${suite.name}-${before}.log`), words);
  }
  return isSound;
}

const isOver = (): boolean => values.minutes !== '' && performance.now() - began > Number(values.minutes) * 60_000;

/** The row that is furthest behind comes next, so that any sitting moves all of them. */
function nextOf(chosen: readonly Suite[]): Suite | undefined {
  const { product } = stampOf(root);
  const all = results.all();
  return chosen
    .map((suite) => ({ suite, share: reached(all, suite.name, product) / suite.promised }))
    .filter(({ share }) => share < 1)
    .sort((one, other) => one.share - other.share)[0]?.suite;
}

async function tryAll(chosen: readonly Suite[]): Promise<boolean> {
  let isSound = true;
  if (values.quick) {
    for (const suite of chosen.filter(({ quick }) => quick > 0))
      isSound = (await tryPiece(suite, suite.quick)) && isSound;
    return isSound;
  }
  // What fails is not tried again in this sitting: it would stand in the way of the others.
  let left = chosen;
  let piecesLeft = values.pieces === '' ? Number.POSITIVE_INFINITY : Number(values.pieces);
  for (let suite = nextOf(left); suite !== undefined && piecesLeft > 0 && !isOver(); suite = nextOf(left)) {
    piecesLeft -= 1;
    const done = reached(results.all(), suite.name, stampOf(root).product);
    if (!(await tryPiece(suite, Math.min(suite.piece, suite.promised - done)))) {
      isSound = false;
      left = left.filter((one) => one !== suite);
    }
    writeReport();
  }
  return isSound;
}

/** Red for a reason: a test that failed, and not one that could not be loaded. */
const isCaught = ({ status, output }: Ended): boolean => status !== 0 && /Tests .*?\d+ failed|divergences/.test(output);

async function plantOne(suite: Suite, bug: PlantedBug, copy: string): Promise<boolean> {
  const takeBack = plant(copy, bug.edits);
  try {
    if (suite.isBuilt === true) await run({ argv: ['sh', 'scripts/build.sh'] }, copy, 10);
    return isCaught(await run(suite.order(bug.count, 0), copy, suite.minutesMax));
  } finally {
    takeBack();
  }
}

function tellPlanted(suite: Suite, bug: string, isFound: boolean, from: number): boolean {
  const seconds = Math.round((performance.now() - from) / 1000);
  results.add({
    kind: 'planted',
    suite: suite.name,
    ...stampOf(root),
    date: new Date().toISOString(),
    seconds,
    bug,
    isFound,
  });
  console.log(`${isFound ? 'found    ' : 'NOT FOUND'} ${suite.name}: ${bug} (${seconds} s)`);
  return isFound;
}

async function plantAll(chosen: readonly Suite[]): Promise<boolean> {
  let isFound = true;
  const copy = copyOf(root);
  try {
    for (const suite of chosen) {
      const from = performance.now();
      if (suite.plantsItself !== undefined) {
        const { status, output } = await run(suite.plantsItself, root, suite.minutesMax);
        for (const [, caught, bug] of output.matchAll(/^(caught after|NOT CAUGHT)[\d ]*(?:seeds)? +(.+)$/gm))
          isFound = tellPlanted(suite, bug ?? '', caught === 'caught after' && status === 0, from) && isFound;
        continue;
      }
      if (suite.planted.length === 0) continue;
      if (suite.isBuilt === true) await run({ argv: ['sh', 'scripts/build.sh'] }, copy, 10);
      const sound = await run(suite.order(suite.quick, 0), copy, suite.minutesMax);
      if (sound.status !== 0) console.log(`FAILED    ${suite.name}: without a bug\n${sound.output.slice(-2_000)}`);
      for (const bug of suite.planted)
        isFound =
          tellPlanted(suite, bug.words, sound.status === 0 && (await plantOne(suite, bug, copy)), from) && isFound;
    }
  } finally {
    removeCopy(copy);
  }
  return isFound;
}

function writeReport(): void {
  writeFileSync(join(root, 'docs/reliability.md'), report(suites, results.all(), stampOf(root).product));
}

const names = values.only.split(/[ ,]+/).filter((name) => name !== '');
const unknown = names.filter((name) => !suites.some((suite) => suite.name === name));
if (unknown.length > 0)
  throw new Error(`no such suite: ${unknown.join(', ')}; there are ${suites.map(({ name }) => name).join(', ')}`);
const chosen = names.length === 0 ? suites : suites.filter(({ name }) => names.includes(name));
const isGood = values.report || (await (values.planted ? plantAll(chosen) : tryAll(chosen)));
writeReport();
process.exitCode = isGood ? 0 : 1;
