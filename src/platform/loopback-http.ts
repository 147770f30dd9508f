// One bounded request to a server on this machine's loopback. Whether it still is the right server is asked once the
// connection stands and before a byte is sent; no redirect is followed, and no other machine is ever asked.

import { request } from 'node:http';
import { limits } from '../model/limits.ts';
import type { Clock } from './clock.ts';
import { errorCodeOf } from './files.ts';

export interface LoopbackCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly port: number;
  readonly path: string;
  /** JSON; null for none. */
  readonly body: string | null;
  readonly login?: Login;
  /** Longer than usual, for what takes its time. */
  readonly deadlineMs?: number;
}

/** What a server on loopback wants to know first. */
export interface Login {
  readonly user: string;
  readonly password: string;
}

export const loginHeader = ({ user, password }: Login): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

export type LoopbackAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly text: string }
  /** Not a byte of it left. */
  | { readonly kind: 'unsent'; readonly why: string }
  /** It left, and nobody knows what became of it. */
  | { readonly kind: 'lost'; readonly why: string };

export type AskLoopback = (call: LoopbackCall, isStill: () => boolean) => Promise<LoopbackAnswer>;

export const createAskLoopback =
  (clock: Clock): AskLoopback =>
  (call, isStill) =>
    new Promise((resolve) => {
      const asked = request({
        host: '127.0.0.1',
        port: call.port,
        path: call.path,
        method: call.method,
        agent: false,
        headers: {
          accept: 'application/json',
          ...(call.login === undefined ? {} : { authorization: loginHeader(call.login) }),
          ...(call.body === null
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(call.body) }),
        },
      });
      let isSent = false;
      const settle = (answer: LoopbackAnswer): void => {
        cancel();
        resolve(answer);
        asked.destroy();
      };
      const end = (why: string): void => settle({ kind: isSent ? 'lost' : 'unsent', why });
      const cancel = clock.after(call.deadlineMs ?? limits.streamConnectMs, () => end('ETIMEDOUT'));
      asked.on('error', (error) => end(errorCodeOf(error) ?? 'EPROTO'));
      asked.on('socket', (socket) =>
        socket.once('connect', () => {
          if (!isStill()) {
            end('another process listens there');
            return;
          }
          // Nothing leaves before this: headers go out with the first write.
          isSent = true;
          asked.end(call.body ?? undefined);
        }),
      );
      asked.on('response', (response) => {
        const pieces: Buffer[] = [];
        let size = 0;
        response.on('error', (error) => end(errorCodeOf(error) ?? 'EPROTO'));
        response.on('data', (piece: Buffer) => {
          size += piece.length;
          if (size > limits.streamMessageBytesMax) end('its answer is too long');
          else pieces.push(piece);
        });
        response.on('end', () => {
          const text = Buffer.concat(pieces).toString('utf8');
          if (response.complete) settle({ kind: 'answered', status: response.statusCode ?? 0, text });
          else end('the connection was cut');
        });
      });
    });
