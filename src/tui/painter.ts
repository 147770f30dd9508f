// From lines of spans to what is written to the terminal: only lines that are other than before, each at its place and
// cleared to its end. Pure. Nothing that a span holds can do more than be seen: control characters are left out here too.

import { type PaintRole, paint } from '../view/paint.ts';
import type { Span, SpanLine } from '../view/shells-spans.ts';

/** Without colours still: what is chosen, what is a title, what stands back. */
const colourless: ReadonlySet<PaintRole> = new Set(['selected', 'title', 'dim', 'quiet']);

const controls = /[\u0000-\u001f\u007f-\u009f]/g;
const reset = '\u001b[0m';

export function paintedLine(line: SpanLine, hasColour: boolean): string {
  return line.map((span) => paintedSpan(span, hasColour)).join('');
}

function paintedSpan({ text, role, sgr }: Span, hasColour: boolean): string {
  const shown = text.replace(controls, '');
  if (shown === '') return '';
  if (sgr !== undefined) return hasColour ? `${sgr}${shown}${reset}` : shown;
  return role === null || (!hasColour && !colourless.has(role)) ? shown : paint(shown, role);
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
