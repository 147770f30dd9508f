// The board: which agents are on it, in which groups and which order, and what a filter means. Pure, and the same for the
// terminal and the page; how a row looks is left to them.

import type { PaneItem } from '../api/panes.ts';
import { hasAgent, placeOf } from '../model/rows.ts';
import { type StateName, stateNames } from '../model/states.ts';
import { type AgentItem, compareByNeed, compareText, groupedBy, isListed, needsAction, rollupOf } from './lists.ts';
import { projectsOf, whatOf } from './pane-words.ts';
import { agentLabel, wordsOf } from './words.ts';

export type { AgentItem } from './lists.ts';

export const needsYou = (item: AgentItem): boolean => needsAction(item);

/** How many wait for a person: the one number that stands in titles, on badges and over lists. */
export const needsYouCount = (items: readonly AgentItem[]): number => items.filter(needsYou).length;

export type Counts = Readonly<Record<StateName, number>>;

export const countsOf = (items: readonly AgentItem[]): Counts => rollupOf(items).by_state;

export function boardItems(rows: Iterable<PaneItem>, nowMs: number): readonly AgentItem[] {
  return [...rows]
    .filter(hasAgent)
    .filter((item) => isListed(item, nowMs))
    .sort(compareByNeed);
}

export interface BoardFilter {
  /** Each must be found somewhere in the row. */
  readonly words: readonly string[];
  readonly states: readonly string[];
  readonly agents: readonly string[];
  readonly targets: readonly string[];
  /** The beginning of where it is: `host/work:1`. */
  readonly places: readonly string[];
  readonly projects: readonly string[];
  readonly branches: readonly string[];
}

/** `state:approve agent:claude target:vm1 in:host/work project:web branch:main web`: what has no name in front is looked for everywhere. */
export function parseFilter(text: string): BoardFilter {
  const parts = text
    .toLowerCase()
    .split(/\s+/)
    .filter((part) => part !== '');
  const named = (name: string): readonly string[] =>
    parts.filter((part) => part.startsWith(`${name}:`)).map((part) => part.slice(name.length + 1));
  return {
    words: parts.filter((part) => !/^(state|agent|target|in|project|branch):/.test(part)),
    states: named('state'),
    agents: named('agent'),
    targets: named('target'),
    places: named('in'),
    projects: named('project'),
    branches: named('branch'),
  };
}

const begins = (wanted: readonly string[], ...values: readonly string[]): boolean =>
  wanted.length === 0 || wanted.some((one) => values.some((value) => value.toLowerCase().startsWith(one)));

/** Several values of one name are alternatives, several names and words all have to fit. */
export function fits(item: AgentItem, filter: BoardFilter, nowMs: number): boolean {
  return (
    begins(filter.states, item.state, wordsOf(item.state).word) &&
    begins(filter.agents, item.agent, item.nick ?? item.agent) &&
    begins(filter.targets, item.identity.target) &&
    begins(filter.places, placeOf(item)) &&
    begins(filter.projects, ...projectsOf(item)) &&
    begins(filter.branches, item.git?.branch ?? '') &&
    filter.words.every((word) => textOf(item, nowMs).includes(word))
  );
}

function textOf(item: AgentItem, nowMs: number): string {
  const { cwd, title, task, session, state } = item;
  const said = [wordsOf(state).word, state, agentLabel(item), whatOf(item, nowMs, 0), placeOf(item)];
  return [...said, cwd, title, task ?? '', session?.title ?? '', item.git?.branch ?? ''].join(' ').toLowerCase();
}

/** What a word of a filter may become: names of states, agents, targets, projects and branches that begin like it. */
export function completions(text: string, items: readonly AgentItem[]): readonly string[] {
  const [, name = '', start = ''] = /(?:^|\s)(state|agent|target|project|branch):(\S*)$/.exec(text.toLowerCase()) ?? [];
  const values: Readonly<Record<string, readonly string[]>> = {
    state: stateNames.map((state) => wordsOf(state).word),
    agent: items.map(({ agent }) => agent),
    target: items.map(({ identity }) => identity.target),
    project: items.flatMap(projectsOf),
    branch: items.flatMap(({ git }) => git?.branch ?? []),
  };
  return [...new Set(values[name] ?? [])].filter((value) => value.toLowerCase().startsWith(start)).sort();
}

export const boardGroupings = ['agents', 'windows', 'sessions', 'projects', 'branches'] as const;
export type BoardGrouping = (typeof boardGroupings)[number];

export interface BoardGroup {
  /** Stays the same for as long as the group is the same one. */
  readonly key: string;
  /** As others wrote it. */
  readonly title: string;
  /** What is listed under it. */
  readonly items: readonly AgentItem[];
  /** Counts of all of it, also of those that are listed elsewhere. */
  readonly counts: Counts;
  readonly top: StateName | null;
}

export const needsYouKey = 'needs';

function sessionKey({ identity, session, terminal }: AgentItem): string {
  if (terminal !== null) return `${identity.target} / outside tmux: ${terminal}`;
  return session === null ? `${identity.target} / ${identity.session_name}` : `${identity.target} / managed by agtmux`;
}

const windowKey = (item: AgentItem): string =>
  item.session === null && item.terminal === null
    ? `${item.identity.target}/${item.identity.session_name}:${item.window_index} ${item.window_name}`
    : sessionKey(item);

const projectKey = (item: AgentItem): string => projectsOf(item).at(-1) ?? '';

const branchKey = (item: AgentItem): string =>
  `${projectKey(item)} / ${item.git === null ? 'no git' : (item.git.branch ?? 'no branch')}`;

const groupKeys: Readonly<Record<BoardGrouping, (item: AgentItem) => string>> = {
  agents: sessionKey,
  windows: windowKey,
  sessions: sessionKey,
  projects: projectKey,
  branches: branchKey,
};

function groupOf(key: string, title: string, all: readonly AgentItem[], items: readonly AgentItem[]): BoardGroup {
  const { by_state, top_state } = rollupOf(all);
  return { key, title, items, counts: by_state, top: top_state };
}

/** Window 2 stands before window 10. */
const byNumber = new Intl.Collator('en', { numeric: true });

/**
 * Those who need a person in a group of their own, all others by target and session. Groups stand by their names, so that
 * none jumps when an agent in it changes.
 */
export function boardGroups(items: readonly AgentItem[], grouping: BoardGrouping): readonly BoardGroup[] {
  const keyOf = groupKeys[grouping];
  const urgent = grouping === 'agents' ? items.filter(needsYou) : [];
  const groups = [...groupedBy(items, keyOf)]
    .sort(([one], [other]) => byNumber.compare(one, other) || compareText(one, other))
    .map(([title, all]) =>
      groupOf(title, title, all, grouping === 'agents' ? all.filter((one) => !needsYou(one)) : all),
    )
    .filter((group) => group.items.length > 0);
  return urgent.length === 0 ? groups : [groupOf(needsYouKey, 'Needs you', urgent, urgent), ...groups];
}
