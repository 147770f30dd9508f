// An open ask as every screen shows it: whole, with nothing hidden in it, its options as the agent names them; and which of
// them a plain yes or no will take, as far as that can be told from its words.

import type { PaneItem } from '../api/panes.ts';
import { foreign, type SafeText, sanitizeRevealed } from '../text/sanitize.ts';
import { cut, width } from '../text/width.ts';

export type AskItem = NonNullable<PaneItem['ask']>;

/** Broken into lines of a width; a word longer than a line is cut where the line ends. */
export function wrapped(text: string, columns: number): readonly string[] {
  const room = Math.max(1, columns);
  return text.split('\n').flatMap((line) => wrapLine(line.replaceAll('\t', '    '), room));
}

function wrapLine(line: string, columns: number): readonly string[] {
  if (width(line) <= columns) return [line];
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(/(?<= )/)) {
    if (width(current + word.trimEnd()) <= columns) {
      current += word;
      continue;
    }
    if (current.trim() !== '') lines.push(current.trimEnd());
    current = word;
    while (width(current.trimEnd()) > columns) {
      const [head, rest] = broken(current, columns);
      lines.push(head);
      current = rest;
    }
  }
  return current.trim() === '' ? lines : [...lines, current.trimEnd()];
}

/** As many characters as fit, at least one, and the rest. */
function broken(text: string, columns: number): readonly [string, string] {
  const kept = cut(text, columns + 1).slice(0, -1);
  const head = kept === '' ? String.fromCodePoint(text.codePointAt(0) ?? 0x20) : kept;
  return [head, text.slice(head.length)];
}

/** Characters of what is said in one go; three lines of a usual terminal. */
const saidCharsMax = 240;

/** What is said of something: what to do next stands at its end, and is not cut where there is room. */
export const saidLines = (text: string, columns: number): readonly string[] =>
  wrapped(text, columns).slice(0, Math.ceil(saidCharsMax / Math.max(1, columns)));

/** What it asks, line by line, with every hidden character made visible (SEC3). */
export const askText = ({ text }: AskItem, columns: number): readonly string[] =>
  wrapped(sanitizeRevealed(foreign(text)), columns);

/** `1  Yes`: by its place, which is also the key that chooses it here. */
export const optionTexts = ({ options }: AskItem): readonly SafeText[] =>
  options.map(({ label }) => sanitizeRevealed(foreign(label)));

const yes = /^(?:yes|allow|approve|proceed|accept|run|ok)\b/i;
const no = /^(?:no|reject|deny|decline|cancel|don't|do not)\b/i;
const lasting =
  /\b(?:always|again|all|any|auto|automatically|session|conversation|remember|future|every|forever|parent|prefix)\b/i;

/** The words of the one option that a yes or a no takes; null where its words do not tell. */
export function plainOption({ options }: AskItem, wish: 'approve' | 'reject'): SafeText | null {
  const wanted = options.filter(({ label }) =>
    wish === 'approve' ? yes.test(label) && !lasting.test(label) : no.test(label),
  );
  const [first, second] = wanted;
  return first === undefined || second !== undefined ? null : sanitizeRevealed(foreign(first.label));
}
