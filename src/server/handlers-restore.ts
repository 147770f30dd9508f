// The routes of restoring: reads what a person decided, asks the daemon, answers with what became of it.

import type { RouteName } from '../api/routes.ts';
import { newRestoreSchema } from '../api/schemas-restore.ts';
import { isoTime } from '../view/lists-items.ts';
import { type Handler, headOf, noQuery } from './handler-kit.ts';
import { jsonReply, unwrap } from './replies.ts';
import { readBody } from './requests.ts';
import type { DaemonService } from './service.ts';

export function restoreHandlers(service: DaemonService) {
  return {
    async planRestore(context) {
      noQuery(context);
      const { items, windows, sessions } = await service.restore.plan();
      const shown = items.map(({ server: _server, lost_at, ...item }) => ({
        ...item,
        lost_at: isoTime(service.toWall(lost_at)),
      }));
      return jsonReply({ ...headOf(service), items: shown, windows, sessions });
    },
    async restore(context) {
      noQuery(context);
      const { pid, hops, ...request } = await readBody(newRestoreSchema, context.env.incoming);
      const items = unwrap(await service.restore.restore(request, { pid, hops }));
      return jsonReply({ ...headOf(service), items });
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}
