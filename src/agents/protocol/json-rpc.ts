// JSON-RPC as values: what a line says, and the lines of requests, replies and notices. Who asked what is kept in a book
// of open calls, so that a reply is known by its purpose. Knows no agent; garbage is null.

import { limits } from '../../model/limits.ts';
import { type Fields, fieldsIn, fieldsOf, parseFields } from '../fields.ts';

export type RpcId = string | number;

type RpcMessage =
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: Fields }
  | { readonly kind: 'notice'; readonly method: string; readonly params: Fields }
  | { readonly kind: 'reply'; readonly id: RpcId; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: RpcId | null; readonly error: RpcError };

export interface RpcError {
  readonly code: number | null;
  readonly message: string;
  readonly data: Fields;
}

/** Our requests that have no reply yet: what each is about, by its id. */
export interface Calls {
  readonly next: number;
  readonly open: Readonly<Record<string, string>>;
}

export const noCalls: Calls = { next: 1, open: {} };

/** Fields that stand in every message: `{ jsonrpc: '2.0' }`, or none for peers that leave it out. */
type Envelope = Readonly<Record<string, string>>;

export const envelope2: Envelope = { jsonrpc: '2.0' };

/** A long one is nobody's: it would be kept for as long as what it names. */
const isId = (value: unknown): value is RpcId =>
  typeof value === 'number' || (typeof value === 'string' && value.length <= limits.idCharsMax);

/** What one line says; null when it is no message at all. */
export function readRpc(line: string): RpcMessage | null {
  const fields = parseFields(line);
  if (fields === null) return null;
  const { id, method } = fields;
  if (typeof method === 'string') {
    const params = fieldsIn(fields.params);
    return isId(id) ? { kind: 'request', id, method, params } : { kind: 'notice', method, params };
  }
  const error = fieldsOf(fields.error);
  if (error !== null) return { kind: 'error', id: isId(id) ? id : null, error: errorOf(error) };
  return isId(id) && Object.hasOwn(fields, 'result') ? { kind: 'reply', id, result: fields.result } : null;
}

interface RpcHearing {
  /** It is no message at all. */
  readonly garbage: (line: string) => void;
  readonly request: (id: RpcId, method: string, params: Fields) => void;
  readonly notice: (method: string, params: Fields) => void;
  readonly reply: (id: RpcId, result: Fields) => void;
  readonly refusal: (id: RpcId | null, error: RpcError) => void;
}

/** Hands one line to whoever is for it. */
export function hearRpc(line: string, { garbage, request, notice, reply, refusal }: RpcHearing): void {
  const message = readRpc(line);
  switch (message?.kind) {
    case undefined:
      garbage(line);
      break;
    case 'request':
      request(message.id, message.method, message.params);
      break;
    case 'notice':
      notice(message.method, message.params);
      break;
    case 'reply':
      reply(message.id, fieldsIn(message.result));
      break;
    case 'error':
      refusal(message.id, message.error);
      break;
  }
}

function errorOf(error: Fields): RpcError {
  const { code, message } = error;
  return {
    code: typeof code === 'number' ? code : null,
    message: typeof message === 'string' && message !== '' ? message : 'an error without a message',
    data: fieldsIn(error.data),
  };
}

/** A request of ours; `purpose` is what its reply will be known by. */
export function call(
  calls: Calls,
  method: string,
  params: unknown,
  envelope: Envelope = {},
  purpose: string = method,
): { readonly calls: Calls; readonly id: number; readonly line: string } {
  const id = calls.next;
  return {
    calls: { next: id + 1, open: { ...calls.open, [id]: purpose } },
    id,
    line: JSON.stringify({ ...envelope, id, method, params }),
  };
}

/** Takes a reply into the book: what it answers, or null when nobody asked (an unknown id, or a second reply). */
export function settle(calls: Calls, id: RpcId | null): { readonly calls: Calls; readonly purpose: string | null } {
  const key = String(id);
  if (id === null || !Object.hasOwn(calls.open, key)) return { calls, purpose: null };
  const { [key]: purpose = null, ...open } = calls.open;
  return { calls: { ...calls, open }, purpose };
}

export const noticeLine = (method: string, params: unknown, envelope: Envelope = {}): string =>
  JSON.stringify({ ...envelope, method, params });

export const replyLine = (id: RpcId, result: unknown, envelope: Envelope = {}): string =>
  JSON.stringify({ ...envelope, id, result });

export const refusalLine = (id: RpcId, code: number, message: string, envelope: Envelope = {}): string =>
  JSON.stringify({ ...envelope, id, error: { code, message } });

/** A method that we do not serve. */
export const methodUnknown = -32601;
