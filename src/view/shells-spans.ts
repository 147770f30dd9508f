// Lines of a screen as pieces of text with the role of their colour: what draws them decides how a role looks, and no
// colour ever takes a column. A line is never wider than it was made for.

import { cut, pad, width } from '../text/width.ts';
import { type PaintRole, paint } from './paint.ts';

export interface Span {
  /** Without effects: it has passed the gate, or is our own. */
  readonly text: string;
  readonly role: PaintRole | null;
  /** Instead of a role: colours of what others printed, in the one form that the gate writes them. */
  readonly sgr?: string;
}

export type SpanLine = readonly Span[];

export const span = (text: string, role: PaintRole | null = null): Span => ({ text, role });

export const lineText = (line: SpanLine): string => line.map(({ text }) => text).join('');

export const paintLine = (line: SpanLine): string =>
  line.map(({ text, role }) => (role === null || text === '' ? text : paint(text, role))).join('');

/** At most `columns` columns; what does not fit ends in an ellipsis. */
export function cutLine(line: SpanLine, columns: number): SpanLine {
  if (width(lineText(line)) <= columns) return line;
  const kept: Span[] = [];
  let room = columns;
  for (const one of line) {
    const needed = width(one.text);
    if (needed < room) {
      kept.push(one);
      room -= needed;
      continue;
    }
    // The ellipsis stands for this piece's end and for all that follows.
    kept.push({ ...one, text: cut(`${one.text}…`, room) });
    break;
  }
  return kept;
}

/** Exactly `columns` wide and in one role, so that the whole row stands out. */
export const selectedLine = (line: SpanLine, columns: number): SpanLine => [
  span(pad(lineText(cutLine(line, columns)), columns), 'selected'),
];

const gap = ' · ';

/** Hints one after the other, on as many lines as they need; none is cut while it fits a line. */
export function hintLines(hints: readonly string[], columns: number): readonly SpanLine[] {
  const lines: string[] = [];
  for (const hint of hints) {
    const last = lines.at(-1);
    if (last !== undefined && width(last + gap + hint) <= columns) lines[lines.length - 1] = last + gap + hint;
    else lines.push(hint);
  }
  return lines.map((text) => [span(cut(text, columns), 'dim')]);
}
