// A plain table that fits a width: every screen that lists things as text goes through here. The widest flexible column
// gives way first; nothing ever wraps.

import type { SafeText } from '../text/sanitize.ts';
import { pad, width } from '../text/width.ts';

export interface Column {
  readonly title: string;
  /** May be cut when the table does not fit. */
  readonly flexible?: boolean;
}

/** Adds colours to the text of a cell, and nothing that takes a column. The row is null for the titles. */
export type PaintCell = (text: string, row: number | null, column: number) => string;

const gap = 2;
const flexibleMin = 8;

export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly SafeText[])[],
  columnsMax: number,
  paint: PaintCell = (text) => text,
): readonly string[] {
  const wanted = columns.map((column, place) =>
    Math.max(width(column.title), ...rows.map((row) => width(row[place] ?? ''))),
  );
  const widths = fit(columns, wanted, columnsMax);
  const line = (cells: readonly string[], row: number | null): string =>
    cells
      .map((cell, place) => {
        const padded = pad(cell, widths[place] ?? 0);
        const text = padded.trimEnd();
        return text === '' ? padded : paint(text, row, place) + padded.slice(text.length);
      })
      .join(' '.repeat(gap))
      .trimEnd();
  const titles = columns.map((column) => column.title);
  return [line(titles, null), ...rows.map((cells, row) => line(cells, row))];
}

function fit(columns: readonly Column[], wanted: readonly number[], columnsMax: number): readonly number[] {
  const widths = [...wanted];
  const total = (): number => widths.reduce((sum, one) => sum + one, 0) + gap * (widths.length - 1);
  while (total() > columnsMax) {
    const flexible = widths.flatMap((one, place) => (columns[place]?.flexible && one > flexibleMin ? [place] : []));
    const widest = flexible.reduce<number | null>(
      (best, place) => (best === null || (widths[place] ?? 0) > (widths[best] ?? 0) ? place : best),
      null,
    );
    if (widest === null) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}
