// The daemon itself: its status, its end, events that programs submit, and the description of this API.

import { verdictNames, verdictReasonNames } from '../model/verdicts.ts';
import { count, head, noQuerySchema } from './common.ts';
import { shellLatencySchema } from './shells.ts';
import { z } from './zod.ts';

export const statusSchema = z.strictObject({
  ...head,
  api: z.int(),
  version: z.string(),
  pid: z.int(),
  up_ms: z.number(),
  ready: z.boolean(),
  state_dir: z.string(),
  socket_path: z.string(),
  trouble: z.string().nullable(),
  events: z.strictObject({ taken: count, verdicts: z.record(z.enum(verdictNames), count) }),
  feed_epoch: z.string(),
  hook_calls: z.strictObject({ taken: count, waiting: count, refused: count }),
  restorable: count.describe('agents of a lost tmux server that can be restored'),
  shells: z.strictObject({ running: count, run_to_answer: shellLatencySchema }),
  feed_version: count,
  memory_bytes: count,
});

export const verdictsSchema = z.strictObject({
  ...head,
  verdicts: z.array(
    z.strictObject({
      verdict: z.enum(verdictNames),
      reason: z.enum(verdictReasonNames),
      detail: z.string().optional(),
    }),
  ),
});

export const daemonDocuments = { Status: statusSchema, Verdicts: verdictsSchema } as const;

export const daemonRoutes = {
  status: {
    method: 'get',
    path: '/v1/status',
    summary: 'Show the status of the daemon',
    query: noQuerySchema,
    reply: 'Status',
  },
  events: {
    method: 'post',
    path: '/v1/events',
    summary: 'Submit events of the agent above this process; returns a verdict on each after they are on disk',
    query: noQuerySchema,
    body: { words: 'a JSON array of event envelopes, or JSON lines (application/x-ndjson)', document: null },
    reply: 'Verdicts',
    isLocal: true,
  },
  stop: {
    method: 'post',
    path: '/v1/stop',
    summary: 'Stop the daemon',
    query: noQuerySchema,
    reply: 'Done',
    status: 202,
    isLocal: true,
  },
  openapi: {
    method: 'get',
    path: '/v1/openapi.json',
    summary: 'Get this description',
    query: noQuerySchema,
    reply: null,
  },
  schema: {
    method: 'get',
    path: '/v1/schema.json',
    summary: 'Get the JSON Schema of the documents',
    query: noQuerySchema,
    reply: null,
  },
} as const;

export type StatusReply = z.infer<typeof statusSchema>;
