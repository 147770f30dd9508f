// What a person wants of a session, said twice: as the machine's event and as what the dialect has to do. Whether it is
// allowed is the table's business, not this file's.

import { fail, ok, type Result } from '../model/errors.ts';
import type { MachineEvent, PendingAsk, SessionDeed } from '../model/sessions.ts';
import type { Deed } from './dialect.ts';
import type { Machined } from './machine-memory.ts';

export interface Want {
  readonly event: MachineEvent;
  /** What the dialect does when the step says `deliver`. */
  readonly deed: Deed;
}

export type MachineDeed =
  | Exclude<SessionDeed, { readonly action: 'remove' | 'send' }>
  /** `is_plain`: a message and no more. It is never taken for the answer to what is asked. */
  | (Extract<SessionDeed, { readonly action: 'send' }> & { readonly is_plain?: boolean });
type Answer = Extract<SessionDeed, { readonly action: 'answer' }>;

const naming = (id: string | undefined): { readonly ask_id?: string } => (id === undefined ? {} : { ask_id: id });

/** Whatever is said to it now counts as the answer to what it asks. */
export const takesWordsForAnswer = ({ pending_ask, state }: Pick<Machined, 'pending_ask' | 'state'>): boolean =>
  pending_ask !== null && (state === 'waiting_input' || (state === 'error' && pending_ask.accepts.includes('text')));

/** Words to an agent: the answer to what it asks, the word it waits for, or a message of their own. */
function deedOfWords(record: Machined, text: string): Deed {
  const { pending_ask, state } = record;
  if (pending_ask !== null && takesWordsForAnswer(record)) return { kind: 'write', ask_id: pending_ask.ask_id, text };
  // Where it asked whether to go on, words are the answer to that.
  return state === 'paused' && pending_ask !== null ? { kind: 'continue', text } : { kind: 'send', text };
}

function chosenOf(ask: PendingAsk, option: string): Result<string> {
  const found = ask.options.find(({ id, label }) => id === option || label === option);
  if (found !== undefined) return ok(found.id);
  const known = ask.options.map(({ id, label }) => (id === label ? id : `${id} (${label})`)).join(', ');
  return fail('E_INPUT', `there is no option ${option}; ${known === '' ? 'it offers none' : `it offers ${known}`}`);
}

function wantOfAnswer(record: Machined, deed: Answer, at: number): Result<Want> {
  const ask = record.pending_ask;
  const isApproval = record.state === 'waiting_approval';
  const event: MachineEvent = {
    kind: isApproval ? 'approve_action' : 'send_message',
    at,
    ...naming(deed.ask_id ?? ask?.ask_id),
  };
  const isWaiting = isApproval || record.state === 'waiting_input' || record.state === 'error';
  if (ask === null || !isWaiting) return fail('E_STATE_CHANGED', 'it asks nothing now');
  if (deed.option !== undefined) {
    const chosen = chosenOf(ask, deed.option);
    return chosen.ok ? ok({ event, deed: { kind: 'choose', ask_id: ask.ask_id, option: chosen.value } }) : chosen;
  }
  if (deed.text === undefined) return fail('E_INPUT', 'an answer needs an option or some text');
  if (!ask.accepts.includes('text')) {
    const next = isApproval
      ? 'approve it, or say why not: `agtmux session reject --because`'
      : 'choose one of its options';
    return fail('E_INPUT', 'it takes no words for an answer', next);
  }
  return ok({ event, deed: { kind: 'write', ask_id: ask.ask_id, text: deed.text } });
}

/** `isAlive`: there is a process or a server that can be told. */
export function wantOf(record: Machined, deed: MachineDeed, at: number, isAlive: boolean): Result<Want> {
  const pendingId = record.pending_ask?.ask_id;
  switch (deed.action) {
    case 'send':
      if (deed.is_plain === true && takesWordsForAnswer(record)) {
        const next = 'answer it first: `agtmux session answer`';
        return fail('E_DIALOG', 'the session asks something, and this message is no answer to it', next);
      }
      return ok({ event: { kind: 'send_message', at, is_alive: isAlive }, deed: deedOfWords(record, deed.text) });
    case 'approve': {
      const id = deed.ask_id ?? pendingId;
      return ok({
        event: { kind: 'approve_action', at, ...naming(id) },
        deed: { kind: 'approve', ask_id: id ?? '' },
      });
    }
    case 'reject': {
      const id = deed.ask_id ?? pendingId;
      return ok({
        event: { kind: 'reject_action', at, ...naming(id) },
        deed: { kind: 'reject', ask_id: id ?? '', because: deed.because ?? null },
      });
    }
    case 'answer':
      return wantOfAnswer(record, deed, at);
    case 'stop':
      return ok({ event: { kind: 'cancel_session', at }, deed: { kind: 'cancel' } });
    case 'resume':
      return ok({
        event: { kind: 'resume_session', at, is_alive: isAlive },
        deed: { kind: 'continue', text: deed.text ?? null },
      });
    case 'retry':
      return ok({ event: { kind: 'retry', at, is_alive: isAlive }, deed: { kind: 'retry' } });
  }
}
