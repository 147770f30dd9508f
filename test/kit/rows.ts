// Rows for tests of lists: a pane with or without an agent, written in a few words.

import { agentName, paneId, runtimeId, targetId } from '../../src/model/ids.ts';
import type { AgentRow, PaneRow, TargetRow } from '../../src/model/rows.ts';

export interface RowOptions {
  readonly target?: string;
  readonly session?: string;
  readonly window?: number;
  readonly pane?: number;
  /** Number of the pane in its server; the pane's place decides when it is left out. */
  readonly id?: number;
  /** Null: no agent runs there. */
  readonly agent?: string | null;
  readonly row?: Partial<Omit<PaneRow, 'agent' | 'identity'>>;
  readonly state?: AgentRow['state'];
  readonly fields?: Partial<AgentRow>;
}

export function paneRow(options: RowOptions = {}): PaneRow {
  const { target = 'host', session = 'work', window = 1, pane = 0, agent = 'claude' } = options;
  const id = options.id ?? window * 10 + pane;
  const name = `${target}-${session}-${id}`;
  return {
    identity: {
      target: targetId(target),
      session_name: session,
      window_id: `@${window}`,
      pane_id: paneId(`%${id}`),
    },
    ref: agent === null ? `pane:${target}/${session}/@${window}/%${id}` : `runtime:${name}`,
    session_id: '$1',
    window_name: `window ${window}`,
    window_index: window,
    pane_index: pane,
    title: 'a title',
    cwd: '/home/me/web-shop',
    current_command: agent ?? 'zsh',
    ...options.row,
    agent: agent === null ? null : agentRow(name, agent, options),
  };
}

function agentRow(name: string, agent: string, { state = 'idle', fields = {} }: RowOptions): AgentRow {
  return {
    runtime_id: runtimeId(name),
    agent: agentName(agent),
    nick: null,
    seen: state === 'completed' ? true : null,
    parent: null,
    state,
    reason_code: state === 'unknown' ? 'not_observed_yet' : 'prompt_ready',
    confidence: 'high',
    detail: null,
    until: null,
    since: 900_000,
    last_seen_at: 990_000,
    started_at: 100_000,
    state_version: 3,
    decided_by: null,
    competing: [],
    route: 'CONNECTED',
    ask: null,
    asks_open: 0,
    background: { shells: 0, agents: 0 },
    suspended: false,
    ended: null,
    ...fields,
  };
}

export function targetRow(target: string, fields: Partial<TargetRow> = {}): TargetRow {
  return {
    target: targetId(target),
    kind: 'local',
    health: 'ok',
    trouble: null,
    tmux_version: '3.3a',
    last_seen_at: 999_000,
    panes: 4,
    ...fields,
  };
}
