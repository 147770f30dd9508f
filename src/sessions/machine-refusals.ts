// Why a wish of a person is refused: what the session is doing, and what would help.

import { type Failure, failure } from '../model/errors.ts';
import type { MachineEvent, MachineState } from '../model/sessions.ts';
import type { PersonKind } from './machine-kinds.ts';
import type { Machined } from './machine-memory.ts';

/** What it is doing, as the end of "the session ...". */
const doing: Readonly<Record<MachineState, string>> = {
  idle: 'has not been started',
  creating: 'is starting',
  streaming: 'is at work',
  waiting_approval: 'waits for an approval',
  waiting_input: 'waits for an answer',
  completed: 'has finished',
  paused: 'is paused',
  error: 'stands in an error',
  stopped: 'is stopped',
};

function refusedAnswer(record: Machined, event: MachineEvent): Failure {
  const { pending_ask, answered } = record;
  const isAnswered = event.ask_id !== undefined && answered.includes(event.ask_id);
  if (isAnswered) return failure('E_STATE_CHANGED', 'it was answered already');
  const isOther = event.ask_id !== undefined && pending_ask !== null && pending_ask.ask_id !== event.ask_id;
  if (isOther) return failure('E_STATE_CHANGED', 'it asks something else now');
  const next = record.state === 'waiting_input' ? 'answer it: `agtmux session answer`' : undefined;
  return failure('E_STATE_CHANGED', `there is nothing to approve or reject: the session ${doing[record.state]}`, next);
}

function refusedMessage(record: Machined, event: MachineEvent): Failure {
  if (record.state === 'waiting_approval') {
    const next = 'approve or reject it first: `agtmux session approve`, `agtmux session reject`';
    return failure('E_DIALOG', 'the session waits for an approval, and a message is none', next);
  }
  if (record.state === 'waiting_input') return refusedAnswer(record, event);
  const next =
    record.state === 'error' ? 'try again or give up: `agtmux session retry`, `agtmux session stop`' : undefined;
  return failure('E_STATE_CHANGED', `the session takes no message: it ${doing[record.state]}`, next);
}

export function refusalOf(record: Machined, event: MachineEvent, kind: PersonKind): Failure {
  switch (kind) {
    case 'approve_action':
    case 'reject_action':
      return refusedAnswer(record, event);
    case 'send_message':
      return refusedMessage(record, event);
    case 'start_session':
      return failure(
        'E_STATE_CHANGED',
        `the session ${doing[record.state]}; it cannot be started anew`,
        'stop it first: `agtmux session stop`',
      );
    case 'resume_session':
      return failure('E_STATE_CHANGED', `there is nothing to resume: the session ${doing[record.state]}`);
    case 'retry':
      return failure('E_STATE_CHANGED', `there is nothing to try again: the session ${doing[record.state]}`);
    case 'cancel_session':
      return failure('E_STATE_CHANGED', `there is nothing to stop: the session ${doing[record.state]}`);
  }
}
