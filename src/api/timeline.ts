// How a day went: states over time, one lane an agent.

import { reasonCodes } from '../model/reasons.ts';
import { type StateName, stateNames } from '../model/states.ts';
import { head, textQuery, time } from './common.ts';
import { z } from './zod.ts';

const ms = z.int().nonnegative();

const timelineQuerySchema = z.strictObject({
  ref: z.string().min(1).optional().describe('one agent, by any of its references'),
  since: z.iso.datetime().optional().describe('default: a day before `until`'),
  until: z.iso.datetime().optional().describe('default: now'),
  ...textQuery,
});

const totals = z.strictObject(Object.fromEntries(stateNames.map((name) => [name, ms])) as Record<StateName, typeof ms>);
const waited = ms.describe('what of it was spent waiting for a person');

const span = z.strictObject({ state: z.enum(stateNames), reason_code: z.enum(reasonCodes), from: time, to: time });

const lane = z.strictObject({
  runtime_id: z.string(),
  ref: z.string(),
  agent: z.string(),
  target: z.string(),
  project: z.string().nullable().describe('the name of its directory; foreign text'),
  where: z.string().describe('foreign text'),
  spans: z.array(span).describe('oldest first; gaps were not observed'),
  is_open: z.boolean().describe('the last span is still open'),
  totals,
  waited_ms: waited,
});

export const timelineSchema = z.strictObject({
  ...head,
  since: time,
  until: time,
  items: z.array(lane).describe('longest wait first'),
  days: z.array(z.strictObject({ day: z.iso.date(), totals, waited_ms: waited })).describe("of the daemon's time zone"),
  totals,
  waited_ms: waited,
  is_cut: z.boolean().describe('older spans are omitted; sums include them'),
});

export const timelineDocuments = { Timeline: timelineSchema } as const;

export const timelineRoutes = {
  timeline: {
    method: 'get',
    path: '/v1/timeline',
    summary: 'Get states over time, one lane per agent, with the time spent waiting for a person',
    query: timelineQuerySchema,
    hasText: true,
    reply: 'Timeline',
  },
} as const;

export type TimelineDocument = z.infer<typeof timelineSchema>;
export type TimelineLane = z.infer<typeof lane>;
export type StateTotals = z.infer<typeof totals>;
