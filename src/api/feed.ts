// The feed: versioned changes of everything that screens show, as server-sent events.

import { count, head } from './common.ts';
import { noticeItemSchema } from './notices.ts';
import { paneItemSchema, sessionListSchema, windowListSchema } from './panes.ts';
import { shellEventSchema, shellItemSchema } from './shells.ts';
import { targetItemSchema } from './targets.ts';
import { z } from './zod.ts';

export const feedScopes = ['all', 'panes', 'targets', 'windows', 'sessions', 'shells', 'notices'] as const;

const feedValue = z.union([paneItemSchema, targetItemSchema, shellItemSchema, noticeItemSchema]);

/** By their number each is told once, in order, also to a client that comes back. */
const feedEvents = { events: z.array(shellEventSchema).describe('what happened to shells, oldest first') };

/** The data of the event `snapshot`: replaces everything the client knows. */
export const feedSnapshotSchema = z.strictObject({
  ...head,
  epoch: z.string(),
  version: count,
  items: z.array(z.strictObject({ key: z.string(), value: feedValue })),
  ...feedEvents,
});

/** The data of the event `changes`: of each key its last change; null means gone. */
export const feedChangesSchema = z.strictObject({
  ...head,
  from: count,
  to: count,
  changes: z.array(z.strictObject({ version: count, key: z.string(), value: feedValue.nullable() })),
  ...feedEvents,
});

/** The data of the event `list`, for the scopes windows and sessions: the whole list as it is now. */
export const feedListSchema = z.strictObject({
  ...head,
  epoch: z.string(),
  version: count,
  list: z.union([windowListSchema, sessionListSchema]),
});

/** The data of the event `cut`, the last one. */
export const feedCutSchema = z.strictObject({ reason: z.enum(['too_slow', 'closed', 'shutdown']) });

const feedQuerySchema = z.strictObject({
  scope: z.enum(feedScopes).optional(),
  since: z.string().optional().describe('epoch:version, the same as the header Last-Event-ID'),
});

export const feedDocuments = {
  FeedSnapshot: feedSnapshotSchema,
  FeedChanges: feedChangesSchema,
  FeedList: feedListSchema,
  FeedCut: feedCutSchema,
} as const;

export const feedRoutes = {
  feed: {
    method: 'get',
    path: '/v1/feed',
    summary:
      'Follow the feed as server-sent events: snapshot (FeedSnapshot), changes (FeedChanges), list (FeedList), cut (FeedCut)',
    query: feedQuerySchema,
    reply: null,
  },
} as const;

export type FeedValue = z.infer<typeof feedValue>;
export type FeedSnapshot = z.infer<typeof feedSnapshotSchema>;
export type FeedChanges = z.infer<typeof feedChangesSchema>;
export type FeedList = z.infer<typeof feedListSchema>;
export type FeedCut = z.infer<typeof feedCutSchema>;
export type FeedScope = (typeof feedScopes)[number];
