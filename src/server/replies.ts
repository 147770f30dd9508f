// How the server answers: documents, tables, failures, and the two headers by which both sides know whom they talk to.

import { apiHeader, apiVersion, versionHeader } from '../api/version.ts';
import { AgtmuxError, errors, type Failure, failure, type Result } from '../model/errors.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';

/**
 * JSON that is safe to look at in a terminal: characters that do something instead of showing something are escaped,
 * which means the same to every JSON reader (SEC3).
 */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(effects, escapeUnits);
}

const effects =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

export function handshake(version: string): Record<string, string> {
  return { [apiHeader]: String(apiVersion), [versionHeader]: version, 'cache-control': 'no-store' };
}

export function jsonReply(value: unknown, status = 200): Response {
  return new Response(safeJson(value), { status, headers: { 'content-type': 'application/json' } });
}

export function textReply(lines: readonly string[]): Response {
  return new Response(`${lines.join('\n')}\n`, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

/** What a client sent may stand in the message, so it passes the gate like all foreign text. */
export function failureReply({ code, message, next }: Failure): Response {
  const body = { error: { code, message: sanitizeLine(foreign(message)), next: sanitizeLine(foreign(next)) } };
  const reply = jsonReply(body, errors[code].http);
  // What is left of such a body is not read.
  if (code === 'E_TOO_LARGE') reply.headers.set('connection', 'close');
  return reply;
}

/** Defects are told to the log, not to the client. */
export function errorReply(error: unknown, onTrouble: (error: Error) => void): Response {
  if (error instanceof AgtmuxError) return failureReply(failure(error.code, error.message, error.next));
  onTrouble(error instanceof Error ? error : new Error(String(error)));
  return failureReply(failure('E_INTERNAL', 'the daemon failed to answer', 'see its log: `agtmux logs`'));
}

/** The value, or the failure on its way to the one place that answers it. */
export function unwrap<Value>(result: Result<Value>): Value {
  if (result.ok) return result.value;
  const { code, message, next } = result.failure;
  throw new AgtmuxError(code, message, { next });
}
