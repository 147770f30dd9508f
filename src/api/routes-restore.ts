// The routes of restoring, for the table in routes.ts. Data only.

import { noQuerySchema } from './schemas.ts';
import * as restore from './schemas-restore.ts';

export const restoreDocuments = {
  RestoreItem: restore.restoreItemSchema,
  RestorePlan: restore.restorePlanSchema,
  NewRestore: restore.newRestoreSchema,
  RestoreReply: restore.restoreReplySchema,
} as const;

export const restoreRoutes = {
  planRestore: {
    method: 'get',
    path: '/v1/restore',
    summary: 'Show what could be restored of tmux servers that are gone; changes nothing',
    query: noQuerySchema,
    reply: 'RestorePlan',
  },
  restore: {
    method: 'post',
    path: '/v1/restore',
    summary: 'Open the windows of lost tmux servers again and resume their agents; returns what became of each',
    query: noQuerySchema,
    body: { words: 'what a person decided', document: 'NewRestore' },
    reply: 'RestoreReply',
  },
} as const;
