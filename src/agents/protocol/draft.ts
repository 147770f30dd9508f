// What one line of an agent leads to, while it is worked out: a turn that handlers add to. Used inside protocol
// adapters only; what leaves them is a value.

import { fail, ok, type Result } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { MachineEvent, MachineEventKind, SessionMessage } from '../../model/sessions.ts';
import { foreign, sanitizeBlock } from '../../text/sanitize.ts';
import { type Answering, type Incoming, isGentle, type Outgoing, type Turn, type UserAction } from './adapter.ts';

export interface Draft<Memory> {
  memory: Memory;
  readonly at: number;
  /** How much one more ask may hold, by what all sessions hold. */
  readonly asksRoom: number;
  readonly events: MachineEvent[];
  readonly messages: SessionMessage[];
  readonly said: Outgoing[];
  wakeMs?: number | null;
  rejoin?: Readonly<Record<string, string>>;
  tokens?: { readonly input: number; readonly output: number };
}

export const draftOf = <Memory>(
  memory: Memory,
  at: number,
  asksRoom: number = limits.sessionsAsksBytesMax,
): Draft<Memory> => ({
  memory,
  at,
  asksRoom,
  events: [],
  messages: [],
  said: [],
});

export function turnOf<Memory>({
  memory,
  events,
  messages,
  said,
  wakeMs,
  rejoin,
  tokens,
}: Draft<Memory>): Turn<Memory> {
  return {
    memory,
    events,
    messages,
    said,
    ...(wakeMs === undefined ? {} : { wakeMs }),
    ...(rejoin === undefined ? {} : { rejoin }),
    ...(tokens === undefined ? {} : { tokens }),
  };
}

/** Replaces what it names in the memory. */
export function keep<Memory>(draft: Draft<Memory>, change: Partial<Memory>): void {
  draft.memory = { ...draft.memory, ...change };
}

export function tell<Memory>(
  draft: Draft<Memory>,
  kind: MachineEventKind,
  rest: Omit<MachineEvent, 'kind' | 'at'> = {},
): void {
  draft.events.push({ kind, at: draft.at, ...rest });
}

/** A message; the same id again replaces it. */
export function write<Memory>(
  draft: Draft<Memory>,
  message: Pick<SessionMessage, 'id' | 'role' | 'text'> & Partial<Pick<SessionMessage, 'partial' | 'tool'>>,
): void {
  const { id, role, text, partial = false, tool } = message;
  const whole = { id, role, at: draft.at, text: clip(text), partial };
  draft.messages.push(
    tool === undefined ? whole : { ...whole, tool: { ...tool, name: clip(tool.name, limits.detailCharsMax) } },
  );
}

/** The beginning of what is too long, with a mark. */
export function clip(text: string, charsMax: number = limits.sessionMessageCharsMax): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`;
}

/** The end of what is too long: of last words the last count. */
export const lastOf = (text: string, charsMax: number): string =>
  text.length <= charsMax ? text : text.slice(text.length - charsMax);

export const sayLine = <Memory>(draft: Draft<Memory>, line: string): void => {
  draft.said.push({ to: 'stdin', line });
};

/** A value of a table whose keys are foreign: `constructor` and the like are not in it. */
export const own = <Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** What every adapter keeps for ids of its own and for what a program prints beside its protocol. */
export interface Marked {
  /** Stands in every id that is made here: another process of the same session must not use it again. */
  readonly mark: string;
  /** How many ids were made. */
  readonly count: number;
  readonly stray: string;
}

export const freshMarks = (spawnedAt: number): Marked => ({ mark: spawnedAt.toString(36), count: 0, stray: '' });

/** An id of our own: for what is said, and for what has no id of the agent's. */
export function nextId<Memory extends Marked>(draft: Draft<Memory>, what: string): string {
  const { mark, count } = draft.memory;
  draft.memory = { ...draft.memory, count: count + 1 };
  return `${what}-${mark}-${count + 1}`;
}

export function note<Memory>(draft: Draft<Memory>, id: string, text: string | null): void {
  if (text !== null) write(draft, { id, role: 'notice', text });
}

/** Complaints, mostly, and the reason why a program ends. The last ones are kept, as one message. */
export function hearStray<Memory extends Marked>(draft: Draft<Memory>, text: string): void {
  const plain: string = sanitizeBlock(foreign(text));
  if (plain.trim() === '') return;
  const { stray, mark } = draft.memory;
  const grown = lastOf(stray === '' ? plain : `${stray}\n${plain}`, limits.sessionStrayCharsMax);
  draft.memory = { ...draft.memory, stray: grown };
  note(draft, `stray-${mark}`, grown);
}

/** A line that is no message: words are kept, a broken piece of JSON tells nothing. */
export function hearGarbage<Memory extends Marked>(draft: Draft<Memory>, line: string): void {
  if (!/^\s*[{[]/.test(line)) hearStray(draft, line);
}

type Exit = Extract<Incoming, { readonly from: 'exit' }>;

/** Ended before it ever began: what it printed says why (a setting it does not take, a missing login). */
export function hearStillborn<Memory extends Marked>(draft: Draft<Memory>, exit: Exit): void {
  const words = draft.memory.stray.trim();
  if (words !== '' && !isGentle(exit)) tell(draft, 'process_error', { words: lastOf(words, limits.detailCharsMax) });
}

// How much open asks may hold. Each is kept as the agent put it until a person answers, and an agent may ask for ever: what
// goes beyond the bounds is refused unseen, and both sides are told (SES10).

/** An open ask that knows how much it holds. */
export interface Weighed {
  readonly bytes: number;
}

/** What a value takes beside its letters, roughly. */
const nodeBytes = 64;

/** Roughly what a value out of JSON takes in memory; many small things take more than the text they came in. */
export function weightOf(value: unknown): number {
  let bytes = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0 && bytes <= limits.sessionAsksBytesMax) {
    const one = rest.pop();
    bytes += nodeBytes;
    if (typeof one === 'string') bytes += one.length * 2;
    else if (typeof one === 'object' && one !== null) {
      for (const [key, inner] of Object.entries(one)) {
        bytes += key.length * 2;
        rest.push(inner);
      }
    }
  }
  return bytes;
}

export const heldBy = (asks: readonly Weighed[]): number => asks.reduce((sum, { bytes }) => sum + bytes, 0);

/** A little is free, so that others who ask too much silence nobody. */
export function hasRoom<Memory extends { readonly asks: readonly Weighed[] }>(
  { memory, asksRoom }: Draft<Memory>,
  { bytes }: Weighed,
): boolean {
  if (memory.asks.length >= limits.sessionToolsMax) return false;
  const held = heldBy(memory.asks) + bytes;
  if (held <= limits.sessionAsksFreeBytes) return true;
  return held <= limits.sessionAsksBytesMax && bytes <= asksRoom;
}

/** What the agent is told. */
export const fullReason =
  'agtmux rejected this without showing it: too many requests are pending. Wait until they are answered, then ask again.';

/** Where a reply has no place for a reason, it is an error of ours. */
export const fullCode = -32_000;

/** What people are told: the last of them stands for all. */
export function tellRefused<Memory extends Marked>(draft: Draft<Memory>, what: string): void {
  const words = `rejected without being shown, because too many requests are pending: ${clip(what, limits.detailCharsMax)}`;
  note(draft, `full-${draft.memory.mark}`, words);
}

// What is said to a model where a person gave no words of their own.

export const goOn = 'Please continue.';

export const goOnAfterFailure = 'The last request failed before it was finished. Please continue where it stopped.';

/** After a no without a reason. */
export const plainNo = 'The user rejected this. Do not try it another way; continue without it, or say what you need.';

/** What the open asks of all sessions hold together (SES10). */
export class AskBudget {
  #held = 0;

  /** What one more ask of whatever session may take. */
  get left(): number {
    return Math.max(0, limits.sessionsAsksBytesMax - this.#held);
  }

  change(bytes: number): void {
    this.#held += bytes;
  }
}

// What a person does to a session, as protocol adapters carry it out: which deed means which of the few things that an agent can be
// told. Only how it is told differs from adapter to adapter.

export interface ActionHandlers<Memory, Of extends Draft<Memory> = Draft<Memory>> {
  /** A new turn with these words. */
  readonly say: (draft: Of, text: string) => void;
  readonly retry: (draft: Of) => void;
  readonly cancel: (draft: Of) => void;
  readonly answer: (draft: Of, deed: Answering) => Result<null>;
}

/** `failedAsk`: what was asked after a failure of our own; words for it are a new turn. */
export function carryOut<Memory extends { readonly failedAsk: string | null }, Of extends Draft<Memory>>(
  draft: Of,
  deed: UserAction,
  { say, retry, cancel, answer }: ActionHandlers<Memory, Of>,
): Result<null> {
  switch (deed.kind) {
    case 'send':
      if (deed.text.trim() === '') return fail('E_INPUT', 'nothing to send');
      say(draft, deed.text);
      return ok(null);
    case 'continue':
      say(draft, deed.text ?? goOn);
      return ok(null);
    case 'retry':
      retry(draft);
      return ok(null);
    case 'cancel':
      cancel(draft);
      return ok(null);
    case 'approve':
    case 'reject':
    case 'choose':
    case 'write':
      if (deed.kind !== 'write' || deed.ask_id !== draft.memory.failedAsk) return answer(draft, deed);
      say(draft, deed.text);
      return ok(null);
  }
}
