// A hub as a fleet has it, for suites: two processes on one NATS and one PostgreSQL, behind one address, with simulated daemons that
// joined it. Everything can be killed and comes back where it was.

import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HubWindow } from '../../../src/api/hub.ts';
import { sessionHash } from '../../../src/hub/people-routes.ts';
import { openHubTable } from '../../../src/hub/serve.ts';
import type { HubTable } from '../../../src/hub/table.ts';
import { createWorld, type Running, type World } from '../../cli/kit.ts';
import { until } from '../../kit/tmux-server.ts';
import { clock, edgeRows, type JoinedEdge, TestHub } from '../kit.ts';
import { TestNats } from './nats.ts';
import { TestPostgres } from './postgres.ts';

const cookie = `agtmux_hub=main-${'a'.repeat(64)}`;
/** As many rows as one window has. */
const pageRows = 500;

export type Process = 0 | 1;
export const both = [0, 1] as const;

export class Fleet {
  readonly nats = new TestNats();
  readonly postgres = new TestPostgres();
  readonly edges: JoinedEdge[] = [];
  /** The ids of actions that came to any edge. */
  readonly asked: string[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'agt-fleet-'));
  readonly #world: World = createWorld();
  readonly #processes: readonly { run: Running | null; port: number }[] = [
    { run: null, port: 0 },
    { run: null, port: 0 },
  ];
  readonly #sockets = new Set<Socket>();
  readonly #door: Server = createServer((inner) => this.#forward(inner));
  #joining: TestHub | null = null;
  #table: HubTable | null = null;
  #turn = 0;

  get table(): HubTable {
    if (this.#table === null) throw new Error('the fleet does not run');
    return this.#table;
  }

  async open(): Promise<void> {
    await this.nats.start();
    for (const at of both) await this.start(at);
    this.#table = await openHubTable({ folder: this.#folder, postgres: this.postgres.url });
    await this.#table.of('main').putSession({
      ...{ hash: sessionHash(cookie.slice(cookie.indexOf('=') + 1)), who: 'alice', role: 'admin', kind: 'page' },
      ...{ owners: [], repos: [], expires_at: clock.wallMs() + 24 * 3_600_000 },
    });
    await new Promise<void>((resolve) => this.#door.listen(0, '127.0.0.1', resolve));
    this.#joining = new TestHub();
    this.#joining.joinAt(`http://127.0.0.1:${(this.#door.address() as AddressInfo).port}`, this.#table);
  }

  async addEdge(label: string): Promise<JoinedEdge> {
    if (this.#joining === null) throw new Error('the fleet does not run');
    const edge = await this.#joining.edge(label, 'main', {
      onAsk: async (kind, body) => {
        if (kind !== 'act') return null;
        this.asked.push((JSON.parse((body as { text: string }).text) as { id: string }).id);
        return { outcome: 'delivered', failure: null, words: null, way: 'keys', ref: null };
      },
    });
    this.edges.push(edge);
    return edge;
  }

  async end(): Promise<void> {
    await Promise.all(this.edges.map((edge) => edge.end()));
    this.#door.close();
    for (const socket of this.#sockets) socket.destroy();
    for (const { run } of this.#processes) {
      run?.signal('SIGTERM');
      await run?.ended;
    }
    await this.#table?.close();
    await this.#joining?.end();
    await this.#world.end();
    await this.nats.end();
    this.postgres.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async start(at: Process): Promise<void> {
    const one = this.#processes[at];
    if (one === undefined) return;
    const run = this.#world.start(
      ...['hub', 'serve', '--folder', this.#folder, '--listen', `127.0.0.1:${one.port}`],
      ...['--nats', this.nats.url, '--postgres', this.postgres.url],
    );
    one.run = run;
    await until('a process of the hub serves', async () => run.lines.some((line) => line.includes('http://')));
    one.port = Number(/http:\/\/[\d.]+:(\d+)/.exec(run.lines.join(' '))?.[1]);
  }

  /** At once, as with a power cut. */
  async kill(at: Process): Promise<void> {
    this.#processes[at]?.run?.signal('SIGKILL');
    await this.#processes[at]?.run?.ended;
  }

  urlOf(at: Process): string {
    return `http://127.0.0.1:${this.#processes[at]?.port}`;
  }

  async window(at: Process, query: string): Promise<HubWindow> {
    const reply = await fetch(`${this.urlOf(at)}/hub/v1/list?limit=${pageRows}${query}`, { headers: { cookie } });
    if (reply.status !== 200) throw new Error(`${reply.status} ${await reply.text()}`);
    return (await reply.json()) as HubWindow;
  }

  /** Everything that this process lists, window by window. */
  async listed(at: Process): Promise<string> {
    const rows: string[] = [];
    for (let offset = 0; ; offset += pageRows) {
      const { items, total } = await this.window(at, `&sort=age&offset=${offset}`);
      rows.push(...items.map(({ id, item }) => `${id} ${item.state} ${item.state_version}`));
      if (offset + pageRows >= total) return rows.sort().join('\n');
    }
  }

  union(): string {
    return edgeRows(this.edges).join('\n');
  }

  async post(at: Process, path: string, body: unknown): Promise<Response> {
    const headers = { cookie, origin: this.urlOf(at), 'content-type': 'application/json' };
    return fetch(`${this.urlOf(at)}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  async approve(at: Process, { membership }: JoinedEdge): Promise<string> {
    const id = `${membership.daemon}/row:r1`;
    const reply = await this.post(at, '/hub/v1/act', {
      ...{ id, state_version: null },
      act: { action: 'approve', ask_id: 'a' },
    });
    return ((await reply.json()) as { receipt?: { outcome: string } }).receipt?.outcome ?? `${reply.status}`;
  }

  async metric(at: Process, name: string): Promise<number> {
    const text = await (await fetch(`${this.urlOf(at)}/metrics`)).text();
    return Number(new RegExp(`^agtmux_hub_${name} ([\\d.]+)`, 'm').exec(text)?.[1]);
  }

  /** As a load balancer does: one of them, and where that takes no connection the other one. */
  #forward(inner: Socket): void {
    const [first, second] = this.#turn++ % 3 === 0 ? [1, 0] : [0, 1];
    const reach = (at: number | undefined, isLast: boolean): void => {
      const outer = connect(this.#processes[at ?? 0]?.port ?? 0, '127.0.0.1');
      let isOpen = false;
      this.#sockets.add(inner).add(outer);
      outer.once('connect', () => {
        isOpen = true;
        inner.pipe(outer).pipe(inner);
      });
      outer.on('error', () => (isOpen || isLast ? inner.destroy() : reach(second, true)));
      outer.on('close', () => {
        this.#sockets.delete(outer);
        if (isOpen) inner.destroy();
      });
      inner.on('error', () => outer.destroy());
      inner.on('close', () => {
        this.#sockets.delete(inner);
        outer.destroy();
      });
    };
    reach(first, false);
  }
}
