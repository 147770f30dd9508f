// A small daemon for the contract tests: rows in memory, a real feed, and counters of what was asked of it.

import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExplainedRow, PaneRow } from '../../../src/api/panes.ts';
import type { TargetRow } from '../../../src/api/targets.ts';
import { referTo } from '../../../src/engine/refer.ts';
import type { FeedRow } from '../../../src/feed/feed.ts';
import { createFeed } from '../../../src/feed/feed.ts';
import type { CallerClaim } from '../../../src/model/actions.ts';
import type { EditorService } from '../../../src/model/editors.ts';
import { fail, ok, type Result } from '../../../src/model/errors.ts';
import type { AgentInfo } from '../../../src/model/explanations.ts';
import type { HubMembership, HubService } from '../../../src/model/hub.ts';
import type { Lane } from '../../../src/model/state-history.ts';
import { verdict } from '../../../src/model/verdicts.ts';
import type { WebService } from '../../../src/model/web.ts';
import { type Clock, createRealClock } from '../../../src/platform/clock.ts';
import { serveApi } from '../../../src/server/server.ts';
import type { DaemonService } from '../../../src/server/service.ts';
import { gitFacts, paneRow, type RowOptions, targetRow } from '../../kit/rows.ts';
import { FakeActing } from './kit-act.ts';
import { FakeNotices, FakePush } from './kit-notices.ts';
import { FakeRestore } from './kit-restore.ts';
import { FakeSessions } from './kit-sessions.ts';
import { FakeShells } from './kit-shells.ts';

const outcome = { target: 'host', action: 'install', notes: [] } as const;
const fakeHooks: DaemonService['hooks'] = {
  status: async ({ target }) =>
    target === 'host'
      ? ok({
          target,
          program: { path: '/state/bin/agtmux-hook', state: 'absent' },
          spool_dir: '/state/spool',
          environment: ['CODEX_HOME'],
          agents: [],
        })
      : fail('E_REF_NOT_FOUND', `there is no target ${target}`),
  plan: async () => ok({ ...outcome, digest: 'd', edits: [], agents: [], unused: [] }),
  apply: async () => ok({ ...outcome, written: [], removed: [], trust: [] }),
};

const fakeWeb: WebService = {
  open: async ({ read_only }) => {
    const place = { address: '127.0.0.1', port: 8137, is_exposed: false };
    return ok({ ...place, url: 'http://127.0.0.1:8137/#token=x', read_only, expires_at: 1_300_000 });
  },
  shut: async () => ok(null),
  status: () => ({ is_open: false, address: null, port: null, origin: null, sessions: 0 }),
};

const fakeEditor = { id: '0a0b0c0d', name: 'VS Code on box', scopes: ['look'] } as const;

const fakeEditors: EditorService = {
  createCode: async (scopes) => ok({ code: 'ABCDE-FGHJK', scopes, expires_at: 1_300_000 }),
  pair: async () => ok({ ...fakeEditor, key: '0a0b0c0d.x' }),
  list: () => [{ ...fakeEditor, paired_at: 1_000_000, opened_by: 'a person', paired_by: 'node', used_at: null }],
  revoke: async () => ok(1),
  report: async () => ok(null),
  holderOf: () => null,
};

const fakeLive: DaemonService['live'] = { open: async () => fail('E_UNSUPPORTED', 'there are no panes here') };

const nothingUsed = {
  answers: 0,
  input: 0,
  output: 0,
  cache_read: 0,
  cache_write: 0,
  cost: null,
  unpriced: 0,
  context: null,
};
const usageReport = {
  items: [],
  total: { name: '', ...nothingUsed },
  prices: { date: '2026-11-01', source: 'a test' },
  files: 0,
  broken_lines: 0,
  budget_day: null,
};

export class FakeDaemon implements DaemonService {
  readonly #rows = new Map<string, PaneRow>();
  readonly #targets = new Map<string, TargetRow>();
  readonly taken: unknown[] = [];
  stops = 0;
  version = '9.8.7';
  /** What `submitEvents` throws instead of answering. */
  trouble: Error | null = null;
  readonly feed = createFeed<FeedRow>({
    epoch: 'ep:och',
    firstVersion: 7,
    snapshot: () => [
      ...[...this.#rows].map(([key, value]) => ({ key, value })),
      ...[...this.#targets].map(([key, value]) => ({ key, value })),
      ...this.shells.snapshot(),
    ],
    changesMax: 500,
    subscriberChangesMax: 100,
    subscribersMax: 64,
  });

  constructor() {
    this.putTarget(targetRow('host'));
  }

  put(options: RowOptions): PaneRow {
    const row = paneRow(options);
    this.#rows.set(`row:${row.ref}`, row);
    this.feed.publish([{ key: `row:${row.ref}`, value: row }]);
    return row;
  }

  drop(row: PaneRow): void {
    this.#rows.delete(`row:${row.ref}`);
    this.feed.publish([{ key: `row:${row.ref}`, value: null }]);
  }

  putTarget(row: TargetRow): void {
    this.#targets.set(`target:${row.target}`, row);
    this.feed.publish([{ key: `target:${row.target}`, value: row }]);
  }

  async caughtUp(): Promise<void> {}

  timeline = async (): Promise<Result<readonly Lane[]>> => ok([]);
  explain = async (ref: string): Promise<Result<ExplainedRow>> => {
    const row = this.rows().find((one) => one.ref === ref || one.agent === ref);
    if (row === undefined) return fail('E_REF_NOT_FOUND', `nothing is called ${ref}`);
    const tried = [{ rule: 'a.rule', matched: false, why: 'footer lacks \u001b[31mred' }];
    const ask = row.ask === null ? null : 'rm -r build/*\nDo you want to proceed?';
    const read = { state: 'unknown', reason: 'unsupported_signal', confidence: 'low', rule: null } as const;
    const screen = { ...read, ask, tried };
    return ok({ row, evidence: [], screen, events: [] });
  };
  diff: DaemonService['diff'] = async (ref) => {
    const found = referTo(ref, this.rows());
    const files = [{ path: 'a.ts', old_path: null, change: 'modified', added: 1, removed: 2 } as const];
    const base = { kind: 'turn', head: null, at: this.toWall(this.time) } as const;
    const text = { patch: 'diff --git a/a.ts b/a.ts\n', is_cut: false };
    const diff = { git: gitFacts(), base, files, files_total: 1, left_out: 0, ...text };
    return found.ok ? ok({ row: found.value, diff }) : found;
  };
  agentInfos = (): readonly AgentInfo[] => [];
  ruleTroubles = (): readonly string[] => [];
  readonly claims: CallerClaim[] = [];
  setAgentEnabled = async (agent: string, _enabled: boolean, claim: CallerClaim): Promise<Result<null>> => {
    this.claims.push(claim);
    return agent === 'claude' ? ok(null) : fail('E_REF_NOT_FOUND', `there is no agent ${agent}`);
  };
  /** What `mayStop` answers. */
  stopping: Result<null> = ok(null);
  mayStop = async (claim: CallerClaim): Promise<Result<null>> => {
    this.claims.push(claim);
    return this.stopping;
  };
  readonly hooks = fakeHooks;
  readonly mcp = fakeHooks;
  readonly acting = new FakeActing(() => this.rows());
  readonly shells = new FakeShells(() => this.feed);
  readonly sessions = new FakeSessions();
  readonly notices = new FakeNotices();
  readonly push = new FakePush();
  readonly live = fakeLive;
  readonly restore = new FakeRestore();
  readonly search: DaemonService['search'] = {
    grep: async ({ pattern, places }) => {
      if (pattern === '(') return fail('E_INPUT', 'the pattern cannot be used: missing )');
      const found = { ref: 'runtime:r', runtime_id: 'r', shell_id: null, name: 'claude', where: 'host/work:1.0' };
      const items = places.map((place) => ({ ...found, place, line: `${pattern} in ${place}` }));
      return ok({ items, is_cut: false, searched: 3, left_out: 1 });
    },
  };
  readonly usage: { report: DaemonService['usage']['report'] } = {
    report: async ({ by, since }) => ok({ ...usageReport, by, since }),
  };
  readonly hub = fakeHub;
  rows = (): readonly PaneRow[] => [...this.#rows.values()];
  targets = (): readonly TargetRow[] => [...this.#targets.values()];
  /** The daemon's time. */
  time = 1_000_000;
  now = (): number => this.time;

  toWall = (time: number): number => time + 1_700_000_000_000;

  status(): ReturnType<DaemonService['status']> {
    return {
      version: this.version,
      pid: process.pid,
      up_ms: 5,
      ready: true,
      state_dir: '/state',
      socket_path: '/run/agtmux.sock',
      trouble: null,
      events: {
        taken: this.taken.length,
        verdicts: {
          applied: this.taken.length,
          refreshed: 0,
          merged: 0,
          duplicate: 0,
          late: 0,
          pending: 0,
          unbound: 0,
          refused: 0,
        },
      },
      hook_calls: { taken: 0, waiting: 0, refused: 0 },
      restorable: this.restore.waiting,
      shells: { running: this.shells.list().length, run_to_answer: this.shells.latency() },
      feed_version: this.feed.version(),
      memory_bytes: 1,
    };
  }

  async submitEvents(raws: readonly unknown[], claim: CallerClaim): ReturnType<DaemonService['submitEvents']> {
    this.claims.push(claim);
    if (this.trouble !== null) throw this.trouble;
    this.taken.push(...raws);
    return raws.map(() => verdict('joined'));
  }

  async addTarget(target: Parameters<DaemonService['addTarget']>[0]): ReturnType<DaemonService['addTarget']> {
    const row = targetRow(target.name, { kind: target.kind });
    this.putTarget(row);
    return ok(row);
  }

  async connectTarget(target: TargetRow['target']): ReturnType<DaemonService['connectTarget']> {
    const row = this.#targets.get(`target:${target}`);
    return row === undefined ? fail('E_REF_NOT_FOUND', `there is no target ${target}`) : ok(row);
  }

  async removeTarget(target: TargetRow['target']): ReturnType<DaemonService['removeTarget']> {
    if (!this.#targets.delete(`target:${target}`)) return fail('E_REF_NOT_FOUND', `there is no target ${target}`);
    return ok(null);
  }

  stop(): void {
    this.stops += 1;
  }
}

export interface TestServer {
  readonly daemon: FakeDaemon;
  readonly path: string;
  readonly troubles: Error[];
  connections(): number;
  /** The API alone: the daemon and its feed live on. */
  shut(): Promise<void>;
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly daemon?: FakeDaemon;
  readonly path?: string;
  readonly clock?: Clock;
}

const membership: HubMembership = {
  url: 'https://hub.example.com',
  tenant: 'main',
  daemon: '0'.repeat(32),
  label: 'box',
  kind: 'person',
  share: 'asks',
  allows: [],
  allow_trouble: null,
  connected: true,
  trouble: null,
  last_sent_at: 1_700_000_000_000,
};

const fakeHub: HubService = {
  status: async () => membership,
  join: async () => ok(membership),
  leave: async () => ok(null),
  share: async (share) => ok({ ...membership, share }),
  list: async () =>
    ok({
      ...{ total: 0, needs_action: 0, offset: 0, items: [], missing: [] },
      ...{ by_state: {}, by_agent: {}, by_machine: {}, by_owner: {}, by_repo: {} },
    }),
};

export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const directory = options.path === undefined ? mkdtempSync(join(tmpdir(), 'agtmux-api-')) : null;
  const path = options.path ?? join(directory ?? '', 's.sock');
  const { daemon = new FakeDaemon(), clock = createRealClock() } = options;
  const troubles: Error[] = [];
  const onTrouble = (error: Error): void => void troubles.push(error);
  const served = await serveApi(daemon, path, { clock, onTrouble, web: fakeWeb, editors: fakeEditors });
  if (!served.ok) throw new Error(served.failure.message);
  return {
    daemon,
    path,
    troubles,
    connections: () => served.value.connections(),
    shut: () => served.value.close(),
    close: async () => {
      daemon.feed.close();
      await served.value.close();
      if (directory !== null) rmSync(directory, { recursive: true });
    },
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Ask {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A client that shares nothing with the product's own. */
export function ask(
  server: { readonly path: string },
  { method = 'GET', path, headers = {}, body }: Ask,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: server.path, path, method, headers: { ...headers }, agent: false }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(parts).toString() }),
      );
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
