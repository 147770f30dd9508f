// What a list is made of: one row a pane or managed session, with the agent in it, if any. The daemon makes these; every
// screen shows them.

import type { Ask } from './asks.ts';
import type { AgentName, PaneId, RuntimeId, TargetId } from './ids.ts';
import type { ReasonCode } from './reasons.ts';
import type { EndRecord, Evidence, Health } from './records.ts';
import type { SessionGlance } from './sessions.ts';
import type { SourceName } from './sources.ts';
import type { Confidence, StateName } from './states.ts';

export interface PaneIdentity {
  readonly target: TargetId;
  readonly session_name: string;
  readonly window_id: string;
  readonly pane_id: PaneId;
}

export interface AgentRow {
  readonly runtime_id: RuntimeId;
  readonly agent: AgentName;
  /** The name that a person gave it. */
  readonly nick: string | null;
  /** Whether a person has seen what it finished; null while there is nothing to see. */
  readonly seen: boolean | null;
  readonly parent: RuntimeId | null;
  readonly state: StateName;
  readonly reason_code: ReasonCode;
  readonly confidence: Confidence;
  readonly detail: string | null;
  readonly until: number | null;
  readonly since: number;
  readonly last_seen_at: number;
  readonly started_at: number;
  readonly state_version: number;
  readonly decided_by: SourceName | null;
  readonly competing: readonly Evidence[];
  readonly route: 'CONNECTED' | 'DISCONNECTED' | 'NONE';
  readonly ask: Ask | null;
  readonly asks_open: number;
  readonly background: { readonly shells: number; readonly agents: number };
  readonly suspended: boolean;
  readonly ended: EndRecord | null;
}

export interface PaneRow {
  readonly identity: PaneIdentity;
  readonly ref: string;
  readonly session_id: string;
  /** Further sessions that show its window: by each of them it can be named. */
  readonly other_sessions?: readonly string[];
  readonly window_name: string;
  readonly window_index: number;
  readonly pane_index: number;
  readonly title: string;
  readonly cwd: string;
  readonly current_command: string;
  /** Of a session that agtmux leads itself, which is in no pane (IDN9); left out for panes. */
  readonly session?: SessionGlance;
  /** Null for a pane without an agent. */
  readonly agent: AgentRow | null;
}

export interface TargetRow {
  readonly target: TargetId;
  readonly kind: 'local' | 'ssh';
  readonly health: Health;
  /** Why it is not ok, in a few words; null when it is. */
  readonly trouble: string | null;
  readonly tmux_version: string | null;
  readonly last_seen_at: number | null;
  readonly panes: number;
}

/**
 * Where a row is, as every list shows it: `host/work:1.0`; only the machine where nobody has seen the pane yet. Null for what
 * is in no pane (any more) and is called by its reference: a session, an agent that outlived its pane.
 */
export function placeText(
  {
    identity,
    window_index,
    pane_index,
  }: {
    readonly identity: { readonly target: string; readonly session_name: string };
    readonly window_index: number;
    readonly pane_index: number;
  },
  reason: ReasonCode | null,
  isSession: boolean,
): string | null {
  if (isSession || reason === 'no_pane') return null;
  const { target, session_name } = identity;
  return session_name === '' ? target : `${target}/${session_name}:${window_index}.${pane_index}`;
}
