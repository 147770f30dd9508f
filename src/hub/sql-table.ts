// The table of a hub in SQL, the same statements for both engines. What differs between them (how a transaction is made, how one
// is told of changes, what keeps tenants apart) is the driver's.

import type { WireItem, WireLog } from '../api/hub-wire.ts';
import { parseReply } from '../api/requests.ts';
import { projectOf } from '../model/rows.ts';
import type { MachineDaySum } from './history.ts';
import type { Query, SqlRow } from './schema.ts';
import { daySums, streamOfStates, takeStates } from './sql-history.ts';
import type {
  AgentRecord,
  AppliedBatches,
  CodeRecord,
  CursorMove,
  DaemonProgress,
  DaemonRecord,
  HubTable,
  LogRecord,
  NewDaemon,
  OrderRecord,
  PersonSession,
  SentBatch,
  TableChange,
  TenantTable,
} from './table.ts';
import { planBatches } from './table.ts';

export interface SqlDriver {
  readonly kind: HubTable['kind'];
  /** All or nothing, and nothing of another tenant can be seen in it. */
  within<Value>(tenant: string, work: (query: Query) => Promise<Value>): Promise<Value>;
  /** Besides tenants. */
  admin: Query;
  /** Tells other processes. */
  tell(query: Query, tenant: string): Promise<void>;
  onChange(listener: (tenant: string) => void): void;
  close(): Promise<void>;
}

/** Removed rows that another process may not have heard of yet; whoever is further behind reads everything. */
const removedKept = 20_000;

const marks = (rows: number, columns: number): string =>
  Array.from({ length: rows }, () => `(${Array.from({ length: columns }, () => '?').join(', ')})`).join(', ');

const number = (value: unknown): number => Number(value);
const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));
const text = (value: unknown): string => String(value);
const textOrNull = (value: unknown): string | null => (value === null ? null : String(value));
/** One engine hands JSON back as it was written, the other one read. */
const json = (value: unknown): unknown => (typeof value === 'string' ? parseReply(value) : value);

export function createSqlTable(driver: SqlDriver): HubTable {
  const tenants = new Map<string, SqlTenant>();
  return {
    kind: driver.kind,
    of(tenant) {
      const known = tenants.get(tenant) ?? new SqlTenant(driver, tenant);
      tenants.set(tenant, known);
      return known;
    },
    addTenant: async (tenant) => {
      await driver.within(tenant, (query) =>
        query('INSERT INTO tenants (tenant, change) VALUES (?, 0) ON CONFLICT (tenant) DO NOTHING', [tenant]),
      );
    },
    tenants: async () =>
      (await driver.admin('SELECT tenant FROM tenant_names ORDER BY tenant')).map((row) => text(row.tenant)),
    onChange: (listener) => driver.onChange(listener),
    check: () =>
      driver.admin('SELECT 1 AS one').then(
        () => true,
        () => false,
      ),
    close: () => driver.close(),
  };
}

class SqlTenant implements TenantTable {
  readonly tenant: string;
  readonly #driver: SqlDriver;

  constructor(driver: SqlDriver, tenant: string) {
    this.#driver = driver;
    this.tenant = tenant;
  }

  #do<Value>(work: (query: Query) => Promise<Value>): Promise<Value> {
    return this.#driver.within(this.tenant, work);
  }

  keepKey(publicKey: string, isNew: boolean): Promise<string> {
    return this.#do(async (query) => {
      const already = isNew ? 'UPDATE SET public_key = excluded.public_key' : 'NOTHING';
      await query(
        `INSERT INTO hub_keys (tenant, public_key) VALUES ${marks(1, 2)} ON CONFLICT (tenant) DO ${already}`,
        [this.tenant, publicKey],
      );
      const [row] = await query('SELECT public_key FROM hub_keys WHERE tenant = ?', [this.tenant]);
      return text(row?.public_key);
    });
  }

  async putCode({ hash, label, owner, kind, expires_at }: CodeRecord): Promise<void> {
    const values = [this.tenant, hash, label, owner, kind, expires_at];
    await this.#do((query) =>
      query(`INSERT INTO codes (tenant, hash, label, owner, kind, expires_at) VALUES ${marks(1, 6)}`, values),
    );
  }

  takeCode(hash: string, now: number): Promise<CodeRecord | null> {
    return this.#do(async (query) => {
      await query('DELETE FROM codes WHERE tenant = ? AND expires_at <= ?', [this.tenant, now]);
      const [row] = await query('DELETE FROM codes WHERE tenant = ? AND hash = ? RETURNING *', [this.tenant, hash]);
      if (row === undefined) return null;
      const kind = row.kind === 'ci' ? 'ci' : 'person';
      return { hash, label: textOrNull(row.label), owner: text(row.owner), kind, expires_at: number(row.expires_at) };
    });
  }

  putDaemon(one: NewDaemon): Promise<boolean> {
    const { daemon, public_key, label, owner, kind, share, agtmux, joined_at } = one;
    return this.#do(async (query) => {
      const [known] = await query('SELECT revoked_at FROM daemons WHERE tenant = ? AND daemon = ?', [
        this.tenant,
        daemon,
      ]);
      if (known !== undefined && known.revoked_at !== null) return false;
      await query(
        `INSERT INTO daemons (tenant, daemon, public_key, label, owner, kind, share, agtmux, joined_at) VALUES ${marks(1, 9)}
         ON CONFLICT (tenant, daemon) DO UPDATE SET label = excluded.label, owner = excluded.owner, kind = excluded.kind,
         share = excluded.share, agtmux = excluded.agtmux, joined_at = excluded.joined_at`,
        [this.tenant, daemon, public_key, label, owner, kind, share, agtmux, joined_at],
      );
      return true;
    });
  }

  daemon(daemon: string): Promise<DaemonRecord | null> {
    return this.#do(async (query) => {
      const [row] = await query('SELECT * FROM daemons WHERE tenant = ? AND daemon = ?', [this.tenant, daemon]);
      return row === undefined ? null : daemonOf(row);
    });
  }

  daemons(): Promise<readonly DaemonRecord[]> {
    return this.#do(async (query) =>
      (await query('SELECT * FROM daemons WHERE tenant = ? ORDER BY label, daemon', [this.tenant])).map(daemonOf),
    );
  }

  async putBeat(daemon: string, beat: Parameters<TenantTable['putBeat']>[1]): Promise<void> {
    const { share, allows, agtmux, seen_at, left_at } = beat;
    await this.#do((query) =>
      query(
        'UPDATE daemons SET share = ?, allows = ?, agtmux = ?, seen_at = ?, left_at = ? WHERE tenant = ? AND daemon = ?',
        [share, JSON.stringify(allows), agtmux, seen_at, left_at, this.tenant, daemon],
      ),
    );
  }

  async revoke(daemon: string, now: number): Promise<boolean> {
    const found = await this.#do((query) =>
      query(
        'UPDATE daemons SET revoked_at = ? WHERE tenant = ? AND daemon = ? AND revoked_at IS NULL RETURNING daemon',
        [now, this.tenant, daemon],
      ),
    );
    await this.dropRows(daemon);
    return found.length > 0;
  }

  dropRows(daemon: string): Promise<TableChange> {
    return this.#do(async (query) => {
      const change = await this.#nextChange(query);
      const gone = await query('DELETE FROM agents WHERE tenant = ? AND daemon = ? RETURNING key', [
        this.tenant,
        daemon,
      ]);
      await query('UPDATE daemons SET epoch = NULL WHERE tenant = ? AND daemon = ?', [this.tenant, daemon]);
      const removed = gone.map((row) => ({ daemon, key: text(row.key) }));
      await this.#noteRemoved(query, change, removed);
      await this.#driver.tell(query, this.tenant);
      return { change, rows: [], removed };
    });
  }

  /** One transaction of a tenant after the other: whoever changes rows holds this line. */
  async #nextChange(query: Query): Promise<number> {
    const [row] = await query('UPDATE tenants SET change = change + 1 WHERE tenant = ? RETURNING change', [
      this.tenant,
    ]);
    return number(row?.change ?? 0);
  }

  apply(batches: readonly SentBatch[], cursor?: CursorMove): Promise<AppliedBatches | null> {
    return this.#do(async (query) => {
      const change = await this.#nextChange(query);
      if (cursor !== undefined && !(await this.#moveCursor(query, cursor))) return null;
      const daemons = [...new Set(batches.map(({ daemon }) => daemon))];
      const progress = 'daemon, epoch, version, snap_epoch, snap_version, snap_part';
      const among = daemons.map(() => '?').join(', ');
      const known =
        daemons.length === 0
          ? []
          : await query(
              `SELECT ${progress} FROM daemons WHERE tenant = ? AND revoked_at IS NULL AND daemon IN (${among})`,
              [this.tenant, ...daemons],
            );
      const plan = planBatches(known.map(progressOf), batches);
      await this.#putRows(query, change, plan.rows);
      const removed = await this.#removeRows(query, plan.removed);
      const pruned: { daemon: string; key: string }[] = [];
      for (const { daemon, before } of plan.prunes) {
        const gone = await query('DELETE FROM agents WHERE tenant = ? AND daemon = ? AND version < ? RETURNING key', [
          this.tenant,
          daemon,
          before,
        ]);
        pruned.push(...gone.map((row) => ({ daemon, key: text(row.key) })));
      }
      for (const at of plan.progress) await this.#putProgress(query, at);
      const gone = [...removed, ...pruned];
      await this.#noteRemoved(query, change, gone);
      if (plan.rows.length + gone.length > 0) await this.#driver.tell(query, this.tenant);
      return { change, results: plan.results, rows: plan.rows, removed: gone };
    });
  }

  async #putRows(query: Query, change: number, rows: readonly AgentRecord[]): Promise<void> {
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      const some = rows.slice(from, from + rowsAtOnce);
      await query(
        `INSERT INTO agents (tenant, daemon, key, version, change, state, since, agent, repo, item) VALUES ${marks(some.length, 10)}
         ON CONFLICT (tenant, daemon, key) DO UPDATE SET version = excluded.version, change = excluded.change,
         state = excluded.state, since = excluded.since, agent = excluded.agent, repo = excluded.repo, item = excluded.item
         WHERE agents.version < excluded.version`,
        some.flatMap(({ daemon, key, version, item }) => [
          this.tenant,
          daemon,
          key,
          version,
          change,
          item.state,
          item.since,
          item.agent,
          projectOf(item.cwd),
          JSON.stringify(item),
        ]),
      );
    }
  }

  async #removeRows(
    query: Query,
    wanted: readonly { readonly daemon: string; readonly key: string; readonly version: number }[],
  ): Promise<{ daemon: string; key: string }[]> {
    const gone: { daemon: string; key: string }[] = [];
    for (const { daemon, key, version } of wanted) {
      const found = await query(
        'DELETE FROM agents WHERE tenant = ? AND daemon = ? AND key = ? AND version < ? RETURNING key',
        [this.tenant, daemon, key, version],
      );
      if (found.length > 0) gone.push({ daemon, key });
    }
    return gone;
  }

  async #noteRemoved(query: Query, change: number, gone: readonly { daemon: string; key: string }[]): Promise<void> {
    for (let from = 0; from < gone.length; from += rowsAtOnce) {
      const some = gone.slice(from, from + rowsAtOnce);
      const values = some.flatMap(({ daemon, key }) => [this.tenant, change, daemon, key]);
      await query(`INSERT INTO removed (tenant, change, daemon, key) VALUES ${marks(some.length, 4)}`, values);
    }
    if (gone.length > 0)
      await query('DELETE FROM removed WHERE tenant = ? AND change < ?', [this.tenant, change - removedKept]);
  }

  async #putProgress(query: Query, at: DaemonProgress): Promise<void> {
    await query(
      'UPDATE daemons SET epoch = ?, version = ?, snap_epoch = ?, snap_version = ?, snap_part = ? WHERE tenant = ? AND daemon = ?',
      [at.epoch, at.version, at.snap_epoch, at.snap_version, at.snap_part, this.tenant, at.daemon],
    );
  }

  rows(): Promise<TableChange> {
    return this.#do(async (query) => {
      const [now] = await query('SELECT change FROM tenants WHERE tenant = ?', [this.tenant]);
      const rows = await query('SELECT daemon, key, version, item FROM agents WHERE tenant = ?', [this.tenant]);
      return { change: number(now?.change ?? 0), rows: rows.map(agentOf), removed: [] };
    });
  }

  changesSince(change: number): Promise<TableChange | null> {
    return this.#do(async (query) => {
      const [now] = await query('SELECT change FROM tenants WHERE tenant = ?', [this.tenant]);
      const newest = number(now?.change ?? 0);
      if (change < newest - removedKept || change > newest) return null;
      const values = [this.tenant, change];
      const rows = await query('SELECT daemon, key, version, item FROM agents WHERE tenant = ? AND change > ?', values);
      const gone = await query(
        'SELECT daemon, key FROM removed WHERE tenant = ? AND change > ? ORDER BY change',
        values,
      );
      const present = new Set(rows.map((row) => `${text(row.daemon)}\n${text(row.key)}`));
      const removed = gone
        .map((row) => ({ daemon: text(row.daemon), key: text(row.key) }))
        .filter(({ daemon, key }) => !present.has(`${daemon}\n${key}`));
      return { change: newest, rows: rows.map(agentOf), removed };
    });
  }

  cursor(stream: string): Promise<number> {
    return this.#do((query) => cursorOf(query, this.tenant, stream));
  }

  async setCursor(stream: string, sequence: number): Promise<void> {
    await this.#do((query) => putCursor(query, this.tenant, stream, sequence));
  }

  /** Of two that read one stream the second finds the cursor elsewhere, and nothing of its own is kept. */
  async #moveCursor(query: Query, { stream, from, to }: CursorMove): Promise<boolean> {
    await query(
      `INSERT INTO cursors (tenant, stream, sequence) VALUES ${marks(1, 3)} ON CONFLICT (tenant, stream) DO NOTHING`,
      [this.tenant, stream, 0],
    );
    const moved = await query(
      'UPDATE cursors SET sequence = ? WHERE tenant = ? AND stream = ? AND sequence = ? RETURNING sequence',
      [to, this.tenant, stream, from],
    );
    return moved.length > 0;
  }

  appendLog(daemon: string, { kind, rows }: WireLog): Promise<number> {
    return this.#do(async (query) => {
      const last = await this.#lastLog(query, daemon, kind);
      const fresh = rows.filter((row) => row.number > last).sort((one, other) => one.number - other.number);
      const newest = fresh.at(-1);
      if (newest === undefined) return last;
      if (kind === 'states') {
        await takeStates(query, this.tenant, daemon, fresh);
        await putCursor(query, this.tenant, streamOfStates(daemon), newest.number);
        return newest.number;
      }
      const values = fresh.flatMap(({ number: numbered, at, actor, action, runtime_id, result, detail }) => [
        ...[this.tenant, daemon, kind, numbered, at],
        ...[actor, action, runtime_id, result, JSON.stringify(detail)],
      ]);
      await query(
        `INSERT INTO log (tenant, daemon, kind, number, at, actor, action, runtime_id, result, detail)
         VALUES ${marks(fresh.length, 10)} ON CONFLICT DO NOTHING`,
        values,
      );
      return newest.number;
    });
  }

  lastLog(daemon: string, kind: WireLog['kind']): Promise<number> {
    return this.#do((query) => this.#lastLog(query, daemon, kind));
  }

  async #lastLog(query: Query, daemon: string, kind: WireLog['kind']): Promise<number> {
    if (kind === 'states') return cursorOf(query, this.tenant, streamOfStates(daemon));
    const sql = 'SELECT max(number) AS last FROM log WHERE tenant = ? AND daemon = ? AND kind = ?';
    const [row] = await query(sql, [this.tenant, daemon, kind]);
    return number(row?.last ?? 0);
  }

  log({ countMax, since = '' }: Parameters<TenantTable['log']>[0]): Promise<readonly LogRecord[]> {
    return this.#do(async (query) => {
      const rows = await query(
        "SELECT * FROM log WHERE tenant = ? AND kind = 'audit' AND at >= ? ORDER BY at DESC, daemon, number DESC LIMIT ?",
        [this.tenant, since, countMax],
      );
      return rows.map(logOf);
    });
  }

  history(since: string): Promise<readonly MachineDaySum[]> {
    return this.#do((query) => daySums(query, this.tenant, since));
  }

  async putOrder(order: OrderRecord): Promise<void> {
    const { id, at, who, daemon, key, runtime_id, action, expires_at, outcome, code, words } = order;
    const values = [this.tenant, id, at, who, daemon, key, runtime_id, action, expires_at, outcome, code, words];
    await this.#do((query) =>
      query(
        `INSERT INTO orders (tenant, id, at, who, daemon, key, runtime_id, action, expires_at, outcome, code, words)
         VALUES ${marks(1, 12)}`,
        values,
      ),
    );
  }

  async settleOrder(id: string, outcome: string, code: string | null, words: string | null): Promise<void> {
    const open = "outcome IN ('wanted', 'unconfirmed')";
    await this.#do((query) =>
      query(`UPDATE orders SET outcome = ?, code = ?, words = ? WHERE tenant = ? AND id = ? AND ${open}`, [
        ...[outcome, code, words],
        ...[this.tenant, id],
      ]),
    );
  }

  orders(countMax: number): Promise<readonly OrderRecord[]> {
    const sql = 'SELECT * FROM orders WHERE tenant = ? ORDER BY at DESC LIMIT ?';
    return this.#do(async (query) => (await query(sql, [this.tenant, countMax])).map(orderOf));
  }

  unsettled(daemon: string, before: string): Promise<readonly OrderRecord[]> {
    const sql = `SELECT * FROM orders WHERE tenant = ? AND daemon = ? AND expires_at < ?
      AND outcome IN ('wanted', 'unconfirmed')`;
    return this.#do(async (query) => (await query(sql, [this.tenant, daemon, before])).map(orderOf));
  }

  async putSession({ hash, who, role, owners, repos, expires_at, kind }: PersonSession): Promise<void> {
    await this.#do((query) =>
      query(`INSERT INTO sessions (tenant, hash, who, role, owners, repos, expires_at, kind) VALUES ${marks(1, 8)}`, [
        ...[this.tenant, hash, who, role],
        ...[JSON.stringify(owners), JSON.stringify(repos), expires_at, kind],
      ]),
    );
  }

  session(hash: string, now: number): Promise<PersonSession | null> {
    return this.#do(async (query) => {
      const sql = "SELECT * FROM sessions WHERE tenant = ? AND hash = ? AND expires_at > ? AND kind = 'page'";
      const [row] = await query(sql, [this.tenant, hash, now]);
      return row === undefined ? null : sessionOf(row);
    });
  }

  takeSession(hash: string, now: number): Promise<PersonSession | null> {
    return this.#do(async (query) => {
      await query('DELETE FROM sessions WHERE tenant = ? AND expires_at <= ?', [this.tenant, now]);
      const sql = "DELETE FROM sessions WHERE tenant = ? AND hash = ? AND kind = 'link' RETURNING *";
      const [row] = await query(sql, [this.tenant, hash]);
      return row === undefined ? null : sessionOf(row);
    });
  }

  async endSessions(who: string): Promise<number> {
    const gone = await this.#do((query) =>
      query('DELETE FROM sessions WHERE tenant = ? AND who = ? RETURNING hash', [this.tenant, who]),
    );
    return gone.length;
  }

  async lease(holder: string, now: number, forMs: number): Promise<boolean> {
    const held = await this.#do((query) =>
      query(
        `INSERT INTO leases (tenant, holder, until) VALUES ${marks(1, 3)}
         ON CONFLICT (tenant) DO UPDATE SET holder = excluded.holder, until = excluded.until
         WHERE leases.holder = excluded.holder OR leases.until < ? RETURNING holder`,
        [this.tenant, holder, now + forMs, now],
      ),
    );
    return held.length > 0;
  }
}

async function cursorOf(query: Query, tenant: string, stream: string): Promise<number> {
  const [row] = await query('SELECT sequence FROM cursors WHERE tenant = ? AND stream = ?', [tenant, stream]);
  return number(row?.sequence ?? 0);
}

async function putCursor(query: Query, tenant: string, stream: string, sequence: number): Promise<void> {
  await query(
    `INSERT INTO cursors (tenant, stream, sequence) VALUES ${marks(1, 3)}
     ON CONFLICT (tenant, stream) DO UPDATE SET sequence = excluded.sequence`,
    [tenant, stream, sequence],
  );
}

/** Below the number of values that either engine takes in one statement. */
const rowsAtOnce = 500;

const progressOf = (row: SqlRow): DaemonProgress => ({
  daemon: text(row.daemon),
  epoch: textOrNull(row.epoch),
  version: number(row.version),
  snap_epoch: textOrNull(row.snap_epoch),
  snap_version: number(row.snap_version),
  snap_part: number(row.snap_part),
});

const agentOf = (row: SqlRow): AgentRecord => ({
  daemon: text(row.daemon),
  key: text(row.key),
  version: number(row.version),
  item: json(row.item) as WireItem,
});

const daemonOf = (row: SqlRow): DaemonRecord => ({
  daemon: text(row.daemon),
  public_key: text(row.public_key),
  label: text(row.label),
  owner: text(row.owner),
  kind: row.kind === 'ci' ? 'ci' : 'person',
  share: text(row.share) as DaemonRecord['share'],
  allows: json(row.allows) as readonly string[],
  agtmux: text(row.agtmux),
  epoch: textOrNull(row.epoch),
  version: number(row.version),
  seen_at: numberOrNull(row.seen_at),
  left_at: numberOrNull(row.left_at),
  joined_at: number(row.joined_at),
  revoked_at: numberOrNull(row.revoked_at),
});

const logOf = (row: SqlRow): LogRecord => ({
  daemon: text(row.daemon),
  number: number(row.number),
  at: text(row.at),
  actor: text(row.actor),
  action: text(row.action),
  runtime_id: textOrNull(row.runtime_id),
  result: text(row.result),
  detail: json(row.detail) as LogRecord['detail'],
});

const orderOf = (row: SqlRow): OrderRecord => ({
  id: text(row.id),
  at: text(row.at),
  who: text(row.who),
  daemon: text(row.daemon),
  key: text(row.key),
  runtime_id: textOrNull(row.runtime_id),
  action: text(row.action),
  expires_at: text(row.expires_at),
  outcome: text(row.outcome),
  code: textOrNull(row.code),
  words: textOrNull(row.words),
});

const sessionOf = (row: SqlRow): PersonSession => ({
  hash: text(row.hash),
  who: text(row.who),
  role: text(row.role) as PersonSession['role'],
  owners: json(row.owners) as readonly string[],
  repos: json(row.repos) as readonly string[],
  expires_at: number(row.expires_at),
  kind: row.kind === 'link' ? 'link' : 'page',
});
