// The lists of agents: by pane, by window and by tmux session. Every row of an agent has the one shape that stands here.

import { type Ask, askKinds } from '../model/asks.ts';
import { endCauses } from '../model/events.ts';
import type { Explanation } from '../model/explanations.ts';
import type { AgentName, PaneId, RuntimeId, TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { reasonCodes } from '../model/reasons.ts';
import type { Evidence } from '../model/records.ts';
import { machineStates } from '../model/sessions.ts';
import type { SourceName } from '../model/sources.ts';
import { confidences, stateNames } from '../model/states.ts';
import { count, head, textQuery, time } from './common.ts';
import { gitFactsSchema } from './git.ts';
import { sessionViewSchema } from './sessions.ts';
import { targetItemSchema } from './targets.ts';
import { z } from './zod.ts';

const counts = z.record(z.string(), count);
const byState = z.strictObject(
  Object.fromEntries(stateNames.map((state) => [state, count])) as Record<(typeof stateNames)[number], typeof count>,
);

export const sorts = ['needs', 'age', 'agent', 'target', 'state', 'name'] as const;
export const groupings = ['target-session', 'session-name'] as const;

const ask = z.strictObject({
  ask_id: z.string(),
  kind: z.enum(askKinds),
  scope: z.string(),
  text: z.string(),
  options: z.array(z.strictObject({ id: z.string(), label: z.string() })),
});

const state = z.enum(stateNames);

const terminal = z
  .string()
  .nullable()
  .describe('what an agent without a pane runs in: kitty, screen, tty...; none: in no terminal; null in a pane');

/**
 * The row of a pane or a managed session; the fields of its agent are null when none runs there. Names and texts are as
 * others wrote them. Every row there is has this shape: clients get times as text, inside the daemon they are on its
 * timeline.
 */
const rowWith = <Time extends z.ZodType>(time: Time) =>
  z.strictObject({
    identity: z.strictObject({
      target: z.string(),
      session_name: z.string(),
      window_id: z.string().nullable(),
      pane_id: z.string().nullable(),
    }),
    ref: z.string(),
    runtime_id: z.string().nullable(),
    agent: z.string().nullable(),
    nick: z.string().nullable().describe('the name that a person gave it'),
    seen: z.boolean().nullable().describe('whether a person has seen what it finished; null while it is not completed'),
    parent: z.string().nullable(),
    state: state.nullable(),
    reason_code: z.enum(reasonCodes).nullable(),
    confidence: z.enum(confidences).nullable(),
    detail: z.string().nullable(),
    task: z
      .string()
      .nullable()
      .describe('what it was asked to do last, or the title of its session; null where nobody knows'),
    git: gitFactsSchema
      .nullable()
      .describe('of the folder it works in; null where there is no work tree, or on another machine'),
    until: time.nullable(),
    since: time.nullable(),
    last_seen_at: time.nullable(),
    started_at: time.nullable(),
    state_version: count.nullable(),
    decided_by: z.string().nullable(),
    route: z.enum(['CONNECTED', 'DISCONNECTED', 'NONE']).nullable(),
    ask: ask.nullable(),
    asks_open: count,
    background: z.strictObject({ shells: count, agents: count }),
    suspended: z.boolean(),
    ended: z
      .strictObject({
        cause: z.enum([...endCauses, 'replaced', 'server_gone']),
        status: z.int().nullable(),
        signal: z.string().nullable(),
        clean: z.boolean(),
        at: time,
        /** Until when a bad end stays in the default lists; null for one in good order (RSV12). */
        listed_until: time.nullable(),
      })
      .nullable(),
    title: z.string(),
    cwd: z.string(),
    current_command: z.string(),
    window_name: z.string(),
    window_index: z.int(),
    pane_index: z.int(),
    session: z
      .strictObject({
        id: z.string(),
        driver: z.string(),
        title: z.string(),
        model: z.string().nullable(),
        state: z.enum(machineStates),
        auto_approve: z.boolean(),
        is_resumable: z.boolean(),
        view: sessionViewSchema,
      })
      .nullable()
      .describe('a managed session; it has no pane'),
    terminal,
    pid: z.int().nullable().describe('the process of its agent; null where nobody knows'),
  });

export const paneItemSchema = rowWith(time);

/** The same row inside the daemon: its ids by their kinds, and what no client is told. */
export interface PaneRow extends z.infer<ReturnType<typeof rowWith<z.ZodNumber>>> {
  identity: {
    target: TargetId;
    session_name: string;
    /** Null for what lives in no pane, and in no window (IDN9). */
    window_id: string | null;
    pane_id: PaneId | null;
  };
  runtime_id: RuntimeId | null;
  agent: AgentName | null;
  parent: RuntimeId | null;
  decided_by: SourceName | null;
  ask: (z.infer<typeof ask> & Pick<Ask, 'ask_id'>) | null;
  /** tmux's own id of its session; empty where it has none. */
  readonly session_id: string;
  /** Further sessions that show its window: by each of them it can be named. */
  readonly other_sessions: readonly string[];
  readonly competing: readonly Evidence[];
}

/** The row together with why its state is what it is. */
export type ExplainedRow = Explanation & { readonly row: PaneRow };

const filters = z.strictObject({
  target: z.array(z.string()),
  target_session: z.array(z.string()),
  session: z.array(z.string()),
  state: z.array(state),
  agent: z.array(z.string()),
  project: z.array(z.string()),
  branch: z.array(z.string()),
  needs_action: z.boolean(),
  all_panes: z.boolean(),
  ended: z.boolean(),
  sort: z.enum(sorts),
});

const listHead = {
  ...head,
  filters,
  summary: z.strictObject({
    total: count,
    needs_action: count,
    by_state: byState,
    by_agent: counts,
    by_target: counts,
    targets: z.array(targetItemSchema),
  }),
  partial: z.boolean().describe('a requested target did not answer in full'),
  missing_targets: z.array(z.string()),
};

const rollup = {
  top_state: state.nullable(),
  waiting: count,
  running: count,
  total: count.describe('agents'),
  panes: count,
  by_state: byState,
  by_agent: counts,
};

export const paneListSchema = z.strictObject({ ...listHead, items: z.array(paneItemSchema) });

export const agentStatusSchema = paneItemSchema.pick({
  ref: true,
  runtime_id: true,
  agent: true,
  nick: true,
  seen: true,
  state: true,
  reason_code: true,
  confidence: true,
  since: true,
  pane_index: true,
});

export const windowItemSchema = z.strictObject({
  identity: z.strictObject({ target: z.string(), session_name: z.string(), window_id: z.string() }),
  window_name: z.string(),
  window_index: z.int(),
  ...rollup,
  agents: z.array(agentStatusSchema).optional().describe('with with_agent_status'),
});

export const windowListSchema = z.strictObject({
  ...listHead,
  with_agent_status: z.boolean(),
  items: z.array(windowItemSchema),
});

export const sessionItemSchema = z.strictObject({
  identity: z.strictObject({
    target: z.string().nullable().describe('null when sessions of one name are merged across targets'),
    session_name: z.string(),
  }),
  windows: count,
  ...rollup,
  by_target: counts,
});

export const sessionListSchema = z.strictObject({
  ...listHead,
  group_by: z.enum(groupings),
  items: z.array(sessionItemSchema),
});

const flag = z.boolean().optional();
const values = z.array(z.string()).max(limits.filterValuesMax).optional();

const filterQuery = {
  target: values,
  target_session: values,
  session: values,
  state: values,
  agent: values,
  project: values,
  branch: values,
  needs_action: flag,
  all_panes: flag,
  ended: flag,
  sort: z.enum(sorts).optional(),
};

export const panesQuerySchema = z.strictObject({ ...filterQuery, git: flag, ...textQuery });
export const windowsQuerySchema = z.strictObject({ ...filterQuery, with_agent_status: flag, ...textQuery });
export const sessionsQuerySchema = z.strictObject({
  ...filterQuery,
  group_by: z.enum(groupings).optional(),
  agent_summary: flag,
  ...textQuery,
});

export const paneDocuments = {
  PaneItem: paneItemSchema,
  WindowItem: windowItemSchema,
  SessionItem: sessionItemSchema,
  PaneList: paneListSchema,
  WindowList: windowListSchema,
  SessionList: sessionListSchema,
} as const;

export const paneRoutes = {
  panes: {
    method: 'get',
    path: '/v1/panes',
    summary: 'List agents by pane; other panes on request',
    query: panesQuerySchema,
    hasText: true,
    reply: 'PaneList',
  },
  windows: {
    method: 'get',
    path: '/v1/windows',
    summary: 'List windows with their most urgent state and counts',
    query: windowsQuerySchema,
    hasText: true,
    reply: 'WindowList',
  },
  sessions: {
    method: 'get',
    path: '/v1/sessions',
    summary: 'List tmux sessions with their most urgent state and counts',
    query: sessionsQuerySchema,
    hasText: true,
    reply: 'SessionList',
  },
} as const;

export type PaneItem = z.infer<typeof paneItemSchema>;
export type WindowItem = z.infer<typeof windowItemSchema>;
export type SessionItem = z.infer<typeof sessionItemSchema>;
export type AgentStatus = z.infer<typeof agentStatusSchema>;
export type ListFilters = z.infer<typeof filters>;
export type PaneList = z.infer<typeof paneListSchema>;
export type WindowList = z.infer<typeof windowListSchema>;
export type SessionList = z.infer<typeof sessionListSchema>;
export type Sort = (typeof sorts)[number];
export type Grouping = (typeof groupings)[number];
