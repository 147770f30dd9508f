// Acting on an agent from any screen: first what will be done and to what, then the key that does it, then the receipt in
// the same place. Every request names the runtime, and the ask it answers (ACT1, ASK3). Pure.

import type { ActBody, ReceiptReply } from '../api/schemas-act.ts';
import type { AgtmuxError } from '../model/errors.ts';
import { foreign, gateLine } from '../text/gate.ts';
import type { AskItem } from '../view/asks.ts';
import type { AgentItem } from '../view/board.ts';
import type { PaintRole } from '../view/paint.ts';
import { agentLabel } from '../view/words.ts';
import type { Command, Key } from './contract.ts';
import { editText, emptyText, type TextField, withPaste } from './text-field.ts';

/** To whom, as it was when the person decided. */
export interface Whom {
  readonly runtime: string;
  readonly ref: string;
  /** Safe. */
  readonly name: string;
  readonly state: AgentItem['state'];
}

export type Deed = 'approve' | 'reject' | 'answer' | 'send' | 'interrupt' | 'kill';

export type Acting =
  | { readonly is: 'none' }
  | {
      readonly is: 'confirm';
      readonly deed: Exclude<Deed, 'send' | 'answer'>;
      readonly whom: Whom;
      readonly ask: AskItem | null;
    }
  | { readonly is: 'choose'; readonly whom: Whom; readonly ask: AskItem }
  | {
      readonly is: 'typing';
      readonly deed: 'send' | 'answer';
      readonly whom: Whom;
      readonly ask: AskItem | null;
      readonly field: TextField;
      /** Waits in the queue until the agent can take it. */
      readonly whenReady: boolean;
    }
  | { readonly is: 'doing'; readonly deed: Deed; readonly whom: Whom }
  | { readonly is: 'done'; readonly whom: Whom; readonly text: string; readonly role: PaintRole };

export type ActingOwn =
  | { readonly is: 'receipt'; readonly whom: Whom; readonly receipt: ReceiptReply }
  | { readonly is: 'refused'; readonly whom: Whom; readonly deed: Deed; readonly problem: AgtmuxError };

export const notActing: Acting = { is: 'none' };

export interface ActingStep {
  readonly acting: Acting;
  readonly commands: readonly Command<ActingOwn>[];
}

const still = (acting: Acting): ActingStep => ({ acting, commands: [] });

export const whomOf = (item: AgentItem): Whom => ({
  runtime: item.runtime_id,
  ref: item.ref,
  name: gateLine(foreign(agentLabel(item))),
  state: item.state,
});

const say = (text: string): Command<never> => ({ do: 'say', text });

/** What a key begins, for this agent. Null: nothing. */
export function beginActing(key: Key, item: AgentItem | null): ActingStep | null {
  const deed = deeds[key];
  if (deed === undefined) return null;
  if (item === null) return { acting: notActing, commands: [say('No agent is selected.')] };
  const whom = whomOf(item);
  if (item.ended !== null && deed !== 'send') return { acting: notActing, commands: [say(`${whom.name} has ended.`)] };
  const { ask } = item;
  switch (deed) {
    case 'approve':
    case 'reject':
      if (ask === null) return { acting: notActing, commands: [say(`${whom.name} asks nothing.`)] };
      return still({ is: 'confirm', deed, whom, ask });
    case 'answer':
      if (ask === null) return { acting: notActing, commands: [say(`${whom.name} asks nothing.`)] };
      return still(ask.options.length > 0 ? { is: 'choose', whom, ask } : typing('answer', whom, ask));
    case 'send':
      return still(typing('send', whom, null));
    case 'interrupt':
    case 'kill':
      return still({ is: 'confirm', deed, whom, ask: null });
  }
}

const deeds: Readonly<Record<Key, Deed>> = {
  a: 'approve',
  r: 'reject',
  e: 'answer',
  s: 'send',
  i: 'interrupt',
  K: 'kill',
};

const typing = (deed: 'send' | 'answer', whom: Whom, ask: AskItem | null): Acting => ({
  is: 'typing',
  deed,
  whom,
  ask,
  field: emptyText,
  whenReady: false,
});

export const isActing = ({ is }: Acting): boolean => is === 'confirm' || is === 'choose' || is === 'typing';

/** Null: the key is not for what is being done. */
export function actingKey(acting: Acting, key: Key): ActingStep | null {
  switch (acting.is) {
    case 'none':
    case 'doing':
      return null;
    case 'done':
      return key === 'esc' ? still(notActing) : null;
    case 'confirm':
      return confirmKey(acting, key);
    case 'choose':
      return chooseKey(acting, key);
    case 'typing':
      return typingKey(acting, key);
  }
}

export const actingPaste = (acting: Acting, text: string): Acting | null =>
  acting.is === 'typing' ? { ...acting, field: withPaste(acting.field, text) } : null;

const confirmKeys: Readonly<Record<Exclude<Deed, 'send' | 'answer'>, readonly Key[]>> = {
  approve: ['a', 'y', 'enter'],
  reject: ['r', 'y', 'enter'],
  interrupt: ['i', 'y', 'enter'],
  // Nobody kills by pressing one key twice, or with a reflex.
  kill: ['y'],
};

function confirmKey(acting: Extract<Acting, { is: 'confirm' }>, key: Key): ActingStep {
  const { deed, whom, ask } = acting;
  if (!confirmKeys[deed].includes(key)) return { acting: notActing, commands: [say('Nothing was sent.')] };
  switch (deed) {
    case 'approve':
    case 'reject':
      return request(deed, whom, { action: deed, ask_id: ask?.ask_id ?? '' });
    case 'interrupt':
      return request(deed, whom, { action: 'interrupt' });
    case 'kill':
      return request(deed, whom, { action: 'kill', signal: 'TERM' });
  }
}

function chooseKey(acting: Extract<Acting, { is: 'choose' }>, key: Key): ActingStep {
  const { whom, ask } = acting;
  if (key === 'e' || key === 't') return still(typing('answer', whom, ask));
  const option = /^[1-9]$/.test(key) ? ask.options[Number(key) - 1] : undefined;
  if (option === undefined) return { acting: notActing, commands: [say('Nothing was sent.')] };
  return request('answer', whom, { action: 'answer', ask_id: ask.ask_id, option: option.id });
}

/** Straight from a digit: the option of the ask that is on the screen. */
export function answerBy(key: Key, item: AgentItem | null): ActingStep | null {
  const ask = item?.ask ?? null;
  const option = /^[1-9]$/.test(key) ? ask?.options[Number(key) - 1] : undefined;
  if (item === null || ask === null || option === undefined) return null;
  return request('answer', whomOf(item), { action: 'answer', ask_id: ask.ask_id, option: option.id });
}

function typingKey(acting: Extract<Acting, { is: 'typing' }>, key: Key): ActingStep {
  const { deed, whom, ask, field, whenReady } = acting;
  if (key === 'esc') return { acting: notActing, commands: [say('Nothing was sent.')] };
  if (key === 'tab' && deed === 'send') return still({ ...acting, whenReady: !whenReady });
  if (key !== 'enter') return still({ ...acting, field: editText(field, key) });
  if (field.text.trim() === '') return { acting, commands: [say('Write something first; esc leaves.')] };
  if (deed === 'answer') {
    return request(deed, whom, { action: 'answer', ask_id: ask?.ask_id ?? '', text: field.text });
  }
  return request(deed, whom, { action: 'send', text: field.text, when_ready: whenReady });
}

type Distribute<Body> = Body extends unknown ? Omit<Body, 'ref' | 'pid' | 'hops' | 'conditions'> : never;

/** Only ever to that very run of the agent; what is drastic only in the state that the person saw. */
function request(deed: Deed, whom: Whom, wanted: Distribute<ActBody>): ActingStep {
  const isDrastic = deed === 'kill' || deed === 'interrupt';
  const conditions = { if_runtime: whom.runtime, ...(isDrastic ? { if_state: [whom.state] } : {}) };
  return {
    acting: { is: 'doing', deed, whom },
    commands: [
      {
        do: 'call',
        run: async ({ api, pid, hops }) => ({
          is: 'receipt',
          whom,
          receipt: await api.post('/v1/act', { ...wanted, ref: `runtime:${whom.runtime}`, conditions, pid, hops }),
        }),
        failed: (problem) => ({ is: 'refused', whom, deed, problem }),
      },
    ],
  };
}

/** What became of it, in the words of the receipt (ACT4). */
export function actingAfter(own: ActingOwn): Acting {
  const { whom } = own;
  if (own.is === 'refused') {
    const { message, next, code } = own.problem;
    return { is: 'done', whom, role: 'bad', text: safe(`${own.deed} failed: ${message}; ${next} [${code}]`) };
  }
  const { outcome, failure, words, action, way } = own.receipt;
  if (failure !== null) {
    const { message, next, code } = failure;
    return { is: 'done', whom, role: 'bad', text: safe(`refused: ${message}; ${next} [${code}]`) };
  }
  const by = way === null ? '' : `, by ${way}`;
  const text = safe(`${outcome}: ${action} to ${whom.name}${by}${words === null ? '' : `; ${words}`}`);
  return { is: 'done', whom, role: outcome === 'unconfirmed' ? 'attention' : 'good', text };
}

const safe = (text: string): string => gateLine(foreign(text));
