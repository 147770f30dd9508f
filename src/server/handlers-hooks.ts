// The hook routes: reads the request, asks the daemon, answers with the document.

import type { RouteName } from '../api/routes.ts';
import { hooksQuerySchema, newHookApplySchema, newHookPlanSchema } from '../api/schemas-hooks.ts';
import { AgtmuxError } from '../model/errors.ts';
import { type Handler, headOf, noQuery } from './handler-kit.ts';
import { jsonReply, unwrap } from './replies.ts';
import { readBody, readQuery } from './requests.ts';
import type { DaemonService } from './service.ts';

export function hookHandlers(service: DaemonService) {
  const reply = (value: object): Response => jsonReply({ ...headOf(service), ...value });
  return {
    async hooks(context) {
      const { target = 'host', agent = [], env = [] } = readQuery(hooksQuerySchema, context.req.queries());
      return reply(unwrap(await service.hooks.status({ target, agents: agent, env: variablesOf(env) })));
    },
    async planHooks(context) {
      noQuery(context);
      return reply(unwrap(await service.hooks.plan(await readBody(newHookPlanSchema, context.env.incoming))));
    },
    async applyHooks(context) {
      noQuery(context);
      const { pid, hops, ...wanted } = await readBody(newHookApplySchema, context.env.incoming);
      return reply(unwrap(await service.hooks.apply(wanted, { pid, hops })));
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}

export function variablesOf(said: readonly string[]): Record<string, string> {
  const pairs = said.map((one): [string, string] => {
    const equals = one.indexOf('=');
    if (equals < 1) throw new AgtmuxError('E_FILTER', 'env must be NAME=value');
    return [one.slice(0, equals), one.slice(equals + 1)];
  });
  return Object.fromEntries(pairs);
}
