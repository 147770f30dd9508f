// Messages as text: which ones may be typed at all (ACT2), and how one is recognised on a screen that wraps, frames and
// shortens it.

import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { safePieces, searchable } from './guard-format.ts';

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
    return fail('E_TOO_LARGE', `the message has ${bytes} bytes; at most ${limits.messageBytesMax} are taken`);
  }
  return ok(checked);
}

/** Frames, blanks and marks without a width: where a prompt wraps, these come between the characters of a message. */
const noise = /[\s\p{Cf}\p{M}\u2500-\u259f|]+/gu;
const frameEnd = /[\s\u2500-\u259f|]+$/u;
const isWordChar = /[\p{L}\p{N}]$/u;

/** Characters of its end by which a message is known: enough to be itself, few enough to stand whole after a wrap. */
const tailChars = 12;
/** Shorter ones stand on every screen somewhere; these must be the end of a line. */
const tailCharsAnywhere = 4;
/** What is searched for pieces of the end: some lines of the widest prompt. */
const endChars = 400;

const squeeze = (text: string): string => text.replace(noise, '');

function countOf(text: string, part: string): number {
  return part === '' ? 0 : text.split(part).length - 1;
}

function tailCount(tail: string, lines: readonly string[]): number {
  if ([...tail].length >= tailCharsAnywhere) return countOf(squeeze(lines.join('\n')), tail);
  return lines.filter((line) => {
    const end = line.replace(frameEnd, '');
    return end.endsWith(tail) && !(isWordChar.test(end.slice(0, -tail.length)) && isWordChar.test(tail));
  }).length;
}

/** Seen, with the part of it that the guard before Enter can search for; null when nothing in it can be searched. */
export interface Sighting {
  readonly shown: string | null;
}

/**
 * Whether a message came onto the screen since `before`: its end stands there once more than it did, or what the agent
 * shows in its place (`collapsed`) does. The same words further up, from an earlier message, are no sighting.
 */
export function sightingOf(
  text: string,
  collapsed: RegExp | null,
  before: readonly string[],
  after: readonly string[],
): Sighting | null {
  const tail = [...squeeze(text.slice(-endChars))].slice(-tailChars).join('');
  if (tail !== '' && tailCount(tail, after) > tailCount(tail, before)) {
    return { shown: endOnScreen(text.slice(-endChars), after) };
  }
  if (collapsed === null) return null;
  const earlier = before.join('\n');
  const now = after.join('\n');
  for (const [found] of now.matchAll(collapsed)) {
    if (countOf(now, found) > countOf(earlier, found)) return { shown: searchable(found) };
  }
  return null;
}

/** As a terminal shows the marks of a paste that it echoes by itself. */
const echoedMark = '^[[200~';

/**
 * Whether the terminal showed the text, and not the program: it is set to echo, so nobody has read anything yet. Whoever
 * reads it next, should the program end now, would get the text and Enter with it.
 */
export function isEchoed(text: string, before: readonly string[], after: readonly string[]): boolean {
  const countIn = (lines: readonly string[]): number => countOf(lines.join(''), echoedMark);
  return countIn(after) > countIn(before) + countOf(text, echoedMark);
}

/** The longest piece of the message's end that stands in one line of the screen, for tmux searches line by line. */
function endOnScreen(end: string, lines: readonly string[]): string | null {
  let best = '';
  for (const piece of safePieces(end.slice(-limits.shownCharsMax)).toReversed()) {
    const chars = [...piece];
    for (let from = 0; chars.length - from > best.length; from += 1) {
      const part = chars.slice(from).join('').trim();
      if (!lines.some((line) => line.includes(part))) continue;
      best = part;
      break;
    }
  }
  return best === '' ? null : best;
}
