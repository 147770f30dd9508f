// A fleet under load: 200 simulated daemons with 5,000 agents and the real uplink, two processes of a hub on NATS and PostgreSQL, while
// those, both engines and daemons are killed in turn. Nothing may be lost, doubled or older over newer, and after the calm both processes
// and the table are the union of the daemons. COUNT is the seconds of that. Prints figures.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paneRow } from '../../kit/rows.ts';
import { until } from '../../kit/tmux-server.ts';
import { both, Fleet, type Process } from './fleet.ts';

const seconds = Number(process.env.COUNT ?? 40);
/** With DAEMONS=1, 10, 100 and so on: what a fleet costs. Four changes a second each. */
const daemons = Number(process.env.DAEMONS ?? 200);
const changesAtOnce = Math.max(1, Math.round(daemons * 0.4));
const agents = 25;
const states = ['running', 'idle', 'waiting_approval', 'completed', 'error'] as const;
const fleet = new Fleet();
const figures: string[] = [];

/** The same numbers each time. */
let seed = Number(process.env.SEED ?? 7);
const pick = (count: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * count);
};
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const percentile = (values: readonly number[], part: number): number =>
  Math.round(
    values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0,
  );
let version = 1;
const change = (): void => {
  version += 1;
  const id = pick(agents);
  const state = states[pick(states.length)] ?? 'idle';
  fleet.edges[pick(daemons)]?.put(`r${id}`, paneRow({ id, state, fields: { state_version: version } }));
};
const idleMs = 10_000;
/** Of both processes together, in seconds. */
const cpu = async (): Promise<number> => {
  const [one, other] = [await fleet.metric(0, 'cpu_seconds_total'), await fleet.metric(1, 'cpu_seconds_total')];
  return one + other;
};
const tableRows = async (): Promise<string> =>
  (await fleet.table.of('main').rows()).rows
    .map((row) => `${row.daemon}/${row.key} ${row.item.state} ${row.item.state_version}`)
    .sort()
    .join('\n');
const settled = async (words: string): Promise<void> => {
  const wanted = fleet.union();
  await until(`${words}: the table is the union`, async () => (await tableRows()) === wanted, 240_000);
  for (const at of both)
    await until(`${words}: process ${at} lists the union`, async () => (await fleet.listed(at)) === wanted, 60_000);
};

beforeAll(async () => {
  await fleet.open();
  for (let at = 0; at < daemons; at += 1) {
    const edge = await fleet.addEdge(`box ${at}`);
    for (let id = 0; id < agents; id += 1) edge.put(`r${id}`, paneRow({ id, fields: { state_version: 1 } }));
  }
}, 300_000);
afterAll(async () => {
  await fleet.end();
  console.log(figures.join('\n'));
});

describe('a fleet under load', () => {
  it(`HUB1 HUB2 HUB8 loses, doubles and sets back nothing through kills of processes, engines and daemons, ${seconds} s`, async () => {
    await settled('at first');
    const [since, before] = [performance.now(), await cpu()];
    while (performance.now() - since < idleMs) {
      for (let at = 0; at < changesAtOnce; at += 1) change();
      await pause(90);
    }
    const used = (((await cpu()) - before) / ((performance.now() - since) / 1_000)) * 100;
    figures.push(
      `${daemons} daemons with four changes a second each: ${used.toFixed(1)} % of a core for both processes of the hub`,
    );
    // What a process shows of a row only ever goes up, over its restarts too.
    const highest = both.map(() => new Map<string, number>());
    let [older, looks] = [0, 0];
    const watch = async (at: Process): Promise<void> => {
      const { items } = await fleet
        .window(at, `&sort=age&offset=${pick(daemons * agents)}`)
        .catch(() => ({ items: [] }));
      looks += 1;
      for (const { id, version: shown } of items as unknown as readonly { id: string; version: number }[]) {
        const known = highest[at]?.get(id) ?? 0;
        if (shown < known) older += 1;
        highest[at]?.set(id, Math.max(shown, known));
      }
    };
    const kills: Record<string, number> = {};
    const victims: Readonly<Record<string, () => Promise<void>>> = {
      'process 0': async () => {
        await fleet.kill(0);
        await fleet.start(0);
      },
      NATS: async () => {
        await fleet.nats.kill();
        await pause(500);
        await fleet.nats.start();
      },
      'process 1': async () => {
        await fleet.kill(1);
        await fleet.start(1);
      },
      PostgreSQL: async () => {
        fleet.postgres.kill();
        await pause(500);
        fleet.postgres.start();
      },
      daemons: async () => {
        for (let at = 0; at < 5; at += 1) await fleet.edges[pick(daemons)]?.restart();
      },
    };
    const began = performance.now();
    const isOver = (): boolean => performance.now() - began > seconds * 1_000;
    let changes = 0;
    const changing = (async () => {
      while (!isOver()) {
        for (let at = 0; at < changesAtOnce; at += 1) change();
        changes += changesAtOnce;
        await pause(90);
      }
    })();
    const killing = (async () => {
      for (let at = 0; !isOver(); at += 1) {
        const [name, strike] = Object.entries(victims)[at % 5] ?? [];
        if (name === undefined || strike === undefined) continue;
        await strike();
        kills[name] = (kills[name] ?? 0) + 1;
        await pause(2_000);
      }
    })();
    while (!isOver()) {
      for (const at of both) await watch(at);
      await pause(100);
    }
    await Promise.all([changing, killing]);
    const calm = performance.now();
    await settled('after the calm');
    expect(older).toBe(0);
    const struck = Object.entries(kills)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
    figures.push(
      `${daemons} daemons, ${daemons * agents} agents, ${Math.round(changes / seconds)} changes/s for ${seconds} s; kills: ${struck}`,
    );
    figures.push(
      `0 lost, 0 doubled, 0 older over newer in ${looks} looks; equal ${Math.round(performance.now() - calm)} ms after the calm`,
    );
  }, 1_800_000);

  it('HUB1 a change comes to the list of either process, and an emptied stream and table are told anew', async () => {
    const took: number[] = [];
    for (let at = 0; at < 60; at += 1) {
      const edge = fleet.edges[pick(daemons)];
      if (edge === undefined) continue;
      version += 1;
      const wanted = version;
      const began = performance.now();
      edge.put('r1', paneRow({ id: 1, state: 'error', fields: { state_version: wanted } }));
      const isThere = async (): Promise<boolean> =>
        (await fleet.window(at % 2 === 0 ? 0 : 1, '&state=error&sort=age')).items.some(
          ({ item }) => item.state_version === wanted,
        ) ||
        (await fleet.window(at % 2 === 0 ? 0 : 1, `&machine=box%20${fleet.edges.indexOf(edge)}`)).items.some(
          ({ item }) => item.state_version === wanted,
        );
      while (!(await isThere())) await pause(5);
      took.push(performance.now() - began);
    }
    figures.push(
      `change to the list of either process: p50 ${percentile(took, 0.5)}, p95 ${percentile(took, 0.95)} ms`,
    );
    const acts: number[] = [];
    for (let at = 0; at < 60; at += 1) {
      const edge = fleet.edges[pick(daemons)];
      if (edge === undefined) continue;
      const began = performance.now();
      expect(await fleet.approve(at % 2 === 0 ? 0 : 1, edge)).toBe('delivered');
      acts.push(performance.now() - began);
    }
    figures.push(`answer to receipt: p50 ${percentile(acts, 0.5)}, p95 ${percentile(acts, 0.95)} ms`);
    await fleet.nats.kill();
    fleet.nats.wipe();
    for (const { membership } of fleet.edges) await fleet.table.of('main').dropRows(membership.daemon);
    const began = performance.now();
    await fleet.nats.start();
    await settled('told anew');
    figures.push(`resync of ${daemons} daemons after both were emptied: ${Math.round(performance.now() - began)} ms`);
    // Nothing happens any more: what is left is signs of life.
    const [ours, theirs] = [process.cpuUsage(), await cpu()];
    await pause(idleMs);
    const used = process.cpuUsage(ours);
    const uplink = ((used.user + used.system) / 1_000 / idleMs / daemons) * 100;
    const share = (((await cpu()) - theirs) / (idleMs / 1_000)) * 100;
    figures.push(
      `at rest: ${uplink.toFixed(3)} % of a core for each uplink, ${share.toFixed(1)} % for both processes of the hub`,
    );
    const memory = await Promise.all(both.map((at) => fleet.metric(at, 'memory_bytes')));
    figures.push(`memory of the processes: ${memory.map((bytes) => Math.round(bytes / 1_048_576)).join(' and ')} MB`);
  }, 600_000);
});
