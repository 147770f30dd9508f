import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clockMutants, runClockMutant, runClocks } from './clock-run.ts';
import { mutants } from './mutants.ts';
import { range, runSeeds } from './run.ts';

/** Seeds that once failed; each stays for ever, with what it found. */
const keptSeeds = readFileSync(new URL('./seeds.txt', import.meta.url), 'utf8')
  .split('\n')
  .map((line) => line.replace(/#.*/, '').trim())
  .filter((line) => line !== '')
  .map(Number);

/** The same of scripts of clocks. */
const keptClockSeeds: readonly number[] = [
  // Slept in parts while nobody ran: stamps that the clock over there had shown before it was set back were taken for old ones.
  ...[16_833, 18_032, 30_355, 48_696],
  // The same without a restart, behind a link that was down.
  32_723,
  // What the clock had drifted since it was set last was forgotten by a restart.
  25_550,
  // Two calls of one moment, one on each side of a jump, changed places.
  56_138,
];

describe('the same events in any order, doubled, cut and replayed', () => {
  it('CNV1 give the same state as the reference, over fresh seeds', async () => {
    const report = await runSeeds(range(1, 400));
    expect(report.divergences).toEqual([]);
    expect(report.crashes).toBeGreaterThan(100);
  });

  it('CNV1 give the same state on every seed that ever failed', async () => {
    expect(keptSeeds.length).toBeGreaterThan(0);
    const report = await runSeeds(keptSeeds);
    expect(report.divergences).toEqual([]);
  });
});

describe('clocks that are set, drift, sleep and change their zone, here and on other machines', () => {
  it('RSV7 ORD2 lose no fact, change no state and age nothing, through restarts of the daemon', async () => {
    const report = await runClocks(range(1, 100));
    expect(report.divergences).toEqual([]);
    expect(report.crashes).toBeGreaterThan(30);
    expect(report.events).toBeGreaterThan(1_000);
  });

  it('ORD2b RSV7 do so on every seed that ever failed', async () => {
    const report = await runClocks(keptClockSeeds);
    expect(report.divergences).toEqual([]);
  });

  it.each(Object.keys(clockMutants))('ORD2 caught: %s', { timeout: 60_000 }, async (name) => {
    const report = await runClockMutant(name, range(1, 2_000));
    expect(report.divergences.length).toBe(1);
  });
});

describe('planted bugs', () => {
  it.each(Object.entries(mutants))('CNV1 caught: %s', async (_, parts) => {
    const report = await runSeeds(range(1, 2_000), parts, 1);
    expect(report.divergences.length).toBe(1);
  });
});
