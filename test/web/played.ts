// A played daemon for the pages: serves the built pages under the policy of the real web server, tells the feed, answers every
// route that the pages use with what stands on the stage, and remembers what was asked. Bodies are checked with the real
// schemas: what the real daemon would refuse is refused here.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { actSchema, queueEditSchema } from '../../src/api/actions.ts';
import { agentChangeSchema } from '../../src/api/explain.ts';
import { newHookApplySchema, newHookPlanSchema } from '../../src/api/hooks.ts';
import type { PaneItem } from '../../src/api/panes.ts';
import { newSessionSchema, sessionCommandSchemas } from '../../src/api/sessions.ts';
import { shellClaimSchema } from '../../src/api/shells.ts';
import { newTargetSchema } from '../../src/api/targets.ts';
import { playedLive } from './played-live.ts';
import * as stage from './stage.ts';

const pages = fileURLToPath(new URL('../../dist/web/', import.meta.url));

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types agtmux";

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
};

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Play {
  readonly url: string;
  readonly asked: Asked[];
  /** What was asked of this path, newest last. */
  askedOf(path: string): readonly Asked['body'][];
  /** On the feed, to every page. */
  change(key: string, value: unknown): void;
  rows(): ReadonlyMap<string, PaneItem>;
  /** What the next action becomes. */
  outcome: { outcome: string; words: string | null; failure: object | null };
  /** False: the web server does not know this browser. */
  isKnown: boolean;
  isReadOnly: boolean;
  /** Cuts every connection of the feed and of panes. */
  cut(): void;
  /** Stops answering altogether, and back. */
  stop(): void;
  start(): void;
  sayInSession(message: object): void;
  readonly live: ReturnType<typeof playedLive>;
  end(): Promise<void>;
}

type Reply = readonly [status: number, body: object];

const head = () => ({ schema_version: 1, generated_at: new Date().toISOString() });
const ok = (body: object): Reply => [200, { ...head(), ...body }];
const refused = (status: number, code: string, message: string): Reply => [
  status,
  { error: { code, message, next: 'try something else' } },
];

const notices = {
  path: '/home/ada/.config/agtmux/notifications.toml',
  on: ['waiting_approval', 'waiting_input', 'error', 'completed'],
  channels: ['browser'],
  quiet: null as string | null,
  skip_looked_at: false,
  desktop_text: 'names',
  push_text: 'names',
  rules: [],
  command: null,
  webhook: null,
  mutes: [] as object[],
  is_quiet_now: false,
  trouble: null,
  status: [{ channel: 'browser', is_on: true, told: 3, failed: 0, last_trouble: null }],
};

interface World {
  readonly items: Map<string, unknown>;
  readonly readers: Set<ServerResponse>;
  readonly talkers: Set<ServerResponse>;
  settings: typeof notices;
  version: number;
}

function emptyWorld(isEmpty: boolean): World {
  const items = new Map<string, unknown>();
  if (!isEmpty) {
    for (const row of stage.agentRows()) items.set(`row:${row.runtime_id}`, row);
    for (const shell of stage.shellItems()) items.set(`shell:${shell.shell_id}`, shell);
    for (const target of stage.targetItems()) items.set(`target:${target.target}`, target);
  }
  return { items, readers: new Set(), talkers: new Set(), settings: notices, version: 1 };
}

const sse = (event: string, id: string, data: object): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

function timelineOf(query: URLSearchParams, isEmpty: boolean): Reply {
  const ref = query.get('ref');
  const items = isEmpty ? [] : stage.lanes().filter((lane) => ref === null || lane.ref === ref);
  const totals = { ...(items[0]?.totals ?? stage.lanes()[0]?.totals) } as Record<string, number>;
  for (const state of Object.keys(totals))
    totals[state] = items.reduce((sum, lane) => sum + (lane.totals[state as keyof typeof lane.totals] ?? 0), 0);
  const waited_ms = items.reduce((sum, lane) => sum + lane.waited_ms, 0);
  const days = [52, 38, 71, 24, 12, 46, Math.round(waited_ms / 60_000)].map((minutes, place) => ({
    day: new Date(Date.now() - (6 - place) * 86_400_000).toISOString().slice(0, 10),
    totals,
    waited_ms: isEmpty ? 0 : minutes * 60_000,
  }));
  const since = query.get('since') ?? stage.ago(86_400_000);
  const until = query.get('until') ?? new Date().toISOString();
  return ok({ since, until, items, days, totals, waited_ms, is_cut: false });
}

/** What is read, by its path; null for what there is not. */
function read(world: World, path: string, query: URLSearchParams, isEmpty: boolean): Reply | null {
  const part = path.split('/').map(decodeURIComponent);
  if (path === '/v1/timeline') return timelineOf(query, isEmpty);
  if (path === '/v1/usage') return ok(stage.usageReport(isEmpty));
  if (path === '/v1/queue') return ok({ items: isEmpty ? [] : stage.queueItems() });
  if (path === '/v1/audit') return ok({ items: isEmpty ? [] : stage.auditItems() });
  if (path === '/v1/agents') return ok({ items: stage.adapters() });
  if (path === '/v1/managed') return ok({ items: isEmpty ? [] : stage.sessionItems() });
  if (path === '/v1/notifications/settings') return ok(world.settings);
  if (path === '/v1/output')
    return ok({
      ref: query.get('ref'),
      from: 'screen',
      lines: ['first line', '<img src=x onerror=alert(1)>', 'last line'],
    });
  if (path === '/v1/explain') {
    const item = world.items.get(`row:${(query.get('ref') ?? '').replace('runtime:', '')}`) as PaneItem | undefined;
    return item === undefined ? refused(404, 'E_REF_NOT_FOUND', 'there is no such agent') : ok(stage.explanation(item));
  }
  if (path === '/v1/hooks')
    return ok({
      target: 'host',
      program: { path: '/usr/lib/agtmux-hook', state: 'current' },
      spool_dir: '/tmp/spool',
      environment: [],
      agents: [
        { agent: 'claude', state: 'installed', is_used: true, files: [], notes: [] },
        {
          agent: 'codex',
          state: 'absent',
          is_used: true,
          files: [],
          notes: ['Codex asks once whether it may run them.'],
        },
      ],
    });
  if (/^\/v1\/agents\/[^/]+\/diff$/.test(path)) return ok(stage.agentDiff(part[3] ?? ''));
  if (/^\/v1\/shells\/[^/]+\/log$/.test(path))
    return ok({
      shell_id: part[3],
      attempt: 1,
      lines: stage.shellLog,
      cursor: '1:512',
      has_more: false,
      truncated: false,
      partial_line: false,
      has_split_line: false,
      is_capped: false,
      diagnosis: query.get('mode') === 'diagnostic' ? 'it still runs; 512 bytes so far' : null,
      notices: [],
    });
  return null;
}

/** What is done, by its path. */
function write(world: World, play: Play, asked: Asked): Reply {
  const { method, path, body } = asked;
  const part = path.split('/').map(decodeURIComponent);
  if (path === '/v1/act') {
    const deed = actSchema.parse(body);
    return ok({
      action: deed.action,
      ref: body.ref,
      runtime_id: null,
      snapshot_id: null,
      way: 'keys',
      ...play.outcome,
    });
  }
  if (part[2] === 'queue') {
    if (method === 'POST') queueEditSchema.parse(body);
    return ok({ action: 'queue', ref: null, runtime_id: null, snapshot_id: null, way: null, ...play.outcome });
  }
  if (path === '/v1/targets') {
    const { name, kind } = newTargetSchema.parse(body);
    const target = { ...stage.targetItems()[0], target: name, kind };
    play.change(`target:${name}`, target);
    return [201, { ...head(), target }];
  }
  if (part[2] === 'targets') {
    if (method === 'DELETE') play.change(`target:${part[3]}`, null);
    return method === 'DELETE' ? ok({ done: true }) : ok({ target: world.items.get(`target:${part[3]}`) as object });
  }
  if (part[2] === 'agents') return ok({ items: agentChangeSchema.parse(body).enabled ? stage.adapters() : [] });
  if (path === '/v1/hooks/plan') {
    const { action, agents } = newHookPlanSchema.parse(body);
    const edits = [
      { agent: agents[0], path: '/home/ada/.codex/config.toml', change: 'change', diff: '+notify = ["agtmux-hook"]' },
    ];
    return ok({ target: 'host', action, digest: 'd1', edits, agents, unused: [], notes: [] });
  }
  if (path === '/v1/hooks/apply') {
    const { action } = newHookApplySchema.parse(body);
    return ok({ target: 'host', action, written: ['/home/ada/.codex/config.toml'], removed: [], notes: [], trust: [] });
  }
  if (path === '/v1/managed') {
    newSessionSchema.parse(body);
    return [201, { ...head(), session: stage.sessionItems()[0] }];
  }
  if (part[2] === 'managed') {
    sessionCommandSchemas[part[4] as keyof typeof sessionCommandSchemas].parse(body);
    return ok({ session: stage.sessionItems().find(({ id }) => id === part[3]) ?? {} });
  }
  if (part[2] === 'shells') {
    shellClaimSchema.parse(body);
    return ok({
      result: 'Killed',
      reason: `${part[4]} done`,
      ended_by: 'user',
      shell: null,
      page: null,
      failure: null,
      notices: [],
    });
  }
  if (part[2] === 'notifications') {
    if (part[3] === 'settings') world.settings = { ...world.settings, ...body };
    if (part[3] === 'mute')
      world.settings = { ...world.settings, mutes: [{ agent: null, project: null, until: null }], is_quiet_now: true };
    if (part[3] === 'unmute') world.settings = { ...world.settings, mutes: [], is_quiet_now: false };
    return ok(world.settings);
  }
  if (path === '/web/ticket') return ok({ ticket: 't1', expires_at: new Date().toISOString() });
  if (path === '/web/leave') return ok({ done: true });
  return refused(404, 'E_ROUTE', 'there is no such route');
}

const bodyOf = async (incoming: IncomingMessage): Promise<Asked['body']> => {
  let text = '';
  for await (const chunk of incoming) text += chunk;
  return text === '' ? {} : (JSON.parse(text) as Asked['body']);
};

function serveFile(path: string, outgoing: ServerResponse): void {
  const name = extname(path) === '' ? 'index.html' : path.slice(1);
  const headers = { 'content-security-policy': policy, 'content-type': types[extname(name)] ?? 'text/plain' };
  try {
    const file = readFileSync(join(pages, name));
    outgoing.writeHead(200, headers).end(file);
  } catch {
    outgoing.writeHead(404).end();
  }
}

export async function openPlay({ isEmpty = false }: { readonly isEmpty?: boolean } = {}): Promise<Play> {
  const world = emptyWorld(isEmpty);
  const live = playedLive();
  const entrance = () => ({
    ...head(),
    role: 'human',
    read_only: play.isReadOnly,
    expires_at: head().generated_at,
    version: '0.1.0',
  });
  const open = (outgoing: ServerResponse, set: Set<ServerResponse>): void => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    set.add(outgoing);
    outgoing.on('close', () => set.delete(outgoing));
  };

  function follow(outgoing: ServerResponse): void {
    open(outgoing, world.readers);
    const items = [...world.items].map(([key, value]) => ({ key, value }));
    const data = { ...head(), epoch: 'e', version: world.version, items, events: [] };
    outgoing.write(sse('snapshot', `e:${world.version}`, data));
  }

  function talk(outgoing: ServerResponse, id: string): void {
    const session = stage.sessionItems().find((one) => one.id === id);
    if (session === undefined) {
      const [status, body] = refused(404, 'E_REF_NOT_FOUND', 'there is no such session');
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    open(outgoing, world.talkers);
    outgoing.write(sse('messages', '5', { ...head(), id, messages: stage.messages(), cursor: 5, truncated: false }));
    outgoing.write(sse('session', '5', { ...head(), session }));
  }

  function answer(asked: Asked, query: URLSearchParams): Reply {
    const { method, path, body } = asked;
    if (path === '/web/enter')
      return body.token === 'abc123'
        ? ok({ ...entrance(), key: 'k1' })
        : refused(401, 'E_ROLE', 'this link was used or is too old');
    if (!play.isKnown) return refused(401, 'E_ROLE', 'this browser is not signed in');
    if (path === '/web/session') return ok(entrance());
    if (method === 'GET') return read(world, path, query, isEmpty) ?? refused(404, 'E_ROUTE', 'there is no such route');
    try {
      return write(world, play, asked);
    } catch (error) {
      return refused(400, 'E_INPUT', String(error).slice(0, 200));
    }
  }

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { pathname: path, searchParams } = new URL(incoming.url ?? '/', 'http://x');
    if (!path.startsWith('/v1/') && !path.startsWith('/web/')) return serveFile(path, outgoing);
    const asked = { method: incoming.method ?? 'GET', path, body: await bodyOf(incoming) };
    play.asked.push(asked);
    if (play.isKnown && path === '/v1/feed') return follow(outgoing);
    const session = /^\/v1\/managed\/([^/]+)\/follow$/.exec(path)?.[1];
    if (play.isKnown && session !== undefined) return talk(outgoing, decodeURIComponent(session));
    const [status, body] = answer(asked, searchParams);
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  const server = createServer((incoming, outgoing) => void handle(incoming, outgoing));
  const sockets = new WebSocketServer({ noServer: true });
  // While it is stopped it keeps its port, which another could take meanwhile, and hangs up on whoever calls.
  let isStopped = false;
  server.on('connection', (socket) => {
    if (isStopped) socket.resetAndDestroy();
  });
  server.on('upgrade', (incoming, socket, first) => sockets.handleUpgrade(incoming, socket, first, live.join));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const play: Play = {
    url: `http://127.0.0.1:${port}`,
    asked: [],
    askedOf: (path) => play.asked.filter((one) => one.path === path).map(({ body }) => body),
    change(key, value) {
      if (value === null) world.items.delete(key);
      else world.items.set(key, value);
      world.version += 1;
      const changes = [{ version: world.version, key, value }];
      const data = { ...head(), from: world.version - 1, to: world.version, changes, events: [] };
      for (const reader of world.readers) reader.write(sse('changes', `e:${world.version}`, data));
    },
    rows: () => world.items as ReadonlyMap<string, PaneItem>,
    outcome: { outcome: 'delivered', words: null, failure: null },
    isKnown: true,
    isReadOnly: false,
    cut() {
      for (const reader of [...world.readers, ...world.talkers]) reader.destroy();
      live.cut();
    },
    stop() {
      isStopped = true;
      play.cut();
      server.closeAllConnections();
    },
    start() {
      isStopped = false;
    },
    sayInSession(message) {
      for (const talker of world.talkers)
        talker.write(sse('messages', '6', { ...head(), id: 's7', messages: [message], cursor: 6, truncated: false }));
    },
    live,
    async end() {
      play.stop();
      await new Promise((resolve) => server.close(resolve));
      sockets.close();
    },
  };
  return play;
}
