// One row of the daemon as every client sees it: flat, with times people and programs can read. Nothing is decided
// here; the texts in it are still as others wrote them (a screen puts them through the gate).

import type { PaneItem, TargetItem } from '../api/schemas.ts';
import { limits } from '../model/limits.ts';
import type { AgentRow, PaneRow, TargetRow } from '../model/rows.ts';

/** From the daemon's timeline to wall time, both in ms. */
export type ToWall = (time: number) => number;

export function isoTime(wallMs: number): string {
  return new Date(wallMs).toISOString();
}

const noAgent = {
  runtime_id: null,
  agent: null,
  nick: null,
  seen: null,
  parent: null,
  state: null,
  reason_code: null,
  confidence: null,
  detail: null,
  until: null,
  since: null,
  last_seen_at: null,
  started_at: null,
  state_version: null,
  decided_by: null,
  route: null,
  ask: null,
  asks_open: 0,
  background: { shells: 0, agents: 0 },
  suspended: false,
  ended: null,
} as const;

/** What lives in no pane has none, and no window: null, not an empty name (IDN9). */
const identityOf = ({ window_id, pane_id, ...rest }: PaneRow['identity']): PaneItem['identity'] => ({
  ...rest,
  window_id: window_id || null,
  pane_id: pane_id || null,
});

export function paneItem(row: PaneRow, toWall: ToWall, endedShownMs: number = limits.endedShownMs): PaneItem {
  return {
    identity: identityOf(row.identity),
    ref: row.ref,
    ...(row.agent === null ? noAgent : agentFields(row.agent, (time) => isoTime(toWall(time)), endedShownMs)),
    title: row.title,
    cwd: row.cwd,
    current_command: row.current_command,
    window_name: row.window_name,
    window_index: row.window_index,
    pane_index: row.pane_index,
    session: row.session === undefined ? null : { ...row.session, view: { ...row.session.view } },
  };
}

function agentFields(
  agent: AgentRow,
  iso: (time: number) => string,
  endedShownMs: number,
): Pick<PaneItem, keyof typeof noAgent> {
  const { ask, ended } = agent;
  return {
    runtime_id: agent.runtime_id,
    agent: agent.agent,
    nick: agent.nick,
    seen: agent.seen,
    parent: agent.parent,
    state: agent.state,
    reason_code: agent.reason_code,
    confidence: agent.confidence,
    detail: agent.detail,
    until: agent.until === null ? null : iso(agent.until),
    since: iso(agent.since),
    last_seen_at: iso(agent.last_seen_at),
    started_at: iso(agent.started_at),
    state_version: agent.state_version,
    decided_by: agent.decided_by,
    route: agent.route,
    ask: ask === null ? null : { ...ask, options: ask.options.map((option) => ({ ...option })) },
    asks_open: agent.asks_open,
    background: { ...agent.background },
    suspended: agent.suspended,
    ended:
      ended === null
        ? null
        : {
            cause: ended.cause,
            status: ended.status,
            signal: ended.signal,
            clean: ended.clean,
            at: iso(ended.time),
            listed_until: agent.state === 'error' ? iso(ended.time + endedShownMs) : null,
          },
  };
}

export function targetItem(row: TargetRow, toWall: ToWall): TargetItem {
  return { ...row, last_seen_at: row.last_seen_at === null ? null : isoTime(toWall(row.last_seen_at)) };
}
