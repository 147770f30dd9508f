// One bounded request to a server on this machine's loopback. Whether it still is the right server is asked once the
// connection stands and before a byte is sent; no redirect is followed, and no other machine is ever asked.

import { closeSync, opendirSync, openSync, readlinkSync, readSync } from 'node:fs';
import { request as plainRequest, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { assert } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from './clock.ts';
import { errorCodeOf } from './files.ts';

// One bounded POST to an address that the user, or their browser, chose. No redirect is followed, nothing of the answer is
// kept but its status, and no secret of the address is in what is told about it.

interface PostRequest {
  /** http or https. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly deadlineMs: number;
}

interface PostOutcome {
  /** Null when nobody answered. */
  readonly status: number | null;
  /** Null when it was taken; else why not. */
  readonly problem: string | null;
}

export type Post = (post: PostRequest) => Promise<PostOutcome>;

/** Of JSON, where the headers do not say otherwise. */
export const createPost =
  (clock: Clock): Post =>
  ({ url, headers, body, deadlineMs }) =>
    new Promise<PostOutcome>((resolve) => {
      const ask = url.startsWith('https:') ? secureRequest : plainRequest;
      const asked = ask(url, {
        method: 'POST',
        agent: false,
        headers: {
          'content-type': 'application/json',
          ...headers,
          'content-length': Buffer.byteLength(body),
          'user-agent': 'agtmux',
        },
      });
      const settle = (problem: string | null, status: number | null = null): void => {
        cancel();
        resolve({ status, problem });
        asked.destroy();
      };
      const cancel = clock.after(deadlineMs, () => settle('it did not answer in time'));
      asked.on('error', (error) => settle(`it cannot be reached (${errorCodeOf(error) ?? 'EPROTO'})`));
      asked.on('response', ({ statusCode = 0 }) =>
        settle(statusCode >= 200 && statusCode < 300 ? null : `it answered with ${statusCode}`, statusCode),
      );
      asked.end(body);
      // Node throws for headers it will not send.
    }).catch((error: unknown) => ({ status: null, problem: `it cannot be sent (${errorCodeOf(error) ?? 'EINVAL'})` }));

// Whose process takes connections at a port of this machine's loopback, as Linux shows it in /proc. Synchronous like all
// of /proc. What cannot be seen is not proven: without /proc, and for other users' processes, the answer is no.

/** True only when everything that could take a connection to 127.0.0.1 at this port is held by this very process. */
export type OwnsListener = (pid: number, port: number) => boolean;

export const ownsListener: OwnsListener = (pid, port) => {
  assert(Number.isSafeInteger(pid) && pid > 0, `a pid is a positive number, not ${pid}`);
  const tables = ['tcp', 'tcp6'].map((name) => orNull(() => readWhole(`/proc/self/net/${name}`)));
  // A machine may have no IPv6; without the first table nothing is known.
  if (tables[0] === null) return false;
  const wanted = tables.flatMap((table) => listening(table ?? '', port));
  if (wanted.length === 0) return false;
  const held = orNull(() => socketsOf(pid));
  return held !== null && wanted.every((inode) => held.has(inode));
};

/** 127.0.0.1 in either byte order, or any address; the same seen from IPv6. */
const reachable = /^(?:0100007F|7F000001|0{8}|0{32}|0{16}(?:0000FFFF|FFFF0000)(?:0100007F|7F000001|0{8}))$/;
const listenState = '0A';

function listening(table: string, port: number): readonly string[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      const [address = '', hex = ''] = local.split(':');
      const isWanted = state === listenState && Number.parseInt(hex, 16) === port && reachable.test(address);
      return isWanted ? [inode] : [];
    });
}

/** The system hands such tables out a page at a time. Null when there is more than a machine can need. */
function readWhole(path: string): string | null {
  const handle = openSync(path, 'r');
  try {
    const pieces: Buffer[] = [];
    let size = 0;
    for (;;) {
      const piece = Buffer.alloc(65_536);
      const count = readSync(handle, piece, 0, piece.length, null);
      if (count === 0) return Buffer.concat(pieces).toString('latin1');
      pieces.push(piece.subarray(0, count));
      size += count;
      if (size > limits.socketTableBytesMax) return null;
    }
  } finally {
    closeSync(handle);
  }
}

function socketsOf(pid: number): ReadonlySet<string> {
  const folder = `/proc/${pid}/fd`;
  const sockets = new Set<string>();
  const open = opendirSync(folder);
  try {
    let count = 0;
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
      count += 1;
      if (count > limits.openFilesPerProcessMax) break;
      const { name } = entry;
      const inode = /^socket:\[(\d+)\]$/.exec(orNull(() => readlinkSync(`${folder}/${name}`)) ?? '')?.[1];
      if (inode !== undefined) sockets.add(inode);
    }
  } finally {
    open.closeSync();
  }
  return sockets;
}

/** Processes end while one looks at them, and those of other users are closed to us. */
function orNull<Value>(work: () => Value): Value | null {
  try {
    return work();
  } catch (error) {
    if (errorCodeOf(error) === null) throw error;
    return null;
  }
}

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
