// Agents as the pages show them: who is there, who needs a person first, and what stands beside each name. Pure, in the
// words and the order of every other screen.

import type { PaneItem } from '../../api/schemas.ts';
import { reasons } from '../../model/reasons.ts';
import { placeText } from '../../model/rows.ts';
import { type StateName, stateNames } from '../../model/states.ts';
import { needsAction } from '../../view/lists.ts';
import { compareText } from '../../view/lists-order.ts';
import { isListed } from '../../view/pane-words.ts';
import { ageLabel, agentLabel, backgroundLabel, wordsOf } from '../../view/words.ts';
import type { Model } from './model.ts';

/** A row with an agent in it. */
export type AgentItem = PaneItem & {
  readonly runtime_id: string;
  readonly agent: string;
  readonly state: StateName;
  readonly since: string;
};

export const isAgent = (item: PaneItem): item is AgentItem => item.agent !== null && item.state !== null;

/** Who needs a person first; among equals the one that waits longest; among those by place. */
export function compareAgents(one: AgentItem, other: AgentItem): number {
  return (
    wordsOf(one.state).order - wordsOf(other.state).order ||
    Date.parse(one.since) - Date.parse(other.since) ||
    compareText(placeOf(one), placeOf(other)) ||
    compareText(one.runtime_id, other.runtime_id)
  );
}

export function agentsOf(model: Pick<Model, 'rows'>, now: number): readonly AgentItem[] {
  return [...model.rows.values()]
    .filter((item): item is AgentItem => isAgent(item) && isListed(item, now))
    .sort(compareAgents);
}

export const needsYou = (item: AgentItem): boolean =>
  item.reason_code !== null && needsAction({ state: item.state, reason_code: item.reason_code });

export const projectOf = (cwd: string): string => cwd.replace(/\/+$/, '').split('/').at(-1) || cwd;

export const placeOf = (item: PaneItem): string => placeText(item, item.reason_code, item.session !== null) ?? item.ref;

export const refOf = ({ runtime_id }: AgentItem): string => `runtime:${runtime_id}`;

export const isAway = ({ reason_code }: PaneItem): boolean => reason_code === 'target_unreachable';

/** `12s`, as of this moment; empty where nobody knows. */
export const ageOf = (since: string | null, now: number): string =>
  since === null ? '' : ageLabel(now - Date.parse(since));

const timeText = (at: string): string =>
  new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false });

/** What it asks, does or suffers from; unknown is never shown without its reason. */
export function whatOf(item: AgentItem, now: number): string {
  const limit = item.reason_code === 'usage_limit';
  const reason = item.reason_code === null ? '' : reasons[item.reason_code].words;
  const isTold = item.state === 'unknown' || item.state === 'error';
  const away = isAway(item) ? `${reason}, seen ${ageOf(item.last_seen_at, now)} ago` : null;
  const first =
    item.ask?.text ??
    (limit ? `usage limit${item.until === null ? '' : `, resets ${timeText(item.until)}`}` : null) ??
    item.detail ??
    away ??
    (isTold ? reason : '');
  return first;
}

/** Small words beside it: background work, a stall, that it approves for itself. */
export function marksOf(item: AgentItem): readonly string[] {
  return [
    backgroundLabel(item.background),
    item.asks_open > 1 ? `${item.asks_open} asks` : '',
    item.reason_code === 'stalled' ? 'stalled' : '',
    item.suspended ? 'suspended' : '',
  ].filter((mark) => mark !== '');
}

export interface Group {
  readonly name: string;
  readonly items: readonly AgentItem[];
}

/** By target and session, in the order of their first agent; what agtmux leads itself is one group. */
export function groupsOf(items: readonly AgentItem[]): readonly Group[] {
  const groups = new Map<string, AgentItem[]>();
  for (const item of items) {
    const { target, session_name } = item.identity;
    const name = item.session === null ? `${target} / ${session_name}` : 'sessions led by agtmux';
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return [...groups].map(([name, group]) => ({ name, items: group }));
}

export type Counts = Readonly<Record<StateName, number>>;

export function countsOf(items: readonly AgentItem[]): Counts {
  const counts = Object.fromEntries(stateNames.map((state) => [state, 0])) as Record<StateName, number>;
  for (const { state } of items) counts[state] += 1;
  return counts;
}

/** In the order of rows. */
export const statesInOrder: readonly StateName[] = [...stateNames].sort(
  (one, other) => wordsOf(one).order - wordsOf(other).order,
);

/** Every word that was typed must stand somewhere in what the row says. */
export function filterAgents(items: readonly AgentItem[], typed: string): readonly AgentItem[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return items;
  return items.filter((item) => {
    const { ask, detail, cwd, title, session } = item;
    const said = [agentLabel(item), wordsOf(item.state).word, item.state, placeOf(item), cwd, title];
    const text = [...said, ask?.text ?? '', detail ?? '', session?.title ?? ''].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Agents that wait for an answer: the number on the badge and in the title. */
export const waitingCount = (items: readonly AgentItem[]): number =>
  items.filter(({ state }) => state === 'waiting_approval' || state === 'waiting_input').length;
