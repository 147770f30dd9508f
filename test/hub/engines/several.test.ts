// Several processes of one hub on one NATS and one PostgreSQL, behind one address: each lists everything and reaches every machine, and
// whichever is killed, nothing is lost and nothing done twice.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paneRow } from '../../kit/rows.ts';
import { until } from '../../kit/tmux-server.ts';
import { random, TestHub } from '../kit.ts';
import { both, Fleet } from './fleet.ts';

const seconds = Math.min(60, Number(process.env.COUNT ?? 20));
const daemons = 20;
const agents = 10;
const fleet = new Fleet();

beforeAll(async () => {
  await fleet.open();
  for (let at = 0; at < daemons; at += 1) await fleet.addEdge(`box ${at}`);
});
afterAll(() => fleet.end());

describe('two processes of one hub', () => {
  it('HUB8 share the machines, both list all of them, and each reaches those of the other', async () => {
    for (const edge of fleet.edges) for (let at = 0; at < agents; at += 1) edge.put(`r${at}`, paneRow());
    for (const at of both)
      await until(`process ${at} lists all`, async () => (await fleet.listed(at)) === fleet.union());
    const [here, there] = [await fleet.metric(0, 'connections'), await fleet.metric(1, 'connections')];
    expect([here + there, here > 0, there > 0]).toEqual([daemons, true, true]);
    for (const at of both) {
      for (const edge of fleet.edges.slice(0, 4)) expect(await fleet.approve(at, edge)).toBe('delivered');
    }
    expect(new Set(fleet.asked).size).toBe(8);
    expect(fleet.asked).toHaveLength(8);
  });

  it(`HUB2 HUB8 lose and double nothing while each is killed in turn, ${seconds} s`, async () => {
    const began = performance.now();
    let [version, kills] = [100, 0];
    while (performance.now() - began < seconds * 1_000) {
      const [victim, rest] = kills % 2 === 0 ? both : ([1, 0] as const);
      for (const edge of fleet.edges) {
        version += 1;
        edge.put(`r${version % agents}`, paneRow({ state: 'error', fields: { state_version: version } }));
      }
      await fleet.kill(victim);
      kills += 1;
      version += 1;
      fleet.edges[kills % daemons]?.put('r1', paneRow({ state: 'idle', fields: { state_version: version } }));
      await until('the one that is left lists all', async () => (await fleet.listed(rest)) === fleet.union());
      await fleet.start(victim);
      await until('the one that is back lists all', async () => (await fleet.listed(victim)) === fleet.union());
    }
    const { rows } = await fleet.table.of('main').rows();
    expect(rows).toHaveLength(daemons * agents);
    console.log(`several processes: ${kills} kills in ${Math.round((performance.now() - began) / 1_000)} s, all equal`);
  }, 1_200_000);

  it('HUB6 turn the copy of a disk away, whichever of them it comes to, and cut off what is removed', async () => {
    const [edge, gone] = fleet.edges;
    if (edge === undefined || gone === undefined) throw new Error('there are twenty');
    for (let at = 0; at < 4; at += 1) {
      const ends: string[] = [];
      const handlers = {
        onOpen: () => undefined,
        onAsk: async () => null,
        onEnd: ({ code }: { code: string }) => ends.push(code),
      };
      const copy = new TestHub();
      copy.linkOf(edge.membership)(random.hex(8))(handlers);
      await until('the copy is turned away', async () => ends.length === 1);
      expect(ends).toEqual(['E_TWIN']);
      await copy.end();
    }
    expect((await fleet.post(0, '/hub/v1/revoke', { daemon: gone.membership.daemon })).status).toBe(200);
    await until('it is cut off', async () => gone.uplink.trouble?.code === 'E_ROLE');
    fleet.edges.splice(1, 1);
    for (const at of both)
      await until(`process ${at} lists the rest`, async () => (await fleet.listed(at)) === fleet.union());
    await gone.end();
  });
});
