// How files and lines of them are named in messages (RTE6): with each agent's own mark where it reads one, in plain words
// where it does not.

import type { Keys } from '../contract.ts';

type Lines = Parameters<Keys['fileRef']>[1];

export const hasBlank = (path: string): boolean => /\s/.test(path);

/** In quotes where a blank would end it. */
const quoted = (path: string): string => (/[\s"'`]/.test(path) ? JSON.stringify(path) : path);

const linesInWords = (lines: Lines): string => {
  if (lines === null) return '';
  return lines.from === lines.to ? ` line ${lines.from}` : ` lines ${lines.from}-${lines.to}`;
};

/**
 * A mark such as `@src/a.ts`. While the cursor stands at its end, agents offer files to choose from, and Enter would take
 * one instead of sending the message: a blank closes the list.
 */
export const marked = (mark: string, lines: Lines): string => `${mark}${linesInWords(lines) || ' '}`;

/** The bare path, as a person would write it. */
export const plainPath: Keys['fileRef'] = (path, lines) => `${quoted(path)}${linesInWords(lines)}`;

/** For agents that read `@path` and say nothing of blanks in it: such a path goes bare. */
export const atPath: Keys['fileRef'] = (path, lines) =>
  quoted(path) === path ? marked(`@${path}`, lines) : plainPath(path, lines);
