// Edits of TOML as text: finds a key at the top level and where its value stands, so that a few characters can be changed
// and every other byte stays. Whether the text is TOML at all is checked by a parser before. Pure.

import { parse, TomlError } from 'smol-toml';

export interface TomlValue {
  /** Offsets of the key's first character, and of the value's first character and behind its last one. */
  readonly keyStart: number;
  readonly start: number;
  readonly end: number;
}

export interface TomlProblem {
  readonly line: number;
  readonly reason: string;
}

export function readToml(text: string): { readonly value: Readonly<Record<string, unknown>> } | TomlProblem {
  try {
    return { value: parse(text.replace(/^\ufeff/, '')) };
  } catch (error) {
    if (error instanceof TomlError) return { line: error.line, reason: (error.message.split('\n', 1)[0] ?? '').trim() };
    if (error instanceof RangeError) return { line: 1, reason: 'it is nested too deeply' };
    throw error;
  }
}

/** The value of a key before the first table; null when there is none. The text is known to be TOML. */
export function findTopLevel(text: string, key: string): TomlValue | null {
  let place = skipBetween(text, text.startsWith('\ufeff') ? 1 : 0);
  while (place < text.length && text[place] !== '[') {
    const keyStart = place;
    const equals = endOfKey(text, place);
    const start = equals + 1 + (/^[ \t]*/.exec(text.slice(equals + 1))?.[0].length ?? 0);
    const end = endOfValue(text, start);
    if (nameOf(text.slice(keyStart, equals)) === key) return { keyStart, start, end };
    place = skipBetween(text, end);
  }
  return null;
}

export interface TomlTable {
  /** `[a."b c"]` is a, b c. Those of lists (`[[a]]`) are named like others. */
  readonly names: readonly string[];
  /** Offsets of its bracket, and behind the line of its last value, or of itself when it has none. */
  readonly start: number;
  readonly end: number;
  /** By their names as they are written, without what lies deeper (`a.b = 1` is `a.b`). */
  readonly values: ReadonlyMap<string, TomlValue>;
}

/** Every table that has a head of its own, in the order of the text, which is known to be TOML. */
export function tablesOf(text: string): readonly TomlTable[] {
  const tables: TomlTable[] = [];
  let place = skipBetween(text, text.startsWith('\ufeff') ? 1 : 0);
  while (place < text.length) {
    const start = place;
    if (text[place] === '[') {
      const close = endOfHead(text, place);
      const end = endOfLine(text, close);
      const names = namesIn(text.slice(start, close).replace(/^\[+|\]+$/g, ''));
      tables.push({ names, start, end, values: new Map() });
      place = skipBetween(text, close);
      continue;
    }
    const equals = endOfKey(text, place);
    const from = equals + 1 + (/^[ \t]*/.exec(text.slice(equals + 1))?.[0].length ?? 0);
    const close = endOfValue(text, from);
    const last = tables.at(-1);
    if (last !== undefined) {
      const value = [nameOf(text.slice(start, equals)), { keyStart: start, start: from, end: close }] as const;
      tables[tables.length - 1] = {
        ...last,
        end: endOfLine(text, close),
        values: new Map([...last.values, value]),
      };
    }
    place = skipBetween(text, close);
  }
  return tables;
}

/** Behind the closing brackets. */
function endOfHead(text: string, start: number): number {
  let place = start;
  while (place < text.length && text[place] !== ']') {
    const sign = text[place];
    place = sign === '"' || sign === "'" ? endOfString(text, place) : place + 1;
  }
  while (text[place] === ']') place += 1;
  return place;
}

function endOfLine(text: string, place: number): number {
  const end = text.indexOf('\n', place);
  return end < 0 ? text.length : end + 1;
}

function namesIn(said: string): readonly string[] {
  const names: string[] = [];
  let place = 0;
  while (place < said.length) {
    const rest = said.slice(place);
    const blank = /^[\s.]+/.exec(rest)?.[0].length ?? 0;
    const from = place + blank;
    if (from >= said.length) break;
    const sign = said[from];
    const isQuoted = sign === '"' || sign === "'";
    const end = isQuoted ? endOfString(said, from) : from + (/^[^.\s]+/.exec(said.slice(from))?.[0].length ?? 1);
    names.push(nameOf(said.slice(from, end)));
    place = end;
  }
  return names;
}

/** The texts of the strings that a list begins with, as many as there are one behind another, and where each ends. */
export function leadingStrings(text: string, list: TomlValue): readonly number[] {
  const ends: number[] = [];
  let place = skipBetween(text, list.start + 1);
  while (place < list.end && (text[place] === '"' || text[place] === "'")) {
    const end = endOfString(text, place);
    ends.push(end);
    place = skipBetween(text, end);
    if (text[place] !== ',') break;
    place = skipBetween(text, place + 1);
  }
  return ends;
}

export const splice = (text: string, start: number, end: number, insert: string): string =>
  text.slice(0, start) + insert + text.slice(end);

/** Past blanks, line ends and comments. */
function skipBetween(text: string, place: number): number {
  return place + (/^(?:\s+|#[^\n]*)*/.exec(text.slice(place))?.[0].length ?? 0);
}

function nameOf(said: string): string {
  const name = said.trim();
  const quoted = /^(["'])(.*)\1$/.exec(name);
  return quoted?.[2] ?? name;
}

function endOfKey(text: string, start: number): number {
  let place = start;
  while (place < text.length && text[place] !== '=') {
    const sign = text[place];
    place = sign === '"' || sign === "'" ? endOfString(text, place) : place + 1;
  }
  return place;
}

function endOfValue(text: string, start: number): number {
  const sign = text[start];
  if (sign === '"' || sign === "'") return endOfString(text, start);
  if (sign === '[' || sign === '{') return endOfNested(text, start);
  const rest = /^[^\n#]*/.exec(text.slice(start))?.[0] ?? '';
  return start + rest.trimEnd().length;
}

function endOfNested(text: string, start: number): number {
  let depth = 0;
  let place = start;
  while (place < text.length) {
    const sign = text[place];
    if (sign === '"' || sign === "'") {
      place = endOfString(text, place);
      continue;
    }
    if (sign === '#') {
      place = skipBetween(text, place);
      continue;
    }
    if (sign === '[' || sign === '{') depth += 1;
    if (sign === ']' || sign === '}') depth -= 1;
    place += 1;
    if (depth === 0) return place;
  }
  return place;
}

function endOfString(text: string, start: number): number {
  const sign = text[start] ?? '"';
  const fence = text.startsWith(sign.repeat(3), start) ? sign.repeat(3) : sign;
  let place = start + fence.length;
  while (place < text.length) {
    if (sign === '"' && text[place] === '\\') place += 2;
    else if (!text.startsWith(fence, place)) place += 1;
    else return fence.length === 1 ? place + 1 : endOfFence(text, place, sign);
  }
  return place;
}

/** Up to two more quotes may stand right before the fence and belong to the text. */
function endOfFence(text: string, start: number, sign: string): number {
  let place = start + 3;
  while (place < start + 5 && text[place] === sign) place += 1;
  return place;
}
