// Agents as the pages show them. Who is there, in which order and groups, what is said of each and what a filter means is
// told by src/view, as on every other screen; here is only what a page needs besides.

import type { PaneItem } from '../../api/panes.ts';
import { type AgentItem, boardItems, fits, parseFilter } from '../../view/board.ts';
import { besidesOf, saidOf } from '../../view/pane-words.ts';
import { offsetMinutes } from '../port.ts';
import type { Model } from './model.ts';

export const agentsOf = (model: Pick<Model, 'rows'>, now: number): readonly AgentItem[] =>
  boardItems(model.rows.values(), now);

export const refOf = ({ runtime_id }: AgentItem): string => `runtime:${runtime_id}`;

/** What it asks, does or suffers from, in the time of whoever looks. */
export const whatOf = (item: PaneItem, now: number): string => saidOf(item, now, offsetMinutes());

/** Small words beside it: open asks, background work, a stall. */
export const marksOf = (item: AgentItem): readonly string[] => [
  ...(item.asks_open > 1 ? [`${item.asks_open} requests`] : []),
  ...besidesOf(item),
];

/** `state:approve agent:claude in:host/work web`, as on the board. */
export function filterAgents(items: readonly AgentItem[], typed: string, now: number): readonly AgentItem[] {
  const filter = parseFilter(typed);
  return items.filter((item) => fits(item, filter, now));
}
