// The route of what agents have used.

import type { RouteName } from '../api/routes.ts';
import { usageQuerySchema } from '../api/schemas-usage.ts';
import { type Handler, headOf } from './handler-kit.ts';
import { jsonReply, unwrap } from './replies.ts';
import { readQuery } from './requests.ts';
import type { DaemonService } from './service.ts';

export function usageHandlers(service: DaemonService) {
  return {
    async usage(context) {
      const { by = 'agent', since = null } = readQuery(usageQuerySchema, context.req.queries());
      return jsonReply({ ...headOf(service), ...unwrap(await service.usage.report({ by, since })) });
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}
