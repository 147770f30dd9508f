// Child: replaces a damaged log, and is killed at the given step of it, or has that step fail and tries again. A step is
// what changes files for good: a rename, the end of a transaction, folding it into the file, closing it. Says `done N` with the
// number of steps that all of it takes. Arguments: directory; `start` (as a daemon that finds the damage when it starts) or
// `running` (as one that had the log open and knows the states); `kill` or `fail`; the step.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { loadStore } from '../../src/store/recover.ts';
import { emptyCommit, sampleTime } from '../../src/store/samples.contract.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';

const [dir = '', way = '', harm = '', at = ''] = process.argv.slice(2);
const options = { dir, now: () => sampleTime + 86_400_000, ballastBytes: 0 };

let isCounting = false;
let steps = 0;
function step(): void {
  if (!isCounting) return;
  steps += 1;
  if (steps !== Number(at)) return;
  if (harm === 'kill') process.kill(process.pid, 'SIGKILL');
  throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
}

type Callable = (this: unknown, ...given: unknown[]) => unknown;
function count(owner: object, name: string, isStep: (first: unknown) => boolean = () => true): void {
  const real = Reflect.get(owner, name) as Callable;
  Reflect.set(owner, name, function (this: unknown, ...given: unknown[]) {
    if (isStep(given[0])) step();
    return Reflect.apply(real, this, given);
  });
}

count(fs, 'renameSync');
syncBuiltinESMExports();
const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
count(DatabaseSync.prototype, 'exec', (sql) => /^COMMIT|^PRAGMA wal_checkpoint/.test(String(sql)));
// SQLite closes what it is told to close; a process can end before that.
if (harm === 'kill') count(DatabaseSync.prototype, 'close');

async function start(): Promise<void> {
  isCounting = true;
  const { store } = await loadStore({ ...options, visitor: () => () => {} });
  isCounting = false;
  await store.close();
}

async function startOver(): Promise<void> {
  const store = await openSqliteStore(options);
  const [runtimes, states, feed_version] = [await store.runtimes(), await store.states(), 1_000_000];
  const begin = () => ({ ...emptyCommit, runtimes, states, feed_version });
  isCounting = true;
  await store.startOver(begin).catch(async (problem: unknown) => {
    if (harm === 'kill') throw problem;
    await store.startOver(begin);
  });
  isCounting = false;
  await store.close();
}

if (way === 'running') await startOver();
else {
  await start().catch(async (problem: unknown) => {
    if (harm === 'kill') throw problem;
    isCounting = false;
    await start();
  });
}
process.stdout.write(`done ${steps}\n`);
