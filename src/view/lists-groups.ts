// Windows and sessions: rows brought together, with counts and the state that stands first (RSV2's precedence). Groups
// appear in the order of their first row, so the order of rows is also the order of groups.

import type { AgentStatus, Grouping, SessionItem, WindowItem } from '../api/schemas.ts';
import { rollup } from '../engine/rollup.ts';
import { assert } from '../model/errors.ts';
import type { PaneRow } from '../model/rows.ts';
import { isoTime, type ToWall } from './lists-items.ts';

interface GroupInput {
  /** Every row, also those that the filters left out: a window has as many panes as it has. */
  readonly rows: readonly PaneRow[];
  readonly toWall: ToWall;
}

/** Names may hold any character but this one, so joined parts never meet. */
const joint = '\u0000';

const windowKey = ({ identity }: PaneRow): string =>
  [identity.target, identity.window_id, identity.session_name].join(joint);

const sessionKeys: Readonly<Record<Grouping, (row: PaneRow) => string>> = {
  'target-session': ({ identity }) => [identity.target, identity.session_name].join(joint),
  'session-name': ({ identity }) => identity.session_name,
};

function groupsOf(rows: readonly PaneRow[], keyOf: (row: PaneRow) => string): ReadonlyMap<string, readonly PaneRow[]> {
  const groups = new Map<string, PaneRow[]>();
  for (const row of rows) {
    // Whoever outlived its pane is in no window and no session any more.
    if (row.agent?.reason_code === 'no_pane') continue;
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

function firstOf(group: readonly PaneRow[]): PaneRow {
  const [first] = group;
  assert(first !== undefined, 'a group begins with its first row');
  return first;
}

function rollupOf(group: readonly PaneRow[]): ReturnType<typeof rollup> {
  return rollup(
    group.flatMap(({ identity, agent }) =>
      agent === null ? [] : [{ target: identity.target, agent: agent.agent, state: agent.state }],
    ),
  );
}

/** Panes that stand now: an ended agent may have taken its pane along, and nested agents share one. */
function countPanes(group: readonly PaneRow[]): number {
  const standing = group.filter((row) => row.agent === null || row.agent.ended === null);
  return new Set(standing.map((row) => [row.identity.target, row.identity.pane_id].join(joint))).size;
}

export function windowItems(rows: readonly PaneRow[], input: GroupInput, withAgents: boolean): WindowItem[] {
  const whole = groupsOf(input.rows, windowKey);
  return [...groupsOf(rows, windowKey)].map(([key, group]) => {
    const first = firstOf(group);
    const { by_target: _, ...counts } = rollupOf(group);
    const { target, session_name, window_id } = first.identity;
    return {
      identity: { target, session_name, window_id },
      window_name: first.window_name,
      window_index: first.window_index,
      ...counts,
      panes: countPanes(whole.get(key) ?? []),
      ...(withAgents ? { agents: group.flatMap((row) => agentStatus(row, input.toWall)) } : {}),
    };
  });
}

function agentStatus({ ref, pane_index, agent }: PaneRow, toWall: ToWall): AgentStatus[] {
  if (agent === null) return [];
  const { runtime_id, nick, seen, state, reason_code, confidence } = agent;
  const since = isoTime(toWall(agent.since));
  return [{ ref, runtime_id, agent: agent.agent, nick, seen, state, reason_code, confidence, since, pane_index }];
}

export function sessionItems(rows: readonly PaneRow[], input: GroupInput, grouping: Grouping): SessionItem[] {
  const keyOf = sessionKeys[grouping];
  const whole = groupsOf(input.rows, keyOf);
  return [...groupsOf(rows, keyOf)].map(([key, group]) => {
    const { target, session_name } = firstOf(group).identity;
    const all = whole.get(key) ?? [];
    return {
      identity: { target: grouping === 'session-name' ? null : target, session_name },
      ...rollupOf(group),
      panes: countPanes(all),
      windows: new Set(group.map(windowKey)).size,
    };
  });
}
