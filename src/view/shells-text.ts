// Shells as a table for a terminal, the same for `agtmux shell list` and for whoever asks the daemon with curl. A line is
// never wider than asked for, and everything others wrote has passed the gate (SEC3).

import type { ShellItem } from '../api/shells.ts';
import { foreign, type SafeText, sanitizeLine } from '../text/sanitize.ts';
import { cut, width } from '../text/width.ts';
import type { TextOptions } from './lists-text.ts';
import { type PaintRole, paint } from './paint.ts';
import { badgeText, isNew, shellLabel, shellMark, statusRoles, statusWords, timeText } from './shells.ts';
import { type Column, tableLines } from './table.ts';

interface Field extends Column {
  /** Narrower than this the column is left out. */
  readonly from: number;
  readonly text: (row: ShellItem, now: number) => string;
  readonly role: (row: ShellItem) => PaintRole | null;
}

const plain = (): null => null;
const agentOf = ({ owner }: ShellItem): string => owner.client ?? owner.runtime_id ?? '';

const fields: readonly Field[] = [
  {
    title: 'STATUS',
    from: 0,
    text: (row) => `${shellMark} ${statusWords(row)}${isNew(row) ? ' new' : ''}`,
    role: ({ status }) => statusRoles[status],
  },
  { title: 'SHELL', from: 0, text: ({ shell_id }) => shell_id, role: plain },
  { title: 'WHAT', from: 0, flexible: true, text: shellLabel, role: plain },
  { title: 'TIME', from: 50, text: timeText, role: plain },
  { title: 'BY', from: 72, text: (row, now) => badgeText(row, now), role: () => 'dim' },
  { title: 'AGENT', from: 100, flexible: true, text: agentOf, role: plain },
  { title: 'REASON', from: 100, flexible: true, text: ({ words }) => words ?? '', role: plain },
];

const safe = (text: string): SafeText => sanitizeLine(foreign(text));

export function shellsTable(
  rows: readonly ShellItem[],
  options: TextOptions & { readonly now: number },
): readonly string[] {
  const { columns, colour, now } = options;
  if (rows.length === 0) return emptyText.map((line) => cut(line, columns));
  const shown = fields.filter(({ from }) => columns >= from);
  const cells = rows.map((row) => shown.map(({ text }) => safe(text(row, now))));
  const lines = tableLines(shown, cells, columns);
  // What does not fit even at its narrowest is cut as plain text: a colour sequence must never be halved.
  if (!colour || lines.some((line) => width(line) > columns)) return lines.map((line) => cut(line, columns));
  return tableLines(shown, cells, columns, (text, place, column) => {
    if (place === null) return paint(text, 'title');
    const row = rows[place];
    const role = row === undefined ? null : (shown[column]?.role(row) ?? null);
    return role === null ? text : paint(text, role);
  });
}

const emptyText = [
  'No shell to show.',
  '',
  'Agents start them with the tool shell_run; --completed and --failed show those that have ended.',
] as const;
