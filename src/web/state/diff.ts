// A unified diff as rows that stand side by side: what was taken away beside what came in its place. Read by the counts of its
// hunks, so that no line of a file is taken for a line of the diff. Pure.

export interface DiffLine {
  readonly number: number;
  readonly text: string;
}

export interface DiffRow {
  readonly isSame: boolean;
  /** Null where there is nothing on this side. */
  readonly left: DiffLine | null;
  readonly right: DiffLine | null;
}

export interface DiffHunk {
  /** What git says where it is: the function around it. */
  readonly head: string;
  readonly rows: readonly DiffRow[];
}

export interface FileDiff {
  readonly path: string;
  /** Without hunks: `Binary files differ` and the like. */
  readonly notes: readonly string[];
  readonly hunks: readonly DiffHunk[];
}

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;
const pathOf = (text: string): string => text.replace(/^"(.*)"$/, '$1').replace(/^[ab]\//, '');

export function parsePatch(patch: string): readonly FileDiff[] {
  const lines = patch.split('\n');
  const files: FileDiff[] = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at]?.startsWith('diff --git ')) {
      at += 1;
      continue;
    }
    const { file, next } = readFile(lines, at);
    files.push(file);
    at = next;
  }
  return files;
}

function readFile(lines: readonly string[], from: number): { readonly file: FileDiff; readonly next: number } {
  let path = pathOf(/ (?:b\/.*|"b\/.*")$/.exec(lines[from] ?? '')?.[0].trim() ?? '');
  const notes: string[] = [];
  const hunks: DiffHunk[] = [];
  let at = from + 1;
  for (; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.startsWith('diff --git ')) break;
    const head = hunkHead.exec(line);
    if (head !== null) {
      const { hunk, next } = readHunk(lines, at, head);
      hunks.push(hunk);
      at = next - 1;
    } else if (line.startsWith('--- a/') || line.startsWith('+++ b/')) path = pathOf(line.slice(4));
    else if (/^(?:Binary|rename|new file|deleted file|old mode|new mode)/.test(line)) notes.push(line);
  }
  return { file: { path, notes, hunks }, next: at };
}

function readHunk(lines: readonly string[], from: number, head: RegExpExecArray): { hunk: DiffHunk; next: number } {
  const [, oldStart = '1', oldCount = '1', newStart = '1', newCount = '1', words = ''] = head;
  const left = { number: Number(oldStart), open: Number(oldCount) };
  const right = { number: Number(newStart), open: Number(newCount) };
  const rows: DiffRow[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = (): void => {
    for (let place = 0; place < Math.max(removed.length, added.length); place += 1)
      rows.push({ isSame: false, left: removed[place] ?? null, right: added[place] ?? null });
    removed = [];
    added = [];
  };
  const take = (side: typeof left, text: string): DiffLine => {
    side.open -= 1;
    side.number += 1;
    return { number: side.number - 1, text };
  };
  let at = from + 1;
  for (; at < lines.length && (left.open > 0 || right.open > 0); at += 1) {
    const line = lines[at] ?? '';
    const text = line.slice(1);
    if (line.startsWith('-')) removed.push(take(left, text));
    else if (line.startsWith('+')) added.push(take(right, text));
    else if (!line.startsWith('\\')) {
      flush();
      rows.push({ isSame: true, left: take(left, text), right: take(right, text) });
    }
  }
  flush();
  return { hunk: { head: words, rows }, next: at };
}

/** The same in one column: what went, then what came. */
export function inOneColumn(rows: readonly DiffRow[]): readonly DiffRow[] {
  const lines: DiffRow[] = [];
  let came: DiffRow[] = [];
  for (const row of rows) {
    if (row.isSame) {
      lines.push(...came, row);
      came = [];
      continue;
    }
    if (row.left !== null) lines.push({ ...row, right: null });
    if (row.right !== null) came.push({ ...row, left: null });
  }
  return [...lines, ...came];
}
