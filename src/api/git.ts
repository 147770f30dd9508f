// Git: what a row says of the folder its agent works in, and the route for what has changed there since the turn began.

import { diffBases, fileChanges } from '../model/git.ts';
import { count, head, textQuery, time } from './common.ts';
import { z } from './zod.ts';

export const gitFactsSchema = z.strictObject({
  root: z.string().describe('top folder of the work tree'),
  repository: z.string().describe('folder name of the main work tree'),
  branch: z.string().nullable().describe('null where no branch is checked out'),
  head: z.string().nullable().describe('the commit, shortened; null before the first one'),
  dirty: count.describe('files that differ from the commit, new ones included'),
  ahead: count.nullable().describe('commits that the upstream branch lacks; null without one'),
  behind: count.nullable(),
  worktree: z.boolean().describe('a linked work tree'),
});

const changedFile = z.strictObject({
  path: z.string(),
  old_path: z.string().nullable(),
  change: z.enum(fileChanges),
  added: count.nullable().describe('lines; null for what is not text'),
  removed: count.nullable(),
});

export const agentDiffSchema = z.strictObject({
  ...head,
  ref: z.string(),
  runtime_id: z.string(),
  agent: z.string(),
  git: gitFactsSchema,
  base: z.strictObject({
    kind: z
      .enum(diffBases)
      .describe('as it was when the turn began, when the agent was first seen at work, or at the last commit'),
    head: z.string().nullable(),
    at: time.nullable(),
  }),
  files: z.array(changedFile),
  files_total: count,
  left_out: count.describe('files that were not compared: too large, or too many'),
  patch: z.string().describe('unified; text of others, as git writes it'),
  is_cut: z.boolean().describe('the patch goes on'),
});

export const gitDocuments = { AgentDiff: agentDiffSchema } as const;

export const gitRoutes = {
  agentDiff: {
    method: 'get',
    path: '/v1/agents/{ref}/diff',
    summary: "Get what has changed in an agent's work tree since its turn began, as files and as a unified diff",
    query: z.strictObject(textQuery),
    hasText: true,
    reply: 'AgentDiff',
  },
} as const;

export type AgentDiffReply = z.infer<typeof agentDiffSchema>;
