// One handler a route of the table: asks the daemon, answers. What is listed and how it reads is the business of view/.

import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type RouteName, routes } from '../api/routes.ts';
import { jsonSchema, openApi } from '../api/schema-text.ts';
import type { TargetRow } from '../api/targets.ts';
import { apiVersion } from '../api/version.ts';
import { AgtmuxError, type Result } from '../model/errors.ts';
import { targetId } from '../model/ids.ts';
import { type ListInput, listPanes, listSessions, listTargets, listWindows } from '../view/lists.ts';
import { targetItem } from '../view/lists-items.ts';
import { panesTable, sessionsTable, type TextOptions, targetsTable, windowsTable } from '../view/lists-text.ts';
import {
  type ApiContext,
  type HandlerParts,
  type Handlers,
  headOf,
  onlyGet,
  type Reply,
  textOptions,
  type ViewQuery,
} from './dispatch.ts';
import { parseCursor, streamFeed } from './feed-stream.ts';
import { actionHandlers } from './handlers-actions.ts';
import { editorHandlers } from './handlers-editors.ts';
import { explainHandlers } from './handlers-explain.ts';
import { hookHandlers } from './handlers-hooks.ts';
import { hubHandlers } from './handlers-hub.ts';
import { noticeHandlers } from './handlers-notices.ts';
import { restoreHandlers } from './handlers-restore.ts';
import { sessionHandlers } from './handlers-sessions.ts';
import { shellHandlers } from './handlers-shells.ts';
import { usageHandlers } from './handlers-usage.ts';
import { webHandlers } from './handlers-web.ts';
import { jsonReply, textReply, unwrap } from './replies.ts';
import { readEvents } from './requests.ts';
import type { DaemonService } from './service.ts';

export function createHandlers(service: DaemonService, parts: HandlerParts): Handlers {
  return {
    ...listHandlers(service),
    ...targetHandlers(service),
    ...daemonHandlers(service, parts),
    ...explainHandlers(service),
    ...hookHandlers(service),
    ...actionHandlers(service),
    ...shellHandlers(service),
    ...sessionHandlers(service, parts),
    ...noticeHandlers(service),
    ...restoreHandlers(service),
    ...usageHandlers(service),
    ...hubHandlers(service),
    ...webHandlers(service, parts.web),
    ...editorHandlers(service, parts.editors ?? null),
  };
}

function listHandlers(service: DaemonService): Pick<Handlers, 'panes' | 'windows' | 'sessions' | 'targets'> {
  const input = (): ListInput => ({
    rows: service.rows(),
    targets: service.targets(),
    now: service.now(),
    toWall: (time) => service.toWall(time),
  });
  const text = (context: ApiContext, query: ViewQuery): TextOptions | null =>
    textOptions(context, query, service.toWall(service.now()));
  return {
    async panes({ query, context }) {
      await service.caughtUp();
      const options = text(context, query);
      const list = unwrap(listPanes(input(), query));
      return options === null ? list : textReply(panesTable(list, { ...options, hasGit: query.git ?? false }));
    },
    async windows({ query, context }) {
      await service.caughtUp();
      const options = text(context, query);
      const list = unwrap(listWindows(input(), query));
      return options === null ? list : textReply(windowsTable(list, options));
    },
    async sessions({ query, context }) {
      await service.caughtUp();
      const options = text(context, query);
      const list = unwrap(listSessions(input(), query));
      if (options === null) return list;
      return textReply(sessionsTable(list, { ...options, agentSummary: query.agent_summary ?? false }));
    },
    targets({ query, context }) {
      const options = text(context, query);
      const list = listTargets(input());
      return options === null ? list : textReply(targetsTable(list, options));
    },
  };
}

function targetHandlers(service: DaemonService): Pick<Handlers, 'addTarget' | 'connectTarget' | 'removeTarget'> {
  const reply = (result: Result<TargetRow>): Reply<'addTarget'> => ({
    target: targetItem(unwrap(result), (time) => service.toWall(time)),
  });
  return {
    async addTarget({ body, caller }) {
      return reply(await service.addTarget(body, caller));
    },
    async connectTarget({ params, caller }) {
      return reply(await service.connectTarget(targetId(params.name), caller));
    },
    async removeTarget({ params, caller }) {
      unwrap(await service.removeTarget(targetId(params.name), caller));
      return { done: true };
    },
  };
}

type DaemonNames = 'status' | 'events' | 'feed' | 'stop' | 'openapi' | 'schema';

function daemonHandlers(service: DaemonService, { clock }: Pick<HandlerParts, 'clock'>): Pick<Handlers, DaemonNames> {
  return {
    status: () => ({ api: apiVersion, ...service.status(), feed_epoch: service.feed.epoch }),
    async events({ caller, context }) {
      return { verdicts: await service.submitEvents(await readEvents(context.env.incoming), caller) };
    },
    feed({ query: { scope = 'all', since }, context }) {
      onlyGet(context, 'the feed');
      const cursor = parseCursor(since ?? context.req.header('last-event-id') ?? '');
      if (since !== undefined && cursor === null) throw new AgtmuxError('E_FILTER', 'since must be epoch:version');
      streamFeed(service, context.env.outgoing, { clock, scope, since: cursor });
      return RESPONSE_ALREADY_SENT;
    },
    async stop({ caller, context }) {
      unwrap(await service.mayStop(caller));
      // Also when the client does not wait for the answer.
      context.env.outgoing.once('close', () => service.stop());
      const reply = jsonReply({ ...headOf(service), done: true }, routes.stop.status);
      reply.headers.set('connection', 'close');
      return reply;
    },
    openapi: () => jsonReply(openApi(service.status().version)),
    schema: () => jsonReply(jsonSchema()),
  };
}

export const routeNames = Object.keys(routes) as readonly RouteName[];

/** As hono writes the names in a path. */
export const patternOf = (name: RouteName): string => routes[name].path.replaceAll(/\{(\w+)\}/g, ':$1');
