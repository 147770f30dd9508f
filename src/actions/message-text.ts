// Messages as text: which ones may be typed at all (ACT2), and how one is recognised on a screen that wraps, frames and
// shortens it.

import type { SeenPrompt } from '../agents/contract.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { SeenRows } from '../terminals/tmux/pane-writer.ts';

const controls = /(?![\n\t])\p{Cc}/gu;

/**
 * The text as it will arrive, or why it is refused. CRLF becomes LF, always: it is one line end, written by another
 * system. Every other control character, C1 and DEL among them, is refused or, with `strip`, removed: an ESC could close
 * the paste, a CR is the Enter key. Half characters are refused, for no stream of UTF-8 can carry them.
 */
export function checkMessage(text: string, { strip }: { readonly strip: boolean }): Result<string> {
  if (!text.isWellFormed()) return fail('E_INPUT', 'the message contains half a character (an unpaired surrogate)');
  const lines = text.replaceAll('\r\n', '\n');
  const found = controls.exec(lines);
  controls.lastIndex = 0;
  if (found !== null && !strip) {
    const code = (lines.codePointAt(found.index) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const line = lines.slice(0, found.index).split('\n').length;
    return fail(
      'E_INPUT',
      `the message contains a control character (U+${code}) in line ${line}`,
      'remove it; `send` and `tell` remove all of them with --strip-control',
    );
  }
  const checked = found === null ? lines : lines.replace(controls, '');
  if (checked.trim() === '') return fail('E_INPUT', 'the message is empty');
  const bytes = Buffer.byteLength(checked);
  if (bytes > limits.messageBytesMax) {
    return fail('E_TOO_LARGE', `the message has ${bytes} bytes; at most ${limits.messageBytesMax} are accepted`);
  }
  return ok(checked);
}

/** Frames, blanks and marks without a width: where a prompt wraps, these come between the characters of a message. */
const noise = /[\s\p{Cf}\p{M}\u2500-\u259f|]+/gu;
/** Signs that terminals draw in ways of their own, such as two of one letter, or none. */
const pictures = /[^\p{L}\p{N}\p{ASCII}]+/gu;

type Squeeze = (text: string) => string;

/** How texts are compared with this one: what a prompt or a terminal may set differently is left out. */
function squeezeFor(text: string): Squeeze {
  const bare: Squeeze = (one) => one.normalize('NFC').replace(noise, '');
  const plain: Squeeze = (one) => bare(one).replace(pictures, '');
  return plain(text) === '' ? bare : plain;
}

/** Characters of its end by which a message is known that does not stand there whole. */
const tailChars = 12;
/** What is searched for the end: some lines of the widest prompt. */
const endChars = 400;

/** A screen that was looked at, and the prompt on it, if it is one that is known. */
export interface SeenScreen {
  readonly lines: readonly string[];
  readonly prompt: SeenPrompt | null;
}

/** Whether a message stands in a prompt: with nothing else, in these rows; beside something else; or not at all yet. */
export type Standing =
  | { readonly kind: 'alone'; readonly rows: readonly number[] }
  | { readonly kind: 'mixed' | 'not_yet' };

const notYet: Standing = { kind: 'not_yet' };
const mixed: Standing = { kind: 'mixed' };

/**
 * How a message stands on the screen that was pasted since `before`. The same words further up, from an earlier message,
 * do not count. `collapsed` is what the agent shows in the place of a long one.
 */
export function standingOf(text: string, collapsed: RegExp | null, before: SeenScreen, now: SeenScreen): Standing {
  if (now.prompt !== null && squeezeFor(text)(now.prompt.unsent) !== '') {
    const { from, to } = now.prompt.rows;
    const rows = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
    const found = standingIn(text, collapsed, now.prompt.unsent);
    return found === 'alone' ? { kind: 'alone', rows } : found === 'mixed' ? mixed : notYet;
  }
  return standingAnywhere(text, collapsed, before.lines, now.lines);
}

/** In a prompt that was read. */
function standingIn(text: string, collapsed: RegExp | null, unsent: string): Standing['kind'] {
  const squeeze = squeezeFor(text);
  const [wanted, held] = [squeeze(text), squeeze(unsent)];
  if (held === wanted) return 'alone';
  const marks = collapsed === null ? [] : [...unsent.matchAll(collapsed)];
  if (collapsed !== null && marks.length > 0) {
    const [begin = '', end = ''] = unsent.split(marks[0]?.[0] ?? '').map(squeeze);
    // Around the mark may stand the begin and the end of the text, and it stands for some of it.
    const isAround = wanted.startsWith(begin) && wanted.endsWith(end) && begin.length + end.length < wanted.length;
    return marks.length === 1 && isAround ? 'alone' : 'mixed';
  }
  // A prompt that is too low shows the end of it; one that is still being filled its begin.
  if (held.length >= tailChars && wanted.endsWith(held)) return 'alone';
  if (wanted.startsWith(held)) return 'not_yet';
  return held.includes(tailOf(text)) ? 'mixed' : 'not_yet';
}

const tailOf = (text: string): string => [...squeezeFor(text)(text.slice(-endChars))].slice(-tailChars).join('');

/** On a screen of which nobody knows where its prompt is: what stands in the same line must have stood there before. */
function standingAnywhere(
  text: string,
  collapsed: RegExp | null,
  before: readonly string[],
  now: readonly string[],
): Standing {
  const squeeze = squeezeFor(text);
  const shown = collapsed === null ? [] : [...now.join('\n').matchAll(collapsed)].map(([mark]) => squeeze(mark));
  const [was, is] = [before.map(squeeze), now.map(squeeze)];
  let isThere = false;
  for (const part of new Set([squeeze(text), ...shown])) {
    const [earlier, found] = [foundIn(part, was), foundIn(part, is)];
    if (found.length <= earlier.length) continue;
    isThere = true;
    const alone = found.filter((one) => isAlone(one, was));
    if (alone.length > earlier.filter((one) => isAlone(one, was)).length) return aloneIn(alone);
  }
  if (isThere) return mixed;
  // Not all of a long one is in sight, or it is drawn otherwise.
  const tail = tailOf(text);
  const [earlier, found] = [foundIn(tail, was), foundIn(tail, is)];
  const isEnough = [...tail].length === tailChars && found.length > earlier.length;
  return isEnough ? aloneIn(found) : notYet;
}

const aloneIn = (found: readonly Found[]): Standing => {
  const { from = 0, to = 0 } = found.at(-1) ?? {};
  return { kind: 'alone', rows: Array.from({ length: to - from + 1 }, (_, index) => from + index) };
};

/** Where a text stands in rows, wrapped or not, and what stands before and after it in the same rows. */
interface Found {
  readonly from: number;
  readonly to: number;
  readonly left: string;
  readonly right: string;
}

function foundIn(part: string, rows: readonly string[]): readonly Found[] {
  const all = rows.join('');
  const found: Found[] = [];
  if (part === '') return found;
  let [from, begin] = [0, 0];
  for (let at = all.indexOf(part); at >= 0; at = all.indexOf(part, at + part.length)) {
    for (; begin + (rows[from]?.length ?? 0) <= at; from += 1) begin += rows[from]?.length ?? 0;
    let [to, end] = [from, begin];
    for (; end + (rows[to]?.length ?? 0) < at + part.length; to += 1) end += rows[to]?.length ?? 0;
    const left = rows[from]?.slice(0, at - begin) ?? '';
    found.push({ from, to, left, right: rows[to]?.slice(at + part.length - end) ?? '' });
  }
  return found;
}

/** Rows may move a little; what is further away must be the whole row. */
function isAlone({ from, left, right }: Found, was: readonly string[]): boolean {
  const isNear = (row: number): boolean => Math.abs(row - from) <= nearRows;
  const isLeft = (row: string, at: number): boolean => (isNear(at) ? row.startsWith(left) : row === left);
  return (left === '' || was.some(isLeft)) && (right === '' || was.some((row) => row.endsWith(right)));
}
const nearRows = 3;

/** Whether it no longer stands where Enter was pressed on it: then its agent has taken it. */
export function isTakenFrom(on: SeenRows, text: string, collapsed: RegExp | null, now: SeenScreen): boolean {
  const squeeze = squeezeFor(text);
  if (now.prompt !== null && squeeze(now.prompt.unsent) !== '') {
    const held = squeeze(now.prompt.unsent);
    return standingIn(text, collapsed, now.prompt.unsent) === 'not_yet' && !squeeze(text).startsWith(held);
  }
  return on.rows.some((row) => (on.lines[row] ?? '').trimEnd() !== (now.lines[row] ?? '').trimEnd());
}

/** As a terminal shows the marks of a paste that it echoes by itself. */
const echoedMark = '^[[200~';

/**
 * Whether the terminal showed the text, and not the program: it is set to echo, so nobody has read anything yet. Whoever
 * reads it next, should the program end now, would get the text and Enter with it.
 */
export function isEchoed(text: string, before: readonly string[], after: readonly string[]): boolean {
  const countOf = (whole: string, part: string): number => whole.split(part).length - 1;
  const countIn = (lines: readonly string[]): number => countOf(lines.join(''), echoedMark);
  return countIn(after) > countIn(before) + countOf(text, echoedMark);
}
