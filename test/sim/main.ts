// `make sim SEEDS=n`: runs n seeds on all cores and says what it saw. Exits 1 when an answer depended on the way of
// delivery, with the command that shows it again. `--clocks` plays scripts of clocks instead (`make clocks SEEDS=n`), and
// `--mutants` plants every bug and exits 1 when one gets away.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { clockMutants } from './clock-run.ts';
import { mutants } from './mutants.ts';
import type { RunReport } from './run.ts';
import type { Job } from './worker.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20000' },
    from: { type: 'string', default: '1' },
    mutants: { type: 'boolean', default: false },
    clocks: { type: 'boolean', default: false },
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
    isOfClocks: values.clocks,
  }));
  const reports = await Promise.all(jobs.map(inWorker));
  const sum = (of: (report: RunReport) => number): number => reports.reduce((total, report) => total + of(report), 0);
  const divergences = reports.flatMap((report) => report.divergences);
  for (const { seed, words } of divergences) {
    process.stdout.write(
      `seed ${seed}: ${words}\n  again: make ${values.clocks ? 'clocks' : 'sim'} SEEDS=1 FROM=${seed}\n`,
    );
  }
  process.stdout.write(
    `${sum((one) => one.seeds)} seeds, ${sum((one) => one.schedules)} schedules, ${sum((one) => one.events)} events, ` +
      `${sum((one) => one.crashes)} ${values.clocks ? 'restarts' : 'crashes'}: ${divergences.length} divergences in ${seconds()} s\n`,
  );
  return divergences.length === 0;
}

async function runMutants(): Promise<boolean> {
  let allCaught = true;
  const names = Object.keys(values.clocks ? clockMutants : mutants);
  for (const mutant of names) {
    const { seeds, divergences } = await inWorker({ from, count, stride: 1, mutant, isOfClocks: values.clocks });
    const caught = divergences.length > 0;
    allCaught &&= caught;
    process.stdout.write(
      `${caught ? `caught after ${String(seeds).padStart(5)} seeds` : 'NOT CAUGHT              '}  ${mutant}\n`,
    );
  }
  process.stdout.write(`${names.length} planted bugs in ${seconds()} s\n`);
  return allCaught;
}

process.exitCode = (await (values.mutants ? runMutants() : runSound())) ? 0 : 1;
