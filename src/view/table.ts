// A plain table that fits a width: every screen that lists things as text goes through here. The widest flexible column
// gives way first; nothing ever wraps.

import type { SafeText } from '../text/gate.ts';
import { pad, width } from '../text/width.ts';

export interface Column {
  readonly title: string;
  /** May be cut when the table does not fit. */
  readonly flexible?: boolean;
}

const gap = 2;
const flexibleMin = 8;

export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly SafeText[])[],
  columnsMax: number,
): readonly string[] {
  const wanted = columns.map((column, place) =>
    Math.max(width(column.title), ...rows.map((row) => width(row[place] ?? ''))),
  );
  const widths = fit(columns, wanted, columnsMax);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, place) => pad(cell, widths[place] ?? 0))
      .join(' '.repeat(gap))
      .trimEnd();
  return [line(columns.map((column) => column.title)), ...rows.map((row) => line(row))];
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
