// How any agent is led that speaks the Agent Client Protocol on stdin and stdout: Gemini, Copilot, OpenCode, Kilo, the
// adapters of Claude and Codex, and whatever people name in their settings. What the protocol hides is in profiles.

import { ok, type Result } from '../../../model/errors.ts';
import { agentSessionId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { MachineEvent } from '../../../model/sessions.ts';
import { type Fields, fieldsIn, idOf, rowsOf, textOf } from '../../fields.ts';
import type { Delivery, Incoming, Opening, ProtocolAdapter, Turn, UserAction, Wakeful } from '../adapter.ts';
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
  nextId,
  note,
  tell,
  turnOf,
} from '../draft.ts';
import { hearRpc, noCalls, type RpcError, type RpcId, settle } from '../json-rpc.ts';
import { isBegun } from '../questions.ts';
import {
  beginTurn,
  deliveryOf,
  type Excuse,
  endTurn,
  hearClock,
  hearGone,
  hearTaken,
  noteAnswer,
  setWatch,
  spokenTo,
} from '../watch.ts';
import {
  answer,
  dropAsks,
  failOpening,
  hearHiddenQuestion,
  hearRequest,
  isOpening,
  type Purpose,
  protocolVersion,
  sayCancel,
  sayHello,
  sayNext,
  sayPrompt,
  saySession,
  withdraw,
} from './asks.ts';
import {
  type AcpDraft,
  type AcpMemory,
  endingOf,
  endSpeech,
  endTool,
  endTools,
  failed,
  failureIn,
  freshMemory,
  hearPiece,
  modelChoice,
  profileOf,
  see,
  showTool,
  toolIn,
} from './conversation.ts';
import { type AcpAgent, agentIn } from './profile.ts';

/** `agents`: those that were measured. */
export const acpAdapter = (agents: readonly AcpAgent[]): ProtocolAdapter<AcpMemory> => ({
  name: 'acp',
  hasNoCreated: false,
  livesOn: false,
  open(opening: Opening, at: number): Turn<AcpMemory> {
    const draft = { ...draftOf(freshMemory(opening, at), at), agents };
    sayHello(draft);
    sayPrompt(draft, opening.prompt === '' ? goOn : opening.prompt);
    return turnOf(draft);
  },
  hear(memory: AcpMemory, heard: Incoming, at: number, asksRoom?: number): Turn<AcpMemory> {
    const draft = { ...draftOf(memory, at, asksRoom), agents };
    switch (heard.from) {
      case 'stdout':
        hearStdout(draft, heard.line);
        break;
      case 'stderr':
        hearStray(draft, heard.line);
        break;
      case 'exit':
        if (isOpening(memory)) hearStillborn(draft, heard);
        hearEndOfAll(draft);
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
  do(memory: AcpMemory, deed: UserAction, at: number): Result<Turn<AcpMemory>> {
    const draft = { ...draftOf(memory, at), agents };
    spokenTo(draft);
    const done = carryOut(draft, deed, manners);
    if (done.ok) noteAnswer(draft, deed, isHolding(draft.memory));
    return done.ok ? ok(turnOf(draft)) : done;
  },
  asksBytes: ({ asks }: AcpMemory): number => heldBy(asks),
  delivery: (memory: AcpMemory): Delivery => deliveryOf(memory.watch, isHolding(memory)),
  wakeful: ({ session, asks, watch, waiting, prompt, canLoad, canResume }: AcpMemory): Wakeful | null => {
    if (watch.isTurnOpen || asks.length > 0 || waiting !== null || prompt !== null) return 'busy';
    return session !== null && (canLoad || canResume) ? null : 'no_resume';
  },
});

function hearStdout(draft: AcpDraft, line: string): void {
  setWatch(draft, { heardAt: draft.at });
  hearLine(draft, line);
  const { isTurnOpen, due } = draft.memory.watch;
  // It was given up for lost, and is not: it is watched again.
  if (isTurnOpen && due === null) beginTurn(draft);
}

function hearEndOfAll(draft: AcpDraft): void {
  endSpeech(draft);
  endTools(draft, 'failed');
  keep(draft, { asks: [], prompt: null, calls: noCalls });
  hearGone(draft);
}

/** A prompt for which the agent is not ready yet, or answers that go out together. */
const isHolding = ({ waiting, asks }: AcpMemory): boolean =>
  waiting !== null || asks.some(({ about }) => about.kind !== 'leave' && isBegun(about.interview));

function excuseOf({ asks, tools }: AcpMemory): Excuse {
  if (asks.length > 0) return 'ask';
  return Object.values(tools).some(({ status }) => status === 'running') ? 'tool' : null;
}

const manners: ActionHandlers<AcpMemory, AcpDraft> = {
  say: begin,
  retry,
  cancel: (draft) => {
    sayCancel(draft);
    dropAsks(draft);
  },
  answer,
};

/** A new turn. Whatever was asked before it is no longer wanted. */
function begin(draft: AcpDraft, text: string): void {
  dropAsks(draft);
  sayPrompt(draft, text);
}

/** Where there is no session yet, that is tried again and what was to be said first is still there. */
function retry(draft: AcpDraft): void {
  const { waiting, said, seen } = draft.memory;
  const isForgotten = profileOf(draft).forgetsFailed && !seen.work;
  if (waiting === null) begin(draft, (isForgotten ? said : null) ?? goOnAfterFailure);
  else {
    dropAsks(draft);
    beginTurn(draft);
    sayNext(draft);
  }
}

// What each message of an agent means. Unknown ones are passed over, and so is what is about other sessions.

function hearLine(draft: AcpDraft, line: string): void {
  hearRpc(line, {
    garbage: () => hearGarbage(draft, line),
    request: (id, method, params) => {
      hearTaken(draft);
      hearRequest(draft, id, method, params);
    },
    notice: (method, params) => hearNotice(draft, method, params),
    reply: (id, result) => hearReply(draft, id, result),
    refusal: (id, error) => hearRefusal(draft, id, error),
  });
}

function hearNotice(draft: AcpDraft, method: string, params: Fields): void {
  const { session } = draft.memory;
  if (method === '$/cancel_request') {
    const id = params.requestId;
    withdraw(draft, ({ about }) => about.kind !== 'hidden' && about.id === id);
    return;
  }
  // Before there is a session, a conversation that is taken up is told anew. The record has all of that (SES3).
  if (method !== 'session/update' || session === null || idOf(params.sessionId) !== session) return;
  hearUpdate(draft, fieldsIn(params.update));
}

function hearReply(draft: AcpDraft, id: RpcId, result: Fields): void {
  const { calls, purpose } = settle(draft.memory.calls, id);
  keep(draft, { calls });
  switch (purpose as Purpose | null) {
    case 'initialize':
      hearHello(draft, result);
      return;
    case 'new':
      hearSession(draft, idOf(result.sessionId), result);
      return;
    case 'load':
    case 'resume':
      hearTakenUp(draft, result);
      return;
    case 'model':
      keep(draft, { isReady: true });
      sayNextOrStop(draft);
      return;
    case 'prompt':
      hearTaken(draft);
      hearUsage(draft, result);
      endSpeech(draft);
      hearEnd(draft, endingOf(result, draft.memory, draft.at));
      return;
    case null:
      return;
  }
}

/** Who it is and what it can. */
function hearHello(draft: AcpDraft, result: Fields): void {
  const { agentCapabilities, authMethods, protocolVersion: version } = result;
  const capabilities = fieldsIn(agentCapabilities);
  const { resume } = fieldsIn(capabilities.sessionCapabilities);
  const agent = agentIn(result, draft.agents);
  keep(draft, {
    profile: agent?.name ?? null,
    login: agent?.profile.login ?? null,
    canLoad: capabilities.loadSession === true,
    canResume: typeof resume === 'object' && resume !== null,
    logins: rowsOf(authMethods).flatMap(loginOf).slice(0, 4),
  });
  if (typeof version === 'number' && version !== protocolVersion) {
    failOpening(draft, `the agent uses ACP version ${version}, agtmux version ${protocolVersion}`);
  } else {
    keep(draft, { isGreeted: true });
    saySession(draft);
  }
}

function loginOf({ name, description }: Fields): readonly string[] {
  const words = textOf(description) ?? textOf(name);
  return words === null ? [] : [words.slice(0, limits.detailCharsMax / 8)];
}

function hearTakenUp(draft: AcpDraft, result: Fields): void {
  const { opening } = draft.memory;
  if (opening.resume !== null) hearSession(draft, profileOf(draft).loadId(opening.resume), result, opening.resume);
}

/** There is a session. It is given its model, and what was to be said is said, unless somebody thought better of it. */
function hearSession(draft: AcpDraft, id: string | null, result: Fields, known: string | null = id): void {
  if (id === null || known === null) {
    failOpening(draft, 'the agent returned no conversation id');
    return;
  }
  const model = modelChoice(draft.memory.opening.model, id, result);
  keep(draft, { session: id, model, isReady: model === null });
  tell(draft, 'session_created', { agent_session: agentSessionId(known) });
  sayNextOrStop(draft);
}

function sayNextOrStop(draft: AcpDraft): void {
  const { watch, waiting } = draft.memory;
  if (waiting === null && watch.isCancelling) endTurn(draft, { kind: 'turn_cancelled', at: draft.at });
  else sayNext(draft);
}

/** A prompt was answered: the turn is over, unless something was to be said as soon as it is. */
function hearEnd(draft: AcpDraft, ending: MachineEvent): void {
  endSpeech(draft);
  dropAsks(draft);
  endTools(draft, ending.kind === 'say:completion_result' ? 'done' : 'failed');
  keep(draft, { prompt: null, failedAsk: ending.ask?.ask_id ?? null });
  if (draft.memory.waiting !== null && ending.ask === undefined) {
    setWatch(draft, { isCancelling: false });
    sayNext(draft);
    return;
  }
  keep(draft, { waiting: null });
  endTurn(draft, ending);
}

function hearRefusal(draft: AcpDraft, id: RpcId | null, error: RpcError): void {
  const { calls, purpose } = settle(draft.memory.calls, id);
  keep(draft, { calls });
  if (purpose === null) return;
  const failure = failureIn(error);
  nextId(draft, 'failed');
  switch (purpose as Purpose) {
    case 'initialize':
      failOpening(draft, failure.words);
      return;
    case 'new':
    case 'load':
    case 'resume':
      if (failure.isLogin === true) endTurn(draft, failed(draft.memory, failure, draft.at));
      else
        failOpening(
          draft,
          purpose === 'new' ? failure.words : `the conversation could not be continued: ${failure.words}`,
        );
      return;
    case 'model':
      endTurn(draft, failed(draft.memory, { kind: 'ask:invalid_model', words: failure.words }, draft.at));
      return;
    case 'prompt': {
      hearTaken(draft);
      const isOurs = draft.memory.watch.isCancelling;
      hearEnd(draft, isOurs ? { kind: 'turn_cancelled', at: draft.at } : failed(draft.memory, failure, draft.at));
      return;
    }
  }
}

// What an agent tells of its session: words, tools, plans, its mode and its state. Nothing here ends or begins a turn, so
// what comes late changes no state.

/** Told only of work on a prompt; lists of commands and modes come at any time. */
const workUpdates: readonly unknown[] = [
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
];

function hearUpdate(draft: AcpDraft, update: Fields): void {
  const profile = profileOf(draft);
  const isBroken = profile.isBroken(update);
  if (update.sessionUpdate === profile.boundary) endSpeech(draft);
  if (isBroken !== null) {
    endSpeech(draft);
    see(draft, isBroken ? { isBroken, notice: null } : { isBroken });
  }
  if (workUpdates.includes(update.sessionUpdate)) hearTaken(draft);
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
      hearPiece(draft, 'agent', update);
      return;
    case 'agent_thought_chunk':
      hearPiece(draft, 'thought', update);
      return;
    case 'tool_call':
    case 'tool_call_update':
      hearTool(draft, update);
      return;
    case 'plan':
      hearPlan(draft, update);
      return;
    case 'current_mode_update':
      tell(draft, 'mode_changed');
      return;
    default:
      return;
  }
}

function hearTool(draft: AcpDraft, update: Fields): void {
  const found = toolIn(draft, update);
  if (found === null) return;
  endSpeech(draft);
  const { id, tool } = found;
  const isEnd = update.status === 'completed' || update.status === 'failed';
  if (draft.memory.watch.isTurnOpen) see(draft, { work: true, failure: null, suspicion: null });
  if (update.sessionUpdate === 'tool_call') see(draft, { workSinceNo: true });
  if (isEnd) {
    withdraw(draft, (ask) => ask.about.kind === 'hidden' && ask.tool === id);
    endTool(draft, id, update.status === 'completed' ? 'done' : 'failed', tool);
  } else if (draft.memory.watch.isTurnOpen) {
    const isAsked = draft.memory.asks.some((ask) => ask.tool === id);
    showTool(draft, id, isAsked ? { ...tool, status: 'pending' } : tool);
  }
  hearHiddenQuestion(draft, id, tool, update);
  // While something is asked, a tool that is told of may be the very one that waits.
  if (draft.memory.asks.length === 0 && (isEnd || tool.output !== '')) tell(draft, 'command_output');
}

const marks: Readonly<Record<string, string>> = { completed: 'x', in_progress: '>' };

function hearPlan(draft: AcpDraft, update: Fields): void {
  endSpeech(draft);
  const lines = rowsOf(update.entries).flatMap(({ content, status }) => {
    const text = textOf(content);
    return text === null ? [] : [`[${marks[String(status)] ?? ' '}] ${text}`];
  });
  note(draft, `plan-${draft.memory.mark}`, lines.length === 0 ? null : lines.join('\n'));
}

/** Tokens, as the reply to a prompt tells them: of the turn, or of the whole conversation. */
function hearUsage(draft: AcpDraft, result: Fields): void {
  const usage = fieldsIn(result.usage);
  const quota = fieldsIn(fieldsIn(fieldsIn(result._meta).quota).token_count);
  const input = usage.inputTokens ?? quota.input_tokens;
  const output = usage.outputTokens ?? quota.output_tokens;
  if (typeof input !== 'number' || typeof output !== 'number') return;
  const { tokens } = draft.memory;
  const isTurn = profileOf(draft).counts === 'turn';
  const total = isTurn ? { input: tokens.input + input, output: tokens.output + output } : { input, output };
  keep(draft, { tokens: total });
  draft.tokens = total;
  tell(draft, 'usage_update');
}
