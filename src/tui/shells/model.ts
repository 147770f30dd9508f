// What the [Shell] panel remembers: its tab, the row that is selected, the shell whose log is open, and what is to be
// confirmed. What there is of shells is the world's.

import type { ShellItem, ShellPageReply, ShellReceiptReply } from '../../api/shells.ts';
import type { AgtmuxError } from '../../model/errors.ts';
import type { ShellId, ShellLogMode, ShellLogPage, ShellStatus } from '../../model/shells.ts';
import type { PaintRole } from '../../view/paint.ts';
import { shellsOfTab } from '../../view/shells-panel.ts';
import type { World } from '../contract.ts';

/** One line that says what became of a key. */
export interface Note {
  readonly text: string;
  readonly role: PaintRole;
}

/** The log of one shell, open over the whole screen. */
export interface Look {
  readonly shell_id: ShellId;
  /** tail: its end, as it grows. body: from the beginning, a page after the other. */
  readonly mode: ShellLogMode;
  readonly page: ShellLogPage | null;
  /** Lines above the window; the end, where it is more than there are. */
  readonly scroll: number;
  readonly isReading: boolean;
  /** What the page was read for: another one means that there is more. */
  readonly readFor: string;
}

export interface ShellsModel {
  readonly tab: ShellStatus;
  readonly selected: ShellId | null;
  /** Where the selected row stood: its neighbour is selected when it goes. */
  readonly place: number;
  readonly look: Look | null;
  /** The shell that a yes would kill. */
  readonly killing: ShellId | null;
  readonly note: Note | null;
}

export type ShellsOwn =
  | { readonly is: 'receipt'; readonly receipt: ShellReceiptReply }
  | { readonly is: 'page'; readonly page: ShellPageReply; readonly mode: ShellLogMode; readonly isMore: boolean }
  | { readonly is: 'seen' }
  | { readonly is: 'failed'; readonly problem: AgtmuxError };

export const firstModel: ShellsModel = {
  tab: 'running',
  selected: null,
  place: 0,
  look: null,
  killing: null,
  note: null,
};

export const shellBy = ({ shells }: Pick<World, 'shells'>, id: ShellId | null): ShellItem | null =>
  shells.find(({ shell_id }) => shell_id === id) ?? null;

/** The selected row as it is drawn; null where the tab is empty. */
export function selectedOf(model: ShellsModel, { shells }: Pick<World, 'shells'>): ShellItem | null {
  const shown = shellsOfTab(shells, model.tab);
  return shown.find(({ shell_id }) => shell_id === model.selected) ?? shown[model.place] ?? shown.at(-1) ?? null;
}

/** Another log than the one that was read: it has grown, ended or begun again. */
export const readForOf = ({ attempt, status, log }: ShellItem): string => `${attempt}:${log.bytes}:${status}`;
