// The routes as data: what each takes and gives. The server must have a handler for every name in this table, and the
// printed OpenAPI is made from it, so that neither can tell of a route the other does not know.

import type { z } from 'zod';
import { mcpDocuments, mcpRoutes } from './routes-mcp.ts';
import { noticeDocuments, noticeRoutes } from './routes-notices.ts';
import { sessionRoutes } from './routes-sessions.ts';
import { shellDocuments, shellRoutes } from './routes-shells.ts';
import { webDocuments, webRoutes } from './routes-web.ts';
import * as schemas from './schemas.ts';
import * as act from './schemas-act.ts';
import * as explain from './schemas-explain.ts';
import * as hookSchemas from './schemas-hooks.ts';
import * as sessions from './schemas-sessions.ts';
import { timelineQuerySchema, timelineSchema } from './schemas-timeline.ts';

/** Documents that stand under their own name in the printed schemas. */
export const documents = {
  PaneItem: schemas.paneItemSchema,
  TargetItem: schemas.targetItemSchema,
  WindowItem: schemas.windowItemSchema,
  SessionItem: schemas.sessionItemSchema,
  PaneList: schemas.paneListSchema,
  WindowList: schemas.windowListSchema,
  SessionList: schemas.sessionListSchema,
  TargetList: schemas.targetListSchema,
  TargetReply: schemas.targetReplySchema,
  Status: schemas.statusSchema,
  Verdicts: schemas.verdictsSchema,
  Done: schemas.doneSchema,
  Error: schemas.errorSchema,
  Explanation: explain.explanationSchema,
  Timeline: timelineSchema,
  AgentItem: explain.agentItemSchema,
  AgentList: explain.agentListSchema,
  AgentChange: explain.agentChangeSchema,
  NewTarget: schemas.newTargetSchema,
  HookStatus: hookSchemas.hookStatusSchema,
  HookPlan: hookSchemas.hookPlanSchema,
  HookOutcome: hookSchemas.hookOutcomeSchema,
  NewHookPlan: hookSchemas.newHookPlanSchema,
  NewHookApply: hookSchemas.newHookApplySchema,
  Claim: act.claimSchema,
  Act: act.actSchema,
  Attach: act.attachSchema,
  NewAgent: act.newAgentSchema,
  QueueEdit: act.queueEditSchema,
  Receipt: act.receiptSchema,
  AttachPlan: act.attachPlanSchema,
  ViewedOutput: act.viewedOutputSchema,
  QueuedItem: act.queuedItemSchema,
  QueueList: act.queueListSchema,
  AuditItem: act.auditItemSchema,
  AuditList: act.auditListSchema,
  ...mcpDocuments,
  ...shellDocuments,
  ...noticeDocuments,
  ...webDocuments,
  NewSession: sessions.newSessionSchema,
  SessionDeed: sessions.sessionDeedSchema,
  ManagedItem: sessions.managedItemSchema,
  ManagedList: sessions.managedListSchema,
  ManagedReply: sessions.managedReplySchema,
  SessionMessage: sessions.sessionMessageSchema,
  MessagePage: sessions.messagePageSchema,
  FeedSnapshot: schemas.feedSnapshotSchema,
  FeedChanges: schemas.feedChangesSchema,
  FeedList: schemas.feedListSchema,
  FeedCut: schemas.feedCutSchema,
} as const;

export type DocumentName = keyof typeof documents;

export interface Route {
  readonly method: 'get' | 'post' | 'delete';
  /** As OpenAPI writes it: `/v1/targets/{name}`. */
  readonly path: `/v1/${string}`;
  readonly summary: string;
  readonly query: z.ZodObject;
  /** `text/plain` is there for whoever asks for it, by Accept or by `format=text`. */
  readonly hasText?: boolean;
  readonly body?: { readonly words: string; readonly document: DocumentName | null };
  /** Null: something that has no document of its own. */
  readonly reply: DocumentName | null;
  readonly status?: 200 | 201 | 202;
}

export const routes = {
  panes: {
    method: 'get',
    path: '/v1/panes',
    summary: 'Agents by pane; other panes on request',
    query: schemas.panesQuerySchema,
    hasText: true,
    reply: 'PaneList',
  },
  windows: {
    method: 'get',
    path: '/v1/windows',
    summary: 'Windows with their top state and counts',
    query: schemas.windowsQuerySchema,
    hasText: true,
    reply: 'WindowList',
  },
  sessions: {
    method: 'get',
    path: '/v1/sessions',
    summary: 'Sessions with their top state and counts',
    query: schemas.sessionsQuerySchema,
    hasText: true,
    reply: 'SessionList',
  },
  targets: {
    method: 'get',
    path: '/v1/targets',
    summary: 'Machines and tmux sockets, and how they are',
    query: schemas.targetsQuerySchema,
    hasText: true,
    reply: 'TargetList',
  },
  addTarget: {
    method: 'post',
    path: '/v1/targets',
    summary: 'Adds a target',
    query: schemas.noQuerySchema,
    body: { words: 'the target', document: 'NewTarget' },
    reply: 'TargetReply',
    status: 201,
  },
  connectTarget: {
    method: 'post',
    path: '/v1/targets/{name}/connect',
    summary: 'Connects to a target now instead of at the next try',
    query: schemas.noQuerySchema,
    body: { words: 'who asks', document: 'Claim' },
    reply: 'TargetReply',
  },
  removeTarget: {
    method: 'delete',
    path: '/v1/targets/{name}',
    summary: 'Forgets a target; nothing happens on its machine',
    query: act.claimQuerySchema,
    reply: 'Done',
  },
  explain: {
    method: 'get',
    path: '/v1/explain',
    summary: 'Why a state is what it is: evidence, rules tried, last events with their verdicts',
    query: explain.explainQuerySchema,
    hasText: true,
    reply: 'Explanation',
  },
  timeline: {
    method: 'get',
    path: '/v1/timeline',
    summary: 'States over time, one lane an agent, with the time that was spent waiting for a person',
    query: timelineQuerySchema,
    hasText: true,
    reply: 'Timeline',
  },
  agents: {
    method: 'get',
    path: '/v1/agents',
    summary: 'The adapters: what they can tell and how they are',
    query: explain.agentsQuerySchema,
    hasText: true,
    reply: 'AgentList',
  },
  changeAgent: {
    method: 'post',
    path: '/v1/agents/{name}',
    summary: 'Switches an adapter on or off',
    query: schemas.noQuerySchema,
    body: { words: 'on or off', document: 'AgentChange' },
    reply: 'AgentList',
  },
  hooks: {
    method: 'get',
    path: '/v1/hooks',
    summary: 'Which agents have our hooks on a machine, and whether their files can be read',
    query: hookSchemas.hooksQuerySchema,
    reply: 'HookStatus',
  },
  planHooks: {
    method: 'post',
    path: '/v1/hooks/plan',
    summary: 'What would be written to put hooks in or take them out; changes nothing',
    query: schemas.noQuerySchema,
    body: { words: 'what is wanted', document: 'NewHookPlan' },
    reply: 'HookPlan',
  },
  applyHooks: {
    method: 'post',
    path: '/v1/hooks/apply',
    summary: 'Writes what a plan said, if it is still the same',
    query: schemas.noQuerySchema,
    body: { words: 'what is wanted, and the digest of its plan', document: 'NewHookApply' },
    reply: 'HookOutcome',
  },
  act: {
    method: 'post',
    path: '/v1/act',
    summary:
      'Does something to an agent, or refuses; answers with a receipt and 200 in both cases, and leaves an audit row',
    query: schemas.noQuerySchema,
    body: { words: 'what is to be done, to whom, and under which conditions', document: 'Act' },
    reply: 'Receipt',
  },
  attach: {
    method: 'post',
    path: '/v1/attach',
    summary: 'How a person gets to the pane of an agent; the client carries it out',
    query: schemas.noQuerySchema,
    body: { words: 'to whom, and under which conditions', document: 'Attach' },
    reply: 'AttachPlan',
  },
  output: {
    method: 'get',
    path: '/v1/output',
    summary: 'The last lines of what an agent has printed',
    query: act.outputQuerySchema,
    reply: 'ViewedOutput',
  },
  startAgent: {
    method: 'post',
    path: '/v1/runtimes',
    summary: 'Starts an agent in a new tmux window; answers with a receipt, also for a refusal',
    query: schemas.noQuerySchema,
    body: { words: 'which agent, where, with which arguments', document: 'NewAgent' },
    reply: 'Receipt',
  },
  queue: {
    method: 'get',
    path: '/v1/queue',
    summary: 'Messages that wait until their agent can take them',
    query: schemas.noQuerySchema,
    reply: 'QueueList',
  },
  editQueued: {
    method: 'post',
    path: '/v1/queue/{id}',
    summary: 'Gives a waiting message another text; answers with a receipt, also for a refusal',
    query: schemas.noQuerySchema,
    body: { words: 'the text', document: 'QueueEdit' },
    reply: 'Receipt',
  },
  dropQueued: {
    method: 'delete',
    path: '/v1/queue/{id}',
    summary: 'Takes a waiting message out; answers with a receipt, also for a refusal',
    query: act.claimQuerySchema,
    reply: 'Receipt',
  },
  audit: {
    method: 'get',
    path: '/v1/audit',
    summary: 'Who did what to whom, on which evidence, with what result',
    query: act.auditQuerySchema,
    reply: 'AuditList',
  },
  ...mcpRoutes,
  ...shellRoutes,
  ...sessionRoutes,
  ...noticeRoutes,
  ...webRoutes,
  status: {
    method: 'get',
    path: '/v1/status',
    summary: 'The daemon itself',
    query: schemas.noQuerySchema,
    reply: 'Status',
  },
  events: {
    method: 'post',
    path: '/v1/events',
    summary: 'Hands in what the agent above this process says; answers after it is on disk, with a verdict for each',
    query: act.claimQuerySchema,
    body: { words: 'a JSON array of event envelopes, or JSON lines (application/x-ndjson)', document: null },
    reply: 'Verdicts',
  },
  feed: {
    method: 'get',
    path: '/v1/feed',
    summary: 'Server-sent events: snapshot (FeedSnapshot), changes (FeedChanges), list (FeedList), cut (FeedCut)',
    query: schemas.feedQuerySchema,
    reply: null,
  },
  stop: {
    method: 'post',
    path: '/v1/stop',
    summary: 'Ends the daemon in good order',
    query: schemas.noQuerySchema,
    reply: 'Done',
    status: 202,
  },
  openapi: {
    method: 'get',
    path: '/v1/openapi.json',
    summary: 'This description',
    query: schemas.noQuerySchema,
    reply: null,
  },
  schema: {
    method: 'get',
    path: '/v1/schema.json',
    summary: 'The documents as JSON Schema',
    query: schemas.noQuerySchema,
    reply: null,
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;
