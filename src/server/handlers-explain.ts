// The routes that tell why: one runtime explained, and the adapters.

import type { RouteName } from '../api/routes.ts';
import { routes } from '../api/routes.ts';
import { type AgentList, agentChangeSchema, type ExplanationDocument } from '../api/schemas-explain.ts';
import type { TimelineDocument } from '../api/schemas-timeline.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { agentItem, explanationItem } from '../view/explain-items.ts';
import { agentsLines, explanationLines } from '../view/explain-text.ts';
import { timelineOf } from '../view/timeline.ts';
import { timelineLines } from '../view/timeline-text.ts';
import { type ApiContext, type Handler, headOf, noQuery, textOptions } from './handler-kit.ts';
import { jsonReply, textReply, unwrap } from './replies.ts';
import { readBody, readQuery } from './requests.ts';
import type { DaemonService } from './service.ts';

export function explainHandlers(service: DaemonService) {
  const toWall = (time: number): number => service.toWall(time);
  const agentList = (): AgentList => ({
    ...headOf(service),
    items: service.agentInfos().map((info) => agentItem(info, toWall)),
    rule_troubles: [...service.ruleTroubles()],
  });
  return {
    async explain(context: ApiContext) {
      const query = readQuery(routes.explain.query, context.req.queries());
      const options = textOptions(context, query, service.toWall(service.now()));
      const found = unwrap(await service.explain(query.ref));
      const document: ExplanationDocument = {
        ...headOf(service),
        ...explanationItem(found, toWall),
      };
      return options === null ? jsonReply(document) : textReply(explanationLines(document, options));
    },
    async timeline(context: ApiContext) {
      const { ref, since, until, ...query } = readQuery(routes.timeline.query, context.req.queries());
      const nowMs = service.toWall(service.now());
      const options = textOptions(context, query, nowMs);
      const window = windowOf(since, until, nowMs);
      const lanes = unwrap(await service.timeline({ ref: ref ?? null, ...window }));
      const offsetMinutes = -new Date(nowMs).getTimezoneOffset();
      const document: TimelineDocument = { ...headOf(service), ...timelineOf({ lanes, ...window, offsetMinutes }) };
      return options === null ? jsonReply(document) : textReply(timelineLines(document, options));
    },
    agents(context: ApiContext) {
      const query = readQuery(routes.agents.query, context.req.queries());
      const options = textOptions(context, query, service.toWall(service.now()));
      return options === null ? jsonReply(agentList()) : textReply(agentsLines(agentList(), options));
    },
    async changeAgent(context: ApiContext) {
      noQuery(context);
      const { enabled, pid, hops } = await readBody(agentChangeSchema, context.env.incoming);
      unwrap(await service.setAgentEnabled(context.req.param('name') ?? '', enabled, { pid, hops }));
      return jsonReply(agentList());
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}

/** Nothing is known of the future, and a question has its bounds. */
function windowOf(since: string | undefined, until: string | undefined, nowMs: number) {
  const last = Math.round(Math.min(nowMs, until === undefined ? nowMs : Date.parse(until)));
  const first = since === undefined ? last - limits.timelineMsDefault : Date.parse(since);
  if (first >= last) throw new AgtmuxError('E_FILTER', 'since: must be before until and in the past');
  if (last - first > limits.timelineMsMax) throw new AgtmuxError('E_FILTER', 'since: at most 31 days');
  return { since: first, until: last };
}
