// The routes that tell why: one runtime explained, and the adapters.

import { agentItem, explanationItem } from '../../view/explain-items.ts';
import { agentsLines, explanationLines } from '../../view/explain-text.ts';
import type { RouteName } from '../routes.ts';
import { routes } from '../routes.ts';
import { type AgentList, agentChangeSchema, type ExplanationDocument } from '../schemas-explain.ts';
import type { DaemonService } from '../service.ts';
import { type ApiContext, type Handler, headOf, noQuery, textOptions } from './handler-kit.ts';
import { jsonReply, textReply, unwrap } from './replies.ts';
import { readBody, readQuery } from './requests.ts';

export function explainHandlers(service: DaemonService) {
  const toWall = (time: number): number => service.toWall(time);
  const agentList = (): AgentList => ({
    ...headOf(service),
    items: service.agentInfos().map((info) => agentItem(info, toWall)),
  });
  return {
    async explain(context: ApiContext) {
      const query = readQuery(routes.explain.query, context.req.queries());
      const options = textOptions(context, query, service.toWall(service.now()));
      const found = unwrap(await service.explain(query.ref));
      const document: ExplanationDocument = { ...headOf(service), ...explanationItem(found, toWall) };
      return options === null ? jsonReply(document) : textReply(explanationLines(document, options));
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
