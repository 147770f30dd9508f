// Restoring: hands what a person decided to the daemon, and answers with what became of it.

import { isoTime } from '../view/lists-items.ts';
import type { Handlers } from './dispatch.ts';
import { unwrap } from './replies.ts';
import type { DaemonService } from './service.ts';

export function restoreHandlers(service: DaemonService): Pick<Handlers, 'planRestore' | 'restore'> {
  return {
    async planRestore() {
      const { items, windows, sessions } = await service.restore.plan();
      const shown = items.map(({ server: _server, lost_at, ...item }) => ({
        ...item,
        lost_at: isoTime(service.toWall(lost_at)),
      }));
      return { items: shown, windows, sessions };
    },
    restore: async ({ body, caller }) => ({ items: unwrap(await service.restore.restore(body, caller)) }),
  };
}
