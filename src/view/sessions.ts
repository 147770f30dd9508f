// Sessions that agtmux leads as text: a table, one of them whole, and its messages. Everything others wrote has passed the
// gate (SEC3); that one approves for itself is said wherever it is shown.

import type { ManagedItem, MessageItem } from '../api/sessions.ts';
import { isReasonCode, reasons } from '../model/reasons.ts';
import type { MachineState } from '../model/sessions.ts';
import { foreign, type SafeText, sanitizeBlock, sanitizeLine, sanitizeRevealed } from '../text/sanitize.ts';
import { cut } from '../text/width.ts';
import { type PaintRole, paint } from './paint.ts';
import { type Column, tableLines } from './table.ts';
import { ageLabel } from './words.ts';

interface MachineWords {
  readonly mark: string;
  readonly word: string;
  readonly colour: PaintRole;
}

const machineWords: Readonly<Record<MachineState, MachineWords>> = {
  waiting_approval: { mark: '▲', word: 'approve', colour: 'attention' },
  waiting_input: { mark: '?', word: 'answer', colour: 'ask' },
  error: { mark: '✕', word: 'error', colour: 'bad' },
  completed: { mark: '✓', word: 'done', colour: 'good' },
  creating: { mark: '●', word: 'starting', colour: 'work' },
  streaming: { mark: '●', word: 'running', colour: 'work' },
  paused: { mark: '○', word: 'paused', colour: 'quiet' },
  stopped: { mark: '○', word: 'stopped', colour: 'quiet' },
  idle: { mark: '○', word: 'idle', colour: 'quiet' },
};

/** Wherever a session is named that runs with it. */
export const autoWarning = 'AUTO-APPROVE: every request is approved automatically';
export const autoMark = '[auto]';

const safe = (text: string): SafeText => sanitizeLine(foreign(text));

type Labelled = Pick<ManagedItem, 'state' | 'confidence' | 'asleep_since'>;

export function machineLabel({ state, confidence, asleep_since }: Labelled): string {
  const { mark, word } = machineWords[state];
  return `${mark} ${confidence === 'low' ? '~' : ''}${word}${asleep_since === null ? '' : ', asleep'}`;
}

export const machineRole = (state: MachineState): PaintRole => machineWords[state].colour;

/** What it asks, suffers from or said last. */
export function whatOf({ pending_ask, words, state, reason, last_words, title }: ManagedItem): string {
  const why = words ?? (reason !== null && isReasonCode(reason) ? reasons[reason].words : null);
  if (pending_ask !== null) return pending_ask.text;
  if (state === 'error' || state === 'paused') return why ?? title;
  return last_words ?? title;
}

export interface SessionTextOptions {
  readonly columns: number;
  readonly colour: boolean;
  /** Of the document: ages are told from it. */
  readonly now: string;
}

const ageOf = (at: string, now: string): string => ageLabel(Date.parse(now) - Date.parse(at));

const columns: readonly Column[] = [
  { title: 'STATE' },
  { title: 'SESSION' },
  { title: 'AGENT', flexible: true },
  { title: 'PROJECT', flexible: true },
  { title: 'WHAT', flexible: true },
  { title: 'AGE' },
];

export function sessionsTable(items: readonly ManagedItem[], options: SessionTextOptions): readonly string[] {
  const rows = items.map((item) =>
    [
      machineLabel(item),
      item.id,
      item.auto_approve ? `${item.agent} ${autoMark}` : item.agent,
      item.cwd.split('/').at(-1) || item.cwd,
      whatOf(item),
      ageOf(item.updated_at, options.now),
    ].map(safe),
  );
  const painted = (text: string, row: number | null, place: number): string => {
    if (row === null) return paint(text, 'title');
    const item = items[row];
    if (item === undefined) return text;
    if (place === 0) return paint(text, machineWords[item.state].colour);
    return place === 2 && item.auto_approve ? paint(text, 'attention') : text;
  };
  const lines = tableLines(columns, rows, options.columns, options.colour ? painted : undefined);
  const plain = options.colour ? lines : lines.map((line) => cut(line, options.columns));
  return items.some(({ auto_approve }) => auto_approve) ? [...plain, '', `${autoMark} ${autoWarning}`] : plain;
}

/** What it asks, with how it can be answered; what was written is shown as it is. */
export function askLines({ id, pending_ask, state }: ManagedItem): readonly string[] {
  if (pending_ask === null) return [];
  const { kind, text, options, ask_id } = pending_ask;
  const isOpen = state === 'waiting_approval' || state === 'waiting_input';
  const choices = options.map(({ id: option, label }) => `  ${option === label ? option : `${option}: ${label}`}`);
  const how = state === 'waiting_approval' ? `approve ${id}, or reject ${id}` : `answer ${id}`;
  return [
    `${isOpen ? 'asks' : 'last request'} (${kind}, ${ask_id}):`,
    ...text.split('\n').map((line) => `  ${line}`),
    ...(choices.length === 0 ? [] : ['options:', ...choices]),
  ]
    .map((line): string => sanitizeRevealed(foreign(line)))
    .concat(isOpen ? [`agtmux session ${how}`] : []);
}

export function sessionLines(item: ManagedItem, options: SessionTextOptions): readonly string[] {
  const why = item.reason !== null && isReasonCode(item.reason) ? reasons[item.reason].words : item.reason;
  const label = machineLabel(item);
  const fields: readonly (readonly [string, string | null])[] = [
    ['agent', `${item.agent}, by ${item.driver}${item.model === null ? '' : `, model ${item.model}`}`],
    ['title', item.title],
    ['directory', item.cwd],
    ['worktree', item.worktree === null ? null : `${item.worktree.branch} of ${item.worktree.repository}`],
    ['why', [why, item.words].filter((one) => one !== null).join(': ') || null],
    ['began', `${ageOf(item.created_at, options.now)} ago, ${item.turns} ${item.turns === 1 ? 'turn' : 'turns'}`],
    ['process', item.pid === null ? null : String(item.pid)],
    [
      'asleep',
      item.asleep_since === null ? null : `since ${ageOf(item.asleep_since, options.now)}; the next message wakes it`,
    ],
    ['waiting', item.queued === 0 ? null : `${item.queued} messages, until it takes one`],
    ['resume', item.view.showResumeButton && item.is_resumable ? `agtmux session resume ${item.id}` : null],
    ['last message', item.last_words],
  ];
  const shown = options.colour ? paint(label, machineWords[item.state].colour) : label;
  return [
    `${shown}  ${item.ref}`,
    ...(item.auto_approve ? [options.colour ? paint(autoWarning, 'attention') : autoWarning] : []),
    ...fields.flatMap(([name, text]) => (text === null ? [] : [`${name.padEnd(11)}${safe(text)}`])),
    ...askLines(item),
  ].map((line) => (options.colour ? line : cut(line, options.columns)));
}

/** Who says it, in front of the words. */
export function messageHead({ role, tool }: Pick<MessageItem, 'role' | 'tool'>): string {
  return tool === undefined ? role : safe(`${role} ${tool.name} (${tool.status})`);
}

export const messageText = (text: string): string => sanitizeBlock(foreign(text));
