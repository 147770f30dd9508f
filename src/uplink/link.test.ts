// What the way to a hub does when something of this machine fails while it is asked: it answers, and goes on.

import { afterEach, expect, it } from 'vitest';
import { createRealClock } from '../platform/clock.ts';
import { createRealRandom } from '../platform/random.ts';
import type { RemoteSocketHandlers } from '../platform/remote.ts';
import { signingKeyOf } from '../platform/signing.ts';
import { type EdgeLink, streamLink } from './link.ts';

const sent: unknown[] = [];
let link: EdgeLink | null = null;

afterEach(() => link?.close());

it('HUB1 an ask of the hub that fails at this machine is answered with a failure', async () => {
  const key = signingKeyOf(createRealRandom().bytes(32));
  const sockets: RemoteSocketHandlers[] = [];
  link = streamLink(
    createRealClock(),
    (_, handlers) => {
      sockets.push(handlers);
      return { send: (text) => sent.push(JSON.parse(text)) > 0, close: () => undefined };
    },
    { url: 'http://127.0.0.1:1', tenant: 'main', daemon: 'd', hubKey: key.publicKey, key, life: 'l' },
  )({ onOpen: () => undefined, onAsk: () => Promise.reject(new Error('disk full')), onEnd: () => undefined });
  sockets[0]?.onText(JSON.stringify({ t: 'ask', id: 3, kind: 'act', body: null }));
  await expect.poll(() => sent).toMatchObject([{ t: 'answer', id: 3, body: { failure: { code: 'E_INTERNAL' } } }]);
});
