// The protocol of Codex's app-server: what is said to it, how its words are read, and the requests that one connection has
// open. One place for whoever follows its shared server (native.ts), acts over it (channel.ts), tells it of trusted hooks
// (trust.ts) or runs a session on it (session/). Pure.

import type { Ask } from '../../model/asks.ts';
import { limits } from '../../model/limits.ts';
import { type Fields, fieldsIn, idOf, listOf, textOf } from '../fields.ts';
import { type Calls, call, noCalls, noticeLine, settle } from '../protocol/json-rpc.ts';

/** The id of the native source that follows the control socket of the shared server. */
export const controlSource = 'app-server';

/** The control socket, below the home of Codex. */
export const controlSocketOf = (codexHome: string): string => `${codexHome}/app-server-control/app-server-control.sock`;

export interface CodexRequest {
  readonly method: string;
  readonly params: Fields;
}

const turnInput = (text: string): Fields => ({ input: [{ type: 'text', text, text_elements: [] }] });

export const requests = {
  initialize: (): CodexRequest => ({
    method: 'initialize',
    params: {
      clientInfo: { name: 'agtmux', title: 'agtmux', version: '1' },
      // Questions of the agent are told only to those who want what is experimental.
      capabilities: { experimentalApi: true, requestAttestation: false },
    },
  }),
  /** The newest. */
  listThreads: (limit: number): CodexRequest => ({ method: 'thread/list', params: { limit } }),
  listLoaded: (): CodexRequest => ({ method: 'thread/loaded/list', params: {} }),
  readThread: (threadId: string): CodexRequest => ({ method: 'thread/read', params: { threadId } }),
  startThread: (settings: Fields): CodexRequest => ({ method: 'thread/start', params: settings }),
  /** From then on its requests come to this connection. */
  resumeThread: (threadId: string | null, settings: Fields = {}): CodexRequest => ({
    method: 'thread/resume',
    params: { threadId, excludeTurns: true, ...settings },
  }),
  leaveThread: (threadId: string): CodexRequest => ({ method: 'thread/unsubscribe', params: { threadId } }),
  lastTurn: (threadId: string | null, order: Fields = {}): CodexRequest => ({
    method: 'thread/turns/list',
    params: { threadId, limit: 1, ...order },
  }),
  startTurn: (threadId: string | null, text: string): CodexRequest => ({
    method: 'turn/start',
    params: { threadId, ...turnInput(text) },
  }),
  /** Into the turn that runs. */
  steerTurn: (threadId: string, text: string, expectedTurnId: string): CodexRequest => ({
    method: 'turn/steer',
    params: { threadId, ...turnInput(text), expectedTurnId },
  }),
  interruptTurn: (threadId: string | null, turnId: string): CodexRequest => ({
    method: 'turn/interrupt',
    params: { threadId, turnId },
  }),
} as const;

/** Said after the reply to `initialize`. */
export const initializedLine = noticeLine('initialized', undefined);

/** `now` is when it came; null: the connection ended before it. */
export type OnReply = (reply: Fields | null, now: number) => void;

/** The requests of one connection and who waits for their replies: all its users share one count. */
export class AppServerClient {
  #calls: Calls = noCalls;
  readonly #waiting = new Map<number, OnReply>();

  /** The text to be sent. */
  request({ method, params }: CodexRequest, onReply: OnReply): string {
    const { calls, id, line } = call(this.#calls, method, params);
    this.#calls = calls;
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size >= limits.conversationsRememberedMax && oldest !== undefined) this.#settle(oldest, null, 0);
    this.#waiting.set(id, onReply);
    return line;
  }

  /** A message without a method. One that answers nothing is passed over. */
  take(message: Fields, now: number): void {
    if (typeof message.id === 'number') this.#settle(message.id, message, now);
  }

  #settle(id: number, reply: Fields | null, now: number): void {
    this.#calls = settle(this.#calls, id).calls;
    const onReply = this.#waiting.get(id);
    this.#waiting.delete(id);
    onReply?.(reply, now);
  }

  /** Another connection, or none: nothing is answered any more. */
  reset(now: number): void {
    const waiting = [...this.#waiting.values()];
    this.#calls = noCalls;
    this.#waiting.clear();
    for (const onReply of waiting) onReply(null, now);
  }
}

/** What a thread's status says of its turn. `flagged`: it waits for something nobody knows. */
export type ThreadStatus = 'idle' | 'error' | 'running' | 'approval' | 'input' | 'flagged' | 'unknown';

export function threadStatusIn(status: Fields): ThreadStatus {
  switch (status.type) {
    case 'idle':
      return 'idle';
    case 'systemError':
      return 'error';
    case 'active': {
      const flags = listOf(status.activeFlags);
      if (flags.includes('waitingOnApproval')) return 'approval';
      if (flags.includes('waitingOnUserInput')) return 'input';
      return flags.length === 0 ? 'running' : 'flagged';
    }
    default:
      return 'unknown';
  }
}

/** Threads that make up titles, and those of subagents, are in nobody's pane. */
export const isHiddenThread = (thread: Fields): boolean =>
  thread.ephemeral === true || idOf(thread.parentThreadId) !== null;

/** What failed, in the server's words; `info` is its own name for it. */
export interface CodexFailure {
  readonly info: unknown;
  readonly words: string | null;
}

export const failureIn = (error: Fields): CodexFailure => ({
  info: error.codexErrorInfo,
  words: textOf(error.message),
});

/** Journals spell it with an underscore. */
export const isUsageLimit = (info: unknown): boolean =>
  info === 'usageLimitExceeded' || info === 'usage_limit_exceeded';

/** The requests by which it asks for leave. */
export const approvalMethods = {
  command: 'item/commandExecution/requestApproval',
  edit: 'item/fileChange/requestApproval',
  permissions: 'item/permissions/requestApproval',
} as const;

/** A request for leave that is open, as an action answers it: which call, its command, and the answers it takes. */
export interface Approval {
  /** By which an answer names it. */
  readonly request: number | string;
  readonly thread: string;
  /** The call of the tool; hooks know it by the same id. */
  readonly item: string;
  readonly turn: string | null;
  readonly kind: 'command' | 'edit';
  /** Null for edits: the request does not say what is to be written. */
  readonly command: string | null;
  readonly reason: string | null;
  /** Null where every answer is taken. */
  readonly decisions: readonly string[] | null;
}

const kinds: Readonly<Record<string, Approval['kind']>> = {
  [approvalMethods.command]: 'command',
  [approvalMethods.edit]: 'edit',
};

/** Null for everything else a server may ask: those are answered at the keyboard. */
export function approvalIn(message: Fields): Approval | null {
  const kind =
    typeof message.method === 'string' && Object.hasOwn(kinds, message.method) ? kinds[message.method] : null;
  const params = fieldsIn(message.params);
  const [thread, item] = [idOf(params.threadId), idOf(params.itemId)];
  const request = typeof message.id === 'number' ? message.id : idOf(message.id);
  if (kind === null || kind === undefined || thread === null || item === null || request === null) return null;
  const command = textOf(params.command);
  if (kind === 'command' && command === null) return null;
  const offered = Array.isArray(params.availableDecisions) ? listOf(params.availableDecisions) : null;
  return {
    request,
    thread,
    item,
    turn: idOf(params.turnId),
    kind,
    command: kind === 'edit' || command === null ? null : withoutShell(command),
    reason: textOf(params.reason),
    decisions: offered === null ? null : offered.filter((one) => typeof one === 'string'),
  };
}

export const takes = ({ decisions }: Approval, decision: string): boolean => decisions?.includes(decision) !== false;

/** As a hook words the same ask. */
export function askTextOf({ command, reason }: Approval): string {
  const text = reason === null ? (command ?? '') : `${command ?? ''}\n${reason}`;
  return text.slice(0, limits.askCharsMax);
}

/** Whether an ask that a hook told is this request: the same call, and for a command the same words (ASK3). */
export function isToldByHook(approval: Approval, ask: Pick<Ask, 'ask_id' | 'kind' | 'text'>): boolean {
  if (ask.ask_id !== approval.item || ask.kind !== approval.kind) return false;
  if (approval.command === null) return true;
  return ask.text === askTextOf(approval) || ask.text === approval.command.slice(0, limits.askCharsMax);
}

/** The server tells the whole call, `/bin/bash -lc 'touch a'`; hook and screen tell what stands in it. */
export function withoutShell(command: string): string {
  const words = wordsOf(command);
  const [shell = '', flag = '', inner] = words ?? [];
  const isCall = words?.length === 3 && /(?:^|\/)(?:ba|z|da|k)?sh$/.test(shell) && /^-l?c$/.test(flag);
  return isCall && inner !== undefined ? inner : command;
}

/** Words as a shell reads them, without expanding anything; null when a quote is left open. */
function wordsOf(text: string): readonly string[] | null {
  const words: string[] = [];
  const piece = /\s+|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/y;
  let word: string | null = null;
  while (piece.lastIndex < text.length) {
    const found = piece.exec(text);
    if (found === null) return null;
    const [all, single, double, escaped, plain] = found;
    const part = single ?? double?.replace(/\\([$`"\\\n])/g, '$1') ?? escaped ?? plain;
    if (part !== undefined) word = (word ?? '') + part;
    else if (/^\s/.test(all) && word !== null) {
      words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}
