// How many columns text takes on a terminal, and cutting and padding to columns. For single lines that passed the gate
// or were written by us; control characters take no column here, escape sequences are not understood.
//
// Compared with @xterm/headless 6 and its default table of Unicode 6 (width.test.ts proves this list): that table gives
// one column to emoji and to wide characters added since, and one to marks added since; it does not look at sequences.
// Here a picture takes two columns, alone, with a skin tone, joined to others (ZWJ) or chosen by variation selector 16,
// as current terminals draw it.

import type { SafeText } from './safe.ts';
import { isInRanges, wideRanges, zeroRanges } from './tables.ts';

const ellipsis = '…';
const joiner = 0x200d;
const emojiSelector = 0xfe0f;

const printableAscii = /^[\x20-\x7e]*$/;
const emoji = /^\p{Emoji}/u;
const picture = /^\p{Extended_Pictographic}/u;

const isFlagLetter = (code: number): boolean => code >= 0x1f1e6 && code <= 0x1f1ff;
const isSkinTone = (code: number): boolean => code >= 0x1f3fb && code <= 0x1f3ff;

/** Columns of one code point by itself. Characters of ambiguous width take one, as outside East Asian locales. */
export function codePointColumns(code: number): 0 | 1 | 2 {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 0;
  if (code < 0x300) return 1;
  if (isInRanges(zeroRanges, code)) return 0;
  return isInRanges(wideRanges, code) ? 2 : 1;
}

interface Cluster {
  /** Index behind its last code unit. */
  readonly end: number;
  readonly columns: 0 | 1 | 2;
}

const codeAt = (text: string, index: number): number => text.codePointAt(index) ?? -1;
const unitsOf = (code: number): number => (code > 0xffff ? 2 : 1);

/** What stands together: a character with its marks, a flag, a picture with skin tone, selector or joined pictures. */
function clusterAt(text: string, start: number): Cluster {
  const base = codeAt(text, start);
  const baseText = String.fromCodePoint(base);
  const isPicture = base > 0x7f && picture.test(baseText);
  let end = start + unitsOf(base);
  let columns = codePointColumns(base);
  if (isFlagLetter(base) && isFlagLetter(codeAt(text, end))) return { end: end + 2, columns: 2 };
  for (let code = codeAt(text, end); code !== -1; code = codeAt(text, end)) {
    const isJoined = isPicture && code === joiner && picture.test(text.slice(end + 1));
    const belongs = isJoined || (isPicture && isSkinTone(code)) || codePointColumns(code) === 0;
    if (!belongs) break;
    if (code === emojiSelector && emoji.test(baseText)) columns = 2;
    end += isJoined ? 1 + unitsOf(codeAt(text, end + 1)) : unitsOf(code);
  }
  return { end, columns };
}

export function width(text: string): number {
  if (printableAscii.test(text)) return text.length;
  let columns = 0;
  for (let index = 0; index < text.length; ) {
    const cluster = clusterAt(text, index);
    columns += cluster.columns;
    index = cluster.end;
  }
  return columns;
}

/**
 * At most `columnsMax` columns; what is longer ends in an ellipsis. A wide character is never halved, so the result may
 * be one column shorter: `pad` makes it exact. Cut safe text stays safe.
 */
export function cut(text: SafeText, columnsMax: number): SafeText;
export function cut(text: string, columnsMax: number): string;
export function cut(text: string, columnsMax: number): string {
  if (columnsMax < 1) return '';
  let columns = 0;
  let keptEnd = 0;
  for (let index = 0; index < text.length; ) {
    const cluster = clusterAt(text, index);
    columns += cluster.columns;
    index = cluster.end;
    if (columns > columnsMax) return text.slice(0, keptEnd) + ellipsis;
    if (columns < columnsMax) keptEnd = index;
  }
  return text;
}

/** Exactly `columns` columns: cut if longer, filled with spaces on the other side if shorter. */
export function pad(text: SafeText, columns: number, align?: 'left' | 'right'): SafeText;
export function pad(text: string, columns: number, align?: 'left' | 'right'): string;
export function pad(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const short = cut(text, columns);
  const fill = ' '.repeat(Math.max(0, columns - width(short)));
  return align === 'left' ? short + fill : fill + short;
}
