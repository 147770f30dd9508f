// The embedded table against the contract, and what is its own: a file that comes back, and schemas that are newer.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../store/node-sqlite.ts';
import { createSqlTable } from './sql-table.ts';
import { createSqliteDriver } from './sqlite-driver.ts';
import { newDaemon, snapshot, tableContract, wireItem } from './table.contract.ts';

tableContract(
  'SQLite',
  async () => createSqlTable(createSqliteDriver(':memory:')),
  () => 'x',
);

it('HUB2 what was taken is there when the hub comes back; a newer file is left alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agt-hub-'));
  try {
    const path = join(folder, 'hub.db');
    const first = createSqlTable(createSqliteDriver(path));
    await first.addTenant('main');
    await first.of('main').putDaemon(newDaemon('a'));
    await first.of('main').apply([{ daemon: newDaemon('a').daemon, batch: snapshot('e1', 5, { x: wireItem() }) }]);
    await first.close();
    const second = createSqlTable(createSqliteDriver(path));
    expect((await second.of('main').rows()).rows.map(({ key }) => key)).toEqual(['x']);
    expect(await second.tenants()).toEqual(['main']);
    await second.close();
    // As an agtmux of two schemas before has left it: what was there stays, what was not is made.
    const database = openDatabase(path);
    database.exec('DROP TABLE hub_keys; DROP TABLE lanes; DROP TABLE days; DROP TABLE orders; PRAGMA user_version = 1');
    database.close();
    const third = createSqlTable(createSqliteDriver(path));
    expect((await third.of('main').rows()).rows.map(({ key }) => key)).toEqual(['x']);
    expect([await third.of('main').orders(1), await third.of('main').history('2026-01-01')]).toEqual([[], []]);
    await third.close();
    const newer = openDatabase(path);
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    expect(() => createSqliteDriver(path)).toThrow('has schema 99');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
