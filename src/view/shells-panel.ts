// The panel of shells that fills a screen: tabs, rows in a window around the one that is selected, keys at the bottom; and
// the screen of one shell with its log. Always exactly as many lines as there are, whatever others wrote into them.

import type { ShellItem } from '../api/shells.ts';
import { type ShellId, type ShellLogPage, type ShellStatus, shellStatuses } from '../model/shells.ts';
import { foreign, sanitizeLine, sanitizeRevealed } from '../text/sanitize.ts';
import { cut, pad, width } from '../text/width.ts';
import {
  backgroundHint,
  badgeText,
  isForeground,
  isNew,
  modeText,
  shellLabel,
  shellMark,
  statusRoles,
  statusWords,
  timeText,
  timingText,
} from './shells.ts';
import { cutLine, hintLines, type SpanLine, selectedLine, span } from './shells-spans.ts';

export interface ScreenSize {
  readonly columns: number;
  readonly lines: number;
}

export interface PanelOptions extends ScreenSize {
  readonly tab: ShellStatus;
  /** Where it is not on this tab, the first row is. */
  readonly selected: ShellId | null;
  readonly now: number;
}

/** The rows of a tab in the order of the panel: what began or ended last comes first. */
export function shellsOfTab(rows: readonly ShellItem[], tab: ShellStatus): readonly ShellItem[] {
  const time = ({ started_at, ended_at }: ShellItem): number => Date.parse(ended_at ?? started_at);
  return rows
    .filter(({ status }) => status === tab)
    .toSorted((one, other) => time(other) - time(one) || idNumber(other) - idNumber(one));
}

const idNumber = ({ shell_id }: ShellItem): number => Number(shell_id.slice('shell-'.length));

export function selectedShell(rows: readonly ShellItem[], { tab, selected }: PanelOptions): ShellItem | null {
  const shown = shellsOfTab(rows, tab);
  return shown.find(({ shell_id }) => shell_id === selected) ?? shown[0] ?? null;
}

const runningKeys = [
  '←/→ tabs',
  '↑/↓ select',
  'Enter details',
  'k kill',
  'd diagnostic',
  'r resume',
  'Ctrl+R background',
  'q/Esc exit',
] as const;
const endedKeys = runningKeys.filter((hint) => hint !== 'k kill' && hint !== 'Ctrl+R background');

export function shellPanel(rows: readonly ShellItem[], options: PanelOptions): readonly SpanLine[] {
  const { tab, columns, lines } = options;
  const shown = shellsOfTab(rows, tab);
  const chosen = selectedShell(rows, options);
  const place = chosen === null ? 0 : shown.indexOf(chosen);
  const footer = hintLines(tab === 'running' ? runningKeys : endedKeys, columns);
  const room = Math.max(1, lines - footer.length - 2);
  const first = windowStart(shown.length, place, room);
  const visible = shown.slice(first, first + room);
  const body = visible.length === 0 ? emptyLines(tab, columns) : rowLines(visible, chosen, options);
  const part = shown.length > room ? `${first + 1}-${first + visible.length} of ${shown.length}` : '';
  return filled([tabsLine(tab, part, columns), ...body], footer, lines);
}

/** The selected row in the middle, as far as the ends of the list allow. */
function windowStart(count: number, place: number, room: number): number {
  return Math.max(0, Math.min(place - Math.floor(room / 2), count - room));
}

/** `[RUNNING] - completed - failed`, and which rows are to be seen where not all are. */
function tabsLine(tab: ShellStatus, part: string, columns: number): SpanLine {
  const tabs = shellStatuses.flatMap((status, place) => [
    ...(place === 0 ? [] : [span(' - ', 'dim')]),
    status === tab ? span(`[${status.toUpperCase()}]`, 'title') : span(status, 'dim'),
  ]);
  const used = tabs.reduce((sum, { text }) => sum + width(text), 0);
  const isRoomy = part !== '' && used + 2 + width(part) <= columns;
  return cutLine(isRoomy ? [...tabs, span(pad(part, columns - used, 'right'), 'dim')] : tabs, columns);
}

const badgeColumnsMin = 60;
const timeColumnsMin = 30;
const gap = '  ';
const newMark = 'new';

interface Cells {
  readonly id: string;
  readonly label: string;
  readonly time: string;
  readonly badge: string;
}

function cellsOf(row: ShellItem, { columns, now }: PanelOptions): Cells {
  const badge = badgeText(row, now);
  const fresh = isNew(row) ? newMark : '';
  const wide = [badge === '' ? '' : `[${badge}]`, fresh].filter((part) => part !== '').join(' ');
  return {
    id: row.shell_id,
    label: shellLabel(row),
    time: columns < timeColumnsMin ? '' : timeText(row, now),
    badge: columns < badgeColumnsMin ? fresh : wide,
  };
}

function rowLines(rows: readonly ShellItem[], chosen: ShellItem | null, options: PanelOptions): readonly SpanLine[] {
  const { columns } = options;
  const cells = rows.map((row) => cellsOf(row, options));
  const widest = (key: keyof Cells): number => Math.max(0, ...cells.map((cell) => width(cell[key])));
  const [id, time] = [widest('id'), widest('time')];
  const badge = Math.min(widest('badge'), Math.floor(columns / 3));
  const fixed = 2 + id + [time, badge].reduce((sum, one) => sum + (one === 0 ? 0 : gap.length + one), gap.length);
  // As wide as the widest label needs and the screen has: a label cannot reach into another column.
  const label = Math.max(1, Math.min(widest('label'), columns - fixed));
  return cells.map((cell, place) => {
    const isChosen = rows[place] === chosen;
    const line: SpanLine = [
      span(isChosen ? '> ' : '  '),
      span(pad(cell.id, id) + gap),
      span(pad(cell.label, label)),
      ...(time === 0 ? [] : [span(gap + pad(cell.time, time, 'right'), 'dim')]),
      ...(badge === 0 || cell.badge === '' ? [] : [span(gap + cut(cell.badge, badge), 'dim')]),
    ];
    return isChosen ? selectedLine(line, columns) : cutLine(line, columns);
  });
}

const emptyWords: Readonly<Record<ShellStatus, string>> = {
  running: 'No shell is running. Agents start them with shell_run.',
  completed: 'No shell has completed.',
  failed: 'No shell has failed.',
};

const emptyLines = (tab: ShellStatus, columns: number): readonly SpanLine[] => [
  [span(cut(emptyWords[tab], columns), 'dim')],
];

/** The footer at the bottom, whatever is above it. */
function filled(top: readonly SpanLine[], footer: readonly SpanLine[], lines: number): readonly SpanLine[] {
  const room = Math.max(0, lines - footer.length);
  const upper = top.slice(0, room);
  const blank: readonly SpanLine[] = Array.from({ length: room - upper.length }, () => []);
  return [...upper, ...blank, ...footer].slice(0, Math.max(0, lines));
}

export interface DetailOptions extends ScreenSize {
  readonly now: number;
  /** Lines of the page that are above the window. */
  readonly scroll: number;
}

const commandLinesMax = 4;

/** Status, timing and log of one shell; with a page of mode diagnostic, also what is known of its end. */
export function shellDetail(row: ShellItem, page: ShellLogPage | null, options: DetailOptions): readonly SpanLine[] {
  const { columns, lines } = options;
  const { head, footer, log, room } = detailParts(row, page, options);
  const first = Math.min(Math.max(0, options.scroll), detailScrollMax(row, page, options));
  return filled([...head, logTitle(page, columns), ...log.slice(first, first + room)], footer, lines);
}

/** As far as it can be scrolled: the end of the log is on the last line then. */
export function detailScrollMax(row: ShellItem, page: ShellLogPage | null, options: DetailOptions): number {
  const { log, room } = detailParts(row, page, options);
  return Math.max(0, log.length - room);
}

function detailParts(row: ShellItem, page: ShellLogPage | null, options: DetailOptions) {
  const { columns, lines } = options;
  const footer = hintLines(detailKeys(row), columns);
  const diagnosis = page?.diagnosis ?? null;
  const fields = diagnosis === null ? detailHead(row, options) : diagnosisHead(row, diagnosis);
  const head = fields.map((line) => cutLine(line, columns));
  return { head, footer, log: logLines(page, columns), room: Math.max(0, lines - footer.length - head.length - 1) };
}

const detailKeys = (row: ShellItem): readonly string[] => [
  '↑/↓ scroll',
  'c copy log',
  'd diagnostic',
  ...(row.status === 'running' ? ['k kill'] : []),
  ...(row.status !== 'running' || row.is_stopped ? ['r resume'] : []),
  ...(isForeground(row) ? [backgroundHint] : []),
  'Esc/q back',
];

function detailHead(row: ShellItem, { now }: DetailOptions): readonly SpanLine[] {
  const role = statusRoles[row.status];
  const field = (name: string, text: string): SpanLine => [span(`  ${name}: `, 'dim'), span(text)];
  const safe = (text: string): string => sanitizeLine(foreign(text));
  return [
    headLine(row),
    [span('  Status: ', 'dim'), span(statusWords(row), role), ...(isNew(row) ? [span(` ${newMark}`, 'title')] : [])],
    ...commandLines(row.command).map((line, place) =>
      place === 0 ? field('Command', line) : [span('           '), span(line)],
    ),
    field('Folder', safe(row.cwd)),
    field('Time', timingText(row, now)),
    field('Mode', modeText(row)),
    ...(row.owner.client === null ? [] : [field('Agent', safe(row.owner.client))]),
    ...(row.ended_by === null ? [] : [field('Ended by', row.ended_by)]),
    ...(row.words === null ? [] : [field('Reason', safe(row.words))]),
  ];
}

/** What is known of its end takes the place of the rest, and stays while its log is scrolled. */
const diagnosisHead = (row: ShellItem, diagnosis: string): readonly SpanLine[] => [
  headLine(row),
  ...diagnosis.split('; ').map((part): SpanLine => [span(`  ${sanitizeLine(foreign(part))}`, 'title')]),
];

const headLine = (row: ShellItem): SpanLine => [
  span(shellMark, statusRoles[row.status]),
  span(` ${row.shell_id}  `),
  span(shellLabel(row), 'title'),
];

/** Nothing of it is hidden: a person decides on it whether to kill it or to run it again. */
function commandLines(command: string): readonly string[] {
  const lines = sanitizeRevealed(foreign(command)).replaceAll('\t', '    ').split('\n');
  const more = lines.length - commandLinesMax;
  return more <= 0 ? lines : [...lines.slice(0, commandLinesMax), `… ${more} more ${more === 1 ? 'line' : 'lines'}`];
}

function logTitle(page: ShellLogPage | null, columns: number): SpanLine {
  const marks = [
    page?.truncated === true ? 'older lines were dropped' : '',
    page?.is_capped === true ? 'full: later output was not stored' : '',
    page?.partial_line === true ? 'last line incomplete' : '',
    page?.has_split_line === true ? 'long lines split' : '',
    page?.has_more === true ? 'more follows' : '',
  ].filter((mark) => mark !== '');
  const words = ['Log', ...marks].join(' · ');
  return cutLine([span(`─ ${words} ${'─'.repeat(Math.max(0, columns - width(words) - 3))}`, 'dim')], columns);
}

function logLines(page: ShellLogPage | null, columns: number): readonly SpanLine[] {
  if (page === null) return [[span('  reading…', 'dim')]];
  const lines = page.lines.length === 0 ? ['(no output)'] : page.lines;
  return lines.map((line) => cutLine([span(sanitizeLine(foreign(line.replaceAll('\t', '    '))))], columns));
}
