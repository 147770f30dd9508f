// What each message of Codex's app-server means. Unknown ones are passed over, and so is what is about other threads: the
// server makes titles in threads of its own, and a shared one has those of other people.

import { type Fields, fieldsIn, fieldsOf, idOf, listOf, rowsOf, textOf } from '../../agents/fields.ts';
import { agentSessionId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { MachineState } from '../../model/sessions.ts';
import { hearGarbage, keep, note, own, tell } from '../draft.ts';
import { hearRpc, type RpcError, type RpcId, settle } from '../json-rpc.ts';
import { beginTurn, endTurn, hearGone, hearIdle, hearTaken } from '../watch.ts';
import { dropAsks, hearRequest, hearResolved, putNext } from './asks.ts';
import { askTurns, type Purpose, sayInterrupt, sayThread, sayTurn } from './calls.ts';
import { endItems, hearItem, hearPiece } from './items.ts';
import type { CodexDraft } from './memory.ts';
import { endingOf, failed, failureIn, statusIn } from './outcome.ts';

export function hearLine(draft: CodexDraft, line: string): void {
  hearRpc(line, {
    garbage: () => hearGarbage(draft, line),
    request: (id, method, params) => hearRequest(draft, id, method, params),
    notice: (method, params) => hearNotice(draft, method, params),
    reply: (id, result) => hearReply(draft, id, result),
    refusal: (id, error) => hearRefusal(draft, id, error),
  });
}

function hearReply(draft: CodexDraft, id: RpcId, result: Fields): void {
  const { calls, purpose } = settle(draft.memory.calls, id);
  keep(draft, { calls });
  switch (purpose as Purpose | null) {
    case 'initialize':
      sayThread(draft);
      return;
    case 'thread':
      hearThread(draft, fieldsIn(result.thread));
      return;
    case 'turn':
      hearTaken(draft);
      hearTurnId(draft, idOf(fieldsIn(result.turn).id));
      return;
    case 'turns':
      hearLastTurn(draft, rowsOf(result.data)[0] ?? {});
      return;
    case 'interrupt':
    case null:
      return;
  }
}

/** There is a thread: what was to be said is said, unless somebody thought better of it. */
function hearThread(draft: CodexDraft, thread: Fields): void {
  const id = idOf(thread.id);
  if (id === null) {
    tell(draft, 'process_error', { words: 'Codex gave no id of the conversation' });
    return;
  }
  const { waiting, watch, opening, livesOn } = draft.memory;
  keep(draft, { thread: id });
  if (livesOn) draft.rejoin = { thread: id };
  tell(draft, 'session_created', { agent_session: agentSessionId(id) });
  if (waiting !== null) sayTurn(draft, waiting);
  else if (watch.isCancelling) endTurn(draft, { kind: 'turn_cancelled', at: draft.at });
  else if (opening.rejoin !== null || livesOn) hearRejoined(draft, fieldsIn(thread.status));
}

/** The thread went on while nobody listened. What it waits for it asks again; how its last turn ended has to be asked. */
function hearRejoined(draft: CodexDraft, status: Fields): void {
  askTurns(draft);
  if (status.type !== 'active') return;
  const flags = listOf(status.activeFlags);
  const isAsked = flags.includes('waitingOnUserInput') ? 'waiting_input' : 'streaming';
  tell(draft, 'rejoined', { state: flags.includes('waitingOnApproval') ? 'waiting_approval' : isAsked });
  beginTurn(draft);
}

function hearLastTurn(draft: CodexDraft, turn: Fields): void {
  if (draft.memory.watch.isTurnOpen) {
    if (turn.status === 'inProgress') hearTurnId(draft, idOf(turn.id));
    return;
  }
  const words = textOf(fieldsIn(turn.error).message);
  const state = own(rejoinedStates, textOf(turn.status) ?? '') ?? 'completed';
  tell(draft, 'rejoined', { state, ...(words === null ? {} : { words }) });
}

const rejoinedStates: Readonly<Record<string, MachineState>> = { failed: 'error', interrupted: 'paused' };

function hearTurnId(draft: CodexDraft, turn: string | null): void {
  const { watch } = draft.memory;
  if (turn === null || !watch.isTurnOpen) return;
  keep(draft, { turn });
  if (watch.isCancelling) sayInterrupt(draft);
}

function hearRefusal(draft: CodexDraft, id: RpcId | null, { message }: RpcError): void {
  const { calls, purpose } = settle(draft.memory.calls, id);
  keep(draft, { calls });
  switch (purpose as Purpose | null) {
    case 'initialize':
    case 'thread':
      hearGone(draft);
      tell(draft, 'process_error', { words: message });
      return;
    case 'turn':
      hearTaken(draft);
      if (draft.memory.turn === null) hearEnd(draft, failed({ info: null, words: message }, `failed-${id}`));
      else note(draft, `refused-${draft.memory.mark}-${id}`, `Codex did not take the message: ${message}`);
      return;
    case 'turns':
      hearLastTurn(draft, {});
      return;
    case 'interrupt':
    case null:
      return;
  }
}

function hearNotice(draft: CodexDraft, method: string, params: Fields): void {
  if (method === 'serverRequest/resolved') {
    const id = params.requestId;
    if (typeof id === 'string' || typeof id === 'number') hearResolved(draft, id);
    return;
  }
  const thread = idOf(params.threadId);
  if (thread !== null && thread !== draft.memory.thread) return;
  switch (method) {
    case 'turn/started':
      hearTurnBegin(draft, idOf(fieldsIn(params.turn).id));
      return;
    case 'turn/completed':
      hearTurnEnd(draft, fieldsIn(params.turn));
      return;
    case 'thread/status/changed':
      hearStatus(draft, fieldsIn(params.status));
      return;
    case 'thread/closed':
      hearClosed(draft, thread);
      return;
    case 'error':
      hearError(draft, params);
      return;
    case 'item/started':
    case 'item/completed':
      hearTaken(draft);
      hearRetried(draft);
      hearItem(draft, fieldsIn(params.item), method === 'item/completed');
      return;
    case 'item/agentMessage/delta':
    case 'item/plan/delta':
    case 'item/reasoning/summaryTextDelta':
    case 'item/reasoning/textDelta':
    case 'item/commandExecution/outputDelta':
      hearPiece(draft, params);
      return;
    case 'thread/tokenUsage/updated':
      hearUsage(draft, fieldsIn(fieldsIn(params.tokenUsage).total));
      return;
    case 'configWarning':
    case 'warning':
    case 'guardianWarning':
      note(draft, `${method}-${draft.memory.mark}`, textOf(params.summary) ?? textOf(params.message));
      return;
    default:
      return;
  }
}

function hearTurnBegin(draft: CodexDraft, turn: string | null): void {
  if (turn === null || draft.memory.settled.includes(turn)) return;
  hearTaken(draft);
  keep(draft, { turn, isBegun: true, failure: null, isRetrying: false });
  const { isCancelling } = draft.memory.watch;
  beginTurn(draft);
  dropAsks(draft, turn);
  if (draft.memory.asks.length === 0) tell(draft, 'api_req_started', { request: turn });
  if (isCancelling) sayInterrupt(draft);
}

/** A turn ends once: a doubled line, or that of another turn, ends nothing. */
function hearTurnEnd(draft: CodexDraft, turn: Fields): void {
  const id = idOf(turn.id);
  const ending = endingOf(turn, draft.memory);
  if (id === null || ending === null || draft.memory.settled.includes(id)) return;
  if (draft.memory.turn !== null && draft.memory.turn !== id) return;
  keep(draft, { settled: [...draft.memory.settled, id].slice(-limits.sessionRequestsKept) });
  hearEnd(draft, ending);
}

function hearEnd(draft: CodexDraft, ending: NonNullable<ReturnType<typeof endingOf>>): void {
  dropAsks(draft);
  endItems(draft, ending.kind === 'say:completion_result' ? 'done' : 'failed');
  const failedAsk = ending.ask?.ask_id ?? null;
  keep(draft, { turn: null, isBegun: false, hasOutput: false, failure: null, isRetrying: false, failedAsk });
  endTurn(draft, { ...ending, at: draft.at });
  // Those of other threads outlast it: were they not put now, they would stand before all that is asked later.
  putNext(draft);
}

function hearStatus(draft: CodexDraft, status: Fields): void {
  if (status.type === 'idle' && draft.memory.isBegun) hearIdle(draft);
}

/** The server has put the thread away: it can be taken up again. */
function hearClosed(draft: CodexDraft, thread: string | null): void {
  if (thread === null) return;
  dropAsks(draft);
  endItems(draft, 'failed');
  keep(draft, { turn: null, isBegun: false, isAway: true });
  hearGone(draft);
  tell(draft, 'ask:resume_task', { words: 'Codex has put the conversation away' });
}

function hearError(draft: CodexDraft, params: Fields): void {
  const error = fieldsOf(params.error);
  if (error === null) return;
  const failure = failureIn(error);
  if (params.willRetry !== true) {
    keep(draft, { failure });
    note(draft, `failure-${idOf(params.turnId)}`, failure.words);
    return;
  }
  const count = Number(/(\d+)\/\d+/.exec(failure.words)?.[1] ?? 1);
  const details = textOf(error.additionalDetails);
  const words = details === null ? failure.words : `${failure.words}: ${details}`;
  keep(draft, { isRetrying: true });
  tell(draft, 'api_retry_scheduled', { retry: { count, status: statusIn(failure.info), until: null }, words });
  note(draft, `retry-${idOf(params.turnId)}`, words);
}

/** The model answers again. */
function hearRetried(draft: CodexDraft): void {
  if (!draft.memory.isRetrying) return;
  keep(draft, { isRetrying: false });
  tell(draft, 'api_retried');
}

function hearUsage(draft: CodexDraft, { inputTokens, outputTokens }: Fields): void {
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return;
  draft.tokens = { input: inputTokens, output: outputTokens };
  tell(draft, 'usage_update');
}
