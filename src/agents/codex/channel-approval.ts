// What Codex's server asks its clients about a thread: which call is to be approved, the command as its model wrote it, and
// the answers it takes. Pure.

import type { Ask } from '../../model/asks.ts';
import { limits } from '../../model/limits.ts';
import { type Fields, fieldsIn, idOf, listOf, textOf } from '../fields.ts';

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
  'item/commandExecution/requestApproval': 'command',
  'item/fileChange/requestApproval': 'edit',
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
