// The one gate for foreign text (SEC3): pane output, titles, names, payloads, remote data. `foreign` wraps it where it
// comes in; only the functions here turn it into text that may be shown. Escape sequences are found by sequences.ts,
// colours judged in the same place; nothing else in the product may print what it did not write itself.

import { assert } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { SafeText } from './safe.ts';
import { isInvisible } from './tables.ts';
import { codePointColumns, cut } from './width.ts';

export type { SafeText } from './safe.ts';

// Finds control sequences in a stream of code points: says of each whether it is text, part of a sequence, or the end
// of a colour sequence. Keeps no text besides the bounded parameters of one sequence; what becomes of text is the
// gate's business.

/** `show`: text, or a control outside any sequence. `skip`: part of a sequence. `style`: a complete SGR sequence. */
type Step = 'show' | 'skip' | 'style';

type State = 'ground' | 'escape' | 'intermediate' | 'csi' | 'string';

const newline = 0x0a;
const carriageReturn = 0x0d;
const bell = 0x07;
const cancel = 0x18;
const substitute = 0x1a;
const escapeStart = 0x1b;

/** What opens a sequence after ESC. `k` is the title sequence of screen and tmux, a string like the others. */
const afterEscape: ReadonlyMap<number, State> = new Map([
  [0x5b, 'csi'],
  [0x5d, 'string'], // OSC
  [0x50, 'string'], // DCS
  [0x58, 'string'], // SOS
  [0x5e, 'string'], // PM
  [0x5f, 'string'], // APC
  [0x6b, 'string'],
]);

/** The 8-bit forms of the same; every other C1 control ends what is open and does nothing else. */
const afterC1: ReadonlyMap<number, State> = new Map([
  [0x9b, 'csi'],
  [0x9d, 'string'],
  [0x90, 'string'],
  [0x98, 'string'],
  [0x9e, 'string'],
  [0x9f, 'string'],
]);

const sgrFinal = 0x6d;
const sgrParameters = /^[0-9;:]*$/;

/**
 * Where terminals disagree about broken sequences, this scanner gives back text early: a line end closes whatever is
 * open (no title, link or clipboard sequence contains one), so an unterminated string hides at most the rest of its
 * line. What is given back is text without any control, safe to show whatever a terminal would have made of it.
 */
class Scanner {
  #state: State = 'ground';
  #parameters = '';

  /** The parameters of the sequence that the last step, `style`, completed. */
  get parameters(): string {
    return this.#parameters;
  }

  step(code: number): Step {
    if (code === newline || code === carriageReturn) return this.#leave('show');
    if (code === cancel || code === substitute) return this.#leave('skip');
    if (code === escapeStart) return this.#enter('escape');
    if (code >= 0x80 && code <= 0x9f) return this.#enter(afterC1.get(code) ?? 'ground');
    if (this.#state === 'ground') return 'show';
    if (this.#state === 'string') return code === bell ? this.#leave('skip') : 'skip';
    // Inside ESC and CSI sequences only ASCII has a meaning; other controls there are ignored, as terminals would do
    // or execute them, and other text shows that the sequence was broken off.
    if (code < 0x20 || code === 0x7f) return 'skip';
    if (code > 0x7f) return this.#leave('show');
    if (this.#state === 'csi') return this.#csi(code);
    if (code < 0x30) return this.#enter('intermediate');
    if (this.#state === 'intermediate') return this.#leave('skip');
    return this.#enter(afterEscape.get(code) ?? 'ground');
  }

  #csi(code: number): Step {
    if (code >= 0x40) return this.#leave(code === sgrFinal && this.#isSgr() ? 'style' : 'skip');
    // One character past the limit is enough to know that the sequence is too long to be believed.
    if (this.#parameters.length <= limits.sgrCharsMax) this.#parameters += String.fromCharCode(code);
    return 'skip';
  }

  /** `CSI > 4 m` and the like end in the same letter, but set modes. */
  #isSgr(): boolean {
    return this.#parameters.length <= limits.sgrCharsMax && sgrParameters.test(this.#parameters);
  }

  #enter(state: State): Step {
    this.#state = state;
    this.#parameters = '';
    return 'skip';
  }

  #leave(step: Step): Step {
    this.#state = 'ground';
    return step;
  }
}

// The allow-list of SGR: colours, bold, dim, italic, underline, inverse and strike. Reads the parameters of one sequence
// into a style and writes a style in one canonical form. Blinking and concealed text are left out on purpose: the one
// disturbs, the other hides.

/** One slot an attribute: bold, dim, italic, underline, inverse, strike, foreground, background. Empty means default. */
type Style = readonly string[];

const plainStyle: Style = ['', '', '', '', '', '', '', ''];
const resetSequence = '\x1b[0m';

const foregroundSlot = 6;
const backgroundSlot = 7;

/** What the parameters without arguments do: the slots they set, and to what. */
const simple: ReadonlyMap<number, { readonly slots: readonly number[]; readonly value: string }> = new Map([
  [1, { slots: [0], value: '1' }],
  [2, { slots: [1], value: '2' }],
  [3, { slots: [2], value: '3' }],
  [4, { slots: [3], value: '4' }],
  [7, { slots: [4], value: '7' }],
  [9, { slots: [5], value: '9' }],
  [21, { slots: [3], value: '4' }],
  [22, { slots: [0, 1], value: '' }],
  [23, { slots: [2], value: '' }],
  [24, { slots: [3], value: '' }],
  [27, { slots: [4], value: '' }],
  [29, { slots: [5], value: '' }],
  [39, { slots: [foregroundSlot], value: '' }],
  [49, { slots: [backgroundSlot], value: '' }],
]);

const isBetween = (value: number, first: number, last: number): boolean => value >= first && value <= last;

function withSlots(style: Style, slots: readonly number[], value: string): Style {
  return style.map((old, slot) => (slots.includes(slot) ? value : old));
}

/** An empty parameter is 0. */
const numberOf = (field: string | undefined): number => Number(field ?? '');

/** `38;5;n` and `38;2;r;g;b` after their first parameter; null when a value is out of range or the kind unknown. */
function extendedColour(ground: number, fields: readonly string[]): string | null {
  const count = numberOf(fields[0]) === 5 ? 1 : 3;
  const values = fields.slice(1, 1 + count).map(numberOf);
  const isWhole = values.length === count && values.every((value) => isBetween(value, 0, 255));
  return isWhole ? [ground, numberOf(fields[0]), ...values].join(';') : null;
}

function slotOfGround(ground: number): readonly number[] {
  if (ground === 38) return [foregroundSlot];
  return ground === 48 ? [backgroundSlot] : []; // 58, the colour of the underline, is read past and left out.
}

function applySimple(style: Style, value: number): Style {
  if (value === 0) return plainStyle;
  if (isBetween(value, 30, 37) || isBetween(value, 90, 97)) return withSlots(style, [foregroundSlot], String(value));
  if (isBetween(value, 40, 47) || isBetween(value, 100, 107)) return withSlots(style, [backgroundSlot], String(value));
  const rule = simple.get(value);
  return rule === undefined ? style : withSlots(style, rule.slots, rule.value);
}

/** One parameter with its arguments behind colons: `4:3`, `38:5:n`, `38:2:r:g:b`, `38:2:space:r:g:b`. */
function applyColons(style: Style, parts: readonly string[]): Style {
  const head = numberOf(parts[0]);
  if (head === 4) return withSlots(style, [3], numberOf(parts[1]) === 0 ? '' : '4');
  const kind = numberOf(parts[1]);
  const isColour = slotOfGround(head).length > 0 && (kind === 2 || kind === 5);
  if (!isColour) return style;
  const values = kind === 2 && parts.length > 5 ? parts.slice(3, 6) : parts.slice(2);
  const colour = extendedColour(head, [String(kind), ...values]);
  return colour === null ? style : withSlots(style, slotOfGround(head), colour);
}

/** The style after one SGR sequence. What is not on the list, or out of range, changes nothing. */
function applySgr(before: Style, parameters: string): Style {
  const fields = parameters.split(';');
  let style = before;
  let next = 0;
  for (const [index, field] of fields.entries()) {
    if (index < next) continue; // An argument of a colour before it.
    const value = numberOf(field);
    if (field.includes(':')) {
      style = applyColons(style, field.split(':'));
    } else if (value === 38 || value === 48 || value === 58) {
      const kind = numberOf(fields[index + 1]);
      if (kind !== 2 && kind !== 5) return style; // How many arguments follow is unknown, so the rest means nothing.
      const colour = extendedColour(value, fields.slice(index + 1));
      if (colour !== null) style = withSlots(style, slotOfGround(value), colour);
      next = index + (kind === 2 ? 5 : 3);
    } else {
      style = applySimple(style, value);
    }
  }
  return style;
}

/** Always from a reset on, so that a style means the same whatever was printed before it. */
function sgrOf(style: Style): string {
  return `\x1b[${['0', ...style.filter((value) => value !== '')].join(';')}m`;
}

/** A box without a handle: printed, joined or serialised by mistake it shows only that something is inside. */
class ForeignText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  static open(foreign: ForeignText): string {
    return foreign.#text;
  }

  toString(): string {
    return '[foreign text]';
  }

  toJSON(): string {
    return this.toString();
  }
}

/** Text that somebody else wrote. Not a string: it cannot be printed, logged or sent before it passed the gate. */
export type Foreign = ForeignText;

export const foreign = (text: string): Foreign => new ForeignText(text);

/**
 * `line`: one line for names, titles and cells; line ends and tabs become spaces, emoji selectors go, so that its
 * width is the same on every terminal. `block`: lines and tabs stay. `coloured`: a block with the allowed SGR, each
 * line closed by itself. `revealed`: for what a person decides on; nothing is taken away, what cannot be shown is
 * replaced by a visible sign.
 */
export type SanitizeMode = 'line' | 'block' | 'coloured' | 'revealed';

export interface Sanitizer {
  /** The safe text that is certain after this chunk. Chunks may end anywhere, also inside a character. */
  push(chunk: string): SafeText;
  /** The rest. A sequence that never ended is dropped. */
  end(): SafeText;
}

const tab = 0x09;

const deleted = 0x7f;
const replacement = 0xfffd;
const ellipsis = '…';

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
const isControl = (code: number): boolean => code < 0x20 || (code >= deleted && code <= 0x9f);
const isLineSeparator = (code: number): boolean => code === 0x2028 || code === 0x2029;
const isEmojiSelector = (code: number): boolean => code === 0xfe0e || code === 0xfe0f;

class StreamGate implements Sanitizer {
  readonly #mode: SanitizeMode;
  readonly #charsMax: number;
  readonly #scanner = new Scanner();
  #out = '';
  #ended = false;
  /** First half of a character whose second half has not come yet; 0 for none. */
  #highSurrogate = 0;
  /** A carriage return waits for what follows: with a newline it is one line end, at the very end it is nothing. */
  #returnWaits = false;
  /** Marks the last character may still get. None at the start of a line: a mark must not change what others wrote. */
  #marksLeft = 0;
  #chars = 0;
  #isFull = false;
  #style: Style = plainStyle;
  /** The sequence of the style that the next character should have, and of the one that was last written. */
  #wanted = resetSequence;
  #written = resetSequence;

  constructor(mode: SanitizeMode, charsMax: number) {
    this.#mode = mode;
    this.#charsMax = charsMax;
  }

  push(chunk: string): SafeText {
    assert(!this.#ended, 'a gate takes nothing after its end');
    for (let index = 0; index < chunk.length; index += 1) this.#takeUnit(chunk.charCodeAt(index));
    return this.#handOver();
  }

  end(): SafeText {
    if (this.#highSurrogate !== 0) this.#takeCode(replacement);
    if (this.#written !== resetSequence) this.#out += resetSequence;
    this.#ended = true;
    return this.#handOver();
  }

  /** Here text becomes safe; everything else only joins or cuts what was handed over. */
  #handOver(): SafeText {
    const out = this.#out as SafeText;
    this.#out = '';
    return out;
  }

  #takeUnit(unit: number): void {
    const high = this.#highSurrogate;
    this.#highSurrogate = 0;
    if (high !== 0 && isLowSurrogate(unit)) {
      this.#takeCode(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
      return;
    }
    if (high !== 0) this.#takeCode(replacement);
    if (isHighSurrogate(unit)) this.#highSurrogate = unit;
    else this.#takeCode(isLowSurrogate(unit) ? replacement : unit);
  }

  #takeCode(code: number): void {
    if (this.#mode === 'revealed') {
      this.#reveal(code);
      return;
    }
    const step = this.#scanner.step(code);
    if (step === 'show') this.#show(code);
    if (step === 'style' && this.#mode === 'coloured') {
      this.#style = applySgr(this.#style, this.#scanner.parameters);
      this.#wanted = sgrOf(this.#style);
    }
  }

  #show(code: number): void {
    if (code === carriageReturn) {
      this.#returnWaits = true;
      return;
    }
    if (code === newline || isLineSeparator(code)) {
      this.#breakLine();
      return;
    }
    if ((isControl(code) && code !== tab) || isInvisible(code)) return;
    if (this.#mode === 'line' && isEmojiSelector(code)) return;
    // A bare carriage return would let a program write over what stands in the row: what follows gets its own line.
    if (this.#returnWaits) this.#breakLine();
    if (code === tab) this.#putTab();
    else if (codePointColumns(code) > 0) this.#putBase(code);
    else if (this.#marksLeft > 0) this.#putMark(code);
  }

  #reveal(code: number): void {
    if (code === newline) this.#breakLine();
    else if (code === tab) this.#putTab();
    else if (code < 0x20) this.#putBase(0x2400 + code);
    else if (code === deleted) this.#putBase(0x2421);
    else if (isControl(code) || isLineSeparator(code) || isInvisible(code)) this.#putBase(replacement);
    else if (codePointColumns(code) > 0) this.#putBase(code);
    else if (this.#marksLeft > 0) this.#putMark(code);
    else this.#putBase(replacement);
  }

  /** Each line of coloured text is closed by itself, so that lines may be shown one by one. */
  #breakLine(): void {
    this.#returnWaits = false;
    this.#marksLeft = 0;
    if (this.#mode === 'line') this.#put(' ', this.#wanted);
    else this.#put('\n', resetSequence);
  }

  #putTab(): void {
    this.#marksLeft = 0;
    this.#put(this.#mode === 'line' ? ' ' : '\t', this.#wanted);
  }

  #putBase(code: number): void {
    this.#marksLeft = limits.combiningMarksMax;
    this.#put(String.fromCodePoint(code), this.#wanted);
  }

  /** In the style of its base: a sequence between the two would tear them apart. */
  #putMark(code: number): void {
    this.#marksLeft -= 1;
    this.#put(String.fromCodePoint(code), this.#written);
  }

  /** Styles are written only before a character that shows them, so they cannot grow the output without bound. */
  #put(text: string, style: string): void {
    if (this.#isFull) return;
    this.#isFull = this.#chars + text.length > this.#charsMax;
    this.#chars += text.length;
    if (style !== this.#written) this.#out += style;
    this.#written = style;
    this.#out += this.#isFull ? ellipsis : text;
  }
}

/** How much each mode gives back in all, unless its caller says otherwise. */
const charsMaxOf: Readonly<Record<SanitizeMode, number>> = {
  line: limits.gateLineCharsMax,
  block: limits.gateBlockCharsMax,
  coloured: limits.gateBlockCharsMax,
  revealed: limits.gateBlockCharsMax,
};

/**
 * The gate for text that comes in pieces: whatever the pieces, their outputs joined are what the whole would give. It
 * keeps no text, so a stream without end may pass `charsMax: Infinity`.
 */
export function createSanitizer(mode: SanitizeMode, options: { readonly charsMax?: number } = {}): Sanitizer {
  return new StreamGate(mode, options.charsMax ?? charsMaxOf[mode]);
}

function pass(mode: SanitizeMode, text: Foreign): SafeText {
  const gate = createSanitizer(mode);
  return `${gate.push(ForeignText.open(text))}${gate.end()}` as SafeText;
}

/** One line: a name, a title, a cell; with `columnsMax` cut to that many columns. */
export function sanitizeLine(text: Foreign, options: { readonly columnsMax?: number } = {}): SafeText {
  const line = pass('line', text);
  return options.columnsMax === undefined ? line : cut(line, options.columnsMax);
}

/** Several lines, without colours. */
export function sanitizeBlock(text: Foreign): SafeText {
  return pass('block', text);
}

/** Several lines as a terminal would colour them. For looking only: colours can make text hard to see. */
export function sanitizeColoured(text: Foreign): SafeText {
  return pass('coloured', text);
}

/** Several lines in which nothing is hidden: the text of an ask, a command that somebody is to approve. */
export function sanitizeRevealed(text: Foreign): SafeText {
  return pass('revealed', text);
}
