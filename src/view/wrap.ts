// Text broken into the lines of a screen: between words where it can be, inside of them where it must be. No line is wider
// than asked for, and nothing is left out. For text that passed the gate or is our own.

import { width } from '../text/width.ts';

const tabColumns = 4;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** At least one line, also of nothing. */
export function wrapText(text: string, columns: number): readonly string[] {
  const room = Math.max(1, columns);
  return text
    .replaceAll('\t', ' '.repeat(tabColumns))
    .split('\n')
    .flatMap((line) => (width(line) <= room ? [line] : wrapLine(line, room)));
}

function wrapLine(line: string, room: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(/(?<= )(?! )/)) {
    if (current !== '' && width((current + word).trimEnd()) > room) {
      lines.push(current.trimEnd());
      current = '';
    }
    current += word;
    if (width(current.trimEnd()) <= room) continue;
    const pieces = pieceBy(current.trimEnd(), room);
    lines.push(...pieces.slice(0, -1));
    current = `${pieces.at(-1) ?? ''} `;
  }
  lines.push(current.trimEnd());
  return lines;
}

/** A word that is wider than a line, cut where lines end; no character is halved. */
function pieceBy(word: string, room: number): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const { segment } of graphemes.segment(word)) {
    if (piece !== '' && width(piece + segment) > room) {
      pieces.push(piece);
      piece = '';
    }
    piece += segment;
  }
  return [...pieces, piece];
}
