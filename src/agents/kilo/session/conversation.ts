// What the adapter of Kilo's lines remembers between them. Plain values; bounded.

import { agentSessionId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { SessionMessage } from '../../../model/sessions.ts';
import { type Fields, fieldsIn, textOf } from '../../fields.ts';
import type { Opening } from '../../protocol/adapter.ts';
import {
  clip,
  type Draft,
  freshMarks,
  keep,
  type Marked,
  nextId,
  note,
  own,
  tell,
  write,
} from '../../protocol/draft.ts';
import { endTurn, freshWatch, hearTaken, type Watched } from '../../protocol/watch.ts';
import { lastConversation } from '../session.ts';

/** What it waits for. It takes one answer and no id with it, so it matters that there is exactly one. */
export interface Waiting {
  /** When it was said: the same line is printed again and again under it. */
  readonly id: string;
  /**
   * leave: a yes or a no. question: words. failure: a yes tries again, and nothing else. guidance: words, or a yes. rest:
   * words begin the next turn.
   */
  readonly kind: 'leave' | 'question' | 'failure' | 'guidance' | 'rest';
  /** Of a question: what it proposes. */
  readonly labels: readonly string[];
}

/** A message that may still grow. */
interface Item {
  readonly role: Extract<SessionMessage['role'], 'agent' | 'thought' | 'tool'>;
  /** Of a tool. */
  readonly name: string;
  readonly text: string;
  readonly output: string;
}

export interface LinesMemory extends Watched, Marked {
  readonly opening: Opening;
  /** The first half of a line. */
  readonly half: string;
  /** The conversation has a name that it can be gone on with. */
  readonly isNamed: boolean;
  /** That name, where it is one of its own. */
  readonly session: string | null;
  /** Anything at all was said. */
  readonly isHeard: boolean;
  readonly waiting: Waiting | null;
  readonly settled: readonly string[];
  /** What is to be said as soon as it takes words; null: nothing. */
  readonly held: string | null;
  /** When it is said in any case; null: never. */
  readonly heldUntil: number | null;
  /** Prompts of ours that it has not repeated yet. */
  readonly unrepeated: readonly string[];
  readonly items: Readonly<Record<string, Item>>;
  /** Waits between tries of one request, by when they were said. */
  readonly retries: readonly string[];
  /** Requests whose use of tokens was counted. */
  readonly counted: readonly string[];
  readonly tokens: { readonly input: number; readonly output: number };
}

export type LinesDraft = Draft<LinesMemory>;

export const freshMemory = (opening: Opening, at: number): LinesMemory => ({
  ...freshMarks(opening.spawned_at),
  opening,
  half: '',
  isNamed: false,
  session: opening.resume,
  isHeard: false,
  waiting: null,
  settled: [],
  held: null,
  heldUntil: null,
  unrepeated: [],
  items: {},
  retries: [],
  counted: [],
  tokens: { input: 0, output: 0 },
  watch: freshWatch(at),
});

// What Kilo says: its words, its requests and how they fare, and the end of its task.

/** A line with its time already read. */
export interface Row {
  readonly fields: Fields;
  /** Tells lines apart: the same again is the same line, grown. */
  readonly id: string;
  /** When it was said; null: it does not say. */
  readonly saidAt: number | null;
  /** Before this process began: history (SES3). */
  readonly isOld: boolean;
  readonly partial: boolean;
}

/** What is asked counts as answered, whoever did it: printed again, it asks nobody. */
export function settle(draft: LinesDraft): void {
  const { waiting, settled } = draft.memory;
  if (waiting === null) return;
  keep(draft, { waiting: null, settled: [...settled, waiting.id].slice(-limits.sessionRequestsKept) });
}

export const dated = ({ saidAt }: Row): { readonly said_at?: number } => (saidAt === null ? {} : { said_at: saidAt });

/** The words of a line: as they are, or as the object that they were taken for. */
export function wordsOf({ content, metadata }: Fields): string {
  const plain = textOf(content);
  if (plain !== null || metadata === undefined) return plain ?? '';
  return typeof metadata === 'string' ? metadata : JSON.stringify(metadata);
}

export function hearSay(draft: LinesDraft, row: Row): void {
  const { fields, id, partial } = row;
  const text = wordsOf(fields);
  switch (fields.say) {
    case 'text':
      hearText(draft, row, text);
      return;
    case 'reasoning':
      hearWords(draft, `say-${id}`, 'thought', { text, partial });
      if (!row.isOld) tell(draft, 'say:text', { partial, ...dated(row) });
      return;
    case 'completion_result':
      hearResult(draft, row, textOf(fields.content) ?? '');
      return;
    case 'api_req_started':
      hearRequest(draft, row);
      return;
    case 'api_req_retry_delayed':
      hearDelay(draft, row, text);
      return;
    case 'api_req_retried':
      // Somebody else said yes to it.
      if (!row.isOld) settle(draft);
      tell(draft, 'api_retried', dated(row));
      return;
    case 'command_output':
      if (!row.isOld) tell(draft, 'command_output', dated(row));
      return;
    case 'checkpoint_saved':
      tell(draft, 'say:checkpoint_saved', dated(row));
      return;
    case 'user_feedback':
      hearFeedback(draft, row, text);
      return;
    case 'error':
      note(draft, `say-${id}`, text === '' ? null : text);
      tell(draft, 'say:error', { words: clip(text, limits.detailCharsMax), ...dated(row) });
      return;
    default:
      return;
  }
}

/** The first one repeats the prompt. */
function hearText(draft: LinesDraft, row: Row, text: string): void {
  if (isEcho(draft, row, text)) {
    tell(draft, 'say:text', { ...dated(row) });
    return;
  }
  hearWords(draft, `say-${row.id}`, 'agent', { text, partial: row.partial });
  if (text !== '' && !row.isOld) keep(draft, { retries: [] });
  tell(draft, 'say:text', { partial: row.partial, ...dated(row) });
}

function isEcho(draft: LinesDraft, { isOld }: Row, text: string): boolean {
  const { unrepeated, isHeard } = draft.memory;
  // Of a conversation that goes on, the first line is what a person said first.
  if (!isHeard && isOld) return true;
  const at = unrepeated.indexOf(clip(text));
  if (at >= 0) {
    hearTaken(draft);
    keep(draft, { unrepeated: unrepeated.toSpliced(at, 1) });
  }
  return at >= 0;
}

/** What somebody said: ours is written already. An answer that was not ours settles what was asked. */
function hearFeedback(draft: LinesDraft, row: Row, text: string): void {
  if (isEcho(draft, row, text)) return;
  if (text !== '' && !row.isOld) write(draft, { id: `say-${row.id}`, role: 'user', text });
  const { waiting } = draft.memory;
  if (row.isOld || waiting === null) return;
  settle(draft);
  tell(draft, 'user_feedback', { ask_id: waiting.id, ...dated(row) });
}

/** Printed again with what it cost: that is no new one. */
function hearRequest(draft: LinesDraft, row: Row): void {
  const about = fieldsIn(row.fields.metadata);
  const isUsage = ['tokensIn', 'tokensOut', 'cost', 'cancelReason'].some((name) => about[name] !== undefined);
  tell(draft, 'api_req_started', { request: row.id, ...(isUsage ? { is_usage: true } : {}), ...dated(row) });
  if (row.isOld) return;
  if (isUsage) hearUsage(draft, row.id, about);
  else {
    hearTaken(draft);
    endItems(draft, 'done');
    settle(draft);
    keep(draft, { retries: [] });
    hearName(draft);
  }
}

/** Nobody names the conversation, so it goes on as the last one of its directory. */
function hearName(draft: LinesDraft): void {
  const { opening, isNamed } = draft.memory;
  if (isNamed || opening.resume !== null) return;
  keep(draft, { isNamed: true, session: lastConversation });
  tell(draft, 'session_renamed', { agent_session: agentSessionId(lastConversation) });
}

function hearUsage(draft: LinesDraft, id: string, { tokensIn, tokensOut }: Fields): void {
  const { counted, tokens } = draft.memory;
  if (counted.includes(id) || typeof tokensIn !== 'number' || typeof tokensOut !== 'number') return;
  const sum = { input: tokens.input + tokensIn, output: tokens.output + tokensOut };
  keep(draft, { counted: [...counted, id].slice(-limits.sessionRequestsKept), tokens: sum });
  draft.tokens = sum;
  tell(draft, 'usage_update');
}

/** It tries again by itself, and counts down to it in the same line. */
function hearDelay(draft: LinesDraft, row: Row, text: string): void {
  const { retries } = draft.memory;
  if (row.isOld || retries.includes(row.id)) return;
  const [first = '', ...rest] = text
    .replace(/<retry_timer>\d*<\/retry_timer>/, '')
    .trim()
    .split('\n');
  const status = /^\d{3}$/.test(first) ? Number(first) : null;
  const seconds = /<retry_timer>(\d{1,6})<\/retry_timer>/.exec(text)?.[1];
  const words = clip((status === null ? [first, ...rest] : rest).join(' '), limits.detailCharsMax);
  keep(draft, { retries: [...retries, row.id].slice(-limits.sessionRequestsKept) });
  note(draft, `retry-${draft.memory.mark}-${retries[0] ?? row.id}`, words === '' ? null : words);
  tell(draft, 'api_retry_scheduled', {
    retry: {
      count: retries.length + 1,
      status,
      until: seconds === undefined ? null : draft.at + Number(seconds) * 1_000,
    },
    ...(words === '' ? {} : { words }),
    ...dated(row),
  });
}

function hearResult(draft: LinesDraft, row: Row, text: string): void {
  const { partial, isOld, id } = row;
  hearWords(draft, `say-${id}`, 'agent', { text, partial });
  if (isOld || partial) return;
  if (draft.memory.waiting?.kind !== 'rest') settle(draft);
  endItems(draft, 'done');
  endTurn(draft, { kind: 'say:completion_result', at: draft.at, outcome: 'verified', ...dated(row) });
}

/** What a command prints, told as a question of its own that nobody has to answer. */
export function hearCommandOutput(draft: LinesDraft, row: Row): void {
  const { executionId, command, output, exitCode, status } = fieldsIn(row.fields.metadata);
  const run = textOf(executionId) ?? nextId(draft, 'run');
  if (row.isOld) return;
  const isGood = exitCode === undefined || exitCode === 0 || exitCode === null;
  hearOutput(draft, `ask-${run}`, textOf(command) ?? 'a command', {
    output: typeof output === 'string' ? output : '',
    isEnd: !row.partial,
    isGood: isGood && status !== 'timeout',
  });
  // It runs: whoever is asked about it later was not asked in time.
  const { waiting, settled } = draft.memory;
  if (!settled.includes(run)) keep(draft, { settled: [...settled, run].slice(-limits.sessionRequestsKept) });
  if (waiting?.id === run) keep(draft, { waiting: null });
  tell(draft, 'command_output', { ask_id: run, ...dated(row) });
}

// What Kilo says and does, as messages that grow. Every line carries the whole of what it says so far.

type Status = NonNullable<SessionMessage['tool']>['status'];

function hearWords(
  draft: LinesDraft,
  id: string,
  role: 'agent' | 'thought',
  words: { readonly text: string; readonly partial: boolean },
): void {
  const { text, partial } = words;
  if (text === '') return;
  if (partial) remember(draft, id, { role, name: '', text: clip(text), output: '' });
  else forget(draft, id);
  write(draft, { id, role, text, partial });
}

/** A tool that waits for leave. */
export function hearTool(draft: LinesDraft, id: string, name: string, text: string): void {
  const known = own(draft.memory.items, id);
  const tool: Item = {
    role: 'tool',
    name: clip(name, limits.detailCharsMax),
    text: clip(text),
    output: known?.output ?? '',
  };
  remember(draft, id, tool);
  writeTool(draft, id, tool, 'pending');
}

/** What a command printed so far. */
function hearOutput(
  draft: LinesDraft,
  id: string,
  command: string,
  run: { readonly output: string; readonly isEnd: boolean; readonly isGood: boolean },
): void {
  const known = own(draft.memory.items, id) ?? { role: 'tool', name: 'command', text: clip(command), output: '' };
  const tool: Item = { ...known, output: clip(run.output, limits.sessionOutputCharsMax) };
  if (run.isEnd) forget(draft, id);
  else remember(draft, id, tool);
  writeTool(draft, id, tool, run.isEnd ? (run.isGood ? 'done' : 'failed') : 'running');
}

/** A person has answered. */
export function markTool(draft: LinesDraft, id: string, isYes: boolean): void {
  const item = own(draft.memory.items, id);
  if (item === undefined || item.role !== 'tool') return;
  if (!isYes) forget(draft, id);
  writeTool(draft, id, item, isYes ? 'running' : 'failed');
}

function writeTool(draft: LinesDraft, id: string, { name, text, output }: Item, status: Status): void {
  const words = output === '' ? text : `${text}\n${output}`;
  const isEnd = status === 'done' || status === 'failed';
  write(draft, { id, role: 'tool', text: words, partial: !isEnd, tool: { name, status } });
}

/** Something else begins: nothing grows any more. */
export function endItems(draft: LinesDraft, status: 'done' | 'failed'): void {
  for (const [id, item] of Object.entries(draft.memory.items)) {
    if (item.role === 'tool') writeTool(draft, id, item, status);
    else write(draft, { id, role: item.role, text: item.text });
  }
  keep(draft, { items: {} });
}

function remember(draft: LinesDraft, id: string, item: Item): void {
  const { items } = draft.memory;
  if (!Object.hasOwn(items, id) && Object.keys(items).length >= limits.sessionToolsMax) return;
  keep(draft, { items: { ...items, [id]: item } });
}

function forget(draft: LinesDraft, id: string): void {
  if (!Object.hasOwn(draft.memory.items, id)) return;
  const { [id]: _ended, ...items } = draft.memory.items;
  keep(draft, { items });
}
