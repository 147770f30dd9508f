// The lists: from the daemon's rows to the documents that every client gets (FED1, FED3). Pure; who is shown, in which
// order, and what is said when a target is missing (FED4) is decided here and nowhere else.

import type {
  AgentStatus,
  Grouping,
  ListFilters,
  PaneItem,
  PaneList,
  PaneRow,
  SessionItem,
  SessionList,
  Sort,
  WindowItem,
  WindowList,
} from '../api/panes.ts';
import type { TargetList, TargetRow } from '../api/targets.ts';
import { schemaVersion } from '../api/version.ts';
import { rollup } from '../engine/rollup.ts';
import { assert, fail, ok, type Result } from '../model/errors.ts';
import { agentName, targetId } from '../model/ids.ts';
import { hasAgent, type WithAgent } from '../model/rows.ts';
import { precedenceOf, type StateName } from '../model/states.ts';
import { isoTime, paneItem, type ToWall, targetItem } from './lists-items.ts';
import { projectsOf } from './pane-words.ts';
import { parseState, wordsOf } from './words.ts';

/** A pane with an agent in it, or a session that agtmux leads. */
export type AgentItem = WithAgent<PaneItem>;

/** What a list is made from; `now` and every time of a row are on the daemon's timeline. */
export interface ListInput {
  readonly rows: readonly PaneRow[];
  readonly targets: readonly TargetRow[];
  readonly now: number;
  readonly toWall: ToWall;
}

/** Filters as they are asked for: what is left out does not narrow. */
export type FilterRequest = {
  readonly [Name in keyof ListFilters]?:
    | (ListFilters[Name] extends readonly unknown[] ? readonly string[] : ListFilters[Name])
    | undefined;
};

/** Sessions that agtmux leads are in no window, nor are agents without a pane. */
const isInTmux = ({ session, terminal }: PaneItem): boolean => session === null && terminal === null;

export function listPanes(input: ListInput, request: FilterRequest = {}): Result<PaneList> {
  const filters = checkFilters(input.targets, request);
  if (!filters.ok) return filters;
  const items = select(itemsOf(input, mayBeWanted(input.now, filters.value)), input, filters.value);
  return ok({ ...listHead(input, filters.value, items), items });
}

export function listWindows(
  input: ListInput,
  request: FilterRequest & { readonly with_agent_status?: boolean | undefined } = {},
): Result<WindowList> {
  const filters = checkFilters(input.targets, request);
  if (!filters.ok) return filters;
  const all = itemsOf(input);
  const items = select(all, input, filters.value).filter(isInTmux);
  const withAgents = request.with_agent_status ?? false;
  return ok({
    ...listHead(input, filters.value, items),
    with_agent_status: withAgents,
    items: windowItems(items, all, withAgents),
  });
}

export function listSessions(
  input: ListInput,
  request: FilterRequest & { readonly group_by?: Grouping | undefined } = {},
): Result<SessionList> {
  const filters = checkFilters(input.targets, request);
  if (!filters.ok) return filters;
  const all = itemsOf(input);
  const items = select(all, input, filters.value).filter(isInTmux);
  const grouping = request.group_by ?? 'target-session';
  return ok({
    ...listHead(input, filters.value, items),
    group_by: grouping,
    items: sessionItems(items, all, grouping),
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
export function needsAction({ state, reason_code }: Pick<AgentItem, 'state' | 'reason_code'>): boolean {
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
    return fail('E_FILTER', `"${bare.target}" is not a target_session`, 'use target/session, for example host/work');
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
    project: [...(request.project ?? [])],
    branch: [...(request.branch ?? [])],
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

const itemsOf = ({ rows, toWall }: ListInput, isWorth: (row: PaneRow) => boolean = () => true): readonly PaneItem[] =>
  rows.flatMap((row) => (isWorth(row) ? [paneItem(row, toWall)] : []));

/** Most rows are panes without an agent, or agents that ended long ago: nothing is made of those that no list would show. */
const mayBeWanted =
  (now: number, { all_panes, ended: hasEnded }: ListFilters) =>
  ({ agent, ended }: PaneRow): boolean => {
    if (agent === null) return all_panes;
    const isLongGone = ended !== null && (ended.listed_until === null || now - ended.listed_until > clockSlackMs);
    return hasEnded || !isLongGone;
  };

/** Times of people may run ahead of the daemon's, or behind, by far less. */
const clockSlackMs = 3_600_000;

function select(items: readonly PaneItem[], { now, toWall }: ListInput, filters: ListFilters): PaneItem[] {
  const wanted = items.filter((item) => isWanted(item, filters, toWall(now)));
  const compare = compareItems(filters.sort);
  return wanted.sort((one, other) => compare(one, other) || comparePlaces(one, other));
}

/** Whether these filters let a row through at this moment, in ms of the wall. */
export function isWanted(item: PaneItem, filters: Omit<ListFilters, 'sort'>, nowMs: number): boolean {
  const { target, session_name } = item.identity;
  return (
    allows(filters.target, target) &&
    allows(filters.session, session_name) &&
    allows(filters.target_session, `${target}/${session_name}`) &&
    (hasAgent(item) ? isAgentWanted(item, filters, nowMs) : areBarePanesWanted(filters))
  );
}

/** A pane without an agent has no state and no agent that a filter could be about. */
function areBarePanesWanted(filters: Omit<ListFilters, 'sort'>): boolean {
  const ofAgents = [...filters.state, ...filters.agent, ...filters.project, ...filters.branch];
  return filters.all_panes && ofAgents.length === 0 && !filters.needs_action;
}

function isAgentWanted(item: AgentItem, filters: Omit<ListFilters, 'sort'>, nowMs: number): boolean {
  return (
    (filters.ended || isListed(item, nowMs)) &&
    allows(filters.state, item.state) &&
    allows(filters.agent, item.agent) &&
    (filters.project.length === 0 || projectsOf(item).some((name) => filters.project.includes(name))) &&
    allows(filters.branch, item.git?.branch ?? '') &&
    (!filters.needs_action || needsAction(item))
  );
}

/** RSV12: whoever left in good order is gone at once, a bad end stays as long as the settings of its daemon say. */
export const isListed = ({ ended }: Pick<PaneItem, 'ended'>, nowMs: number): boolean =>
  ended === null || (ended.listed_until !== null && nowMs < Date.parse(ended.listed_until));

type Compare = (one: PaneItem, other: PaneItem) => number;

export const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Panes without an agent have nothing to sort by and stand last. */
const last = Number.MAX_SAFE_INTEGER;

const needOf = ({ state }: PaneItem): number => (state === null ? last : wordsOf(state).order);
const rankOf = ({ state }: PaneItem): number => (state === null ? last : precedenceOf(state));

const byNeed: Compare = (one, other) => needOf(one) - needOf(other);
// Times of one form stand in the order of their texts, and a tilde behind every digit.
const byAge: Compare = (one, other) => compareText(one.since ?? '~', other.since ?? '~');
const byState: Compare = (one, other) => rankOf(one) - rankOf(other);
const byAgent: Compare = (one, other) => compareText(one.agent ?? '\u{10ffff}', other.agent ?? '\u{10ffff}');
const byTarget: Compare = (one, other) => compareText(one.identity.target, other.identity.target);
const byName: Compare = (one, other) =>
  compareText(one.identity.session_name, other.identity.session_name) ||
  one.window_index - other.window_index ||
  one.pane_index - other.pane_index;

function compareItems(sort: Sort): Compare {
  switch (sort) {
    case 'needs':
      return (one, other) => byNeed(one, other) || byAge(one, other);
    case 'age':
      return byAge;
    case 'agent':
      return (one, other) => byAgent(one, other) || byNeed(one, other) || byAge(one, other);
    case 'target':
      return (one, other) => byTarget(one, other) || byName(one, other);
    case 'state':
      return (one, other) => byState(one, other) || byAge(one, other);
    case 'name':
      return byName;
  }
}

/** Whatever is asked for, rows that tie stand by their place, so that a list never jumps by itself. */
const comparePlaces: Compare = (one, other) =>
  byTarget(one, other) || byName(one, other) || compareText(one.ref, other.ref);

/** Who needs a person first, then who has waited longest: the order where nobody asked for another one. */
export const compareByNeed: Compare = (one, other) =>
  byNeed(one, other) || byAge(one, other) || comparePlaces(one, other);

export const rollupOf = (items: readonly PaneItem[]): ReturnType<typeof rollup> =>
  rollup(
    items
      .filter(hasAgent)
      .map(({ identity, agent, state }) => ({ target: targetId(identity.target), agent: agentName(agent), state })),
  );

function listHead(input: ListInput, filters: ListFilters, items: readonly PaneItem[]): Omit<PaneList, 'items'> {
  const { by_state, by_agent, by_target } = rollupOf(items);
  const chosen = [...filters.target, ...filters.target_session.map((place) => splitPlace(place).target)];
  const targets = listTargets({ ...input, targets: input.targets.filter((row) => allows(chosen, row.target)) });
  return {
    schema_version: schemaVersion,
    generated_at: targets.generated_at,
    filters,
    summary: {
      total: items.length,
      needs_action: items.filter(hasAgent).filter(needsAction).length,
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

/** Names may hold any character but this one, so joined parts never meet. */
const joint = '\u0000';

const windowKey = ({ identity }: PaneItem): string =>
  [identity.target, identity.window_id, identity.session_name].join(joint);

const sessionKeys: Readonly<Record<Grouping, (item: PaneItem) => string>> = {
  'target-session': ({ identity }) => [identity.target, identity.session_name].join(joint),
  'session-name': ({ identity }) => identity.session_name,
};

/** Groups appear in the order of their first row, so the order of rows is also the order of groups. */
export function groupedBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Whoever outlived its pane is in no window and no session any more. */
const isPlaced = ({ reason_code }: PaneItem): boolean => reason_code !== 'no_pane';

function firstOf(group: readonly PaneItem[]): PaneItem {
  const [first] = group;
  assert(first !== undefined, 'a group begins with its first row');
  return first;
}

/** Panes that stand now: an ended agent may have taken its pane along, and nested agents share one. */
function countPanes(group: readonly PaneItem[]): number {
  const standing = group.filter(({ ended }) => ended === null);
  return new Set(standing.map(({ identity }) => [identity.target, identity.pane_id].join(joint))).size;
}

/** `all`: also those that the filters left out: a window has as many panes as it has. */
function windowItems(items: readonly PaneItem[], all: readonly PaneItem[], withAgents: boolean): WindowItem[] {
  const whole = groupedBy(all.filter(isPlaced), windowKey);
  return [...groupedBy(items.filter(isPlaced), windowKey)].map(([key, group]) => {
    const { identity, window_name, window_index } = firstOf(group);
    const { by_target: _, ...counts } = rollupOf(group);
    const { target, session_name, window_id } = identity;
    return {
      identity: { target, session_name, window_id: window_id ?? '' },
      window_name,
      window_index,
      ...counts,
      panes: countPanes(whole.get(key) ?? []),
      ...(withAgents ? { agents: group.filter(hasAgent).map(agentStatus) } : {}),
    };
  });
}

function agentStatus(item: AgentItem): AgentStatus {
  const { ref, runtime_id, agent, nick, seen, state, reason_code, confidence, since, pane_index } = item;
  return { ref, runtime_id, agent, nick, seen, state, reason_code, confidence, since, pane_index };
}

function sessionItems(items: readonly PaneItem[], all: readonly PaneItem[], grouping: Grouping): SessionItem[] {
  const keyOf = sessionKeys[grouping];
  const whole = groupedBy(all.filter(isPlaced), keyOf);
  return [...groupedBy(items.filter(isPlaced), keyOf)].map(([key, group]) => {
    const { target, session_name } = firstOf(group).identity;
    return {
      identity: { target: grouping === 'session-name' ? null : target, session_name },
      ...rollupOf(group),
      panes: countPanes(whole.get(key) ?? []),
      windows: new Set(group.map(windowKey)).size,
    };
  });
}
