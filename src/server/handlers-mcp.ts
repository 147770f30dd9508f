// The routes of the MCP registration: reads the request, asks the daemon, answers with the document.

import type { RouteName } from '../api/routes.ts';
import { mcpQuerySchema, newMcpApplySchema, newMcpPlanSchema } from '../api/schemas-mcp.ts';
import { type Handler, headOf, noQuery } from './handler-kit.ts';
import { variablesOf } from './handlers-hooks.ts';
import { jsonReply, unwrap } from './replies.ts';
import { readBody, readQuery } from './requests.ts';
import type { DaemonService } from './service.ts';

/** Our server talks to the daemon of its own machine, and to no other. */
const here = { target: 'host' } as const;

export function mcpHandlers(service: DaemonService) {
  const reply = (value: object): Response => jsonReply({ ...headOf(service), ...value });
  return {
    async mcp(context) {
      const { agent = [], env = [] } = readQuery(mcpQuerySchema, context.req.queries());
      const found = unwrap(await service.mcp.status({ ...here, agents: agent, env: variablesOf(env) }));
      const { program, environment, agents } = found;
      return reply({ program, environment, agents });
    },
    async planMcp(context) {
      noQuery(context);
      const wanted = await readBody(newMcpPlanSchema, context.env.incoming);
      const { target: _, ...plan } = unwrap(await service.mcp.plan({ ...here, ...wanted, extras: [] }));
      return reply(plan);
    },
    async applyMcp(context) {
      noQuery(context);
      const { pid, hops, ...wanted } = await readBody(newMcpApplySchema, context.env.incoming);
      const request = { ...here, ...wanted, extras: [], trust: false };
      const done = unwrap(await service.mcp.apply(request, { pid, hops }));
      const { action, written, removed, notes } = done;
      return reply({ action, written, removed, notes });
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}
