// What agents have used: the question, the report and its route, for every client.

import { limits } from '../model/limits.ts';
import { usageGroups } from '../model/usage.ts';
import { count, head } from './common.ts';
import { z } from './zod.ts';

const by = z.enum(usageGroups);
const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);

const sum = z.strictObject({
  name: z.string().max(limits.pathCharsMax).describe('agent, folder, day, model or conversation; empty if not told'),
  answers: count,
  input: count.describe('tokens without those that came out of a cache or went into one'),
  output: count,
  cache_read: count,
  cache_write: count,
  cost: z.number().nullable().describe('in USD, about; null when no price is known'),
  unpriced: count.describe('tokens of models without a price, which are not in the cost'),
  context: count.nullable().describe('of conversations: what the model was given with the last answer'),
});

export const usageQuerySchema = z.strictObject({ by: by.optional(), since: day.optional() });

export const usageReportSchema = z.strictObject({
  ...head,
  by,
  since: day.nullable(),
  items: z.array(sum),
  total: sum,
  prices: z.strictObject({ date: z.string(), source: z.string() }),
  files: count,
  broken_lines: count,
  budget_day: z.number().nullable(),
});

export const usageDocuments = { UsageReport: usageReportSchema } as const;

export const usageRoutes = {
  usage: {
    method: 'get',
    path: '/v1/usage',
    summary: 'Sum up the tokens that agents have used and what they cost about; reads their records first',
    query: usageQuerySchema,
    reply: 'UsageReport',
  },
} as const;

export type UsageReply = z.infer<typeof usageReportSchema>;
