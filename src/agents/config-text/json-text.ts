// Edits of JSON as text: a child is put at the end of a list or object, or taken out, and every other byte stays as it was.
// Comments and trailing commas are kept where they are. Pure.

import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

export interface JsonProblem {
  readonly line: number;
  readonly reason: string;
}

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Byte order mark: some editors of other systems put it in front. */
const mark = '\ufeff';
export const markOf = (text: string): string => (text.startsWith(mark) ? mark : '');
export const isBlank = (text: string): boolean => text.replace(mark, '').trim() === '';

/** The tree with offsets into the text, or where and why it is broken. */
export function readJson(text: string): Node | JsonProblem {
  const errors: ParseError[] = [];
  let tree: Node | undefined;
  try {
    // A mark is no part of JSON; a blank of the same length keeps every offset.
    const plain = text.startsWith(mark) ? ` ${text.slice(1)}` : text;
    tree = parseTree(plain, errors, { allowTrailingComma: true });
  } catch (error) {
    // Nesting beyond all sense overflows the parser.
    if (!(error instanceof RangeError)) throw error;
    return { line: 1, reason: 'it is nested too deeply' };
  }
  const [error] = errors;
  if (error !== undefined) return { line: lineOf(text, error.offset), reason: words(printParseErrorCode(error.error)) };
  return tree ?? { line: 1, reason: 'it is empty' };
}

export const isProblem = (read: Node | JsonProblem): read is JsonProblem => 'reason' in read;

export const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

/** `PropertyNameExpected` as people say it. */
const words = (code: string): string => code.replaceAll(/(?!^)([A-Z])/g, ' $1').toLowerCase();

export const endOf = (node: Node): number => node.offset + node.length;

export const childrenOf = (node: Node): readonly Node[] => node.children ?? [];

/** Key and value of a member of an object. */
export function memberOf(property: Node): { readonly key: string; readonly value: Node } | null {
  const [key, value] = childrenOf(property);
  return key === undefined || value === undefined ? null : { key: String(key.value), value };
}

/** Every member of this name: more than one means that nobody can say which counts. */
export function membersNamed(object: Node, name: string): readonly Node[] {
  return childrenOf(object).filter((property) => memberOf(property)?.key === name);
}

/** In one line, with blanks where people put them. */
export function lineText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(lineText).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${lineText(one)}`);
  return `{ ${members.join(', ')} }`;
}

export const splice = (text: string, start: number, end: number, insert: string): string =>
  text.slice(0, start) + insert + text.slice(end);

/** The blanks at the start of the line in which this offset lies. */
export function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** One step of indentation as this file has it. */
export function stepOf(text: string): string {
  const first = /^[ \t]*[{[][ \t]*\r?\n([ \t]+)\S/m.exec(text);
  const deeper = first?.[1] ?? '';
  return deeper === '' || deeper.length > 8 ? '  ' : deeper;
}

export const newlineOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

/**
 * A blank behind the last child says that the list or object was there before, and empty: it stays when its children go.
 * No program that writes JSON puts a blank there, so one that rewrote the file takes nothing but this note away.
 */
const keptNote = ' ';

/** The text with one more child at the end. `child` gets the indentation of its own line. */
export function appendChild(text: string, container: Node, child: (indent: string) => string): string {
  const children = childrenOf(container);
  const last = children.at(-1);
  const first = children[0];
  const open = container.offset + 1;
  const newline = newlineOf(text);
  if (first === undefined || last === undefined) {
    if (container.type === 'array') return splice(text, open, open, `${child('')}${keptNote}`);
    const outer = indentAt(text, container.offset);
    const inner = `${outer}${stepOf(text)}`;
    return splice(text, open, open, `${newline}${inner}${child(inner)}${keptNote}${newline}${outer}`);
  }
  const isTall = text.slice(open, first.offset).includes('\n');
  const indent = indentAt(text, last.offset);
  const gap = isTall ? `${newline}${indent}` : ' ';
  const comma = commaBehind(text, endOf(last), endOf(container));
  if (comma === null) return splice(text, endOf(last), endOf(last), `,${gap}${child(indent)}`);
  return splice(text, comma + 1, comma + 1, `${gap}${child(indent)},`);
}

/** The text without this child. Null: the container has nothing left and was not there before either. */
export function removeChild(text: string, container: Node, child: Node): string | null {
  const children = childrenOf(container);
  const place = children.indexOf(child);
  const before = children[place - 1];
  const after = children[place + 1];
  const comma = commaBehind(text, endOf(child), endOf(container));
  if (before !== undefined) return removeBehind(text, before, child, after === undefined ? comma : null);
  if (after !== undefined && comma !== null) {
    const isPlain = text.slice(comma + 1, after.offset).trim() === '';
    return splice(text, child.offset, isPlain ? after.offset : comma + 1, '');
  }
  return removeOnly(text, container, child, comma);
}

/** `trailing` is a comma behind the last child: it was the user's, and stays behind the child before. */
function removeBehind(text: string, before: Node, child: Node, trailing: number | null): string {
  const comma = commaBehind(text, endOf(before), child.offset) ?? endOf(before);
  const isPlain = text.slice(comma + 1, child.offset).trim() === '';
  if (trailing !== null) return splice(text, isPlain ? comma + 1 : child.offset, trailing + 1, '');
  if (isPlain && comma === endOf(before)) return splice(text, endOf(before), endOf(child), '');
  // Somebody wrote a comment in between: it stays.
  return splice(splice(text, child.offset, endOf(child), ''), comma, comma + 1, '');
}

function removeOnly(text: string, container: Node, child: Node, comma: number | null): string | null {
  const open = container.offset + 1;
  const inside = text.slice(open, child.offset) + text.slice((comma ?? endOf(child) - 1) + 1, endOf(container) - 1);
  if (!text.startsWith(keptNote, endOf(child))) {
    // A comment that stands alone in there is the user's.
    if (inside.trim() === '') return null;
    return splice(text, child.offset, comma === null ? endOf(child) : comma + 1, '');
  }
  const noted = endOf(child) + keptNote.length;
  const outer = `${newlineOf(text)}${indentAt(text, container.offset)}`;
  const isTall = text.slice(open, child.offset).includes('\n') && text.startsWith(outer, noted);
  return splice(text, open, isTall ? noted + outer.length : noted, '');
}

/** The comma behind a child, comments in between or not; null when there is none before `end`. */
function commaBehind(text: string, start: number, end: number): number | null {
  let place = start;
  while (place < end) {
    const rest = text.slice(place, end);
    const skipped = /^(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)/.exec(rest)?.[0];
    if (skipped === undefined) return rest.startsWith(',') ? place : null;
    place += skipped.length;
  }
  return null;
}
