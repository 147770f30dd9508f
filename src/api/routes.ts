// The routes as data: what each takes and gives. The server must have a handler for every name in this table, and the
// printed OpenAPI is made from it, so that neither can tell of a route the other does not know.

import type { z } from 'zod';
import { mcpDocuments, mcpRoutes } from './routes-mcp.ts';
import { noticeDocuments, noticeRoutes } from './routes-notices.ts';
import { restoreDocuments, restoreRoutes } from './routes-restore.ts';
import { sessionRoutes } from './routes-sessions.ts';
import { shellDocuments, shellRoutes } from './routes-shells.ts';
import { usageDocuments, usageRoutes } from './routes-usage.ts';
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
  ...restoreDocuments,
  ...usageDocuments,
  NewSession: sessions.newSessionSchema,
  SessionCommand: sessions.sessionCommandSchema,
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
    summary: 'List agents by pane; other panes on request',
    query: schemas.panesQuerySchema,
    hasText: true,
    reply: 'PaneList',
  },
  windows: {
    method: 'get',
    path: '/v1/windows',
    summary: 'List windows with their most urgent state and counts',
    query: schemas.windowsQuerySchema,
    hasText: true,
    reply: 'WindowList',
  },
  sessions: {
    method: 'get',
    path: '/v1/sessions',
    summary: 'List tmux sessions with their most urgent state and counts',
    query: schemas.sessionsQuerySchema,
    hasText: true,
    reply: 'SessionList',
  },
  targets: {
    method: 'get',
    path: '/v1/targets',
    summary: 'List machines and tmux sockets with their health',
    query: schemas.targetsQuerySchema,
    hasText: true,
    reply: 'TargetList',
  },
  addTarget: {
    method: 'post',
    path: '/v1/targets',
    summary: 'Add a target',
    query: schemas.noQuerySchema,
    body: { words: 'the target', document: 'NewTarget' },
    reply: 'TargetReply',
    status: 201,
  },
  connectTarget: {
    method: 'post',
    path: '/v1/targets/{name}/connect',
    summary: 'Connect to a target now instead of at the next retry',
    query: schemas.noQuerySchema,
    body: { words: 'the caller', document: 'Claim' },
    reply: 'TargetReply',
  },
  removeTarget: {
    method: 'delete',
    path: '/v1/targets/{name}',
    summary: 'Stop watching a target; nothing changes on its machine',
    query: act.claimQuerySchema,
    reply: 'Done',
  },
  explain: {
    method: 'get',
    path: '/v1/explain',
    summary: 'Explain a state: evidence, rules tried, last events with their verdicts',
    query: explain.explainQuerySchema,
    hasText: true,
    reply: 'Explanation',
  },
  timeline: {
    method: 'get',
    path: '/v1/timeline',
    summary: 'Get states over time, one lane per agent, with the time spent waiting for a person',
    query: timelineQuerySchema,
    hasText: true,
    reply: 'Timeline',
  },
  agents: {
    method: 'get',
    path: '/v1/agents',
    summary: 'List adapters with their capabilities and health',
    query: explain.agentsQuerySchema,
    hasText: true,
    reply: 'AgentList',
  },
  changeAgent: {
    method: 'post',
    path: '/v1/agents/{name}',
    summary: 'Enable or disable an adapter',
    query: schemas.noQuerySchema,
    body: { words: 'on or off', document: 'AgentChange' },
    reply: 'AgentList',
  },
  hooks: {
    method: 'get',
    path: '/v1/hooks',
    summary: 'Show which agents of a machine have the hooks of agtmux, and whether their files can be read',
    query: hookSchemas.hooksQuerySchema,
    reply: 'HookStatus',
  },
  planHooks: {
    method: 'post',
    path: '/v1/hooks/plan',
    summary: 'Show what would be written to install or remove hooks; changes nothing',
    query: schemas.noQuerySchema,
    body: { words: 'the wanted change', document: 'NewHookPlan' },
    reply: 'HookPlan',
  },
  applyHooks: {
    method: 'post',
    path: '/v1/hooks/apply',
    summary: 'Write what a plan showed, if it is still the same',
    query: schemas.noQuerySchema,
    body: { words: 'the wanted change and the digest of its plan', document: 'NewHookApply' },
    reply: 'HookOutcome',
  },
  act: {
    method: 'post',
    path: '/v1/act',
    summary: 'Act on an agent, or refuse; returns a receipt and 200 in both cases, and writes an audit row',
    query: schemas.noQuerySchema,
    body: { words: 'the action, the agent and the conditions', document: 'Act' },
    reply: 'Receipt',
  },
  attach: {
    method: 'post',
    path: '/v1/attach',
    summary: 'Get the command that opens the pane of an agent; the client runs it',
    query: schemas.noQuerySchema,
    body: { words: 'the agent and the conditions', document: 'Attach' },
    reply: 'AttachPlan',
  },
  output: {
    method: 'get',
    path: '/v1/output',
    summary: 'Get the last output of an agent',
    query: act.outputQuerySchema,
    reply: 'ViewedOutput',
  },
  startAgent: {
    method: 'post',
    path: '/v1/runtimes',
    summary: 'Start an agent in a new tmux window; returns a receipt, also for a refusal',
    query: schemas.noQuerySchema,
    body: { words: 'the agent, its place and arguments', document: 'NewAgent' },
    reply: 'Receipt',
  },
  queue: {
    method: 'get',
    path: '/v1/queue',
    summary: 'List queued messages',
    query: schemas.noQuerySchema,
    reply: 'QueueList',
  },
  editQueued: {
    method: 'post',
    path: '/v1/queue/{id}',
    summary: 'Replace the text of a queued message; returns a receipt, also for a refusal',
    query: schemas.noQuerySchema,
    body: { words: 'the text', document: 'QueueEdit' },
    reply: 'Receipt',
  },
  dropQueued: {
    method: 'delete',
    path: '/v1/queue/{id}',
    summary: 'Remove a queued message; returns a receipt, also for a refusal',
    query: act.claimQuerySchema,
    reply: 'Receipt',
  },
  audit: {
    method: 'get',
    path: '/v1/audit',
    summary: 'List who did what to which agent, on which evidence, with what result',
    query: act.auditQuerySchema,
    reply: 'AuditList',
  },
  ...mcpRoutes,
  ...shellRoutes,
  ...sessionRoutes,
  ...noticeRoutes,
  ...webRoutes,
  ...restoreRoutes,
  ...usageRoutes,
  status: {
    method: 'get',
    path: '/v1/status',
    summary: 'Show the status of the daemon',
    query: schemas.noQuerySchema,
    reply: 'Status',
  },
  events: {
    method: 'post',
    path: '/v1/events',
    summary: 'Submit events of the agent above this process; returns a verdict on each after they are on disk',
    query: act.claimQuerySchema,
    body: { words: 'a JSON array of event envelopes, or JSON lines (application/x-ndjson)', document: null },
    reply: 'Verdicts',
  },
  feed: {
    method: 'get',
    path: '/v1/feed',
    summary:
      'Follow the feed as server-sent events: snapshot (FeedSnapshot), changes (FeedChanges), list (FeedList), cut (FeedCut)',
    query: schemas.feedQuerySchema,
    reply: null,
  },
  stop: {
    method: 'post',
    path: '/v1/stop',
    summary: 'Stop the daemon',
    query: schemas.noQuerySchema,
    reply: 'Done',
    status: 202,
  },
  openapi: {
    method: 'get',
    path: '/v1/openapi.json',
    summary: 'Get this description',
    query: schemas.noQuerySchema,
    reply: null,
  },
  schema: {
    method: 'get',
    path: '/v1/schema.json',
    summary: 'Get the JSON Schema of the documents',
    query: schemas.noQuerySchema,
    reply: null,
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;
