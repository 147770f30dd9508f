// One core's share of the seeds.

import { parentPort, workerData } from 'node:worker_threads';
import { runClockMutant, runClocks } from './clock-run.ts';
import { mutants } from './mutants.ts';
import { range, runSeeds } from './run.ts';
import { soundParts } from './schedule.ts';

export interface Job {
  readonly from: number;
  readonly count: number;
  readonly stride: number;
  /** Name of a planted bug, null for the engine as it is. */
  readonly mutant: string | null;
  readonly isOfClocks: boolean;
}

const { from, count, stride, mutant, isOfClocks } = workerData as Job;
const seeds = range(from, count, stride);

function runEvents(): ReturnType<typeof runSeeds> {
  const parts = mutant === null ? soundParts : mutants[mutant];
  if (parts === undefined) throw new Error(`no planted bug is called ${mutant}`);
  return runSeeds(seeds, parts, mutant === null ? 10 : 1);
}

const ofClocks = mutant === null ? () => runClocks(seeds) : () => runClockMutant(mutant, seeds);
parentPort?.postMessage(await (isOfClocks ? ofClocks() : runEvents()));
