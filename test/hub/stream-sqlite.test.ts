// The embedded pair against the contract: one web socket for each daemon, and one SQLite file.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openHubTable } from '../../src/hub/serve.ts';
import { snapshot, wireItem } from '../../src/hub/table.contract.ts';
import { limits } from '../../src/model/limits.ts';
import { paneRow } from '../kit/rows.ts';
import { until } from '../kit/tmux-server.ts';
import { clock, failingTable, TestHub } from './kit.ts';
import { hubContract } from './transport.contract.ts';

hubContract('stream and SQLite', () => new TestHub());

it('HUB6 the copy of a disk is turned away while the machine itself is there; a forged daemon always', async () => {
  const hub = new TestHub();
  await hub.start();
  const edge = await hub.edge('one');
  edge.put('a', paneRow());
  await until('it is listed', async () => (await hub.now.hub.rosterOf('main')).size === 1);
  // The same key, another life.
  const { membership } = edge;
  const ends: string[] = [];
  const opened: boolean[] = [];
  const handlers = {
    onOpen: () => opened.push(true),
    onAsk: async () => null,
    onEnd: ({ code }: { code: string }) => ends.push(code),
  };
  hub.linkOf(membership)('another life')(handlers);
  await until('the copy is turned away', async () => ends.length === 1);
  hub.linkOf({ ...membership, seed: '1'.repeat(64) })('x')(handlers);
  hub.linkOf({ ...membership, daemon: 'f'.repeat(32) })('x')(handlers);
  hub.linkOf({ ...membership, tenant: 'other' })('x')(handlers);
  hub.linkOf({ ...membership, hub_key: 'A'.repeat(43) })('x')(handlers);
  await until('all are turned away', async () => ends.length === 5);
  expect(ends.sort()).toEqual(['E_HUB', 'E_ROLE', 'E_ROLE', 'E_ROLE', 'E_TWIN']);
  expect(opened).toEqual([]);
  await edge.end();
  await hub.end();
});

it('HUB6 a machine that a command removes is cut off by the hub that runs, and its rows go; the others stay', async () => {
  const hub = new TestHub({
    clock: { ...clock, after: (ms, work) => clock.after(ms === limits.hubBeatMs ? 20 : ms, work) },
  });
  await hub.start();
  const edges = [await hub.edge('one'), await hub.edge('two')] as const;
  for (const edge of edges) edge.put('a', paneRow());
  const roster = await hub.now.hub.rosterOf('main');
  await until('both are listed', async () => roster.size === 2);
  // As `agtmux hub revoke` does it: another connection to the same file.
  const table = await openHubTable({ folder: hub.folder });
  const [gone, stays] = edges;
  expect(await table.of('main').revoke(gone.membership.daemon, clock.wallMs())).toBe(true);
  await table.close();
  await until('its rows are gone', async () => roster.size === 1);
  await until('it is cut off', async () => gone.uplink.trouble?.code === 'E_ROLE' && !gone.uplink.isOpen);
  expect(roster.machines.map(({ daemon }) => daemon)).toEqual([stays.membership.daemon]);
  stays.put('b', paneRow());
  gone.put('b', paneRow());
  await until('only the other one is told of', async () => roster.size === 2);
  expect(new Set(roster.all().map(({ daemon }) => daemon))).toEqual(new Set([stays.membership.daemon]));
  expect(stays.uplink.isOpen).toBe(true);
  for (const edge of edges) await edge.end();
  await hub.end();
  expect(hub.warnings).toEqual([]);
});

it('HUB2 a batch that cannot be written harms none of those that came with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agt-hub-'));
  const hub = new TestHub({ table: async () => failingTable(await openHubTable({ folder }), 'row:bad') });
  await hub.start();
  const daemons = await Promise.all(
    ['one', 'two', 'three', 'four'].map(async (name) => hub.join(await hub.code(), name)),
  );
  const said = await Promise.allSettled(
    daemons.map(({ daemon }, at) =>
      hub.now.hub.onMessage({
        ...{ tenant: 'main', daemon, life: 'l', kind: 'feed' },
        body: snapshot('e', 5, { [at === 2 ? 'row:bad' : 'row:good']: wireItem() }),
      }),
    ),
  );
  const [first, second, bad, last] = said;
  expect([first, second, last].map((one) => (one?.status === 'fulfilled' ? one.value?.result : 'rejected'))).toEqual([
    'applied',
    'applied',
    'applied',
  ]);
  expect(bad?.status).toBe('rejected');
  expect((await hub.now.hub.rosterOf('main')).size).toBe(3);
  await hub.end();
  rmSync(folder, { recursive: true, force: true });
});

it('HUB6a a hub with another key than daemons know it by does not start, unless that one is lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agt-hub-'));
  const table = () => openHubTable({ folder });
  const [first, second] = [new TestHub({ table }), new TestHub({ table })];
  await first.start();
  await first.stop();
  await expect(second.start()).rejects.toThrow('another hub.key');
  await first.start();
  await first.stop();
  const third = new TestHub({ table, isNewKey: true });
  await third.start();
  await third.stop();
  await expect(first.start()).rejects.toThrow('another hub.key');
  for (const hub of [first, second, third]) await hub.end();
  rmSync(folder, { recursive: true, force: true });
});
