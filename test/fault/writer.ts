// Child: loads the store of a directory, takes up its seeded world where the log ends, and commits on and on. Says `ready N`
// with the number of commits it found, then `ack N` after each commit. Arguments: directory, seed, commits at most.
import { loadStore } from '../../src/store/recover.ts';
import { SampleWorld, sampleTime } from '../../src/store/samples.contract.ts';
import { eventsPerCommit, runtimeCount } from './truth.ts';

const [dir = '', seed = '', commitsMax = ''] = process.argv.slice(2);

const { store, events, rebuilt } = await loadStore({
  dir,
  now: () => sampleTime,
  ballastBytes: 65_536,
  visitor: () => () => {},
});
if (rebuilt) throw new Error('the log was damaged');
const world = new SampleWorld(Number(seed), runtimeCount);
const found = events / eventsPerCommit;
for (let commit = 0; commit < found; commit++) world.next(eventsPerCommit);
process.stdout.write(`ready ${found}\n`);
for (let commit = found + 1; commit <= Number(commitsMax); commit++) {
  await store.commit(world.next(eventsPerCommit));
  process.stdout.write(`ack ${commit}\n`);
}
// Stays, with the log as the last commit left it, until it is killed.
setInterval(() => {}, 1_000_000);
