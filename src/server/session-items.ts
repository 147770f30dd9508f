// A session and its messages as every client sees them: with times people and programs can read, and without what only the
// daemon needs.

import type { ManagedItem, ManagedReply, MessagePageReply } from '../api/sessions.ts';
import type { MessagePage, SessionRow } from '../model/sessions.ts';
import { isoTime } from '../view/lists-items.ts';
import { headOf } from './dispatch.ts';
import type { DaemonService } from './service.ts';

export const managedReply = (service: DaemonService, row: SessionRow): ManagedReply => ({
  ...headOf(service),
  session: managedItem(service, row),
});

export function managedItem(service: DaemonService, row: SessionRow): ManagedItem {
  const {
    process,
    rejoin: _rejoin,
    answered: _answered,
    created_at,
    updated_at,
    asleep_since,
    pending_ask,
    ...rest
  } = row;
  const iso = (time: number): string => isoTime(service.toWall(time));
  return {
    ...rest,
    ref: `session:${row.id}`,
    worktree: row.worktree === null ? null : { ...row.worktree },
    tokens: row.tokens === null ? null : { ...row.tokens },
    view: { ...row.view },
    created_at: iso(created_at),
    updated_at: iso(updated_at),
    pid: process?.pid ?? null,
    asleep_since: asleep_since === null ? null : iso(asleep_since),
    pending_ask:
      pending_ask === null
        ? null
        : {
            ...pending_ask,
            options: pending_ask.options.map((option) => ({ ...option })),
            accepts: [...pending_ask.accepts],
          },
  };
}

export function messagePage(service: DaemonService, page: MessagePage): MessagePageReply {
  const messages = page.messages.map(({ at, tool, ...message }) => ({
    ...message,
    at: isoTime(service.toWall(at)),
    ...(tool === undefined ? {} : { tool: { ...tool } }),
  }));
  return { ...headOf(service), ...page, messages };
}
