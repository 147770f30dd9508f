// The documents that tell why: one runtime explained, and the adapters with what they can and how they are.

import { factKinds } from '../model/events.ts';
import { reasonCodes } from '../model/reasons.ts';
import { healths } from '../model/records.ts';
import { sourceNames } from '../model/sources.ts';
import { confidences, stateNames } from '../model/states.ts';
import { verdictNames, verdictReasonNames } from '../model/verdicts.ts';
import { count, head, noQuerySchema, textQuery, time } from './common.ts';
import { paneItemSchema } from './panes.ts';
import { z } from './zod.ts';

const state = z.enum(stateNames);
const reason = z.enum(reasonCodes);
const confidence = z.enum(confidences);
const source = z.enum(sourceNames as [(typeof sourceNames)[number], ...(typeof sourceNames)[number][]]);

export const explainQuerySchema = z.strictObject({
  ref: z.string().min(1),
  rules: z.boolean().optional().describe('as text: every rule of the screen, with why it did not fit'),
  ...textQuery,
});
export const agentsQuerySchema = z.strictObject(textQuery);
export const agentChangeSchema = z.strictObject({ enabled: z.boolean() });

const evidence = z.strictObject({
  part: z.enum(['decides', 'agrees', 'contradicts']),
  source,
  rank: z.int(),
  state,
  reason_code: reason,
  confidence,
  at: time,
});

const screen = z.strictObject({
  state,
  reason_code: reason,
  confidence,
  rule: z.string().nullable(),
  ask: z.string().nullable().describe('the words of the dialog on the screen; foreign text'),
  tried: z.array(z.strictObject({ rule: z.string(), matched: z.boolean(), why: z.string().nullable() })),
});

const event = z.strictObject({
  event_id: count,
  at: time,
  source,
  kind: z.enum(factKinds),
  words: z.string(),
  verdict: z.enum(verdictNames),
  verdict_reason: z.enum(
    verdictReasonNames as [(typeof verdictReasonNames)[number], ...(typeof verdictReasonNames)[number][]],
  ),
});

export const explanationSchema = z.strictObject({
  ...head,
  ref: z.string(),
  item: paneItemSchema,
  reason_words: z.string(),
  evidence: z.array(evidence),
  screen: screen.nullable(),
  events: z.array(event),
});
export type ExplanationDocument = z.infer<typeof explanationSchema>;

const sourceInfo = z.strictObject({
  source: z.string(),
  health: z.enum(healths),
  trouble: z.string().nullable(),
  count,
  last_at: time.nullable(),
});

export const agentItemSchema = z.strictObject({
  agent: z.string(),
  contract: z.string(),
  enabled: z.boolean(),
  refused: z.string().nullable(),
  health: z.enum(healths),
  running: count,
  capabilities: z.strictObject({
    event_driven: z.boolean(),
    polling_required: z.boolean(),
    supports_waiting_approval: z.boolean(),
    supports_waiting_input: z.boolean(),
    supports_completed: z.boolean(),
    supports_interrupted: z.boolean(),
  }),
  measured: z.array(z.string()),
  limits: z.array(z.string()),
  rules: z.strictObject({ count, user_file: z.string().nullable(), trouble: z.string().nullable() }),
  sources: z.array(sourceInfo),
});
export type AdapterItem = z.infer<typeof agentItemSchema>;

export const agentListSchema = z.strictObject({
  ...head,
  items: z.array(agentItemSchema),
  rule_troubles: z.array(z.string()).optional().describe('rule files that are not used, and why'),
});
export type AgentList = z.infer<typeof agentListSchema>;

export const explainDocuments = {
  Explanation: explanationSchema,
  AgentItem: agentItemSchema,
  AgentList: agentListSchema,
  AgentChange: agentChangeSchema,
} as const;

export const explainRoutes = {
  explain: {
    method: 'get',
    path: '/v1/explain',
    summary: 'Explain a state: evidence, rules tried, last events with their verdicts',
    query: explainQuerySchema,
    hasText: true,
    reply: 'Explanation',
  },
  agents: {
    method: 'get',
    path: '/v1/agents',
    summary: 'List adapters with their capabilities and health',
    query: agentsQuerySchema,
    hasText: true,
    reply: 'AgentList',
  },
  changeAgent: {
    method: 'post',
    path: '/v1/agents/{name}',
    summary: 'Enable or disable an adapter',
    query: noQuerySchema,
    body: { words: 'on or off', document: 'AgentChange' },
    reply: 'AgentList',
  },
} as const;
