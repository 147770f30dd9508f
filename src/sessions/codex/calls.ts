// What is said to Codex's app-server: the opening, turns and their interruption.

import { clip, keep, nextId, sayLine, write } from '../draft.ts';
import { call, noticeLine } from '../json-rpc.ts';
import { beginTurn, setWatch } from '../watch.ts';
import type { CodexDraft, CodexMemory } from './memory.ts';

/** What a reply is about. */
export type Purpose = 'initialize' | 'thread' | 'turn' | 'interrupt' | 'turns';

function ask(draft: CodexDraft, purpose: Purpose, method: string, params: unknown): void {
  const { calls, line } = call(draft.memory.calls, method, params, {}, purpose);
  keep(draft, { calls });
  sayLine(draft, line);
}

export function sayHello(draft: CodexDraft): void {
  ask(draft, 'initialize', 'initialize', {
    clientInfo: { name: 'agtmux', title: 'agtmux', version: '1' },
    // Questions of the agent are told only to those who want what is experimental.
    capabilities: { experimentalApi: true, requestAttestation: false },
  });
}

/** Goes on with a thread, or begins one. Whether something needs leave is for a person to say, in automatic mode for us. */
export function sayThread(draft: CodexDraft): void {
  const { thread, opening } = draft.memory;
  const { cwd, model, rejoin } = opening;
  sayLine(draft, noticeLine('initialized', undefined));
  if (rejoin !== null || (draft.memory.livesOn && thread !== null)) {
    ask(draft, 'thread', 'thread/resume', { threadId: thread, excludeTurns: true });
    return;
  }
  const wishes = {
    cwd,
    approvalPolicy: 'on-request',
    sandbox: 'workspace-write',
    ...(model === null ? {} : { model }),
  };
  if (thread === null) ask(draft, 'thread', 'thread/start', wishes);
  else ask(draft, 'thread', 'thread/resume', { threadId: thread, excludeTurns: true, ...wishes });
}

/** There is no thread yet. */
export const isOpening = ({ calls }: CodexMemory): boolean =>
  Object.values(calls.open).some((purpose) => purpose === 'initialize' || purpose === 'thread');

/** A prompt. While a turn runs the server takes it into that turn; before there is a thread it waits. */
export function sayPrompt(draft: CodexDraft, text: string): void {
  write(draft, { id: nextId(draft, 'user'), role: 'user', text });
  const { waiting, turn } = draft.memory;
  if (turn === null) beginTurn(draft);
  if (draft.memory.isAway) {
    keep(draft, { isAway: false });
    ask(draft, 'thread', 'thread/resume', { threadId: draft.memory.thread, excludeTurns: true });
  }
  if (isOpening(draft.memory)) {
    keep(draft, { waiting: waiting === null ? text : `${waiting}\n\n${text}` });
    setWatch(draft, { words: 'held' });
  } else sayTurn(draft, text);
}

export function sayTurn(draft: CodexDraft, text: string): void {
  const { thread, unrepeated } = draft.memory;
  keep(draft, { waiting: null, unrepeated: [...unrepeated, clip(text)].slice(-8) });
  setWatch(draft, { words: 'said' });
  ask(draft, 'turn', 'turn/start', { threadId: thread, input: [{ type: 'text', text, text_elements: [] }] });
}

/** What it does now; a turn of which nothing was heard yet is interrupted as soon as it has an id. */
export function sayInterrupt(draft: CodexDraft): void {
  const { thread, turn, watch } = draft.memory;
  setWatch(draft, { isCancelling: watch.isTurnOpen });
  keep(draft, { waiting: null });
  if (turn !== null) ask(draft, 'interrupt', 'turn/interrupt', { threadId: thread, turnId: turn });
}

/** The turn that runs in a thread we have joined. */
export function askTurns(draft: CodexDraft): void {
  const { thread } = draft.memory;
  ask(draft, 'turns', 'thread/turns/list', { threadId: thread, limit: 1, sortDirection: 'desc' });
}
