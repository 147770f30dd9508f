// How Claude Code is led: its stream-json on stdin and stdout, with control requests for leave and questions.

import { fail, ok, type Result } from '../../../model/errors.ts';
import { agentSessionId, askId, mainScope } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { MachineEvent, MachineEventKind, PendingAsk } from '../../../model/sessions.ts';
import { type Fields, fieldsIn, idOf, listOf, parseFields, rowsOf, textOf } from '../../fields.ts';
import type {
  Delivery,
  Incoming,
  Opening,
  ProtocolAdapter,
  Turn,
  UserAction,
  Wakeful,
} from '../../protocol/adapter.ts';
import {
  draftOf,
  goOn,
  goOnAfterFailure,
  hearGarbage,
  hearStillborn,
  hearStray,
  heldBy,
  keep,
  nextId,
  note,
  own,
  sayLine,
  tell,
  turnOf,
  write,
} from '../../protocol/draft.ts';
import { isBegun } from '../../protocol/questions.ts';
import {
  beginTurn,
  deliveryOf,
  type Excuse,
  endTurn,
  hearClock,
  hearGone,
  hearIdle,
  hearNothingBehind,
  hearTaken,
  holdTurn,
  noteAnswer,
  setWatch,
  spokenTo,
  watchSigns,
} from '../../protocol/watch.ts';
import {
  answer,
  type ClaudeDraft,
  type ClaudeMemory,
  dropOwnAsks,
  endMessages,
  freshMemory,
  hearAnswer,
  hearPiece,
  hearRequest,
  hearReturn,
  isOwn,
  withdraw,
} from './conversation.ts';
import { interruptLine, promptLine } from './lines.ts';

export const claudeStream: ProtocolAdapter<ClaudeMemory> = {
  name: 'claude-stream',
  hasNoCreated: false,
  livesOn: false,
  open(opening: Opening, at: number): Turn<ClaudeMemory> {
    const draft = draftOf(freshMemory(opening, at), at);
    say(draft, opening.prompt === '' ? goOn : opening.prompt);
    return turnOf(draft);
  },
  hear(memory: ClaudeMemory, heard: Incoming, at: number, asksRoom?: number): Turn<ClaudeMemory> {
    const draft = draftOf(memory, at, asksRoom);
    switch (heard.from) {
      case 'stdout':
        setWatch(draft, { heardAt: at });
        hearLine(draft, heard.line);
        watchSigns(draft);
        break;
      case 'stderr':
        hearStray(draft, heard.line);
        break;
      case 'exit':
        if (memory.turnMark === null && memory.resultMark === null) hearStillborn(draft, heard);
        endMessages(draft, 'failed');
        keep(draft, { asks: [] });
        hearGone(draft);
        break;
      case 'clock':
        hearClock(draft, excuseOf(memory), heard.isAsked);
        break;
      case 'reply':
      case 'stream':
      case 'reconnect':
        break;
    }
    return turnOf(draft);
  },
  do(memory: ClaudeMemory, deed: UserAction, at: number): Result<Turn<ClaudeMemory>> {
    const draft = draftOf(memory, at);
    spokenTo(draft);
    const done = act(draft, deed);
    if (done.ok) noteAnswer(draft, deed, isHolding(draft.memory));
    return done.ok ? ok(turnOf(draft)) : done;
  },
  asksBytes: ({ asks }: ClaudeMemory): number => heldBy(asks),
  delivery: (memory: ClaudeMemory): Delivery => deliveryOf(memory.watch, isHolding(memory)),
  wakeful: ({ session, asks, watch, tasks }: ClaudeMemory): Wakeful | null => {
    if (watch.isTurnOpen || asks.length > 0) return 'busy';
    if (tasks > 0) return 'behind';
    return session === null ? 'no_resume' : null;
  },
};

/** Answers that go out together. Prompts are said at once. */
const isHolding = ({ asks }: ClaudeMemory): boolean => asks.some(({ interview }) => isBegun(interview));

function excuseOf({ asks, tools }: ClaudeMemory): Excuse {
  if (asks.length > 0) return 'ask';
  return Object.keys(tools).length > 0 ? 'tool' : null;
}

function act(draft: ClaudeDraft, deed: UserAction): Result<null> {
  switch (deed.kind) {
    case 'send':
      if (deed.text.trim() === '') return fail('E_INPUT', 'nothing to send');
      return say(draft, deed.text);
    case 'continue':
      return say(draft, deed.text ?? goOn);
    case 'retry':
      return say(draft, goOnAfterFailure);
    case 'cancel':
      setWatch(draft, { isCancelling: draft.memory.watch.isTurnOpen });
      sayLine(draft, interruptLine(nextId(draft, 'interrupt')));
      return ok(null);
    case 'approve':
    case 'reject':
    case 'choose':
    case 'write':
      if (deed.kind === 'write' && deed.ask_id === draft.memory.failedAsk) return say(draft, deed.text);
      return answer(draft, deed);
  }
}

function say(draft: ClaudeDraft, text: string): Result<null> {
  sayLine(draft, promptLine(text));
  write(draft, { id: nextId(draft, 'user'), role: 'user', text });
  beginTurn(draft);
  setWatch(draft, { words: 'said' });
  return ok(null);
}

// What each line of Claude Code's stream-json means. Unknown kinds of lines are passed over.

function hearLine(draft: ClaudeDraft, text: string): void {
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
  note(draft, `retry-${draft.memory.turnMark}`, `${words}: retrying, attempt ${count}`);
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

// How a turn of Claude ended. A result that calls itself a success may be a failed request (SES6): every sign of failure
// is looked at before a turn counts as done.

type Ending = Omit<MachineEvent, 'at'>;

/** The end that a result tells of. */
function endingOf(result: Fields, memory: ClaudeMemory): Ending {
  const reason = textOf(result.terminal_reason) ?? '';
  const isFailed = result.is_error === true || (textOf(result.subtype) ?? '').startsWith('error');
  if (reason.startsWith('aborted') || (isFailed && memory.watch.isCancelling)) return { kind: 'turn_cancelled' };
  if (isFailed || memory.failure !== null) return failureOf(result, memory);
  const isWhole = reason === 'completed' || (reason === '' && result.subtype === 'success');
  const isCut = result.stop_reason === 'max_tokens' || result.stop_reason === 'refusal';
  const isSilent = textOf(result.result) === null && Object.keys(memory.answers).length === 0;
  if (isWhole && isSilent) {
    return { kind: 'say:completion_result', outcome: 'unverified', words: 'the turn ended without output' };
  }
  if (isWhole && !isCut) return { kind: 'say:completion_result', outcome: 'verified' };
  const words = isCut ? `the model stopped early (${result.stop_reason})` : `the turn ended with "${reason}"`;
  return { kind: 'say:completion_result', outcome: 'unverified', words };
}

function failureOf(result: Fields, memory: ClaudeMemory): Ending {
  const status = statusOf(result.api_error_status) ?? memory.failure?.status ?? null;
  const code = memory.failure?.code ?? '';
  const words = wordsOf(result, memory);
  const kind = kindOf(textOf(result.subtype) ?? '', status, code);
  return { kind, words, ask: retryAsk(`failed-${idOf(result.uuid) ?? `${memory.mark}-${memory.count}`}`, kind, words) };
}

function kindOf(subtype: string, status: number | null, code: string): MachineEventKind {
  if (subtype === 'error_max_turns') return 'ask:mistake_limit_reached';
  if (status === 402 || code === 'billing_error' || subtype === 'error_max_budget_usd') {
    return 'ask:payment_required_prompt';
  }
  return code === 'model_not_found' || status === 404 ? 'ask:invalid_model' : 'ask:api_req_failed';
}

/** What a person can do about it: try again, or say what to do instead. */
function retryAsk(id: string, kind: MachineEventKind, text: string): PendingAsk {
  return {
    ask_id: askId(id),
    kind: 'dialog',
    scope: mainScope,
    text: text.slice(0, limits.askCharsMax),
    options: [],
    accepts: kind === 'ask:mistake_limit_reached' ? ['retry', 'text'] : ['retry'],
  };
}

function wordsOf(result: Fields, { failure }: ClaudeMemory): string {
  if (result.subtype === 'error_max_turns') return 'the turn reached its step limit';
  const errors = listOf(result.errors).filter((one): one is string => textOf(one) !== null);
  const plain = errors.filter((one) => !one.startsWith('[ede_diagnostic]'));
  const words = textOf(result.result) ?? failure?.words ?? plain[0] ?? errors[0] ?? 'the turn failed without a message';
  const login = failure?.code === 'authentication_failed' ? ' (log in: run `claude` and type /login)' : '';
  return `${words}${login}`.slice(0, limits.detailCharsMax);
}

/** What an answer that is no answer says: the program itself wrote it because a request failed. */
function failureIn(line: Fields, words: string): ClaudeMemory['failure'] {
  const code = textOf(line.error);
  if (line.is_api_error_message !== true && code === null) return null;
  return { status: statusOf(line.api_error_status), code: code ?? '', words };
}

const statusOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) ? value : null;
