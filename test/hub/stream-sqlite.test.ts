// The embedded pair against the contract: one web socket for each daemon, and one SQLite file.

import { expect, it } from 'vitest';
import { paneRow } from '../kit/rows.ts';
import { until } from '../kit/tmux-server.ts';
import { TestHub } from './kit.ts';
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
