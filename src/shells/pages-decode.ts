// From bytes of a log to text that may be shown: UTF-8 as browsers read it, wrong bytes replaced, through the gate (SEC3),
// and never half a character.

import { createSanitizer } from '../text/sanitize.ts';
import { codePointColumns } from '../text/width.ts';

const replacement = 0xfffd;
const runUnitsMax = 4_096;

/** A code point and how many bytes it took; `isShort`: the bytes ended inside it. */
interface Decoded {
  readonly code: number;
  readonly length: number;
  readonly isShort: boolean;
}

/** How many bytes follow a lead byte, and between what the first of them must lie. */
function followers(lead: number): readonly [count: number, low: number, high: number] | null {
  if (lead >= 0xc2 && lead <= 0xdf) return [1, 0x80, 0xbf];
  if (lead >= 0xe0 && lead <= 0xef) return [2, lead === 0xe0 ? 0xa0 : 0x80, lead === 0xed ? 0x9f : 0xbf];
  if (lead >= 0xf0 && lead <= 0xf4) return [3, lead === 0xf0 ? 0x90 : 0x80, lead === 0xf4 ? 0x8f : 0xbf];
  return null;
}

export function decodeAt(bytes: Uint8Array, start: number, end: number): Decoded {
  const lead = bytes[start] ?? 0;
  if (lead < 0x80) return { code: lead, length: 1, isShort: false };
  const rest = followers(lead);
  if (rest === null) return { code: replacement, length: 1, isShort: false };
  const [count, low, high] = rest;
  let code = lead & (0x3f >> count);
  for (let place = 1; place <= count; place += 1) {
    if (start + place >= end) return { code: replacement, length: place, isShort: true };
    const byte = bytes[start + place] ?? 0;
    const fits = place === 1 ? byte >= low && byte <= high : byte >= 0x80 && byte <= 0xbf;
    if (!fits) return { code: replacement, length: place, isShort: false };
    code = (code << 6) | (byte & 0x3f);
  }
  return { code, length: count + 1, isShort: false };
}

const isPlain = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x20 && byte <= 0x7e;
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
const isLineSeparator = (code: number): boolean => code === 0x2028 || code === 0x2029;
/** Belongs to the character before it; a tab does not. */
const isMark = (code: number): boolean => code >= 0x300 && codePointColumns(code) === 0;

/** Bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (const one of text) {
    const code = one.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** The tail of a character whose head was dropped: how many bytes to leave out. */
export function brokenHead(bytes: Uint8Array): number {
  let length = 0;
  while (length < 3 && isContinuation(bytes[length])) length += 1;
  return length;
}

export interface Rendered {
  readonly text: string;
  /** Up to where the bytes went into the text. */
  readonly end: number;
  /** There was more to show than fits. */
  readonly isFull: boolean;
}

/**
 * What `bytes` from `start` to `end` show, at most `bytesMax` of it (a few more where marks belong to the last
 * character). `isWhole`: nothing follows, so a last character that is cut short is a wrong one; else it is left for later.
 */
export function render(bytes: Uint8Array, start: number, end: number, bytesMax: number, isWhole: boolean): Rendered {
  const gate = createSanitizer('block', { charsMax: Infinity });
  let text = '';
  let size = 0;
  let at = start;
  while (at < end) {
    const runEnd = plainRunEnd(bytes, at, Math.min(end, at + bytesMax - size));
    if (runEnd > at) {
      const shown = gate.push(String.fromCharCode(...bytes.subarray(at, runEnd)));
      text += shown;
      size += shown.length;
      at = runEnd;
      continue;
    }
    const { code, length, isShort } = decodeAt(bytes, at, end);
    if (isShort && !isWhole) break;
    // A page's line is one line, whatever Unicode says.
    const shown = gate.push(isLineSeparator(code) ? ' ' : String.fromCodePoint(code));
    const shownBytes = utf8Bytes(shown);
    if (size + shownBytes > bytesMax && !isMark(code)) return { text, end: at, isFull: true };
    text += shown;
    size += shownBytes;
    at += length;
  }
  return { text, end: at, isFull: false };
}

function plainRunEnd(bytes: Uint8Array, start: number, end: number): number {
  const last = Math.min(end, start + runUnitsMax);
  let at = start;
  while (at < last && isPlain(bytes[at])) at += 1;
  return at;
}
