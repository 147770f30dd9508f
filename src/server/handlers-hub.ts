// The hub as programs of this machine ask for it: the daemon's membership, and the list that its hub answers with.

import { hubWindowSchema } from '../api/hub.ts';
import { AgtmuxError } from '../model/errors.ts';
import type { HubMembership } from '../model/hub.ts';
import { hubTable } from '../view/hub-text.ts';
import { isoTime } from '../view/lists-items.ts';
import { type Handlers, headOf, type Reply, textOptions } from './dispatch.ts';
import { textReply, unwrap } from './replies.ts';
import type { DaemonService } from './service.ts';

export function hubHandlers(
  service: DaemonService,
): Pick<Handlers, 'hub' | 'joinHub' | 'shareHub' | 'leaveHub' | 'hubPanes'> {
  const told = (membership: HubMembership | null): Reply<'hub'> => {
    if (membership === null) return { membership };
    const { last_sent_at, ...rest } = membership;
    return { membership: { ...rest, last_sent_at: last_sent_at === null ? null : isoTime(last_sent_at) } };
  };
  return {
    hub: async () => told(await service.hub.status()),
    joinHub: async ({ body, caller }) => told(unwrap(await service.hub.join(body, caller))),
    shareHub: async ({ body, caller }) => told(unwrap(await service.hub.share(body.share, caller))),
    async leaveHub({ caller }) {
      unwrap(await service.hub.leave(caller));
      return { done: true };
    },
    async hubPanes({ query: { format, columns, colour, ...query }, caller, context }) {
      const answer = hubWindowSchema.safeParse(unwrap(await service.hub.list(query, caller)));
      if (!answer.success) throw new AgtmuxError('E_HUB', 'the answer of the hub cannot be understood');
      const wallMs = service.toWall(service.now());
      const options = textOptions(context, { format, columns, colour }, wallMs);
      if (options !== null) return textReply(hubTable(answer.data, wallMs, options));
      const { total, needs_action, offset, by_state, by_agent, by_machine, by_owner, by_repo, items, missing } =
        answer.data;
      const counts = { by_state, by_agent, by_machine, by_owner, by_repo };
      return { ...headOf(service), total, needs_action, offset, ...counts, items, missing };
    },
  };
}
