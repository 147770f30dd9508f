// How days went on the machines of a team: told by the real member service out of a history that a test wrote, added up at the hub, and
// shown to whoever may see it.

import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFeed, type FeedRow } from '../../src/feed/feed.ts';
import { sessionHash } from '../../src/hub/people-routes.ts';
import { agentName, runtimeId, targetId } from '../../src/model/ids.ts';
import { limits } from '../../src/model/limits.ts';
import type { NumberedLine, StateHistoryLine } from '../../src/model/state-history.ts';
import { createAskRemote, createOpenRemoteSocket } from '../../src/platform/remote.ts';
import { MemberService } from '../../src/uplink/member-service.ts';
import { paneRow } from '../kit/rows.ts';
import { until } from '../kit/tmux-server.ts';
import { clock, files, quiet, random, TestHub } from './kit.ts';

const hub = new TestHub();
const quick = {
  ...clock,
  after: (ms: number, work: () => void) => clock.after(ms === limits.hubLogLookMs ? 20 : ms, work),
};
const claim = { pid: null, hops: 0 };
const today = Date.parse(`${new Date(clock.wallMs()).toISOString().slice(0, 10)}T00:00:00Z`);
const minute = 60_000;
const lines: NumberedLine[] = [];
const services: MemberService[] = [];

const note = (line: StateHistoryLine): void => void lines.push({ number: lines.length + 1, line });
async function join_(name: string, owner: string): Promise<void> {
  const waits = paneRow({ state: 'waiting_input', fields: { since: 5 } });
  const service = new MemberService({
    ...{ clock: quick, random, files, log: quiet, version: 'test', hostName: name, life: random.hex(8) },
    acting: () => ({
      authorizeAndAudit: async (_, __, effect) => effect(),
      act: () => Promise.reject(new Error('nobody acts here')),
      view: () => Promise.reject(new Error('nobody looks here')),
    }),
    feed: createFeed<FeedRow>({
      epoch: random.hex(8),
      firstVersion: 1,
      snapshot: () => [{ key: 'row:r1', value: waits }],
    }),
    rows: () => [waits],
    toWall: (time) => today + time,
    auditAfter: async () => [],
    statesAfter: async (number, countMax) =>
      number === null ? lines.slice(-1) : lines.filter((one) => one.number > number).slice(0, countMax),
    ask: createAskRemote(clock),
    openSocket: createOpenRemoteSocket(clock),
    path: join(hub.folder, `${name}.json`),
    usedPath: join(hub.folder, `${name}-used.json`),
    allowPath: join(hub.folder, `${name}.toml`),
  });
  await service.start();
  const joined = await service.join(
    { url: hub.url, code: await hub.code('main', owner), label: name, share: 'states' },
    claim,
  );
  expect(joined.ok).toBe(true);
  services.push(service);
}

async function teamOf(who: string, owners: readonly string[] = []): Promise<Readonly<Record<string, unknown>>> {
  const token = `main-${random.hex(32)}`;
  await hub.now.table.of('main').putSession({
    ...{ hash: sessionHash(token), who, role: 'look', kind: 'page', owners, repos: [] },
    expires_at: clock.wallMs() + minute,
  });
  const reply = await fetch(`${hub.url}/hub/v1/team`, { headers: { cookie: `agtmux_hub=${token}` } });
  return (await reply.json()) as Readonly<Record<string, unknown>>;
}

beforeAll(async () => {
  await hub.start();
  note({ kind: 'start', at: today - 120 * minute });
});
afterAll(async () => {
  for (const service of services) await service.close();
  await hub.end();
});

it('HUB11 a team sees who is waited for, and how long asks waited by day, owner and project, each as far as they may', async () => {
  await join_('one', 'alice');
  await join_('two', 'bob');
  const owner = {
    runtime_id: runtimeId('r1'),
    agent: agentName('claude'),
    target: targetId('host'),
    cwd: '/w/shop',
    place: 'w:1.1',
  };
  for (const [at, name] of [
    [0, 'running'],
    [30, 'waiting_input'],
    [34, 'running'],
    [59, 'idle'],
  ] as const) {
    const when = today - 60 * minute + at * minute;
    note({ kind: 'state', at: when, runtime_id: runtimeId('r1'), state: name, reason_code: 'daemon_restarted', owner });
  }
  const table = hub.now.table.of('main');
  await until('both have told it', async () => (await table.history('2000-01-01')).length === 4);
  const day = new Date(today - 1).toISOString().slice(0, 10);
  const of = (name: string, machines: number) => ({
    ...{ name, worked_ms: machines * 55 * minute, waited_ms: machines * 4 * minute },
    ...{ waits: machines, longest_wait_ms: 4 * minute, within: [0, machines, machines, machines] },
  });
  const all = await teamOf('carol');
  expect(all).toMatchObject({ by_day: [of(day, 2)], by_repo: [of('shop', 2)] });
  expect(all.by_owner).toEqual(expect.arrayContaining([of('alice', 1), of('bob', 1)]));
  const since = new Date(today + 5).toISOString();
  expect(all.waiting).toEqual(
    expect.arrayContaining(
      ['alice', 'bob'].map((name) => ({ owner: name, agents: 1, since, repos: { 'web-shop': 1 } })),
    ),
  );
  const narrowed = await teamOf('bob', ['bob']);
  expect(narrowed).toMatchObject({ by_day: [of(day, 1)], by_owner: [of('bob', 1)] });
  expect(narrowed.waiting).toHaveLength(1);
  const metrics = await (await fetch(`${hub.url}/metrics`)).text();
  expect(metrics).toContain('agtmux_hub_waiting{tenant="main"} 2');
  expect(metrics).toMatch(/agtmux_hub_longest_wait_seconds\{tenant="main"\} \d+/);
  expect((await fetch(`${hub.url}/hub/v1/team`)).status).toBe(401);
});
