// The one gate for foreign text (SEC3): pane output, titles, names, payloads, remote data. `foreign` wraps it where it
// comes in; only the functions here turn it into text that may be shown. Escape sequences are found by sequences.ts,
// colours judged by colours.ts; nothing else in the product may print what it did not write itself.

import { assert } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { applySgr, plainStyle, resetSequence, type Style, sgrOf } from './colours.ts';
import type { SafeText } from './safe.ts';
import { Scanner } from './sequences.ts';
import { isInvisible } from './tables.ts';
import { codePointColumns, cut } from './width.ts';

export type { SafeText } from './safe.ts';

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
const newline = 0x0a;
const carriageReturn = 0x0d;
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
