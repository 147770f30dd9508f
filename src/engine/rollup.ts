// Step "rollup": counts and top states for windows, sessions, targets and the whole. Works on rows of any shape that has
// a state and an agent, so that every list sums up the same way.

import type { AgentName, TargetId } from '../model/ids.ts';
import { precedenceOf, type StateName, stateNames } from '../model/states.ts';

export interface RollupRow {
  readonly target: TargetId;
  readonly agent: AgentName;
  readonly state: StateName;
}

export interface Rollup {
  readonly total: number;
  readonly by_state: Readonly<Record<StateName, number>>;
  readonly by_agent: Readonly<Record<string, number>>;
  readonly by_target: Readonly<Record<string, number>>;
  /** The state that stands first in the precedence of RSV2; null for an empty group. */
  readonly top_state: StateName | null;
  readonly waiting: number;
  readonly running: number;
}

const noStates = Object.fromEntries(stateNames.map((state) => [state, 0])) as Record<StateName, number>;

export function rollup(rows: readonly RollupRow[]): Rollup {
  const byState = { ...noStates };
  const byAgent = new Map<string, number>();
  const byTarget = new Map<string, number>();
  let top: StateName | null = null;
  for (const row of rows) {
    byState[row.state] += 1;
    byAgent.set(row.agent, (byAgent.get(row.agent) ?? 0) + 1);
    byTarget.set(row.target, (byTarget.get(row.target) ?? 0) + 1);
    if (top === null || precedenceOf(row.state) < precedenceOf(top)) top = row.state;
  }
  return {
    total: rows.length,
    by_state: byState,
    by_agent: Object.fromEntries(byAgent),
    by_target: Object.fromEntries(byTarget),
    top_state: top,
    waiting: byState.waiting_approval + byState.waiting_input,
    running: byState.running,
  };
}

/** Groups rows by a key, keeping the order in which groups first appear. */
export function rollupBy<Row extends RollupRow>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): ReadonlyMap<string, Rollup> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return new Map([...groups].map(([key, group]) => [key, rollup(group)]));
}
