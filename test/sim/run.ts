// Runs seeds: one story each, several deliveries, every answer against the reference.

import { createSimulatedRandom, type SimulatedRandom } from '../../src/platform/simulated/random.ts';
import { reference } from './reference.ts';
import { type Raw, story } from './scenario.ts';
import { type Delivery, deliver, type Parts, soundParts } from './schedule.ts';

export interface Divergence {
  readonly seed: number;
  readonly words: string;
  readonly raws: readonly Raw[];
}

export interface RunReport {
  readonly seeds: number;
  readonly schedules: number;
  readonly events: number;
  readonly crashes: number;
  readonly divergences: readonly Divergence[];
}

const schedulesPerSeed = 2;

export async function runSeeds(
  seeds: Iterable<number>,
  parts: Parts = soundParts,
  divergencesMax = 10,
): Promise<RunReport> {
  const divergences: Divergence[] = [];
  const total = { seeds: 0, schedules: 0, events: 0, crashes: 0 };
  for (const seed of seeds) {
    total.seeds += 1;
    const random = createSimulatedRandom(seed);
    const raws = story(random.fork('story'));
    const expected = reference(raws);
    for (let schedule = 0; schedule < schedulesPerSeed; schedule++) {
      // Now and then a slow one: time passes, and only served and replayed can be compared.
      const isHurried = schedule > 0 || seed % 3 > 0;
      const delivery = await attempt(raws, random.fork(`delivery ${schedule}`), parts, isHurried);
      total.schedules += 1;
      total.events += delivery.events;
      total.crashes += delivery.crashes;
      const words = [...delivery.broken, ...(isHurried ? differences(expected, delivery.answers) : [])];
      if (words.length === 0) continue;
      divergences.push({ seed, words: `schedule ${schedule}: ${words.join('; ')}`, raws });
      break;
    }
    if (divergences.length >= divergencesMax) break;
  }
  return { ...total, divergences };
}

/** A delivery that throws has broken its promise too. */
async function attempt(
  raws: readonly Raw[],
  random: SimulatedRandom,
  parts: Parts,
  isHurried: boolean,
): Promise<Delivery> {
  try {
    return await deliver(raws, random, parts, isHurried);
  } catch (problem) {
    return { answers: new Map(), broken: [`threw ${problem}`], crashes: 0, events: raws.length };
  }
}

function differences(expected: ReadonlyMap<string, string>, actual: ReadonlyMap<string, string>): readonly string[] {
  const words: string[] = [];
  for (const id of new Set([...expected.keys(), ...actual.keys()])) {
    if (expected.get(id) !== actual.get(id))
      words.push(`${id} should be "${expected.get(id)}" but is "${actual.get(id)}"`);
  }
  return words;
}

export function* range(from: number, count: number, stride = 1): Iterable<number> {
  for (let seed = from; seed < from + count; seed += stride) yield seed;
}
