// Runs every bench module beside this file, each in a process of its own so that memory figures do not mix, and prints
// one table. Ends with status 1 when a goal was missed. Usage: node bench/main.ts [NAME...]
import { fork } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { type BenchModule, type BenchRow, keepsGoal, table } from './row.ts';

const notBenches = ['main.ts', 'row.ts'];
const childFlag = '--child';

function isBench(module: unknown): module is BenchModule {
  return typeof module === 'object' && module !== null && 'run' in module && typeof module.run === 'function';
}

/** In the child: one module, its rows sent home. Files without `run` are helpers of others and send none. */
async function runHere(file: string): Promise<void> {
  const module: unknown = await import(`./${file}`);
  const rows = isBench(module) ? await module.run() : [];
  process.send?.(rows, () => process.disconnect());
}

function runApart(file: string): Promise<readonly BenchRow[]> {
  return new Promise((resolve, reject) => {
    let rows: readonly BenchRow[] | null = null;
    const child = fork(import.meta.filename, [childFlag, file], { execArgv: ['--expose-gc'] });
    child.on('message', (message) => {
      rows = message as readonly BenchRow[];
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0 && rows !== null) resolve(rows);
      else reject(new Error(`bench/${file} ended with ${signal ?? `status ${code}`}`));
    });
  });
}

async function main(names: readonly string[]): Promise<void> {
  const files = (await readdir(import.meta.dirname))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !notBenches.includes(file))
    .filter((file) => names.length === 0 || names.includes(file.slice(0, -'.ts'.length)))
    .sort();
  const rows: BenchRow[] = [];
  for (const file of files) {
    process.stderr.write(`bench/${file}\n`);
    rows.push(...(await runApart(file)));
  }
  const machine = `${availableParallelism()} x ${cpus()[0]?.model.trim() ?? 'cpu'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}`;
  console.log(`Node ${process.versions.node}, ${machine}, ${new Date().toISOString().slice(0, 10)}\n`);
  console.log(table(rows));
  const missed = rows.filter((row) => !keepsGoal(row));
  if (missed.length > 0) {
    console.log(`\nmissed: ${missed.map((row) => row.name).join('; ')}`);
    process.exitCode = 1;
  }
}

const [first, ...rest] = process.argv.slice(2);
if (first === childFlag && rest[0] !== undefined) await runHere(rest[0]);
else await main(process.argv.slice(2));
