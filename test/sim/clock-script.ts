// Scripts of clocks and facts: agents here and on other machines that say things, a daemon that is stopped and started,
// and clocks that are set, trimmed, drift, sleep and change their zone meanwhile. The same script is played twice: as it
// is, and without what happens to the clocks.

import { limits } from '../../src/model/limits.ts';
import type { SimulatedRandom } from '../../src/platform/simulated/random.ts';

export type Words = 'prompt' | 'tool' | 'ask' | 'settle' | 'stop' | 'failure';

export type Step =
  /** Time passes and everybody is awake. */
  | { readonly kind: 'pass'; readonly ms: number }
  /** The daemon is stopped by a signal, time passes, and it goes on. */
  | { readonly kind: 'stall'; readonly ms: number }
  | { readonly kind: 'hook'; readonly agent: number; readonly words: Words }
  | { readonly kind: 'screen'; readonly agent: number; readonly state: 'running' | 'idle' }
  | { readonly kind: 'stream'; readonly word: 'busy' | 'retry' | 'idle'; readonly reconnects: boolean }
  | { readonly kind: 'daemon'; readonly runs: boolean; readonly reboots: boolean }
  | { readonly kind: 'link'; readonly far: number; readonly up: boolean }
  | { readonly kind: 'probe' }
  /** What happens to clocks. `of` is the machine: -1 for this one. */
  | { readonly kind: 'set'; readonly of: number; readonly byMs: number }
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'zone'; readonly name: string };

export interface Script {
  /** Offsets and drift (parts per million) of the clocks of the other machines, and the drift of our own. */
  readonly fars: readonly { readonly offsetMs: number; readonly drift: number }[];
  readonly drift: number;
  /** Machine of each agent: -1 for this one. Agent 0 has a stream of its own. */
  readonly agents: readonly number[];
  readonly steps: readonly Step[];
  /** The clock is trimmed by less than what counts as a jump: times may be off by as much. */
  readonly isTrimmed: boolean;
}

const trimsMax = 3;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Longer than anybody is away: a jump that is shorter than the time nobody looked makes stamps that can mean two times. */
const jumpsMs = [15 * minuteMs, 30 * minuteMs, hourMs, 24 * hourMs];
/** The clocks of other machines have been measured again after that. */
const measuredMs = limits.socketScanMs + 500;
const zones = ['UTC', 'Asia/Tokyo', 'America/St_Johns', 'Pacific/Apia'];
const words: readonly Words[] = ['prompt', 'tool', 'ask', 'settle', 'stop', 'failure'];

export function script(random: SimulatedRandom): Script {
  const fars = Array.from({ length: random.int(0, 2) }, () => ({
    offsetMs: random.pick([0, 90_000, -90_000, 7 * hourMs, -3 * 24 * hourMs]) + random.int(-999, 999),
    drift: random.int(-100, 100),
  }));
  const agents = [-1, -1, ...fars.flatMap((_, far) => [far, far])];
  return new Writer(random, fars, agents).script();
}

class Writer {
  readonly #random: SimulatedRandom;
  readonly #fars: Script['fars'];
  readonly #agents: readonly number[];
  readonly #steps: Step[] = [];
  readonly #isTrimmed: boolean;
  #runs = true;
  readonly #links: boolean[];
  #trims = 0;
  /** Clocks that were set since somebody looked last. Of two settings that nobody saw the first cannot be known. */
  readonly #unseen = new Set<number>();

  constructor(random: SimulatedRandom, fars: Script['fars'], agents: readonly number[]) {
    this.#random = random;
    this.#fars = fars;
    this.#agents = agents;
    this.#links = fars.map(() => true);
    this.#isTrimmed = random.chance(0.2);
  }

  script(): Script {
    const random = this.#random;
    // Now and then many nights in a row: everything that was remembered of the clock is needed.
    if (random.chance(0.05)) this.#nights(random.int(20, 40));
    const count = random.int(6, 24);
    for (let step = 0; step < count; step += 1) this.#scene();
    this.#everybodyUp();
    this.#pass(3_000);
    this.#steps.push({ kind: 'probe' });
    const drift = random.int(-100, 100);
    return { fars: this.#fars, drift, agents: this.#agents, steps: this.#steps, isTrimmed: this.#isTrimmed };
  }

  #scene(): void {
    const random = this.#random;
    const dice = random.int(0, 99);
    if (dice < 45) this.#hook(random.int(0, this.#agents.length - 1));
    else if (dice < 55) this.#stream();
    else if (dice < 60) this.#screen();
    else if (dice < 72) this.#set();
    else if (dice < 80) this.#sleep();
    else if (dice < 82) this.#steps.push({ kind: 'zone', name: random.pick(zones) });
    else if (dice < 88) this.#daemon();
    else if (dice < 92) this.#link();
    else if (dice < 96) this.#stall();
    else this.#probe();
    this.#pass(random.pick([40, 300, 1_200, 2_500]));
  }

  #hook(agent: number): void {
    this.#steps.push({ kind: 'hook', agent, words: this.#random.pick(words) });
  }

  #stream(): void {
    const word = this.#random.pick(['busy', 'retry', 'idle'] as const);
    this.#steps.push({ kind: 'stream', word, reconnects: this.#random.chance(0.4) });
  }

  /** Far enough from what others say: which of two was later must not hang on the precision of a measurement. */
  #screen(): void {
    if (!this.#runs) return;
    this.#pass(3_000);
    const state = this.#random.pick(['running', 'idle'] as const);
    this.#steps.push({ kind: 'screen', agent: this.#random.int(0, this.#agents.length - 1), state });
    this.#pass(3_000);
  }

  #set(): void {
    const random = this.#random;
    const of = random.int(-1, this.#fars.length - 1);
    if (this.#unseen.has(of)) return;
    // Nobody sees that a clock over there was set before it is measured again.
    if (of >= 0 || !this.#isSeen(of)) this.#unseen.add(of);
    // Trimming is followed and not remembered, so what was shown before is off by the sum of it.
    const isTrim = this.#isTrimmed && this.#trims < trimsMax && random.chance(0.5);
    if (isTrim) this.#trims += 1;
    const byMs = isTrim
      ? random.int(-900, 900)
      : random.pick(jumpsMs) * random.pick([1, -1]) + random.int(-200_000, 200_000);
    // What was written before is read by the old clock, what comes after by the new one.
    this.#pass(measuredMs);
    this.#steps.push({ kind: 'set', of, byMs });
  }

  #isSeen(of: number): boolean {
    return this.#runs && (of < 0 || this.#links[of] === true);
  }

  /** Others go on while this machine sleeps. */
  #sleep(): void {
    const random = this.#random;
    // A sleep is a jump for every clock.
    const unseen = [-1, ...this.#fars.keys()].filter((of) => !this.#isSeen(of));
    if (unseen.some((of) => this.#unseen.has(of))) return;
    for (const of of unseen) this.#unseen.add(of);
    this.#pass(measuredMs);
    const far = this.#agents.map((_, agent) => agent).filter((agent) => (this.#agents[agent] ?? -1) >= 0);
    const parts = far.length === 0 ? 0 : random.int(0, 3);
    for (let part = 0; part <= parts; part += 1) {
      this.#steps.push({ kind: 'sleep', ms: random.pick([20 * minuteMs, hourMs, 8 * hourMs]) });
      if (part < parts) this.#hook(random.pick(far));
    }
  }

  #nights(count: number): void {
    for (let night = 0; night < count; night += 1) {
      this.#hook(this.#random.int(0, this.#agents.length - 1));
      this.#pass(1_200);
      this.#steps.push({ kind: 'sleep', ms: 8 * hourMs });
      this.#pass(1_200);
    }
  }

  #daemon(): void {
    const random = this.#random;
    this.#pass(measuredMs);
    this.#runs = !this.#runs;
    this.#steps.push({
      kind: 'daemon',
      runs: this.#runs,
      reboots: this.#runs && this.#unseen.size === 0 && random.chance(0.2),
    });
    if (!this.#runs) return;
    // All that can be reached are looked at again.
    this.#pass(3_000);
    this.#unseen.delete(-1);
    this.#links.forEach((up, far) => void (up && this.#unseen.delete(far)));
  }

  #link(): void {
    if (this.#fars.length === 0) return;
    const far = this.#random.int(0, this.#fars.length - 1);
    this.#pass(measuredMs);
    const up = this.#links[far] !== true;
    this.#links[far] = up;
    this.#steps.push({ kind: 'link', far, up });
    if (!up) return;
    this.#pass(3_000);
    if (this.#runs) this.#unseen.delete(far);
  }

  /** When in that time it was called, nobody knows of a stamp from a clock that was set and not measured since. */
  #stall(): void {
    if (!this.#runs || this.#unseen.size > 0) return;
    this.#pass(1_200);
    this.#steps.push({ kind: 'stall', ms: this.#random.pick([2_000, 30_000, 61_000, 121_000]) });
  }

  #probe(): void {
    if (this.#runs) this.#steps.push({ kind: 'probe' });
  }

  #everybodyUp(): void {
    this.#links.forEach((up, far) => void (!up && this.#steps.push({ kind: 'link', far, up: true })));
    if (!this.#runs) this.#steps.push({ kind: 'daemon', runs: true, reboots: false });
  }

  #pass(ms: number): void {
    this.#steps.push({ kind: 'pass', ms });
  }
}
