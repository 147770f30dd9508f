// The routes of the private socket that open and shut the web door.

import { type RouteName, routes } from '../api/routes.ts';
import { newWebSchema, type WebLinkReply, type WebStatusReply } from '../api/schemas-web.ts';
import { AgtmuxError } from '../model/errors.ts';
import type { WebService } from '../model/web.ts';
import { isoTime } from '../view/lists-items.ts';
import { type Handler, headOf, noQuery } from './handler-kit.ts';
import { jsonReply, unwrap } from './replies.ts';
import { readBody, readQuery } from './requests.ts';
import type { DaemonService } from './service.ts';

export function webHandlers(service: DaemonService, door: WebService | null) {
  const doorHere = (): WebService => {
    if (door === null) throw new AgtmuxError('E_ROUTE', 'this daemon has no web server');
    return door;
  };
  return {
    web(context) {
      noQuery(context);
      return jsonReply({ ...headOf(service), ...doorHere().status() } satisfies WebStatusReply);
    },
    async openWeb(context) {
      noQuery(context);
      const { pid, hops, unencrypted, ...wish } = await readBody(newWebSchema, context.env.incoming);
      if (wish.listen !== null && !unencrypted) {
        throw new AgtmuxError('E_INPUT', 'on a non-loopback address all traffic is unencrypted', {
          next: 'use `ssh -L`, or add --unencrypted',
        });
      }
      const { expires_at, ...link } = unwrap(await doorHere().open(wish, { pid, hops }));
      return jsonReply(
        { ...headOf(service), ...link, expires_at: isoTime(service.toWall(expires_at)) } satisfies WebLinkReply,
        routes.openWeb.status,
      );
    },
    async shutWeb(context) {
      const { pid = null, hops = 0 } = readQuery(routes.shutWeb.query, context.req.queries());
      unwrap(await doorHere().shut({ pid, hops }));
      return jsonReply({ ...headOf(service), done: true });
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}
