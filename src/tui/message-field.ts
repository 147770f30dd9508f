// A field that a person writes in: what is in it, where the cursor stands, and how both are drawn. What is put in loses
// everything that has an effect on a terminal, so what is seen is what is sent.

import { foreign, sanitizeBlock } from '../text/sanitize.ts';
import { cut, width } from '../text/width.ts';
import { type SpanLine, span } from '../view/shells-spans.ts';
import type { Key } from './contract.ts';

// Which keys change a field that a person writes in, and how. The same in every field of the TUI that is ours.

const edits: Readonly<Record<Key, Edit>> = {
  left: 'left',
  right: 'right',
  home: 'home',
  end: 'end',
  backspace: 'backspace',
  delete: 'delete',
  'ctrl+a': 'home',
  'ctrl+e': 'end',
  'ctrl+b': 'left',
  'ctrl+f': 'right',
  'ctrl+u': 'delete_before',
  'ctrl+k': 'delete_after',
  'ctrl+w': 'delete_word',
  'alt+backspace': 'delete_word',
  'alt+b': 'word_left',
  'alt+f': 'word_right',
};

const lineEnds: ReadonlySet<Key> = new Set(['alt+enter', 'shift+enter', 'ctrl+j']);

/** A character by itself; every other key has a name in plain letters. */
export const isCharacter = (key: Key): boolean => [...key].length === 1 || /[^\x20-\x7e]/u.test(key);

/** The field after the key, or null where the key means nothing in a field. */
export function fieldKey(field: TextField, key: Key, isOneLine = false): TextField | null {
  if (isCharacter(key)) return insert(field, key, isOneLine);
  if (lineEnds.has(key)) return isOneLine ? null : insert(field, '\n');
  const what = edits[key];
  return what === undefined ? null : edit(field, what);
}

export interface TextField {
  readonly text: string;
  /** Code units before the cursor; never inside a character. */
  readonly at: number;
}

export const emptyField: TextField = { text: '', at: 0 };
export const fieldOf = (text: string): TextField => ({ text, at: text.length });

/** A prompt with a pasted file in it; more is better read from one. */
const charsMax = 200_000;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

export function insert({ text, at }: TextField, typed: string, isOneLine = false): TextField {
  const gated: string = sanitizeBlock(foreign(typed.replaceAll('\r\n', '\n').replaceAll('\r', '\n')));
  const plain = gated.replaceAll('\t', '    ');
  const added = (isOneLine ? plain.replaceAll('\n', ' ') : plain).slice(0, Math.max(0, charsMax - text.length));
  return { text: text.slice(0, at) + added + text.slice(at), at: at + added.length };
}

export type Edit =
  | 'left'
  | 'right'
  | 'word_left'
  | 'word_right'
  | 'home'
  | 'end'
  | 'backspace'
  | 'delete'
  | 'delete_word'
  | 'delete_before'
  | 'delete_after';

export function edit(field: TextField, what: Edit): TextField {
  const { text, at } = field;
  switch (what) {
    case 'left':
      return { text, at: at - lastOf(text.slice(0, at)) };
    case 'right':
      return { text, at: at + firstOf(text.slice(at)) };
    case 'word_left':
      return { text, at: wordStart(text, at) };
    case 'word_right':
      return { text, at: at + (/^\s*\S*/.exec(text.slice(at))?.[0].length ?? 0) };
    case 'home':
      return { text, at: text.lastIndexOf('\n', at - 1) + 1 };
    case 'end':
      return { text, at: endOfLine(text, at) };
    case 'backspace':
      return without(field, at - lastOf(text.slice(0, at)), at);
    case 'delete':
      return without(field, at, at + firstOf(text.slice(at)));
    case 'delete_word':
      return without(field, wordStart(text, at), at);
    case 'delete_before':
      return without(field, text.lastIndexOf('\n', at - 1) + 1, at);
    case 'delete_after':
      return without(field, at, endOfLine(text, at));
  }
}

const without = ({ text }: TextField, from: number, to: number): TextField => ({
  text: text.slice(0, from) + text.slice(to),
  at: from,
});

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

const wordStart = (text: string, at: number): number => at - (/\S*\s*$/.exec(text.slice(0, at))?.[0].length ?? 0);
const firstOf = (text: string): number => [...graphemes.segment(text.slice(0, 64))][0]?.segment.length ?? 0;
/** The last line is enough to tell: no character reaches over its beginning. */
const lastOf = (text: string): number => [...graphemes.segment(text.slice(-64))].at(-1)?.segment.length ?? 0;

interface FieldOptions {
  readonly columns: number;
  readonly lines: number;
  readonly isFocused: boolean;
  /** In front of the first line; the others are indented as far. */
  readonly prompt: string;
  /** Where nothing is written. */
  readonly hint: string;
}

interface Cell {
  readonly text: string;
  readonly isCursor: boolean;
}

/** As many lines as it needs, at most `lines`: those around the cursor. */
export function fieldLines(field: TextField, options: FieldOptions): readonly SpanLine[] {
  const { prompt, hint, isFocused } = options;
  const indent = width(prompt);
  const room = Math.max(1, options.columns - indent);
  if (field.text === '') {
    const words = cut(hint, Math.max(0, room - 1));
    return [[span(prompt), ...(isFocused ? [span(' ', 'selected')] : []), span(words, 'dim')]];
  }
  if (options.lines === 1) return [[span(prompt), ...spansOf(oneRow(field, room), isFocused)]];
  const rows = rowsOf(field, room);
  const cursorRow = Math.max(
    0,
    rows.findIndex((row) => row.some(({ isCursor }) => isCursor)),
  );
  const first = Math.max(0, Math.min(cursorRow - options.lines + 1, rows.length - options.lines));
  return rows.slice(first, first + options.lines).map((row, place) => {
    const lead = span(first + place === 0 ? prompt : ' '.repeat(indent));
    return [lead, ...spansOf(row, isFocused)];
  });
}

/** The part that ends with the cursor, or with the text; what is before it gives way. */
function oneRow({ text, at }: TextField, room: number): readonly Cell[] {
  const cells: Cell[] = [...graphemes.segment(text.replaceAll('\n', ' '))].map(({ segment, index }) => ({
    text: segment,
    isCursor: index === at,
  }));
  if (at >= text.length) cells.push({ text: ' ', isCursor: true });
  const widthOf = (some: readonly Cell[]): number => some.reduce((sum, one) => sum + width(one.text), 0);
  if (widthOf(cells) <= room) return cells;
  const cursor = cells.findIndex(({ isCursor }) => isCursor);
  let first = 0;
  while (first < cursor && widthOf(cells.slice(first, cursor + 1)) > room - 1) first += 1;
  let end = cells.length;
  while (end > cursor + 1 && widthOf(cells.slice(first, end)) > room - (first > 0 ? 1 : 0)) end -= 1;
  return [...(first > 0 ? [{ text: '…', isCursor: false }] : []), ...cells.slice(first, end)];
}

function spansOf(row: readonly Cell[], isFocused: boolean): SpanLine {
  const place = isFocused ? row.findIndex(({ isCursor }) => isCursor) : -1;
  const join = (cells: readonly Cell[]): string => cells.map(({ text }) => text).join('');
  if (place < 0) return [span(join(row))];
  return [span(join(row.slice(0, place))), span(row[place]?.text ?? ' ', 'selected'), span(join(row.slice(place + 1)))];
}

function rowsOf({ text, at }: TextField, room: number): readonly (readonly Cell[])[] {
  const rows: Cell[][] = [[]];
  let used = 0;
  const fresh = (): void => {
    rows.push([]);
    used = 0;
  };
  const put = (cell: Cell, columns: number): void => {
    if (used + columns > room && used > 0) fresh();
    rows.at(-1)?.push(cell);
    used += columns;
  };
  for (const { segment, index } of graphemes.segment(text)) {
    const isCursor = index === at;
    if (segment !== '\n') {
      put({ text: segment, isCursor }, width(segment));
      continue;
    }
    if (isCursor) put({ text: ' ', isCursor }, 1);
    fresh();
  }
  if (at >= text.length) put({ text: ' ', isCursor: true }, 1);
  return rows;
}
