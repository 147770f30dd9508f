// What one line of an agent leads to, while it is worked out: a turn that handlers add to. Used inside dialects only; what
// leaves them is a value.

import { limits } from '../model/limits.ts';
import type { MachineEvent, MachineEventKind, SessionMessage } from '../model/sessions.ts';
import { foreign, gateBlock } from '../text/gate.ts';
import type { Heard, Said, Turn } from './dialect.ts';
import { isGentle } from './machine-guards.ts';

export interface Draft<Memory> {
  memory: Memory;
  readonly at: number;
  /** How much one more ask may hold, by what all sessions hold. */
  readonly asksRoom: number;
  readonly events: MachineEvent[];
  readonly messages: SessionMessage[];
  readonly said: Said[];
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

/** What every dialect keeps for ids of its own and for what a program prints beside its protocol. */
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
  const plain: string = gateBlock(foreign(text));
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

type Exit = Extract<Heard, { readonly from: 'exit' }>;

/** Ended before it ever began: what it printed says why (a setting it does not take, a missing login). */
export function hearStillborn<Memory extends Marked>(draft: Draft<Memory>, exit: Exit): void {
  const words = draft.memory.stray.trim();
  if (words !== '' && !isGentle(exit)) tell(draft, 'process_error', { words: lastOf(words, limits.detailCharsMax) });
}
