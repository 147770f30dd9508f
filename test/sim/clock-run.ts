// Runs scripts of clocks: each once as it is and once with clocks that are steady, and what was applied, what is shown and
// how old it is must be the same. With the bugs that it must catch.

import { Arrivals } from '../../src/ingest/timeline.ts';
import { limits } from '../../src/model/limits.ts';
import { createSimulatedRandom } from '../../src/platform/simulated/random.ts';
import { script } from './clock-script.ts';
import { type ClockParts, type Played, play, soundClockParts } from './clock-world.ts';
import type { Divergence, RunReport } from './run.ts';

/** The precision of a measurement of another clock in these scripts, and what it drifts until the next one. */
const measuredMs = 100 + limits.wallDriftMs;

export async function runClocks(
  seeds: Iterable<number>,
  parts: ClockParts = soundClockParts,
  divergencesMax = 10,
): Promise<RunReport> {
  const divergences: Divergence[] = [];
  const total = { seeds: 0, schedules: 0, events: 0, crashes: 0 };
  const zone = process.env.TZ;
  for (const seed of seeds) {
    const random = createSimulatedRandom(`clocks ${seed}`);
    const drawn = script(random.fork('script'));
    total.seeds += 1;
    total.schedules += 1;
    total.crashes += drawn.steps.filter((step) => step.kind === 'daemon' && step.runs).length;
    const words: string[] = [];
    try {
      const steady = await play(drawn, true, random.fork('steady'), soundClockParts);
      const moved = await play(drawn, false, random.fork('moved'), parts);
      total.events += moved.facts.size;
      words.push(...steady.broken.map((one) => `with steady clocks: ${one}`), ...moved.broken);
      words.push(...differences(steady, moved, drawn.isTrimmed));
    } catch (problem) {
      words.push(`threw ${problem instanceof Error ? problem.stack : problem}`);
    }
    if (words.length > 0) divergences.push({ seed, words: words.slice(0, 5).join('; '), raws: [] });
    if (divergences.length >= divergencesMax) break;
  }
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
  return { ...total, divergences };
}

function differences(steady: Played, moved: Played, isTrimmed: boolean): readonly string[] {
  const words: string[] = [];
  const nearMs = limits.wallDriftMs + 2 + (isTrimmed ? 2 * limits.wallJumpMs : 0);
  // Until the next measurement a clock over there is as good as the last look at its spool.
  const farMs = nearMs + measuredMs + limits.remoteSpoolMs + limits.socketScanMs;
  const isLoose = (runtime: string): boolean => steady.loose.has(runtime) || moved.reordered.has(runtime);
  for (const [key, { time, isFar, runtime }] of steady.facts) {
    const other = moved.facts.get(key);
    if (other === undefined) words.push(`${key} is missing`);
    else if (steady.loose.has(runtime)) continue;
    else if (Math.abs(other.time - time) > (isFar ? farMs : nearMs)) {
      words.push(`${key} is ${other.time - time} ms from its time`);
    }
  }
  if (moved.facts.size > steady.facts.size) words.push('more was heard than was said');
  for (const [place, one] of steady.probes.entries()) {
    const other = moved.probes[place];
    if (other === undefined || other.words !== one.words) {
      words.push(`${one.runtime} should be "${one.words}" but is "${other?.words}"`);
    } else if (Math.abs(other.since - one.since) > farMs && !isLoose(one.runtime)) {
      words.push(`the age of ${one.runtime} is off by ${one.since - other.since} ms`);
    }
  }
  return words;
}

/** A method of `Arrivals` as somebody would write it by accident, for as long as a run takes. */
function planted<Name extends 'timeOf' | 'epochOf'>(
  name: Name,
  wrong: (this: Arrivals, ...args: Parameters<Arrivals[Name]>) => number,
): () => () => void {
  return () => {
    const right = Arrivals.prototype[name];
    Object.assign(Arrivals.prototype, { [name]: wrong });
    return () => void Object.assign(Arrivals.prototype, { [name]: right });
  };
}

interface ClockMutant {
  readonly parts?: Partial<ClockParts>;
  readonly plant?: () => () => void;
}

const rightTimeOf = Arrivals.prototype.timeOf;
const sound = soundClockParts;

export const clockMutants: Readonly<Record<string, ClockMutant>> = {
  'the offset of another machine has the wrong sign': {
    parts: {
      offsetOf: (samples) => {
        const offset = sound.offsetOf(samples);
        return offset === null ? null : { ...offset, offsetMs: -offset.offsetMs };
      },
    },
  },
  'an offset is measured once and never again': { parts: { measuresAgain: false } },
  'wall time is the timeline': {
    parts: {
      timeline: (clock, ...rest) => ({ ...sound.timeline(clock, ...rest), now: () => clock.wallMs() }),
    },
  },
  'stamps of this machine are taken for times': {
    parts: {
      timeline: (clock, ...rest) => ({ ...sound.timeline(clock, ...rest), fromLocalWall: (ms) => ms }),
    },
  },
  'an offset of the wall is one of the timeline': {
    parts: {
      timeline: (clock, ...rest) => {
        const timeline = sound.timeline(clock, ...rest);
        const offsets = new Map<string, number>();
        return {
          ...timeline,
          setTargetOffset: (target, ms) => void offsets.set(target, ms),
          fromTarget: (target, ms) => ms - (offsets.get(target) ?? 0),
        };
      },
    },
  },
  'only 16 segments are kept': {
    parts: {
      timeline: (clock, lastMs, keeping) => {
        const timeline = sound.timeline(clock, lastMs, keeping);
        const segmentsMs: number[] = [];
        let leadMs = Number.NaN;
        const note = (): number => {
          const nowMs = timeline.now();
          if (Math.abs(clock.wallMs() - nowMs - leadMs) > limits.wallJumpMs || Number.isNaN(leadMs))
            segmentsMs.push(nowMs);
          leadMs = clock.wallMs() - nowMs;
          return nowMs;
        };
        return {
          ...timeline,
          now: note,
          toWall: (ms) =>
            timeline.toWall(Math.max(ms, segmentsMs.at(-16) ?? ms)) - Math.max(0, (segmentsMs.at(-16) ?? ms) - ms),
        };
      },
    },
  },
  'a restart goes on by the wall': { parts: { kept: (kept) => ({ ...kept, line: null, segments: [] }) } },
  'a restart does not know how long nobody ran': { parts: { kept: (kept) => ({ ...kept, line: null }) } },
  'a restart forgets the clocks of other machines': { parts: { kept: (kept) => ({ ...kept, targets: [] }) } },
  'a counter begins by the wall clock': { plant: planted('epochOf', (_, told) => told) },
  'a stamp from ahead is refused': { plant: planted('timeOf', ({ time }) => time) },
  'a spool is read before the clock of its machine is measured': { parts: { waitsForClock: false } },
  'the last look at a spool says nothing': { parts: { keepsSince: false } },
  'calls of the same moment have no order': {
    plant: planted('timeOf', (arrival) => rightTimeOf.call(new Arrivals(() => Number.MAX_SAFE_INTEGER), arrival)),
  },
};

/** The bug is planted while it runs, and gone after it. */
export async function runClockMutant(name: string, seeds: Iterable<number>): Promise<RunReport> {
  const mutant = clockMutants[name];
  if (mutant === undefined) throw new Error(`no planted bug is called ${name}`);
  const heal = mutant.plant?.() ?? (() => undefined);
  try {
    return await runClocks(seeds, { ...sound, ...mutant.parts }, 1);
  } finally {
    heal();
  }
}
