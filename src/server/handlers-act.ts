// The routes of acting: reads who asks and for what, hands it to the daemon, and answers with the receipt. Whether
// something is done at all is decided there, never here.

import { type RouteName, routes } from '../api/routes.ts';
import type { AuditList, QueueList, ReceiptReply } from '../api/schemas-act.ts';
import { actSchema, attachSchema, newAgentSchema, queueEditSchema } from '../api/schemas-act.ts';
import type { ActionConditions, ActionRequest, Receipt } from '../model/actions.ts';
import { limits } from '../model/limits.ts';
import { isoTime } from '../view/lists-items.ts';
import { type ApiContext, type Handler, headOf, noQuery } from './handler-kit.ts';
import { jsonReply, unwrap } from './replies.ts';
import { readBody, readQuery } from './requests.ts';
import type { DaemonService } from './service.ts';
import type { CallerClaim } from './service-act.ts';

export function actHandlers(service: DaemonService) {
  const reply = (value: object): Response => jsonReply({ ...headOf(service), ...value });
  const receipt = (told: Receipt): Response => jsonReply(receiptOf(service, told));
  return {
    async act(context) {
      noQuery(context);
      const { pid, hops, ref = '', ...request } = await readBody(actSchema, context.env.incoming);
      // A field that was left out is not there; that it could be undefined is only what the types of schemas say.
      return receipt(await service.acting.act({ ref, ...request } as ActionRequest, { pid, hops }));
    },
    async attach(context) {
      noQuery(context);
      const { ref, conditions, pid, hops } = await readBody(attachSchema, context.env.incoming);
      return reply(unwrap(await service.acting.attach(ref, conditions as ActionConditions, { pid, hops })));
    },
    async output(context) {
      const query = readQuery(routes.output.query, context.req.queries());
      const { ref, lines = limits.outputLinesDefault, screen = false, colours = false, ...who } = query;
      return reply(
        unwrap(await service.acting.view(ref, lines, claimOf(who), { isScreen: screen, hasColours: colours })),
      );
    },
    async startAgent(context) {
      noQuery(context);
      const { pid, hops, ...wanted } = await readBody(newAgentSchema, context.env.incoming);
      return receipt(await service.acting.start(wanted, { pid, hops }));
    },
    queue(context) {
      noQuery(context);
      return jsonReply(queueOf(service));
    },
    async editQueued(context) {
      noQuery(context);
      const { text, pid, hops } = await readBody(queueEditSchema, context.env.incoming);
      return receipt(await service.acting.editQueued(idOf(context), text, { pid, hops }));
    },
    async dropQueued(context) {
      const who = readQuery(routes.dropQueued.query, context.req.queries());
      return receipt(await service.acting.dropQueued(idOf(context), claimOf(who)));
    },
    async audit(context) {
      const { count = limits.auditRowsDefault } = readQuery(routes.audit.query, context.req.queries());
      return jsonReply(await auditOf(service, count));
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}

const idOf = (context: ApiContext): string => context.req.param('id') ?? '';

const claimOf = ({ pid, hops }: { pid?: number | undefined; hops?: number | undefined }): CallerClaim => ({
  pid: pid ?? null,
  hops: hops ?? 0,
});

function receiptOf(service: DaemonService, told: Receipt): ReceiptReply {
  const { outcome, action, ref, runtime_id, snapshot_id, way, strength, failure, words } = told;
  return { ...headOf(service), outcome, action, ref, runtime_id, snapshot_id, way, strength, failure, words };
}

function queueOf(service: DaemonService): QueueList {
  const items = service.acting.queue().map(({ queued_at, expires_at, not_before, ...message }) => ({
    ...message,
    queued_at: isoTime(service.toWall(queued_at)),
    expires_at: isoTime(service.toWall(expires_at)),
    not_before: not_before === null ? null : isoTime(service.toWall(not_before)),
  }));
  return { ...headOf(service), items };
}

async function auditOf(service: DaemonService, countMax: number): Promise<AuditList> {
  const rows = await service.acting.audit(countMax);
  const items = rows.map(({ at, detail, ...row }) => ({
    at: isoTime(service.toWall(at)),
    ...row,
    detail: { ...detail },
  }));
  return { ...headOf(service), items };
}
