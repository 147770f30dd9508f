// The way to a server on another machine: one bounded request with JSON, and one web socket that carries texts both ways. What
// is on the way is TLS's business; whether the address may be plain is decided by who asks.

import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { WebSocket } from 'ws';
import { limits } from '../model/limits.ts';
import type { Clock } from './clock.ts';
import { errorCodeOf } from './error-code.ts';

export interface RemoteRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly deadlineMs: number;
}

export type RemoteAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly text: string }
  | { readonly kind: 'failed'; readonly why: string };

export type AskRemote = (asked: RemoteRequest) => Promise<RemoteAnswer>;

export const createAskRemote =
  (clock: Clock): AskRemote =>
  ({ url, method, headers = {}, body, deadlineMs }) =>
    new Promise<RemoteAnswer>((resolve) => {
      const ask = url.startsWith('https:') ? secureRequest : plainRequest;
      const content = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const asked = ask(url, { method, agent: false, headers: { ...headers, ...content, 'user-agent': 'agtmux' } });
      const settle = (answer: RemoteAnswer): void => {
        cancel();
        resolve(answer);
        asked.destroy();
      };
      const fails = (why: string): void => settle({ kind: 'failed', why });
      const cancel = clock.after(deadlineMs, () => fails('it did not answer in time'));
      asked.on('error', (error) => fails(`it cannot be reached (${errorCodeOf(error) ?? error.message})`));
      asked.on('response', (response) => {
        const pieces: Buffer[] = [];
        let bytes = 0;
        response.on('error', () => fails('the connection was cut'));
        response.on('data', (piece: Buffer) => {
          bytes += piece.length;
          if (bytes > limits.streamMessageBytesMax) fails('its answer is too long');
          else pieces.push(piece);
        });
        response.on('end', () => {
          const text = Buffer.concat(pieces).toString('utf8');
          settle({ kind: 'answered', status: response.statusCode ?? 0, text });
        });
      });
      asked.end(body);
      // Node throws for addresses and headers that it will not send.
    }).catch(
      (error: unknown): RemoteAnswer => ({ kind: 'failed', why: `no request (${errorCodeOf(error) ?? 'EINVAL'})` }),
    );

export interface RemoteSocketHandlers {
  readonly onText: (text: string) => void;
  /** Called once and last; not after `close`. */
  readonly onEnd: (why: string) => void;
}

export interface RemoteSocket {
  /** False when nothing can be sent now: not open, or the other side does not read. */
  send(text: string): boolean;
  close(): void;
}

export type OpenRemoteSocket = (url: string, handlers: RemoteSocketHandlers) => RemoteSocket;

export const createOpenRemoteSocket =
  (clock: Clock): OpenRemoteSocket =>
  (url, handlers) => {
    let isOver = false;
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: limits.hubMessageBytesMax });
    const finish = (why: string | null): void => {
      if (isOver) return;
      isOver = true;
      cancelConnect();
      cancelPing();
      socket.terminate();
      if (why !== null) handlers.onEnd(why);
    };
    const cancelConnect = clock.after(limits.hubConnectMs, () => finish('it did not answer in time'));
    let cancelPing = (): void => undefined;
    let heardAt = clock.monotonicMs();
    const ping = (): void => {
      cancelPing = clock.after(limits.streamPingMs, () => {
        if (clock.monotonicMs() - heardAt > limits.streamPingMs * 2) return finish('it is silent');
        socket.ping();
        ping();
      });
    };
    const heard = (): void => {
      heardAt = clock.monotonicMs();
    };
    socket.on('open', () => {
      cancelConnect();
      heard();
      ping();
    });
    socket.on('pong', heard);
    socket.on('ping', heard);
    socket.on('message', (data, isBinary) => {
      heard();
      if (isOver) return;
      if (isBinary) finish('it sent something that is no text');
      else handlers.onText(String(data));
    });
    socket.on('unexpected-response', (_, response) => finish(`it answered with ${response.statusCode ?? 0}`));
    socket.on('error', (error) => finish(`it cannot be reached (${errorCodeOf(error) ?? error.message})`));
    socket.on('close', () => finish('the connection was cut'));
    return {
      send(text) {
        if (isOver || socket.readyState !== WebSocket.OPEN) return false;
        if (socket.bufferedAmount > limits.hubMessageBytesMax * 4) return false;
        socket.send(text);
        return true;
      },
      close: () => finish(null),
    };
  };
