// A hub in this process, and simulated edges that join it as real ones do.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeHash } from '../../src/hub/http.ts';
import { type HubOptions, type RunningHub, serveHub } from '../../src/hub/serve.ts';
import type { HubTable } from '../../src/hub/table.ts';
import { createRealClock } from '../../src/platform/clock.ts';
import { createRealFiles } from '../../src/platform/files.ts';
import type { Log } from '../../src/platform/log.ts';
import { createRealRandom } from '../../src/platform/random.ts';
import { createAskRemote, createOpenRemoteSocket } from '../../src/platform/remote.ts';
import { streamLink } from '../../src/uplink/link.ts';
import { joinHub, keyOf, type Membership } from '../../src/uplink/membership.ts';
import { SimulatedEdge, type SimulatedEdgeOptions } from '../kit/simulated-edge.ts';

export const clock = createRealClock();
export const random = createRealRandom();
export const files = createRealFiles();

export const quiet: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => quiet,
};

export class TestHub {
  readonly folder = mkdtempSync(join(tmpdir(), 'agt-hub-'));
  readonly warnings: string[] = [];
  readonly #more: Partial<HubOptions>;
  #table: HubTable | null = null;
  running: RunningHub | null = null;
  url = '';

  constructor(more: Partial<HubOptions> = {}) {
    this.#more = more;
  }

  async start(): Promise<RunningHub> {
    const port = this.url === '' ? 0 : Number(new URL(this.url).port);
    const log: Log = {
      ...quiet,
      warn: (words) => void this.warnings.push(words),
      error: (words) => void this.warnings.push(words),
    };
    this.running = await serveHub({
      ...{ clock, random, files, log, folder: this.folder, host: '127.0.0.1', port },
      pagesFolder: join(this.folder, 'pages'),
      memoryBytes: () => process.memoryUsage.rss(),
      cpuSeconds: () => 0,
      ...this.#more,
    });
    this.url = this.running.url;
    return this.running;
  }

  get now(): RunningHub {
    if (this.running === null) throw new Error('the hub does not run');
    return this.running;
  }

  async stop(): Promise<void> {
    const running = this.running;
    this.running = null;
    await running?.close();
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Of a hub that runs elsewhere: only what edges need. */
  joinAt(url: string, table: HubTable): void {
    this.url = url;
    this.#table = table;
  }

  get tenant(): string {
    return this.#more.tenant ?? 'main';
  }

  async code(
    tenant = this.tenant,
    owner = 'alice',
    kind: 'person' | 'ci' = 'person',
    label: string | null = null,
  ): Promise<string> {
    const code = `${tenant}-${random.hex(10)}`;
    const table = this.#table ?? this.now.table;
    await table.addTenant(tenant);
    await table.of(tenant).putCode({ hash: codeHash(code), label, owner, kind, expires_at: clock.wallMs() + 600_000 });
    return code;
  }

  async join(code: string, label = 'box'): Promise<Membership> {
    const path = join(this.folder, `member-${random.hex(6)}.json`);
    const parts = {
      clock,
      random,
      files,
      path,
      ask: createAskRemote(clock),
      hostName: label,
      version: 'test',
      lastAudit: async () => 0,
    };
    const joined = await joinHub(parts, { url: this.url, code, label, share: 'asks' });
    if (!joined.ok) throw new Error(`${joined.failure.code} ${joined.failure.message}`);
    return joined.value;
  }

  linkOf({ url, tenant, daemon, hub_key: hubKey, seed }: Membership): SimulatedEdgeOptions['link'] {
    const key = keyOf({ seed });
    return (life) => streamLink(clock, createOpenRemoteSocket(clock), { url, tenant, daemon, hubKey, key, life });
  }

  async edge(label = 'box', tenant = this.tenant, more: Partial<SimulatedEdgeOptions> = {}): Promise<JoinedEdge> {
    const membership = await this.join(await this.code(tenant), label);
    return new JoinedEdge(membership, { clock, link: this.linkOf(membership), ...more });
  }
}

export class JoinedEdge extends SimulatedEdge {
  readonly membership: Membership;

  constructor(membership: Membership, options: SimulatedEdgeOptions) {
    super(options);
    this.membership = membership;
  }
}

/** What stands at the edges, as the hub should have it: by daemon and key, the state and the version of the state. */
export const edgeRows = (edges: readonly JoinedEdge[]): readonly string[] =>
  edges
    .flatMap(({ membership, rows }) =>
      [...rows].map(([key, row]) => `${membership.daemon}/row:${key} ${row.state} ${row.state_version}`),
    )
    .sort();

export async function hubRows({ hub }: RunningHub, tenant = 'main'): Promise<readonly string[]> {
  const roster = await hub.rosterOf(tenant);
  return roster
    .all()
    .map((row) => `${row.daemon}/${row.key} ${row.item.state} ${row.item.state_version}`)
    .sort();
}

export async function tableRows({ table }: RunningHub, tenant = 'main'): Promise<readonly string[]> {
  const { rows } = await table.of(tenant).rows();
  return rows.map((row) => `${row.daemon}/${row.key} ${row.item.state} ${row.item.state_version}`).sort();
}

/** The same table, which fails where it should write a row with this key. */
export function failingTable(real: HubTable, key: string): HubTable {
  const of: HubTable['of'] = (tenant) => {
    const one = real.of(tenant);
    const apply: typeof one.apply = async (batches, cursor) => {
      if (batches.some(({ batch }) => batch.changes.some((change) => change.key === key)))
        throw new Error('this row cannot be written');
      return one.apply(batches, cursor);
    };
    return new Proxy(one, {
      get: (target, name) => {
        const found: unknown = name === 'apply' ? apply : Reflect.get(target, name, target);
        return typeof found === 'function' ? found.bind(target) : found;
      },
    });
  };
  return { ...real, of };
}
