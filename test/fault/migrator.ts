// Child: opens a store with two migrations more than the shipped ones and stands still at the point it was told, saying
// `at POINT`. Arguments: directory, point (first, second, last, or none to run through and say `open`).

import { writeSync } from 'node:fs';
import { type Migration, migrations } from '../../src/store/migrations.ts';
import { sampleTime } from '../../src/store/samples.contract.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';

const [dir = '', point = ''] = process.argv.slice(2);

function reach(name: string): void {
  if (name !== point) return;
  writeSync(1, `at ${name}\n`);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

const steps: readonly Migration[] = [
  ...migrations,
  {
    version: migrations.length + 1,
    words: 'a new column, and every row touched',
    apply: (database) => {
      reach('first');
      database.exec('ALTER TABLE events ADD COLUMN origin TEXT; UPDATE events SET origin = source;');
      reach('second');
    },
  },
  {
    version: migrations.length + 2,
    words: 'a new table',
    apply: (database) => {
      database.exec('CREATE TABLE later AS SELECT event_id FROM events;');
      reach('last');
    },
  },
];

const store = await openSqliteStore({ dir, now: () => sampleTime, ballastBytes: 0, migrations: steps });
await store.replay(() => {});
writeSync(1, 'open\n');
setInterval(() => {}, 1_000_000);
