// The typed client of the daemon: every route with its types, which follow from the table of routes, and the feed. No schema
// library is loaded: what comes in was made by our own daemon, whose version is checked.

import type { Clock } from '../platform/clock.ts';
import { followFeed } from './client-feed.ts';
import { openAnswer, readText } from './client-lean.ts';
import { followSession } from './client-session.ts';
import type { Caller, FeedEvent, FeedRequest, SendOptions, SessionEvent, SessionRequest } from './client-types.ts';
import type { Answer } from './client-wire.ts';
import {
  type ApiRequest,
  type DeletePath,
  type DeleteReply,
  type GetPath,
  type GetQuery,
  type GetReply,
  get,
  type LeanQuery,
  type PostBody,
  type PostPath,
  type PostReply,
  pathTo,
  post,
  remove,
  replyTo,
  type SaidPath,
  withQuery,
} from './requests.ts';
import { editorKeyHeader } from './version.ts';

type How = Pick<SendOptions, 'silenceMs' | 'signal' | 'caller'>;

export interface ApiClient {
  /** What requests.ts has written down. */
  send<Reply>(request: ApiRequest<Reply>, how?: How): Promise<Reply>;
  get<At extends GetPath>(path: SaidPath<At>, query?: GetQuery<At>, how?: How): Promise<GetReply<At>>;
  /** The body as it came: a table, or JSON that is only passed on. */
  getText<At extends GetPath>(path: SaidPath<At>, query?: LeanQuery): Promise<string>;
  post<At extends PostPath>(path: SaidPath<At>, body?: PostBody<At>, how?: How): Promise<PostReply<At>>;
  delete<At extends DeletePath>(path: SaidPath<At>, how?: How): Promise<DeleteReply<At>>;
  /** A session as it goes on; ends when it is gone. */
  session(id: string, options?: SessionRequest): AsyncGenerator<SessionEvent, void, void>;
  /** Goes on by itself after a loss. Throws when the first connection fails, or when going on is pointless. */
  events(options?: FeedRequest): AsyncGenerator<FeedEvent, void, void>;
  /** The version of the daemon that answered last; null before the first answer. */
  daemonVersion(): string | null;
}

export interface ClientOptions {
  /** Asked before each request: the next daemon may listen elsewhere. */
  readonly socketPath: string | (() => string);
  readonly clock: Clock;
  /** Who asks, unless a request says otherwise. */
  readonly caller?: Caller;
  /** The key of a paired editor, asked for before each request; null while it has none (EDI3). */
  readonly editorKey?: () => string | null;
}

export function createClient({ socketPath, clock, caller, editorKey }: ClientOptions): ApiClient {
  let version: string | null = null;

  async function open(options: SendOptions): Promise<Answer> {
    const key = editorKey?.() ?? null;
    const headers = key === null ? {} : { headers: { ...options.headers, [editorKeyHeader]: key } };
    const asked = { ...(caller === undefined ? {} : { caller }), ...options, ...headers };
    const opened = await openAnswer(typeof socketPath === 'string' ? socketPath : socketPath(), asked);
    version = opened.version;
    return opened.answer;
  }

  const send = async <Reply>(request: ApiRequest<Reply>, how: How = {}): Promise<Reply> =>
    replyTo(request, await readText(await open({ ...request, ...how })));

  return {
    send,
    get: (path, query, how) => send(get(path, query), how),
    getText: async (path, query = {}) => readText(await open({ path: withQuery(path, query) })),
    post: (path, body, how) => send(post(path, body), how),
    delete: (path, how) => send(remove(path), how),
    session: (id, options = {}) => followSession({ ...options, path: pathTo('/v1/managed/{id}', { id }), clock, open }),
    events: (options = {}) => followFeed({ ...options, clock, open }),
    daemonVersion: () => version,
  };
}
