// The routes of sessions that agtmux leads: reads what is wanted and who asks, hands it to the daemon, and answers with the
// session as it is then. Whether something is done is decided there.

import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type RouteName, routes } from '../api/routes.ts';
import { newSessionSchema, sessionCommandSchemas } from '../api/schemas-sessions.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { SessionCommand, SessionRow } from '../model/sessions.ts';
import type { Clock } from '../platform/clock.ts';
import { type ApiContext, type Handler, headOf, noQuery } from './handler-kit.ts';
import { jsonReply, unwrap } from './replies.ts';
import { readBody, readQuery } from './requests.ts';
import type { DaemonService } from './service.ts';
import { managedItem, managedReply, messagePage } from './session-items.ts';
import { streamSession } from './session-stream.ts';

export function sessionHandlers(service: DaemonService, clock: Clock) {
  const reply = (row: SessionRow, status = 200): Response => jsonReply(managedReply(service, row), status);
  return {
    managed(context) {
      noQuery(context);
      return jsonReply({ ...headOf(service), items: service.sessions.list().map((row) => managedItem(service, row)) });
    },
    async startManaged(context) {
      noQuery(context);
      const { pid, hops, ...wish } = await readBody(newSessionSchema, context.env.incoming);
      return reply(unwrap(await service.sessions.start(wish, { pid, hops })), routes.startManaged.status);
    },
    managedOne(context) {
      noQuery(context);
      return reply(unwrap(service.sessions.get(refOf(context))));
    },
    async managedMessages(context) {
      const { after = 0, count = limits.sessionPageDefault } = readQuery(
        routes.managedMessages.query,
        context.req.queries(),
      );
      return jsonReply(messagePage(service, unwrap(await service.sessions.messages(refOf(context), after, count))));
    },
    followManaged(context) {
      // A HEAD request would follow and never read.
      if (context.env.incoming.method !== 'GET') throw new AgtmuxError('E_ROUTE', 'following is only for GET');
      const query = readQuery(routes.followManaged.query, context.req.queries());
      const last = Number(context.req.header('last-event-id') ?? Number.NaN);
      const after = query.after ?? (Number.isSafeInteger(last) && last >= 0 ? last : 0);
      streamSession(service, context.env.outgoing, { clock, ref: refOf(context), after });
      return RESPONSE_ALREADY_SENT;
    },
    async doManaged(context) {
      noQuery(context);
      const name = context.req.param('deed') ?? '';
      if (!isDeed(name)) {
        throw new AgtmuxError('E_ROUTE', `a session cannot ${name.slice(0, limits.idCharsMax)}`);
      }
      const { pid, hops, ...rest } = await readBody(sessionCommandSchemas[name], context.env.incoming);
      // A field that was left out is not there; that it could be undefined is only what the types of schemas say.
      const deed = { action: name, ...rest } as SessionCommand;
      return reply(unwrap(await service.sessions.do(refOf(context), deed, { pid, hops })));
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}

const isDeed = (name: string): name is keyof typeof sessionCommandSchemas => Object.hasOwn(sessionCommandSchemas, name);

const refOf = (context: ApiContext): string => context.req.param('id') ?? '';
