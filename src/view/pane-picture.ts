// What a pane shows as lines of spans: its colours kept, everything else that its program wrote taken out by the gate. Pure.

import { foreign, sanitizeColoured } from '../text/sanitize.ts';
import { width } from '../text/width.ts';
import type { Span, SpanLine } from './shells-spans.ts';

const style = /\u001b\[([0-9;]*)m/g;
const plain = '\u001b[0m';

/** One line for each row of the pane; rows that are empty to the end are left out. */
export function paneLines(rows: readonly string[]): readonly SpanLine[] {
  const lines = sanitizeColoured(foreign(rows.join('\n')))
    .split('\n')
    .map(spansOf);
  const last = lines.findLastIndex((line) => line.some(({ text, sgr }) => text.trim() !== '' || sgr !== undefined));
  return lines.slice(0, last + 1);
}

/** The gate writes styles in one form, each from a reset on; between two of them stands text alone. */
function spansOf(line: string): SpanLine {
  const spans: Span[] = [];
  let sgr = plain;
  let start = 0;
  const put = (end: number): void => {
    const text = line.slice(start, end).replaceAll('\t', '    ');
    if (text !== '') spans.push(sgr === plain ? { text, role: null } : { text, role: null, sgr });
  };
  for (const match of line.matchAll(style)) {
    put(match.index);
    sgr = match[0];
    start = match.index + match[0].length;
  }
  put(line.length);
  return spans;
}

/** At most `columns` columns, without a sign that something was cut: a pane that is looked at is often wider. */
export function clipLine(line: SpanLine, columns: number): SpanLine {
  const kept: Span[] = [];
  let room = columns;
  for (const span of line) {
    if (room <= 0) break;
    const text = clipText(span.text, room);
    kept.push({ ...span, text });
    room -= width(text);
  }
  return kept;
}

function clipText(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let used = 0;
  let end = 0;
  for (const character of text) {
    used += width(character);
    if (used > columns) break;
    end += character.length;
  }
  return text.slice(0, end);
}
