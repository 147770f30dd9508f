// Keys at a dialog, one guarded step after the other: each only while the whole dialog stands on the screen, and text in
// two steps like any message (ACT2). Stops at the first step that does not go through.

import type { KeyStep, Keys, SeenAsk } from '../agents/contract.ts';
import { squeezed } from '../agents/screen/fitting.ts';
import { limits } from '../model/limits.ts';
import type { SeenRows, Shown, WriteResult } from '../terminals/tmux/pane-writer.ts';
import type { ActionContext, Attempt, PaneHandle } from './action-context.ts';
import { typeAndSubmit } from './submitting.ts';

/** How far it went, and what stopped it; null when everything was done. */
export interface KeySequenceResult {
  readonly done: number;
  readonly stop: Exclude<WriteResult, { kind: 'done' }> | { readonly kind: 'unseen' } | null;
}

export interface KeySequenceOptions extends Pick<Keys, 'collapsed' | 'enterPauseMs'> {
  /** What must stand on the screen for the next key to be pressed, looked at now; null when it does not. */
  readonly shown: (() => Promise<Shown | null>) | null;
  /** Asked directly before every step. */
  readonly recheck: () => Promise<boolean>;
}

export async function perform(
  context: ActionContext,
  handle: PaneHandle,
  strokes: readonly KeyStep[],
  options: KeySequenceOptions,
): Promise<KeySequenceResult> {
  const { place, writer } = handle;
  const before = strokes.some((one) => 'keys' in one && one.after !== undefined) ? await writer.look(place) : [];
  let { shown } = options;
  let last: readonly string[] = [];
  for (let index = 0; index < strokes.length; index += 1) {
    const stroke = strokes[index];
    if (stroke === undefined) break;
    if ('keys' in stroke) {
      const { keys, after } = stroke;
      if (after === undefined && index > 0) await context.wait(limits.strokesApartMs);
      const stop =
        after === undefined
          ? await pressedWhile(handle, keys, shown, options)
          : await pressedAfter(context, handle, { keys, after, last, before }, options);
      if (stop !== null) return { done: index, stop };
      last = keys;
      continue;
    }
    const enter = isEnter(strokes[index + 1]);
    // A field of a dialog is no prompt.
    const { collapsed, enterPauseMs, recheck } = options;
    const how = { enter, collapsed, enterPauseMs, recheck, clock: context.ground.clock };
    const typed = await typeAndSubmit(writer, place, stroke.text, how);
    // Once words were typed the dialog shows them instead of its own.
    shown = null;
    if (typed === 'pasted' || typed === 'mixed') return { done: index + 1, stop: { kind: 'unseen' } };
    if (typed !== 'submitted' && typed.kind !== 'done') return { done: index, stop: typed };
    if (enter) index += 1;
  }
  return { done: strokes.length, stop: null };
}

async function pressed(
  { place, writer }: PaneHandle,
  keys: readonly string[],
  shown: Shown | null,
  { recheck }: Pick<KeySequenceOptions, 'recheck'>,
): Promise<KeySequenceResult['stop']> {
  if (!(await recheck())) return { kind: 'refused', why: 'other_process' };
  const touch = await writer.press(place, keys, shown ?? undefined);
  return touch.kind === 'done' ? null : touch;
}

/** Something around a dialog may have moved between look and key: then it is looked at anew, a few times. */
async function pressedWhile(
  { place, writer }: PaneHandle,
  keys: readonly string[],
  shown: (() => Promise<Shown | null>) | null,
  { recheck }: Pick<KeySequenceOptions, 'recheck'>,
): Promise<KeySequenceResult['stop']> {
  for (let tries = 1; ; tries += 1) {
    if (!(await recheck())) return { kind: 'refused', why: 'other_process' };
    const now = shown === null ? undefined : await shown();
    if (now === null) return { kind: 'refused', why: 'not_shown' };
    const touch = await writer.press(place, keys, now);
    if (touch.kind === 'done') return null;
    if (touch.kind !== 'refused' || touch.why !== 'not_shown' || tries === limits.dialogTriesMax) return touch;
  }
}

interface KeysAfter {
  readonly keys: readonly string[];
  /** The words they wait for, and the keys that bring them up. */
  readonly after: string;
  readonly last: readonly string[];
  /** The screen before the first key: the same words in what an agent says are no sign. */
  readonly before: readonly string[];
}

/** Where the words do not come, the keys before were lost or have been undone by time, and are pressed again. */
async function pressedAfter(
  context: ActionContext,
  handle: PaneHandle,
  { keys, after, last, before }: KeysAfter,
  options: KeySequenceOptions,
): Promise<KeySequenceResult['stop']> {
  const countIn = (lines: readonly string[]): number => lines.filter((line) => line.includes(after)).length;
  const isThere = async (): Promise<boolean> => countIn(await handle.writer.look(handle.place)) > countIn(before);
  for (let tries = 1; ; tries += 1) {
    // Looked for often: Copilot waits half a second for the second key.
    const stop = (await context.comesTrue(isThere, limits.keyShownMs, limits.pasteLookMs))
      ? await pressed(handle, keys, { words: after }, options)
      : ({ kind: 'unseen' } as const);
    const isLost = stop?.kind === 'unseen' || (stop?.kind === 'refused' && stop.why === 'not_shown');
    if (!isLost || tries === limits.keyTriesMax) return stop;
    const again = await pressed(handle, last, null, options);
    if (again !== null) return again;
  }
}

const isEnter = (stroke: KeyStep | undefined): boolean =>
  stroke !== undefined && 'keys' in stroke && stroke.keys.length === 1 && stroke.keys[0] === 'Enter';

/**
 * The dialog on a screen, row by row: from the first row that shows something of it to the last, frames and blank rows
 * between them included. Null when nothing of it is there.
 */
export function dialogOn(
  { text, options }: Pick<SeenAsk, 'text' | 'options'>,
  lines: readonly string[],
): SeenRows | null {
  const asked = squeezed(text);
  const labels = options.map(({ id, label }) => squeezed(`${id === label ? '' : id}${label}`));
  const isOf = (row: string): boolean =>
    row.length >= pieceCharsMin &&
    (asked.includes(row) || labels.some((label) => label !== '' && (row.includes(label) || label.includes(row))));
  const found = lines.flatMap((line, at) => (isOf(squeezed(line)) ? [at] : []));
  const [first] = found;
  const last = found.at(-1);
  if (first === undefined || last === undefined || !lines.some((line) => isPart(squeezed(line), asked))) return null;
  const rows = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const core = rows.filter((row) => isPart(squeezed(lines[row] ?? ''), asked));
  return {
    lines,
    rows,
    core: core.length <= coreRowsMax ? core : [...core.slice(0, coreRowsMax / 2), ...core.slice(-coreRowsMax / 2)],
  };
}

/** Of a long command the begin and the end. */
const coreRowsMax = 6;

/** Whether a row shows something of what is asked, and not of the options alone. */
const isPart = (row: string, asked: string): boolean => row.length >= pieceCharsMin && asked.includes(row);

/** Whether two looks show the same of what is asked; marks, and hints beside the options, may differ. */
export function asksSame({ text }: Pick<SeenAsk, 'text'>, one: SeenRows, other: SeenRows): boolean {
  const asked = squeezed(text);
  const words = ({ lines, rows }: SeenRows): string =>
    rows
      .map((row) => squeezed(lines[row] ?? ''))
      .filter((row) => isPart(row, asked))
      .join('\n');
  return words(one) === words(other);
}

/** Shorter pieces stand on every screen. */
const pieceCharsMin = 3;

/** The same for the whole attempt: owner and place. */
export const rechecks =
  (context: ActionContext, attempt: Attempt, handle: PaneHandle, more: () => Promise<boolean> = async () => true) =>
  async (): Promise<boolean> =>
    (await context.holds(attempt, handle)) && (await more());
