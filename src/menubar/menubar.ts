// The summary every bar shows: who needs a person, in the marks of all other screens, and the same in words. Pure.

import type { PaneItem, PaneList } from '../api/panes.ts';
import { type StateName, stateNames } from '../model/states.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { ageLabel, stateLabel, statesInOrder, wordsOf } from '../view/words.ts';

interface Summary {
  /** `▲2 ?1 ✕1`, empty when nobody needs you. */
  readonly text: string;
  /** `2 approve, 1 answer, 6 running`. */
  readonly words: string;
  readonly counts: Readonly<Record<StateName, number>>;
  /** What the most urgent one needs; `calm` when nobody does. */
  readonly level: 'attention' | 'ask' | 'bad' | 'calm';
}

const urgent = [
  ['waiting_approval', 'attention'],
  ['waiting_input', 'ask'],
  ['error', 'bad'],
] as const;

export function summaryOf(agents: readonly Pick<PaneItem, 'state'>[]): Summary {
  const countOf = (state: StateName): number => agents.filter((one) => one.state === state).length;
  const counts = Object.fromEntries(stateNames.map((state) => [state, countOf(state)])) as Record<StateName, number>;
  const parts = statesInOrder
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${wordsOf(state).word}`);
  const needed = urgent.filter(([state]) => counts[state] > 0);
  return {
    text: needed.map(([state]) => `${wordsOf(state).mark}${counts[state]}`).join(' '),
    words: parts.length === 0 ? 'no agents' : parts.join(', '),
    counts,
    level: needed[0]?.[1] ?? 'calm',
  };
}

// The bars of Linux: Waybar, which reads a line of JSON whose texts are markup, Polybar, which reads a line with tags, and
// plain JSON for every other one. Pure.

const linesMax = 30;
const tooltipColumnsMax = 100;

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
  const lines = agents.slice(0, linesMax).map((item) => tooltipLine(item, list.generated_at));
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

function tooltipLine({ agent, nick, state, confidence, suspended, cwd, since, ask }: PaneItem, now: string): string {
  const label = state === null || confidence === null ? '-' : stateLabel({ state, confidence, suspended });
  const age = since === null ? '' : ageLabel(Date.parse(now) - Date.parse(since));
  const project = cwd.replace(/\/+$/, '').split('/').at(-1) || cwd;
  const asked = ask === null ? '' : `: ${ask.text}`;
  return sanitizeLine(foreign(`${label}  ${nick ?? agent}  ${project}  ${age}${asked}`), {
    columnsMax: tooltipColumnsMax,
  });
}

// The menu of SwiftBar and xbar: a line a thing, dashes for depth, parameters behind a bar. Whatever others wrote goes
// through one function, `said`, which leaves nothing in it that the format reads: no bar, no line, no dash in front. Pure.

interface XbarOptions {
  /** What is run when something is clicked: a program and its first words. */
  readonly program: readonly string[];
}

interface Line {
  readonly depth: number;
  readonly text: string;
  readonly run?: readonly string[];
}

const menuColumnsMax = 60;

export function xbarMenu(list: PaneList, { program }: XbarOptions): string {
  const agents = list.items.filter(({ agent, parent, ended }) => agent !== null && parent === null && ended === null);
  const summary = summaryOf(agents);
  const lines = [
    ...needLines(agents, list.generated_at),
    ...sessionLines(agents, list.generated_at),
    ...(agents.length === 0 ? [{ depth: 0, text: 'no agents in tmux' }] : []),
  ];
  const menu = lines.map((line) => menuLine(line, program));
  return `${[summary.text === '' ? '○' : summary.text, '---', said(summary.words), '---', ...menu].join('\n')}\n`;
}

/** When nobody answers: the bar says so and nothing else. */
export function xbarDown(words: string): string {
  return `${['◌', '---', said(words)].join('\n')}\n`;
}

function needLines(agents: readonly PaneItem[], now: string): readonly Line[] {
  const needy = agents.filter(
    ({ state }) => state === 'waiting_approval' || state === 'waiting_input' || state === 'error',
  );
  return needy.flatMap((item) => [
    { depth: 0, text: paneText(item, now) },
    ...(item.ask === null ? [] : [{ depth: 1, text: said(item.ask.text) }]),
    ...actionLines(item, 1),
  ]);
}

function sessionLines(agents: readonly PaneItem[], now: string): readonly Line[] {
  const bySession = groups(agents, ({ identity }) => `${identity.target} / ${identity.session_name}`);
  return [...bySession].flatMap(([name, inSession]) => [
    { depth: 0, text: `${said(name)}  ${summaryOf(inSession).text}`.trimEnd() },
    ...[...groups(inSession, ({ window_index, window_name }) => `${window_index}: ${window_name}`)].flatMap(
      ([window, inWindow]) => [
        { depth: 1, text: said(window) },
        ...inWindow.flatMap((item) => [{ depth: 2, text: paneText(item, now) }, ...actionLines(item, 3)]),
      ],
    ),
  ]);
}

const groups = (items: readonly PaneItem[], key: (item: PaneItem) => string): ReadonlyMap<string, PaneItem[]> =>
  Map.groupBy(items, key);

const projectOf = (cwd: string): string => cwd.replace(/\/+$/, '').split('/').at(-1) || cwd;

function paneText(item: PaneItem, now: string): string {
  const { agent, nick, state, confidence, suspended, cwd, since } = item;
  const label = state === null || confidence === null ? '-' : stateLabel({ state, confidence, suspended });
  const age = since === null ? '' : ageLabel(Date.parse(now) - Date.parse(since));
  return said(`${label}  ${nick ?? agent}  ${projectOf(cwd)}  ${age}`);
}

/** What can be done is asked again by the program itself, in a terminal, where a person is (ACT6). */
function actionLines({ runtime_id, ask, state, session }: PaneItem, depth: number): readonly Line[] {
  const ref = `runtime:${runtime_id ?? ''}`;
  if (!isWord(ref)) return [];
  const line = (text: string, ...run: readonly string[]): Line => ({ depth, text, run });
  return [
    ...(ask !== null && state === 'waiting_approval' ? answerLines(ref, ask, line) : []),
    ...(session === null ? [line('Attach', 'attach', ref)] : []),
    line('View output', 'view-output', ref),
    line('Send…', 'send', ref),
    line('Kill…', 'kill', ref),
  ];
}

/** Nobody approves what they do not see whole: where the menu cuts it, the terminal shows it and asks. */
function answerLines(
  ref: string,
  { ask_id, text }: NonNullable<PaneItem['ask']>,
  line: (text: string, ...run: readonly string[]) => Line,
): readonly Line[] {
  const isShown = said(text) === text.trim() && isWord(ask_id);
  const how = isShown ? ['--ask', ask_id] : [];
  const dots = isShown ? '' : '…';
  return [line(`Approve${dots}`, 'approve', ref, ...how), line(`Reject${dots}`, 'reject', ref, ...how)];
}

function menuLine({ depth, text, run }: Line, program: readonly string[]): string {
  const dashes = '--'.repeat(depth);
  const plain = 'emojize=false symbolize=false trim=false';
  if (run === undefined) return `${dashes}${text} | ${plain}`;
  const [first = '', ...words] = [...program, ...run];
  const params = words.map((word, place) => `param${place + 1}=${quoted(word)}`);
  return `${dashes}${text} | ${[`shell=${quoted(first)}`, ...params, 'terminal=true', 'refresh=true', plain].join(' ')}`;
}

/** Foreign text as this format may have it. */
function said(text: string): string {
  const line = sanitizeLine(foreign(text), { columnsMax: menuColumnsMax }).replaceAll('|', '¦').trim();
  return line.startsWith('-') ? `\u2010${line.slice(1)}` : line;
}

/** What may stand in a parameter: nothing that a quote, a bar or a shell could mean something to. */
const isWord = (text: string): boolean => /^[\w.:@/+=,-]+$/.test(text);

/** A word that this format cannot hold; whoever installs the plugin asks first. */
export const isWritable = (word: string): boolean => !/["'|\\`$\u0000-\u001f\u007f]/.test(word);

const quoted = (word: string): string => `"${word}"`;
