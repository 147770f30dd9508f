// Sessions over the connection that one ssh client holds, without a local process for each: its control socket is put
// into proxy mode and then carries the messages of the SSH connection protocol (RFC 4254), which are written and read
// here. Each session has a window of its own, so that one which floods or is not read holds up no other.

import { type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ProcessChannel } from '../platform/channel.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { connectPrivate, type PrivateSocket } from '../platform/net.ts';

/** PROTOCOL.mux of OpenSSH; proxy mode is there since 7.4. */
const mux = { hello: 0x00000001, version: 4, askProxy: 0x1000000f, isProxy: 0x8000000f } as const;

/** RFC 4254, section 9. */
const message = {
  open: 90,
  opened: 91,
  notOpened: 92,
  windowAdjust: 93,
  data: 94,
  extendedData: 95,
  eof: 96,
  close: 97,
  request: 98,
  success: 99,
  failure: 100,
} as const;

/** No message is longer: data comes in packets of at most `packetBytesMax`, everything else is short. */
const messageBytesMax = 262_144;
const packetBytesMax = 32_768;

export interface SessionEnd {
  /** Null when it did not exit by itself. */
  readonly status: number | null;
  readonly signal: string | null;
  /** The connection was lost, or the machine runs no programs: nothing is known about the program then. */
  readonly lost: Failure | null;
}

export interface SessionHandlers {
  readonly onData: (bytes: Uint8Array) => void;
  readonly onStderr: (bytes: Uint8Array) => void;
  /** Called once, after the last data. */
  readonly onEnd: (end: SessionEnd) => void;
}

/** What travels between a session and its connection. */
interface Wire {
  readonly clock: Clock;
  send(type: number, ...fields: readonly Field[]): void;
  /** What came cannot be: nothing after it can be trusted. */
  breach(what: string): void;
}

type Field = number | boolean | string | Uint8Array;

export class MuxSession implements ProcessChannel {
  readonly pid = null;
  readonly #wire: Wire;
  readonly #onOver: () => void;
  /** The number by which the other machine knows it. */
  readonly #far: number;
  readonly #packetBytesMax: number;
  #handlers: SessionHandlers | null = null;
  /** What may still be sent, and what may still come. */
  #sendWindow: number;
  #takeWindow: number = limits.sshWindowBytes;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isInputOver = false;
  #isPaused = false;
  #isClosing = false;
  #isOver = false;
  #status: number | null = null;
  #signal: string | null = null;
  #refused: Failure | null = null;
  #cancelDrain: Cancel = () => undefined;

  constructor(wire: Wire, opened: { far: number; window: number; packetBytesMax: number }, onOver: () => void) {
    this.#wire = wire;
    this.#onOver = onOver;
    this.#far = opened.far;
    this.#sendWindow = opened.window;
    this.#packetBytesMax = Math.max(Math.min(opened.packetBytesMax, packetBytesMax), 1);
  }

  /** Runs the line in the login shell over there. Once a session. */
  start(line: string, environment: ReadonlyMap<string, string>, handlers: SessionHandlers): void {
    this.#handlers = handlers;
    for (const [name, value] of environment) this.#send(message.request, 'env', false, name, value);
    this.#send(message.request, 'exec', true, line);
  }

  get writeBacklog(): number {
    return this.#waitingBytes;
  }

  write(bytes: Uint8Array): void {
    if (this.#isOver || this.#isClosing || this.#isInputOver) return;
    // Copied: the caller may use its buffer again.
    this.#waiting.push(new Uint8Array(bytes));
    this.#waitingBytes += bytes.length;
    this.#flush();
  }

  /** Nothing more is written; what waits still goes out first. */
  endInput(): void {
    this.#isInputOver = true;
    this.#flush();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#openWindow();
  }

  end(): void {
    if (this.#isOver || this.#isClosing) return;
    this.#isClosing = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    // sshd lets a program live on that does not read or write; where it can, it ends it on request.
    if (this.#handlers !== null) this.#send(message.request, 'signal', false, 'KILL');
    this.#send(message.close);
    this.#cancelDrain = this.#wire.clock.after(limits.execDrainMs, () => this.finish(null));
  }

  take(type: number, body: Body): void {
    switch (type) {
      case message.data:
        this.#takeData(body.bytes(), false);
        return;
      case message.extendedData:
        body.number();
        this.#takeData(body.bytes(), true);
        return;
      case message.windowAdjust:
        this.#sendWindow += body.number();
        this.#flush();
        return;
      case message.request:
        this.#takeRequest(body);
        return;
      case message.failure:
        this.#refused = failure('E_TARGET_DOWN', 'it let us in but runs no programs');
        this.end();
        return;
      case message.close:
        if (!this.#isClosing) this.#send(message.close);
        this.finish(this.#refused);
        return;
      // Nothing depends on these: the end of output is told by the close that follows.
      case message.eof:
      case message.success:
        return;
      default:
        this.#wire.breach(`message ${type}`);
    }
  }

  finish(lost: Failure | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#cancelDrain();
    this.#onOver();
    this.#handlers?.onEnd({ status: this.#status, signal: this.#signal, lost });
  }

  #send(type: number, ...fields: readonly Field[]): void {
    this.#wire.send(type, this.#far, ...fields);
  }

  #flush(): void {
    while (this.#sendWindow > 0) {
      const [first] = this.#waiting;
      if (first === undefined) break;
      const count = Math.min(first.length, this.#sendWindow, this.#packetBytesMax);
      if (count > 0) this.#send(message.data, first.subarray(0, count));
      this.#sendWindow -= count;
      this.#waitingBytes -= count;
      if (count === first.length) this.#waiting.shift();
      else this.#waiting[0] = first.subarray(count);
    }
    if (!this.#isInputOver || this.#waiting.length > 0 || this.#isClosing || this.#isOver) return;
    this.#isInputOver = false;
    this.#send(message.eof);
  }

  #takeData(bytes: Uint8Array, isStderr: boolean): void {
    this.#takeWindow -= bytes.length;
    if (this.#takeWindow < 0) {
      this.#wire.breach('more than was asked for');
      return;
    }
    if (!this.#isClosing && !this.#isOver) {
      if (isStderr) this.#handlers?.onStderr(bytes);
      else this.#handlers?.onData(bytes);
    }
    this.#openWindow();
  }

  /** In large steps; a session that is paused gets no more than it was promised. */
  #openWindow(): void {
    const used = limits.sshWindowBytes - this.#takeWindow;
    if (this.#isPaused || this.#isClosing || this.#isOver || used < limits.sshWindowBytes / 2) return;
    this.#takeWindow += used;
    this.#send(message.windowAdjust, used);
  }

  #takeRequest(body: Body): void {
    const name = body.text();
    const wantsReply = body.boolean();
    // One that was ended did not leave by itself, whatever it says now.
    if (name === 'exit-status' && !this.#isClosing) this.#status = body.number();
    else if (name === 'exit-signal') this.#signal = `SIG${body.text()}`;
    if (wantsReply) this.#send(message.failure);
  }
}

interface Opening {
  readonly tell: (session: Result<MuxSession> | 'refused') => void;
  readonly onOver: () => void;
}

/** One control socket in proxy mode. It lives as long as the client that holds the connection. */
export class SshMux {
  readonly #socket: PrivateSocket;
  readonly #wire: Wire;
  readonly #opening = new Map<number, Opening>();
  readonly #sessions = new Map<number, MuxSession>();
  #rest: Buffer = Buffer.alloc(0);
  /** When something last came, by the clock of steps. */
  heardAtMs = Number.NEGATIVE_INFINITY;
  #lastId = 0;
  #over: Failure | null = null;
  /** Steps of the handshake: hello, then the answer to the request for proxy mode. */
  #isProxy = false;
  #tellReady: (result: Result<null>) => void = () => undefined;

  private constructor(socket: PrivateSocket, clock: Clock) {
    this.#socket = socket;
    this.#wire = {
      clock,
      send: (type, ...fields) => this.#send(type, fields),
      breach: (what) => this.close(failure('E_TARGET_DOWN', `the connection carries what cannot be: ${what}`)),
    };
    socket.on('data', (chunk: Uint8Array) => this.#take(chunk));
    socket.once('close', () => this.close(failure('E_TARGET_DOWN', 'the shared connection is over')));
  }

  static async open(path: string, clock: Clock, deadlineMs: number): Promise<Result<SshMux>> {
    const socket = await connectPrivate(path, { clock, deadlineMs, onTrouble: () => undefined });
    if (!socket.ok)
      return fail('E_TARGET_DOWN', `the ssh client does not share its connection: ${socket.failure.message}`);
    const made = new SshMux(socket.value, clock);
    const cancel = clock.after(deadlineMs, () => made.#wire.breach('no answer'));
    const ready = await new Promise<Result<null>>((resolve) => {
      made.#tellReady = resolve;
      if (made.#over !== null) resolve({ ok: false, failure: made.#over });
      socket.value.write(framed([numberBytes(mux.hello), numberBytes(mux.version)]));
    });
    cancel();
    return ready.ok ? ok(made) : ready;
  }

  /** A session that is ready to start a program, and is over once; `refused` when the machine allows no more of them. */
  session(onOver: () => void): Promise<Result<MuxSession> | 'refused'> {
    const over = this.#over;
    if (over !== null) return Promise.resolve({ ok: false, failure: over });
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#opening.set(id, { tell: resolve, onOver });
      this.#send(message.open, ['session', id, limits.sshWindowBytes, packetBytesMax]);
    });
  }

  close(why: Failure): void {
    if (this.#over !== null) return;
    this.#over = why;
    this.#socket.destroy();
    this.#tellReady({ ok: false, failure: why });
    for (const { tell } of [...this.#opening.values()]) tell({ ok: false, failure: why });
    this.#opening.clear();
    for (const session of [...this.#sessions.values()]) session.finish(why);
  }

  #send(type: number, fields: readonly Field[]): void {
    if (this.#over === null) this.#socket.write(framed([Uint8Array.of(0, type), ...fields.map(fieldBytes)]));
  }

  #take(chunk: Uint8Array): void {
    if (this.#isProxy) this.heardAtMs = this.#wire.clock.monotonicMs();
    this.#rest = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (this.#over === null && this.#rest.length - at >= 4) {
      const length = this.#rest.readUInt32BE(at);
      if (length > messageBytesMax) {
        this.#wire.breach('a message without end');
        return;
      }
      if (this.#rest.length - at - 4 < length) break;
      this.#takeMessage(this.#rest.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    this.#rest = this.#rest.subarray(at);
  }

  #takeMessage(bytes: Buffer): void {
    const body = new Body(bytes);
    try {
      if (this.#isProxy) this.#takePacket(body);
      else this.#shakeHands(body.number());
    } catch (error) {
      if (!(error instanceof ShortMessage)) throw error;
      this.#wire.breach('a message that is cut short');
    }
  }

  #shakeHands(type: number): void {
    if (type === mux.hello) {
      this.#socket.write(framed([numberBytes(mux.askProxy), numberBytes(0)]));
    } else if (type === mux.isProxy) {
      this.#isProxy = true;
      this.#tellReady(ok(null));
    } else {
      this.close(
        failure('E_TARGET_DOWN', 'the ssh client cannot share its connection', 'install OpenSSH 7.4 or a newer one'),
      );
    }
  }

  #takePacket(body: Body): void {
    body.skip(1);
    const type = body.byte();
    // Questions to the client as a whole are answered by the client.
    if (type < message.open || type > message.failure) return;
    const id = body.number();
    if (type === message.opened || type === message.notOpened) this.#opened(id, type, body);
    // One that has ended here may still be told something.
    else this.#sessions.get(id)?.take(type, body);
  }

  #opened(id: number, type: number, body: Body): void {
    const opening = this.#opening.get(id);
    this.#opening.delete(id);
    if (opening === undefined) return;
    if (type === message.notOpened) {
      opening.tell('refused');
      return;
    }
    const opened = { far: body.number(), window: body.number(), packetBytesMax: body.number() };
    const session = new MuxSession(this.#wire, opened, () => {
      this.#sessions.delete(id);
      opening.onOver();
    });
    this.#sessions.set(id, session);
    opening.tell(ok(session));
  }
}

class ShortMessage extends Error {}

/** Reads the fields of a message; a field that is not there throws. */
class Body {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  skip(count: number): number {
    const at = this.#at;
    if (at + count > this.#bytes.length) throw new ShortMessage();
    this.#at += count;
    return at;
  }

  byte(): number {
    return this.#bytes.readUInt8(this.skip(1));
  }

  boolean(): boolean {
    return this.byte() !== 0;
  }

  number(): number {
    return this.#bytes.readUInt32BE(this.skip(4));
  }

  bytes(): Uint8Array {
    const length = this.number();
    const at = this.skip(length);
    // Copied: what is kept of it must not keep everything that came with it.
    return new Uint8Array(this.#bytes.subarray(at, at + length));
  }

  text(): string {
    return new TextDecoder().decode(this.bytes());
  }
}

function numberBytes(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function fieldBytes(field: Field): Uint8Array {
  if (typeof field === 'number') return numberBytes(field);
  if (typeof field === 'boolean') return Uint8Array.of(field ? 1 : 0);
  const bytes = typeof field === 'string' ? new TextEncoder().encode(field) : field;
  return Buffer.concat([numberBytes(bytes.length), bytes]);
}

function framed(parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([numberBytes(length), ...parts]);
}
