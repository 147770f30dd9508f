// From what a terminal sends to keys and pastes. Pure: what is not yet whole waits in the state; whoever reads the terminal
// says when nothing more came, and then a lone escape is the key.

import type { Key, MouseWhat } from './contract.ts';

export type Input = KeyInput | MouseInput | { readonly is: 'paste'; readonly text: string };

export interface MouseInput {
  readonly is: 'mouse';
  readonly what: MouseWhat;
  /** Both from 0. */
  readonly column: number;
  readonly row: number;
}

export interface KeyInput {
  readonly is: 'key';
  readonly key: Key;
  /** It came in one piece with others: nobody types so fast, a terminal that does not mark its pastes does. */
  readonly isBurst?: boolean;
}

/** What came and is not a key yet: the start of a sequence, or of a paste. */
export interface InputState {
  readonly waiting: string;
  /** Null outside of a paste. */
  readonly pasted: string | null;
}

export const noInput: InputState = { waiting: '', pasted: null };

export interface InputStep {
  readonly state: InputState;
  readonly inputs: readonly Input[];
}

const esc = '\u001b';
const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';
/** A paste beyond this is cut: nobody types that much into a filter or a message here. */
const pasteCharsMax = 65_536;

const letters: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  Z: 'shift+tab',
};
const numbers: Readonly<Record<string, string>> = {
  '1': 'home',
  '3': 'delete',
  '4': 'end',
  '5': 'pageup',
  '6': 'pagedown',
  '7': 'home',
  '8': 'end',
};
const controls: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
};

export function readInput(before: InputState, chunk: string): InputStep {
  const inputs: Input[] = [];
  let { waiting, pasted } = before;
  waiting += chunk;
  while (waiting !== '') {
    if (pasted !== null) {
      const end = waiting.indexOf(pasteEnd);
      // Its end may itself have come in halves.
      const kept = end >= 0 ? end : Math.max(0, waiting.length - pasteEnd.length + 1);
      pasted = (pasted + waiting.slice(0, kept)).slice(0, pasteCharsMax);
      waiting = waiting.slice(end >= 0 ? end + pasteEnd.length : kept);
      if (end < 0) break;
      inputs.push({ is: 'paste', text: pasted });
      pasted = null;
      continue;
    }
    const taken = takeOne(waiting);
    if (taken === null) break;
    waiting = waiting.slice(taken.chars);
    if (taken.key === pasteStart) pasted = '';
    else if (taken.mouse !== undefined) inputs.push(taken.mouse);
    else if (taken.key !== null) inputs.push({ is: 'key', key: taken.key });
  }
  return { state: { waiting, pasted }, inputs };
}

/** Nothing more came: a sequence that stays a beginning is the escape key, and what followed it. */
export function endInput({ waiting, pasted }: InputState): InputStep {
  if (pasted !== null || waiting === '') return { state: { waiting, pasted }, inputs: [] };
  const rest = waiting.startsWith(esc) ? readInput(noInput, waiting.slice(1)) : { state: noInput, inputs: [] };
  return { state: rest.state, inputs: [{ is: 'key', key: 'esc' }, ...rest.inputs] };
}

export const asBurst = (inputs: readonly Input[]): readonly Input[] =>
  inputs.length < 2 ? inputs : inputs.map((input) => (input.is === 'key' ? { ...input, isBurst: true } : input));

interface Taken {
  readonly chars: number;
  /** Null: understood, and no key. */
  readonly key: string | null;
  readonly mouse?: MouseInput;
}

/** Null: it needs what comes next. */
function takeOne(text: string): Taken | null {
  const first = String.fromCodePoint(text.codePointAt(0) ?? 0);
  if (first !== esc) return { chars: first.length, key: plainKey(first) };
  const second = text[1];
  if (second === undefined) return null;
  if (second === '[') return takeSequence(text);
  if (second === 'O') {
    const third = text[2];
    if (third === undefined) return null;
    // The enter of a number pad.
    return { chars: 3, key: third === 'M' ? 'enter' : (letters[third] ?? null) };
  }
  // Two escapes: the first is a key of its own.
  if (second === esc) return { chars: 1, key: 'esc' };
  const after = String.fromCodePoint(text.codePointAt(1) ?? 0);
  return { chars: 1 + after.length, key: `alt+${plainKey(after) ?? ''}` };
}

function plainKey(character: string): string | null {
  const named = controls[character];
  if (named !== undefined) return named;
  const code = character.codePointAt(0) ?? 0;
  if (code === 0) return 'ctrl+space';
  if (code < 0x20) return `ctrl+${String.fromCharCode(code + 0x60)}`;
  return code >= 0x80 && code < 0xa0 ? null : character;
}

const sequence = /^\u001b\[([0-9;:<=>?]*)[ -/]*([@-~])/;
/** Longer than any sequence of a key: what never ends is thrown away. */
const sequenceCharsMax = 32;

function takeSequence(text: string): Taken | null {
  if (text.startsWith(pasteStart)) return { chars: pasteStart.length, key: pasteStart };
  const match = sequence.exec(text);
  if (match === null) return text.length > sequenceCharsMax ? { chars: text.length, key: null } : null;
  const [whole, parameters = '', final = ''] = match;
  const [number = '', modifier = ''] = parameters.split(';');
  const mouse = parameters.startsWith('<') && final === 'M' ? mouseOf(parameters.slice(1)) : null;
  if (mouse !== null) return { chars: whole.length, key: null, mouse };
  // What begins with one of these is an answer of the terminal, or a mouse.
  const isPrivate = /^[<=>?]/.test(parameters);
  const name = isPrivate ? undefined : final === '~' ? numbers[number] : letters[final];
  if (name === undefined) return { chars: whole.length, key: null };
  return { chars: whole.length, key: withModifier(name, modifier) };
}

const buttons: Readonly<Record<string, MouseWhat>> = { '0': 'press', '64': 'wheelup', '65': 'wheeldown' };

/** Presses of the left button and the wheel; releases, drags and other buttons mean nothing here. */
function mouseOf(parameters: string): MouseInput | null {
  const [button = '', column = '', row = ''] = parameters.split(';');
  const what = buttons[button];
  if (what === undefined || !/^\d{1,5}$/.test(column) || !/^\d{1,5}$/.test(row)) return null;
  return { is: 'mouse', what, column: Number(column) - 1, row: Number(row) - 1 };
}

/** As xterm counts them: one more than the sum of shift 1, alt 2, ctrl 4. */
function withModifier(name: string, modifier: string): string {
  const bits = Math.max(0, Number(modifier || '1') - 1);
  const parts = [(bits & 4) === 0 ? '' : 'ctrl+', (bits & 2) === 0 ? '' : 'alt+', (bits & 1) === 0 ? '' : 'shift+'];
  return `${parts.join('')}${name}`;
}
