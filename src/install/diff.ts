// The difference of two texts as people read it: unified, three lines around each change. Pure.

const around = 3;
/** Lines compared one by one beyond what both have in common at the start and end; more is shown as one replacement. */
const linesMax = 2_000;

type Line = readonly [mark: ' ' | '-' | '+', text: string];

/** Without a head; empty when nothing differs. Null is a file that is not there. */
export function unifiedDiff(before: string | null, after: string | null): string {
  const lines = compare(linesOf(before), linesOf(after));
  const changes = lines.flatMap(([mark], place) => (mark === ' ' ? [] : [place]));
  const hunks: [number, number][] = [];
  for (const place of changes) {
    const last = hunks.at(-1);
    if (last !== undefined && place - around <= last[1]) last[1] = place + around + 1;
    else hunks.push([Math.max(0, place - around), place + around + 1]);
  }
  return hunks.map(([start, end]) => hunkText(lines, start, Math.min(end, lines.length))).join('');
}

function hunkText(lines: readonly Line[], start: number, end: number): string {
  const count = (marks: string, from: number, to: number): number =>
    lines.slice(from, to).filter(([mark]) => marks.includes(mark)).length;
  const side = (marks: string): string => {
    const length = count(marks, start, end);
    return `${count(marks, 0, start) + (length === 0 ? 0 : 1)},${length}`;
  };
  const text = lines.slice(start, end).map(([mark, line]) => `${mark}${line}\n`);
  return `@@ -${side(' -')} +${side(' +')} @@\n${text.join('')}`;
}

/** A last line without an end is another line than one with it. */
function linesOf(text: string | null): readonly string[] {
  if (text === null || text === '') return [];
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return last === '' ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}

function compare(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const same = (text: string): Line => [' ', text];
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

/** The longest common run of lines, by the table everyone knows. */
function middle(before: readonly string[], after: readonly string[]): readonly Line[] {
  const all = (): readonly Line[] => [
    ...before.map((text): Line => ['-', text]),
    ...after.map((text): Line => ['+', text]),
  ];
  if (before.length === 0 || after.length === 0 || before.length > linesMax || after.length > linesMax) return all();
  const width = after.length + 1;
  const common = new Uint16Array((before.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [old, fresh] = [before[row], after[column]];
    if (old !== undefined && old === fresh) {
      lines.push([' ', old]);
      row += 1;
      column += 1;
    } else if (old !== undefined && (fresh === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(['-', old]);
      row += 1;
    } else if (fresh !== undefined) {
      lines.push(['+', fresh]);
      column += 1;
    }
  }
  return lines;
}
