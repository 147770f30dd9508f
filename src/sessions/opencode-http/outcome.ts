// How a turn ended. The server only says that it is idle; why is to be found in what was heard before that (SES6).

import { type Fields, fieldsIn, fieldsOf, textOf } from '../../agents/fields.ts';
import { askId, mainScope } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { MachineEvent, MachineEventKind } from '../../model/sessions.ts';
import { keep, nextId } from '../draft.ts';
import { endTurn } from '../watch.ts';
import { dropAsks } from './asks.ts';
import { note, sayWaiting } from './calls.ts';
import { type HttpDraft, type HttpMemory, nothingSeen, type Trouble } from './memory.ts';
import { endItems } from './parts.ts';

type Ending = Omit<MachineEvent, 'at'>;

/** Null for what is no error. */
export function troubleIn(value: unknown): Trouble | null {
  const error = fieldsOf(value);
  if (error === null) return null;
  const data = fieldsIn(error.data);
  const name = textOf(error.name) ?? 'an error';
  const status = typeof data.statusCode === 'number' ? data.statusCode : null;
  return { name, status, words: wordsIn(error) ?? name };
}

/** What an error says, wherever it says it: the first line, since stacks may follow. */
export function wordsIn(error: Fields): string | null {
  const words = textOf(fieldsIn(error.data).message) ?? textOf(error.message);
  return words === null ? null : (words.split('\n')[0] ?? words).slice(0, limits.detailCharsMax);
}

export const isAbort = ({ name }: Trouble): boolean => name === 'MessageAbortedError';

/** A model that had its say. Other reasons to stop leave the answer cut or unfinished. */
const goodFinishes: readonly (string | null)[] = ['stop', 'end_turn', 'end-turn'];

/** What a turn is that the server calls over. */
function endingOf({ seen, watch, isRetrying }: HttpMemory, failureId: () => string): Ending {
  const { trouble, wasRefused, hasOutput, finish } = seen;
  if (watch.isCancelling) return { kind: 'turn_cancelled' };
  if (trouble !== null) return isAbort(trouble) ? { kind: 'turn_cancelled' } : failed(trouble, failureId());
  // It never gives up retrying by itself: whoever comes from there was interrupted.
  if (wasRefused || isRetrying) return { kind: 'turn_cancelled' };
  if (finish === 'error') return failed({ name: 'error', status: null, words: 'the model failed' }, failureId());
  if (hasOutput && isGood(finish)) return { kind: 'say:completion_result', outcome: 'verified' };
  return { kind: 'say:completion_result', outcome: 'unverified', words: doubtOf(hasOutput, finish) };
}

export const isGood = (finish: string | null): boolean => goodFinishes.includes(finish);

function doubtOf(hasOutput: boolean, finish: string | null): string {
  if (!hasOutput) return 'the turn ended without a word';
  return finish === null ? 'the agent did not say how the turn ended' : `the model stopped for "${finish}"`;
}

export function failed(trouble: Trouble, id: string): Ending {
  const isLogin = trouble.name === 'ProviderAuthError' || trouble.status === 401;
  const words = `${trouble.words}${isLogin ? ' (log in with its own `auth login`)' : ''}`;
  const text = words.slice(0, limits.detailCharsMax);
  const ask = { ask_id: askId(id), kind: 'dialog', scope: mainScope, text, options: [], accepts: ['retry'] } as const;
  return { kind: kindOf(trouble), words: text, ask };
}

function kindOf({ name, status, words }: Trouble): MachineEventKind {
  if (status === 402) return 'ask:payment_required_prompt';
  const isModel = name === 'ProviderModelNotFoundError' || /^model not found/i.test(words);
  return isModel ? 'ask:invalid_model' : 'ask:api_req_failed';
}

/** The server is idle. Told two to four times; only the first after a turn has begun is its end. */
export function hearOver(draft: HttpDraft): void {
  const { watch, seen, winding } = draft.memory;
  note(draft);
  if (winding !== null) {
    if (winding.isDone) unwind(draft);
    return;
  }
  if (!watch.isTurnOpen || !seen.isBegun) return;
  // Over before there was an answer or an error: that of another turn, or a prompt that was lost.
  if (seen.answer === null && seen.trouble === null && !watch.isCancelling) lookSoon(draft);
  else endNow(draft);
}

/** By what was heard of it so far. */
export function endNow(draft: HttpDraft): void {
  const ending = endingOf(draft.memory, () => nextId(draft, 'failed'));
  finishTurn(draft, ending);
}

/** The turn before is over and done with: what waited for that is said. */
export function unwind(draft: HttpDraft): void {
  keep(draft, { winding: null });
  sayWaiting(draft);
}

/** Events do not tell; the server itself has to. */
function lookSoon(draft: HttpDraft): void {
  const { news } = draft.memory;
  const look = { isRejoin: false, isNeeded: true, parts: {}, news };
  keep(draft, { look, lookAt: draft.at + limits.serverLookAgainMs });
}

export function failTurn(draft: HttpDraft, trouble: Trouble): void {
  finishTurn(draft, failed(trouble, nextId(draft, 'failed')));
}

export function finishTurn(draft: HttpDraft, ending: Ending): void {
  const isGoodEnd = ending.kind === 'say:completion_result';
  const { answer, isAnswerDone } = draft.memory.seen;
  dropAsks(draft);
  endItems(draft, isGoodEnd ? 'done' : 'failed');
  keep(draft, {
    seen: nothingSeen,
    winding: answer === null || isAnswerDone ? null : { answer, isDone: false },
    look: null,
    isRetrying: false,
    wasGood: isGoodEnd,
    failedAsk: ending.ask?.ask_id ?? null,
    lookAt: null,
  });
  endTurn(draft, { ...ending, at: draft.at });
}
