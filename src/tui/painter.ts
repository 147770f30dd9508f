// From lines of spans to what is written to the terminal: only lines that are other than before, each at its place and
// cleared to its end. Pure. Nothing that a span holds can do more than be seen: control characters are left out here too.

import { type PaintRole, paint } from '../view/paint.ts';
import type { Span, SpanLine } from '../view/shells-spans.ts';

/** Without colours still: what is chosen, what is a title, what stands back. */
const colourless: ReadonlySet<PaintRole> = new Set(['selected', 'title', 'dim', 'quiet']);

const controls = /[\u0000-\u001f\u007f-\u009f]/g;
const reset = '\u001b[0m';

/** What the terminal can show: none for who wants none (NO_COLOR), sixteen for consoles, all for the others. */
export type Colours = 'none' | 'sixteen' | 'all';

export function paintedLine(line: SpanLine, colours: Colours): string {
  return line.map((span) => paintedSpan(span, colours)).join('');
}

function paintedSpan({ text, role, sgr }: Span, colours: Colours): string {
  const hasColour = colours !== 'none';
  const shown = text.replace(controls, '');
  if (shown === '') return '';
  if (sgr !== undefined) return hasColour ? `${colours === 'all' ? sgr : inSixteen(sgr)}${shown}${reset}` : shown;
  return role === null || (!hasColour && !colourless.has(role)) ? shown : paint(shown, role);
}

/** Colours of a palette of 256, or of no palette, as the nearest of the sixteen that every terminal has. */
export function inSixteen(sgr: string): string {
  const words = sgr.slice(2, -1).split(';');
  const kept: string[] = [];
  for (let place = 0; place < words.length; place += 1) {
    const word = words[place] ?? '';
    if (word !== '38' && word !== '48') {
      kept.push(word);
      continue;
    }
    const isIndexed = words[place + 1] === '5';
    const numbers = words.slice(place + 2, place + (isIndexed ? 3 : 5)).map(Number);
    place += isIndexed ? 2 : 4;
    const nearest = isIndexed ? ofPalette(numbers[0] ?? 0) : ofRgb(numbers);
    kept.push(String((word === '38' ? 30 : 40) + (nearest < 8 ? nearest : nearest + 52)));
  }
  return `\u001b[${kept.join(';')}m`;
}

function ofPalette(index: number): number {
  if (index < 16) return index;
  if (index >= 232) return ofRgb([0, 0, 0].map(() => (index - 232) * 10 + 8));
  const cube = index - 16;
  return ofRgb([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((step) => step * 51));
}

/** Its hue by the parts that stand out, bright where one is very bright. */
function ofRgb(parts: readonly number[]): number {
  const most = Math.max(...parts);
  if (most < 48) return 0;
  const bits = parts.reduce((sum, part, place) => sum + (part > most * 0.6 ? 1 << place : 0), 0);
  const isGrey = bits === 7;
  if (isGrey) return most > 208 ? 15 : most > 112 ? 7 : 8;
  return bits + (most > 176 ? 8 : 0);
}

/** Cleared first: behind a full line the cursor stands on its last character. */
const lineAt = (row: number, text: string): string => `\u001b[${row + 1};1H\u001b[K${text}`;

/** Empty when nothing is other than before. Null before: everything is drawn. Always as many lines as the terminal has. */
export function repaint(before: readonly string[] | null, after: readonly string[]): string {
  const changed = after.flatMap((text, row) => (before?.[row] === text ? [] : [lineAt(row, text)]));
  if (changed.length === 0) return '';
  // As one picture, where the terminal can: nobody sees half of it.
  return `\u001b[?2026h${before === null ? '\u001b[2J' : ''}${changed.join('')}\u001b[?2026l`;
}
