// The typed client of the daemon over its unix socket. It stands on the hot path of every command, so it loads node:net
// and the tables of model/, and no schema library: what comes in was made by our own daemon, whose version is checked.

import { AgtmuxError, type ErrorCode, errors } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { followFeed } from './client-feed.ts';
import type { FeedEvent, FeedRequest, SendOptions } from './client-types.ts';
import { type Answer, sendRequest } from './client-wire.ts';
import type {
  DoneReply,
  PaneList,
  SessionList,
  StatusReply,
  TargetList,
  TargetReply,
  VerdictsReply,
  WindowList,
} from './schemas.ts';
import { apiHeader, apiVersion, versionHeader } from './version.ts';

interface GetReplies {
  readonly '/v1/panes': PaneList;
  readonly '/v1/windows': WindowList;
  readonly '/v1/sessions': SessionList;
  readonly '/v1/targets': TargetList;
  readonly '/v1/status': StatusReply;
}

interface PostReplies {
  readonly '/v1/targets': TargetReply;
  readonly '/v1/events': VerdictsReply;
  readonly '/v1/stop': DoneReply;
  readonly [connect: `/v1/targets/${string}/connect`]: TargetReply;
}

export type QueryValue = string | number | boolean | readonly string[] | undefined;
export type Query = Readonly<Record<string, QueryValue>>;

export interface ApiClient {
  get<Path extends keyof GetReplies>(path: Path, query?: Query): Promise<GetReplies[Path]>;
  /** The body as it came: a table, or JSON that is only passed on. */
  getText(path: keyof GetReplies | `/v1/${string}.json`, query?: Query): Promise<string>;
  post<Path extends keyof PostReplies>(path: Path, body?: unknown): Promise<PostReplies[Path]>;
  delete(path: `/v1/targets/${string}`): Promise<DoneReply>;
  /** Goes on by itself after a loss. Throws when the first connection fails, or when going on is pointless. */
  events(options?: FeedRequest): AsyncGenerator<FeedEvent, void, void>;
  /** The version of the daemon that answered last; null before the first answer. */
  daemonVersion(): string | null;
}

export interface ClientOptions {
  readonly socketPath: string;
  readonly clock: Clock;
}

/** Names may hold anything, also a slash. */
export const targetPath = (name: string): `/v1/targets/${string}` => `/v1/targets/${encodeURIComponent(name)}`;

export function createClient({ socketPath, clock }: ClientOptions): ApiClient {
  let version: string | null = null;

  async function open(options: SendOptions): Promise<Answer> {
    const answer = await sendRequest(socketPath, options);
    try {
      version = checkHandshake(answer, socketPath);
      if (answer.status >= 400) throw errorOf(await readText(answer));
      return answer;
    } catch (error) {
      answer.close();
      throw error;
    }
  }

  const readJson = async (options: SendOptions): Promise<unknown> => parse(await readText(await open(options)));

  return {
    get: <Path extends keyof GetReplies>(path: Path, query: Query = {}) =>
      readJson({ path: path + queryText(query) }) as Promise<GetReplies[Path]>,
    getText: async (path, query = {}) => readText(await open({ path: path + queryText(query) })),
    post: <Path extends keyof PostReplies>(path: Path, body?: unknown) =>
      readJson({ method: 'POST', path, body }) as Promise<PostReplies[Path]>,
    delete: (path) => readJson({ method: 'DELETE', path }) as Promise<DoneReply>,
    events: (options = {}) => followFeed({ ...options, clock, open }),
    daemonVersion: () => version,
  };
}

function queryText(query: Query): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) text.append(name, String(one));
  }
  return text.size === 0 ? '' : `?${text}`;
}

function checkHandshake({ headers }: Answer, socketPath: string): string {
  const api = Number(headers.get(apiHeader) ?? Number.NaN);
  const version = headers.get(versionHeader) ?? 'unknown';
  if (!Number.isSafeInteger(api))
    throw new AgtmuxError('E_SOCKET', `what listens at ${socketPath} is no agtmux daemon`);
  if (api === apiVersion) return version;
  const words = `the daemon (version ${version}) speaks API ${api}, this program API ${apiVersion}`;
  throw new AgtmuxError('E_VERSION', words, {
    next:
      api > apiVersion
        ? 'upgrade agtmux'
        : 'stop the old daemon with `agtmux daemon stop`; the next command starts the new one',
  });
}

async function readText(answer: Answer): Promise<string> {
  const parts: string[] = [];
  let chars = 0;
  try {
    for await (const part of answer.body()) {
      chars += part.length;
      if (chars > limits.replyCharsMax) throw new AgtmuxError('E_TOO_LARGE', 'the answer of the daemon has no end');
      parts.push(part);
    }
  } finally {
    answer.close();
  }
  return parts.join('');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AgtmuxError('E_SOCKET', 'the daemon answered something that is no JSON', { cause });
  }
}

const isErrorCode = (text: unknown): text is ErrorCode => typeof text === 'string' && Object.hasOwn(errors, text);

function errorOf(text: string): AgtmuxError {
  const { error } = parse(text) as { readonly error?: { code?: unknown; message?: unknown; next?: unknown } };
  const message = String(error?.message ?? 'the daemon refused');
  // A newer daemon of the same API may know more codes.
  if (!isErrorCode(error?.code)) return new AgtmuxError('E_INTERNAL', `${message} [${String(error?.code)}]`);
  return new AgtmuxError(error.code, message, { next: String(error.next ?? errors[error.code].next) });
}
