// How a turn over ACP ended. Agents end failed turns as if they had gone well, or answer the prompt with an error: what
// was seen of the turn is held against what they say of its end (SES6).

import { type Fields, fieldsIn, parseFields, textOf } from '../../agents/fields.ts';
import { askId, mainScope } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { MachineEvent, MachineEventKind } from '../../model/sessions.ts';
import type { RpcError } from '../json-rpc.ts';
import type { AcpMemory } from './memory.ts';
import { profileOf } from './profiles.ts';

export interface Failure {
  readonly kind: MachineEventKind;
  readonly words: string;
  /** Nobody is logged in, or not with the right to do this. */
  readonly isLogin?: boolean;
}

/** The end that a reply to the prompt tells of. */
export function endingOf(result: Fields, memory: AcpMemory, at: number): MachineEvent {
  const { seen } = memory;
  const reason = textOf(result.stopReason) ?? 'nothing';
  if (reason === 'cancelled') return { kind: 'turn_cancelled', at };
  if (seen.isBroken || seen.failure !== null) {
    return failed(memory, failureOf(seen.failure ?? seen.notice ?? 'a request failed without a word', null, null), at);
  }
  const unverified = (words: string): MachineEvent => ({
    kind: 'say:completion_result',
    at,
    outcome: 'unverified',
    words,
  });
  switch (reason) {
    case 'end_turn':
      // Some agents go on after a no, others stop there and call it the end of the turn.
      if (seen.saidNo && !seen.workSinceNo) return { kind: 'turn_cancelled', at };
      if (!seen.work) return unverified('the turn ended without a word of the agent');
      if (seen.suspicion !== null) return unverified(`its last words look like a failure: ${seen.suspicion}`);
      return { kind: 'say:completion_result', at, outcome: 'verified' };
    case 'max_turn_requests':
      return failed(memory, { kind: 'ask:mistake_limit_reached', words: 'the turn took as many steps as it may' }, at);
    case 'max_tokens':
    case 'refusal':
      return unverified(`the model stopped early (${reason})`);
    default:
      return unverified(`the turn ended with "${reason}"`);
  }
}

/** The code with which an agent says that nobody is logged in. */
const loginNeeded = -32_000;

/** What the error says that answered one of our requests. */
export function failureIn({ code, message, data }: RpcError): Failure {
  const details = textOf(data.details) ?? textOf(data.message);
  const plain = message.replace(/^Internal error(?:: )?/, '');
  const words = plain === '' ? (details ?? message) : plain;
  const status = code !== null && code >= 400 && code < 600 ? code : null;
  return failureOf(words, code === loginNeeded ? 401 : status, textOf(data.errorKind));
}

function failureOf(text: string, status: number | null, kind: string | null): Failure {
  const words = wordsIn(text);
  const number = status ?? statusIn(text);
  if (kind === 'model_not_found' || number === 404) return { kind: 'ask:invalid_model', words };
  if (kind === 'billing_error' || number === 402) return { kind: 'ask:payment_required_prompt', words };
  const isLogin = kind === 'authentication_failed' || number === 401 || number === 403;
  return { kind: 'ask:api_req_failed', words, isLogin };
}

/** Words for people out of what may be the body of a reply: `{"error":{"message":...}}`. */
function wordsIn(line: string): string {
  const text = line.replace(/^(?:API )?Error: /, '');
  const body = text.slice(Math.max(0, text.indexOf('{')));
  const fields = fieldsIn(parseFields(body.trim()));
  return textOf(fieldsIn(fields.error).message) ?? textOf(fields.message) ?? text.trim();
}

/** `Error: 400 ...`, `API Error: 529 ...`, `... Last error: 500 ...`, `{"error":{"code":400,...}}`. */
function statusIn(text: string): number | null {
  const found = /^\W*([45]\d\d)\b/.exec(text)?.[1] ?? /\berror\W{1,3}([45]\d\d)\b/i.exec(text)?.[1];
  const { code } = fieldsIn(fieldsIn(parseFields(text.trim())).error);
  return found !== undefined ? Number(found) : typeof code === 'number' ? code : null;
}

/** A turn that failed: what a person can do is try again, after a login where one is missing. */
export function failed(memory: AcpMemory, { kind, words, isLogin = false }: Failure, at: number): MachineEvent {
  const { mark, count, logins, profile } = memory;
  const own = logins.length > 0 ? logins.join('; or: ') : 'log in with the agent itself';
  const ways = profileOf(profile).login ?? own;
  const text = `${words}${isLogin ? ` (to log in: ${ways})` : ''}`.slice(0, limits.detailCharsMax);
  const accepts = kind === 'ask:mistake_limit_reached' ? (['retry', 'text'] as const) : (['retry'] as const);
  const ask_id = askId(`failed-${mark}-${count}`);
  return { kind, at, words: text, ask: { ask_id, kind: 'dialog', scope: mainScope, text, options: [], accepts } };
}
