// The frames of a web socket as a client sees them (RFC 6455): a parser for what a server sends, cut at any byte, and the
// masked frames of our own. Messages over the bound are dropped and told; a server that breaks the rules is told once.

export interface FrameHandlers {
  readonly onText: (text: string) => void;
  readonly onPing: (payload: Uint8Array) => void;
  readonly onClose: () => void;
  /** A message over the bound, or a binary one: stepped over. */
  readonly onDropped: (bytes: number) => void;
  /** The rules are broken; nothing is read any more. */
  readonly onBreach: (what: string) => void;
}

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const controlBytesMax = 125;
/** Longer frames are no messages; the bytes could not even be stepped over in reasonable time. */
const frameBytesMax = 256 * 1_048_576;

interface Frame {
  readonly final: boolean;
  readonly opcode: number;
  readonly bytes: number;
}

/** Pieces of one message that are kept apart. */
const piecesMax = 1_024;

export class FrameParser {
  readonly #messageBytesMax: number;
  readonly #handlers: FrameHandlers;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** Of the header that is not whole yet. */
  #head: Uint8Array = new Uint8Array(0);
  #frame: Frame | null = null;
  /** Bytes of the present frame that are still to come. */
  #missing = 0;
  #control: Uint8Array[] = [];
  #message: Uint8Array[] = [];
  #messageBytes = 0;
  /** What the message under way is; null between messages. */
  #kind: 'text' | 'binary' | null = null;
  #over = false;

  constructor(messageBytesMax: number, handlers: FrameHandlers) {
    this.#messageBytesMax = messageBytesMax;
    this.#handlers = handlers;
  }

  push(chunk: Uint8Array): void {
    let rest = chunk;
    while (!this.#over) {
      if (this.#frame === null) {
        const after = this.#takeHead(rest);
        if (after === null) return;
        rest = after;
      }
      const frame = this.#frame;
      if (frame === null) return;
      const piece = rest.subarray(0, this.#missing);
      rest = rest.subarray(piece.length);
      this.#missing -= piece.length;
      this.#keep(frame, piece);
      if (this.#missing > 0) return;
      this.#frame = null;
      this.#finish(frame);
    }
  }

  /** What follows the header; null when it is not whole yet or not allowed. */
  #takeHead(chunk: Uint8Array): Uint8Array | null {
    const joined = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const [first, second] = joined;
    if (first === undefined || second === undefined) return this.#keepHead(joined);
    const short = second & 0x7f;
    const headBytes = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (joined.length < headBytes) return this.#keepHead(joined);
    const view = new DataView(joined.buffer, joined.byteOffset, joined.length);
    const bytes = short === 126 ? view.getUint16(2) : short === 127 ? Number(view.getBigUint64(2)) : short;
    const frame = { final: (first & 0x80) !== 0, opcode: first & 0x0f, bytes };
    const breach = this.#breachOf(frame, (first & 0x70) !== 0, (second & 0x80) !== 0);
    if (breach !== null) {
      this.#break(breach);
      return null;
    }
    this.#head = new Uint8Array(0);
    this.#frame = frame;
    this.#missing = bytes;
    this.#begin(frame);
    return joined.subarray(headBytes);
  }

  #keepHead(joined: Uint8Array): null {
    this.#head = joined.slice();
    return null;
  }

  #breachOf(frame: Frame, reserved: boolean, masked: boolean): string | null {
    if (reserved) return 'reserved bits are set';
    if (masked) return 'a server does not mask';
    if (frame.bytes > frameBytesMax) return 'a frame without end';
    if (frame.opcode >= opcodes.close) {
      if (!frame.final || frame.bytes > controlBytesMax) return 'a control frame is short and whole';
      return frame.opcode > opcodes.pong ? 'an unknown kind of frame' : null;
    }
    if (frame.opcode > opcodes.binary) return 'an unknown kind of frame';
    const continues = frame.opcode === opcodes.continuation;
    return continues === (this.#kind !== null) ? null : 'pieces of messages out of turn';
  }

  #begin(frame: Frame): void {
    if (frame.opcode >= opcodes.close) {
      this.#control = [];
      return;
    }
    if (frame.opcode === opcodes.text) this.#kind = 'text';
    if (frame.opcode === opcodes.binary) this.#kind = 'binary';
  }

  #keep(frame: Frame, piece: Uint8Array): void {
    if (piece.length === 0) return;
    if (frame.opcode >= opcodes.close) {
      this.#control.push(piece.slice());
      return;
    }
    this.#messageBytes += piece.length;
    if (this.#kind !== 'text' || this.#messageBytes > this.#messageBytesMax) {
      this.#message = [];
      return;
    }
    this.#message.push(piece.slice());
    // Many small pieces cost more than what is in them.
    if (this.#message.length >= piecesMax) this.#message = [Buffer.concat(this.#message)];
  }

  #finish(frame: Frame): void {
    if (frame.opcode === opcodes.ping) this.#handlers.onPing(Buffer.concat(this.#control));
    if (frame.opcode === opcodes.close) {
      this.#over = true;
      this.#handlers.onClose();
    }
    if (frame.opcode >= opcodes.close || !frame.final) return;
    const bytes = this.#messageBytes;
    const pieces = this.#message;
    const isKept = this.#kind === 'text' && bytes <= this.#messageBytesMax;
    this.#kind = null;
    this.#message = [];
    this.#messageBytes = 0;
    if (isKept) this.#tell(pieces);
    else this.#handlers.onDropped(bytes);
  }

  #tell(pieces: readonly Uint8Array[]): void {
    let text: string;
    try {
      text = this.#decoder.decode(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
    } catch {
      this.#break('a text that is not UTF-8');
      return;
    }
    this.#handlers.onText(text);
  }

  #break(what: string): void {
    this.#over = true;
    this.#message = [];
    this.#handlers.onBreach(what);
  }
}

/** A whole frame of a client. The mask has four bytes and is drawn anew for each. */
export function clientFrame(opcode: number, payload: Uint8Array, mask: Uint8Array): Uint8Array {
  const { length } = payload;
  const wide = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const frame = new Uint8Array(2 + wide + 4 + length);
  const view = new DataView(frame.buffer);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (wide === 0 ? length : wide === 2 ? 126 : 127);
  if (wide === 2) view.setUint16(2, length);
  if (wide === 8) view.setBigUint64(2, BigInt(length));
  frame.set(mask, 2 + wide);
  for (let at = 0; at < length; at += 1) frame[6 + wide + at] = (payload[at] ?? 0) ^ (mask[at & 3] ?? 0);
  return frame;
}
