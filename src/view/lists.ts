// The lists: from the daemon's rows to the documents that every client gets (FED1, FED3). Pure; who is shown, in which
// order, and what is said when a target is missing (FED4) is decided here and nowhere else.

import type { Grouping, ListFilters, PaneList, SessionList, TargetList, WindowList } from '../api/schemas.ts';
import { schemaVersion } from '../api/version.ts';
import { rollup } from '../engine/rollup.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { AgentRow, PaneRow, TargetRow } from '../model/rows.ts';
import type { StateName } from '../model/states.ts';
import { sessionItems, windowItems } from './lists-groups.ts';
import { isoTime, paneItem, type ToWall, targetItem } from './lists-items.ts';
import { comparePlaces, compareRows, compareText } from './lists-order.ts';
import { parseState } from './words.ts';

/** What a list is made from; `now` and every time of a row are on the daemon's timeline. */
export interface ListInput {
  readonly rows: readonly PaneRow[];
  readonly targets: readonly TargetRow[];
  readonly now: number;
  readonly toWall: ToWall;
  /** How long a bad end stays in the default lists (RSV12). */
  readonly endedShownMs?: number;
}

/** Filters as they are asked for: what is left out does not narrow. */
export type FilterRequest = {
  readonly [Name in keyof ListFilters]?:
    | (ListFilters[Name] extends readonly unknown[] ? readonly string[] : ListFilters[Name])
    | undefined;
};

type Row = PaneRow & { readonly agent: AgentRow };

/** Sessions that agtmux leads are in no window. */
const isInTmux = (row: PaneRow): boolean => row.session === undefined;

const hasAgent = (row: PaneRow): row is Row => row.agent !== null;

export function listPanes(input: ListInput, request: FilterRequest = {}): Result<PaneList> {
  const filters = checkFilters(input.targets, request);
  if (!filters.ok) return filters;
  const rows = select(input, filters.value);
  return ok({
    ...listHead(input, filters.value, rows),
    items: rows.map((row) => paneItem(row, input.toWall, input.endedShownMs)),
  });
}

export function listWindows(
  input: ListInput,
  request: FilterRequest & { readonly with_agent_status?: boolean | undefined } = {},
): Result<WindowList> {
  const filters = checkFilters(input.targets, request);
  if (!filters.ok) return filters;
  const rows = select(input, filters.value).filter(isInTmux);
  const withAgents = request.with_agent_status ?? false;
  return ok({
    ...listHead(input, filters.value, rows),
    with_agent_status: withAgents,
    items: windowItems(rows, input, withAgents),
  });
}

export function listSessions(
  input: ListInput,
  request: FilterRequest & { readonly group_by?: Grouping | undefined } = {},
): Result<SessionList> {
  const filters = checkFilters(input.targets, request);
  if (!filters.ok) return filters;
  const rows = select(input, filters.value).filter(isInTmux);
  const grouping = request.group_by ?? 'target-session';
  return ok({
    ...listHead(input, filters.value, rows),
    group_by: grouping,
    items: sessionItems(rows, input, grouping),
  });
}

export function listTargets({ targets, now, toWall }: Omit<ListInput, 'rows'>): TargetList {
  const sorted = [...targets].sort((one, other) => compareText(one.target, other.target));
  return {
    schema_version: schemaVersion,
    generated_at: isoTime(toWall(now)),
    ...missingOf(sorted),
    items: sorted.map((row) => targetItem(row, toWall)),
  };
}

/** Waiting for a person, in error, or stopped by a usage limit. */
export function needsAction({ state, reason_code }: Pick<AgentRow, 'state' | 'reason_code'>): boolean {
  switch (state) {
    case 'waiting_approval':
    case 'waiting_input':
    case 'error':
      return true;
    case 'running':
    case 'completed':
    case 'idle':
    case 'unknown':
      return reason_code === 'usage_limit';
  }
}

function checkFilters(targets: readonly TargetRow[], request: FilterRequest): Result<ListFilters> {
  const names: readonly string[] = targets.map((row) => row.target);
  const places = (request.target_session ?? []).map(splitPlace);
  const bare = places.find((place) => place.session === null);
  if (bare !== undefined) {
    return fail(
      'E_FILTER',
      `"${bare.target}" is no target_session`,
      'write it as target/session, for example host/work',
    );
  }
  const stranger = [...(request.target ?? []), ...places.map((place) => place.target)].find(
    (name) => !names.includes(name),
  );
  if (stranger !== undefined) {
    return fail(
      'E_FILTER',
      `there is no target "${stranger}"; there are ${[...names].sort().join(', ') || 'none yet'}`,
    );
  }
  const states: StateName[] = [];
  for (const text of request.state ?? []) {
    const state = parseState(text);
    if (!state.ok) return state;
    states.push(state.value);
  }
  return ok({
    target: [...(request.target ?? [])],
    target_session: [...(request.target_session ?? [])],
    session: [...(request.session ?? [])],
    state: states,
    agent: [...(request.agent ?? [])],
    needs_action: request.needs_action ?? false,
    all_panes: request.all_panes ?? false,
    ended: request.ended ?? false,
    sort: request.sort ?? 'needs',
  });
}

/** Names of targets have no slash, names of sessions may. */
function splitPlace(text: string): { readonly target: string; readonly session: string | null } {
  const slash = text.indexOf('/');
  return slash < 0 ? { target: text, session: null } : { target: text.slice(0, slash), session: text.slice(slash + 1) };
}

const allows = (values: readonly string[], value: string): boolean => values.length === 0 || values.includes(value);

function select(input: ListInput, filters: ListFilters): readonly PaneRow[] {
  const wanted = input.rows.filter(
    (row) =>
      allows(filters.target, row.identity.target) &&
      allows(filters.session, row.identity.session_name) &&
      allows(filters.target_session, `${row.identity.target}/${row.identity.session_name}`) &&
      (row.agent === null ? showsBarePanes(filters) : showsAgent(row.agent, filters, input)),
  );
  const compare = compareRows(filters.sort);
  return wanted.sort((one, other) => compare(one, other) || comparePlaces(one, other));
}

/** A pane without an agent has no state and no agent that a filter could be about. */
function showsBarePanes(filters: ListFilters): boolean {
  return filters.all_panes && filters.state.length === 0 && filters.agent.length === 0 && !filters.needs_action;
}

function showsAgent(agent: AgentRow, filters: ListFilters, { now, endedShownMs }: ListInput): boolean {
  return (
    (filters.ended || isShown(agent, now, endedShownMs ?? limits.endedShownMs)) &&
    allows(filters.state, agent.state) &&
    allows(filters.agent, agent.agent) &&
    (!filters.needs_action || needsAction(agent))
  );
}

/** RSV12: whoever left in good order is gone at once, a bad end stays visible for a while. */
function isShown({ ended, state }: AgentRow, now: number, endedShownMs: number): boolean {
  return ended === null || (state === 'error' && now - ended.time < endedShownMs);
}

function listHead(input: ListInput, filters: ListFilters, rows: readonly PaneRow[]): Omit<PaneList, 'items'> {
  const agents = rows.filter(hasAgent);
  const { by_state, by_agent, by_target } = rollup(
    agents.map(({ identity, agent }) => ({ target: identity.target, agent: agent.agent, state: agent.state })),
  );
  const chosen = [...filters.target, ...filters.target_session.map((place) => splitPlace(place).target)];
  const targets = listTargets({ ...input, targets: input.targets.filter((row) => allows(chosen, row.target)) });
  return {
    schema_version: schemaVersion,
    generated_at: targets.generated_at,
    filters,
    summary: {
      total: rows.length,
      needs_action: agents.filter((row) => needsAction(row.agent)).length,
      by_state,
      by_agent,
      by_target,
      targets: targets.items,
    },
    partial: targets.partial,
    missing_targets: targets.missing_targets,
  };
}

/** FED4: a list says whose part of it is missing or may be old. */
function missingOf(targets: readonly TargetRow[]): Pick<TargetList, 'partial' | 'missing_targets'> {
  const missing = targets.filter((row) => row.health !== 'ok').map((row) => row.target);
  return { partial: missing.length > 0, missing_targets: missing };
}
