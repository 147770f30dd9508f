// Child: prunes the ended runtimes of a directory's store and says `step` after every transaction.
import { sampleTime } from '../../src/store/samples.contract.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';

const [dir = ''] = process.argv.slice(2);

const store = await openSqliteStore({
  dir,
  now: () => sampleTime,
  ballastBytes: 0,
  pause: async () => {
    process.stdout.write('step\n');
  },
});
// The careful pace of a full disk: many small steps, so that there is much to be killed between.
await store.pruneWhenFull({
  before: 1_000,
  auditBefore: 0,
  snapshotsMax: 10,
  bytesMax: Number.MAX_SAFE_INTEGER,
});
process.stdout.write('pruned\n');
setInterval(() => {}, 1_000_000);
