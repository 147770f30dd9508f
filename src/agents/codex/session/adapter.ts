// How Codex is led: the JSON-RPC of its app-server, in a process of our own on stdin and stdout, or as one more client of
// the user's shared server.

import { ok, type Result } from '../../../model/errors.ts';
import { agentSessionId, askId, mainScope } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { MachineEvent, MachineEventKind, MachineState } from '../../../model/sessions.ts';
import { type Fields, fieldsIn, fieldsOf, idOf, rowsOf, textOf } from '../../fields.ts';
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
  type ActionHandlers,
  carryOut,
  draftOf,
  goOn,
  goOnAfterFailure,
  hearGarbage,
  hearStillborn,
  hearStray,
  heldBy,
  keep,
  note,
  own,
  tell,
  turnOf,
} from '../../protocol/draft.ts';
import { hearRpc, noCalls, type RpcError, type RpcId, settle } from '../../protocol/json-rpc.ts';
import { isBegun } from '../../protocol/questions.ts';
import {
  beginTurn,
  deliveryOf,
  type Excuse,
  endTurn,
  hearClock,
  hearGone,
  hearIdle,
  hearTaken,
  noteAnswer,
  setWatch,
  spokenTo,
  watchSigns,
} from '../../protocol/watch.ts';
import { type CodexFailure, failureIn, type ThreadStatus, threadStatusIn } from '../protocol.ts';
import {
  answer,
  askTurns,
  type CodexDraft,
  type CodexMemory,
  dropAsks,
  endItems,
  freshMemory,
  hearItem,
  hearPiece,
  hearRequest,
  hearResolved,
  isOpening,
  type Purpose,
  putNext,
  sayHello,
  sayInterrupt,
  sayPrompt,
  sayThread,
  sayTurn,
} from './conversation.ts';

const codex = (name: string, livesOn: boolean): ProtocolAdapter<CodexMemory> => ({
  name,
  hasNoCreated: false,
  livesOn,
  open(opening: Opening, at: number): Turn<CodexMemory> {
    const draft = draftOf(freshMemory(opening, livesOn, at), at);
    sayHello(draft);
    const isJoining = opening.rejoin !== null || (livesOn && opening.prompt === '');
    if (!isJoining) sayPrompt(draft, opening.prompt === '' ? goOn : opening.prompt);
    return turnOf(draft);
  },
  hear(memory: CodexMemory, heard: Incoming, at: number, asksRoom?: number): Turn<CodexMemory> {
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
        if (isOpening(memory)) hearStillborn(draft, heard);
        endItems(draft, 'failed');
        keep(draft, { asks: [], running: [], turn: null, isBegun: false });
        hearGone(draft);
        break;
      case 'reconnect':
        hearAgain(draft);
        break;
      case 'clock':
        hearClock(draft, excuseOf(memory), heard.isAsked);
        break;
      case 'reply':
      case 'stream':
        break;
    }
    return turnOf(draft);
  },
  do(memory: CodexMemory, deed: UserAction, at: number): Result<Turn<CodexMemory>> {
    const draft = draftOf(memory, at);
    spokenTo(draft);
    const done = carryOut(draft, deed, manners);
    if (done.ok) noteAnswer(draft, deed, isHolding(draft.memory));
    return done.ok ? ok(turnOf(draft)) : done;
  },
  asksBytes: ({ asks }: CodexMemory): number => heldBy(asks),
  delivery: (memory: CodexMemory): Delivery => deliveryOf(memory.watch, isHolding(memory)),
  wakeful: ({ thread, asks, watch, waiting, running }: CodexMemory): Wakeful | null => {
    // It is where its user works as well: what happens there is to be seen.
    if (livesOn) return 'shared';
    if (watch.isTurnOpen || asks.length > 0 || waiting !== null) return 'busy';
    if (running.length > 0) return 'behind';
    return thread === null ? 'no_resume' : null;
  },
});

export const codexAppServer = codex('codex-app-server', false);
export const codexDaemon = codex('codex-daemon', true);

/** Another connection to the same server: what it asked before it asks again, if it still wants to know. */
function hearAgain(draft: CodexDraft): void {
  const { opening, thread } = draft.memory;
  const rejoin = thread === null ? opening.rejoin : { thread };
  keep(draft, { calls: noCalls, asks: [], turn: null, isBegun: false, opening: { ...opening, rejoin } });
  sayHello(draft);
}

/** A prompt without a thread yet, or answers that go out together. */
const isHolding = ({ waiting, asks }: CodexMemory): boolean =>
  waiting !== null || asks.some(({ interview }) => isBegun(interview));

function excuseOf({ asks, items }: CodexMemory): Excuse {
  if (asks.length > 0) return 'ask';
  return Object.values(items).some(({ role }) => role === 'tool') ? 'tool' : null;
}

const manners: ActionHandlers<CodexMemory> = {
  say: sayPrompt,
  retry: (draft) => sayPrompt(draft, goOnAfterFailure),
  cancel: sayInterrupt,
  answer,
};

// What each message of Codex's app-server means. Unknown ones are passed over, and so is what is about other threads: the
// server makes titles in threads of its own, and a shared one has those of other people.

function hearLine(draft: CodexDraft, line: string): void {
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
    tell(draft, 'process_error', { words: 'Codex returned no conversation id' });
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
  const state = rejoinedAs[threadStatusIn(status)];
  if (state === undefined) return;
  tell(draft, 'rejoined', { state });
  beginTurn(draft);
}

/** Of a thread that is at work. */
const rejoinedAs: Partial<Readonly<Record<ThreadStatus, MachineState>>> = {
  approval: 'waiting_approval',
  input: 'waiting_input',
  running: 'streaming',
  flagged: 'streaming',
};

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
      else note(draft, `refused-${draft.memory.mark}-${id}`, `Codex did not accept the message: ${message}`);
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
  tell(draft, 'ask:resume_task', { words: 'Codex has closed the conversation' });
}

function hearError(draft: CodexDraft, params: Fields): void {
  const error = fieldsOf(params.error);
  if (error === null) return;
  const failure = failureIn(error);
  const said = failure.words ?? wordless;
  if (params.willRetry !== true) {
    keep(draft, { failure });
    note(draft, `failure-${idOf(params.turnId)}`, said);
    return;
  }
  const count = Number(/(\d+)\/\d+/.exec(said)?.[1] ?? 1);
  const details = textOf(error.additionalDetails);
  const words = details === null ? said : `${said}: ${details}`;
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

// How a turn of Codex ended. A failed turn is completed as well, in the server's words: its status and its error tell
// (SES6).

type Ending = Omit<MachineEvent, 'at'>;

/** Null for a turn that is not at its end. */
function endingOf(turn: Fields, memory: CodexMemory): Ending | null {
  const error = fieldsOf(turn.error);
  const failure = error === null ? memory.failure : failureIn(error);
  switch (turn.status) {
    case 'interrupted':
      return { kind: 'turn_cancelled' };
    case 'completed':
      if (failure === null && memory.hasOutput) return { kind: 'say:completion_result', outcome: 'verified' };
      if (failure === null)
        return { kind: 'say:completion_result', outcome: 'unverified', words: 'the turn ended without output' };
      return failed(failure, `failed-${idOf(turn.id)}`);
    case 'failed': {
      const words = 'the turn failed without a message';
      return failed(failure ?? { info: null, words }, `failed-${idOf(turn.id)}`);
    }
    case 'inProgress':
      return null;
    default:
      return {
        kind: 'say:completion_result',
        outcome: 'unverified',
        words: `the turn ended as "${textOf(turn.status) ?? 'nothing'}"`,
      };
  }
}

/** Of a failure that tells nothing. */
const wordless = 'a request failed without a message';

function failed({ info, words }: CodexFailure, id: string): Ending {
  const kind = kindOf(info);
  const isLogin = info === 'unauthorized' || statusIn(info) === 401;
  const text = `${words ?? wordless}${isLogin ? ' (log in with `codex login`)' : ''}`.slice(0, limits.detailCharsMax);
  const ask = { ask_id: askId(id), kind: 'dialog', scope: mainScope, text, options: [], accepts: ['retry'] } as const;
  return { kind, words: text, ask };
}

function kindOf(info: unknown): MachineEventKind {
  const status = statusIn(info);
  if (info === 'usageLimitExceeded' || info === 'sessionBudgetExceeded' || status === 402) {
    return 'ask:payment_required_prompt';
  }
  if (info === 'modelNotFound' || status === 404) return 'ask:invalid_model';
  return info === 'tooManyDenials' ? 'ask:mistake_limit_reached' : 'ask:api_req_failed';
}

/** The status of the request that failed, wherever it stands. */
function statusIn(info: unknown): number | null {
  for (const one of Object.values(fieldsIn(info))) {
    const status = fieldsIn(one).httpStatusCode;
    if (typeof status === 'number') return status;
  }
  return null;
}
