// Machines and tmux servers: how each is, and adding and removing them.

import type { TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { healths } from '../model/records.ts';
import { count, head, noQuerySchema, textQuery, time } from './common.ts';
import { z } from './zod.ts';

const targetWith = <Time extends z.ZodType>(time: Time) =>
  z.strictObject({
    target: z.string(),
    kind: z.enum(['local', 'ssh']),
    health: z.enum(healths),
    trouble: z.string().nullable(),
    tmux_version: z.string().nullable(),
    last_seen_at: time.nullable(),
    panes: count,
  });

export const targetItemSchema = targetWith(time);

export interface TargetRow extends z.infer<ReturnType<typeof targetWith<z.ZodNumber>>> {
  target: TargetId;
}

export const targetListSchema = z.strictObject({
  ...head,
  partial: z.boolean(),
  missing_targets: z.array(z.string()),
  items: z.array(targetItemSchema),
});

export const targetReplySchema = z.strictObject({ ...head, target: targetItemSchema });

export const newTargetSchema = z.strictObject({
  name: z.string().min(1).max(limits.idCharsMax),
  kind: z.enum(['local', 'ssh']),
  connection_ref: z.string().max(limits.hostAliasCharsMax).default(''),
});

export const targetDocuments = {
  TargetItem: targetItemSchema,
  TargetList: targetListSchema,
  TargetReply: targetReplySchema,
  NewTarget: newTargetSchema,
} as const;

export const targetRoutes = {
  targets: {
    method: 'get',
    path: '/v1/targets',
    summary: 'List machines and tmux sockets with their health',
    query: z.strictObject(textQuery),
    hasText: true,
    reply: 'TargetList',
  },
  addTarget: {
    method: 'post',
    path: '/v1/targets',
    summary: 'Add a target',
    query: noQuerySchema,
    body: { words: 'the target', document: 'NewTarget' },
    reply: 'TargetReply',
    status: 201,
  },
  connectTarget: {
    method: 'post',
    path: '/v1/targets/{name}/connect',
    summary: 'Connect to a target now instead of at the next retry',
    query: noQuerySchema,
    reply: 'TargetReply',
  },
  removeTarget: {
    method: 'delete',
    path: '/v1/targets/{name}',
    summary: 'Stop watching a target; nothing changes on its machine',
    query: noQuerySchema,
    reply: 'Done',
  },
} as const;

export type TargetItem = z.infer<typeof targetItemSchema>;
export type TargetList = z.infer<typeof targetListSchema>;
export type TargetReply = z.infer<typeof targetReplySchema>;
