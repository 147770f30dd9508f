// Managed sessions: what is wished for, what there is, and what was said in them. What is not
// allowed or not possible is an error with its code; every deed is in the audit either way.

import { askKinds } from '../model/asks.ts';
import { limits } from '../model/limits.ts';
import { machineStates, messageRoles } from '../model/sessions.ts';
import { count, head, noQuerySchema, time } from './common.ts';
import { z } from './zod.ts';

const id = z.string().min(1).max(limits.idCharsMax);
const path = z.string().startsWith('/').max(limits.pathCharsMax);
const words = z.string().max(limits.requestBytesMax);

export const newSessionSchema = z.strictObject({
  agent: id,
  prompt: words,
  cwd: path.describe('absolute'),
  model: id.nullable().default(null),
  auto_approve: z.boolean().default(false).describe('approve every request automatically; shown everywhere'),
  worktree: z.string().max(limits.idCharsMax).nullable().default(null).describe('a branch; empty: generated'),
  title: id.nullable().default(null),
  env: z.record(z.string(), z.string()).describe("the agent's whole environment"),
  driver: id.nullable().default(null).describe('null: the best for the agent'),
  resume: id.nullable().default(null).describe('a conversation of the agent to continue or join'),
});

const ask = { ask_id: id.exactOptional().describe('the id in pending_ask (default: the pending request)') };

/** One body for each deed, by its name in the path. */
export const sessionCommandSchemas = {
  send: z.strictObject({ text: words.min(1) }),
  approve: z.strictObject({ ...ask }),
  reject: z.strictObject({ ...ask, because: words.exactOptional() }),
  answer: z.strictObject({ ...ask, option: id.exactOptional(), text: words.exactOptional() }),
  stop: z.strictObject({}),
  resume: z.strictObject({ text: words.exactOptional() }),
  retry: z.strictObject({}),
  remove: z.strictObject({ force: z.boolean().default(false) }),
} as const;

/** What any of them may hold, for the printed description. */
export const sessionCommandSchema = z.union(Object.values(sessionCommandSchemas));

export const sessionPageQuerySchema = z.strictObject({
  after: count.optional().describe('the cursor of the page before'),
  count: z.int().positive().max(limits.sessionPageMax).optional(),
});
export const sessionFollowQuerySchema = z.strictObject({ after: count.optional() });

const pendingAsk = z.strictObject({
  ask_id: z.string(),
  kind: z.enum(askKinds),
  scope: z.string(),
  text: z.string(),
  options: z.array(z.strictObject({ id: z.string(), label: z.string() })),
  accepts: z.array(z.enum(['approve', 'reject', 'option', 'text', 'retry'])),
});

export const sessionViewSchema = z.strictObject({
  showSpinner: z.boolean(),
  showCancelButton: z.boolean(),
  showResumeButton: z.boolean(),
  showAutoModeWarning: z.boolean(),
  inputEnabled: z.boolean(),
  isActive: z.boolean(),
  showRetryButton: z.boolean(),
  showDismissButton: z.boolean(),
});

export const managedItemSchema = z.strictObject({
  id: z.string(),
  ref: z.string().describe('session:<id>, for every command that takes an agent'),
  runtime_id: z.string(),
  agent: z.string(),
  driver: z.string(),
  title: z.string(),
  cwd: z.string(),
  model: z.string().nullable(),
  auto_approve: z.boolean(),
  worktree: z.strictObject({ path: z.string(), branch: z.string(), repository: z.string() }).nullable(),
  created_at: time,
  updated_at: time,
  state: z.enum(machineStates),
  state_version: count,
  reason: z.string().nullable(),
  words: z.string().nullable().describe('why, for people'),
  confidence: z.enum(['high', 'low']),
  pending_ask: pendingAsk.nullable().describe('to be answered in the waiting states; beside paused it is only shown'),
  agent_session: z.string().nullable().describe("the agent's own id of the conversation"),
  is_resumable: z.boolean(),
  pid: z.int().nullable(),
  asleep_since: time.nullable().describe('its process was stopped while idle; the next message starts it again'),
  turns: count,
  tokens: z.strictObject({ input: z.number(), output: z.number() }).nullable(),
  view: sessionViewSchema,
  last_words: z.string().nullable(),
  queued: count.describe('queued messages'),
});

export const managedListSchema = z.strictObject({
  ...head,
  items: z.array(managedItemSchema).describe('newest first'),
});
export const managedReplySchema = z.strictObject({ ...head, session: managedItemSchema });

export const sessionMessageSchema = z.strictObject({
  id: z.string().describe('a message with the same id replaces the earlier one'),
  role: z.enum(messageRoles),
  at: time,
  text: z.string(),
  partial: z.boolean().describe('it still grows'),
  tool: z.strictObject({ name: z.string(), status: z.enum(['pending', 'running', 'done', 'failed']) }).optional(),
});

export const messagePageSchema = z.strictObject({
  ...head,
  id: z.string(),
  messages: z.array(sessionMessageSchema),
  cursor: count.describe('where to continue'),
  truncated: z.boolean().describe('older ones were dropped'),
});

export const sessionDocuments = {
  NewSession: newSessionSchema,
  SessionCommand: sessionCommandSchema,
  SessionSend: sessionCommandSchemas.send,
  SessionApprove: sessionCommandSchemas.approve,
  SessionReject: sessionCommandSchemas.reject,
  SessionAnswer: sessionCommandSchemas.answer,
  SessionStop: sessionCommandSchemas.stop,
  SessionResume: sessionCommandSchemas.resume,
  SessionRetry: sessionCommandSchemas.retry,
  SessionRemove: sessionCommandSchemas.remove,
  ManagedItem: managedItemSchema,
  ManagedList: managedListSchema,
  ManagedReply: managedReplySchema,
  SessionMessage: sessionMessageSchema,
  MessagePage: messagePageSchema,
} as const;

const command = { method: 'post', query: noQuerySchema, reply: 'ManagedReply' } as const;

export const sessionRoutes = {
  managed: {
    method: 'get',
    path: '/v1/managed',
    summary: 'List managed sessions, newest first',
    query: noQuerySchema,
    reply: 'ManagedList',
  },
  startManaged: {
    method: 'post',
    path: '/v1/managed',
    summary: 'Start a session with its first prompt',
    query: noQuerySchema,
    body: { words: 'the agent, the directory and the prompt', document: 'NewSession' },
    reply: 'ManagedReply',
    status: 201,
  },
  managedOne: {
    method: 'get',
    path: '/v1/managed/{id}',
    summary: 'Get one session, by its id or any of its references',
    query: noQuerySchema,
    reply: 'ManagedReply',
  },
  managedMessages: {
    method: 'get',
    path: '/v1/managed/{id}/messages',
    summary: 'Get the messages of a session, one page at a time',
    query: sessionPageQuerySchema,
    reply: 'MessagePage',
  },
  followManaged: {
    method: 'get',
    path: '/v1/managed/{id}/follow',
    summary:
      'Follow a session as server-sent events: messages (MessagePage) as they arrive, session (ManagedReply) with every change, gone',
    query: sessionFollowQuerySchema,
    reply: null,
  },
  sendManaged: {
    ...command,
    path: '/v1/managed/{id}/send',
    summary: 'Send a message to a session',
    body: { words: 'the input', document: 'SessionSend' },
  },
  approveManaged: {
    ...command,
    path: '/v1/managed/{id}/approve',
    summary: 'Approve the pending request of a session',
    body: { words: 'the input', document: 'SessionApprove' },
  },
  rejectManaged: {
    ...command,
    path: '/v1/managed/{id}/reject',
    summary: 'Reject the pending request of a session',
    body: { words: 'the input', document: 'SessionReject' },
  },
  answerManaged: {
    ...command,
    path: '/v1/managed/{id}/answer',
    summary: 'Answer the pending question of a session',
    body: { words: 'the input', document: 'SessionAnswer' },
  },
  stopManaged: {
    ...command,
    path: '/v1/managed/{id}/stop',
    summary: 'Stop the current turn of a session',
    body: { words: 'the input', document: 'SessionStop' },
  },
  resumeManaged: {
    ...command,
    path: '/v1/managed/{id}/resume',
    summary: 'Resume a session',
    body: { words: 'the input', document: 'SessionResume' },
  },
  retryManaged: {
    ...command,
    path: '/v1/managed/{id}/retry',
    summary: 'Try the last step of a session again',
    body: { words: 'the input', document: 'SessionRetry' },
  },
  removeManaged: {
    ...command,
    path: '/v1/managed/{id}/remove',
    summary: 'Remove a session',
    body: { words: 'the input', document: 'SessionRemove' },
  },
} as const;

export type ManagedItem = z.infer<typeof managedItemSchema>;
export type ManagedList = z.infer<typeof managedListSchema>;
export type ManagedReply = z.infer<typeof managedReplySchema>;
export type MessageItem = z.infer<typeof sessionMessageSchema>;
export type MessagePageReply = z.infer<typeof messagePageSchema>;
export type NewSessionBody = z.input<typeof newSessionSchema>;
