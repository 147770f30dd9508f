// The documents of the hook routes: what is installed, what would be written, what was. Diffs hold text of the user's files.

import { z } from 'zod';
import { limits } from '../model/limits.ts';
import { claimBody } from './schemas-act.ts';
import { schemaVersion } from './version.ts';

const head = {
  schema_version: z.literal(schemaVersion),
  generated_at: z.iso.datetime().describe('UTC'),
};

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
  ...claimBody,
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

export type HookStatusReply = z.infer<typeof hookStatusSchema>;
export type HookPlanReply = z.infer<typeof hookPlanSchema>;
export type HookOutcomeReply = z.infer<typeof hookOutcomeSchema>;
