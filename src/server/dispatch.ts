// From a route of the table to its handler: the query and the body are read by the schemas of the route, who asks is found
// out once for every route, and what the handler gives back is written as the document of the route.

import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { claimSchema } from '../api/common.ts';
import {
  documents,
  type Frozen,
  type ParameterOf,
  type ReadBody,
  type ReadQuery,
  type ReplyOf,
  type Route,
  type RouteName,
  type RouteOf,
  routes,
} from '../api/routes.ts';
import { callerHopsHeader, callerPidHeader, editorKeyHeader, schemaVersion } from '../api/version.ts';
import type { CallerClaim } from '../model/actions.ts';
import type { EditorService } from '../model/editors.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { WebService } from '../model/web.ts';
import type { Clock } from '../platform/clock.ts';
import { isoTime } from '../view/lists-items.ts';
import type { TextOptions } from '../view/lists-text.ts';
import { jsonReply } from './replies.ts';
import { readJson, readQuery, readValue } from './requests.ts';
import type { DaemonService } from './service.ts';

export type ApiContext = Context<{ Bindings: HttpBindings }>;
export type HttpHandler = (context: ApiContext) => Response | Promise<Response>;

/** A request to this route, read. */
export interface ApiRequest<Name extends RouteName> {
  readonly query: ReadQuery<Name>;
  readonly body: ReadBody<Name>;
  readonly params: Readonly<Record<ParameterOf<RouteOf<Name>['path']>, string>>;
  /** Who asks, as far as this server knows. */
  readonly caller: CallerClaim;
  readonly context: ApiContext;
}

type Headless<Value> = Value extends object ? Omit<Value, 'schema_version' | 'generated_at'> : Value;

/** The document of the route, its head left to us; or a response made by hand: text, a stream. */
export type Reply<Name extends RouteName> = Frozen<Headless<ReplyOf<Name>>> | Response;

export type Handlers = {
  readonly [Name in RouteName]: (request: ApiRequest<Name>) => Reply<Name> | Promise<Reply<Name>>;
};

export interface HandlerParts {
  readonly clock: Clock;
  /** Null where the web server cannot be started from. */
  readonly web: WebService | null;
  /** Left out where no editor can be paired from. */
  readonly editors?: EditorService;
  /** What agents find in theirs that are started from here; null: what the client says. */
  readonly environment: Readonly<Record<string, string>> | null;
}

/** What one server knows of who asks. `said` is what the request says of itself. */
export type CallerOf = (context: ApiContext, said: CallerClaim) => CallerClaim;

/** Believed as far as the daemon itself sees that process (ACT6). */
export const saidCaller =
  (editors: EditorService | undefined): CallerOf =>
  ({ req }, said) => {
    const key = req.header(editorKeyHeader);
    if (key === undefined) return said;
    const editor = editors?.holderOf(key) ?? null;
    if (editor !== null) return { ...said, editor };
    const next = 'run `agtmux editor pair` in a terminal and pair the editor again';
    throw new AgtmuxError('E_SIGNED_OUT', 'the key of this editor was revoked, or was never given out', { next });
  };

export const headOf = (service: Pick<DaemonService, 'now' | 'toWall'>) =>
  ({ schema_version: schemaVersion, generated_at: isoTime(service.toWall(service.now())) }) as const;

export function handlerFor<Name extends RouteName>(
  name: Name,
  handlers: Handlers,
  service: DaemonService,
  callerOf: CallerOf,
): HttpHandler {
  const route: Route = routes[name];
  return async (context) => {
    const reply = await handlers[name](await readRequest(name, context, callerOf));
    if (reply instanceof Response) return reply;
    return jsonReply({ ...headOf(service), ...Object(reply) }, route.status ?? 200);
  };
}

async function readRequest<Name extends RouteName>(
  name: Name,
  context: ApiContext,
  callerOf: CallerOf,
): Promise<ApiRequest<Name>> {
  const route: Route = routes[name];
  const { pid: queryPid, hops: queryHops, ...queries } = context.req.queries();
  const query = readQuery(route.query, queries);
  const { body, claim } = await readRouteBody(route, context);
  const said = { ...claim, ...numbers({ pid: queryPid?.[0], hops: queryHops?.[0] }), ...headerClaim(context) };
  const caller = callerOf(context, readValue(claimSchema, said));
  // The schemas are those of this very route, and so are the types that follow from them.
  return { query, body, params: context.req.param(), caller, context } as ApiRequest<Name>;
}

/** Clients of the version before name themselves in the body (ACT6). */
async function readRouteBody({ method, body }: Route, { env }: ApiContext): Promise<{ body: unknown; claim: object }> {
  if (method !== 'post' || body?.document === null) return { body: undefined, claim: {} };
  const json = await readJson(env.incoming, { isOptional: body === undefined });
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  const { pid, hops, ...own } = isObject ? (json as Readonly<Record<string, unknown>>) : {};
  const claim = { ...(pid === undefined ? {} : { pid }), ...(hops === undefined ? {} : { hops }) };
  const said = isObject ? own : json;
  if (body !== undefined) return { body: readValue(documents[body.document], said), claim };
  readValue(nothingSchema, said);
  return { body: undefined, claim };
}

const nothingSchema = claimSchema.pick({});

function headerClaim({ req }: ApiContext): object {
  return numbers({ pid: req.header(callerPidHeader), hops: req.header(callerHopsHeader) });
}

/** What is no number stays what it is, for the schema to refuse. */
const numbers = (said: Readonly<Record<string, string | undefined>>): object =>
  Object.fromEntries(
    Object.entries(said).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, /^\d{1,9}$/.test(text) ? Number(text) : text]],
    ),
  );

export interface ViewQuery {
  readonly format?: 'json' | 'text' | undefined;
  readonly columns?: number | undefined;
  readonly colour?: boolean | undefined;
}

/** Null: JSON. `format` wins over what the client says it accepts. */
export function textOptions(context: ApiContext, query: ViewQuery, wallMs: number): TextOptions | null {
  const accept = context.req.header('accept') ?? '';
  const isText = query.format === undefined ? /\btext\/plain\b/.test(accept) : query.format === 'text';
  if (!isText) return null;
  return {
    columns: query.columns ?? limits.tableColumnsDefault,
    colour: query.colour ?? false,
    offsetMinutes: -new Date(wallMs).getTimezoneOffset(),
  };
}

/** A HEAD request would subscribe and never read. */
export function onlyGet({ env }: ApiContext, what: string): void {
  if (env.incoming.method !== 'GET') throw new AgtmuxError('E_ROUTE', `${what} is only for GET`);
}
