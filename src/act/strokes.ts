// Keys at a dialog, one guarded step after the other: each only while the dialog's own words are on the screen, and text
// in two steps like any message (ACT2). Stops at the first step that does not go through.

import type { Keys, SeenAsk, Stroke } from '../agents/contract.ts';
import { limits } from '../model/limits.ts';
import type { Attempt, Bench, Grip } from './bench.ts';
import { searchable } from './guard-format.ts';
import { typeAndSubmit } from './guarded-hands.ts';
import type { Touch } from './hands.ts';

/** How far it went, and what stopped it; null when everything was done. */
export interface Stroked {
  readonly done: number;
  readonly stop: Exclude<Touch, { kind: 'done' }> | { readonly kind: 'unseen' } | null;
}

export interface StrokeOptions extends Pick<Keys, 'collapsed' | 'enterPauseMs'> {
  /** The words that must be on the screen for a key to be pressed. */
  readonly shown: string | null;
  /** Asked directly before every step. */
  readonly recheck: () => Promise<boolean>;
}

export async function perform(
  bench: Bench,
  grip: Grip,
  strokes: readonly Stroke[],
  options: StrokeOptions,
): Promise<Stroked> {
  const { place, hands } = grip;
  const before = strokes.some((one) => 'keys' in one && one.after !== undefined) ? await hands.look(place) : [];
  let { shown } = options;
  let last: readonly string[] = [];
  for (let index = 0; index < strokes.length; index += 1) {
    const stroke = strokes[index];
    if (stroke === undefined) break;
    if ('keys' in stroke) {
      const { keys, after } = stroke;
      if (after === undefined && index > 0) await bench.wait(limits.strokesApartMs);
      const stop =
        after === undefined
          ? await pressed(grip, keys, shown, options)
          : await pressedAfter(bench, grip, { keys, after, last, before }, options);
      if (stop !== null) return { done: index, stop };
      last = keys;
      continue;
    }
    const enter = isEnter(strokes[index + 1]);
    const typed = await typeAndSubmit(hands, place, stroke.text, { ...options, enter, clock: bench.ground.clock });
    // Once words were typed the dialog shows them instead of its own.
    shown = null;
    if (typed === 'pasted') return { done: index + 1, stop: { kind: 'unseen' } };
    if (typed !== 'submitted' && typed.kind !== 'done') return { done: index, stop: typed };
    if (enter) index += 1;
  }
  return { done: strokes.length, stop: null };
}

async function pressed(
  { place, hands }: Grip,
  keys: readonly string[],
  shown: string | null,
  { recheck }: Pick<StrokeOptions, 'recheck'>,
): Promise<Stroked['stop']> {
  if (!(await recheck())) return { kind: 'refused', why: 'other_process' };
  const touch = await hands.press(place, keys, shown ?? undefined);
  return touch.kind === 'done' ? null : touch;
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
  bench: Bench,
  grip: Grip,
  { keys, after, last, before }: KeysAfter,
  options: StrokeOptions,
): Promise<Stroked['stop']> {
  const countIn = (lines: readonly string[]): number => lines.filter((line) => line.includes(after)).length;
  const isThere = async (): Promise<boolean> => countIn(await grip.hands.look(grip.place)) > countIn(before);
  for (let tries = 1; ; tries += 1) {
    // Looked for often: Copilot waits half a second for the second key.
    const stop = (await bench.comesTrue(isThere, limits.keyShownMs, limits.pasteLookMs))
      ? await pressed(grip, keys, after, options)
      : ({ kind: 'unseen' } as const);
    const isLost = stop?.kind === 'unseen' || (stop?.kind === 'refused' && stop.why === 'not_shown');
    if (!isLost || tries === limits.keyTriesMax) return stop;
    const again = await pressed(grip, last, null, options);
    if (again !== null) return again;
  }
}

const isEnter = (stroke: Stroke | undefined): boolean =>
  stroke !== undefined && 'keys' in stroke && stroke.keys.length === 1 && stroke.keys[0] === 'Enter';

/**
 * A piece of one line of the screen that belongs to this dialog: keys are pressed only while it stands there. Rather of
 * what is asked about than of the question, which is the same in every dialog; null when nothing of it is found.
 */
export function wordsOnScreen({ text }: Pick<SeenAsk, 'text'>, lines: readonly string[]): string | null {
  const matter = text.split('\n').flatMap((line) => (isBeside.test(line) ? [] : line.replace(label, '')));
  return longestOf(matter.join('\n'), lines) ?? longestOf(text, lines);
}

function longestOf(text: string, lines: readonly string[]): string | null {
  const asked = squeezed(text);
  let best: string | null = null;
  for (const line of lines) {
    const piece = searchable(line);
    if (piece === null || squeezed(piece).length < pieceCharsMin || !asked.includes(squeezed(piece))) continue;
    if (best === null || piece.length > best.length) best = piece;
  }
  return best;
}

/** A question, or words about what is asked: other dialogs may have the same. */
const isBeside = /\?\s*$|^\s*#\s/;

/** `Environment: local` stands in every dialog of its agent. */
const label = /^\s*[A-Z]\w+:\s/;

/** Shorter pieces stand on every screen. */
const pieceCharsMin = 3;

/** Letters and digits alone: frames, blanks and line ends differ from screen to screen. */
export const squeezed = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '');

/** Whether words stand in a text: short ones as whole words, longer ones even where a line broke inside of one. */
export function stands(words: string, text: string): boolean {
  const wanted = squeezed(words);
  if (wanted.length >= wholeCharsMin) return squeezed(text).includes(wanted);
  const apart = (one: string): string => ` ${(one.match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')} `;
  return wanted !== '' && apart(text).includes(apart(words));
}

/** `ls` stands in `tools`; words of this length stand nowhere by chance. */
const wholeCharsMin = 12;

/** The same for the whole attempt: owner and place. */
export const rechecks =
  (bench: Bench, attempt: Attempt, grip: Grip, more: () => Promise<boolean> = async () => true) =>
  async (): Promise<boolean> =>
    (await bench.holds(attempt, grip)) && (await more());
