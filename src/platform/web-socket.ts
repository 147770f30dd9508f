// A client of a web socket that stands behind a unix socket of the same user. One connection: it opens or not, carries
// text both ways and ends once; whoever wants another one makes it.

import { realpath, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { type RawData, WebSocket } from 'ws';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from './clock.ts';
import { assertAbsolute, errorCodeOf } from './files.ts';
import { checkSocketPath } from './net.ts';

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

export function connectWebSocket(clock: Clock, path: string, handlers: StreamHandlers): TextStream {
  assertAbsolute(path);
  return new WebSocketClient(clock, path, handlers);
}

/** What `close` of a web socket says when no closing frame came (RFC 6455, 7.1.5). */
const cutCode = 1006;

class WebSocketClient implements TextStream {
  readonly #clock: Clock;
  readonly #handlers: StreamHandlers;
  #socket: WebSocket | null = null;
  #cancelTimer: Cancel | null = null;
  #heardAt = 0;
  #isOpened = false;
  #over = false;

  constructor(clock: Clock, path: string, handlers: StreamHandlers) {
    this.#clock = clock;
    this.#handlers = handlers;
    void this.#begin(path);
  }

  send(text: string): boolean {
    const socket = this.#open();
    if (socket === null || socket.bufferedAmount > limits.streamBacklogBytesMax) return false;
    socket.send(text);
    return true;
  }

  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#release();
  }

  #open(): WebSocket | null {
    const socket = this.#socket;
    return this.#over || socket?.readyState !== WebSocket.OPEN ? null : socket;
  }

  async #begin(path: string): Promise<void> {
    const checked = await socketAt(path);
    if (this.#over) return;
    if ('code' in checked) {
      this.#end(checked.code);
      return;
    }
    this.#cancelTimer = this.#clock.after(limits.streamConnectMs, () => this.#end('ETIMEDOUT'));
    this.#connect(checked.path);
  }

  #connect(path: string): void {
    const options = {
      // By itself and not as `ws+unix:`: a path may have a colon in it.
      createConnection: () => connect({ path }),
      perMessageDeflate: false,
      maxPayload: limits.streamPayloadBytesMax,
      // Answered here, where it is seen whether the server reads.
      autoPong: false,
      // A server that says goodbye and keeps the connection is not waited for.
      closeTimeout: limits.streamRetryFirstMs,
    };
    const socket = new WebSocket('ws://localhost/', options);
    this.#socket = socket;
    socket.on('unexpected-response', (_request, response) => {
      response.resume();
      this.#end(`the server answered ${response.statusCode ?? 0} instead of an upgrade`);
    });
    socket.on('error', (error) => this.#end(troubleOf(error, this.#isOpened)));
    socket.on('close', (code) => this.#end(code === cutCode ? 'the connection was cut' : 'the server closed it'));
    socket.on('open', () => this.#opened());
    socket.on('message', (data, isBinary) => this.#take(data, isBinary));
    socket.on('ping', (data) => {
      this.#heard();
      this.#control((open) => open.pong(data));
    });
    socket.on('pong', () => this.#heard());
  }

  #opened(): void {
    if (this.#over) return;
    this.#isOpened = true;
    this.#cancelTimer?.();
    this.#heard();
    this.#armPing();
    this.#handlers.onOpen();
  }

  #take(data: RawData, isBinary: boolean): void {
    if (this.#over) return;
    this.#heard();
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as ArrayBuffer);
    if (isBinary || bytes.length > limits.streamMessageBytesMax) this.#handlers.onDropped(bytes.length);
    else this.#handlers.onText(bytes.toString());
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
      if (quietMs >= limits.streamPingMs) this.#control((open) => open.ping());
      this.#armPing();
    });
  }

  #control(tell: (open: WebSocket) => void): void {
    const socket = this.#open();
    if (socket === null) return;
    // A server that pings without end and never reads would make us keep every answer.
    if (socket.bufferedAmount > limits.streamBacklogBytesMax) this.#end('the server has stopped reading');
    else tell(socket);
  }

  #end(why: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#release();
    this.#handlers.onEnd(why);
  }

  #release(): void {
    this.#cancelTimer?.();
    this.#socket?.terminate();
  }
}

/** The system's code where there is one; before it was open, whatever else is wrong is no web socket. */
function troubleOf(error: Error, isOpened: boolean): string {
  const code = errorCodeOf(error);
  if (code !== null && !code.startsWith('WS_ERR')) return code;
  return isOpened ? error.message : 'the server is not a WebSocket server';
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
