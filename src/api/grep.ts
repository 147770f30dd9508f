// Looking for a pattern in what agents have shown and said: the question, the hits and the route.

import { grepPlaces } from '../model/grep.ts';
import { limits } from '../model/limits.ts';
import { count, head } from './common.ts';
import { z } from './zod.ts';

const place = z.enum(grepPlaces);

const hit = z.strictObject({
  place,
  ref: z.string().nullable(),
  runtime_id: z.string().nullable(),
  shell_id: z.string().nullable(),
  name: z.string().describe('the agent as lists name it, or the label of the shell'),
  where: z.string(),
  line: z.string().describe('the line that the pattern stands in; text of others'),
});

export const grepQuerySchema = z.strictObject({
  pattern: z.string().min(1).max(limits.screenPatternCharsMax).describe('RE2; small letters mean capitals too'),
  in: z.array(place).max(grepPlaces.length).optional().describe('all if none is named'),
  hits: z.int().min(1).max(limits.grepHitsMax).optional(),
});

export const grepListSchema = z.strictObject({
  ...head,
  items: z.array(hit),
  is_cut: z.boolean().describe('there is more than was asked for'),
  searched: count,
  left_out: count.describe('what could not be looked into, or not in time'),
});

export const grepDocuments = { GrepList: grepListSchema } as const;

export const grepRoutes = {
  grep: {
    method: 'get',
    path: '/v1/grep',
    summary: 'Look for a pattern on the screens, in the transcripts and in the shell logs of all agents',
    query: grepQuerySchema,
    reply: 'GrepList',
  },
} as const;

export type GrepReply = z.infer<typeof grepListSchema>;
