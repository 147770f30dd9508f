// The web server: opened on request, on loopback unless it is said otherwise, and shut again when nobody may come in any more.
// Browsers that are in stay in when the daemon starts again; what says so is kept in a private file, without any secret.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { WebSocketServer } from 'ws';
import type { CallerClaim } from '../../model/actions.ts';
import { errors, type Failure, fail, failure, ok, type Result } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { DocumentStore } from '../../model/records.ts';
import type { WebLink, WebRequest, WebService, WebStatus } from '../../model/web.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Files } from '../../platform/files.ts';
import type { RandomSource } from '../../platform/random.ts';
import { errorReply, safeJson } from '../replies.ts';
import type { DaemonService } from '../service.ts';
import { isLoopback, type Knock, nameOf, type OwnNames, refusalOf } from './admission.ts';
import { cookieOf, createWebApp } from './app.ts';
import { type Assets, readAssets } from './assets.ts';
import { PaneSocket } from './pane-socket.ts';
import { readWebServer, type StoredWebServer, storeWebServer } from './stored-web-server.ts';
import { WebSessions } from './web-sessions.ts';

export interface WebServerParts {
  readonly service: DaemonService;
  readonly clock: Clock;
  readonly random: Pick<RandomSource, 'hex'>;
  readonly files: Files;
  /** Where it is kept who is in. */
  readonly documents: DocumentStore;
  /** The pages as they were built. */
  readonly pagesFolder: string;
  /** The daemon's own, for agents that are started from a page. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onTrouble: (error: Error) => void;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

interface Opened {
  readonly server: Server;
  readonly sockets: Set<Socket>;
  readonly address: string;
  readonly port: number;
}

const loopback = '127.0.0.1';
/** 0.0.0.0 and the forms of ::, where a Host header could say anything. */
const everyAddress = /^[0:.]+$/;
const panePath = '/ws/pane';

/** What every answer carries. Nothing inline, nothing from elsewhere, in nobody's frame. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // The one policy of the pages, which lets the one service worker in.
    'trusted-types agtmux',
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};

export class WebServer implements WebService {
  readonly #parts: WebServerParts;
  readonly #webSessions: WebSessions;
  readonly #panes = new Set<PaneSocket>();
  #kept: StoredWebServer;
  #opened: Opened | null = null;
  #assets: Assets = new Map();
  #cancelSweep: () => void = () => undefined;
  #saving: Promise<void> = Promise.resolve();
  /** One change at a time: two that open at once would open two. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(parts: WebServerParts, kept: StoredWebServer) {
    this.#parts = parts;
    this.#kept = kept;
    const { service, random } = parts;
    this.#webSessions = new WebSessions({
      random,
      now: () => service.now(),
      isReached: (id) => service.push.has(id),
      onLeave: (id) => void service.push.unsubscribe(id),
    });
  }

  /** Opens again by itself where browsers were in when the daemon ended. */
  static async start(parts: WebServerParts): Promise<WebServer> {
    const kept = await readWebServer(parts.documents, parts.warn);
    const server = new WebServer(parts, kept ?? { version: 1, name: parts.random.hex(4), place: null, sessions: [] });
    server.#webSessions.load(server.#kept.sessions);
    await parts.service.push.keepOnly(new Set(server.#webSessions.kept().map(({ id }) => id)));
    const { place } = server.#kept;
    if (place === null || !server.#webSessions.isNeeded) return server;
    const opened = await server.#listen(place.address, place.port);
    if (!opened.ok) {
      // Whoever is there now was sent what our pages send: none of it may open anything again.
      parts.warn('the web server was not started, and its browsers are signed out', {
        problem: opened.failure.message,
      });
      await server.#shut();
    }
    return server;
  }

  status(): WebStatus {
    const { address = null, port = null } = this.#opened ?? {};
    const { origin = null } = this.#kept;
    return { is_open: this.#opened !== null, address, port, origin, sessions: this.#webSessions.sessions };
  }

  /** The link has the rights of whoever asks for it, and never more (ACT6). */
  async open(wish: WebRequest, claim: CallerClaim): Promise<Result<WebLink>> {
    const { acting } = this.#parts.service;
    const who = await acting.who(claim);
    // To look needs no right to act, unless others can look as well then.
    const action = wish.read_only && wish.listen === null && wish.origin === null ? 'view' : 'web';
    let link: WebLink | null = null;
    const done = await acting.authorizeAndAudit({ action, named: 'web server', detail: { ...wish } }, claim, () =>
      this.#inTurn(async () => {
        const opened = await this.#openAt(wish);
        if (!opened.ok) return opened;
        const caller = {
          role: wish.read_only ? ('observer' as const) : who.role,
          opened_by: who.name,
          is_traceable: who.is_traceable,
        };
        const { token, expires_at } = this.#webSessions.addToken({ caller, read_only: wish.read_only });
        if (wish.origin !== null) await this.#serveAs(wish.origin);
        const { address, port } = opened.value;
        const base = wish.origin ?? `http://${nameOf(address)}:${port}`;
        const url = `${base}/#token=${token}`;
        link = { url, address, port, read_only: wish.read_only, expires_at, is_exposed: !isLoopback(address) };
        return ok(null);
      }),
    );
    if (!done.ok) return done;
    return link === null ? fail('E_INTERNAL', 'no sign-in link could be created') : ok(link);
  }

  /** Until the web server is stopped: browsers that came in there go on there. */
  async #serveAs(origin: string): Promise<void> {
    this.#kept = { ...this.#kept, origin };
    await this.#save();
  }

  shut(claim: CallerClaim): Promise<Result<null>> {
    const deed = { action: 'web', named: 'web server', detail: { shut: true } } as const;
    return this.#parts.service.acting.authorizeAndAudit(deed, claim, () =>
      this.#inTurn(async () => {
        await this.#shut();
        return ok(null);
      }),
    );
  }

  /** The daemon ends; who is in finds the server open again after it. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#cancelSweep();
    await this.#save();
    this.#opened = null;
    if (opened !== null) await this.#closeServer(opened);
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #openAt({ port, listen }: WebRequest): Promise<Result<Opened>> {
    if (listen !== null && everyAddress.test(listen)) {
      const next = 'give one address to bind to, such as `--listen 192.168.1.5`';
      return fail('E_INPUT', `${listen} means all addresses, and the web server binds to one`, next);
    }
    const opened = this.#opened;
    const address = listen ?? opened?.address ?? loopback;
    if (opened !== null) {
      const isSame = opened.address === address && (port === null || port === opened.port);
      if (isSame) {
        await this.#readAssets();
        return ok(opened);
      }
      const at = `${nameOf(opened.address)}:${opened.port}`;
      return fail('E_SOCKET', `the web server already runs at ${at}`, 'stop it first: `agtmux web --stop`');
    }
    const last = this.#kept.place;
    const again = port === null && last?.address === address ? await this.#listen(address, last.port) : null;
    return again?.ok === true ? again : this.#listen(address, port ?? 0);
  }

  async #listen(address: string, port: number): Promise<Result<Opened>> {
    await this.#readAssets();
    const server = this.#createServer(isLoopback(address) ? null : nameOf(address));
    const sockets = new Set<Socket>();
    server.maxConnections = limits.webConnectionsMax;
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', this.#parts.onTrouble);
      socket.once('close', () => sockets.delete(socket));
    });
    const problem = await new Promise<string | null>((resolve) => {
      server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      server.listen({ host: address, port, exclusive: true }, () => resolve(null));
    });
    if (problem !== null) {
      return fail('E_SOCKET', `cannot listen at ${nameOf(address)}:${port}: ${problem}`, 'choose another --port');
    }
    server.on('error', this.#parts.onTrouble);
    const opened = { server, sockets, address, port: (server.address() as AddressInfo).port };
    this.#opened = opened;
    this.#sweepOn();
    await this.#save();
    return ok(opened);
  }

  async #readAssets(): Promise<void> {
    this.#assets = await readAssets(this.#parts.files, this.#parts.pagesFolder);
    if (this.#assets.size === 0) this.#parts.warn('the web pages are missing', { folder: this.#parts.pagesFolder });
  }

  #createServer(address: string | null): Server {
    const names = (): OwnNames => ({ address, origin: this.#kept.origin ?? null });
    const { service, clock, environment, onTrouble } = this.#parts;
    const app = createWebApp({
      service,
      clock,
      environment,
      webSessions: this.#webSessions,
      cookieName: this.#cookieName(),
      assets: () => this.#assets,
      onSessions: () => void this.#save(),
      onTrouble,
    });
    const listener = getRequestListener(app.fetch, {
      hostname: 'agtmux',
      overrideGlobalObjects: false,
      errorHandler: (error) => errorReply(error, onTrouble),
    });
    const server = createServer(
      {
        headersTimeout: limits.requestReadMs,
        requestTimeout: limits.requestReadMs,
        connectionsCheckingInterval: limits.requestCheckMs,
        keepAliveTimeout: limits.keepAliveMs,
        requireHostHeader: false,
      },
      (incoming: IncomingMessage, outgoing: ServerResponse) => {
        for (const [name, value] of Object.entries(pageHeaders)) outgoing.setHeader(name, value);
        const refusal = refusalOf(knockOf(incoming, false), names());
        if (refusal !== null) refuse(outgoing, refusal);
        else void listener(incoming, outgoing).catch(onTrouble);
      },
    );
    server.on('clientError', (_: Error, socket: Duplex) => socket.destroy());
    const sockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: limits.webFrameBytesMax,
    });
    server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', onTrouble);
      const refusal = refusalOf(knockOf(incoming, true), names()) ?? this.#upgrade(sockets, incoming, socket, head);
      if (refusal !== null) refuseUpgrade(socket, refusal);
    });
    return server;
  }

  /** Null: it is a socket now. A ticket is used up, whatever comes of it. */
  #upgrade(sockets: WebSocketServer, incoming: IncomingMessage, socket: Duplex, head: Buffer): Failure | null {
    // By hand: what a URL cannot be made of must not end the daemon.
    const [path, query = ''] = (incoming.url ?? '').split('?', 2);
    if (path !== panePath || incoming.method !== 'GET') return failure('E_ROUTE', 'there is no WebSocket at this path');
    const ticket = this.#webSessions.useTicket(ticketIn(query), cookieOf(incoming, this.#cookieName()));
    if (ticket === null)
      return failure('E_SIGNED_OUT', 'the ticket was already used or has expired', 'request a new one');
    sockets.handleUpgrade(incoming, socket, head, (page) => {
      const { service, clock } = this.#parts;
      const pane = new PaneSocket(page, { clock, live: service.live, ticket });
      this.#panes.add(pane);
      const letGo = this.#webSessions.hold(ticket.session, () =>
        pane.end(failure('E_SIGNED_OUT', 'this browser was signed out')),
      );
      page.once('close', () => {
        this.#panes.delete(pane);
        letGo();
      });
      pane.start().catch(this.#parts.onTrouble);
    });
    return null;
  }

  #cookieName(): string {
    return `agtmux-${this.#kept.name}`;
  }

  #sweepOn(): void {
    this.#cancelSweep();
    this.#cancelSweep = this.#parts.clock.after(limits.webSweepMs, () => void this.sweep());
  }

  /** Takes away what is too old. When nobody is in and no link waits, there is nothing to keep open. */
  sweep(): Promise<void> {
    return this.#inTurn(async () => {
      this.#webSessions.sweep();
      if (!this.#webSessions.isNeeded) return this.#shut();
      this.#sweepOn();
      return this.#save();
    });
  }

  async #shut(): Promise<void> {
    const opened = this.#opened;
    this.#cancelSweep();
    this.#opened = null;
    this.#webSessions.clear();
    this.#kept = { ...this.#kept, origin: null };
    await this.#save();
    if (opened !== null) await this.#closeServer(opened);
  }

  async #closeServer({ server, sockets }: Opened): Promise<void> {
    for (const pane of [...this.#panes])
      pane.end(failure('E_DAEMON_DOWN', 'the web server is stopped', 'it may start again'));
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroySoon();
    server.closeAllConnections();
    await closed;
  }

  #save(): Promise<void> {
    const { address, port } = this.#opened ?? this.#kept.place ?? { address: loopback, port: 0 };
    const place = port === 0 ? null : { address, port };
    this.#kept = { ...this.#kept, place, sessions: [...this.#webSessions.kept()] };
    const kept = this.#kept;
    const { documents, warn } = this.#parts;
    this.#saving = this.#saving.then(() => storeWebServer(documents, kept, warn));
    return this.#saving;
  }
}

const ticketIn = (query: string): string => new URLSearchParams(query).get('ticket') ?? '';

const knockOf = ({ method = '', url = '', headers, rawHeaders }: IncomingMessage, isUpgrade: boolean): Knock => ({
  method,
  target: url,
  headers,
  rawHeaders,
  isUpgrade,
});

const bodyOf = (error: Failure): string => safeJson({ error });

function refuse(outgoing: ServerResponse, refusal: Failure): void {
  // What is left of it is not read.
  outgoing.writeHead(errors[refusal.code].http, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    connection: 'close',
  });
  outgoing.end(bodyOf(refusal));
}

function refuseUpgrade(socket: Duplex, refusal: Failure): void {
  const body = bodyOf(refusal);
  const head = ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`, 'connection: close'];
  socket.end(`HTTP/1.1 ${errors[refusal.code].http} Refused\r\n${head.join('\r\n')}\r\n\r\n${body}`, () =>
    socket.destroy(),
  );
}
