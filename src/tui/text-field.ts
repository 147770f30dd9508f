// One line that a person types: text and where the cursor is in it. Pure. Keys that are none of its own leave it alone.

import { createSanitizer, foreign, sanitizeLine } from '../text/sanitize.ts';
import { width } from '../text/width.ts';
import { type Span, span } from '../view/shells-spans.ts';
import type { Key } from './contract.ts';

export interface TextField {
  readonly text: string;
  /** In code units; never inside of a character. */
  readonly cursor: number;
}

export const emptyText: TextField = { text: '', cursor: 0 };

/** More than anyone types into one line here. */
const charsMax = 8_192;

const before = ({ text, cursor }: TextField): string => text.slice(0, cursor);
const after = ({ text, cursor }: TextField): string => text.slice(cursor);
const lastLength = (text: string): number => [...text].at(-1)?.length ?? 0;
const firstLength = (text: string): number => String.fromCodePoint(text.codePointAt(0) ?? 0).length;

export function editText(field: TextField, key: Key): TextField {
  const { text, cursor } = field;
  switch (key) {
    case 'left':
      return { text, cursor: cursor - lastLength(before(field)) };
    case 'right':
      return cursor >= text.length ? field : { text, cursor: cursor + firstLength(after(field)) };
    case 'home':
    case 'ctrl+a':
      return { text, cursor: 0 };
    case 'end':
    case 'ctrl+e':
      return { text, cursor: text.length };
    case 'backspace': {
      const kept = before(field).slice(0, cursor - lastLength(before(field)));
      return { text: kept + after(field), cursor: kept.length };
    }
    case 'delete':
      return cursor >= text.length
        ? field
        : { text: before(field) + after(field).slice(firstLength(after(field))), cursor };
    case 'ctrl+u':
      return { text: after(field), cursor: 0 };
    case 'ctrl+k':
      return { text: before(field), cursor };
    case 'ctrl+w': {
      const kept = before(field).replace(/\S+\s*$/, '');
      return { text: kept + after(field), cursor: kept.length };
    }
    default:
      return isCharacter(key) ? inserted(field, key) : field;
  }
}

/** A name of a key has more than one character; a character may be of two code units. */
export const isCharacter = (key: Key): boolean => [...key].length === 1;

/** As one line: what looks like enter in a paste must not be one. Whole or not at all: nobody sends half of what they meant. */
export function withPaste(field: TextField, text: string): TextField {
  const gate = createSanitizer('line', { charsMax: Number.POSITIVE_INFINITY });
  return inserted(field, `${gate.push(text)}${gate.end()}`);
}

function inserted(field: TextField, text: string): TextField {
  if (field.text.length + text.length > charsMax) return field;
  return { text: before(field) + text + after(field), cursor: field.cursor + text.length };
}

/** Characters that one column can hold, with all their marks, as far as anyone types them. */
const nearChars = 8;

/** Without half of a character at its ends. */
const whole = (text: string): string => text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/gu, '');

/** The longest end of a text that is at most `columns` wide; searched by halves, since measuring a width takes long. */
function endWithin(text: string, columns: number): string {
  const characters = [...text];
  let from = 0;
  for (let to = characters.length; from < to; ) {
    const middle = (from + to) >> 1;
    if (width(characters.slice(middle).join('')) > columns) from = middle + 1;
    else to = middle;
  }
  return characters.slice(from).join('');
}

/** At most `columns` wide, with the place of the cursor in reverse video; the part around the cursor is shown. */
export function fieldSpans(field: TextField, columns: number): readonly Span[] {
  // Only what can be in sight is looked at: what is typed may be long, and every key draws it.
  const near = Math.max(0, columns) * nearChars;
  const head = endWithin(sanitizeLine(foreign(whole(before(field).slice(-near)))), columns - 2);
  const first = after(field).slice(0, firstLength(after(field)));
  const under = sanitizeLine(foreign(first)) || ' ';
  const tail = whole(after(field).slice(first.length, first.length + near));
  return [span(head), span(under, 'selected'), span(sanitizeLine(foreign(tail)))];
}
