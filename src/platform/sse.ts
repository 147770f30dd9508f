// A client of server-sent events on this machine's loopback, and the parser of such a stream. One connection: it opens or
// not, tells the data of each event and ends once. No other machine is ever asked.

import { type IncomingMessage, request } from 'node:http';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from './clock.ts';
import { errorCodeOf } from './files.ts';
import { type Login, loginHeader } from './loopback-http.ts';
import type { StreamHandlers, TextStream } from './web-socket.ts';

/** Splits the stream into events; only their data is kept. Lines end with CR, LF or both, wherever chunks are cut. */
export class EventStreamParser {
  readonly #charsMax: number;
  readonly #onData: (text: string) => void;
  readonly #onDropped: (chars: number) => void;
  readonly #decoder = new TextDecoder('utf-8');
  #line = '';
  /** Also what was not kept of the line: only a line that never had anything ends an event. */
  #lineChars = 0;
  /** A CR ended the last line: an LF that follows belongs to it. */
  #afterReturn = false;
  #data: string[] = [];
  #eventChars = 0;

  constructor(charsMax: number, onData: (text: string) => void, onDropped: (chars: number) => void) {
    this.#charsMax = charsMax;
    this.#onData = onData;
    this.#onDropped = onDropped;
  }

  push(chunk: Uint8Array): void {
    let text = this.#decoder.decode(chunk, { stream: true });
    if (text === '') return;
    if (this.#afterReturn && text.startsWith('\n')) text = text.slice(1);
    this.#afterReturn = text.endsWith('\r');
    const pieces = text.split(/\r\n|\r|\n/);
    const last = pieces.pop() ?? '';
    for (const piece of pieces) {
      this.#grow(piece);
      this.#endLine();
    }
    this.#grow(last);
  }

  #grow(piece: string): void {
    this.#lineChars += piece.length;
    this.#eventChars += piece.length;
    if (this.#eventChars <= this.#charsMax) {
      this.#line += piece;
      return;
    }
    this.#line = '';
    this.#data = [];
  }

  #endLine(): void {
    const line = this.#line;
    const chars = this.#lineChars;
    this.#line = '';
    this.#lineChars = 0;
    if (chars === 0) this.#endEvent();
    else if (this.#eventChars > this.#charsMax) return;
    else if (line.startsWith('data:')) this.#data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    else if (line === 'data') this.#data.push('');
    // Comments keep a connection awake for days without ending an event.
    else this.#eventChars -= chars;
  }

  #endEvent(): void {
    const data = this.#data;
    const chars = this.#eventChars;
    this.#data = [];
    this.#eventChars = 0;
    if (chars > this.#charsMax) this.#onDropped(chars);
    else if (data.length > 0) this.#onData(data.join('\n'));
  }
}

export function openEventStream(
  clock: Clock,
  from: { readonly port: number; readonly path: string; readonly login?: Login },
  handlers: StreamHandlers,
): TextStream {
  let over = false;
  let cancelTimer: Cancel = () => undefined;
  const asked = request({
    host: '127.0.0.1',
    port: from.port,
    path: from.path,
    agent: false,
    headers: {
      accept: 'text/event-stream',
      'cache-control': 'no-cache',
      ...(from.login === undefined ? {} : { authorization: loginHeader(from.login) }),
    },
  });
  const close = (): void => {
    over = true;
    cancelTimer();
    asked.destroy();
  };
  const end = (why: string): void => {
    if (over) return;
    close();
    handlers.onEnd(why);
  };
  cancelTimer = clock.after(limits.streamConnectMs, () => end('ETIMEDOUT'));
  asked.on('error', (error) => end(errorCodeOf(error) ?? 'EPROTO'));
  asked.on('response', (response) => {
    response.on('error', (error) => end(errorCodeOf(error) ?? 'EPROTO'));
    response.on('close', () => end('the connection was cut'));
    if (over) return;
    const trouble = troubleOf(response);
    if (trouble !== null) {
      end(trouble);
      return;
    }
    cancelTimer();
    handlers.onOpen();
    const tell = (text: string): void => {
      if (!over) handlers.onText(text);
    };
    const parser = new EventStreamParser(limits.streamMessageBytesMax, tell, handlers.onDropped);
    response.on('data', (chunk: Uint8Array) => {
      if (!over) parser.push(chunk);
    });
  });
  asked.end();
  return { send: () => false, close };
}

/** A redirect is not followed: it could lead to another machine. */
function troubleOf(response: IncomingMessage): string | null {
  if (response.statusCode !== 200) return `the server answered ${response.statusCode ?? 0}`;
  const type = response.headers['content-type'] ?? '';
  return type.startsWith('text/event-stream') ? null : 'the server sends no events';
}
