// A daemon that is none: speaks the API on a socket and tells rows that were made up. For screens that must be the same on
// every run, and for figures of a client alone.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PaneItem, PaneRow } from '../../src/api/panes.ts';
import type { TargetItem } from '../../src/api/targets.ts';
import { apiHeader, apiVersion, schemaVersion, versionHeader } from '../../src/api/version.ts';
import { paneItem } from '../../src/view/lists-items.ts';

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

type Answers = (request: FakeRequest) => unknown;

export interface FakeDaemon {
  readonly env: NodeJS.ProcessEnv;
  readonly directory: string;
  /** What was asked of it, feeds aside, oldest first. */
  readonly requests: readonly FakeRequest[];
  /** From now on, told to everyone who follows; resolves when the socket took it. */
  put(items: readonly PaneItem[]): Promise<void>;
  remove(runtime: string): Promise<void>;
  setTargets(targets: readonly TargetItem[]): Promise<void>;
  /** Another answer than its own, or undefined for that. */
  answer(answers: Answers): void;
  /** Told to everyone who comes from now on, behind the snapshot; null: nothing. */
  corrupt(bytes: string | null): void;
  end(): Promise<void>;
}

const iso = (wallMs: number): string => new Date(wallMs).toISOString();

/** A row of `test/kit/rows.ts` whose times are so many ms ago. */
export const itemOf = (row: PaneRow, fields: Partial<PaneItem> = {}, ageMs = 270_000): PaneItem => ({
  ...paneItem(row, () => Date.now() - ageMs),
  ...fields,
});

export const targetOf = (target: string, fields: Partial<TargetItem> = {}): TargetItem => ({
  target,
  kind: 'local',
  health: 'ok',
  trouble: null,
  tmux_version: '3.5a',
  last_seen_at: iso(Date.now()),
  panes: 3,
  ...fields,
});

export async function startFakeDaemon(): Promise<FakeDaemon> {
  const directory = mkdtempSync(join(tmpdir(), 'agt-fake-'));
  const socketPath = join(directory, 'state/run/agtmux.sock');
  mkdirSync(join(directory, 'state/run'), { recursive: true, mode: 0o700 });
  const rows = new Map<string, PaneItem>();
  let targets: readonly TargetItem[] = [targetOf('host')];
  const followers = new Set<ServerResponse>();
  const requests: FakeRequest[] = [];
  let answers: Answers = () => undefined;
  let version = 1;
  let nonsense: string | null = null;
  const head = (): object => ({ schema_version: schemaVersion, generated_at: iso(Date.now()) });

  const frame = (event: string, data: object): string =>
    `event: ${event}\nid: fake:${version}\ndata: ${JSON.stringify({ ...head(), ...data })}\n\n`;
  const items = (): object[] => [
    ...[...rows].map(([key, value]) => ({ key, value })),
    ...targets.map((value) => ({ key: `target:${value.target}`, value })),
  ];

  async function tell(changes: readonly { readonly key: string; readonly value: unknown }[]): Promise<void> {
    version += 1;
    const text = frame('changes', {
      from: version - 1,
      to: version,
      changes: changes.map((one) => ({ version, ...one })),
      events: [],
    });
    await Promise.all(
      [...followers].map((follower) =>
        follower.write(text) ? null : new Promise<void>((resolve) => follower.once('drain', () => resolve())),
      ),
    );
  }

  function follow(response: ServerResponse): void {
    response.setHeader('content-type', 'text/event-stream');
    response.write(frame('snapshot', { epoch: 'fake', version, items: items(), events: [] }));
    if (nonsense !== null) response.write(nonsense);
    followers.add(response);
    response.on('close', () => followers.delete(response));
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader(apiHeader, String(apiVersion));
    response.setHeader(versionHeader, '0.1.0');
    const path = request.url ?? '';
    if (path.startsWith('/v1/feed')) {
      follow(response);
      return;
    }
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const asked: FakeRequest = { method: request.method ?? 'GET', path, body: text === '' ? null : JSON.parse(text) };
    requests.push(asked);
    const answer = answers(asked) ?? plainAnswer(asked);
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(
      JSON.stringify(
        answer === undefined
          ? { error: { code: 'E_ROUTE', message: 'there is no such thing here', next: 'nothing' } }
          : { ...head(), ...(answer as object) },
      ),
    );
  }

  function plainAnswer({ path, body }: FakeRequest): object | undefined {
    if (path.startsWith('/v1/status')) return { version: '0.1.0' };
    if (path.startsWith('/v1/queue')) return { items: [] };
    if (path.startsWith('/v1/targets')) return { items: targets };
    if (path.startsWith('/v1/act')) {
      const { action, ref } = body as { action: string; ref: string };
      const receipt = { outcome: 'delivered', way: 'keys', failure: null, words: null, snapshot_id: 'snap-1' };
      return { ...receipt, action, ref, runtime_id: ref.replace('runtime:', '') };
    }
    return undefined;
  }

  const server = createServer((request, response) => void handle(request, response));
  server.keepAliveTimeout = 0;
  const listen = async (): Promise<void> => {
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    chmodSync(socketPath, 0o600);
  };
  const stop = async (): Promise<void> => {
    for (const follower of followers) follower.destroy();
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  await listen();
  mkdirSync(join(directory, 'home'), { recursive: true });
  writeFileSync(join(directory, 'home/.profile'), '');
  return {
    env: {
      PATH: process.env.PATH,
      HOME: join(directory, 'home'),
      TMUX_TMPDIR: directory,
      AGTMUX_STATE_DIR: join(directory, 'state'),
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      SHELL: '/bin/sh',
      TZ: 'UTC',
    },
    directory,
    requests,
    put: (more) => {
      const changes = more.map((value) => ({ key: `row:${value.runtime_id ?? value.ref}`, value }));
      for (const { key, value } of changes) rows.set(key, value);
      return tell(changes);
    },
    remove: (runtime) => {
      rows.delete(`row:${runtime}`);
      return tell([{ key: `row:${runtime}`, value: null }]);
    },
    setTargets: (more) => {
      targets = more;
      return tell(more.map((value) => ({ key: `target:${value.target}`, value })));
    },
    answer: (more) => {
      answers = more;
    },
    corrupt: (bytes) => {
      nonsense = bytes;
    },
    end: async () => {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
