// The patterns of screen rules. Built-in ones are regular expressions of JavaScript, which we wrote and tested. Those of
// a user's file run in RE2, whose time grows with the length of the line and nothing else: no pattern can hang the daemon.

import { RE2JS, RE2JSException } from 're2js';

/** As much of a RegExp as rules use. */
export interface Pattern {
  readonly source: string;
  test(line: string): boolean;
  /** The whole match and its groups. */
  exec(line: string): readonly (string | undefined)[] | null;
  split(text: string): readonly string[];
}

/** Makes a pattern of its text. Throws an Error that says what is wrong with it. */
export type CompilePattern = (source: string) => Pattern;

export const builtInPattern: CompilePattern = (source) => {
  const expression = new RegExp(source, 'u');
  return {
    source,
    test: (line) => expression.test(line),
    exec: (line) => expression.exec(line),
    split: (text) => text.split(expression),
  };
};

export const linearPattern: CompilePattern = (source) => {
  const expression = compileRe2(source);
  return {
    source,
    test: (line) => expression.matcher(line).find(),
    exec: (line) => {
      const matcher = expression.matcher(line);
      if (!matcher.find()) return null;
      return Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? undefined);
    },
    split: (text) => expression.split(text, -1),
  };
};

function compileRe2(source: string): RE2JS {
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
