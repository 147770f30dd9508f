// Acting: what is asked for, what became of it, what waits, and who did what. A refusal is a receipt too, so POST /v1/act
// answers it with 200; only what is no request at all gets an error (ACT4).

import { actionKinds, outcomes, tmuxLayouts } from '../model/actions.ts';
import { errorCodes } from '../model/errors.ts';
import { askId, runtimeId, targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { stateNames } from '../model/states.ts';
import { head, noQuerySchema, time } from './common.ts';
import { z } from './zod.ts';

const id = z.string().min(1).max(limits.idCharsMax);
const path = z.string().min(1).max(limits.pathCharsMax);
const ref = z
  .string()
  .min(1)
  .max(limits.pathCharsMax)
  .describe('a reference in any form; a receipt has the canonical one');
const words = z.string().max(limits.requestBytesMax);
const line = z.int().positive();

const conditions = z.strictObject({
  if_runtime: id.transform(runtimeId).exactOptional(),
  if_state: z.array(z.enum(stateNames)).min(1).exactOptional(),
  if_updated_within_ms: z.int().positive().exactOptional(),
  force_stale: z.boolean().exactOptional(),
});

const common = { ref, conditions: conditions.default({}) };
const ask = {
  ask_id: id.transform(askId).exactOptional(),
  any_ask: z.boolean().exactOptional().describe('answer whatever is pending; without it an answer names its request'),
};
const flag = (value: boolean) => z.boolean().default(value);

const fileReference = z
  .strictObject({ path, from: line.nullable().default(null), to: line.nullable().default(null) })
  .refine(({ from, to }) => (from === null ? to === null : to === null || to >= from), 'lines are from-to');

const sendSchema = z
  .strictObject({
    ...common,
    ref: ref.optional(),
    connected: z.literal(true).exactOptional().describe('send to the CONNECTED agent only (RTE4); instead of ref'),
    action: z.literal('send'),
    text: words,
    enter: flag(true).describe('false: the text is left in the prompt'),
    when_ready: flag(false).describe('queue the message until the agent can take it'),
    at_reset: z
      .literal(true)
      .exactOptional()
      .describe('queue the message until the usage limit of the agent has reset'),
    strip_control: flag(false),
    files: z
      .array(fileReference)
      .max(limits.filterValuesMax)
      .exactOptional()
      .describe("named in front of the text, in the agent's own syntax"),
  })
  .refine(({ ref: said, connected }) => (said === undefined) === (connected === true), 'give either ref or connected');

export const actSchema = z.discriminatedUnion('action', [
  sendSchema,
  z.strictObject({ ...common, ...ask, action: z.literal('approve') }),
  z.strictObject({ ...common, ...ask, action: z.literal('reject'), because: words.exactOptional() }),
  z.strictObject({
    ...common,
    ...ask,
    action: z.literal('answer'),
    option: id.exactOptional(),
    text: words.exactOptional(),
  }),
  z.strictObject({ ...common, action: z.literal('interrupt') }),
  z.strictObject({ ...common, action: z.literal('kill'), signal: z.enum(['INT', 'TERM', 'KILL']).default('INT') }),
  z.strictObject({ ...common, action: z.literal('resume') }),
  z.strictObject({ ...common, action: z.literal('seen') }),
  z.strictObject({ ...common, action: z.literal('activate') }),
  z.strictObject({ ...common, action: z.literal('name'), nick: id.nullable().describe('null: remove it') }),
]);

export const attachSchema = z.strictObject(common);

export const newAgentSchema = z.strictObject({
  agent: id,
  target: id.transform(targetId).nullable().default(null),
  session: id.nullable().default(null),
  cwd: path.nullable().default(null),
  args: z.array(z.string().max(limits.pathCharsMax)).max(limits.filterValuesMax).default([]),
  beside: z
    .strictObject({ runtime: id, layout: z.enum(tmuxLayouts) })
    .exactOptional()
    .describe('in a pane beside this agent, in a window of this layout; without it in a window of its own'),
});

export const queueEditSchema = z.strictObject({ text: words });

export const outputQuerySchema = z.strictObject({
  ref,
  lines: line.max(limits.captureLinesMax).optional(),
  screen: z.boolean().optional().describe('its screen, also where that keeps no history'),
  colours: z.boolean().optional().describe('with the escape sequences of its colours, as the program wrote them'),
});
export const auditQuerySchema = z.strictObject({ count: z.int().positive().max(limits.auditRowsMax).optional() });

const outcome = z
  .enum(outcomes)
  .describe('delivered: its arrival was seen; unconfirmed: sent, arrival not seen; queued; refused: nothing done');

export const receiptSchema = z.strictObject({
  ...head,
  outcome,
  action: z.enum(actionKinds),
  ref: z.string().nullable(),
  who: z
    .string()
    .nullable()
    .describe('the agent in the words of lists, its name and where it is; null when it is listed nowhere'),
  runtime_id: z.string().nullable(),
  snapshot_id: z.string().nullable(),
  way: z.string().nullable().describe("keys, or the name of the agent's own channel"),
  strength: z
    .enum(['atomic', 'checked'])
    .nullable()
    .describe(
      'of what was typed: checked and typed in one step, or compared right before; null where nothing was typed',
    ),
  failure: z
    .strictObject({ code: z.enum(errorCodes), message: z.string(), next: z.string() })
    .nullable()
    .describe('why it was refused'),
  words: z.string().nullable(),
});

export const attachPlanSchema = z.strictObject({
  ...head,
  ref: z.string(),
  target: z.string(),
  kind: z.enum(['local', 'ssh']),
  connection_ref: z.string().describe("an alias of the user's own ssh configuration"),
  socket_path: z.string(),
  session_id: z.string(),
  window_id: z.string(),
  pane_id: z.string(),
  terminal: z
    .strictObject({ name: z.string(), command: z.array(z.string()).nullable() })
    .nullable()
    .describe('of an agent without a pane: its terminal, which is in front now, or the command that shows it'),
});

export const viewedOutputSchema = z.strictObject({
  ...head,
  ref: z.string(),
  from: z
    .enum(['screen', 'transcript'])
    .describe("screen: what tmux keeps; transcript: the agent's own, where its screen keeps no history"),
  words: z.string().optional().describe('a note on the source'),
  lines: z.array(z.string()),
});

export const queuedItemSchema = z.strictObject({
  id: z.string(),
  ref: z.string(),
  who: z.string().nullable().describe('as in a receipt'),
  runtime_id: z.string(),
  text: z.string(),
  from: z.string(),
  queued_at: time,
  expires_at: time,
  not_before: time.nullable().describe('when the usage limit it waits for has reset; null for all others'),
  outcome,
});
export const queueListSchema = z.strictObject({ ...head, items: z.array(queuedItemSchema) });

export const auditItemSchema = z.strictObject({
  at: time,
  actor: z.string(),
  action: z.string(),
  runtime_id: z.string().nullable(),
  snapshot_id: z.string().nullable(),
  result: z.string(),
  detail: z.record(z.string(), z.unknown()),
});
export const auditListSchema = z.strictObject({ ...head, items: z.array(auditItemSchema).describe('newest first') });

export const actionDocuments = {
  Act: actSchema,
  Attach: attachSchema,
  NewAgent: newAgentSchema,
  QueueEdit: queueEditSchema,
  Receipt: receiptSchema,
  AttachPlan: attachPlanSchema,
  ViewedOutput: viewedOutputSchema,
  QueuedItem: queuedItemSchema,
  QueueList: queueListSchema,
  AuditItem: auditItemSchema,
  AuditList: auditListSchema,
} as const;

export const actionRoutes = {
  act: {
    method: 'post',
    path: '/v1/act',
    summary: 'Act on an agent, or refuse; returns a receipt and 200 in both cases, and writes an audit row',
    query: noQuerySchema,
    body: { words: 'the action, the agent and the conditions', document: 'Act' },
    reply: 'Receipt',
  },
  attach: {
    method: 'post',
    path: '/v1/attach',
    summary: 'Get the command that opens the pane of an agent; the client runs it',
    query: noQuerySchema,
    body: { words: 'the agent and the conditions', document: 'Attach' },
    reply: 'AttachPlan',
  },
  output: {
    method: 'get',
    path: '/v1/output',
    summary: 'Get the last output of an agent',
    query: outputQuerySchema,
    reply: 'ViewedOutput',
  },
  startAgent: {
    method: 'post',
    path: '/v1/runtimes',
    summary: 'Start an agent in a new tmux window; returns a receipt, also for a refusal',
    query: noQuerySchema,
    body: { words: 'the agent, its place and arguments', document: 'NewAgent' },
    reply: 'Receipt',
  },
  queue: {
    method: 'get',
    path: '/v1/queue',
    summary: 'List queued messages',
    query: noQuerySchema,
    reply: 'QueueList',
  },
  editQueued: {
    method: 'post',
    path: '/v1/queue/{id}',
    summary: 'Replace the text of a queued message; returns a receipt, also for a refusal',
    query: noQuerySchema,
    body: { words: 'the text', document: 'QueueEdit' },
    reply: 'Receipt',
  },
  dropQueued: {
    method: 'delete',
    path: '/v1/queue/{id}',
    summary: 'Remove a queued message; returns a receipt, also for a refusal',
    query: noQuerySchema,
    reply: 'Receipt',
  },
  audit: {
    method: 'get',
    path: '/v1/audit',
    summary: 'List who did what to which agent, on which evidence, with what result',
    query: auditQuerySchema,
    reply: 'AuditList',
  },
} as const;

export type ActBody = z.input<typeof actSchema>;
export type NewAgentBody = z.input<typeof newAgentSchema>;
export type ReceiptReply = z.infer<typeof receiptSchema>;
export type AttachPlanReply = z.infer<typeof attachPlanSchema>;
export type ViewedOutputReply = z.infer<typeof viewedOutputSchema>;
export type QueueList = z.infer<typeof queueListSchema>;
export type AuditItem = z.infer<typeof auditItemSchema>;
