// Requests as every client writes them: a path of the table, and with it the types of what is sent and of what comes back.
// Types alone are taken from the table, so that no schema library is loaded: what comes in was made by our own daemon,
// whose version is checked.

import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { SessionCommand } from '../model/sessions.ts';
import type { SendOptions } from './client-types.ts';
import type { BodyOf, Frozen, ParameterOf, PathOf, QueryOf, ReplyOf, RouteAt } from './routes.ts';
import type { ManagedReply } from './sessions.ts';

export type LeanOptions = Omit<SendOptions, 'headers' | 'signal'>;

export type LeanQuery = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

declare const reply: unique symbol;
declare const pattern: unique symbol;

/** A request that is answered with this document. */
export interface ApiRequest<Reply> extends LeanOptions {
  readonly [reply]?: Reply;
}

/** A path whose names in braces were filled in. */
export type Path<Pattern extends string> = string & { readonly [pattern]: Pattern };

/** Names may hold anything, also a slash. */
export function pathTo<Pattern extends PathOf<'get' | 'post' | 'delete'>>(
  path: Pattern,
  values: Readonly<Record<ParameterOf<Pattern>, string>>,
): Path<Pattern> {
  const all: Readonly<Record<string, string>> = values;
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(all[name] ?? '')) as Path<Pattern>;
}

/** A path without names to fill in stands for itself. */
export type SaidPath<Pattern extends string> =
  | Path<Pattern>
  | ([ParameterOf<Pattern>] extends [never] ? Pattern : never);
type How = Pick<LeanOptions, 'silenceMs' | 'isAnyVersion'>;

export type GetPath = PathOf<'get'>;
export type PostPath = PathOf<'post'>;
export type DeletePath = PathOf<'delete'>;

export type GetReply<At extends GetPath> = ReplyOf<RouteAt<'get', At>>;
export type PostReply<At extends PostPath> = ReplyOf<RouteAt<'post', At>>;
export type DeleteReply<At extends DeletePath> = ReplyOf<RouteAt<'delete', At>>;
export type GetQuery<At extends GetPath> = Frozen<QueryOf<RouteAt<'get', At>>> & LeanQuery;
export type PostBody<At extends PostPath> = Frozen<BodyOf<RouteAt<'post', At>>> &
  (unknown extends BodyOf<RouteAt<'post', At>> ? unknown : SaidCaller);

/** Who asks, as clients of the version before write it; read for one version more. The `caller` of a request says it now. */
interface SaidCaller {
  readonly pid?: number | null;
  readonly hops?: number;
}

export const get = <At extends GetPath>(
  path: SaidPath<At>,
  query?: GetQuery<At>,
  how: How = {},
): ApiRequest<GetReply<At>> => ({ ...how, path: withQuery(path, query ?? {}) });

export const post = <At extends PostPath>(
  path: SaidPath<At>,
  body?: PostBody<At>,
  how: How = {},
): ApiRequest<PostReply<At>> => ({ ...how, method: 'POST', path, ...(body === undefined ? {} : { body }) });

export const remove = <At extends DeletePath>(path: SaidPath<At>, how: How = {}): ApiRequest<DeleteReply<At>> => ({
  ...how,
  method: 'DELETE',
  path,
});

/** A command to a managed session. */
export const sessionRequest = (id: string, { action, ...body }: SessionCommand): ApiRequest<ManagedReply> =>
  post(pathTo(`/v1/managed/{id}/${action}`, { id }), body, { silenceMs: limits.actAnswerMs });

/** The answer to this very request. */
export const replyTo = <Reply>(_: ApiRequest<Reply>, body: string): Reply => parseReply(body) as Reply;

export function parseReply(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new AgtmuxError('E_SOCKET', 'the answer of the daemon is not JSON', { cause });
  }
}

export function withQuery(path: string, query: LeanQuery): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) text.append(name, String(one));
  }
  return text.size === 0 ? path : `${path}?${text}`;
}
