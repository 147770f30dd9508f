// One request and its answer over the daemon's socket, on node:net alone: loading node:http takes longer than the whole
// rest of a command. For the feed, which stays open, there is the client.

import { connect } from 'node:net';
import { AgtmuxError, type ErrorCode, errors } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { SendOptions } from './client-types.ts';
import { apiHeader, apiVersion, versionHeader } from './version.ts';

export interface LeanOptions extends Omit<SendOptions, 'headers' | 'signal'> {
  /** Also from a daemon of another API: for what must work across an upgrade. */
  readonly isAnyVersion?: boolean;
}

export interface LeanReply {
  readonly body: string;
  /** The version of the daemon. */
  readonly version: string;
}

/** Throws what the daemon refuses, and E_DAEMON_DOWN when nobody listens. */
export async function ask(socketPath: string, options: LeanOptions): Promise<LeanReply> {
  const bytes = await exchange(socketPath, requestText(options), options.silenceMs ?? limits.answerMs);
  const { status, headers, body } = parseAnswer(bytes, socketPath);
  const version = headers.get(versionHeader) ?? 'unknown';
  if (options.isAnyVersion !== true) checkApi(headers.get(apiHeader), version, socketPath);
  if (status >= 400) throw refusalOf(body);
  return { body, version };
}

function requestText({ method = 'GET', path, body, isAnyVersion }: LeanOptions): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: agtmux',
    'connection: close',
    ...(isAnyVersion === true ? [] : [`${apiHeader}: ${apiVersion}`]),
    ...(text === '' ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

function exchange(socketPath: string, request: string, silenceMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    const socket = connect({ path: socketPath });
    const give = (error: AgtmuxError): void => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(silenceMs, () =>
      give(new AgtmuxError('E_DAEMON_DOWN', `the daemon at ${socketPath} does not answer`)),
    );
    socket.on('error', (error) => give(connectError(error, socketPath)));
    socket.on('data', (part: Buffer) => {
      parts.push(part);
      bytes += part.length;
      if (bytes > limits.replyCharsMax) give(new AgtmuxError('E_TOO_LARGE', 'the answer of the daemon has no end'));
    });
    socket.on('end', () => {
      socket.destroy();
      resolve(Buffer.concat(parts));
    });
    socket.write(request);
  });
}

function connectError(error: Error, socketPath: string): AgtmuxError {
  const code = 'code' in error ? String(error.code) : error.message;
  switch (code) {
    case 'ENOENT':
    case 'ECONNREFUSED':
      return new AgtmuxError('E_DAEMON_DOWN', `no daemon listens at ${socketPath}`, { cause: error });
    case 'ECONNRESET':
    case 'EPIPE':
      return new AgtmuxError('E_DAEMON_DOWN', 'the daemon ended the connection', { cause: error });
    default:
      return new AgtmuxError('E_SOCKET', `cannot talk to ${socketPath}: ${code}`, { cause: error });
  }
}

interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const headEnd = Buffer.from('\r\n\r\n');

function parseAnswer(bytes: Buffer, socketPath: string): Answer {
  const end = bytes.indexOf(headEnd);
  const [first = '', ...lines] = bytes.toString('latin1', 0, Math.max(end, 0)).split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1] ?? 0);
  if (end < 0 || status === 0) {
    const words = bytes.length === 0 ? 'the daemon ended the connection' : `what listens at ${socketPath} speaks no HTTP`;
    throw new AgtmuxError(bytes.length === 0 ? 'E_DAEMON_DOWN' : 'E_SOCKET', words);
  }
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { status, headers, body: bodyOf(bytes.subarray(end + headEnd.length), headers) };
}

/** An answer that was cut off must not pass for a short one. */
function bodyOf(bytes: Buffer, headers: ReadonlyMap<string, string>): string {
  if (headers.get('transfer-encoding') === 'chunked') return joinChunks(bytes);
  const length = headers.get('content-length');
  if (length !== undefined && bytes.length !== Number(length)) throw cutOff();
  return bytes.toString();
}

function joinChunks(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let place = 0; ; ) {
    const end = bytes.indexOf('\r\n', place);
    const size = end < 0 ? Number.NaN : Number.parseInt(bytes.toString('latin1', place, end), 16);
    if (!Number.isSafeInteger(size) || end + 2 + size > bytes.length) throw cutOff();
    if (size === 0) return Buffer.concat(parts).toString();
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    place = end + 2 + size + 2;
  }
}

const cutOff = (): AgtmuxError => new AgtmuxError('E_DAEMON_DOWN', 'the daemon ended the connection in mid-answer');

function checkApi(said: string | undefined, version: string, socketPath: string): void {
  const api = Number(said ?? Number.NaN);
  if (!Number.isSafeInteger(api)) {
    throw new AgtmuxError('E_SOCKET', `what listens at ${socketPath} is no agtmux daemon`);
  }
  if (api === apiVersion) return;
  throw new AgtmuxError('E_VERSION', `the daemon (version ${version}) speaks API ${api}, this program ${apiVersion}`, {
    next: api > apiVersion ? 'upgrade agtmux' : 'bring it up to date with `agtmux daemon restart`',
  });
}

const isErrorCode = (text: unknown): text is ErrorCode => typeof text === 'string' && Object.hasOwn(errors, text);

function refusalOf(body: string): AgtmuxError {
  let said: { code?: unknown; message?: unknown; next?: unknown } | undefined;
  try {
    said = (JSON.parse(body) as { error?: typeof said }).error;
  } catch {
    said = undefined;
  }
  const message = String(said?.message ?? 'the daemon refused');
  // A newer daemon of the same API may know more codes.
  if (!isErrorCode(said?.code)) return new AgtmuxError('E_INTERNAL', `${message} [${String(said?.code)}]`);
  return new AgtmuxError(said.code, message, { next: String(said.next ?? errors[said.code].next) });
}

export type LeanQuery = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export function withQuery(path: string, query: LeanQuery): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) text.append(name, String(one));
  }
  return text.size === 0 ? path : `${path}?${text}`;
}
