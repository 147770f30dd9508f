// The routes of background shells, for the table in routes.ts. Data only.

import { noQuerySchema, textQuery } from './schemas.ts';
import * as shells from './schemas-shells.ts';
import { z } from './zod.ts';

export const shellDocuments = {
  ShellItem: shells.shellItemSchema,
  ShellList: shells.shellListSchema,
  ShellPage: shells.shellPageSchema,
  ShellReceipt: shells.shellReceiptSchema,
  ShellNotices: shells.shellNoticesSchema,
  ShellEvent: shells.shellEventSchema,
  ShellClaim: shells.shellClaimSchema,
  NewShell: shells.newShellSchema,
} as const;

const shellsQuerySchema = z.strictObject({
  ref: z.string().optional().describe('only this shell, in any state'),
  completed: z.boolean().optional().describe('include shells that ended with status 0'),
  failed: z.boolean().optional().describe('include shells that failed, were killed or were lost'),
  owner: z.enum(['mine', 'all']).optional().describe('mine: only shells of the calling agent'),
  ...shells.shellClaimQuery,
  ...textQuery,
});

const control = {
  method: 'post',
  query: noQuerySchema,
  body: { words: 'the caller', document: 'ShellClaim' },
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
    body: { words: 'the command, its directory and options, and the caller', document: 'NewShell' },
    reply: 'ShellReceipt',
  },
  shellNotices: {
    method: 'post',
    path: '/v1/shells/notices',
    summary: 'Get what an agent was not told yet about its shells; reported once',
    query: noQuerySchema,
    body: { words: 'the caller', document: 'ShellClaim' },
    reply: 'ShellNotices',
  },
  shellLog: {
    method: 'get',
    path: '/v1/shells/{ref}/log',
    summary: 'A page of what it printed: its end, or on from a cursor',
    query: shells.shellLogQuerySchema,
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
