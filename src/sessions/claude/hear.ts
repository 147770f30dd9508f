// What each line of Claude Code's stream-json means. Unknown kinds of lines are passed over.

import { type Fields, fieldsIn, idOf, parseFields, rowsOf, textOf } from '../../agents/fields.ts';
import { agentSessionId } from '../../model/ids.ts';
import { hearGarbage, keep, nextId, note, own, tell } from '../draft.ts';
import { beginTurn, endTurn, hearIdle, hearNothingBehind, hearTaken, holdTurn } from '../watch.ts';
import { dropOwnAsks, hearRequest, withdraw } from './asks.ts';
import type { ClaudeDraft } from './memory.ts';
import { endMessages, hearAnswer, hearPiece, hearReturn, isOwn } from './messages.ts';
import { endingOf, failureIn, statusOf } from './outcome.ts';

export function hearLine(draft: ClaudeDraft, text: string): void {
  const line = parseFields(text);
  if (line === null) {
    hearGarbage(draft, text);
    return;
  }
  if (isOfTurn(line)) hearTaken(draft);
  switch (line.type) {
    case 'system':
      hearSystem(draft, line);
      return;
    case 'stream_event':
      hearStreamEvent(draft, line);
      return;
    case 'assistant':
      hearAssistant(draft, line);
      return;
    case 'user':
      hearReturn(draft, line);
      return;
    case 'control_request':
      hearRequest(draft, line);
      return;
    case 'control_cancel_request': {
      const request = idOf(line.request_id);
      withdraw(draft, (ask) => ask.request === request);
      return;
    }
    case 'result':
      hearResult(draft, line);
      return;
    default:
      return;
  }
}

/** It is said only in a turn, and every turn is an answer to what was read. */
const turnLines: readonly unknown[] = ['stream_event', 'assistant', 'user', 'control_request', 'result'];
const isOfTurn = ({ type, subtype }: Fields): boolean =>
  turnLines.includes(type) || (type === 'system' && subtype === 'init');

function hearSystem(draft: ClaudeDraft, line: Fields): void {
  switch (line.subtype) {
    case 'init':
      hearTurnBegin(draft, line);
      return;
    case 'session_state_changed':
      if (line.state === 'idle' && draft.memory.isBegun) hearIdle(draft);
      return;
    case 'status':
      if (textOf(line.permissionMode) !== null) tell(draft, 'mode_changed', { words: String(line.permissionMode) });
      return;
    case 'api_retry':
      hearRetry(draft, line);
      return;
    case 'background_tasks_changed':
      hearBehind(draft, line);
      return;
    case 'permission_denied':
      note(draft, `denied-${idOf(line.tool_use_id)}`, textOf(line.message));
      return;
    case 'task_notification':
      // One that is waited for gives back the same as a tool.
      if (own(draft.memory.tools, idOf(line.tool_use_id) ?? '') === undefined) {
        note(draft, `task-${idOf(line.task_id)}`, textOf(line.summary));
      }
      return;
    case 'compact_boundary':
      note(draft, `compact-${idOf(line.uuid)}`, 'the conversation was compacted');
      return;
    default:
      return;
  }
}

/** Told at the beginning of every turn, also of one that the agent begins by itself. */
function hearTurnBegin(draft: ClaudeDraft, line: Fields): void {
  const mark = idOf(line.uuid);
  const { turnMark } = draft.memory;
  if (mark !== null && mark === turnMark) return;
  hearSession(draft, line, turnMark === null);
  const turn = mark ?? nextId(draft, 'turn');
  keep(draft, { turnMark: turn, isBegun: true, failure: null, isRetrying: false });
  beginTurn(draft);
  hearRequestStart(draft, turn);
}

function hearSession(draft: ClaudeDraft, line: Fields, isFirst: boolean): void {
  const session = idOf(line.session_id);
  if (session === null) return;
  const agent_session = agentSessionId(session);
  if (isFirst) tell(draft, 'session_created', { agent_session });
  else if (session !== draft.memory.session) tell(draft, 'session_renamed', { agent_session });
  keep(draft, { session: agent_session });
}

/** A request to the model begins. While something is asked, it is that of another part of the agent. */
function hearRequestStart(draft: ClaudeDraft, request: string): void {
  if (draft.memory.asks.length === 0) tell(draft, 'api_req_started', { request });
}

function hearStreamEvent(draft: ClaudeDraft, line: Fields): void {
  const event = fieldsIn(line.event);
  const message = event.type === 'message_start' && isOwn(line) ? idOf(fieldsIn(event.message).id) : null;
  if (isOwn(line)) hearRetried(draft);
  if (message !== null && draft.memory.watch.isTurnOpen) hearRequestStart(draft, message);
  hearPiece(draft, line);
}

function hearAssistant(draft: ClaudeDraft, line: Fields): void {
  const parts = rowsOf(fieldsIn(line.message).content);
  const words = parts.flatMap(({ text }) => textOf(text) ?? []).join('\n');
  const failure = isOwn(line) ? failureIn(line, words) : null;
  if (failure === null) {
    if (isOwn(line)) hearRetried(draft);
    hearAnswer(draft, line);
    return;
  }
  keep(draft, { failure });
  note(draft, `failure-${idOf(line.uuid)}`, words);
}

function hearRetry(draft: ClaudeDraft, line: Fields): void {
  const count = statusOf(line.attempt) ?? 1;
  const status = statusOf(line.error_status);
  const delay = typeof line.retry_delay_ms === 'number' ? line.retry_delay_ms : null;
  const words = `${textOf(line.error) ?? 'a failed request'}${status === null ? '' : ` (${status})`}`;
  const until = delay === null ? null : draft.at + delay;
  keep(draft, { isRetrying: true });
  tell(draft, 'api_retry_scheduled', { retry: { count, status, until }, words });
  note(draft, `retry-${draft.memory.turnMark}`, `${words}: trying again, attempt ${count}`);
}

/** The model answers again. */
function hearRetried(draft: ClaudeDraft): void {
  if (!draft.memory.isRetrying) return;
  keep(draft, { isRetrying: false });
  tell(draft, 'api_retried');
}

/** Shells in the background do not keep a turn open, subagents do: they bring another answer. */
function hearBehind(draft: ClaudeDraft, line: Fields): void {
  const tasks = rowsOf(line.tasks);
  const behind = tasks.filter(({ task_type }) => task_type === 'local_agent').length;
  keep(draft, { behind, tasks: tasks.length });
  if (behind === 0) hearNothingBehind(draft);
}

function hearResult(draft: ClaudeDraft, line: Fields): void {
  const mark = idOf(line.uuid);
  const { memory } = draft;
  if (mark !== null && mark === memory.resultMark) return;
  const ending = endingOf(line, memory);
  const isDone = ending.kind === 'say:completion_result';
  hearUsage(draft, line);
  dropOwnAsks(draft);
  endMessages(draft, isDone ? 'done' : 'failed');
  const failedAsk = ending.ask?.ask_id ?? null;
  keep(draft, { resultMark: mark, isBegun: false, isRetrying: false, failure: null, failedAsk });
  const event = { ...ending, at: draft.at };
  if (isDone && (memory.behind > 0 || draft.memory.asks.length > 0)) holdTurn(draft, event);
  else endTurn(draft, event);
}

/** Counted over the whole session where it says so. */
function hearUsage(draft: ClaudeDraft, line: Fields): void {
  const models = rowsOf(Object.values(fieldsIn(line.modelUsage)));
  if (models.length === 0) return;
  const sum = (...names: readonly string[]): number =>
    models.flatMap((model) => names.map((name) => model[name])).reduce<number>((all, one) => all + numberIn(one), 0);
  draft.tokens = {
    input: sum('inputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'),
    output: sum('outputTokens'),
  };
  tell(draft, 'usage_update');
}

const numberIn = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
