// Requests of the pages to the web server: signs in with the token of the address, sends requests with the key of this browser,
// and tells a refusal, a web server that is off and a dead daemon apart.

import type { SendOptions } from '../api/client-types.ts';
import type { Answer } from '../api/client-wire.ts';
import type { DoneReply } from '../api/common.ts';
import type { ApiRequest } from '../api/requests.ts';
import type { WebEnteredReply, WebPushAddress, WebPushReply, WebSessionReply, WebTicketReply } from '../api/web.ts';
import { AgtmuxError, type ErrorCode, errors, type Failure, failure, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { clock, keep, kept } from './port.ts';

/** Who we are to the web server. */
export type Entrance = Pick<WebSessionReply, 'role' | 'read_only' | 'version'>;

const headers = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  accept: 'application/json',
  'x-agtmux-key': kept('key') ?? '',
  ...more,
});

const isErrorCode = (text: unknown): text is ErrorCode => typeof text === 'string' && Object.hasOwn(errors, text);

const down = (): Failure =>
  failure('E_DAEMON_DOWN', 'the daemon does not respond', 'start it with any agtmux command; this page then continues');

async function failureOf(response: Response): Promise<Failure> {
  try {
    const { error } = (await response.json()) as { error?: { code?: unknown; message?: unknown; next?: unknown } };
    const code = isErrorCode(error?.code) ? error.code : 'E_INTERNAL';
    return failure(code, String(error?.message ?? `the daemon answered ${response.status}`), String(error?.next ?? ''));
  } catch {
    return failure('E_INTERNAL', `the daemon answered ${response.status}`, 'reload the page');
  }
}

/** Told whenever the web server no longer knows this browser. */
let onShut: () => void = () => undefined;
export function whenShut(heard: () => void): void {
  onShut = heard;
}

/** Asks the daemon, by a request of api/requests.ts; what comes back is what its route says. */
export async function send<Reply>({ method = 'GET', path, body }: ApiRequest<Reply>): Promise<Result<Reply>> {
  const patience = AbortSignal.timeout(limits.actAnswerMs);
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const more: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  try {
    const response = await fetch(path, { method, headers: headers(more), signal: patience, ...sent });
    if (response.status === 401) onShut();
    return response.ok ? ok((await response.json()) as Reply) : { ok: false, failure: await failureOf(response) };
  } catch {
    return { ok: false, failure: down() };
  }
}

/** The routes of the web server itself, which stand in no table: getting in and out, and tickets for panes. */
export const webRequests = {
  enter: (token: string): ApiRequest<WebEnteredReply> => ({ method: 'POST', path: '/web/enter', body: { token } }),
  session: (): ApiRequest<WebSessionReply> => ({ path: '/web/session' }),
  leave: (): ApiRequest<DoneReply> => ({ method: 'POST', path: '/web/leave', body: {} }),
  ticket: (ref: string): ApiRequest<WebTicketReply> => ({ method: 'POST', path: '/web/ticket', body: { ref } }),
  push: (): ApiRequest<WebPushReply> => ({ path: '/web/push' }),
  startPush: (body: WebPushAddress): ApiRequest<WebPushReply> => ({ method: 'POST', path: '/web/push', body }),
  stopPush: (): ApiRequest<WebPushReply> => ({ method: 'DELETE', path: '/web/push' }),
};

export type Entering =
  | { readonly type: 'in'; readonly entrance: Entrance }
  | { readonly type: 'shut' | 'down'; readonly failure: Failure };

const tokenOf = (hash: string): string | undefined => /^#token=([0-9a-f]+)$/i.exec(hash)?.[1];
export const hasToken = (): boolean => tokenOf(location.hash) !== undefined;

/** With the token of the address if it has one, else with what this browser has kept. */
export async function enter(): Promise<Entering> {
  const token = tokenOf(location.hash);
  if (token !== undefined) {
    const entered = await send(webRequests.enter(token));
    if (entered.ok) keep('key', entered.value.key);
    if (entered.ok || entered.failure.code !== 'E_DAEMON_DOWN') history.replaceState(null, '', location.pathname);
    if (entered.ok) return { type: 'in', entrance: entered.value };
    // The link was used already: whoever used it here before is still in.
    const known = await knownHere();
    return known.type === 'in' ? known : { type: typeOf(entered.failure), failure: entered.failure };
  }
  return knownHere();
}

async function knownHere(): Promise<Entering> {
  const session = await send(webRequests.session());
  return session.ok
    ? { type: 'in', entrance: session.value }
    : { type: typeOf(session.failure), failure: session.failure };
}

const typeOf = ({ code }: Failure): 'shut' | 'down' => (code === 'E_DAEMON_DOWN' ? 'down' : 'shut');

/** For what is read as it comes: the feed, and the messages of a session. Throws as the client of the socket does. */
export async function open({ path, headers: more = {}, signal, silenceMs }: SendOptions): Promise<Answer> {
  const silence = new AbortController();
  let cancel: () => void = () => undefined;
  const heard = (): void => {
    cancel();
    cancel = clock.after(silenceMs ?? limits.feedSilenceMs, () => silence.abort());
  };
  heard();
  const either = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]);
  const close = (): void => {
    cancel();
    silence.abort();
  };
  try {
    const response = await fetch(path, { headers: headers(more), signal: either });
    if (response.status === 401) onShut();
    if (!response.ok || response.body === null) {
      const { code, message, next } = await failureOf(response);
      throw new AgtmuxError(code, message, { next });
    }
    const body = bodyOf(response.body, heard);
    return { status: response.status, headers: new Map(response.headers), body: () => body, close };
  } catch (error) {
    close();
    throw error instanceof AgtmuxError ? error : new AgtmuxError('E_DAEMON_DOWN', down().message, { cause: error });
  }
}

async function* bodyOf(stream: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<string, void, void> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      heard();
      yield decoder.decode(chunk.value, { stream: true });
    }
  } catch (cause) {
    throw new AgtmuxError('E_DAEMON_DOWN', 'the connection to the daemon was lost', { cause });
  } finally {
    reader.releaseLock();
  }
}
