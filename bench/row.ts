// What a benchmark hands back: one line of the table, with the goal it is held to. A bench module is a file beside this
// one that exports `run`; bench/main.ts finds and runs it.

export interface BenchRow {
  /** What was measured, in a few words. */
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The bound that `value` must keep, if there is one. */
  readonly goal?: BenchGoal;
  /** How it was measured: counts, repetitions. */
  readonly note?: string;
}

export type BenchGoal = { readonly atLeast: number } | { readonly atMost: number };

export interface BenchModule {
  run(): Promise<readonly BenchRow[]> | readonly BenchRow[];
}

export function keepsGoal(row: BenchRow): boolean {
  if (row.goal === undefined) return true;
  return 'atLeast' in row.goal ? row.value >= row.goal.atLeast : row.value <= row.goal.atMost;
}

/** 1234567.8 as 1,234,568; 12.345 as 12.3; 0.01234 as 0.0123. */
export function figure(value: number): string {
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.min(digits, 6) });
}

/** A Markdown table, as docs/performance.md keeps it. */
export function table(rows: readonly BenchRow[]): string {
  const cells = rows.map((row) => [
    row.name,
    `${figure(row.value)} ${row.unit}`,
    goalWords(row),
    row.goal === undefined ? '' : keepsGoal(row) ? 'yes' : 'NO',
    row.note ?? '',
  ]);
  const lines = [['what', 'measured', 'goal', 'kept', 'how'], ...cells];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(3, ...lines.map((line) => (line[column] ?? '').length)));
  const draw = (line: readonly string[]): string =>
    `| ${widths.map((width, column) => (line[column] ?? '').padEnd(width)).join(' | ')} |`;
  const [head = [], ...body] = lines;
  return [draw(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(draw)].join('\n');
}

function goalWords(row: BenchRow): string {
  if (row.goal === undefined) return '';
  return 'atLeast' in row.goal ? `>= ${figure(row.goal.atLeast)}` : `<= ${figure(row.goal.atMost)}`;
}

export const percentile = (times: readonly number[], share: number): number =>
  [...times].sort((one, other) => one - other)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
