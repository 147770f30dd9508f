// What a request must say about what it means: an answer names its ask, or says that it means whatever is open (ASK3).

import type { ActionRequest } from '../model/actions.ts';
import { type Failure, failure } from '../model/errors.ts';
import type { StateRecord } from '../model/records.ts';

type Answer = Extract<ActionRequest, { action: 'approve' | 'reject' | 'answer' }>;

/** Null: it says so. Otherwise it may have been made when something else was asked, or nothing. */
export function unnamedAsk({ ask_id, any_ask }: Answer, state: Pick<StateRecord, 'asks_open'> | null): Failure | null {
  if (ask_id !== undefined || any_ask === true) return null;
  const open = state?.asks_open ?? 0;
  if (open === 0) return failure('E_STATE_CHANGED', 'it asks nothing');
  const words = open === 1 ? 'something is asked by now' : `${open} things are asked`;
  return failure(
    open === 1 ? 'E_STATE_CHANGED' : 'E_REF_AMBIGUOUS',
    `the answer does not say what it is for, and ${words}`,
    'look with `agtmux explain`, then name the ask',
  );
}
