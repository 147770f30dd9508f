// The routes of the web server. Every one of them is added by one function that asks for a session first; what is open to a
// browser without one is a list of three: the pages themselves, entering with a link, and the button of a notification, which
// brings the cookie and a proof of what was shown in the place of the key (SEC2, NOT9).

import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { noQuerySchema } from '../../api/common.ts';
import { type Route, routes } from '../../api/routes.ts';
import {
  type WebEnteredReply,
  type WebPushAnswered,
  type WebPushReply,
  type WebSessionReply,
  type WebTicketReply,
  webEnterSchema,
  webPushAddressSchema,
  webPushAnswerSchema,
  webTicketRequestSchema,
} from '../../api/web.ts';
import { AgtmuxError, failure } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { isoTime } from '../../view/lists-items.ts';
import { type ApiContext, type HttpHandler, handlerFor, headOf } from '../dispatch.ts';
import { createHandlers, patternOf, routeNames } from '../handlers.ts';
import { errorReply, failureReply, handshake, jsonReply, unwrap } from '../replies.ts';
import { readJson, readQuery, readValue } from '../requests.ts';
import type { DaemonService } from '../service.ts';
import { type Asset, type Assets, assetOf, assetReply } from './assets.ts';
import { claimOf, type WebSession, type WebSessions } from './web-sessions.ts';

export interface WebAppParts {
  readonly service: DaemonService;
  readonly clock: Clock;
  readonly webSessions: WebSessions;
  /** Of this server: several daemons of one machine share the name of loopback, and so their cookies. */
  readonly cookieName: string;
  readonly assets: () => Assets;
  /** What agents find in theirs that are started from a page. */
  readonly environment: Readonly<Record<string, string>>;
  /** Somebody came in or left. */
  readonly onSessions: () => void;
  readonly onTrouble: (error: Error) => void;
}

type App = Hono<{ Bindings: HttpBindings }>;
type SessionHandler = (context: ApiContext, session: WebSession) => Response | Promise<Response>;
type WithSession = (handler: SessionHandler) => HttpHandler;

export const keyHeader = 'x-agtmux-key';

/** What can be asked without a session. Everything else is asked for one, before its route is even looked for. */
const openPaths: ReadonlySet<string> = new Set(['POST /web/enter', 'POST /web/push/answer']);
const isClosed = (path: string): boolean => /^\/(?:v1|web|ws)(?:\/|$)/.test(path);

export function createWebApp(parts: WebAppParts): App {
  const { service, webSessions } = parts;
  const app: App = new Hono<{ Bindings: HttpBindings }>();
  const sessions = new WeakMap<IncomingMessage, WebSession>();
  app.use(async (context, next) => {
    const { incoming, outgoing } = context.env;
    const path = context.req.path;
    if (isClosed(path) && !openPaths.has(`${context.req.method} ${path}`)) {
      const session = sessionOf(parts, context);
      const isRead = incoming.method === 'GET' || incoming.method === 'HEAD';
      if (session.read_only && !isRead && path.startsWith('/v1/')) throw readOnly;
      sessions.set(incoming, session);
      outgoing.once(
        'close',
        webSessions.hold(session, () => outgoing.destroy()),
      );
    }
    await next();
    if (outgoing.headersSent || !isClosed(path)) return;
    for (const [name, value] of Object.entries(handshake(service.status().version))) context.header(name, value);
  });
  const withSession: WithSession = (handler) => (context) => {
    const session = sessions.get(context.env.incoming);
    if (session === undefined) throw signedOut;
    return handler(context, session);
  };
  addDaemonRoutes(app, parts, withSession);
  addOwnRoutes(app, parts, withSession);
  addPushRoutes(app, parts, withSession);
  app.notFound((context) => page(parts.assets(), context));
  app.onError((error) => errorReply(error, parts.onTrouble));
  return app;
}

const signedOut = new AgtmuxError('E_SIGNED_OUT', 'this browser is not signed in, or no longer');
const readOnly = new AgtmuxError('E_ROLE', 'this page is read-only', {
  next: 'run `agtmux web` without --read-only and open the link it prints',
});

function sessionOf({ webSessions, cookieName }: WebAppParts, context: ApiContext): WebSession {
  const session = webSessions.sessionOf(
    cookieOf(context.env.incoming, cookieName),
    context.req.header(keyHeader) ?? null,
  );
  if (session === null) throw signedOut;
  return session;
}

export function cookieOf({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | null {
  const found = (headers.cookie ?? '').split(/;\s*/).filter((one) => one.startsWith(`${name}=`));
  // Two of one name: another server of this machine has set one, and nobody knows which is ours.
  return found.length === 1 ? (found[0]?.slice(name.length + 1) ?? null) : null;
}

/** The daemon's own routes, each asked by the session that asks, whatever the request says of itself (ACT6). */
function addDaemonRoutes(app: App, { service, clock, environment }: WebAppParts, withSession: WithSession): void {
  const handlers = createHandlers(service, { clock, web: null, environment });
  for (const name of routeNames) {
    const { method, isLocal = false }: Route = routes[name];
    if (isLocal) continue;
    const handler = withSession((context, session) =>
      handlerFor(name, handlers, service, () => claimOf(session))(context),
    );
    app.on(method.toUpperCase(), patternOf(name), handler);
  }
}

function addOwnRoutes(app: App, parts: WebAppParts, withSession: WithSession): void {
  const { service, webSessions, onSessions } = parts;
  app.on('POST', '/web/enter', (context) => enter(parts, context));
  app.on(
    'GET',
    '/web/session',
    withSession((context, session) => {
      readQuery(noQuerySchema, context.req.queries());
      return jsonReply(told(service, session));
    }),
  );
  app.on(
    'POST',
    '/web/leave',
    withSession((context, session) => {
      readQuery(noQuerySchema, context.req.queries());
      const { outgoing } = context.env;
      // Answered first: leaving ends every connection of the session, this one too.
      outgoing.once('close', () => {
        webSessions.leave(session.id);
        onSessions();
      });
      const reply = jsonReply({ ...headOf(service), done: true });
      reply.headers.set('set-cookie', `${parts.cookieName}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`);
      reply.headers.set('connection', 'close');
      return reply;
    }),
  );
  app.on(
    'POST',
    '/web/ticket',
    withSession(async (context, session) => {
      readQuery(noQuerySchema, context.req.queries());
      const { ref } = readValue(webTicketRequestSchema, await readJson(context.env.incoming));
      const { ticket, expires_at } = webSessions.addTicket(session, ref);
      const reply = { ...headOf(service), ticket, expires_at: isoTime(service.toWall(expires_at)) };
      return jsonReply(reply satisfies WebTicketReply);
    }),
  );
}

/** Being told while no page is open: the address of this browser, and what its buttons say (NOT9). */
function addPushRoutes(app: App, { service, webSessions, cookieName }: WebAppParts, withSession: WithSession): void {
  const { push } = service;
  const statusOf = ({ id }: WebSession): Response => {
    const reply = { ...headOf(service), public_key: push.publicKey, is_on: push.has(id) };
    return jsonReply(reply satisfies WebPushReply);
  };
  app.on(
    'GET',
    '/web/push',
    withSession((context, session) => {
      readQuery(noQuerySchema, context.req.queries());
      return statusOf(session);
    }),
  );
  app.on(
    'POST',
    '/web/push',
    withSession(async (context, session) => {
      readQuery(noQuerySchema, context.req.queries());
      const address = readValue(webPushAddressSchema, await readJson(context.env.incoming));
      // Only whether buttons are shown: a press is authorized like every other answer.
      const hasButtons = !session.read_only && session.caller.role !== 'observer';
      unwrap(await push.subscribe(session.id, address, hasButtons));
      return statusOf(session);
    }),
  );
  app.on(
    'DELETE',
    '/web/push',
    withSession(async (context, session) => {
      readQuery(noQuerySchema, context.req.queries());
      await push.unsubscribe(session.id);
      return statusOf(session);
    }),
  );
  app.on('POST', '/web/push/answer', async (context) => {
    readQuery(noQuerySchema, context.req.queries());
    const session = webSessions.sessionByCookie(cookieOf(context.env.incoming, cookieName));
    if (session === null) throw signedOut;
    const answer = readValue(webPushAnswerSchema, await readJson(context.env.incoming));
    const { outcome, failure: why } = unwrap(await push.answer(session.id, answer, claimOf(session)));
    return jsonReply({ ...headOf(service), outcome, failure: why } satisfies WebPushAnswered);
  });
}

async function enter(
  { service, webSessions, cookieName, onSessions }: WebAppParts,
  context: ApiContext,
): Promise<Response> {
  readQuery(noQuerySchema, context.req.queries());
  const { token } = readValue(webEnterSchema, await readJson(context.env.incoming));
  const entry = webSessions.enter(token);
  if (entry === null) throw new AgtmuxError('E_SIGNED_OUT', 'this link was already used or has expired');
  // The one that this browser had before is not needed any more.
  const before = cookieOf(context.env.incoming, cookieName)?.split('.')[0];
  const old = webSessions.sessionOf(cookieOf(context.env.incoming, cookieName), context.req.header(keyHeader) ?? null);
  if (old !== null && old.id === before) webSessions.leave(old.id);
  onSessions();
  const { session, cookie, key } = entry;
  const reply = jsonReply({ ...told(service, session), key } satisfies WebEnteredReply);
  const age = Math.floor(limits.webSessionMs / 1_000);
  // Over HTTPS it is never sent without.
  const secure = context.req.header('origin')?.startsWith('https:') === true ? '; Secure' : '';
  reply.headers.set(
    'set-cookie',
    `${cookieName}=${cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`,
  );
  return reply;
}

const told = (service: DaemonService, { caller, read_only, made_at }: WebSession): WebSessionReply => ({
  ...headOf(service),
  role: caller.role,
  read_only,
  expires_at: isoTime(service.toWall(made_at + limits.webSessionMs)),
  version: service.status().version,
});

function page(assets: Assets, context: Context<{ Bindings: HttpBindings }>): Response {
  const { method, path, raw } = context.req;
  const isRead = method === 'GET' || method === 'HEAD';
  const asset: Asset | null = isRead && !isClosed(path) ? assetOf(assets, path) : null;
  if (asset !== null) return assetReply(asset, raw);
  return failureReply(failure('E_ROUTE', `there is no ${method} ${path.slice(0, limits.idCharsMax)}`));
}
