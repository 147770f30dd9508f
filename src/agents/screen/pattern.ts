// The patterns of screen rules. Built-in ones are regular expressions of JavaScript, which we wrote and tested. Those of
// a user's file run in RE2, whose time grows with the length of the line and nothing else: no pattern can hang the daemon.

import { RE2JS, RE2JSException } from 're2js';
import { limits } from '../../model/limits.ts';

/** As much of a RegExp as rules use. */
export interface Pattern {
  readonly source: string;
  test(line: string): boolean;
  /** The whole match and its groups. */
  exec(line: string): readonly (string | undefined)[] | null;
  /** Where the first group stands, or the whole match where there is none, and what stands before and behind. */
  place(line: string): Place | null;
  split(text: string): readonly string[];
}

export interface Place {
  /** Of the line, before anything was matched. */
  readonly before: string;
  readonly behind: string;
  readonly isGroup: boolean;
}

/** Makes a pattern of its text. Throws an Error that says what is wrong with it. */
export type CompilePattern = (source: string) => Pattern;

export const builtInPattern: CompilePattern = (source) => {
  const expression = new RegExp(source, 'u');
  return {
    source,
    test: (line) => expression.test(line),
    exec: (line) => expression.exec(line),
    place: (line) => {
      const found = new RegExp(source, 'du').exec(line);
      if (found === null) return null;
      const [, group] = found.indices ?? [];
      const end = group?.[1] ?? found.index + found[0].length;
      return { before: line.slice(0, found.index), behind: line.slice(end), isGroup: group !== undefined };
    },
    split: (text) => text.split(expression),
  };
};

/** Compiled at once to tell what is wrong with it, and kept from its first use on: most definitions are of agents that do not run. */
export const linearPattern: CompilePattern = (source) => {
  compileRe2(source);
  let kept: RE2JS | null = null;
  const expression = (): RE2JS => {
    kept ??= compileRe2(source);
    return kept;
  };
  return {
    source,
    test: (line) => expression().matcher(line).find(),
    exec: (line) => {
      const matcher = expression().matcher(line);
      if (!matcher.find()) return null;
      return Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? undefined);
    },
    place: (line) => {
      const matcher = expression().matcher(line);
      if (!matcher.find()) return null;
      const isGroup = matcher.groupCount() > 0 && matcher.group(1) != null;
      const end = matcher.end(isGroup ? 1 : 0);
      return { before: line.slice(0, matcher.start()), behind: line.slice(end), isGroup };
    },
    split: (text) => expression().split(text, -1),
  };
};

/** An escape, a class, a counted repeat, or one character. */
const piece = /\\[pPxu]\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\w+:\]|[^\]\\])*\]|\{(\d+)(?:(,)(\d*))?\}|[\s\S]/g;

/** How long a pattern is with its counted repeats written out, and how often something in it may go on for ever. */
function sizeOf(source: string): { readonly size: number; readonly repeats: number } {
  const groups: { size: number; last: number }[] = [{ size: 0, last: 0 }];
  let repeats = 0;
  for (const [token, least, comma, most] of source.matchAll(piece)) {
    const group = groups.at(-1);
    if (group === undefined) break;
    if (token === '*' || token === '+' || (comma !== undefined && most === '')) repeats += 1;
    if (token === '(') groups.push({ size: 0, last: 0 });
    else if (least !== undefined) {
      const times = Math.max(1, Number(most === undefined || most === '' ? least : most));
      group.size += group.last * (times - 1);
      group.last *= times;
    } else {
      const closed = token === ')' && groups.length > 1 ? groups.pop() : undefined;
      const outer = groups.at(-1) ?? group;
      outer.last = closed?.size ?? 1;
      outer.size += outer.last;
    }
  }
  return { size: groups.reduce((sum, { size }) => sum + size, 0), repeats };
}

/** What the counted repeats of all texts in a file add: patterns are among them, and names have none. */
export function growthOf(data: unknown): number {
  if (typeof data === 'string') return Math.max(0, sizeOf(data).size - data.length);
  if (typeof data !== 'object' || data === null) return 0;
  return Object.values(data).reduce((sum: number, one) => sum + growthOf(one), 0);
}

export const growthWords = (growth: number): string =>
  `the counted repeats of its patterns stand for ${growth} characters more, ${limits.patternsGrowthMax} at most`;

/** Before it is compiled: a program of millions of steps takes seconds to make, and more to run. */
function checkSize(source: string): void {
  const { size, repeats } = sizeOf(source);
  if (size > limits.patternSizeMax)
    throw new Error(`it repeats too much: it stands for ${size} characters, ${limits.patternSizeMax} at most`);
  if (repeats > limits.patternRepeatsMax)
    throw new Error(`it has ${repeats} repeats without an end, ${limits.patternRepeatsMax} at most`);
}

function compileRe2(source: string): RE2JS {
  checkSize(source);
  // Escapes such as \u2502 are spelled otherwise there.
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source));
  } catch (problem) {
    if (!(problem instanceof RE2JSException)) throw problem;
    const what = problem.message.replace('error parsing regexp: ', '');
    const hasLookAround = /\(\?<?[=!]/.test(source);
    const why = hasLookAround
      ? 'user rules support no look-around such as (?=…); use another condition (`none`) instead'
      : 'patterns must be valid RE2';
    throw new Error(`${what}: ${why}`);
  }
}
