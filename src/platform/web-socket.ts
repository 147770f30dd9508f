// A client of a web socket that stands behind a unix socket of the same user. One connection: it opens or not, carries
// text both ways and ends once; whoever wants another one makes it.

import { createHash, randomBytes } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from './clock.ts';
import { assertAbsolute, errorCodeOf } from './files.ts';
import { checkSocketPath } from './net.ts';
import { clientFrame, FrameParser, opcodes } from './web-socket-frames.ts';

export interface StreamHandlers {
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  /** Something was too large to be taken; the connection goes on. */
  readonly onDropped: (bytes: number) => void;
  /** Called once and last: the system's code or words. Never after `close`. */
  readonly onEnd: (why: string) => void;
}

export interface TextStream {
  /** False when it cannot be sent now: not open yet, ended, or the other side has stopped reading. */
  send(text: string): boolean;
  close(): void;
}

/** The constant by which a server proves that it understood the request (RFC 6455, 1.3). */
const acceptSalt = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export function connectWebSocket(clock: Clock, path: string, handlers: StreamHandlers): TextStream {
  assertAbsolute(path);
  return new WebSocketClient(clock, path, handlers);
}

class WebSocketClient implements TextStream {
  readonly #clock: Clock;
  readonly #handlers: StreamHandlers;
  #socket: Duplex | null = null;
  #abort: (() => void) | null = null;
  #cancelTimer: Cancel | null = null;
  #heardAt = 0;
  #over = false;

  constructor(clock: Clock, path: string, handlers: StreamHandlers) {
    this.#clock = clock;
    this.#handlers = handlers;
    void this.#begin(path);
  }

  send(text: string): boolean {
    const socket = this.#socket;
    if (this.#over || socket === null || !socket.writable) return false;
    if (socket.writableLength > limits.streamBacklogBytesMax) return false;
    socket.write(clientFrame(opcodes.text, Buffer.from(text), randomBytes(4)));
    return true;
  }

  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#release();
  }

  async #begin(path: string): Promise<void> {
    const checked = await socketAt(path);
    if (this.#over) return;
    if ('code' in checked) {
      this.#end(checked.code);
      return;
    }
    this.#cancelTimer = this.#clock.after(limits.streamConnectMs, () => this.#end('ETIMEDOUT'));
    this.#shake(checked.path);
  }

  #shake(socketPath: string): void {
    const key = randomBytes(16).toString('base64');
    const asked = request({
      socketPath,
      path: '/',
      agent: false,
      headers: {
        host: 'localhost',
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': key,
      },
    });
    this.#abort = () => asked.destroy();
    asked.on('error', (error) => this.#end(errorCodeOf(error) ?? 'EPROTO'));
    asked.on('response', (response) => {
      response.resume();
      this.#end(`the server answered ${response.statusCode ?? 0} instead of an upgrade`);
    });
    asked.on('upgrade', (response, socket, head) => {
      socket.on('error', (error) => this.#end(errorCodeOf(error) ?? 'EPROTO'));
      const expected = createHash('sha1').update(`${key}${acceptSalt}`).digest('base64');
      if (this.#over) socket.destroy();
      else if (response.headers['sec-websocket-accept'] !== expected) {
        socket.destroy();
        this.#end('the server is no web socket');
      } else this.#opened(socket as Socket, head);
    });
    asked.end();
  }

  #opened(socket: Socket, head: Uint8Array): void {
    this.#socket = socket;
    this.#cancelTimer?.();
    this.#heard();
    this.#armPing();
    const parser = new FrameParser(limits.streamMessageBytesMax, {
      onText: (text) => {
        if (!this.#over) this.#handlers.onText(text);
      },
      onPing: (payload) => this.#control(opcodes.pong, payload),
      onClose: () => {
        this.#control(opcodes.close, new Uint8Array(0));
        this.#end('the server closed it');
      },
      onDropped: (bytes) => {
        if (!this.#over) this.#handlers.onDropped(bytes);
      },
      onBreach: (what) => this.#end(what),
    });
    const take = (chunk: Uint8Array): void => {
      if (this.#over) return;
      this.#heard();
      parser.push(chunk);
    };
    socket.on('close', () => this.#end('the connection was cut'));
    socket.on('data', take);
    this.#handlers.onOpen();
    if (head.length > 0) take(head);
  }

  #heard(): void {
    this.#heardAt = this.#clock.monotonicMs();
  }

  /** A server that is stopped, or behind a dead tunnel, keeps its connection open and says nothing. */
  #armPing(): void {
    this.#cancelTimer = this.#clock.after(limits.streamPingMs, () => {
      const quietMs = this.#clock.monotonicMs() - this.#heardAt;
      if (quietMs > limits.streamPingMs * 2) {
        this.#end('the server is silent');
        return;
      }
      if (quietMs >= limits.streamPingMs) this.#control(opcodes.ping, new Uint8Array(0));
      this.#armPing();
    });
  }

  #control(opcode: number, payload: Uint8Array): void {
    const socket = this.#socket;
    if (this.#over || socket === null || !socket.writable) return;
    // A server that pings without end and never reads would make us keep every answer.
    if (socket.writableLength > limits.streamBacklogBytesMax) this.#end('the server has stopped reading');
    else socket.write(clientFrame(opcode, payload, randomBytes(4)));
  }

  #end(why: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#release();
    this.#handlers.onEnd(why);
  }

  #release(): void {
    this.#cancelTimer?.();
    this.#abort?.();
    // Lets what was written go out first; the other side need not agree.
    this.#socket?.end();
    this.#socket?.destroy();
  }
}

/** The socket itself, links resolved: a link may stand under a path that is too long for the system. */
async function socketAt(path: string): Promise<{ readonly path: string } | { readonly code: string }> {
  try {
    const real = await realpath(path);
    const found = await stat(real);
    if (!found.isSocket()) return { code: 'ENOTSOCK' };
    // Someone else's server would be told what we ask, and could tell us anything.
    const ownUid = process.getuid?.() ?? found.uid;
    if (found.uid !== ownUid && found.uid !== 0) return { code: 'EPERM' };
    return checkSocketPath(real, process.platform).ok ? { path: real } : { code: 'ENAMETOOLONG' };
  } catch (error) {
    return { code: errorCodeOf(error) ?? 'EUNKNOWN' };
  }
}
