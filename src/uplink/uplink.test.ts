// The link of a daemon when its own disk or store fails: it says so and tries again.

import { expect, it } from 'vitest';
import { createFeed, type FeedRow } from '../feed/feed.ts';
import { createRealClock } from '../platform/clock.ts';
import { createRealRandom } from '../platform/random.ts';
import { Uplink } from './uplink.ts';

it('HUB1 a store that cannot be read ends no daemon: it is told as trouble, and goes when it works again', async () => {
  const feed = createFeed<FeedRow>({ epoch: 'e', firstVersion: 1, snapshot: () => [] });
  let isBroken = true;
  let isGone = false;
  let logged = 0;
  const uplink = new Uplink({
    ...{ clock: createRealClock(), random: createRealRandom(), feed, toWall: (time) => time, version: 't', life: 'l' },
    open: ({ onOpen }) => {
      queueMicrotask(() => onOpen(null));
      return { put: async () => ({ applied: null }), close: () => undefined };
    },
    share: () => 'asks',
    allows: () => [],
    audit: () => (isGone ? Promise.reject(new Error('disk full')) : Promise.resolve(0)),
    offset: () => 0,
    raiseOffset: async () => undefined,
    onAsk: async () => null,
    log: async () => {
      if (isBroken) throw new Error('disk full');
      logged += 1;
    },
  });
  await expect.poll(() => uplink.trouble?.code).toBe('E_INTERNAL');
  isBroken = false;
  uplink.logSoon();
  await expect.poll(() => logged).toBe(1);
  await expect.poll(() => uplink.trouble).toBe(null);
  isGone = true;
  await uplink.close();
  feed.close();
});
