// Restoring: what a lost tmux server had, what would be done, and what became of it.

import { limits } from '../model/limits.ts';
import { restoreChoices } from '../model/restore.ts';
import { head, noQuerySchema, time } from './common.ts';
import { z } from './zod.ts';

const choice = z.enum(restoreChoices);

export const restoreItemSchema = z.strictObject({
  runtime_id: z.string().describe('the run that was lost'),
  target: z.string(),
  agent: z.string(),
  place: z.string().describe('where it was: session:window.pane'),
  cwd: z.string(),
  agent_session: z.string().nullable().describe("the agent's own id of its conversation; null where nobody knows it"),
  lost_at: time,
  choice: choice.describe('what is done unless a person asks for less'),
  why: z.string().nullable().describe('why it is not resumed'),
  command: z.string().nullable().describe('what would be run, without options that skip permissions'),
  skipping: z.array(z.string()).describe('options that skip permissions; given again only when asked for'),
});

export const restorePlanSchema = z.strictObject({
  ...head,
  items: z.array(restoreItemSchema),
  windows: z.int().nonnegative(),
  sessions: z.array(z.string()),
});

export const newRestoreSchema = z.strictObject({
  choices: z.record(z.string(), choice).default({}).describe('less than what is planned, by the lost run'),
  shown: z
    .array(z.string())
    .max(limits.restoreWindowsMax)
    .nullable()
    .default(null)
    .describe('the lost runs that were shown; others are left. Null: all'),
  allow_skip_permissions: z.boolean().default(false),
});

export const restoreReplySchema = z.strictObject({
  ...head,
  items: z.array(
    z.strictObject({
      runtime_id: z.string(),
      place: z.string(),
      agent: z.string(),
      outcome: z.enum(['resumed', 'started', 'shell', 'left', 'refused']),
      became: z.string().nullable().describe('the run that came of it'),
      words: z.string().nullable(),
    }),
  ),
});

export const restoreDocuments = {
  RestoreItem: restoreItemSchema,
  RestorePlan: restorePlanSchema,
  NewRestore: newRestoreSchema,
  RestoreReply: restoreReplySchema,
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

export type RestorePlanReply = z.infer<typeof restorePlanSchema>;
export type RestoreReply = z.infer<typeof restoreReplySchema>;
export type NewRestore = z.input<typeof newRestoreSchema>;
