// Reads tmux control mode byte for byte: chunks in, split anywhere; reply blocks, pane output and notifications out. It
// keeps bytes, never decodes them, and holds at most one bounded line and one bounded reply. Nothing is sent from here.

import { limits } from '../../model/limits.ts';

export interface ControlReply {
  /** Seconds since 1970 on tmux's own clock, when the command began. */
  readonly time: number;
  /** The command came from this client; false for the attach itself and for hooks. */
  readonly isOurs: boolean;
  readonly isError: boolean;
  /** The lines of the reply without the last newline. A copy: may be kept. */
  readonly body: Uint8Array;
  /** The reply, or a line of it, was longer than allowed; its rest was dropped. */
  readonly isCut: boolean;
}

/** Called while a chunk is pushed, in the order of the wire. */
export interface ControlHandlers {
  readonly onReply: (reply: ControlReply) => void;
  /** What a pane printed, unescaped. The bytes are valid during the call only. */
  readonly onOutput: (paneNumber: number, bytes: Uint8Array) => void;
  /** `%window-add @3` is told as `window-add` and `@3`. The bytes are valid during the call only. */
  readonly onNotification: (name: string, rest: Uint8Array) => void;
  /** tmux says goodbye; the reason may be empty. */
  readonly onExit: (reason: Uint8Array) => void;
  /** A line that no tmux sends, or one longer than allowed; it was dropped. */
  readonly onBreach: (what: ControlBreach) => void;
}

/** `output_too_long`: a pane printed something that is lost; any other long line is a notification. */
export type ControlBreach = 'line_too_long' | 'output_too_long' | 'not_control_mode' | 'bad_begin' | 'bad_output';

const newline = 0x0a;
const space = 0x20;
const percent = 0x25;
const colon = 0x3a;
const backslash = 0x5c;
const zero = 0x30;

const beginWord = Buffer.from('%begin ');
const endWord = Buffer.from('%end ');
const errorWord = Buffer.from('%error ');
const outputWord = Buffer.from('%output %');
const extendedWord = Buffer.from('%extended-output %');
const exitWord = Buffer.from('%exit');

/** Long enough for every notification tmux knows. */
const nameBytesMax = 64;
const paneDigitsMax = 10;

interface OpenBlock {
  /** `time number flags` exactly as %begin told it: reply text may itself begin with `%end`. */
  readonly key: Buffer;
  readonly time: number;
  readonly isOurs: boolean;
}

export class ControlParser {
  readonly #handlers: ControlHandlers;
  readonly #lineBytesMax: number;
  /** The beginning of a line whose end has not come yet. */
  readonly #carry: GrowingBytes;
  readonly #body: GrowingBytes;
  #block: OpenBlock | null = null;
  #isBodyEmpty = true;
  /** The rest of a line that was too long is passed over. */
  #isSkipping = false;
  #scratch: Buffer = Buffer.allocUnsafe(16_384);

  constructor(handlers: ControlHandlers, bounds: { lineBytesMax?: number; replyBytesMax?: number } = {}) {
    this.#handlers = handlers;
    this.#lineBytesMax = bounds.lineBytesMax ?? limits.controlLineBytesMax;
    this.#carry = new GrowingBytes(this.#lineBytesMax);
    this.#body = new GrowingBytes(bounds.replyBytesMax ?? limits.controlReplyBytesMax);
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    if (this.#carry.length > 0 || this.#isSkipping) {
      const end = bytes.indexOf(newline);
      this.#carryOn(bytes.subarray(0, end === -1 ? bytes.length : end));
      if (end === -1) return;
      start = end + 1;
      this.#endCarry();
    }
    for (let end = bytes.indexOf(newline, start); end !== -1; end = bytes.indexOf(newline, start)) {
      if (end - start > this.#lineBytesMax) this.#dropLine(bytes, start, end);
      else this.#takeLine(bytes, start, end);
      start = end + 1;
    }
    if (start < bytes.length) this.#carryOn(bytes.subarray(start));
  }

  #carryOn(piece: Buffer): void {
    if (this.#isSkipping || this.#carry.append(piece, 0, piece.length)) return;
    this.#isSkipping = true;
    // What was carried may be shorter than the word it begins with.
    const head = Buffer.concat([this.#carry.view().subarray(0, nameBytesMax), piece.subarray(0, nameBytesMax)]);
    this.#carry.clear();
    this.#dropLine(head, 0, head.length);
  }

  /** The rest of the wire is as good as ever: a long line costs its own reply at most. */
  #dropLine(bytes: Buffer, start: number, end: number): void {
    const isOutput = startsWith(bytes, start, end, outputWord) || startsWith(bytes, start, end, extendedWord);
    if (this.#block !== null) this.#body.cut();
    else this.#handlers.onBreach(isOutput ? 'output_too_long' : 'line_too_long');
  }

  #endCarry(): void {
    if (this.#isSkipping) {
      this.#isSkipping = false;
      return;
    }
    const line = this.#carry.view();
    this.#takeLine(line, 0, line.length);
    this.#carry.clear();
  }

  #takeLine(bytes: Buffer, start: number, end: number): void {
    if (this.#block !== null) {
      if (bytes[start] === percent && this.#endBlock(this.#block, bytes, start, end)) return;
      this.#addToBody(bytes, start, end);
    } else if (bytes[start] !== percent) {
      this.#handlers.onBreach('not_control_mode');
    } else if (startsWith(bytes, start, end, outputWord)) {
      this.#takeOutput(bytes, start + outputWord.length, end, false);
    } else if (startsWith(bytes, start, end, extendedWord)) {
      this.#takeOutput(bytes, start + extendedWord.length, end, true);
    } else if (startsWith(bytes, start, end, beginWord)) {
      this.#begin(bytes, start + beginWord.length, end);
    } else {
      this.#notify(bytes, start, end);
    }
  }

  #begin(bytes: Buffer, start: number, end: number): void {
    const words = bytes.toString('latin1', start, Math.min(end, start + nameBytesMax)).split(' ');
    const [time, number, flags] = words.map(Number);
    if (words.length !== 3 || !Number.isSafeInteger(time) || !Number.isSafeInteger(number)) {
      this.#handlers.onBreach('bad_begin');
      return;
    }
    this.#block = {
      key: Buffer.from(bytes.subarray(start, end)),
      time: time ?? 0,
      isOurs: ((flags ?? 0) & 1) === 1,
    };
    this.#isBodyEmpty = true;
    this.#body.clear();
  }

  /** False when the line only looks like the end. */
  #endBlock(block: OpenBlock, bytes: Buffer, start: number, end: number): boolean {
    const isError = startsWith(bytes, start, end, errorWord);
    if (!isError && !startsWith(bytes, start, end, endWord)) return false;
    const keyStart = start + (isError ? errorWord.length : endWord.length);
    if (end - keyStart !== block.key.length || !startsWith(bytes, keyStart, end, block.key)) return false;
    this.#block = null;
    const reply = { time: block.time, isOurs: block.isOurs, isError, isCut: this.#body.isCut };
    this.#handlers.onReply({ ...reply, body: new Uint8Array(this.#body.view()) });
    this.#body.clear();
    return true;
  }

  #addToBody(bytes: Buffer, start: number, end: number): void {
    if (this.#body.isCut) return;
    if (!this.#isBodyEmpty) this.#body.append(lineEnd, 0, 1);
    this.#isBodyEmpty = false;
    this.#body.append(bytes, start, end);
  }

  /** `%output %5 text`, or `%extended-output %5 age ... : text`; `start` is at the pane's number. */
  #takeOutput(bytes: Buffer, start: number, end: number, isExtended: boolean): void {
    let at = start;
    let pane = 0;
    while (at < end && at - start < paneDigitsMax) {
      const digit = (bytes[at] ?? 0) - zero;
      if (digit < 0 || digit > 9) break;
      pane = pane * 10 + digit;
      at += 1;
    }
    if (at === start || bytes[at] !== space || at >= end) {
      this.#handlers.onBreach('bad_output');
      return;
    }
    if (isExtended) {
      while (at < end && !(bytes[at] === colon && bytes[at - 1] === space)) at += 1;
      at += 1;
    }
    if (at + 1 > end) this.#handlers.onBreach('bad_output');
    else this.#handlers.onOutput(pane, this.#unescape(bytes, at + 1, end));
  }

  /** `\033` to its byte. tmux escapes control characters and the backslash, nothing else. */
  #unescape(bytes: Buffer, start: number, end: number): Uint8Array {
    if (this.#scratch.length < end - start) this.#scratch = Buffer.allocUnsafe((end - start) * 2);
    const out = this.#scratch;
    let filled = 0;
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] as number;
      if (byte !== backslash || at + 3 >= end) {
        out[filled] = byte;
      } else {
        const code =
          (((bytes[at + 1] as number) - zero) << 6) |
          (((bytes[at + 2] as number) - zero) << 3) |
          ((bytes[at + 3] as number) - zero);
        out[filled] = code;
        at += 3;
      }
      filled += 1;
    }
    return out.subarray(0, filled);
  }

  #notify(bytes: Buffer, start: number, end: number): void {
    let nameEnd = start + 1;
    while (nameEnd < end && bytes[nameEnd] !== space && nameEnd - start <= nameBytesMax) nameEnd += 1;
    const rest = bytes.subarray(Math.min(nameEnd + 1, end), end);
    if (nameEnd - start === exitWord.length && startsWith(bytes, start, end, exitWord)) this.#handlers.onExit(rest);
    else this.#handlers.onNotification(bytes.toString('latin1', start + 1, nameEnd), rest);
  }
}

const lineEnd = Buffer.from('\n');

function startsWith(bytes: Buffer, start: number, end: number, word: Buffer): boolean {
  if (end - start < word.length) return false;
  for (let index = 0; index < word.length; index += 1) if (bytes[start + index] !== word[index]) return false;
  return true;
}

/** Bytes that came in pieces, copied so that no chunk is kept alive by a piece of it. */
class GrowingBytes {
  readonly #bytesMax: number;
  #buffer: Buffer = Buffer.allocUnsafe(4_096);
  length = 0;
  isCut = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** False when it does not fit; then nothing more is taken until it is cleared. */
  append(bytes: Buffer, start: number, end: number): boolean {
    const length = this.length + end - start;
    if (this.isCut || length > this.#bytesMax) {
      this.isCut = true;
      return false;
    }
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(Math.max(length, this.#buffer.length * 2), this.#bytesMax));
      this.#buffer.copy(larger, 0, 0, this.length);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, this.length, start, end);
    this.length = length;
    return true;
  }

  /** Nothing more is taken until it is cleared. */
  cut(): void {
    this.isCut = true;
  }

  view(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }

  clear(): void {
    // One huge reply must not hold its memory for the rest of the day.
    if (this.#buffer.length > keptBytesMax) this.#buffer = Buffer.allocUnsafe(4_096);
    this.length = 0;
    this.isCut = false;
  }
}

const keptBytesMax = 1_048_576;
