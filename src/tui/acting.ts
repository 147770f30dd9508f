// Acting on an agent from any screen: first what will be done and to what, then the key that does it, then the receipt in
// the same place. Every request names the runtime, and the ask it answers (ACT1, ASK3). Pure.

import type { ActBody, ReceiptReply } from '../api/actions.ts';
import type { AgtmuxError } from '../model/errors.ts';
import { type StateName, statesThatAskNothing } from '../model/states.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import type { AskItem } from '../view/asks.ts';
import type { AgentItem } from '../view/board.ts';
import type { PaintRole } from '../view/paint.ts';
import { placeOf } from '../view/pane-words.ts';
import { agentLabel } from '../view/words.ts';
import type { Command, Key } from './contract.ts';
import { emptyField, fieldKey, fieldOf, insert, type TextField } from './message-field.ts';

/** To whom, as it was when the person decided. */
export interface Whom {
  readonly runtime: string;
  readonly ref: string;
  /** Safe. */
  readonly name: string;
  /** Safe: of thirty agents many have the same name. */
  readonly where: string;
  readonly state: AgentItem['state'];
}

export type ScreenAction = 'approve' | 'reject' | 'answer' | 'send' | 'interrupt' | 'kill' | 'name' | 'resume';

/** What is written, in a line or more. */
type Written = 'send' | 'answer' | 'name';

/** What became of something. */
export interface Done {
  readonly is: 'done';
  readonly whom: Whom;
  readonly text: string;
  readonly role: PaintRole;
}

/** Something a person is in the middle of. */
interface Begun {
  readonly whom: Whom;
  /** What became of the deed before: it waits here, and never takes the place of what is being written. */
  readonly before?: Done;
}

export type Acting =
  | { readonly is: 'none' }
  | (Begun & {
      readonly is: 'confirm';
      readonly deed: Exclude<ScreenAction, Written | 'resume'>;
      readonly ask: AskItem | null;
      /** Lines of the ask above the window. */
      readonly down: number;
    })
  | (Begun & { readonly is: 'choose'; readonly ask: AskItem; readonly down: number })
  | (Begun & {
      readonly is: 'typing';
      readonly deed: Written;
      readonly ask: AskItem | null;
      /** Everyone a message goes to, `whom` among them; null: to that one alone. */
      readonly many: readonly Whom[] | null;
      readonly field: TextField;
      /** Waits in the queue until the agent can take it. */
      readonly whenReady: boolean;
    })
  | { readonly is: 'doing'; readonly deed: ScreenAction; readonly whom: Whom }
  /** One message to many: each has a receipt of its own (SCR6). */
  | { readonly is: 'many'; readonly whom: Whom; readonly total: number; readonly dones: readonly Done[] }
  | Done;

export type ActingOwn =
  | {
      readonly is: 'receipt';
      readonly whom: Whom;
      readonly receipt: ReceiptReply;
      /** The ask that it answered; null when it was about none. */
      readonly askId?: string | null;
    }
  | { readonly is: 'refused'; readonly whom: Whom; readonly deed: ScreenAction; readonly problem: AgtmuxError }
  /** What an editor gave back; null: nothing, with the reason. */
  | { readonly is: 'edited'; readonly text: string | null; readonly words: string };

export const notActing: Acting = { is: 'none' };

export interface ActingStep {
  readonly acting: Acting;
  readonly commands: readonly Command<ActingOwn>[];
}

const still = (acting: Acting): ActingStep => ({ acting, commands: [] });

export const whomOf = (item: AgentItem): Whom => ({
  runtime: item.runtime_id,
  ref: item.ref,
  name: sanitizeLine(foreign(agentLabel(item))),
  where: sanitizeLine(foreign(placeOf(item))),
  state: item.state,
});

const say = (text: string): Command<ActingOwn> => ({ do: 'say', text });

/** What a key begins, for this agent. Null: nothing. */
export function beginActing(key: Key, item: AgentItem | null): ActingStep | null {
  const deed = deeds[key];
  if (deed === undefined) return null;
  if (item === null) return { acting: notActing, commands: [say('No agent is selected.')] };
  const whom = whomOf(item);
  if (item.ended !== null && deed !== 'send' && deed !== 'resume' && deed !== 'name')
    return { acting: notActing, commands: [say(`${whom.name} has ended.`)] };
  const { ask } = item;
  switch (deed) {
    case 'approve':
    case 'reject':
      if (ask === null) return { acting: notActing, commands: [say(`${whom.name} has no pending request.`)] };
      return still({ is: 'confirm', deed, whom, ask, down: 0 });
    case 'answer':
      if (ask === null) return { acting: notActing, commands: [say(`${whom.name} has no pending request.`)] };
      return still(ask.options.length > 0 ? { is: 'choose', whom, ask, down: 0 } : typing('answer', whom, ask));
    case 'send':
      return still(typing('send', whom, null));
    case 'name':
      return still({ ...typing('name', whom, null), field: fieldOf(item.nick ?? '') });
    // Nothing is lost by it: who runs is refused.
    case 'resume':
      return request('resume', whom, { action: 'resume' });
    case 'interrupt':
    case 'kill':
      return still({ is: 'confirm', deed, whom, ask: null, down: 0 });
  }
}

/** One message to everyone who is marked; each is guarded as if it went to them alone. */
export const beginMany = (items: readonly AgentItem[]): Acting => {
  const many = items.map(whomOf);
  const [whom] = many;
  return whom === undefined ? notActing : { ...typing('send', whom, null), many };
};

const deeds: Readonly<Record<Key, ScreenAction>> = {
  a: 'approve',
  r: 'reject',
  e: 'answer',
  s: 'send',
  i: 'interrupt',
  K: 'kill',
  N: 'name',
  R: 'resume',
};

const typing = (deed: Written, whom: Whom, ask: AskItem | null): Extract<Acting, { is: 'typing' }> => ({
  is: 'typing',
  deed,
  whom,
  ask,
  many: null,
  field: emptyField,
  whenReady: false,
});

export const isActing = ({ is }: Acting): boolean => is === 'confirm' || is === 'choose' || is === 'typing';

/** Null: the key is not for what is being done. */
export function actingKey(acting: Acting, key: Key): ActingStep | null {
  switch (acting.is) {
    case 'none':
    case 'doing':
      return null;
    case 'many':
    case 'done':
      return key === 'esc' ? still(notActing) : null;
    case 'confirm':
    case 'choose': {
      const by = scrolls[key];
      if (by !== undefined && acting.ask !== null) {
        return still({ ...acting, down: Math.max(0, Math.min(downMax(acting.ask), acting.down + by)) });
      }
      return acting.is === 'confirm' ? confirmKey(acting, key) : chooseKey(acting, key);
    }
    case 'typing':
      return typingKey(acting, key);
  }
}

/** In what is asked: reading on must never be a key that decides or leaves. */
const scrolls: Readonly<Record<Key, number>> = { up: -1, down: 1, pageup: -5, pagedown: 5 };
/** No ask has more lines than this on the narrowest screen; the view itself stops at its end. */
const downMax = ({ text, options }: AskItem): number =>
  [text, ...options.map(({ label }) => label)].reduce(
    (sum, words) => sum + words.split('\n').length + Math.floor(words.length / 20),
    0,
  );

const withBefore = (next: Acting, { before }: Begun): Acting =>
  before === undefined || next.is !== 'typing' ? next : { ...next, before };

/** What is begun is left: what became of the deed before can be read again. */
const left = ({ before }: Begun): ActingStep => ({ acting: before ?? notActing, commands: [say('Nothing was sent.')] });

export const actingPaste = (acting: Acting, text: string): Acting | null =>
  acting.is === 'typing' ? { ...acting, field: insert(acting.field, text, acting.deed === 'name') } : null;

const confirmKeys: Readonly<Record<Exclude<ScreenAction, Written | 'resume'>, readonly Key[]>> = {
  approve: ['a', 'y', 'enter'],
  reject: ['r', 'y', 'enter'],
  interrupt: ['i', 'y', 'enter'],
  // Nobody kills by pressing one key twice, or with a reflex.
  kill: ['y'],
};

function confirmKey(acting: Extract<Acting, { is: 'confirm' }>, key: Key): ActingStep {
  const { deed, whom, ask } = acting;
  if (!confirmKeys[deed].includes(key)) return left(acting);
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
  if (key === 'e' || key === 't') return still(withBefore(typing('answer', whom, ask), acting));
  const option = /^[1-9]$/.test(key) ? ask.options[Number(key) - 1] : undefined;
  if (option === undefined) return left(acting);
  return request('answer', whom, { action: 'answer', ask_id: ask.ask_id, option: option.id });
}

/** Straight from a digit: the option of the ask that is on the screen. What is not all there is shown first. */
export function answerBy(key: Key, item: AgentItem | null, isWhole: boolean): ActingStep | null {
  const ask = item?.ask ?? null;
  const option = /^[1-9]$/.test(key) ? ask?.options[Number(key) - 1] : undefined;
  if (item === null || ask === null || option === undefined) return null;
  if (!isWhole) return still({ is: 'choose', whom: whomOf(item), ask, down: 0 });
  return request('answer', whomOf(item), { action: 'answer', ask_id: ask.ask_id, option: option.id });
}

function typingKey(acting: Extract<Acting, { is: 'typing' }>, key: Key): ActingStep {
  const { deed, whom, ask, field, whenReady, many } = acting;
  if (key === 'esc') return left(acting);
  if (key === 'ctrl+e' && deed !== 'name')
    return { acting, commands: [{ do: 'edit', text: field.text, done: edited }] };
  if (key === 'tab' && deed === 'send') return still({ ...acting, whenReady: !whenReady });
  if (key !== 'enter') return still({ ...acting, field: fieldKey(field, key, deed === 'name') ?? field });
  if (deed === 'name') return request('name', whom, { action: 'name', nick: field.text.trim() || null });
  if (field.text.trim() === '') return { acting, commands: [say('Type a message first; esc cancels.')] };
  if (deed === 'answer') {
    return request(deed, whom, { action: 'answer', ask_id: ask?.ask_id ?? '', text: field.text });
  }
  const wanted = { action: 'send', text: field.text, when_ready: whenReady } as const;
  if (many === null) return request(deed, whom, wanted);
  const commands = many.flatMap((one) => request(deed, one, wanted, statesThatAskNothing).commands);
  return { acting: { is: 'many', whom, total: many.length, dones: [] }, commands };
}

const edited = (text: string | null, words: string): ActingOwn => ({ is: 'edited', text, words });

type Distribute<Body> = Body extends unknown ? Omit<Body, 'ref' | 'conditions'> : never;

/** Only ever to that very run of the agent; what is drastic only in the state that the person saw. */
function request(
  deed: ScreenAction,
  whom: Whom,
  wanted: Distribute<ActBody>,
  states: readonly StateName[] | null = deed === 'kill' || deed === 'interrupt' ? [whom.state] : null,
): ActingStep {
  const conditions = { if_runtime: whom.runtime, ...(states === null ? {} : { if_state: [...states] }) };
  return {
    acting: { is: 'doing', deed, whom },
    commands: [
      {
        do: 'call',
        run: async ({ api }) => ({
          is: 'receipt',
          whom,
          askId: 'ask_id' in wanted ? (wanted.ask_id ?? null) : null,
          receipt: await api.post('/v1/act', { ...wanted, ref: `runtime:${whom.runtime}`, conditions }),
        }),
        late: (own) => (own.is === 'edited' ? null : doneBy(own)),
        failed: (problem) => ({ is: 'refused', whom, deed, problem }),
      },
    ],
  };
}

/** What became of it, in the words of the receipt (ACT4). */
export function actingAfter(acting: Acting, own: ActingOwn): Acting {
  if (own.is === 'edited') {
    return acting.is === 'typing' && own.text !== null ? { ...acting, field: fieldOf(own.text) } : acting;
  }
  const done = doneBy(own);
  switch (acting.is) {
    case 'many':
      return { ...acting, dones: [...acting.dones, done] };
    case 'confirm':
    case 'choose':
    case 'typing':
      return { ...acting, before: done };
    default:
      return done;
  }
}

function doneBy(own: Exclude<ActingOwn, { is: 'edited' }>): Done {
  const { whom } = own;
  if (own.is === 'refused') {
    const { message, next, code } = own.problem;
    return {
      is: 'done',
      whom,
      role: 'bad',
      text: safe(`${own.deed} to ${nameOf(whom)} failed: ${message}; ${next} [${code}]`),
    };
  }
  const { outcome, failure, words, action, way } = own.receipt;
  if (failure !== null) {
    const { message, next, code } = failure;
    return {
      is: 'done',
      whom,
      role: 'bad',
      text: safe(`refused: ${message}; ${next} [${code}] (${action} to ${nameOf(whom)})`),
    };
  }
  const by = way === null ? '' : `, by ${way}`;
  const text = safe(`${outcome}: ${action} to ${nameOf(whom)}${by}${words === null ? '' : `; ${words}`}`);
  return { is: 'done', whom, role: outcome === 'unconfirmed' ? 'attention' : 'good', text };
}

/** `claude, host/work:1.2` */
export const nameOf = ({ name, where }: Whom): string => `${name}, ${where}`;

const safe = (text: string): string => sanitizeLine(foreign(text));
