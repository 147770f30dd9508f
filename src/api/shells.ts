// Background shells: what is run, what became of it, what it printed, and what an agent has to be told.
// A refusal is an answer too and comes with 200; only what is no request at all gets an error.

import { errorCodes } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import {
  shellEndReasons,
  shellEventKinds,
  shellLogModes,
  shellModes,
  shellNoticeKinds,
  shellParties,
  shellResults,
  shellStatuses,
  shellVias,
} from '../model/shells.ts';
import { count, head, noQuerySchema, textQuery, time } from './common.ts';
import { z } from './zod.ts';

const party = z.enum(shellParties);
const mode = z.enum(shellModes);
/** The system takes no text with a NUL in it. */
const noNul = /^[^\0]*$/;
const word = z.string().max(limits.idCharsMax);

/** What a client says of itself. Only words: the daemon looks at the calling process itself (ACT6). */
const claim = {
  client: word.nullable().default(null).describe('what the client calls itself'),
  thread: word.nullable().default(null).describe("the client's own thread or session"),
  take_notices: z.boolean().default(false).describe('include in the reply what this agent was not told yet'),
};

/** The same where there is no body. */
const shellClaimQuery = {
  client: word.optional(),
  thread: word.optional(),
  take_notices: z.boolean().optional(),
};

export const shellClaimSchema = z.strictObject({
  ...claim,
  via: z.enum(shellVias).nullable().default(null).describe('the interface that a person used'),
});

const seconds = z.number().positive().max(limits.shellTimeoutSecondsMax).nullable().default(null);

export const newShellSchema = z.strictObject({
  // Counted in characters here, and in bytes where it is run.
  command: z.string().min(1).max(limits.shellCommandBytesMax).regex(noNul, 'has no NUL'),
  cwd: z
    .string()
    .max(limits.pathCharsMax)
    .regex(/^\/[^\0]*$/, 'is an absolute path'),
  label: word.nullable().default(null),
  run_in_background: z.boolean().default(false),
  expected_duration_s: seconds,
  timeout_s: seconds.describe('it is killed then'),
  tty: z.boolean().default(false),
  env: z
    .record(z.string().regex(/^[^=\0]+$/, 'is a name'), z.string().regex(noNul, 'has no NUL'))
    .default({})
    .describe('the environment of the command; kept private, for running it again'),
  budget_ms: z
    .int()
    .positive()
    .max(limits.shellBudgetMs)
    .nullable()
    .default(null)
    .describe('how long the caller waits before the command goes to the background'),
  call_id: word.default(''),
  ...claim,
});

const owner = z.strictObject({
  key: z.string(),
  runtime_id: z.string().nullable(),
  client: z.string().nullable(),
  thread: z.string().nullable(),
});

export const shellItemSchema = z.strictObject({
  shell_id: z.templateLiteral(['shell-', z.int()]),
  attempt: z.int().positive(),
  call_id: z.string(),
  command: z.string(),
  cwd: z.string(),
  label: z.string().nullable(),
  owner,
  started_by: party,
  status: z.enum(shellStatuses),
  requested_mode: mode,
  start_mode: mode.describe('the mode it is in now'),
  promoted_by: party.nullable(),
  budget_ms: count,
  expected_ms: count.nullable(),
  timeout_ms: count.nullable(),
  tty: z.boolean(),
  is_stopped: z.boolean().describe('by a signal: it can be continued'),
  started_at: time,
  ended_at: time.nullable(),
  process: z.strictObject({ boot: z.string(), pid: z.int(), start: z.string() }).nullable(),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  is_signal_inferred: z.boolean(),
  ended_by: party.nullable(),
  end_reason: z.enum(shellEndReasons).nullable(),
  kill_requested_by: party.nullable(),
  words: z.string().nullable(),
  log: z.strictObject({ bytes: count, first_offset: count, is_capped: z.boolean() }),
  seen: z.boolean(),
  last_log: z.array(z.string()),
});

const notice = z.strictObject({
  shell_id: z.string(),
  attempt: z.int(),
  kind: z.enum(shellNoticeKinds),
  by: party,
  at: time,
  words: z.string(),
});

const notices = { notices: z.array(notice).describe('what this agent was not told yet; reported once') };

export const shellListSchema = z.strictObject({
  ...head,
  filters: z.strictObject({
    ref: z.string().nullable(),
    completed: z.boolean(),
    failed: z.boolean(),
    owner: z.enum(['mine', 'all']),
  }),
  summary: z.strictObject({ running: count, completed: count, failed: count }).describe('before the filters'),
  items: z.array(shellItemSchema),
  ...notices,
});

const page = {
  shell_id: z.string(),
  attempt: z.int(),
  lines: z.array(z.string()),
  cursor: z.string().describe('attempt:offset, where to continue'),
  has_more: z.boolean(),
  truncated: z.boolean(),
  partial_line: z.boolean(),
  has_split_line: z.boolean(),
  is_capped: z.boolean(),
  diagnosis: z.string().nullable(),
};

export const shellPageSchema = z.strictObject({ ...head, ...page, ...notices });

export const shellReceiptSchema = z.strictObject({
  ...head,
  result: z.enum(shellResults),
  reason: z.string(),
  ended_by: party.nullable(),
  shell: shellItemSchema.nullable(),
  page: z.strictObject(page).nullable(),
  failure: z
    .strictObject({ code: z.enum(errorCodes), message: z.string(), next: z.string() })
    .nullable()
    .describe('why it was refused'),
  ...notices,
});

export const shellNoticesSchema = z.strictObject({ ...head, ...notices });

/** On the feed. */
export const shellEventSchema = z.strictObject({
  seq: count,
  at: time,
  kind: z.enum(shellEventKinds).describe('the last three are what people did'),
  call_id: z.string(),
  shell_id: z.string(),
  attempt: z.int(),
  pid: z.int().nullable(),
  start_mode: mode,
  ended_by: party.nullable(),
  exit_code: z.int().nullable(),
});

export const shellLatencySchema = z
  .strictObject({ count, p50_ms: z.number().nullable(), max_ms: z.number().nullable() })
  .describe('time from shell_run to its answer, over the last calls');

export const shellLogQuerySchema = z.strictObject({
  mode: z.enum(shellLogModes).optional(),
  cursor: z.string().max(limits.idCharsMax).optional().describe('attempt:offset'),
  lines: z.int().positive().max(limits.shellPageLinesMax).optional(),
  ...shellClaimQuery,
});

export const shellDocuments = {
  ShellItem: shellItemSchema,
  ShellList: shellListSchema,
  ShellPage: shellPageSchema,
  ShellReceipt: shellReceiptSchema,
  ShellNotices: shellNoticesSchema,
  ShellEvent: shellEventSchema,
  ShellClaim: shellClaimSchema,
  NewShell: newShellSchema,
} as const;

const shellsQuerySchema = z.strictObject({
  ref: z.string().optional().describe('only this shell, in any state'),
  completed: z.boolean().optional().describe('include shells that ended with status 0'),
  failed: z.boolean().optional().describe('include shells that failed, were killed or were lost'),
  owner: z.enum(['mine', 'all']).optional().describe('mine: only shells of the calling agent'),
  ...shellClaimQuery,
  ...textQuery,
});

const control = {
  method: 'post',
  query: noQuerySchema,
  body: { words: 'what the client calls itself', document: 'ShellClaim' },
  reply: 'ShellReceipt',
} as const;

export const shellRoutes = {
  shells: {
    method: 'get',
    path: '/v1/shells',
    summary: 'List background shells of all agents: running ones, others on request',
    query: shellsQuerySchema,
    hasText: true,
    reply: 'ShellList',
  },
  runShell: {
    method: 'post',
    path: '/v1/shells',
    summary:
      'Run a command for an agent; returns when it ended or moved to the background. If the client disconnects earlier, the command is killed',
    query: noQuerySchema,
    body: { words: 'the command, its directory and options', document: 'NewShell' },
    reply: 'ShellReceipt',
    isLocal: true,
  },
  shellNotices: {
    method: 'post',
    path: '/v1/shells/notices',
    summary: 'Get what an agent was not told yet about its shells; reported once',
    query: noQuerySchema,
    body: { words: 'what the client calls itself', document: 'ShellClaim' },
    reply: 'ShellNotices',
    isLocal: true,
  },
  shellLog: {
    method: 'get',
    path: '/v1/shells/{ref}/log',
    summary: 'A page of what it printed: its end, or on from a cursor',
    query: shellLogQuerySchema,
    reply: 'ShellPage',
  },
  killShell: {
    ...control,
    path: '/v1/shells/{ref}/kill',
    summary: 'Kill a shell: TERM to all its processes, KILL after 5 s; returns 200 also for a refusal',
  },
  backgroundShell: {
    ...control,
    path: '/v1/shells/{ref}/background',
    summary: 'Move a shell to the background; returns 200 also for a refusal',
  },
  resumeShell: {
    ...control,
    path: '/v1/shells/{ref}/resume',
    summary: 'Continue a stopped shell or run a finished one again; returns 200 also for a refusal',
  },
  seenShell: {
    ...control,
    path: '/v1/shells/{ref}/seen',
    summary: 'A person has looked at how it ended; answers with 200 also for a refusal',
  },
} as const;

export type NewShellBody = z.input<typeof newShellSchema>;
export type ShellItem = z.infer<typeof shellItemSchema>;
export type ShellNoticeItem = z.infer<typeof notice>;
export type ShellEventItem = z.infer<typeof shellEventSchema>;
export type ShellList = z.infer<typeof shellListSchema>;
export type ShellPageReply = z.infer<typeof shellPageSchema>;
export type ShellReceiptReply = z.infer<typeof shellReceiptSchema>;
