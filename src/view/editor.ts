// What an editor shows of agents and says of what was done: the tree, the badge, the status bar, asks as notifications, and
// which files and lines a message is about. Pure, in the words of every other screen; a window draws it, and nothing else.

import type { ActBody, ReceiptReply } from '../api/actions.ts';
import type { PaneItem } from '../api/panes.ts';
import { foreign, type SafeText, sanitizeLine, sanitizeRevealed } from '../text/sanitize.ts';
import { type AskItem, plainOption } from './asks.ts';
import { type AgentItem, boardItems, needsYou } from './board.ts';
import { compareText, groupedBy } from './lists.ts';
import { ageSince, isAway, paneLabel, placeOf, projectOf, routeMarks, saidOf } from './pane-words.ts';
import { agentLabel, type ColourRole, colourOf } from './words.ts';

const safe = (text: string): SafeText => sanitizeLine(foreign(text));

/** What can be done to a row, as menus ask for it. */
export type RowKind = 'approval' | 'question' | 'session' | 'agent' | 'ended';

export interface EditorRow {
  /** The run of the agent: what is done is done to it and to no other. */
  readonly runtime: string;
  readonly ref: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  readonly colour: ColourRole;
  readonly kind: RowKind;
}

export interface EditorGroup {
  readonly key: string;
  readonly title: string;
  readonly rows: readonly EditorRow[];
}

export interface Moment {
  readonly nowMs: number;
  /** Of the time zone, for the reset of a limit. */
  readonly offsetMinutes: number;
}

/** Who needs a person first, all others by project. */
export function editorGroups(rows: Iterable<PaneItem>, moment: Moment): readonly EditorGroup[] {
  const items = boardItems(rows, moment.nowMs);
  const urgent = items.filter(needsYou);
  const others = items.filter((item) => !needsYou(item));
  const byProject = [...groupedBy(others, (item) => projectOf(item.cwd))]
    .sort(([one], [other]) => compareText(one, other))
    .map(([project, of]) => group(`project:${project}`, project === '' ? 'no project' : project, of, moment));
  return urgent.length === 0 ? byProject : [group('needs', 'Needs you', urgent, moment), ...byProject];
}

const group = (key: string, title: string, items: readonly AgentItem[], moment: Moment): EditorGroup => ({
  key,
  title: safe(title),
  rows: items.map((item) => editorRow(item, moment)),
});

export function editorRow(item: AgentItem, moment: Moment): EditorRow {
  const route = item.route === null ? '' : routeMarks[item.route];
  const said = [placeOf(item), ageSince(item.since, moment.nowMs), saidOf(item, moment.nowMs, moment.offsetMinutes)];
  return {
    runtime: item.runtime_id,
    ref: item.ref,
    label: safe([paneLabel(item), agentLabel(item), route].filter((part) => part !== '').join('  ')),
    description: safe(said.filter((part) => part !== '').join('  ')),
    tooltip: tooltipOf(item, moment),
    colour: colourOf(item),
    kind: kindOf(item),
  };
}

function kindOf(item: AgentItem): RowKind {
  if (item.ended !== null) return 'ended';
  if (item.ask !== null && item.state === 'waiting_approval') return 'approval';
  if (item.ask !== null && item.state === 'waiting_input') return 'question';
  return item.session === null ? 'agent' : 'session';
}

/** The ask whole, with what is hidden in it made visible. */
function tooltipOf(item: AgentItem, { nowMs, offsetMinutes }: Moment): string {
  const asked =
    item.ask === null
      ? [saidOf(item, nowMs, offsetMinutes)]
      : [item.ask.text, ...item.ask.options.map(({ label }, index) => `${index + 1}. ${label}`)];
  const lines = [`${agentLabel(item)}  ${paneLabel(item)}`, `${placeOf(item)}  ${item.cwd}`, ...asked];
  return lines
    .filter((line) => line !== '')
    .flatMap((line) => line.split('\n'))
    .map((line) => sanitizeRevealed(foreign(line)))
    .join('\n');
}

/** The one number on the icon. */
export const badgeOf = (groups: readonly EditorGroup[]): number =>
  groups.find(({ key }) => key === 'needs')?.rows.length ?? 0;

/** What is known of the daemon. */
export type Link =
  | { readonly is: 'looking' }
  | { readonly is: 'connected' }
  /** What is shown grows old. */
  | { readonly is: 'lost'; readonly words: string }
  | { readonly is: 'down'; readonly hasProgram: boolean }
  | { readonly is: 'other'; readonly words: string };

export interface StatusLine {
  readonly text: string;
  readonly tooltip: string;
  readonly tone: 'plain' | 'attention' | 'bad';
}

/** The CONNECTED agent with its state, and how many need a person. */
export function statusLine(rows: Iterable<PaneItem>, link: Link, moment: Moment): StatusLine {
  if (link.is === 'looking') return { text: 'agtmux …', tooltip: 'Looking for the agtmux daemon', tone: 'plain' };
  if (link.is === 'down') {
    const words = link.hasProgram ? 'The agtmux daemon does not run' : 'The program agtmux was not found';
    return { text: 'agtmux: off', tooltip: `${words}. Click for what to do.`, tone: 'bad' };
  }
  if (link.is === 'other') return { text: 'agtmux: other version', tooltip: safe(link.words), tone: 'bad' };
  const items = boardItems(rows, moment.nowMs);
  const connected = connectedOf(items);
  const waiting = items.filter(needsYou).length;
  const name =
    connected === null ? 'no agent' : `→ ${agentLabel(connected)} ${placeOf(connected)} ${paneLabel(connected)}`;
  const more = waiting === 0 ? '' : `  ▲${waiting}`;
  const lost = link.is === 'lost' ? ' (daemon gone)' : '';
  return {
    text: safe(`${name}${more}${lost}`),
    tooltip:
      link.is === 'lost'
        ? `What is shown is old: ${safe(link.words)}`
        : connected === null
          ? 'No agent runs. Messages have nowhere to go.'
          : 'CONNECTED: messages and selections go here. Click to choose another agent.',
    tone: link.is === 'lost' ? 'bad' : waiting > 0 ? 'attention' : 'plain',
  };
}

export const connectedOf = (items: readonly AgentItem[]): AgentItem | null =>
  items.find(({ route, ended }) => route === 'CONNECTED' && ended === null) ?? null;

/** A notification is a line or two; what does not fit is asked for in a dialog, which shows all of it. */
const noticeCharsMax = 240;
const noticeOptionsMax = 4;
/** It has no lines of its own: where one ends, a mark stands. */
const noticeLinesMax = 4;
const lineEnd = '⏎';
export const noticeText = (text: string): string => text.split('\n').join(` ${lineEnd} `);
const dialogCharsMax = 4_000;
const dialogLinesMax = 60;

export interface AskOption {
  readonly words: string;
  readonly body: AskAnswer;
}

export type AskAnswer =
  | { readonly action: 'approve'; readonly ask_id: string }
  | { readonly action: 'reject'; readonly ask_id: string }
  | { readonly action: 'answer'; readonly ask_id: string; readonly option: string };

/** How an ask may be shown: `notice` with its options, `dialog` where it needs more room, `elsewhere` where nothing shows it whole. */
export interface AskOffer {
  /** Another ask, or the same with other words, is another offer. */
  readonly key: string;
  readonly runtime: string;
  readonly ref: string;
  readonly ask_id: string;
  readonly who: string;
  readonly text: string;
  readonly shown: 'notice' | 'dialog' | 'elsewhere';
  readonly options: readonly AskOption[];
}

/** Null: it asks nothing that a person answers. */
export function askOffer(item: AgentItem): AskOffer | null {
  const { ask, state } = item;
  if (ask === null || item.ended !== null || isAway(item)) return null;
  if (state !== 'waiting_approval' && state !== 'waiting_input') return null;
  const text = ask.text
    .split('\n')
    .map((line) => sanitizeRevealed(foreign(line)))
    .join('\n');
  const options = optionsOf(ask, state);
  return {
    key: JSON.stringify([item.runtime_id, ask.ask_id, text, options.map(({ words }) => words)]),
    runtime: item.runtime_id,
    ref: item.ref,
    ask_id: ask.ask_id,
    who: safe(`${agentLabel(item)} ${placeOf(item)}`),
    text,
    shown: shownAs(text, options),
    options,
  };
}

/** The agent's own words where it has them; a plain yes and no where an approval names none. */
function optionsOf(ask: AskItem, state: 'waiting_approval' | 'waiting_input'): readonly AskOption[] {
  const { ask_id } = ask;
  if (ask.options.length > 0) {
    return ask.options.map(({ id, label }) => ({
      words: sanitizeRevealed(foreign(label)),
      body: { action: 'answer', ask_id, option: id },
    }));
  }
  if (state === 'waiting_input') return [];
  return [
    { words: 'Approve', body: { action: 'approve', ask_id } },
    { words: 'Reject', body: { action: 'reject', ask_id } },
  ];
}

function shownAs(text: string, options: readonly AskOption[]): AskOffer['shown'] {
  const said = [text, ...options.map(({ words }) => words)];
  // Nothing that an agent wrote is a link here, nor passes for the end of a line.
  const isTricky = said.some((words) => words.includes('](') || words.includes(lineEnd));
  const chars = text.length + options.reduce((sum, { words }) => sum + words.length, 0);
  const isFew = text.split('\n').length <= noticeLinesMax && options.length <= noticeOptionsMax;
  const isShort = !isTricky && isFew && chars <= noticeCharsMax;
  if (isShort) return 'notice';
  return chars <= dialogCharsMax && text.split('\n').length <= dialogLinesMax ? 'dialog' : 'elsewhere';
}

/** What a plain yes or no would take, for a row without a dialog: null where its words do not tell, or it was not shown whole. */
export function plainAnswer(offer: AskOffer, ask: AskItem, wish: 'approve' | 'reject'): AskAnswer | null {
  if (offer.shown === 'elsewhere' || ask.ask_id !== offer.ask_id) return null;
  return ask.options.length === 0 || plainOption(ask, wish) !== null ? { action: wish, ask_id: offer.ask_id } : null;
}

/** What stands in the editor, as the agent will be told of it. */
export interface Place {
  readonly path: string;
  /** Counted from 1; both null for the whole file. */
  readonly from: number | null;
  readonly to: number | null;
}

/** Lines of a selection as VS Code counts them, from 0: one that ends at the start of a line does not take that line. */
export function selectedPlace(
  path: string,
  selection: {
    readonly startLine: number;
    readonly endLine: number;
    readonly endColumn: number;
    readonly isEmpty: boolean;
  },
): Place {
  const { startLine, endLine, endColumn, isEmpty } = selection;
  if (isEmpty) return { path, from: startLine + 1, to: startLine + 1 };
  const last = endColumn === 0 && endLine > startLine ? endLine - 1 : endLine;
  return { path, from: startLine + 1, to: last + 1 };
}

/** To the CONNECTED agent and to no other: who that is, is decided where it is known (RTE4). */
export const sendBody = (text: string, files: readonly Place[]): ActBody => ({
  action: 'send',
  connected: true,
  text,
  ...(files.length === 0 ? {} : { files: files.map((place) => ({ ...place })) }),
});

/** What is not on disk as it is shown goes along as text. */
export function quotedText(name: string, language: string, text: string): string {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${name}:\n${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}

export const problemText = (problem: {
  readonly message: string;
  readonly source: string;
  readonly severity: string;
}): string => `${problem.severity}${problem.source === '' ? '' : ` (${problem.source})`}: ${problem.message}`;

export interface Told {
  readonly words: string;
  readonly tone: 'good' | 'doubt' | 'bad';
}

/** What became of it, in words. `who` stands for whoever a refused one never found. */
export function receiptWords(receipt: Pick<ReceiptReply, 'outcome' | 'failure' | 'words'>, who: string): Told {
  const more = receipt.words === null ? '' : `: ${safe(receipt.words)}`;
  switch (receipt.outcome) {
    case 'delivered':
      return { tone: 'good', words: `Delivered to ${who}${more}` };
    case 'queued':
      return { tone: 'good', words: `Queued for ${who} until it is ready${more}` };
    case 'unconfirmed':
      return { tone: 'doubt', words: `Sent to ${who}, arrival not confirmed${more}` };
    case 'refused':
      return {
        tone: 'bad',
        words: `Refused: ${receipt.failure === null ? 'no reason given' : failureWords(receipt.failure)}`,
      };
  }
}

export const failureWords = ({ code, message, next }: { code: string; message: string; next: string }): string =>
  safe(`${message}${next === '' ? '' : `; ${next}`} [${code}]`);
