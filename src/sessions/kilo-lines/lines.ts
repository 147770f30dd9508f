// What stands in a line of Kilo's output: it prints objects, but to what it takes for a terminal, so that control sequences
// stand between them, several may share a line, and some are cut. Nothing here throws.

import { type Fields, parseFields } from '../../agents/fields.ts';
import { limits } from '../../model/limits.ts';

export interface Found {
  readonly rows: readonly Fields[];
  /** An object that has begun and not ended: its other half may be the next line. */
  readonly half: string;
  /** What stands there when no object does. */
  readonly words: string;
}

/** Titles of windows, moves of the cursor and whatever else begins with an escape; raw controls are never in JSON. */
const sequences =
  /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]|[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** Beginnings of objects that are tried in one line; a line of nothing but braces must not cost more. */
const triesMax = 16;

/** The objects of a line, and of the half that was left by the one before. */
export function rowsIn(before: string, line: string): Found {
  const text = line.replaceAll(sequences, '');
  const joined = before === '' ? null : scan(before + text);
  // Only where the half became whole; else it is lost, and the line stands for itself.
  return joined?.isFromStart ? joined : scan(text);
}

interface Scanned extends Found {
  /** The first object begins where the text does. */
  readonly isFromStart: boolean;
}

function scan(text: string): Scanned {
  const rows: Fields[] = [];
  const first = text.indexOf('{');
  let half = -1;
  let isFromStart = false;
  let at = first;
  for (let tries = 0; at >= 0 && tries < triesMax; ) {
    const end = endOf(text, at);
    const row = end < 0 ? null : parseFields(text.slice(at, end));
    if (row === null) {
      tries += 1;
      if (half < 0) half = at;
      at = text.indexOf('{"', at + 1);
      continue;
    }
    isFromStart ||= at === 0;
    rows.push(row);
    half = -1;
    at = text.indexOf('{', end);
  }
  const rest = half < 0 ? '' : text.slice(half);
  return {
    rows,
    half: rest.length > limits.sessionHalfCharsMax ? '' : rest,
    words: rows.length > 0 || first === 0 ? '' : text,
    isFromStart,
  };
}

/** Behind the object that begins here; -1 when it does not end. */
function endOf(text: string, from: number): number {
  let depth = 0;
  let isText = false;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at];
    if (isText) {
      if (char === '\\') at += 1;
      else if (char === '"') isText = false;
    } else if (char === '"') isText = true;
    else if (char === '{') depth += 1;
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
