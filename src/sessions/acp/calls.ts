// What is said to an agent over ACP: the opening, prompts, and the wish that it stops.

import { keep, nextId, sayLine, tell, write } from '../draft.ts';
import { call, envelope2, noticeLine } from '../json-rpc.ts';
import { beginTurn, endTurn, setWatch } from '../watch.ts';
import { type AcpDraft, type AcpMemory, nothingSeen } from './memory.ts';
import { failed } from './outcome.ts';
import { profileOf } from './profiles.ts';

/** What a reply is about. */
export type Purpose = 'initialize' | 'new' | 'load' | 'resume' | 'model' | 'prompt';

/** The one version of the protocol that is spoken here. */
export const protocolVersion = 1;

function ask(draft: AcpDraft, purpose: Purpose, method: string, params: unknown): number {
  const { calls, line, id } = call(draft.memory.calls, method, params, envelope2, purpose);
  keep(draft, { calls });
  sayLine(draft, line);
  return id;
}

/** Files and terminals are the agent's own affair; its questions are wanted. */
export function sayHello(draft: AcpDraft): void {
  ask(draft, 'initialize', 'initialize', {
    protocolVersion,
    clientInfo: { name: 'agtmux', title: 'agtmux', version: '1' },
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      elicitation: { form: {}, url: {} },
    },
  });
}

/** Begins a conversation, or goes on with one: without its history where the agent can leave that out. */
export function saySession(draft: AcpDraft): void {
  const { opening, canResume, canLoad, profile } = draft.memory;
  const place = { cwd: opening.cwd, mcpServers: [] };
  if (opening.resume === null) {
    ask(draft, 'new', 'session/new', place);
    return;
  }
  if (!(canResume || canLoad)) {
    failOpening(draft, 'this agent cannot go on with a conversation over ACP; start a new session');
    return;
  }
  const wish = { sessionId: profileOf(profile).loadId(opening.resume), ...place };
  if (canResume) ask(draft, 'resume', 'session/resume', wish);
  else ask(draft, 'load', 'session/load', wish);
}

/** There will be no session before somebody does something about it. What was to be said is kept for another try. */
export function failOpening(draft: AcpDraft, words: string): void {
  setWatch(draft, { isTurnOpen: false, isCancelling: false, due: null });
  draft.wakeMs = null;
  tell(draft, 'process_error', { words });
}

/** There is no session yet, or it has not the right model. */
export const isOpening = ({ calls }: AcpMemory): boolean =>
  Object.values(calls.open).some((purpose) => purpose !== 'prompt');

/** A prompt. One is answered at a time: while another is open, or there is no session yet, it waits. */
export function sayPrompt(draft: AcpDraft, text: string): void {
  write(draft, { id: nextId(draft, 'user'), role: 'user', text });
  const { waiting } = draft.memory;
  if (!draft.memory.watch.isTurnOpen) beginTurn(draft);
  keep(draft, { waiting: waiting === null ? text : `${waiting}\n\n${text}`, failedAsk: null });
  setWatch(draft, { words: 'held' });
  sayNext(draft);
}

/** What waits is said, if it can be. */
export function sayNext(draft: AcpDraft): void {
  const { waiting, session, isGreeted, isReady, prompt } = draft.memory;
  if (waiting === null || prompt !== null || isOpening(draft.memory)) return;
  if (!isGreeted) sayHello(draft);
  else if (session === null) saySession(draft);
  else if (!isReady) sayModel(draft);
  else {
    const id = ask(draft, 'prompt', 'session/prompt', {
      sessionId: session,
      prompt: [{ type: 'text', text: waiting }],
    });
    keep(draft, { waiting: null, prompt: id, said: waiting, seen: nothingSeen });
    setWatch(draft, { isCancelling: false, words: 'said' });
    beginTurn(draft);
    // The protocol tells of no request to the model: ours to the agent stands for it.
    // What is asked stays asked: a request would count as its answer.
    if (draft.memory.asks.length === 0)
      tell(draft, 'api_req_started', { request: `prompt-${draft.memory.mark}-${id}` });
  }
}

/** The model that was wished for is set before anything is said. */
function sayModel(draft: AcpDraft): void {
  const { model } = draft.memory;
  if (model === null || model.kind === 'unknown') {
    if (model !== null)
      endTurn(draft, failed(draft.memory, { kind: 'ask:invalid_model', words: model.words }, draft.at));
    return;
  }
  ask(draft, 'model', model.method, model.params);
}

/** What the agent does now is to end. Where nothing was said yet, nothing will be. */
export function sayCancel(draft: AcpDraft): void {
  const { session, prompt, watch } = draft.memory;
  keep(draft, { waiting: null });
  setWatch(draft, { isCancelling: watch.isTurnOpen });
  if (session !== null && prompt !== null) sayStop(draft, session);
  else if (session !== null && watch.isTurnOpen) endTurn(draft, { kind: 'turn_cancelled', at: draft.at });
}

export const sayStop = (draft: AcpDraft, session: string): void =>
  sayLine(draft, noticeLine('session/cancel', { sessionId: session }, envelope2));
