// One core's share of the seeds.

import { parentPort, workerData } from 'node:worker_threads';
import { mutants } from './mutants.ts';
import { range, runSeeds } from './run.ts';
import { soundParts } from './schedule.ts';

export interface Job {
  readonly from: number;
  readonly count: number;
  readonly stride: number;
  /** Name of a planted bug, null for the engine as it is. */
  readonly mutant: string | null;
}

const { from, count, stride, mutant } = workerData as Job;
const parts = mutant === null ? soundParts : mutants[mutant];
if (parts === undefined) throw new Error(`no planted bug is called ${mutant}`);
const report = await runSeeds(range(from, count, stride), parts, mutant === null ? 10 : 1);
parentPort?.postMessage(report);
