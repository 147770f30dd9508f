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
  ref: z.string().optional().describe('only this one, whatever became of it'),
  completed: z.boolean().optional().describe('also those that ended with status 0'),
  failed: z.boolean().optional().describe('also those that failed, were killed or lost'),
  owner: z.enum(['mine', 'all']).optional().describe('mine: only those of the agent that asks'),
  ...shells.shellClaimQuery,
  ...textQuery,
});

const control = {
  method: 'post',
  query: noQuerySchema,
  body: { words: 'who asks', document: 'ShellClaim' },
  reply: 'ShellReceipt',
} as const;

export const shellRoutes = {
  shells: {
    method: 'get',
    path: '/v1/shells',
    summary: 'Background shells of all agents: those that run, the others on request',
    query: shellsQuerySchema,
    hasText: true,
    reply: 'ShellList',
  },
  runShell: {
    method: 'post',
    path: '/v1/shells',
    summary:
      'Runs a command for an agent; answers when it has ended or went to the background. A client that leaves before ends it',
    query: noQuerySchema,
    body: { words: 'the command, where, how, and who asks', document: 'NewShell' },
    reply: 'ShellReceipt',
  },
  shellNotices: {
    method: 'post',
    path: '/v1/shells/notices',
    summary: 'What an agent was not told yet about its shells; told once',
    query: noQuerySchema,
    body: { words: 'who asks', document: 'ShellClaim' },
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
    summary: 'Ends it: TERM to all its processes, KILL after 5 s; answers with 200 also for a refusal',
  },
  backgroundShell: {
    ...control,
    path: '/v1/shells/{ref}/background',
    summary: 'Nobody waits for it any longer; answers with 200 also for a refusal',
  },
  resumeShell: {
    ...control,
    path: '/v1/shells/{ref}/resume',
    summary: 'Continues a stopped one, runs a finished one again; answers with 200 also for a refusal',
  },
  seenShell: {
    ...control,
    path: '/v1/shells/{ref}/seen',
    summary: 'A person has looked at how it ended; answers with 200 also for a refusal',
  },
} as const;
