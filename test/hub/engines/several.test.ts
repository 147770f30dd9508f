// Several processes of one hub on one NATS and one PostgreSQL, behind one address: each lists everything and reaches every machine, and
// whichever is killed, nothing is lost and nothing done twice.

import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HubWindow } from '../../../src/api/hub.ts';
import { sessionHash } from '../../../src/hub/people-routes.ts';
import { openHubTable } from '../../../src/hub/serve.ts';
import type { HubTable } from '../../../src/hub/table.ts';
import { createWorld, type Running, type World } from '../../cli/kit.ts';
import { paneRow } from '../../kit/rows.ts';
import { until } from '../../kit/tmux-server.ts';
import { clock, edgeRows, type JoinedEdge, random, TestHub } from '../kit.ts';
import { TestNats } from './nats.ts';
import { TestPostgres } from './postgres.ts';

const seconds = Number(process.env.COUNT ?? 20);
const daemons = 20;
const agents = 10;
const folder = mkdtempSync(join(tmpdir(), 'agt-hubs-'));
const nats = new TestNats();
let postgres: TestPostgres;
let world: World;
let table: HubTable;
let door: Server;
const cookie = `agtmux_hub=main-${'a'.repeat(64)}`;
const processes: { run: Running | null; port: number }[] = [
  { run: null, port: 0 },
  { run: null, port: 0 },
];
const edges: JoinedEdge[] = [];
const asked: string[] = [];
const sockets = new Set<Socket>();
let turn = 0;

/** As a load balancer does: one of them, and where that takes no connection the other one. */
const forward = (inner: Socket): void => {
  const [first, second] = turn++ % 3 === 0 ? [1, 0] : [0, 1];
  const reach = (at: number, last: boolean): void => {
    const outer = connect(processes[at]?.port ?? 0, '127.0.0.1');
    let isOpen = false;
    sockets.add(inner).add(outer);
    outer.once('connect', () => {
      isOpen = true;
      inner.pipe(outer).pipe(inner);
    });
    outer.on('error', () => (isOpen || last ? inner.destroy() : reach(second, true)));
    outer.on('close', () => {
      if (isOpen) inner.destroy();
    });
    inner.on('error', () => outer.destroy());
    inner.on('close', () => outer.destroy());
  };
  reach(first, false);
};

const start = async (at: number): Promise<void> => {
  const one = processes[at];
  if (one === undefined) return;
  const run = world.start(
    ...['hub', 'serve', '--folder', folder, '--listen', `127.0.0.1:${one.port}`],
    ...['--nats', nats.url, '--postgres', postgres.url],
  );
  one.run = run;
  await until('a process of the hub serves', async () => run.lines.some((line) => line.includes('http://')));
  one.port = Number(/http:\/\/[\d.]+:(\d+)/.exec(run.lines.join(' '))?.[1]);
};
const kill = async (at: number): Promise<void> => {
  processes[at]?.run?.signal('SIGKILL');
  await processes[at]?.run?.ended;
};
const urlOf = (at: number): string => `http://127.0.0.1:${processes[at]?.port}`;
const window = async (at: number, query = ''): Promise<HubWindow> =>
  (await (await fetch(`${urlOf(at)}/hub/v1/list?limit=500${query}`, { headers: { cookie } })).json()) as HubWindow;
const listed = async (at: number): Promise<string> =>
  (await window(at)).items
    .map(({ id, item }) => `${id} ${item.state} ${item.state_version}`)
    .sort()
    .join('\n');
const union = (): string => edgeRows(edges).join('\n');
const approve = async (at: number, edge: JoinedEdge): Promise<string> => {
  const body = JSON.stringify({
    id: `${edge.membership.daemon}/row:r1`,
    state_version: null,
    act: { action: 'approve', ask_id: 'a' },
  });
  const headers = { cookie, origin: urlOf(at), 'content-type': 'application/json' };
  const reply = await fetch(`${urlOf(at)}/hub/v1/act`, { method: 'POST', headers, body });
  const said = (await reply.json()) as { receipt?: { outcome: string } };
  return said.receipt?.outcome ?? `${reply.status}`;
};

beforeAll(async () => {
  world = createWorld();
  postgres = new TestPostgres();
  await nats.start();
  await start(0);
  await start(1);
  table = await openHubTable({ folder, postgres: postgres.url });
  await table.of('main').putSession({
    ...{ hash: sessionHash(cookie.slice(cookie.indexOf('=') + 1)), who: 'alice', role: 'admin', kind: 'page' },
    ...{ owners: [], repos: [], expires_at: clock.wallMs() + 3_600_000 },
  });
  door = createServer(forward);
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
  const joining = new TestHub();
  joining.joinAt(url, table);
  for (let at = 0; at < daemons; at += 1) {
    const label = `box ${at}`;
    edges.push(
      await joining.edge(label, 'main', {
        onAsk: async (kind, body) => {
          if (kind !== 'act') return null;
          asked.push((JSON.parse((body as { text: string }).text) as { id: string }).id);
          return { outcome: 'delivered', failure: null, words: null, way: 'keys', ref: null };
        },
      }),
    );
  }
});

afterAll(async () => {
  await Promise.all(edges.map((edge) => edge.end()));
  door.close();
  for (const socket of sockets) socket.destroy();
  for (const { run } of processes) {
    run?.signal('SIGTERM');
    await run?.ended;
  }
  await table.close();
  await world.end();
  await nats.end();
  postgres.end();
  rmSync(folder, { recursive: true, force: true });
});

describe('two processes of one hub', () => {
  it('HUB8 share the machines, both list all of them, and each reaches those of the other', async () => {
    for (const edge of edges) for (let at = 0; at < agents; at += 1) edge.put(`r${at}`, paneRow());
    for (const at of [0, 1]) await until(`process ${at} lists all`, async () => (await listed(at)) === union());
    const connections = async (at: number): Promise<number> =>
      Number(/^agtmux_hub_connections (\d+)/m.exec(await (await fetch(`${urlOf(at)}/metrics`)).text())?.[1]);
    const [here, there] = [await connections(0), await connections(1)];
    expect([here + there, here > 0, there > 0]).toEqual([daemons, true, true]);
    for (const at of [0, 1]) {
      for (const edge of edges.slice(0, 4)) expect(await approve(at, edge)).toBe('delivered');
    }
    expect(new Set(asked).size).toBe(8);
    expect(asked).toHaveLength(8);
  });

  it(`HUB2 HUB8 lose and double nothing while each is killed in turn, ${seconds} s`, async () => {
    const began = performance.now();
    let [version, kills] = [100, 0];
    while (performance.now() - began < seconds * 1_000) {
      const victim = kills % 2;
      for (const edge of edges) {
        version += 1;
        edge.put(`r${version % agents}`, paneRow({ state: 'error', fields: { state_version: version } }));
      }
      await kill(victim);
      kills += 1;
      version += 1;
      edges[kills % daemons]?.put('r1', paneRow({ state: 'idle', fields: { state_version: version } }));
      const rest = 1 - victim;
      await until('the one that is left lists all', async () => (await listed(rest)) === union());
      await start(victim);
      await until('the one that is back lists all', async () => (await listed(victim)) === union());
    }
    const { rows } = await table.of('main').rows();
    expect(rows).toHaveLength(daemons * agents);
    console.log(`several processes: ${kills} kills in ${Math.round((performance.now() - began) / 1_000)} s, all equal`);
  }, 1_200_000);

  it('HUB6 turn the copy of a disk away, whichever of them it comes to, and cut off what is removed', async () => {
    const [edge, gone] = edges;
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
    const body = JSON.stringify({ daemon: gone.membership.daemon });
    const headers = { cookie, origin: urlOf(0), 'content-type': 'application/json' };
    expect((await fetch(`${urlOf(0)}/hub/v1/revoke`, { method: 'POST', headers, body })).status).toBe(200);
    await until('it is cut off', async () => gone.uplink.trouble?.code === 'E_ROLE');
    edges.splice(1, 1);
    for (const at of [0, 1]) await until(`process ${at} lists the rest`, async () => (await listed(at)) === union());
    await gone.end();
  });
});
