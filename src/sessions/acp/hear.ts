// What each message of an agent means. Unknown ones are passed over, and so is what is about other sessions.

import { type Fields, fieldsIn, idOf, rowsOf, textOf } from '../../agents/fields.ts';
import { agentSessionId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { MachineEvent } from '../../model/sessions.ts';
import { hearGarbage, keep, nextId, tell } from '../draft.ts';
import { hearRpc, type RpcError, type RpcId, settle } from '../json-rpc.ts';
import { endTurn, hearTaken, setWatch } from '../watch.ts';
import { dropAsks, hearRequest, withdraw } from './asks.ts';
import { failOpening, type Purpose, protocolVersion, sayNext, saySession } from './calls.ts';
import type { AcpDraft } from './memory.ts';
import { modelWish } from './models.ts';
import { endingOf, failed, failureIn } from './outcome.ts';
import { profileIn, profileOf } from './profiles.ts';
import { endSpeech } from './speech.ts';
import { endTools } from './tools.ts';
import { hearUpdate, hearUsage } from './updates.ts';

export function hearLine(draft: AcpDraft, line: string): void {
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
  keep(draft, {
    profile: profileIn(result),
    canLoad: capabilities.loadSession === true,
    canResume: typeof resume === 'object' && resume !== null,
    logins: rowsOf(authMethods).flatMap(loginOf).slice(0, 4),
  });
  if (typeof version === 'number' && version !== protocolVersion) {
    failOpening(draft, `the agent speaks version ${version} of ACP, agtmux version ${protocolVersion}`);
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
  const { opening, profile } = draft.memory;
  if (opening.resume !== null) hearSession(draft, profileOf(profile).loadId(opening.resume), result, opening.resume);
}

/** There is a session. It is given its model, and what was to be said is said, unless somebody thought better of it. */
function hearSession(draft: AcpDraft, id: string | null, result: Fields, known: string | null = id): void {
  if (id === null || known === null) {
    failOpening(draft, 'the agent gave no id of the conversation');
    return;
  }
  const model = modelWish(draft.memory.opening.model, id, result);
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
          purpose === 'new' ? failure.words : `the conversation could not be taken up: ${failure.words}`,
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
