// NATS JetStream and PostgreSQL against the hub's contract, and what only this pair has: a server that is killed, a stream that is
// emptied, and several processes of one hub that share the work.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPostgresDriver } from '../../../src/hub/postgres-driver.ts';
import { createSqlTable } from '../../../src/hub/sql-table.ts';
import { paneRow } from '../../kit/rows.ts';
import { until } from '../../kit/tmux-server.ts';
import { edgeRows, hubRows, TestHub, tableRows } from '../kit.ts';
import { hubContract } from '../transport.contract.ts';
import { TestNats } from './nats.ts';
import { TestPostgres } from './postgres.ts';

let postgres: TestPostgres;
const nats = new TestNats();
let count = 0;
const trouble = (): void => undefined;

const open = (): TestHub => {
  count += 1;
  const table = async () => createSqlTable(await createPostgresDriver(postgres.url, trouble));
  return new TestHub({ table, tenant: `n${count}`, nats: nats.url });
};

beforeAll(async () => {
  postgres = new TestPostgres();
  await nats.start();
});
afterAll(async () => {
  await nats.end();
  postgres.end();
});

hubContract('NATS and PostgreSQL', open);

it('HUB8 what a killed or an emptied NATS has lost is told anew, and nothing that was taken goes back', async () => {
  const hub = open();
  await hub.start();
  const edges = [await hub.edge('one'), await hub.edge('two')] as const;
  const same = (): Promise<unknown> =>
    until('the hub equals the union of its edges', async () => {
      const wanted = edgeRows(edges).join('\n');
      const rows = await Promise.all([hubRows(hub.now, hub.tenant), tableRows(hub.now, hub.tenant)]);
      return rows.every((one) => one.join('\n') === wanted);
    });
  for (const edge of edges) edge.put('a', paneRow());
  await same();
  for (const isWiped of [false, true]) {
    await nats.kill();
    if (isWiped) nats.wipe();
    edges[0].put('b', paneRow({ fields: { state_version: isWiped ? 8 : 7 } }));
    expect((await fetch(`${hub.url}/readyz`)).status).toBe(503);
    await nats.start();
    await same();
  }
  for (const edge of edges) await edge.end();
  await hub.end();
});
