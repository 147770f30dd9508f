// The membership of a real daemon's service at a real hub: what it lets out is changed, and it leaves.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PaneRow } from '../../src/api/panes.ts';
import { createFeed, type Feed, type FeedRow } from '../../src/feed/feed.ts';
import { createAskRemote, createOpenRemoteSocket } from '../../src/platform/remote.ts';
import { MemberService } from '../../src/uplink/member-service.ts';
import { paneRow } from '../kit/rows.ts';
import { until } from '../kit/tmux-server.ts';
import { clock, files, quiet, random, TestHub } from './kit.ts';

const claim = { pid: null, hops: 0 };
const secret = 'project-nightingale';
let hub: TestHub;
let feed: Feed<FeedRow>;
let member: MemberService;
let path: string;

beforeEach(async () => {
  hub = new TestHub();
  await hub.start();
  path = join(hub.folder, 'member.json');
  const rows: readonly PaneRow[] = [1, 2].map(() => paneRow({ fields: { title: secret, task: secret } }));
  feed = createFeed<FeedRow>({
    epoch: 'e',
    firstVersion: 5,
    snapshot: () => rows.map((value, index) => ({ key: `row:${index}`, value })),
  });
  member = new MemberService({
    ...{ clock, random, files, path, ask: createAskRemote(clock), hostName: 'box', version: 't', feed, log: quiet },
    rows: () => rows,
    toWall: (time) => time,
    acting: () => ({
      authorizeAndAudit: (_deed, _claim, effect) => effect(),
      act: () => Promise.reject(new Error('nothing acts')),
      view: () => Promise.reject(new Error('nothing is looked at')),
    }),
    auditAfter: async () => [],
    statesAfter: async () => [],
    openSocket: createOpenRemoteSocket(clock),
    life: 'l',
    allowPath: join(hub.folder, 'hub.toml'),
    usedPath: join(hub.folder, 'used.json'),
  });
  await member.join({ url: hub.url, code: await hub.code(), label: 'box', share: 'asks' }, claim);
  await until('both rows are there', async () => (await told()).split(secret).length > 4);
});

afterEach(async () => {
  await member.close();
  feed.close();
  await hub.end();
});

const told = async (): Promise<string> => JSON.stringify((await hub.now.table.of('main').rows()).rows);

it('HUB9 after share states no text of any row is left at the hub, with a quiet feed', async () => {
  await member.share('states', claim);
  await until('no text is left', async () => !(await told()).includes(secret));
  expect(JSON.parse(await told())).toHaveLength(2);
});

it('HUB9 nor when the hub was away while that was chosen', async () => {
  await hub.stop();
  await until('it is away', async () => (await member.status())?.connected === false);
  await member.share('states', claim);
  await hub.start();
  await until('no text is left', async () => !(await told()).includes(secret));
});

it('HUB1 leaving leaves no membership behind, whatever was being written', async () => {
  await Promise.all([member.share('states', claim), member.leave(claim), member.share('asks', claim)]);
  expect(existsSync(path)).toBe(false);
  expect(await member.status()).toBe(null);
});
