// The bars of Linux: Waybar, which reads a line of JSON whose texts are markup, Polybar, which reads a line with tags, and
// plain JSON for every other one. Pure.

import type { PaneItem, PaneList } from '../api/schemas.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { ageLabel, stateLabel } from '../view/words.ts';
import { type Summary, summaryOf } from './summary.ts';

const linesMax = 30;
const columnsMax = 100;

const agentsOf = ({ items }: PaneList): readonly PaneItem[] =>
  items.filter(({ agent, parent, ended }) => agent !== null && parent === null && ended === null);

/** Pango markup: only these mean something in it. */
const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;');

export function waybar(list: PaneList): string {
  const agents = agentsOf(list);
  const summary = summaryOf(agents);
  const lines = agents.slice(0, linesMax).map((item) => lineOf(item, list.generated_at));
  const rest = agents.length - lines.length;
  const tooltip = [summary.words, ...lines, ...(rest > 0 ? [`and ${rest} more`] : [])].map(escaped).join('\n');
  return JSON.stringify({ text: escaped(summary.text), alt: summary.level, class: summary.level, tooltip });
}

const colours: Readonly<Record<Summary['level'], string>> = {
  attention: '#d7a100',
  ask: '#a06cd5',
  bad: '#d64545',
  calm: '',
};

/** Counts only: no word of anybody else's gets near its tags. */
export function polybar(list: PaneList): string {
  const { text, level } = summaryOf(agentsOf(list));
  return text === '' || colours[level] === '' ? text : `%{F${colours[level]}}${text}%{F-}`;
}

export function barJson(list: PaneList): string {
  const agents = agentsOf(list);
  const { schema_version, generated_at } = list;
  return JSON.stringify({ schema_version, generated_at, ...summaryOf(agents), items: agents });
}

/** When nobody answers. */
export const down = {
  waybar: (words: string): string => JSON.stringify({ text: '◌', alt: 'down', class: 'down', tooltip: escaped(words) }),
  polybar: (): string => '◌',
  json: (words: string): string => JSON.stringify({ text: '◌', level: 'down', words, items: [] }),
} as const;

function lineOf({ agent, nick, state, confidence, suspended, cwd, since, ask }: PaneItem, now: string): string {
  const label = state === null || confidence === null ? '-' : stateLabel({ state, confidence, suspended });
  const age = since === null ? '' : ageLabel(Date.parse(now) - Date.parse(since));
  const project = cwd.replace(/\/+$/, '').split('/').at(-1) || cwd;
  const asked = ask === null ? '' : `: ${ask.text}`;
  return sanitizeLine(foreign(`${label}  ${nick ?? agent}  ${project}  ${age}${asked}`), { columnsMax });
}
