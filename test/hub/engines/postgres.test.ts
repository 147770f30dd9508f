// PostgreSQL against the contract of the table, the hub's contract on it, and what only this engine has: row level security, several
// processes, and being away.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPostgresDriver } from '../../../src/hub/postgres-driver.ts';
import { createSqlTable } from '../../../src/hub/sql-table.ts';
import { newDaemon, snapshot, tableContract, wireItem } from '../../../src/hub/table.contract.ts';
import { until } from '../../kit/tmux-server.ts';
import { TestHub } from '../kit.ts';
import { hubContract } from '../transport.contract.ts';
import { TestPostgres } from './postgres.ts';

let server: TestPostgres;
const trouble = (): void => undefined;
const open = async () => createSqlTable(await createPostgresDriver(server.url, trouble));
let count = 0;
const marked = (): string => {
  count += 1;
  return `m${count}`;
};

beforeAll(() => {
  server = new TestPostgres();
});
afterAll(() => server.end());

tableContract('PostgreSQL', open, marked);

hubContract('stream and PostgreSQL', () => {
  const tenant = marked();
  return new TestHub({ table: () => open(), tenant });
});

it('HUB7 row level security hides other tenants from SQL that forgets to ask for its own', async () => {
  const table = await open();
  for (const tenant of ['rls-a', 'rls-b']) {
    await table.addTenant(tenant);
    await table.of(tenant).putDaemon(newDaemon('a'));
    await table.of(tenant).apply([{ daemon: newDaemon('a').daemon, batch: snapshot('e', 5, { x: wireItem() }) }]);
  }
  const as = (tenant: string, sql: string): string =>
    server.query(
      'hub',
      'hub',
      `SET search_path = agtmux_hub; SET ROLE agtmux_hub_tenant; SELECT set_config('agtmux.tenant', '${tenant}', false) IS NULL; ${sql}`,
    );
  expect(as('rls-a', 'SELECT DISTINCT tenant FROM agents')).toBe('f\nrls-a');
  expect(as('rls-a', "SELECT count(*) FROM agents WHERE tenant = 'rls-b'")).toBe('f\n0');
  expect(as('', 'SELECT count(*) FROM agents')).toBe('f\n0');
  expect(
    as('rls-a', "WITH gone AS (DELETE FROM daemons WHERE tenant = 'rls-b' RETURNING 1) SELECT count(*) FROM gone"),
  ).toBe('f\n0');
  expect(() => as('rls-a', "INSERT INTO cursors VALUES ('rls-b', 'x', 1)")).toThrow('row-level security');
  expect(() => as('rls-a', 'ALTER TABLE agents DISABLE ROW LEVEL SECURITY')).toThrow('must be owner');
  await table.close();
});

it('HUB2 a database of an earlier schema is brought up to this one with everything in it, and a newer one is refused', async () => {
  const before = await open();
  await before.addTenant('old');
  await before.of('old').putDaemon(newDaemon('a'));
  await before.close();
  const sql = (text: string): string => server.query('hub', 'hub', `SET search_path = agtmux_hub; ${text}`);
  sql('DROP TABLE hub_keys, lanes, days, orders; UPDATE meta SET version = 1');
  const after = await open();
  expect((await after.of('old').daemons()).map(({ label }) => label)).toEqual(['box a']);
  expect(await after.of('old').history('2026-01-01')).toEqual([]);
  expect(await after.of('old').orders(1)).toEqual([]);
  await after.close();
  const newest = sql('SELECT version FROM meta');
  sql('UPDATE meta SET version = 99');
  await expect(open()).rejects.toThrow('schema 99');
  sql(`UPDATE meta SET version = ${newest}`);
});

it('HUB8 another process is woken by a change, and reads it', async () => {
  const [one, two] = [await open(), await open()];
  await one.addTenant('wake');
  const heard: string[] = [];
  two.onChange((tenant) => heard.push(tenant));
  await one.of('wake').putDaemon(newDaemon('a'));
  await one.of('wake').apply([{ daemon: newDaemon('a').daemon, batch: snapshot('e', 5, { x: wireItem() }) }]);
  await until('it was told', async () => heard.includes('wake'));
  expect((await two.of('wake').changesSince(0))?.rows.map(({ key }) => key)).toEqual(['x']);
  await one.close();
  await two.close();
});

it('HUB2 a server that is killed takes nothing back that was taken, and is used again when it is back', async () => {
  const table = await open();
  await table.addTenant('kill');
  const tenant = table.of('kill');
  await tenant.putDaemon(newDaemon('a'));
  const { daemon } = newDaemon('a');
  await tenant.apply([{ daemon, batch: snapshot('e', 5, { x: wireItem() }) }]);
  server.kill();
  await expect(tenant.rows()).rejects.toThrow();
  expect(await table.check()).toBe(false);
  server.start();
  await until('it answers', async () => table.check());
  expect((await tenant.rows()).rows.map(({ key }) => key)).toEqual(['x']);
  await table.close();
});
