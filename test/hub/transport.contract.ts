// What a hub and its edges must do together, whatever carries the messages and whatever keeps the rows.

import { afterEach, describe, expect, it } from 'vitest';
import { paneRow } from '../kit/rows.ts';
import { until } from '../kit/tmux-server.ts';
import { edgeRows, hubRows, type JoinedEdge, type TestHub, tableRows } from './kit.ts';

const row = (state: 'running' | 'idle' | 'error', version: number) =>
  paneRow({ state, fields: { state_version: version } });

export function hubContract(name: string, open: () => TestHub): void {
  describe(`a hub and its edges on ${name}`, () => {
    const open_: { hub: TestHub; edges: JoinedEdge[] } = { hub: open(), edges: [] };
    const start = async (...labels: string[]): Promise<{ hub: TestHub; edges: JoinedEdge[] }> => {
      open_.hub = open();
      await open_.hub.start();
      open_.edges = [];
      for (const label of labels) open_.edges.push(await open_.hub.edge(label));
      return open_;
    };
    afterEach(async () => {
      for (const edge of open_.edges) await edge.end();
      await open_.hub.end();
    });
    const same = async ({ hub, edges }: typeof open_): Promise<void> => {
      await until('the hub equals the union of its edges', async () => {
        if (hub.running === null) return false;
        const wanted = edgeRows(edges).join('\n');
        return (
          (await hubRows(hub.now, hub.tenant)).join('\n') === wanted &&
          (await tableRows(hub.now, hub.tenant)).join('\n') === wanted
        );
      });
    };

    it('HUB1 every row is told, changed and taken back, in memory and in the table', async () => {
      const all = await start('one', 'two');
      for (const edge of all.edges) for (let at = 0; at < 5; at += 1) edge.put(`r${at}`, row('running', 1));
      await same(all);
      all.edges[0]?.put('r1', row('error', 2));
      all.edges[1]?.remove('r2');
      await same(all);
      expect(await hubRows(all.hub.now, all.hub.tenant)).toHaveLength(9);
    });

    it('HUB1 what happened while the hub was away is told when it is back, also with nothing left', async () => {
      const all = await start('one', 'two');
      for (const edge of all.edges) edge.put('a', row('running', 1));
      await same(all);
      await all.hub.stop();
      all.edges[0]?.put('a', row('idle', 2));
      all.edges[0]?.put('b', row('running', 1));
      all.edges[1]?.remove('a');
      await all.hub.start();
      await same(all);
      // Its rows are wiped, as from a lost database, while it runs: two signs of life later it asks.
      const [edge] = all.edges;
      if (edge === undefined) throw new Error('there are two');
      await all.hub.now.table.of(all.hub.tenant).dropRows(edge.membership.daemon);
      edge.put('c', row('running', 1));
      await same(all);
    });

    it('HUB2 an edge that is killed, or set back to an older version, ends up as it is', async () => {
      const all = await start('one');
      const [edge] = all.edges;
      if (edge === undefined) throw new Error('there is one');
      for (let at = 0; at < 30; at += 1) edge.put(`r${at % 7}`, row('running', at));
      await same(all);
      edge.rows.delete('r3');
      await edge.restart();
      edge.put('r1', row('error', 99));
      await same(all);
      await edge.restart(3);
      edge.put('r2', row('error', 100));
      await same(all);
    });
  });
}
