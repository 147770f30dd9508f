// Tables that the command line makes itself, from documents: as wide as the terminal, everything through the gate.

import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { cut } from '../text/width.ts';
import { type Column, tableLines } from '../view/table.ts';
import { columnsOf } from './output.ts';

export function tableText(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map((cell) => sanitizeLine(foreign(cell))));
  const width = columnsOf();
  return tableLines(columns, safe, width)
    .map((line) => cut(line, width))
    .join('\n');
}
