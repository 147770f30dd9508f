// The list of a hub as text for a terminal: the table of panes with the machine and its owner in front.

import type { HubWindow } from '../api/hub.ts';
import type { PaneItem } from '../api/panes.ts';
import { foreign, type SafeText, sanitizeLine } from '../text/sanitize.ts';
import { cut } from '../text/width.ts';
import type { TextOptions } from './lists-text.ts';
import { type PaintRole, paint } from './paint.ts';
import { ageSince, placeOf, stateRole } from './pane-words.ts';
import { type Column, tableLines } from './table.ts';
import { agentLabel, stateLabel } from './words.ts';

type Row = HubWindow['items'][number];

const safe = (text: string): SafeText => sanitizeLine(foreign(text));
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Of an older or a newer agtmux: what is not there is empty. */
export const hubCells = ({ item, state }: Row) => ({
  agent: agentLabel({ agent: textOf(item.agent), nick: typeof item.nick === 'string' ? item.nick : null }),
  state: stateLabel({ state, confidence: item.confidence === 'high' ? 'high' : 'medium' }),
  since: typeof item.since === 'string' ? item.since : null,
  where: placeOf(item as unknown as PaneItem),
  task: textOf(item.task),
});

/** An ask without its words cannot be answered from afar: its machine keeps texts back, or it was too long. */
export const isAskShown = ({ text }: { readonly text: unknown }): boolean => textOf(text).trim() !== '';

export function hubTable(list: HubWindow, nowMs: number, { columns, colour }: TextOptions): readonly string[] {
  const fields: readonly (Column & { readonly from?: number; readonly text: (row: Row) => string })[] = [
    { title: 'STATE', text: (row) => hubCells(row).state },
    { title: 'MACHINE', flexible: true, text: ({ machine }) => machine },
    { title: 'OWNER', flexible: true, from: 90, text: ({ owner }) => owner },
    { title: 'AGENT', flexible: true, text: (row) => hubCells(row).agent },
    { title: 'PROJECT', flexible: true, text: ({ repo }) => repo },
    { title: 'AGE', text: (row) => ageSince(hubCells(row).since, nowMs) },
    { title: 'WHERE', flexible: true, from: 100, text: (row) => hubCells(row).where },
  ];
  const shown = fields.filter(({ from }) => columns >= (from ?? 0));
  const cells = list.items.map((row) => shown.map(({ text }) => safe(text(row))));
  const painted = (text: string, row: number | null, place: number): string => {
    const role: PaintRole | null =
      row === null ? 'title' : place === 0 ? stateRole(list.items[row]?.state ?? null) : null;
    return role === null ? text : paint(text, role);
  };
  const lines = colour
    ? tableLines(shown, cells, columns, painted)
    : tableLines(shown, cells, columns).map((line) => cut(line, columns));
  return [...(list.items.length === 0 ? ['No agents.'] : lines), '', ...footer(list)];
}

function footer({ total, needs_action, items, missing, by_machine }: HubWindow): readonly string[] {
  const machines = Object.keys(by_machine).length;
  const part = items.length < total ? `, the first ${items.length} shown` : '';
  const counts = `${total} agent${total === 1 ? '' : 's'} on ${machines} machine${machines === 1 ? '' : 's'}${part}; ${needs_action} need you`;
  return missing.length === 0 ? [counts] : [counts, `silent: ${missing.map(safe).join(', ')}`];
}
