// One request and its answer over the unix socket, in HTTP/1.0: no chunks, and the end of the connection is the end of
// the body. By hand on node:net, because loading node:http costs a third of what a whole `agtmux list` may take.

import { connect, type Socket } from 'node:net';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { createPathFiles } from '../platform/file-stat.ts';
import { checkPrivateSocket } from '../platform/private-directory.ts';
import type { SendOptions } from './client-types.ts';
import { apiHeader, apiVersion, callerHopsHeader, callerPidHeader } from './version.ts';

export interface Answer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** Once. Throws when the connection ends before the body does. */
  body(): AsyncGenerator<string, void, void>;
  /** Idempotent. */
  close(): void;
}

const headEnd = Buffer.from('\r\n\r\n');

/** Whoever listens there is our own user or root, or not a word is said (SEC1). */
async function refuseStrangers(socketPath: string): Promise<void> {
  const checked = await checkPrivateSocket(createPathFiles(), socketPath, process.getuid?.() ?? 0);
  if (checked.ok) return;
  const { code, message, next } = checked.failure;
  // As the system would say it: nobody was reached, so nothing can have been done.
  const cause = code === 'E_DAEMON_DOWN' ? { cause: Object.assign(new Error(message), { code: 'ENOENT' }) } : {};
  throw new AgtmuxError(code, message, { next, ...cause });
}

export async function sendRequest(socketPath: string, options: SendOptions): Promise<Answer> {
  await refuseStrangers(socketPath);
  const socket = connect({ path: socketPath });
  const close = (): void => void socket.destroy();
  // Stays for good: an error after the last read must find a handler too.
  socket.on('error', () => undefined);
  socket.setTimeout(options.silenceMs ?? limits.answerMs, () => {
    socket.destroy(new AgtmuxError('E_DAEMON_DOWN', `the daemon at ${socketPath} does not respond`));
  });
  options.signal?.addEventListener('abort', close, { once: true });
  socket.once('close', () => options.signal?.removeEventListener('abort', close));
  if (options.signal?.aborted === true) close();
  socket.write(requestText(options));
  const chunks = chunksOf(socket, socketPath);
  try {
    const { text, rest } = await readHead(chunks);
    const { status, headers } = parseHead(text, socketPath);
    return { status, headers, body: () => readBody(rest, chunks, headers), close };
  } catch (error) {
    close();
    throw error;
  }
}

function requestText(options: SendOptions): string {
  const { method = 'GET', path, headers = {}, body, caller, isAnyVersion = false } = options;
  const text = body === undefined ? null : JSON.stringify(body);
  const lines = [
    `${method} ${path} HTTP/1.0`,
    'host: agtmux',
    ...(isAnyVersion ? [] : [`${apiHeader}: ${apiVersion}`]),
    ...(caller === undefined ? [] : [`${callerPidHeader}: ${caller.pid}`, `${callerHopsHeader}: ${caller.hops ?? 0}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(text === null ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${text ?? ''}`;
}

/** Pulls, so that a slow consumer slows the daemon down instead of filling memory here. */
async function* chunksOf(socket: Socket, socketPath: string): AsyncGenerator<Buffer, void, void> {
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw wireError(error, socketPath);
  }
}

function wireError(error: unknown, socketPath: string): AgtmuxError {
  if (error instanceof AgtmuxError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  switch (code) {
    case 'ENOENT':
    case 'ECONNREFUSED':
      return new AgtmuxError('E_DAEMON_DOWN', `no daemon listens at ${socketPath}`, { cause: error });
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return new AgtmuxError('E_DAEMON_DOWN', 'the daemon closed the connection', { cause: error });
    default:
      return new AgtmuxError('E_SOCKET', `cannot talk to the daemon at ${socketPath}: ${code}`, { cause: error });
  }
}

async function readHead(chunks: AsyncGenerator<Buffer, void, void>): Promise<{ text: string; rest: Buffer }> {
  let bytes: Buffer = Buffer.alloc(0);
  while (bytes.length <= limits.replyHeadBytesMax) {
    const { done, value } = await chunks.next();
    if (done === true) throw new AgtmuxError('E_DAEMON_DOWN', 'the daemon closed the connection without an answer');
    bytes = Buffer.concat([bytes, value]);
    const end = bytes.indexOf(headEnd);
    if (end >= 0) return { text: bytes.toString('latin1', 0, end), rest: bytes.subarray(end + headEnd.length) };
  }
  throw new AgtmuxError('E_SOCKET', 'the head of the answer is incomplete; this is not an agtmux daemon');
}

function parseHead(text: string, socketPath: string): { status: number; headers: ReadonlyMap<string, string> } {
  const [first = '', ...lines] = text.split('\r\n');
  const status = /^HTTP\/1\.[01] (\d{3}) /.exec(first)?.[1];
  if (status === undefined) throw new AgtmuxError('E_SOCKET', `what listens at ${socketPath} is not an agtmux daemon`);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status: Number(status), headers: new Map(headers) };
}

async function* readBody(
  first: Buffer,
  chunks: AsyncGenerator<Buffer, void, void>,
  headers: ReadonlyMap<string, string>,
): AsyncGenerator<string, void, void> {
  const length = headers.get('content-length');
  const bytesAll = length === undefined ? null : Number(length);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let bytes = first.length;
  if (first.length > 0) yield decoder.decode(first, { stream: true });
  while (bytesAll === null || bytes < bytesAll) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    bytes += value.length;
    yield decoder.decode(value, { stream: true });
  }
  if (bytesAll !== null && bytes < bytesAll) {
    throw new AgtmuxError('E_DAEMON_DOWN', 'the daemon closed the connection in the middle of its answer');
  }
}
