// The hub's one HTTP server: where daemons join and open their streams, where their lists are answered, and what keeps watch over it
// asks. Pages and people are in people-routes.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { hubQuerySchema } from '../api/hub.ts';
import { claimedSchema, joinSchema, signedTexts, type WireJoined } from '../api/hub-wire.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { daemonIdOf, digestOf, isSignedBy } from '../platform/signing.ts';
import { errorReply, jsonReply } from '../server/replies.ts';
import { readJson, readValue } from '../server/requests.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import type { Hub } from './hub.ts';
import { wholeScope } from './roster.ts';
import type { HubTable } from './table.ts';
import type { HubTransport } from './transport.ts';

export interface HubServerParts {
  readonly clock: Clock;
  readonly hub: Hub;
  readonly table: HubTable;
  readonly transport: HubTransport;
  readonly hubKey: string;
  readonly link: WireJoined['link'];
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly metrics: () => Promise<string>;
  /** Routes of people and pages. */
  readonly people: (app: HubApp) => void;
  readonly onTrouble: (error: Error) => void;
}

export type HubApp = Hono<{ Bindings: HttpBindings }>;
export type HubContext = Context<{ Bindings: HttpBindings }>;

/** Codes name their tenant, so that they are looked for in its rows and in no others. */
export const tenantOfCode = (code: string): string => code.slice(0, Math.max(0, code.lastIndexOf('-')));
export const codeHash = (code: string): string => digestOf(`agtmux code ${code}`);

export function createHubServer(parts: HubServerParts): Server {
  const app: HubApp = new Hono<{ Bindings: HttpBindings }>();
  addEdgeRoutes(app, parts);
  addWatchRoutes(app, parts);
  parts.people(app);
  app.notFound(() => errorReply(new AgtmuxError('E_ROUTE', 'there is no such path at this hub'), parts.onTrouble));
  app.onError((error) => errorReply(error, parts.onTrouble));
  const listener = getRequestListener(app.fetch, { hostname: 'agtmux-hub', overrideGlobalObjects: false });
  const server = createServer(
    {
      headersTimeout: limits.requestReadMs,
      requestTimeout: limits.requestReadMs,
      keepAliveTimeout: limits.keepAliveMs,
    },
    (incoming: IncomingMessage, outgoing: ServerResponse) => {
      void listener(incoming, outgoing).catch(parts.onTrouble);
    },
  );
  server.maxConnections = limits.hubConnectionsMax;
  server.on('clientError', (_: Error, socket: Duplex) => socket.destroy());
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    if (request.url === '/edge/v1/stream') parts.onUpgrade(request, socket, head);
    else socket.destroy();
  });
  return server;
}

const listAskSchema = claimedSchema.extend({ body: z.string().max(limits.requestBytesMax) });

function addEdgeRoutes(app: HubApp, parts: HubServerParts): void {
  app.post('/edge/v1/join', async (context) => jsonReply(await join(parts, await readJson(context.env.incoming))));
  app.post('/edge/v1/list', async (context) => {
    const asked = readValue(listAskSchema, await readJson(context.env.incoming));
    await checkClaim(parts, asked);
    const roster = await parts.hub.rosterOf(asked.tenant);
    const query = readValue(hubQuerySchema, JSON.parse(asked.body));
    return jsonReply(roster.window(query, wholeScope, parts.clock.wallMs()));
  });
}

async function join({ clock, hub, table, hubKey, link }: HubServerParts, body: unknown): Promise<WireJoined> {
  const { code, public_key, label, share, agtmux, at, signature } = readValue(joinSchema, body);
  const now = clock.wallMs();
  const isTheirs = isSignedBy(public_key, signedTexts.join(code, public_key, at), signature);
  const tenant = tenantOfCode(code);
  const isTenant = (await table.tenants()).includes(tenant);
  // One answer for all that is wrong: whoever guesses learns nothing.
  const found = isTheirs && isTenant ? await table.of(tenant).takeCode(codeHash(code), now) : null;
  if (found === null) throw new AgtmuxError('E_HUB_CODE', 'this code does not exist, was used already or has expired');
  const daemon = daemonIdOf(public_key);
  const named = sanitizeLine(foreign(found.label ?? label));
  const { owner, kind } = found;
  const made = {
    daemon,
    public_key,
    label: named,
    owner,
    kind,
    share,
    agtmux: sanitizeLine(foreign(agtmux)),
    joined_at: now,
  };
  if (!(await table.of(tenant).putDaemon(made))) throw new AgtmuxError('E_ROLE', 'this key was removed from the hub');
  await hub.refreshMachine(tenant, daemon);
  return { tenant, daemon, hub_key: hubKey, label: named, kind, link };
}

/** A request that a daemon signed for this hub, a moment ago. It only reads: being sent twice gains nothing. */
async function checkClaim(
  { clock, hub, hubKey }: HubServerParts,
  { tenant, daemon, at, signature, body }: z.infer<typeof listAskSchema>,
): Promise<void> {
  const place = await hub.placeOf(tenant, daemon);
  const isFresh = Math.abs(clock.wallMs() - Date.parse(at)) <= limits.hubRequestMs;
  if (
    place !== null &&
    isFresh &&
    isSignedBy(place.public_key, signedTexts.request(hubKey, daemon, at, body), signature)
  )
    return;
  throw new AgtmuxError('E_ROLE', 'the hub does not know this machine, or its clock is wrong', {
    next: 'compare the clocks, or join with a new code',
  });
}

/** Of those who keep watch: no names, no texts. */
function addWatchRoutes(app: HubApp, { table, transport, metrics }: HubServerParts): void {
  app.get('/healthz', () => jsonReply({ ok: true }));
  app.get('/readyz', async () => {
    const checks = { table: await table.check(), transport: await transport.check() };
    const ready = checks.table && checks.transport;
    return jsonReply({ ready, ...checks }, ready ? 200 : 503);
  });
  app.get(
    '/metrics',
    async () => new Response(await metrics(), { headers: { 'content-type': 'text/plain; version=0.0.4' } }),
  );
}
