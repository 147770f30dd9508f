// What is said of every row, whoever holds it: whether it has an agent, where it is and which project it works in. The row
// itself is a schema (api/schemas); the daemon makes rows, and every screen shows them.

import type { ReasonCode } from './reasons.ts';

/** Set in every row that has an agent, null in all others. */
type AgentField =
  | 'runtime_id'
  | 'agent'
  | 'state'
  | 'reason_code'
  | 'confidence'
  | 'since'
  | 'last_seen_at'
  | 'started_at'
  | 'state_version'
  | 'route';

/** A row with an agent in it: a pane, or a session that agtmux leads. */
export type WithAgent<Row> = Row & { readonly [Name in AgentField & keyof Row]: NonNullable<Row[Name]> };

export const hasAgent = <Row extends { readonly runtime_id: string | null }>(row: Row): row is WithAgent<Row> =>
  row.runtime_id !== null;

export interface Placed {
  readonly identity: { readonly target: string; readonly session_name: string };
  readonly ref: string;
  readonly window_index: number;
  readonly pane_index: number;
  readonly reason_code: ReasonCode | null;
  readonly session: object | null;
  /** What it runs in, where that is no pane. */
  readonly terminal: string | null;
}

/**
 * Where a row is, as every list shows it: `host/work:1.0`; only the machine where nobody has seen the pane yet. What is in
 * no pane (any more) is called by its reference: a session, an agent that outlived its pane.
 */
export function placeOf({ identity, ref, window_index, pane_index, reason_code, session, terminal }: Placed): string {
  if (session !== null || terminal !== null || reason_code === 'no_pane') return ref;
  const { target, session_name } = identity;
  return session_name === '' ? target : `${target}/${session_name}:${window_index}.${pane_index}`;
}

/** `reviewer (claude)`: by the name a person gave it, where one did. */
export function agentLabel({ agent, nick }: { readonly agent: string | null; readonly nick: string | null }): string {
  const kind = agent ?? '-';
  return nick === null ? kind : `${nick} (${kind})`;
}

/** `reviewer (claude), host/work:1.0`: one agent as lists show it, in a sentence. */
export const whoOf = (row: Placed & { readonly agent: string | null }, nick: string | null): string =>
  `${agentLabel({ agent: row.agent, nick })}, ${placeOf(row)}`;

/** The last part of its directory. */
export const projectOf = (cwd: string): string => cwd.replace(/\/+$/, '').split('/').at(-1) || cwd;
