// Managed sessions: hands what is wanted to the daemon, and answers with the session as it is then. Whether something is
// done is decided there.

import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { limits } from '../model/limits.ts';
import type { SessionCommand, SessionRow } from '../model/sessions.ts';
import { type ApiRequest, type HandlerParts, type Handlers, onlyGet, type Reply } from './dispatch.ts';
import { unwrap } from './replies.ts';
import type { DaemonService } from './service.ts';
import { managedItem, managedReply, messagePage } from './session-items.ts';
import { streamSession } from './session-stream.ts';

type Commands = 'send' | 'approve' | 'reject' | 'answer' | 'stop' | 'resume' | 'retry' | 'remove';
type Names = 'managed' | 'startManaged' | 'managedOne' | 'managedMessages' | 'followManaged' | `${Commands}Managed`;

export function sessionHandlers(
  service: DaemonService,
  { clock, environment }: Pick<HandlerParts, 'clock' | 'environment'>,
): Pick<Handlers, Names> {
  const { sessions } = service;
  const reply = (row: SessionRow): Reply<'managedOne'> => managedReply(service, row);
  const run = async (
    { params, caller }: Pick<ApiRequest<'stopManaged'>, 'params' | 'caller'>,
    command: SessionCommand,
  ): Promise<Reply<'managedOne'>> => reply(unwrap(await sessions.do(params.id, command, caller)));
  return {
    managed: () => ({ items: sessions.list().map((row) => managedItem(service, row)) }),
    async startManaged({ body, caller }) {
      return reply(unwrap(await sessions.start({ ...body, env: environment ?? body.env }, caller)));
    },
    managedOne: ({ params }) => reply(unwrap(sessions.get(params.id))),
    async managedMessages({ params, query: { after = 0, count = limits.sessionPageDefault } }) {
      return messagePage(service, unwrap(await sessions.messages(params.id, after, count)));
    },
    followManaged({ params, query, context }) {
      onlyGet(context, 'following');
      const last = Number(context.req.header('last-event-id') ?? Number.NaN);
      const after = query.after ?? (Number.isSafeInteger(last) && last >= 0 ? last : 0);
      streamSession(service, context.env.outgoing, { clock, ref: params.id, after });
      return RESPONSE_ALREADY_SENT;
    },
    sendManaged: (request) => run(request, { action: 'send', ...request.body }),
    approveManaged: (request) => run(request, { action: 'approve', ...request.body }),
    rejectManaged: (request) => run(request, { action: 'reject', ...request.body }),
    answerManaged: (request) => run(request, { action: 'answer', ...request.body }),
    stopManaged: (request) => run(request, { action: 'stop' }),
    resumeManaged: (request) => run(request, { action: 'resume', ...request.body }),
    retryManaged: (request) => run(request, { action: 'retry' }),
    removeManaged: (request) => run(request, { action: 'remove', ...request.body }),
  };
}
