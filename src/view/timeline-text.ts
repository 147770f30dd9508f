// Lanes as bars of cells, for a terminal and for whoever draws: each cell is one stretch of time, coloured by the state that
// filled most of it. Everything others wrote has passed the gate (SEC3).

import type { TimelineDocument, TimelineLane } from '../api/timeline.ts';
import type { StateName } from '../model/states.ts';
import { foreign, type SafeText, sanitizeLine } from '../text/sanitize.ts';
import { cut } from '../text/width.ts';
import type { TextOptions } from './lists-text.ts';
import { paint } from './paint.ts';
import { tableLines } from './table.ts';
import { wordsOf } from './words.ts';

const safe = (text: string): SafeText => sanitizeLine(foreign(text));

/** Null: nobody saw it then. */
export type BarCell = StateName | null;

export interface BarSpan {
  readonly state: StateName;
  readonly from: string;
  readonly to: string;
}

/** One cell for each equal part of the time between two moments (ms). */
export function barCells(spans: readonly BarSpan[], since: number, until: number, count: number): readonly BarCell[] {
  const cells = Array.from({ length: count }, () => new Map<StateName, number>());
  const cellMs = (until - since) / count;
  for (const span of spans) {
    const from = Math.max(0, (Date.parse(span.from) - since) / cellMs);
    const to = Math.min(count, (Date.parse(span.to) - since) / cellMs);
    for (let place = Math.floor(from); place < to; place += 1) {
      const filled = Math.min(to, place + 1) - Math.max(from, place);
      const cell = cells[place];
      if (filled > 0) cell?.set(span.state, (cell.get(span.state) ?? 0) + filled);
    }
  }
  return cells.map((cell) => [...cell].sort(([, one], [, other]) => other - one)[0]?.[0] ?? null);
}

/** `38m`, `2h 5m`: sums are told in minutes. */
export function sumLabel(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes === 0 && ms > 0) return '<1m';
  if (minutes < 60) return `${minutes}m`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

const barCellsMin = 10;
const besideBar = 50;

export function timelineLines(document: TimelineDocument, options: TextOptions): readonly string[] {
  const { items, waited_ms } = document;
  if (items.length === 0) return ['No agent was seen in this period.'];
  const since = Date.parse(document.since);
  const until = Date.parse(document.until);
  const count = Math.max(barCellsMin, options.columns - besideBar);
  const rows = items.map((item) => [
    safe(item.agent),
    safe(item.project ?? '-'),
    safe(`${item.target}/${item.where}`),
    safe(sumLabel(item.waited_ms)),
    safe(barOf(item, since, until, count)),
  ]);
  const columns = [
    { title: 'AGENT', flexible: true },
    { title: 'PROJECT', flexible: true },
    { title: 'WHERE', flexible: true },
    { title: 'WAITED' },
    { title: 'STATES' },
  ];
  const painted = (text: string, row: number | null, place: number): string => {
    if (row === null) return paint(text, 'title');
    return place === columns.length - 1 ? colouredBar(items[row], since, until, count) : text;
  };
  const plain = tableLines(columns, rows, options.columns).map((line) => cut(line, options.columns));
  const lines = options.colour ? tableLines(columns, rows, options.columns, painted) : plain;
  return [...lines, '', `agents waited for you: ${sumLabel(waited_ms)}`];
}

const unseen = ' ';
const markOf = (cell: BarCell): string => (cell === null ? unseen : wordsOf(cell).mark);

const barOf = (item: TimelineLane, since: number, until: number, count: number): string =>
  barCells(item.spans, since, until, count).map(markOf).join('');

function colouredBar(item: TimelineLane | undefined, since: number, until: number, count: number): string {
  if (item === undefined) return '';
  const cells = barCells(item.spans, since, until, count);
  return cells.map((cell) => (cell === null ? unseen : paint(markOf(cell), wordsOf(cell).colour))).join('');
}
