// The board as data: which row is selected, what is filtered, folded and being done. Pure.

import {
  type AgentItem,
  type BoardGroup,
  type BoardGrouping,
  boardGroups,
  boardItems,
  fits,
  parseFilter,
} from '../../view/board.ts';
import { type Acting, type ActingOwn, notActing } from '../acting.ts';
import type { World } from '../contract.ts';
import { emptyText, type TextField } from '../text-field.ts';

export interface BoardModel {
  /** A runtime, or `group:` and the key of one; null until there is something to select. */
  readonly selected: string | null;
  /** Where it stood among what can be selected: when it goes, what comes to stand there is selected. */
  readonly at: number;
  readonly filter: TextField;
  readonly isFiltering: boolean;
  readonly grouping: BoardGrouping;
  /** Groups that are not as they are at first: folded among agents, unfolded among windows and sessions. */
  readonly turned: ReadonlySet<string>;
  readonly acting: Acting;
  /** Runtimes that a message to many goes to. */
  readonly marked: ReadonlySet<string>;
  /** What the screen of the selected agent shows, where there is room for it beside the list. */
  readonly preview: Preview | null;
  readonly isPreviewOff: boolean;
  /** Lines of it above the last ones; 0 follows what comes. */
  readonly up: number;
  /** The next key says what is copied. */
  readonly isCopying: boolean;
  /** Rings when somebody comes to need a person. */
  readonly rings: boolean;
  /** Who needed a person when it last looked. */
  readonly needing: ReadonlySet<string> | null;
  /** Who is selected and what it asks, as it was last; null where nobody was. */
  readonly asks: string | null;
  /** When what is selected came to ask something else without a key of the person, in ms. */
  readonly askedMs: number;
}

export interface Preview {
  readonly runtime: string;
  readonly lines: readonly string[];
  /** Why there is nothing to see, or what it is instead of a screen. */
  readonly words: string | null;
}

export type BoardOwn =
  | ActingOwn
  | { readonly is: 'preview'; readonly preview: Preview }
  | { readonly is: 'copied'; readonly text: string | null; readonly words: string }
  | { readonly is: 'told'; readonly text: string };

export const firstBoard: BoardModel = {
  selected: null,
  at: 0,
  filter: emptyText,
  isFiltering: false,
  grouping: 'agents',
  turned: new Set(),
  acting: notActing,
  marked: new Set(),
  preview: null,
  isPreviewOff: false,
  up: 0,
  isCopying: false,
  rings: false,
  needing: null,
  asks: null,
  askedMs: 0,
};

/** One line of the list. */
export type Entry =
  | { readonly is: 'group'; readonly id: string; readonly group: BoardGroup; readonly isFolded: boolean }
  | { readonly is: 'agent'; readonly id: string; readonly item: AgentItem; readonly group: BoardGroup };

export interface Listed {
  readonly entries: readonly Entry[];
  readonly items: readonly AgentItem[];
  /** Without the filter. */
  readonly all: readonly AgentItem[];
}

/** From here on the screen of the selected agent stands beside the list. */
const previewFrom = 100;

/** Columns of the list; as many as there are where nothing stands beside it. */
export function listColumns({ isPreviewOff }: BoardModel, columns: number): number {
  if (isPreviewOff || columns < previewFrom) return columns;
  return Math.max(66, Math.min(110, Math.floor(columns * 0.55)));
}

export const hasPreview = (model: BoardModel, columns: number): boolean => listColumns(model, columns) < columns;

export const turnKey = (grouping: BoardGrouping, key: string): string => `${grouping} ${key}`;

/** Made once for each world and model: a picture, a key and the footer ask for it several times. */
let last: { readonly world: World; readonly model: BoardModel; readonly listed: Listed } | null = null;

export function listed(model: BoardModel, world: World): Listed {
  if (
    last !== null &&
    last.world.rows === world.rows &&
    last.model.filter.text === model.filter.text &&
    last.model.grouping === model.grouping &&
    last.model.turned === model.turned &&
    Math.abs(last.world.nowMs - world.nowMs) < 60_000
  ) {
    return last.listed;
  }
  last = { world, model, listed: list(model, world) };
  return last.listed;
}

function list({ filter, grouping, turned }: BoardModel, world: World): Listed {
  const all = boardItems(world.rows.values(), world.nowMs);
  const wanted = parseFilter(filter.text);
  const items = filter.text.trim() === '' ? all : all.filter((item) => fits(item, wanted, world.nowMs));
  const entries = boardGroups(items, grouping).flatMap((group): readonly Entry[] => {
    const isFolded = (grouping !== 'agents') !== turned.has(turnKey(grouping, group.key));
    const head: Entry = { is: 'group', id: `group:${group.key}`, group, isFolded };
    const rows = group.items.map((item): Entry => ({ is: 'agent', id: item.runtime_id, item, group }));
    return isFolded ? [head] : [head, ...rows];
  });
  return { entries, items, all };
}

/** Agents, and groups whose agents are folded away; in the other views every group. */
export const canSelect = (entry: Entry, grouping: BoardGrouping): boolean =>
  entry.is === 'agent' || entry.isFolded || grouping !== 'agents';

export const selectable = (model: BoardModel, world: World): readonly Entry[] =>
  listed(model, world).entries.filter((entry) => canSelect(entry, model.grouping));

/** Who is selected now; the first at the start: whoever needs a person stands there. */
export function selectedEntry(model: BoardModel, world: World): Entry | null {
  const among = selectable(model, world);
  return among.find(({ id }) => id === model.selected) ?? among[Math.min(model.at, among.length - 1)] ?? null;
}

export function selectedItem(model: BoardModel, world: World): AgentItem | null {
  const entry = selectedEntry(model, world);
  return entry?.is === 'agent' ? entry.item : null;
}

/** Whom an answer would go to, and what it would answer. */
export function asksOf(model: BoardModel, world: World): string | null {
  const item = selectedItem(model, world);
  return item === null ? null : `${item.runtime_id} ${item.ask?.ask_id ?? ''}`;
}
