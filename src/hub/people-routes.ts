// The hub for people: signing in, windows of the list and what changes in them, actions and their record. Everything but entering
// needs a session; what a person may is in it, and asked for here and nowhere else (HUB7).

import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { z } from 'zod';
import { hubQuerySchema } from '../api/hub.ts';
import { AgtmuxError } from '../model/errors.ts';
import { hubActionKinds, isRoleEnough } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { RandomSource } from '../platform/random.ts';
import { digestOf } from '../platform/signing.ts';
import { jsonReply, safeJson, unwrap } from '../server/replies.ts';
import { readJson, readQuery, readValue } from '../server/requests.ts';
import { type Asset, type Assets, assetReply } from '../server/web/assets.ts';
import { pageHeaders } from '../server/web/web-server.ts';
import type { Dispatcher } from './dispatcher.ts';
import { dayOf, type MachineDaySum, teamLines } from './history.ts';
import { type HubApp, type HubContext, tenantOfCode } from './http.ts';
import type { Hub } from './hub.ts';
import type { WindowQuery, WindowRow } from './roster.ts';
import type { HubTable, PersonSession } from './table.ts';

export interface PeopleParts {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly hub: Hub;
  readonly table: HubTable;
  readonly dispatcher: Dispatcher;
  readonly assets: Assets;
  /** People come over TLS: then their cookie does too. */
  readonly isSecure: boolean;
}

export interface SignedIn {
  readonly tenant: string;
  readonly hash: string;
  readonly session: PersonSession;
}

const cookieName = 'agtmux_hub';
/** The tenant stands in front, so that it is looked for in its rows and in no others. */
export const sessionHash = (token: string): string => digestOf(`agtmux session ${token}`);

const enterSchema = z.strictObject({ token: z.string().regex(/^[a-z0-9-]{1,40}-[0-9a-f]{64}$/) });
const wishSchema = z.strictObject({
  id: z.string().min(1).max(limits.pathCharsMax),
  state_version: z.int().nonnegative().nullable(),
  act: z.looseObject({ action: z.enum(hubActionKinds) }),
});
const countSchema = z.strictObject({ count: z.int().positive().max(limits.auditRowsMax).default(100) });
const revokeSchema = z.strictObject({ daemon: z.string().min(1).max(limits.idCharsMax) });
const nothingSchema = z.strictObject({});

const teamSchema = z.strictObject({ days: z.int().positive().max(limits.hubHistoryAskDaysMax).default(14) });
const dayMs = 86_400_000;

export function addPeopleRoutes(app: HubApp, parts: PeopleParts): void {
  const { hub, dispatcher, clock } = parts;
  app.post('/hub/v1/enter', (context) => enter(parts, context));
  app.get('/hub/v1/session', async (context) => jsonReply(told(await signedIn(parts, context))));
  app.post('/hub/v1/leave', async (context) => {
    checkOrigin(context);
    const { tenant, session } = await signedIn(parts, context);
    readValue(nothingSchema, await readJson(context.env.incoming));
    await parts.table.of(tenant).endSessions(session.who);
    return jsonReply({ done: true });
  });
  app.get('/hub/v1/list', async (context) => {
    const { tenant, session } = await signedIn(parts, context);
    const query = readQuery(hubQuerySchema, context.req.queries());
    return jsonReply((await hub.rosterOf(tenant)).window(query, session, clock.wallMs()));
  });
  app.get('/hub/v1/feed', async (context) => {
    const known = await signedIn(parts, context);
    const query = readQuery(hubQuerySchema, context.req.queries());
    await new WindowStream(parts, known, query, context.env.outgoing).start();
    return RESPONSE_ALREADY_SENT;
  });
  app.post('/hub/v1/act', async (context) => {
    checkOrigin(context);
    const { tenant, session } = await signedIn(parts, context);
    const wish = readValue(wishSchema, await readJson(context.env.incoming));
    return jsonReply(unwrap(await dispatcher.order(tenant, session, wish)));
  });
  addRecordRoutes(app, parts);
  addTeamRoutes(app, parts);
  app.get('/*', (context) => page(parts, context));
}

function addRecordRoutes(app: HubApp, parts: PeopleParts): void {
  app.get('/hub/v1/orders', async (context) => {
    const { tenant, session } = await signedIn(parts, context);
    const { count } = readQuery(countSchema, context.req.queries());
    const orders = await parts.table.of(tenant).orders(count);
    const isAll = isRoleEnough(session.role, 'admin');
    return jsonReply({ items: orders.filter(({ who }) => isAll || who === session.who) });
  });
  app.get('/hub/v1/audit', async (context) => {
    const { tenant, session } = await signedIn(parts, context);
    if (!isRoleEnough(session.role, 'admin')) throw mayNot;
    const { count } = readQuery(countSchema, context.req.queries());
    return jsonReply({ items: await parts.table.of(tenant).log({ countMax: count }) });
  });
  app.post('/hub/v1/revoke', async (context) => {
    checkOrigin(context);
    const { tenant, session } = await signedIn(parts, context);
    if (!isRoleEnough(session.role, 'admin')) throw mayNot;
    const { daemon } = readValue(revokeSchema, await readJson(context.env.incoming));
    return jsonReply({ done: await parts.hub.revoke(tenant, daemon) });
  });
}

/** Who waits for whom now, and how days went, narrowed to what the person may see. */
function addTeamRoutes(app: HubApp, parts: PeopleParts): void {
  const { hub, table, clock } = parts;
  app.get('/hub/v1/team', async (context) => {
    const { tenant, session } = await signedIn(parts, context);
    const { days } = readQuery(teamSchema, context.req.queries());
    const now = clock.wallMs();
    const since = dayOf(now - (days - 1) * dayMs);
    const [sums, machines] = await Promise.all([table.of(tenant).history(since), table.of(tenant).daemons()]);
    // Machines that were removed had an owner too.
    const owners = new Map(machines.map(({ daemon, owner }) => [daemon, owner]));
    const isVisible = ({ daemon, repo }: MachineDaySum): boolean =>
      (session.owners.length === 0 || session.owners.includes(owners.get(daemon) ?? '')) &&
      (session.repos.length === 0 || session.repos.includes(repo));
    const seen = sums.filter(isVisible);
    const roster = await hub.rosterOf(tenant);
    const waiting = roster.waiting(session, now).map((one) => ({ ...one, since: new Date(one.since).toISOString() }));
    return jsonReply({
      since,
      waiting,
      by_day: teamLines(seen, ({ day }) => day),
      by_owner: teamLines(seen, ({ daemon }) => owners.get(daemon) ?? ''),
      by_repo: teamLines(seen, ({ repo }) => repo),
    });
  });
}

const mayNot = new AgtmuxError('E_ROLE', 'this needs the role admin', { next: 'ask an admin of the hub' });
const signedOut = new AgtmuxError('E_SIGNED_OUT', 'you are not signed in to the hub, or no longer', {
  next: 'sign in again; a link is printed by `agtmux hub link` at the hub',
});

const told = ({ tenant, session }: SignedIn) => ({
  ...{ tenant, who: session.who, role: session.role, owners: session.owners, repos: session.repos },
  expires_at: new Date(session.expires_at).toISOString(),
});

/** Nothing where it is there more than once: one of them is somebody else's. */
export function cookieOf(context: HubContext, name: string): string {
  const said = (context.req.header('cookie') ?? '').split(/;\s*/).filter((one) => one.startsWith(`${name}=`));
  return said.length === 1 ? (said[0]?.slice(name.length + 1) ?? '') : '';
}

export async function signedIn({ table, clock }: PeopleParts, context: HubContext): Promise<SignedIn> {
  const token = cookieOf(context, cookieName);
  const tenant = tenantOfCode(token);
  if (!enterSchema.shape.token.safeParse(token).success) throw signedOut;
  const hash = sessionHash(token);
  const session = await table.of(tenant).session(hash, clock.wallMs());
  if (session === null) throw signedOut;
  return { tenant, hash, session };
}

/** Pages of other origins say theirs; what has an effect has to say ours. */
function checkOrigin(context: HubContext): void {
  const origin = context.req.header('origin');
  const host = context.req.header('host');
  const isOurs =
    origin !== undefined &&
    host !== undefined &&
    /^https?:\/\//.test(origin) &&
    origin.replace(/^https?:\/\//, '') === host;
  if (!isOurs)
    throw new AgtmuxError('E_ORIGIN', 'the request does not come from a page of this hub', {
      next: 'use the pages of the hub',
    });
}

async function enter(parts: PeopleParts, context: HubContext): Promise<Response> {
  checkOrigin(context);
  const { token } = readValue(enterSchema, await readJson(context.env.incoming));
  const tenant = tenantOfCode(token);
  const found = await parts.table.of(tenant).takeSession(sessionHash(token), parts.clock.wallMs());
  if (found === null)
    throw new AgtmuxError('E_SIGNED_OUT', 'this link was already used or has expired', {
      next: 'make another one: `agtmux hub link` at the hub',
    });
  const { session, cookie } = await sessionCookie(parts, tenant, found);
  const reply = jsonReply(told({ tenant, hash: session.hash, session }));
  reply.headers.set('set-cookie', cookie);
  return reply;
}

/** A page of this person's, for a working day. */
export async function sessionCookie(
  { table, random, clock, isSecure }: PeopleParts,
  tenant: string,
  person: Pick<PersonSession, 'who' | 'role' | 'owners' | 'repos'>,
): Promise<{ readonly session: PersonSession; readonly cookie: string }> {
  const token = `${tenant}-${random.hex(32)}`;
  const session: PersonSession = {
    ...{ who: person.who, role: person.role, owners: person.owners, repos: person.repos },
    ...{ hash: sessionHash(token), expires_at: clock.wallMs() + limits.hubSessionMs, kind: 'page' },
  };
  await table.of(tenant).putSession(session);
  const secure = isSecure ? '; Secure' : '';
  const age = Math.floor(limits.hubSessionMs / 1_000);
  return {
    session,
    cookie: `${cookieName}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`,
  };
}

function page({ assets }: PeopleParts, context: HubContext): Response {
  const { path, raw } = context.req;
  const asset: Asset | undefined = assets.get(path === '/' ? '/hub.html' : path);
  if (asset === undefined || path === '/index.html')
    throw new AgtmuxError('E_ROUTE', 'there is no such page at this hub');
  const reply = assetReply(asset, raw);
  for (const [name, value] of Object.entries(pageHeaders)) reply.headers.set(name, value);
  return reply;
}

/** One page that looks at one window: first all of it, then what changes in it, at most four times a second. */
class WindowStream {
  readonly #parts: PeopleParts;
  readonly #known: SignedIn;
  readonly #query: WindowQuery;
  readonly #outgoing: ServerResponse;
  readonly #sent = new Map<string, string>();
  #cancelListening: Cancel = () => undefined;
  #cancelRest: Cancel = () => undefined;
  #cancelLook: Cancel = () => undefined;
  #isResting = false;
  #isNews = false;
  #isOver = false;

  constructor(parts: PeopleParts, known: SignedIn, query: WindowQuery, outgoing: ServerResponse) {
    this.#parts = parts;
    this.#known = known;
    this.#query = query;
    this.#outgoing = outgoing;
  }

  async start(): Promise<void> {
    const outgoing = this.#outgoing;
    outgoing.on('close', () => this.#end());
    outgoing.on('drain', () => this.#news());
    outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', connection: 'close' });
    this.#cancelListening = await this.#parts.hub.listen(this.#known.tenant, () => this.#news());
    this.#look();
    this.#news();
  }

  #end(): void {
    this.#isOver = true;
    this.#cancelListening();
    this.#cancelRest();
    this.#cancelLook();
  }

  /** Whoever was signed out sees nothing more; and a line now and then keeps proxies from closing it. */
  #look(): void {
    this.#cancelLook = this.#parts.clock.after(limits.hubBeatMs, () => {
      const { tenant, hash } = this.#known;
      void this.#parts.table
        .of(tenant)
        .session(hash, this.#parts.clock.wallMs())
        .then((session) => {
          if (session === null) this.#outgoing.end('event: cut\ndata: {}\n\n');
          else if (!this.#isOver) this.#outgoing.write(': here\n\n');
        })
        .catch(() => undefined)
        .finally(() => {
          if (!this.#isOver) this.#look();
        });
    });
  }

  #news(): void {
    this.#isNews = true;
    if (this.#isResting || this.#isOver || this.#outgoing.writableNeedDrain) return;
    this.#isNews = false;
    this.#isResting = true;
    this.#cancelRest = this.#parts.clock.after(limits.hubBatchMs, () => {
      this.#isResting = false;
      if (this.#isNews) this.#news();
    });
    void this.#write();
  }

  async #write(): Promise<void> {
    const { hub, clock } = this.#parts;
    const roster = await hub.rosterOf(this.#known.tenant);
    const { items, ...counts } = roster.window(this.#query, this.#known.session, clock.wallMs());
    const marked = items.map((row): readonly [WindowRow, string] => [
      row,
      `${row.version} ${row.state} ${row.reachable}`,
    ]);
    const rows = marked.flatMap(([row, mark]) => (this.#sent.get(row.id) === mark ? [] : [row]));
    this.#sent.clear();
    for (const [row, mark] of marked) this.#sent.set(row.id, mark);
    const data = safeJson({ ...counts, order: items.map(({ id }) => id), rows });
    if (!this.#isOver) this.#outgoing.write(`event: window\ndata: ${data}\n\n`);
  }
}
