// The web server as programs of this machine start and stop it.

import { AgtmuxError } from '../model/errors.ts';
import type { WebService } from '../model/web.ts';
import { isoTime } from '../view/lists-items.ts';
import type { Handlers } from './dispatch.ts';
import { unwrap } from './replies.ts';
import type { DaemonService } from './service.ts';

/** Null where it cannot be reached from. */
export function webHandlers(
  service: DaemonService,
  web: WebService | null,
): Pick<Handlers, 'web' | 'openWeb' | 'shutWeb'> {
  const here = (): WebService => {
    if (web === null) throw new AgtmuxError('E_ROUTE', 'this daemon has no web server');
    return web;
  };
  return {
    web: () => here().status(),
    async openWeb({ body: { unencrypted, ...wish }, caller }) {
      if (wish.listen !== null && !unencrypted) {
        throw new AgtmuxError('E_INPUT', 'on a non-loopback address all traffic is unencrypted', {
          next: 'use `ssh -L`, or add --unencrypted',
        });
      }
      const { expires_at, ...link } = unwrap(await here().open(wish, caller));
      return { ...link, expires_at: isoTime(service.toWall(expires_at)) };
    },
    async shutWeb({ caller }) {
      unwrap(await here().shut(caller));
      return { done: true };
    },
  };
}
