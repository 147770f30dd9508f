// Hooks and the MCP server of agtmux in the files of agents: what is installed, what would be written, what was. Diffs
// hold text of the user's files.

import { limits } from '../model/limits.ts';
import { head, noQuerySchema } from './common.ts';
import { z } from './zod.ts';

const names = z.array(z.string().max(limits.idCharsMax)).max(limits.filterValuesMax);
const path = z.string().max(limits.pathCharsMax);
const state = z.enum(['installed', 'partial', 'absent', 'broken', 'unsupported']);
const action = z.enum(['install', 'remove']);

/** `env` is NAME=value, for the variables that the answer names under `environment`. */
export const hooksQuerySchema = z.strictObject({
  target: z.string().max(limits.idCharsMax).optional(),
  agent: names.optional(),
  env: z.array(path).max(limits.filterValuesMax).optional(),
});

export const hookStatusSchema = z.strictObject({
  ...head,
  target: z.string(),
  program: z.strictObject({ path: z.string(), state: z.enum(['current', 'other', 'absent']) }),
  spool_dir: z.string(),
  environment: z.array(z.string()),
  agents: z.array(
    z.strictObject({
      agent: z.string(),
      state,
      is_used: z.boolean(),
      files: z.array(z.strictObject({ path: z.string(), state, problem: z.string().nullable() })),
      notes: z.array(z.string()),
    }),
  ),
});

const asked = {
  action,
  target: z.string().max(limits.idCharsMax).default('host'),
  agents: names.default([]).describe('none: every agent in use there'),
  env: z.record(z.string().max(limits.idCharsMax), path).default({}),
  extras: names.default([]).describe('installed only when named: notify'),
};

export const newHookPlanSchema = z.strictObject(asked);

export const hookPlanSchema = z.strictObject({
  ...head,
  target: z.string(),
  action,
  digest: z.string(),
  edits: z.array(
    z.strictObject({
      agent: z.string().nullable(),
      path: z.string(),
      change: z.enum(['create', 'change', 'delete']),
      diff: z.string(),
    }),
  ),
  agents: z.array(z.string()),
  unused: z.array(z.string()),
  notes: z.array(z.string()),
});

export const newHookApplySchema = z.strictObject({
  ...asked,
  digest: z.string().max(limits.idCharsMax).describe('digest of the plan that was shown'),
  trust: z.boolean().default(false).describe('mark the hooks as trusted in agents that require it'),
});

export const hookOutcomeSchema = z.strictObject({
  ...head,
  target: z.string(),
  action,
  written: z.array(z.string()),
  removed: z.array(z.string()),
  notes: z.array(z.string()),
  trust: z.array(z.strictObject({ agent: z.string(), trusted: z.int(), problem: z.string().nullable() })),
});

// The MCP server is on this machine only, and has no extras and no gate of trust.
export const mcpQuerySchema = hooksQuerySchema.omit({ target: true });
export const mcpStatusSchema = hookStatusSchema.omit({ target: true, spool_dir: true });
export const newMcpPlanSchema = newHookPlanSchema.omit({ target: true, extras: true });
export const mcpPlanSchema = hookPlanSchema.omit({ target: true });
export const newMcpApplySchema = newHookApplySchema.omit({ target: true, extras: true, trust: true });
export const mcpOutcomeSchema = hookOutcomeSchema.omit({ target: true, trust: true });

export const hookDocuments = {
  HookStatus: hookStatusSchema,
  HookPlan: hookPlanSchema,
  HookOutcome: hookOutcomeSchema,
  NewHookPlan: newHookPlanSchema,
  NewHookApply: newHookApplySchema,
  McpStatus: mcpStatusSchema,
  McpPlan: mcpPlanSchema,
  McpOutcome: mcpOutcomeSchema,
  NewMcpPlan: newMcpPlanSchema,
  NewMcpApply: newMcpApplySchema,
} as const;

export const hookRoutes = {
  hooks: {
    method: 'get',
    path: '/v1/hooks',
    summary: 'Show which agents of a machine have the hooks of agtmux, and whether their files can be read',
    query: hooksQuerySchema,
    reply: 'HookStatus',
  },
  planHooks: {
    method: 'post',
    path: '/v1/hooks/plan',
    summary: 'Show what would be written to install or remove hooks; changes nothing',
    query: noQuerySchema,
    body: { words: 'the wanted change', document: 'NewHookPlan' },
    reply: 'HookPlan',
  },
  applyHooks: {
    method: 'post',
    path: '/v1/hooks/apply',
    summary: 'Write what a plan showed, if it is still the same',
    query: noQuerySchema,
    body: { words: 'the wanted change and the digest of its plan', document: 'NewHookApply' },
    reply: 'HookOutcome',
  },
  mcp: {
    method: 'get',
    path: '/v1/mcp',
    summary: 'Show which agents of this machine have the MCP server of agtmux',
    query: mcpQuerySchema,
    reply: 'McpStatus',
  },
  planMcp: {
    method: 'post',
    path: '/v1/mcp/plan',
    summary: 'Show what would be written to register or remove the MCP server; changes nothing',
    query: noQuerySchema,
    body: { words: 'the wanted change', document: 'NewMcpPlan' },
    reply: 'McpPlan',
  },
  applyMcp: {
    method: 'post',
    path: '/v1/mcp/apply',
    summary: 'Write what a plan showed, if it is still the same',
    query: noQuerySchema,
    body: { words: 'the wanted change and the digest of its plan', document: 'NewMcpApply' },
    reply: 'McpOutcome',
  },
} as const;

export type HookStatusReply = z.infer<typeof hookStatusSchema>;
export type HookPlanReply = z.infer<typeof hookPlanSchema>;
export type HookOutcomeReply = z.infer<typeof hookOutcomeSchema>;
export type McpStatusReply = z.infer<typeof mcpStatusSchema>;
