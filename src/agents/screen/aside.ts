// A column that an agent may open at the left of its interface, with things of its own in it: Copilot's list of sessions.
// Rules speak of the interface, so it is cut away before any of them looks.

import { width } from '../../text/width.ts';
import type { Pattern } from './pattern.ts';

const bar = '│';

/**
 * What stands right of the bar, if one runs down the whole screen in the column where the first line has it. A frame in
 * the conversation never does: the interface below it has none. With the slightest gap everything stays as it is.
 */
export function withoutAside(aside: Pick<Pattern, 'exec'> | null, lines: readonly string[]): readonly string[] {
  const head = aside?.exec(lines[0] ?? '')?.[0];
  if (head === undefined || lines.length < 3) return lines;
  const column = width(head);
  const right: string[] = [];
  for (const line of lines) {
    const at = barAt(line, column);
    if (at < 0) return lines;
    right.push(line.slice(at + bar.length));
  }
  return right;
}

function barAt(line: string, column: number): number {
  for (let at = line.indexOf(bar); at >= 0; at = line.indexOf(bar, at + 1)) {
    const columns = width(line.slice(0, at));
    if (columns === column) return at;
    if (columns > column) return -1;
  }
  return -1;
}
