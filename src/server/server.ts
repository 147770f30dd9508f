// The API's server: hono on node:http on the private unix socket (SEC1). Everything a rude client can do (leave, stall,
// send garbage or too much) ends in a refusal or a closed connection, never in more than that.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { routes } from '../api/routes.ts';
import { apiHeader, apiVersion } from '../api/version.ts';
import type { EditorService } from '../model/editors.ts';
import { AgtmuxError, errors, failure, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { WebService } from '../model/web.ts';
import type { Clock } from '../platform/clock.ts';
import { type Listener, listenPrivate } from '../platform/net.ts';
import { handlerFor, saidCaller } from './dispatch.ts';
import { createHandlers, patternOf, routeNames } from './handlers.ts';
import { errorReply, failureReply, handshake, safeJson } from './replies.ts';
import { checkMedia } from './requests.ts';
import type { DaemonService } from './service.ts';

export interface ApiOptions {
  readonly clock: Clock;
  /** Troubles of connections and defects of handlers; none of them ends the daemon. */
  readonly onTrouble: (error: Error) => void;
  /** What opens the web server. */
  readonly web?: WebService;
  /** Who holds which key. */
  readonly editors?: EditorService;
}

/** Serves until the listener is closed. The caller holds the lock of the single instance. */
export function serveApi(service: DaemonService, socketPath: string, options: ApiOptions): Promise<Result<Listener>> {
  return listenPrivate(createApiServer(service, options), socketPath, { onTrouble: options.onTrouble });
}

function createApiServer(service: DaemonService, options: ApiOptions): Server {
  const app = createApp(service, options);
  const listener = getRequestListener(app.fetch, {
    hostname: 'agtmux',
    overrideGlobalObjects: false,
    errorHandler: (error) => errorReply(error, options.onTrouble),
  });
  const server = createServer(
    {
      headersTimeout: limits.requestReadMs,
      requestTimeout: limits.requestReadMs,
      connectionsCheckingInterval: limits.requestCheckMs,
      keepAliveTimeout: limits.keepAliveMs,
    },
    (incoming: IncomingMessage, outgoing: ServerResponse) => {
      void listener(incoming, outgoing).catch(options.onTrouble);
    },
  );
  server.on('clientError', (error: Error, socket: Duplex) => refuseGarbage(service.status().version, error, socket));
  // Nothing is ever upgraded here.
  server.on('upgrade', (_: IncomingMessage, socket: Duplex) => socket.destroy());
  return server;
}

function createApp(service: DaemonService, options: ApiOptions): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use(async (context, next) => {
    await next();
    if (context.env.outgoing.headersSent) return;
    for (const [name, value] of Object.entries(handshake(service.status().version))) context.header(name, value);
  });
  app.use(async (context, next) => {
    checkSender(context.req.raw);
    checkMedia(context.env.incoming);
    await next();
  });
  const { clock, web = null, editors } = options;
  const handlers = createHandlers(service, {
    clock,
    web,
    environment: null,
    ...(editors === undefined ? {} : { editors }),
  });
  for (const name of routeNames) {
    app.on(
      routes[name].method.toUpperCase(),
      patternOf(name),
      handlerFor(name, handlers, service, saidCaller(editors)),
    );
  }
  app.notFound((context) =>
    failureReply(
      failure('E_ROUTE', `there is no ${context.req.method} ${context.req.path.slice(0, limits.idCharsMax)}`),
    ),
  );
  app.onError((error) => errorReply(error, options.onTrouble));
  return app;
}

/** No page speaks to a unix socket by itself; one that does came through a proxy, and is not the user. */
function checkSender(request: Request): void {
  if (request.headers.has('origin')) throw new AgtmuxError('E_ORIGIN', 'requests from web pages are not accepted here');
  const api = request.headers.get(apiHeader);
  if (api !== null && api !== String(apiVersion)) {
    throw new AgtmuxError('E_VERSION', `the daemon uses API ${apiVersion}, the client ${api.slice(0, 16)}`);
  }
}

/** What never became a request. Who sends too slowly, or finds the daemon too busy to read, may try again. */
function refuseGarbage(version: string, error: Error, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const isLate = 'code' in error && error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const problem = isLate
    ? failure('E_TIMEOUT', 'the request did not arrive in time, so nothing was done', 'send it again')
    : failure('E_INPUT', 'this is not an HTTP request');
  const body = safeJson({ error: problem });
  const head = { ...handshake(version), 'content-type': 'application/json', 'content-length': body.length };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${errors[problem.code].http} Refused\r\n${lines.join('')}connection: close\r\n\r\n${body}`, () =>
    socket.destroy(),
  );
}
