// How a turn of Claude ended. A result that calls itself a success may be a failed request (SES6): every sign of failure
// is looked at before a turn counts as done.

import { type Fields, idOf, listOf, textOf } from '../../agents/fields.ts';
import { askId, mainScope } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { MachineEvent, MachineEventKind, PendingAsk } from '../../model/sessions.ts';
import type { ClaudeMemory } from './memory.ts';

type Ending = Omit<MachineEvent, 'at'>;

/** The end that a result tells of. */
export function endingOf(result: Fields, memory: ClaudeMemory): Ending {
  const reason = textOf(result.terminal_reason) ?? '';
  const isFailed = result.is_error === true || (textOf(result.subtype) ?? '').startsWith('error');
  if (reason.startsWith('aborted') || (isFailed && memory.watch.isCancelling)) return { kind: 'turn_cancelled' };
  if (isFailed || memory.failure !== null) return failureOf(result, memory);
  const isWhole = reason === 'completed' || (reason === '' && result.subtype === 'success');
  const isCut = result.stop_reason === 'max_tokens' || result.stop_reason === 'refusal';
  const isSilent = textOf(result.result) === null && Object.keys(memory.answers).length === 0;
  if (isWhole && isSilent) {
    return { kind: 'say:completion_result', outcome: 'unverified', words: 'the turn ended without a word' };
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
  if (result.subtype === 'error_max_turns') return 'the turn took as many steps as it may';
  const errors = listOf(result.errors).filter((one): one is string => textOf(one) !== null);
  const plain = errors.filter((one) => !one.startsWith('[ede_diagnostic]'));
  const words = textOf(result.result) ?? failure?.words ?? plain[0] ?? errors[0] ?? 'the turn failed without a word';
  const login = failure?.code === 'authentication_failed' ? ' (log in: run `claude` and type /login)' : '';
  return `${words}${login}`.slice(0, limits.detailCharsMax);
}

/** What an answer that is no answer says: the program itself wrote it because a request failed. */
export function failureIn(line: Fields, words: string): ClaudeMemory['failure'] {
  const code = textOf(line.error);
  if (line.is_api_error_message !== true && code === null) return null;
  return { status: statusOf(line.api_error_status), code: code ?? '', words };
}

export const statusOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) ? value : null;
