// Prompts as they stand on the screen: whether unsent text is in them, which Enter would send along with whatever is typed
// after it (ACT3). They are found by the frames around them, and hints by how they are dressed or by their fixed words.

import type { SeenPrompt } from '../contract.ts';
import { withoutAside } from '../screen/aside.ts';
import type { Pattern } from '../screen/pattern.ts';
import { isDim, isReversed, type StyledText, styledText } from './styled-text.ts';

type Row = readonly StyledText[];

const textOf = (row: Row): string => row.map(({ text }) => text).join('');

/** Without what is written faintly, and without its first letter, on which the cursor stands. */
const written = (row: Row): string =>
  row
    .filter((piece, at) => {
      const next = row.slice(at + 1).find(({ text }) => text !== '');
      return !isDim(piece) && !(isReversed(piece) && next !== undefined && isDim(next));
    })
    .map(({ text }) => text)
    .join('');

/** `!` and `#` before a prompt: what is typed there is run or noted, and no message. */
const seenOf = (mark: string, text: string, sign: string, from: number, to: number): SeenPrompt => ({
  unsent: `${/[!#$]/.test(mark) ? mark : ''}${text.trim()}`,
  sign: sign.trim() === '' ? null : sign.trim(),
  rows: { from, to },
});

const rule = /^[─━]{6,}/;
const frameTop = /^╭─{6,}/;
const frameEnd = /^╰─{6,}/;
const boxMark = /^(?:│\s)?([❯>!#])(?:\s|│|$)/;

/** Without what stands in a column of its own at the left. */
function besideAside(rows: readonly Row[], aside: RegExp): readonly Row[] {
  const plain = rows.map(textOf);
  const end = plain.findLastIndex((line) => line.trim() !== '') + 1;
  const right = withoutAside(aside, plain.slice(0, end));
  return right.map((line, at) => {
    let over = (plain[at]?.length ?? 0) - line.length;
    return (rows[at] ?? []).map(({ text, dress }) => {
      const piece = { text: text.slice(over), dress };
      over = Math.max(0, over - text.length);
      return piece;
    });
  });
}

/** Between two rules, or in a frame of its own: Claude Code and Copilot. Below it stand hints that no dialog has. */
export function boxPrompt(lines: readonly string[], aside: RegExp | null = null): SeenPrompt | null {
  const rows = aside === null ? styledText(lines) : besideAside(styledText(lines), aside);
  const plain = rows.map(textOf);
  const end = plain.findLastIndex((line) => rule.test(line) || frameEnd.test(line));
  if (end < 0) return null;
  const isFrame = frameEnd.test(plain[end] ?? '');
  const top = plain.slice(0, end).findLastIndex((line) => (isFrame ? frameTop : rule).test(line));
  const [mark] = (boxMark.exec(plain[top + 1] ?? '')?.[1] ?? '') || [null];
  if (top < 0 || top + 1 >= end || mark == null) return null;
  const inside = rows.slice(top + 1, end).map((row) => written(row).replace(/^│|│\s*$/g, ''));
  const text = inside.map((line, at) => (at === 0 ? line.replace(mark, '') : line)).join('\n');
  return seenOf(mark, text, plain.slice(end + 1).find((line) => line.trim() !== '') ?? '', top, end + 1);
}

/** A bold mark in the first column, and below what is written a line that tells the model: Codex. */
export function lastPrompt(lines: readonly string[]): SeenPrompt | null {
  const rows = styledText(lines);
  const plain = rows.map(textOf);
  const at = rows.findLastIndex((row) => {
    const first = row.find(({ text }) => text !== '');
    return first !== undefined && /^[›!]/.test(first.text) && / 1(?: |$)/.test(first.dress) && !isDim(first);
  });
  if (at < 0) return null;
  const last = plain.findLastIndex((line) => line.trim() !== '');
  const blank = plain.slice(0, last + 1).findLastIndex((line) => line.trim() === '');
  // Without a line below it everything that follows belongs to it.
  const below = blank > at ? blank : rows.length;
  const text = rows.slice(at, below).map(written).join('\n');
  const hint = textOf(rows[at] ?? []).slice(1);
  const mark = plain[at]?.[0] ?? '';
  return seenOf(mark, text.replace(/^[›!]/, ''), text.slice(1).trim() === '' ? hint : '', at, below);
}

const typeHere = /^\s*Type your (?:message or @path\/to\/file|shell command)\s*$/;
const composerMark = /^ ([>*!])(?: |$)/;

/** After a mark in the second column, as far as the lower edge of its field or the line of labels: Gemini, old ones in a frame. */
export function fieldPrompt(lines: readonly string[]): SeenPrompt | null {
  const plain = styledText(lines).map((row) => textOf(row).replace(/^│|│\s*$/g, ''));
  const at = plain.findLastIndex((line) => composerMark.test(line));
  if (at < 0) return null;
  const mark = plain[at]?.[1] ?? '';
  const rest = plain.slice(at + 1);
  const edge = rest.findIndex((line) => /^[▀▄─]{6,}|^╰─/.test(line) || /^ \S.*\s{3,}\S/.test(line));
  const below = edge < 0 ? plain.length : at + 1 + edge;
  const text = [plain[at]?.slice(3) ?? '', ...plain.slice(at + 1, below)].join('\n');
  return typeHere.test(text) ? seenOf(mark, '', text, at, below) : seenOf(mark, text, '', at, below);
}

const askAnything = /^Ask anything(?:…|\.\.\.)(?: ".*"?)?$/;
const barEnd = /^(\s*)╹▀+/;

/** Beside a bar that ends in an edge; its last line names who answers: OpenCode and Kilo. */
export function barPrompt(lines: readonly string[]): SeenPrompt | null {
  const plain = styledText(lines).map(textOf);
  const end = plain.findLastIndex((line) => barEnd.test(line));
  const edge = barEnd.exec(plain[end] ?? '');
  if (edge === null) return null;
  const column = edge[1]?.length ?? 0;
  const top = plain.slice(0, end).findLastIndex((line) => line[column] !== '┃') + 1;
  // What stands beside the field belongs to others.
  const field = plain.slice(top, end).map((line) => line.slice(column + 1, edge[0].length).trim());
  const who = field.pop();
  if (who === undefined || field.length === 0) return null;
  const text = field.join('\n').trim();
  const mark = /^Shell\b/.test(who) ? '!' : '';
  const isHint = askAnything.test(text);
  return seenOf(mark, isHint ? '' : text, isHint ? text : text === '' ? who : '', top, end);
}

/** What a definition says of a prompt. */
interface MarkedPrompt {
  readonly mark: Pattern;
  readonly end: Pattern | null;
  readonly empty: Pattern | null;
  /** What is told below it while a text of the agent's own stands in it. */
  readonly suggestion: Pattern | null;
  readonly sign: Pattern | null;
}

/** From the last row that begins with its mark to the first one below that ends it: agents that a definition describes. */
export function markedPrompt(
  lines: readonly string[],
  { mark, end, empty, suggestion, sign }: MarkedPrompt,
): SeenPrompt | null {
  const rows = styledText(lines);
  const plain = rows.map(textOf);
  const at = plain.findLastIndex((line) => mark.test(line));
  if (at < 0) return null;
  const found = end === null ? 0 : plain.slice(at + 1).findIndex((line) => end.test(line));
  const below = found < 0 ? plain.length : at + 1 + found;
  const head = mark.exec(plain[at] ?? '')?.[0] ?? '';
  const shown = plain.slice(at, below);
  const isSuggested = suggestion !== null && plain.slice(below).some((line) => suggestion.test(line));
  const isHint = isSuggested || (empty !== null && shown.some((line) => empty.test(line)));
  const text = rows
    .slice(at, below)
    .map((row, place) => unboxed(place === 0 ? written(row).slice(head.length) : written(row)));
  const words = sign === null ? undefined : plain.find((line) => sign.test(line));
  return seenOf('', isHint ? '' : text.join('\n'), words ?? '', at, below);
}

const unboxed = (line: string): string => line.replace(/^\s*[│┃]|[│┃█]\s*$/g, '');
