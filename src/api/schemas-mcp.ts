// The documents of the MCP routes: with which agents our server is registered, and what would be written to change that.
// They are those of hooks without what only hooks have.

import {
  hookOutcomeSchema,
  hookPlanSchema,
  hookStatusSchema,
  hooksQuerySchema,
  newHookApplySchema,
  newHookPlanSchema,
} from './schemas-hooks.ts';
import type { z } from './zod.ts';

export const mcpQuerySchema = hooksQuerySchema.omit({ target: true });
export const mcpStatusSchema = hookStatusSchema.omit({ target: true, spool_dir: true });
export const newMcpPlanSchema = newHookPlanSchema.omit({ target: true, extras: true });
export const mcpPlanSchema = hookPlanSchema.omit({ target: true });
export const newMcpApplySchema = newHookApplySchema.omit({ target: true, extras: true, trust: true });
export const mcpOutcomeSchema = hookOutcomeSchema.omit({ target: true, trust: true });

export type McpStatusReply = z.infer<typeof mcpStatusSchema>;
export type McpPlanReply = z.infer<typeof mcpPlanSchema>;
export type McpOutcomeReply = z.infer<typeof mcpOutcomeSchema>;
