// One handler a route of the table: reads the request, asks the daemon, answers. What is listed and how it reads is the
// business of view/.

import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type RouteName, routes } from '../api/routes.ts';
import { jsonSchema, openApi } from '../api/schema-text.ts';
import { newTargetSchema, type StatusReply, type TargetRow } from '../api/schemas.ts';
import { claimSchema } from '../api/schemas-act.ts';
import { apiVersion } from '../api/version.ts';
import { AgtmuxError, type Result } from '../model/errors.ts';
import { targetId } from '../model/ids.ts';
import type { WebService } from '../model/web.ts';
import type { Clock } from '../platform/clock.ts';
import { type ListInput, listPanes, listSessions, listTargets, listWindows } from '../view/lists.ts';
import { targetItem } from '../view/lists-items.ts';
import { panesTable, sessionsTable, type TextOptions, targetsTable, windowsTable } from '../view/lists-text.ts';
import { parseCursor, streamFeed } from './feed-stream.ts';
import { type ApiContext, type Handler, headOf, noQuery, textOptions, type ViewQuery } from './handler-kit.ts';
import { actHandlers } from './handlers-act.ts';
import { explainHandlers } from './handlers-explain.ts';
import { hookHandlers } from './handlers-hooks.ts';
import { mcpHandlers } from './handlers-mcp.ts';
import { noticeHandlers } from './handlers-notices.ts';
import { restoreHandlers } from './handlers-restore.ts';
import { sessionHandlers } from './handlers-sessions.ts';
import { shellHandlers } from './handlers-shells.ts';
import { usageHandlers } from './handlers-usage.ts';
import { webHandlers } from './handlers-web.ts';
import { jsonReply, textReply, unwrap } from './replies.ts';
import { readBody, readEvents, readOptionalBody, readQuery } from './requests.ts';
import type { DaemonService } from './service.ts';

/** The door: null where it cannot be reached from. */
export function createHandlers(
  service: DaemonService,
  clock: Clock,
  door: WebService | null,
): Readonly<Record<RouteName, Handler>> {
  return {
    ...listHandlers(service),
    ...targetHandlers(service),
    ...daemonHandlers(service, clock),
    ...explainHandlers(service),
    ...hookHandlers(service),
    ...mcpHandlers(service),
    ...actHandlers(service),
    ...shellHandlers(service),
    ...sessionHandlers(service, clock),
    ...noticeHandlers(service),
    ...restoreHandlers(service),
    ...usageHandlers(service),
    ...webHandlers(service, door),
  };
}

function listHandlers(service: DaemonService) {
  const input = (): ListInput => ({
    rows: service.rows(),
    targets: service.targets(),
    now: service.now(),
    toWall: (time) => service.toWall(time),
  });
  const text = (context: ApiContext, query: ViewQuery): TextOptions | null =>
    textOptions(context, query, service.toWall(service.now()));
  return {
    panes(context) {
      const query = readQuery(routes.panes.query, context.req.queries());
      const options = text(context, query);
      const list = unwrap(listPanes(input(), query));
      return options === null ? jsonReply(list) : textReply(panesTable(list, options));
    },
    windows(context) {
      const query = readQuery(routes.windows.query, context.req.queries());
      const options = text(context, query);
      const list = unwrap(listWindows(input(), query));
      return options === null ? jsonReply(list) : textReply(windowsTable(list, options));
    },
    sessions(context) {
      const query = readQuery(routes.sessions.query, context.req.queries());
      const options = text(context, query);
      const list = unwrap(listSessions(input(), query));
      if (options === null) return jsonReply(list);
      return textReply(sessionsTable(list, { ...options, agentSummary: query.agent_summary ?? false }));
    },
    targets(context) {
      const options = text(context, readQuery(routes.targets.query, context.req.queries()));
      const list = listTargets(input());
      return options === null ? jsonReply(list) : textReply(targetsTable(list, options));
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}

function targetHandlers(service: DaemonService) {
  const reply = (result: Result<TargetRow>, status: number): Response =>
    jsonReply({ ...headOf(service), target: targetItem(unwrap(result), (time) => service.toWall(time)) }, status);
  const nameOf = (context: ApiContext) => targetId(context.req.param('name') ?? '');
  return {
    async addTarget(context) {
      noQuery(context);
      const { pid, hops, ...target } = await readBody(newTargetSchema, context.env.incoming);
      return reply(await service.addTarget(target, { pid, hops }), routes.addTarget.status);
    },
    async connectTarget(context) {
      noQuery(context);
      const claim = await readOptionalBody(claimSchema, context.env.incoming);
      return reply(await service.connectTarget(nameOf(context), claim), 200);
    },
    async removeTarget(context) {
      const { pid = null, hops = 0 } = readQuery(routes.removeTarget.query, context.req.queries());
      unwrap(await service.removeTarget(nameOf(context), { pid, hops }));
      return jsonReply({ ...headOf(service), done: true });
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}

function daemonHandlers(service: DaemonService, clock: Clock) {
  return {
    status(context) {
      noQuery(context);
      const status = service.status();
      const { taken, verdicts } = status.events;
      return jsonReply({
        ...headOf(service),
        api: apiVersion,
        ...status,
        events: { taken, verdicts: { ...verdicts } },
        feed_epoch: service.feed.epoch,
      } satisfies StatusReply);
    },
    async events(context) {
      const { pid = null, hops = 0 } = readQuery(routes.events.query, context.req.queries());
      const verdicts = await service.submitEvents(await readEvents(context.env.incoming), { pid, hops });
      return jsonReply({ ...headOf(service), verdicts });
    },
    feed(context) {
      // A HEAD request would subscribe and never read.
      if (context.env.incoming.method !== 'GET') throw new AgtmuxError('E_ROUTE', 'the feed is only for GET');
      const { scope = 'all', since } = readQuery(routes.feed.query, context.req.queries());
      const cursor = parseCursor(since ?? context.req.header('last-event-id') ?? '');
      if (since !== undefined && cursor === null) throw new AgtmuxError('E_FILTER', 'since must be epoch:version');
      streamFeed(service, context.env.outgoing, { clock, scope, since: cursor });
      return RESPONSE_ALREADY_SENT;
    },
    async stop(context) {
      noQuery(context);
      unwrap(await service.mayStop(await readOptionalBody(claimSchema, context.env.incoming)));
      // Also when the client does not wait for the answer.
      context.env.outgoing.once('close', () => service.stop());
      const reply = jsonReply({ ...headOf(service), done: true }, routes.stop.status);
      reply.headers.set('connection', 'close');
      return reply;
    },
    openapi(context) {
      noQuery(context);
      return jsonReply(openApi(service.status().version));
    },
    schema(context) {
      noQuery(context);
      return jsonReply(jsonSchema());
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}
