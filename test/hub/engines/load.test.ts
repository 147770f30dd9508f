// Many simulated daemons with the real uplink, while hub, edges and network are killed in turn: nothing lost, doubled or older over
// newer, and after the calm the hub is the union of its edges. COUNT is the seconds of that. Prints figures.

import { afterAll, describe, expect, it } from 'vitest';
import { wholeScope } from '../../../src/hub/roster.ts';
import { paneRow } from '../../kit/rows.ts';
import { until } from '../../kit/tmux-server.ts';
import { edgeRows, hubRows, type JoinedEdge, TestHub, tableRows } from '../kit.ts';

const seconds = Number(process.env.COUNT ?? 20);
const daemons = 200;
const agents = 25;
const states = ['running', 'idle', 'waiting_approval', 'completed', 'error'] as const;
const hub = new TestHub();
const edges: JoinedEdge[] = [];
const figures: string[] = [];

/** The same numbers each time. */
let seed = Number(process.env.SEED ?? 7);
const pick = (count: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * count);
};
const percentile = (values: readonly number[], part: number): string =>
  (
    values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0
  ).toFixed(1);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const change = (edge: JoinedEdge, version: number): void => {
  const state = states[pick(states.length)] ?? 'idle';
  edge.put(`r${pick(agents)}`, paneRow({ id: pick(agents), state, fields: { state_version: version } }));
};

afterAll(async () => {
  await Promise.all(edges.map((edge) => edge.end()));
  await hub.end();
  console.log(figures.join('\n'));
});

describe('a hub under load', () => {
  it(`HUB1 HUB2 ${daemons} daemons with ${daemons * agents} agents through kills of hub and edges, ${seconds} s`, async () => {
    await hub.start();
    for (let at = 0; at < daemons; at += 1) {
      const edge = await hub.edge(`box ${at}`);
      edges.push(edge);
      for (let agent = 0; agent < agents; agent += 1)
        edge.put(`r${agent}`, paneRow({ id: agent, fields: { state_version: 1 } }));
    }
    // What the roster shows of any row only ever goes up, in every life of the hub.
    const highest = new Map<string, number>();
    let older = 0;
    const watch = async (): Promise<void> => {
      if (hub.running === null) return;
      for (const row of (await hub.running.hub.rosterOf('main')).all()) {
        const name = `${row.daemon}/${row.key}`;
        if (row.version < (highest.get(name) ?? 0)) older += 1;
        highest.set(name, Math.max(row.version, highest.get(name) ?? 0));
      }
    };
    const began = performance.now();
    let [version, kills, changes, batches] = [1, 0, 0, 0];
    while (performance.now() - began < seconds * 1_000) {
      for (let at = 0; at < 80; at += 1) {
        version += 1;
        changes += 1;
        const edge = edges[pick(edges.length)];
        if (edge !== undefined) change(edge, version);
      }
      if (pick(30) === 0) {
        kills += 1;
        if (pick(2) === 0) await edges[pick(edges.length)]?.restart();
        else {
          batches += hub.now.hub.counters.batches;
          await hub.stop();
          await hub.start();
        }
      }
      await watch();
      await pause(90);
    }
    const calm = performance.now();
    const wanted = edgeRows(edges).join('\n');
    await until('the hub is the union of its edges', async () => (await hubRows(hub.now)).join('\n') === wanted);
    const settled = performance.now() - calm;
    expect((await tableRows(hub.now)).join('\n')).toBe(wanted);
    expect(older).toBe(0);
    batches += hub.now.hub.counters.batches;
    const rate = Math.round(batches / ((performance.now() - began) / 1_000));
    figures.push(
      `chaos: ${seconds} s, ${changes} changes, ${batches} batches (${rate}/s), ${kills} kills; 0 lost, 0 doubled, 0 older over newer`,
    );
    figures.push(`calm to equal: ${Math.round(settled)} ms`);
  }, 1_200_000);

  it('HUB1 a change comes to the page within a second, and an emptied hub is told everything again', async () => {
    const roster = await hub.now.hub.rosterOf('main');
    const took: number[] = [];
    for (let at = 0; at < 100; at += 1) {
      const edge = edges[pick(edges.length)];
      if (edge === undefined) continue;
      const version = 1_000_000 + at;
      const began = performance.now();
      edge.put('r1', paneRow({ id: 1, state: 'error', fields: { state_version: version } }));
      while (roster.row(`${edge.membership.daemon}/row:r1`)?.item.state_version !== version) await pause(2);
      took.push(performance.now() - began);
    }
    figures.push(`change to the hub's memory: p50 ${percentile(took, 0.5)}, p95 ${percentile(took, 0.95)} ms`);
    const began = performance.now();
    for (const edge of edges) await hub.now.table.of('main').dropRows(edge.membership.daemon);
    await hub.stop();
    await hub.start();
    const wanted = edgeRows(edges).join('\n');
    await until('everything is back', async () => (await hubRows(hub.now)).join('\n') === wanted);
    figures.push(
      `resync of ${daemons} daemons with ${daemons * agents} agents: ${Math.round(performance.now() - began)} ms`,
    );
  }, 300_000);

  it('lists, filters and counts of 5,000 and of 20,000 agents', async () => {
    const roster = await hub.now.hub.rosterOf('main');
    const [first] = roster.all();
    for (const size of [5_000, 20_000]) {
      for (let at = roster.size; at < size && first !== undefined; at += 1) {
        const item = { ...first.item, state: states[at % states.length] ?? 'idle' };
        roster.apply({ change: 0, rows: [{ daemon: first.daemon, key: `more${at}`, version: 1, item }], removed: [] });
      }
      const queries = [
        {},
        { needs_action: true },
        { state: ['error'] },
        { repo: ['web-shop'], sort: 'age' },
        { offset: 400 },
      ] as const;
      const took: number[] = [];
      for (let at = 0; at < 200; at += 1) {
        const began = performance.now();
        roster.window(queries[at % queries.length] ?? {}, wholeScope, Date.now());
        took.push(performance.now() - began);
      }
      figures.push(
        `a window with its counts at ${roster.size} agents: p50 ${percentile(took, 0.5)}, p99 ${percentile(took, 0.99)} ms`,
      );
    }
    figures.push(`hub and 200 edges in one process: ${Math.round(process.memoryUsage.rss() / 1_048_576)} MB`);
  });
});
