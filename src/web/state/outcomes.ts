// What a person does from the pages, and what became of it: each action leaves a line where it was done, in the words of the
// daemon.

import { useSyncExternalStore } from 'react';
import type { ActBody, ReceiptReply } from '../../api/actions.ts';
import { post } from '../../api/requests.ts';
import type { Failure, Result } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { StateName } from '../../model/states.ts';
import type { AgentItem } from '../../view/board.ts';
import { clock } from '../port.ts';
import { send } from '../requests.ts';

import { refOf } from './agents.ts';

export interface Outcome {
  readonly tone: 'busy' | 'good' | 'doubt' | 'bad';
  readonly words: string;
}

const outcomes = new Map<string, Outcome>();
const listeners = new Set<() => void>();

/** Good news need not stay for long; what went wrong stays until the next deed. */
const shownMs = 8_000;

export function setOutcome(id: string, outcome: Outcome | null): void {
  if (outcome === null) outcomes.delete(id);
  else outcomes.set(id, outcome);
  for (const listener of listeners) listener();
  if (outcome?.tone !== 'good') return;
  clock.after(shownMs, () => {
    if (outcomes.get(id) === outcome) setOutcome(id, null);
  });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useOutcome = (id: string): Outcome | null =>
  useSyncExternalStore(subscribe, () => outcomes.get(id) ?? null);

/** A sentence begins with a capital; a name, as of a host, stays what it is. */
const sentence = (message: string): string => message.replace(/^[a-z]+(?= )/, capital);
const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

export const refusalText = ({ code, message, next }: Failure): string =>
  `${sentence(message)}${next === '' ? '' : `; ${next}`} [${code}]`;

/** The agent is named as lists name it: a line may stand where its row has gone. */
export function receiptOutcome({ outcome, failure, words, who }: ReceiptReply): Outcome {
  const more = words === null ? '' : `: ${words}`;
  const whom = who == null ? '' : ` ${who}`;
  switch (outcome) {
    case 'delivered':
      return { tone: 'good', words: `Delivered${whom && ` to${whom}`}${more}` };
    case 'queued':
      return { tone: 'good', words: `Queued${whom && ` for${whom},`} until it is ready${more}` };
    case 'unconfirmed':
      return {
        tone: 'doubt',
        words: `Unconfirmed${whom && ` by${whom}`}${more === '' ? ': arrival not confirmed' : more}`,
      };
    case 'refused': {
      const refused = `Refused${whom && ` for${whom}`}`;
      return { tone: 'bad', words: failure === null ? refused : `${refused}: ${refusalText(failure)}` };
    }
  }
}

/** Does it, tells what became of it under `id`, and says whether it went well. */
export async function did<Value>(
  id: string,
  busy: string,
  deed: Promise<Result<Value>>,
  good: (value: Value) => Outcome | null,
): Promise<boolean> {
  setOutcome(id, { tone: 'busy', words: busy });
  const result = await deed;
  const outcome: Outcome | null = result.ok ? good(result.value) : { tone: 'bad', words: refusalText(result.failure) };
  setOutcome(id, outcome);
  return outcome?.tone !== 'bad';
}

/** What stands in the field after a message was not taken: that message, before whatever was written meanwhile. */
export const notTaken = (text: string, next: string): string => (next === '' ? text : `${text}\n${next}`);

type ScreenAction = ActBody extends infer Body
  ? Body extends { action: string }
    ? Omit<Body, 'ref' | 'conditions'>
    : never
  : never;

const busyWords: Readonly<Record<ScreenAction['action'], string>> = {
  send: 'Sending',
  approve: 'Approving',
  reject: 'Rejecting',
  answer: 'Answering',
  interrupt: 'Interrupting',
  kill: 'Ending',
  resume: 'Resuming',
  seen: 'Marking as seen',
  activate: 'Connecting',
  name: 'Naming',
};

/** The ask of each agent that was answered from this page, and when. */
const answered = new Map<string, { readonly askId: string; readonly at: number }>();

/** Delivered a moment ago, and the agent has not gone on yet. Should it still be open after that, it is shown again. */
export function isAnswered({ runtime_id, ask }: AgentItem): boolean {
  const last = answered.get(runtime_id);
  return last !== undefined && last.askId === ask?.ask_id && clock.wallMs() - last.at < limits.tuiAnsweredMs;
}

/** To this very run of the agent, and to no other that may have taken its place (ACT1). */
export function act(item: AgentItem, deed: ScreenAction, states: readonly StateName[] = []): Promise<boolean> {
  const conditions = { if_runtime: item.runtime_id, ...(states.length === 0 ? {} : { if_state: [...states] }) };
  const body = { ...deed, ref: refOf(item), conditions };
  const busy = `${busyWords[deed.action]}…`;
  return did(item.runtime_id, busy, send(post('/v1/act', body)), (receipt) => {
    if (receipt.outcome === 'delivered' && 'ask_id' in deed && deed.ask_id !== undefined)
      answered.set(item.runtime_id, { askId: deed.ask_id, at: clock.wallMs() });
    return receiptOutcome(receipt);
  });
}
