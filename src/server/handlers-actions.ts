// Acting: hands what is asked for to the daemon, and answers with the receipt. Whether something is done at all is decided
// there, never here.

import { limits } from '../model/limits.ts';
import { isoTime } from '../view/lists-items.ts';
import type { Handlers } from './dispatch.ts';
import { unwrap } from './replies.ts';
import type { DaemonService } from './service.ts';

type Names = 'act' | 'attach' | 'output' | 'startAgent' | 'queue' | 'editQueued' | 'dropQueued' | 'audit';

export function actionHandlers(service: DaemonService): Pick<Handlers, Names> {
  const { acting } = service;
  const iso = (time: number): string => isoTime(service.toWall(time));
  return {
    act: ({ body: { ref = '', ...request }, caller }) => acting.act({ ref, ...request }, caller),
    async attach({ body: { ref, conditions }, caller }) {
      return unwrap(await acting.attach(ref, conditions, caller));
    },
    async output({ query, caller }) {
      const { ref, lines = limits.outputLinesDefault, screen = false, colours = false } = query;
      return unwrap(await acting.view(ref, lines, caller, { isScreen: screen, hasColours: colours }));
    },
    startAgent: ({ body, caller }) => acting.start(body, caller),
    queue() {
      const items = acting.queue().map(({ queued_at, expires_at, not_before, ...message }) => ({
        ...message,
        queued_at: iso(queued_at),
        expires_at: iso(expires_at),
        not_before: not_before === null ? null : iso(not_before),
      }));
      return { items };
    },
    editQueued: ({ body, params, caller }) => acting.editQueued(params.id, body.text, caller),
    dropQueued: ({ params, caller }) => acting.dropQueued(params.id, caller),
    async audit({ query: { count = limits.auditRowsDefault } }) {
      const rows = await acting.audit(count);
      return { items: rows.map(({ at, ...row }) => ({ at: iso(at), ...row })) };
    },
  };
}
