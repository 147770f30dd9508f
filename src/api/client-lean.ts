// One request and its answer, checked: whom we talk to, what it refuses. All that most commands need, and little to load;
// the typed client with the feed stands on it too.

import { AgtmuxError, type ErrorCode, errors } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { SendOptions } from './client-types.ts';
import { type Answer, sendRequest } from './client-wire.ts';
import { type LeanOptions, parseReply } from './requests.ts';
import { apiHeader, apiVersion, buildVersion, versionHeader } from './version.ts';

export interface LeanReply {
  readonly body: string;
  /** The version of the daemon. */
  readonly version: string;
}

/** Throws what the daemon refuses, and E_DAEMON_DOWN when nobody listens. */
export async function ask(socketPath: string, options: LeanOptions): Promise<LeanReply> {
  const { answer, version } = await openAnswer(socketPath, options);
  return { body: await readText(answer), version };
}

/** An answer that was granted, its body still unread. */
export async function openAnswer(
  socketPath: string,
  options: SendOptions,
): Promise<{ readonly answer: Answer; readonly version: string }> {
  const answer = await sendRequest(socketPath, options);
  try {
    const version = answer.headers.get(versionHeader) ?? 'unknown';
    if (options.isAnyVersion !== true) checkApi(answer.headers.get(apiHeader), version, socketPath);
    if (answer.status >= 400) throw refusalOf(await readText(answer), version);
    return { answer, version };
  } catch (error) {
    answer.close();
    throw error;
  }
}

export async function readText(answer: Answer): Promise<string> {
  const parts: string[] = [];
  let chars = 0;
  try {
    for await (const part of answer.body()) {
      chars += part.length;
      if (chars > limits.replyCharsMax) throw new AgtmuxError('E_TOO_LARGE', 'the answer of the daemon is incomplete');
      parts.push(part);
    }
  } finally {
    answer.close();
  }
  return parts.join('');
}

function checkApi(said: string | undefined, version: string, socketPath: string): void {
  const api = Number(said ?? Number.NaN);
  if (!Number.isSafeInteger(api)) {
    throw new AgtmuxError('E_SOCKET', `what listens at ${socketPath} is not an agtmux daemon`);
  }
  if (api === apiVersion) return;
  throw new AgtmuxError('E_VERSION', `the daemon (version ${version}) uses API ${api}, this program ${apiVersion}`, {
    next: api > apiVersion ? 'upgrade agtmux' : 'update it with `agtmux daemon restart`',
  });
}

const isErrorCode = (text: unknown): text is ErrorCode => typeof text === 'string' && Object.hasOwn(errors, text);

function refusalOf(body: string, version: string): AgtmuxError {
  const { error } = parseReply(body) as { readonly error?: { code?: unknown; message?: unknown; next?: unknown } };
  const message = String(error?.message ?? 'the daemon refused');
  // A newer daemon of the same API may know more codes.
  if (!isErrorCode(error?.code)) return new AgtmuxError('E_INTERNAL', `${message} [${String(error?.code)}]`);
  const next = String(error.next ?? errors[error.code].next);
  return ofOtherBuild(new AgtmuxError(error.code, message, { next }), version);
}

/** What a daemon of another build does not know it may only be too old, or too new, for (INS5). */
function ofOtherBuild(refused: AgtmuxError, version: string): AgtmuxError {
  if (buildVersion === null || version === buildVersion) return refused;
  const builds = `the running daemon is version ${version}, this program is ${buildVersion}`;
  if (refused.code === 'E_ROUTE') {
    return new AgtmuxError('E_VERSION', `${builds}: it does not support this request`, {
      next: 'start the daemon of this version: `agtmux daemon restart`',
      cause: refused,
    });
  }
  // One of the version before does not read the headers that say who asks.
  if (refused.code !== 'E_INPUT' && refused.code !== 'E_ROLE') return refused;
  const next = `${refused.next}; ${builds}: if it does not support this yet, run \`agtmux daemon restart\``;
  return new AgtmuxError(refused.code, refused.message, { next, cause: refused });
}
