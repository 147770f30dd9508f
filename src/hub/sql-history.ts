// The history of states in SQL: what goes on, and sums by day. How far each daemon's numbers are stands beside the places in streams.

import type { WireLogRow } from '../api/hub-wire.ts';
import { limits } from '../model/limits.ts';
import { isStateName } from '../model/states.ts';
import { dayOf, foldStates, type MachineDaySum, type MachineLanes, type OpenLane, waitBoundsMs } from './history.ts';
import type { Query, SqlRow, SqlValue } from './schema.ts';

const bounds = waitBoundsMs.map((_, at) => `within${at}`);
const counted = ['ms', 'spans', ...bounds];
const stateOf = (said: unknown): OpenLane['state'] =>
  isStateName(String(said)) ? (String(said) as OpenLane['state']) : 'unknown';

/** Under this name stands until when somebody looked; no run is called so. */
const looked = '';

export const streamOfStates = (daemon: string): string => `states ${daemon}`;

/** Rows that are new, in their order. */
export async function takeStates(
  query: Query,
  tenant: string,
  daemon: string,
  rows: readonly WireLogRow[],
): Promise<void> {
  const lanes = await query('SELECT * FROM lanes WHERE tenant = ? AND daemon = ?', [tenant, daemon]);
  const before: MachineLanes = {
    open: new Map(lanes.filter((row) => row.runtime_id !== looked).map((row) => [String(row.runtime_id), laneOf(row)])),
    seen: Number(lanes.find((row) => row.runtime_id === looked)?.at ?? 0),
  };
  const { open, seen, sums } = foldStates(before, rows);
  for (const id of before.open.keys()) {
    if (!open.has(id)) {
      await query('DELETE FROM lanes WHERE tenant = ? AND daemon = ? AND runtime_id = ?', [tenant, daemon, id]);
    }
  }
  const noted: OpenLane = { runtime_id: looked, state: 'unknown', at: seen, agent: '', repo: '' };
  const changed = [...open.values()].filter((lane) => before.open.get(lane.runtime_id) !== lane);
  for (const { runtime_id, state, at, agent, repo } of [...changed, noted]) {
    await query(
      `INSERT INTO lanes (tenant, daemon, runtime_id, state, at, agent, repo) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (tenant, daemon, runtime_id) DO UPDATE SET state = excluded.state, at = excluded.at,
       agent = excluded.agent, repo = excluded.repo`,
      [tenant, daemon, runtime_id, state, at, agent, repo],
    );
  }
  const columns = ['tenant', 'day', 'daemon', 'agent', 'repo', 'state', 'longest', ...counted];
  const added = counted.map((name) => `${name} = days.${name} + excluded.${name}`).join(', ');
  for (const { day, agent, repo, state, longest, ms, spans, within } of sums) {
    const values: SqlValue[] = [tenant, day, daemon, agent, repo, state, longest, ms, spans, ...within];
    await query(
      `INSERT INTO days (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
       ON CONFLICT (tenant, day, daemon, agent, repo, state) DO UPDATE SET ${added},
       longest = CASE WHEN days.longest < excluded.longest THEN excluded.longest ELSE days.longest END`,
      values,
    );
  }
  const oldest = dayOf(Math.max(0, seen - limits.hubHistoryDaysMax * 86_400_000));
  await query('DELETE FROM days WHERE tenant = ? AND daemon = ? AND day < ?', [tenant, daemon, oldest]);
}

const laneOf = (row: SqlRow): OpenLane => ({
  runtime_id: String(row.runtime_id),
  state: stateOf(row.state),
  at: Number(row.at),
  agent: String(row.agent),
  repo: String(row.repo),
});

/** All kinds of agents together. */
export async function daySums(query: Query, tenant: string, since: string): Promise<readonly MachineDaySum[]> {
  const sum = counted.map((name) => `sum(${name}) AS ${name}`).join(', ');
  const rows = await query(
    `SELECT day, daemon, repo, state, max(longest) AS longest, ${sum} FROM days WHERE tenant = ? AND day >= ?
     GROUP BY day, daemon, repo, state ORDER BY day, daemon, repo, state`,
    [tenant, since],
  );
  return rows.map((row) => ({
    day: String(row.day),
    daemon: String(row.daemon),
    agent: '',
    repo: String(row.repo),
    state: stateOf(row.state),
    ms: Number(row.ms),
    spans: Number(row.spans),
    longest: Number(row.longest),
    within: bounds.map((name) => Number(row[name])),
  }));
}
