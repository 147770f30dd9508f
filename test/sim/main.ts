// `make sim SEEDS=n`: runs n seeds on all cores and says what it saw. Exits 1 when an answer depended on the way of
// delivery, with the command that shows it again. `--mutants` plants every bug instead and exits 1 when one gets away.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { mutants } from './mutants.ts';
import type { RunReport } from './run.ts';
import type { Job } from './worker.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20000' },
    from: { type: 'string', default: '1' },
    mutants: { type: 'boolean', default: false },
  },
});
const count = Number(values.seeds);
const from = Number(values.from);
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(from)) {
  process.stderr.write('sim: --seeds and --from take whole numbers\n');
  process.exit(2);
}

const began = performance.now();
const seconds = (): string => ((performance.now() - began) / 1000).toFixed(1);

function inWorker(job: Job): Promise<RunReport> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: job });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

async function runSound(): Promise<boolean> {
  const stride = Math.min(availableParallelism(), count);
  const jobs = Array.from({ length: stride }, (_, place) => ({
    from: from + place,
    count: count - place,
    stride,
    mutant: null,
  }));
  const reports = await Promise.all(jobs.map(inWorker));
  const sum = (of: (report: RunReport) => number): number => reports.reduce((total, report) => total + of(report), 0);
  const divergences = reports.flatMap((report) => report.divergences);
  for (const { seed, words } of divergences) {
    process.stdout.write(`seed ${seed}: ${words}\n  again: make sim SEEDS=1 FROM=${seed}\n`);
  }
  process.stdout.write(
    `${sum((one) => one.seeds)} seeds, ${sum((one) => one.schedules)} schedules, ${sum((one) => one.events)} events, ` +
      `${sum((one) => one.crashes)} crashes: ${divergences.length} divergences in ${seconds()} s\n`,
  );
  return divergences.length === 0;
}

async function runMutants(): Promise<boolean> {
  let allCaught = true;
  for (const mutant of Object.keys(mutants)) {
    const { seeds, divergences } = await inWorker({ from, count, stride: 1, mutant });
    const caught = divergences.length > 0;
    allCaught &&= caught;
    process.stdout.write(
      `${caught ? `caught after ${String(seeds).padStart(5)} seeds` : 'NOT CAUGHT              '}  ${mutant}\n`,
    );
  }
  process.stdout.write(`${Object.keys(mutants).length} planted bugs in ${seconds()} s\n`);
  return allCaught;
}

process.exitCode = (await (values.mutants ? runMutants() : runSound())) ? 0 : 1;
