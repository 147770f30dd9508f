// The menu of SwiftBar and xbar: a line a thing, dashes for depth, parameters behind a bar. Whatever others wrote goes
// through one door, `said`, which leaves nothing in it that the format reads: no bar, no line, no dash in front. Pure.

import type { PaneItem, PaneList } from '../api/schemas.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { ageLabel, stateLabel } from '../view/words.ts';
import { summaryOf } from './summary.ts';

export interface XbarOptions {
  /** What is run when something is clicked: a program and its first words. */
  readonly program: readonly string[];
}

interface Line {
  readonly depth: number;
  readonly text: string;
  readonly run?: readonly string[];
}

const columnsMax = 60;

export function xbarMenu(list: PaneList, { program }: XbarOptions): string {
  const agents = list.items.filter(({ agent, parent, ended }) => agent !== null && parent === null && ended === null);
  const summary = summaryOf(agents);
  const lines = [
    ...needLines(agents, list.generated_at),
    ...sessionLines(agents, list.generated_at),
    ...(agents.length === 0 ? [{ depth: 0, text: 'no agents in tmux' }] : []),
  ];
  const menu = lines.map((line) => lineOf(line, program));
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

function lineOf({ depth, text, run }: Line, program: readonly string[]): string {
  const dashes = '--'.repeat(depth);
  const plain = 'emojize=false symbolize=false trim=false';
  if (run === undefined) return `${dashes}${text} | ${plain}`;
  const [first = '', ...words] = [...program, ...run];
  const params = words.map((word, place) => `param${place + 1}=${quoted(word)}`);
  return `${dashes}${text} | ${[`shell=${quoted(first)}`, ...params, 'terminal=true', 'refresh=true', plain].join(' ')}`;
}

/** Foreign text as this format may have it. */
export function said(text: string): string {
  const line = sanitizeLine(foreign(text), { columnsMax }).replaceAll('|', '¦').trim();
  return line.startsWith('-') ? `\u2010${line.slice(1)}` : line;
}

/** What may stand in a parameter: nothing that a quote, a bar or a shell could mean something to. */
const isWord = (text: string): boolean => /^[\w.:@/+=,-]+$/.test(text);

/** A word that this format cannot hold; whoever installs the plugin asks first. */
export const isWritable = (word: string): boolean => !/["'|\\`$\u0000-\u001f\u007f]/.test(word);

const quoted = (word: string): string => `"${word}"`;
