// NATS JetStream and PostgreSQL against the hub's contract, and what only this pair has: a server that is killed, a stream that is
// emptied, and several processes of one hub that share the work.

import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPostgresDriver } from '../../../src/hub/postgres-driver.ts';
import { createSqlTable } from '../../../src/hub/sql-table.ts';
import { wireItem } from '../../../src/hub/table.contract.ts';
import type { HubTable } from '../../../src/hub/table.ts';
import { paneRow } from '../../kit/rows.ts';
import { until } from '../../kit/tmux-server.ts';
import { edgeRows, failingTable, hubRows, TestHub, tableRows } from '../kit.ts';
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

it('HUB8b what a killed or an emptied NATS has lost is told anew, and nothing that was taken goes back', async () => {
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
  await until('the one that reads says so', async () =>
    (await (await fetch(`${hub.url}/metrics`)).text()).includes(
      `agtmux_hub_stream_waiting{tenant="${hub.tenant}"} 0\n`,
    ),
  );
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

it('HUB7 HUB8 a stream with anything in it stops nobody, and lets nobody else in', async () => {
  const hub = open();
  await hub.start();
  const edge = await hub.edge('one');
  edge.put('a', paneRow());
  await until('it is listed', async () => (await hubRows(hub.now, hub.tenant)).length === 1);
  // Whoever has no password says and hears nothing.
  const { host } = new URL(nats.url);
  await expect(connect({ servers: host, reconnect: false })).rejects.toThrow(/authorization/i);
  const other = await connect({ servers: host, user: 'hub', pass: 'secret' });
  const stream = jetstream(other);
  const { daemon } = edge.membership;
  const mallory = await hub.join(await hub.code(), 'mallory');
  const put = (tenant: string, name: string, said: string) => stream.publish(`agtmux.feed.${tenant}.${name}`, said);
  const row = (version: number, fields: object) => ({ key: 'row:bad', version, value: wireItem(fields) });
  const batch = (change: object) =>
    JSON.stringify({ v: 1, kind: 'snapshot', epoch: 'e', to: 1, part: 0, parts: 1, changes: [change] });
  for (const said of [
    'no JSON',
    '[]',
    '{"v":1}',
    batch({}),
    // What one engine takes and the other one does not.
    batch(row(1, { title: '\ud800', cwd: '/w/\udc00' })),
    batch(row(1, { '\ud800': 'x', deep: { 'a\u0000': '\u0000' } })),
    `{"v":1,"kind":"snapshot","epoch":"e","to":1,"part":0,"parts":1,"changes":[${JSON.stringify(row(1, {})).replace('"running"', '"\\ud800"')}]}`,
  ]) {
    await put(hub.tenant, 'f'.repeat(32), said);
    await put(hub.tenant, mallory.daemon, said);
  }
  edge.put('b', paneRow());
  const isListed = (key: string) => async () =>
    (await hubRows(hub.now, hub.tenant)).some((one) => one.startsWith(`${daemon}/row:${key}`));
  await until('what comes behind them is listed', isListed('b'));
  // The rows of another tenant's daemon, told as if it were one of this tenant: nobody knows it here.
  const stranger = open();
  await stranger.start();
  const theirs = await stranger.edge('theirs');
  await put(hub.tenant, theirs.membership.daemon, batch(row(1, {})));
  edge.put('c', paneRow());
  await until('all are there', isListed('c'));
  expect((await hubRows(hub.now, hub.tenant)).filter((one) => one.startsWith(theirs.membership.daemon))).toEqual([]);
  expect(await hubRows(stranger.now, stranger.tenant)).toEqual([]);
  await other.close();
  for (const one of [edge, theirs]) await one.end();
  for (const one of [hub, stranger]) await one.end();
});

it('HUB8a a batch that the table cannot take is left out alone, and those beside it are taken', async () => {
  count += 1;
  const table = async (): Promise<HubTable> =>
    failingTable(createSqlTable(await createPostgresDriver(postgres.url, trouble)), 'row:bad');
  const hub = new TestHub({ table, tenant: `n${count}`, nats: nats.url });
  await hub.start();
  const edges = [await hub.edge('one'), await hub.edge('two')] as const;
  for (const edge of edges) edge.put('a', paneRow());
  edges[0].put('bad', paneRow());
  edges[1].put('b', paneRow());
  const { daemon } = edges[1].membership;
  await until('the other one is listed', async () =>
    (await hubRows(hub.now, hub.tenant)).some((one) => one.startsWith(`${daemon}/row:b`)),
  );
  await until('it was left out', async () => hub.warnings.includes('a batch was left out'));
  edges[1].put('c', paneRow());
  await until('the stream goes on', async () =>
    (await hubRows(hub.now, hub.tenant)).some((one) => one.startsWith(`${daemon}/row:c`)),
  );
  for (const edge of edges) await edge.end();
  await hub.end();
});
