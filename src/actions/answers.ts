// Approve, reject and answer from the request to the wish: it names its ask, or says that it means whatever is open (ASK3),
// and what it writes is text that may be typed.

import type { ActionRequest } from '../model/actions.ts';
import { type Failure, failure, ok } from '../model/errors.ts';
import type { StateRecord } from '../model/records.ts';
import { type ActionContext, type Attempt, type Ending, refused, refusedFor } from './action-context.ts';
import { answerAsk } from './asks.ts';
import type { Intent } from './intents.ts';
import { checkMessage } from './message-text.ts';
import type { AnsweredAsks } from './pressing.ts';

type Answer = Extract<ActionRequest, { action: 'approve' | 'reject' | 'answer' }>;

export async function answerRequest(
  context: ActionContext,
  attempt: Attempt,
  answered: AnsweredAsks,
  request: Answer,
): Promise<Ending> {
  const unnamed = unnamedAsk(request, context.ground.stateOf(attempt.identity.runtime_id));
  if (unnamed !== null) return refused(unnamed);
  const reply = (intent: Intent): Promise<Ending> =>
    answerAsk(context, attempt, answered, request, intent, request.ask_id);
  switch (request.action) {
    case 'approve':
      return reply({ kind: 'approve' });
    case 'reject': {
      const because = request.because === undefined ? ok(null) : checkMessage(request.because, { strip: false });
      return because.ok ? reply({ kind: 'reject', because: because.value }) : refused(because.failure);
    }
    case 'answer': {
      const { option, text } = request;
      if ((option === undefined) === (text === undefined)) {
        return refusedFor('E_INPUT', 'an answer needs either an option or a text', 'give one of the two');
      }
      const checked = checkMessage(option ?? text ?? '', { strip: false });
      if (!checked.ok) return refused(checked.failure);
      return reply(
        option === undefined ? { kind: 'write', text: checked.value } : { kind: 'choose', option: checked.value },
      );
    }
  }
}

/** Null: it says so. Otherwise it may have been made when something else was asked, or nothing. */
function unnamedAsk({ ask_id, any_ask }: Answer, state: Pick<StateRecord, 'asks_open'> | null): Failure | null {
  if (ask_id !== undefined || any_ask === true) return null;
  const open = state?.asks_open ?? 0;
  if (open === 0) return failure('E_STATE_CHANGED', 'there is no pending request');
  const words = open === 1 ? 'there is a pending request now' : `there are ${open} pending requests`;
  return failure(
    open === 1 ? 'E_STATE_CHANGED' : 'E_REF_AMBIGUOUS',
    `the answer names no request, and ${words}`,
    'run `agtmux explain`, then name the request',
  );
}
