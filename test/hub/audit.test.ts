// The audit of a machine at its hub, told by the real member service out of a log that a test wrote.

import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFeed, type FeedRow } from '../../src/feed/feed.ts';
import type { ActionService } from '../../src/model/actions.ts';
import { limits } from '../../src/model/limits.ts';
import type { NumberedAudit } from '../../src/model/records.ts';
import { createAskRemote, createOpenRemoteSocket } from '../../src/platform/remote.ts';
import { MemberService } from '../../src/uplink/member-service.ts';
import { readMembership, writeMembership } from '../../src/uplink/membership.ts';
import { until } from '../kit/tmux-server.ts';
import { clock, files, quiet, random, TestHub } from './kit.ts';

const hub = new TestHub();
const path = join(hub.folder, 'hub.json');
const quick = {
  ...clock,
  after: (ms: number, work: () => void) => clock.after(ms === limits.hubLogLookMs ? 20 : ms, work),
};
const claim = { pid: null, hops: 0 };
let audit: NumberedAudit[] = [];

const acting = (): ReturnType<ConstructorParameters<typeof MemberService>[0]['acting']> =>
  ({
    authorizeAndAudit: async (_, __, effect) => effect(),
    act: async () => Promise.reject(new Error('nobody acts here')),
    view: async () => Promise.reject(new Error('nobody looks here')),
  }) satisfies Pick<ActionService, 'authorizeAndAudit' | 'act' | 'view'>;

const put = (number: number, result: string): void => {
  const row = { audit_id: number, at: number, actor: 'person', action: 'send', runtime_id: null, snapshot_id: null };
  audit.push({ ...row, result, detail: {} } as NumberedAudit);
};

/** As a daemon starts one. */
async function member(): Promise<MemberService> {
  const service = new MemberService({
    ...{ clock: quick, random, files, acting, log: quiet, version: 'test', hostName: 'box', life: random.hex(8) },
    feed: createFeed<FeedRow>({ epoch: random.hex(8), firstVersion: 0, snapshot: () => [] }),
    rows: () => [],
    toWall: (time) => 1_700_000_000_000 + time,
    auditAfter: async (number, countMax) =>
      number === null ? audit.slice(-1) : audit.filter(({ audit_id }) => audit_id > number).slice(0, countMax),
    statesAfter: async () => [],
    ask: createAskRemote(clock),
    openSocket: createOpenRemoteSocket(clock),
    path,
    usedPath: join(hub.folder, 'used.json'),
    allowPath: join(hub.folder, 'hub.toml'),
  });
  await service.start();
  return service;
}

const told = async (): Promise<readonly string[]> =>
  (await hub.now.table.of('main').log({ countMax: 20 })).map(({ number, result }) => `${number} ${result}`).sort();

/** What the daemon remembers that it told. */
const noted = async (): Promise<number | null> => (await readMembership({ files, path }))?.audit_sent ?? null;

beforeAll(async () => {
  await hub.start();
});
afterAll(async () => {
  await hub.end();
});

it('HUB3 rows of a log that began again are told once, above those that the hub has, and older ones never', async () => {
  for (const number of [1, 2, 3]) put(number, 'before it joined');
  let service = await member();
  const joined = await service.join({ url: hub.url, code: await hub.code(), label: null, share: 'asks' }, claim);
  expect(joined.ok).toBe(true);
  put(4, 'first');
  put(5, 'second');
  await until('both are there', async () => (await told()).length === 2 && (await noted()) === 5);
  await service.close();
  // It was killed before it noted what the hub has, and its damaged log replaced: what could be saved has new numbers.
  const membership = await readMembership({ files, path });
  if (membership === null) throw new Error('it is a member');
  await writeMembership({ files, path }, { ...membership, audit_sent: 3 });
  audit = [];
  put(1, 'before it joined');
  put(2, 'second');
  service = await member();
  put(3, 'third');
  await until('the third one is there', async () => (await told()).length === 3 && (await noted()) === 204);
  await service.close();
  // And goes on over a start with the log as it is.
  service = await member();
  put(4, 'fourth');
  await until('the fourth one is there', async () => (await told()).length === 4 && (await noted()) === 205);
  // All rows grew too old, and numbers begin again while the daemon runs.
  audit = [];
  put(1, 'fifth');
  await until('the fifth one is there', async () => (await told()).length === 5 && (await noted()) === 406);
  expect(await told()).toEqual(['204 third', '205 fourth', '4 first', '406 fifth', '5 second']);
  await service.close();
});
