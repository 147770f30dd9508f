// What a daemon tells its hub of its history: nothing from before it joined.

import { expect, it } from 'vitest';
import type { WireJoined } from '../api/hub-wire.ts';
import { createFeed, type FeedRow } from '../feed/feed.ts';
import type { NumberedLine } from '../model/state-history.ts';
import { createRealRandom } from '../platform/random.ts';
import type { AskRemote, OpenRemoteSocket } from '../platform/remote.ts';
import { daemonIdOf } from '../platform/signing.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { createSimulatedFiles } from '../platform/simulated/files.ts';
import { MemberService } from './member-service.ts';

const hubKey = 'a'.repeat(43);
const ask: AskRemote = async ({ body = '{}' }) => {
  const { public_key } = JSON.parse(body) as { readonly public_key: string };
  const joined: WireJoined = {
    ...{ tenant: 'main', daemon: daemonIdOf(public_key), hub_key: hubKey, label: 'box', kind: 'person' },
    link: { kind: 'stream' },
  };
  return { kind: 'answered', status: 200, text: JSON.stringify(joined) };
};

/** A hub that lets everybody in and takes everything; `puts` are the rows of the history that it was told. */
function takingHub() {
  const puts: number[] = [];
  const open: OpenRemoteSocket = (_url, { onText }) => {
    const say = (frame: object): void => queueMicrotask(() => onText(JSON.stringify(frame)));
    say({ t: 'challenge', nonce: 'n'.repeat(32), hub_key: hubKey });
    return {
      send: (text) => {
        const frame = JSON.parse(text) as {
          readonly t: string;
          readonly id: number;
          readonly kind: string;
          readonly body: { readonly kind: string; readonly rows: readonly { readonly number: number }[] };
        };
        if (frame.t === 'hello') say({ t: 'welcome', epoch: null, version: 0 });
        if (frame.t !== 'put') return true;
        if (frame.kind === 'log' && frame.body.kind === 'states')
          puts.push(...frame.body.rows.map((row) => row.number));
        say({ t: 'taken', id: frame.id, applied: null });
        return true;
      },
      close: () => undefined,
    };
  };
  return { open, puts };
}

it('HUB11 a daemon that could write no state before it joined tells none of the days before', async () => {
  const clock = createSimulatedClock();
  const files = createSimulatedFiles({ clock });
  const feed = createFeed<FeedRow>({ epoch: 'e', firstVersion: 1, snapshot: () => [] });
  const { open, puts } = takingHub();
  const line = (number: number): NumberedLine => ({ number, line: { kind: 'beat', at: number } });
  const onDisk = [1, 2, 3].map(line);
  let isWritten = false;
  const member = new MemberService({
    ...{
      clock,
      files,
      random: createRealRandom(),
      ask,
      feed,
      openSocket: open,
      hostName: 'box',
      version: 't',
      life: 'l',
    },
    ...{ path: '/state/member.json', allowPath: '/state/hub.toml', usedPath: '/state/used.json' },
    rows: () => [],
    toWall: (time) => time,
    acting: () => ({
      authorizeAndAudit: (_deed, _claim, effect) => effect(),
      act: () => Promise.reject(new Error('nothing acts')),
      view: () => Promise.reject(new Error('nothing is looked at')),
    }),
    auditAfter: async () => [],
    // The newest is known only of this run, what stands on the disk of every run.
    statesAfter: async (number) =>
      number === null ? (isWritten ? onDisk.slice(-1) : []) : onDisk.filter((one) => one.number > number),
    log: { warn: () => undefined, info: () => undefined },
  });
  await files.mkdirPrivate('/state');
  const wish = { url: 'https://hub.example.com', code: 'main-1', label: 'box', share: 'asks' } as const;
  expect(await member.join(wish, { pid: null, hops: 0 })).toMatchObject({ ok: true });
  await clock.advanceSettled(60_000);
  isWritten = true;
  onDisk.push(line(4));
  await clock.advanceSettled(60_000);
  onDisk.push(line(5));
  await clock.advanceSettled(60_000);
  expect(puts).toEqual([5]);
  await member.close();
  feed.close();
});
