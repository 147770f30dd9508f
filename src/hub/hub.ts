// The hub itself: takes what daemons tell into the table and into memory, knows who is there, and decides nothing. What is asked of
// it by people is in `serve`; what it asks of daemons goes through here.

import {
  batchSchema,
  beatSchema,
  type WireApplied,
  type WireBatch,
  type WireItem,
  type WireLogRow,
  wireLogSchema,
} from '../api/hub-wire.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { foreign, sanitizeBlock, sanitizeLine } from '../text/sanitize.ts';
import { Roster } from './roster.ts';
import type { CursorMove, HubTable, SentBatch, TableChange, TenantTable } from './table.ts';
import type { EdgeMessage, HubTransport, TransportHandlers } from './transport.ts';

export interface HubCounters {
  batches: number;
  rows: number;
  refused: number;
  resyncs: number;
  log_rows: number;
  beats: number;
  orders: number;
  orders_unconfirmed: number;
}

export interface HubParts {
  readonly clock: Clock;
  readonly table: HubTable;
  readonly transport: HubTransport;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

interface Waiting {
  readonly sent: SentBatch;
  readonly resolve: (applied: WireApplied) => void;
  readonly reject: (problem: unknown) => void;
}

interface Tenant {
  readonly table: TenantTable;
  readonly roster: Roster;
  waiting: Waiting[];
  isApplying: boolean;
  readonly listeners: Set<() => void>;
  /** By daemon: the version of its last sign of life, and how often it was ahead of the table. */
  readonly behind: Map<string, { readonly version: number; readonly beats: number }>;
  following: Promise<void> | null;
  isFollowAgain: boolean;
}

export class Hub implements TransportHandlers {
  readonly #parts: HubParts;
  readonly #tenants = new Map<string, Promise<Tenant>>();
  readonly #resyncing = new Set<string>();
  readonly #wanted: (() => void)[] = [];
  #cancelSweep: Cancel = () => undefined;
  #isClosed = false;
  readonly counters: HubCounters = {
    ...{ batches: 0, rows: 0, refused: 0, resyncs: 0 },
    ...{ log_rows: 0, beats: 0, orders: 0, orders_unconfirmed: 0 },
  };

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    for (const tenant of await this.#parts.table.tenants()) await this.#tenant(tenant);
    this.#parts.table.onChange(
      (tenant) => void this.#follow(tenant).catch((problem) => this.#trouble('following', problem)),
    );
    await this.#parts.transport.start(this);
    this.#sweep();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelSweep();
    await this.#parts.transport.close();
  }

  async rosterOf(tenant: string): Promise<Roster> {
    return (await this.#tenant(tenant)).roster;
  }

  tableOf(tenant: string): TenantTable {
    return this.#parts.table.of(tenant);
  }

  /** Told after something of the tenant changed. */
  async listen(tenant: string, listener: () => void): Promise<Cancel> {
    const { listeners } = await this.#tenant(tenant);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  async refreshMachine(tenant: string, daemon: string): Promise<void> {
    const { table, roster, listeners } = await this.#tenant(tenant);
    const found = await table.daemon(daemon);
    if (found === null || found.revoked_at !== null) roster.removeMachine(daemon);
    else roster.putMachine(found);
    for (const listener of listeners) listener();
  }

  async revoke(tenant: string, daemon: string): Promise<boolean> {
    const done = await this.tableOf(tenant).revoke(daemon, this.#parts.clock.wallMs());
    this.#parts.transport.cut(tenant, daemon);
    await this.#follow(tenant);
    await this.refreshMachine(tenant, daemon);
    return done;
  }

  async placeOf(tenant: string, daemon: string) {
    const found = await this.tableOf(tenant).daemon(daemon);
    return found === null || found.revoked_at !== null ? null : found;
  }

  async onMessage(message: EdgeMessage): Promise<WireApplied | null> {
    switch (message.kind) {
      case 'feed': {
        const batch = this.#readBatch(message);
        return batch === null ? { result: 'refused' } : this.#apply(message, batch);
      }
      case 'log':
        await this.#log(message);
        return null;
      case 'beat':
        await this.#beat(message);
        return null;
    }
  }

  async onBatches(tenant: string, messages: readonly EdgeMessage[], move: CursorMove): Promise<boolean> {
    const sent = messages.flatMap((message): SentBatch[] => {
      const batch = this.#readBatch(message);
      return batch === null ? [] : [{ daemon: message.daemon, batch }];
    });
    const known = await this.#tenant(tenant);
    const done = await known.table.apply(sent, move);
    if (done === null) return false;
    this.#took(tenant, known, done);
    this.#counted(sent);
    for (const [index, result] of done.results.entries()) {
      const daemon = sent[index]?.daemon;
      if (daemon !== undefined) this.#answered(tenant, daemon, result);
    }
    for (const listener of known.listeners) listener();
    return true;
  }

  /** Silence is applied when reading: nothing to do but tell those who look. */
  onGone(tenant: string, _daemon: string): void {
    void this.#tenant(tenant)
      .then(({ listeners }) => {
        for (const listener of listeners) listener();
      })
      .catch((problem) => this.#trouble('telling that a machine has gone', problem));
  }

  #tenant(name: string): Promise<Tenant> {
    const known = this.#tenants.get(name);
    if (known !== undefined) return known;
    const table = this.tableOf(name);
    const made = (async (): Promise<Tenant> => {
      const roster = new Roster();
      roster.fill(await table.rows(), await table.daemons());
      const idle = { waiting: [], isApplying: false, following: null, isFollowAgain: false };
      return { table, roster, ...idle, listeners: new Set(), behind: new Map() };
    })();
    this.#tenants.set(name, made);
    made.catch(() => this.#tenants.delete(name));
    return made;
  }

  /** One look at a time; what is told meanwhile is another look. */
  async #follow(name: string): Promise<void> {
    const tenant = await this.#tenant(name);
    if (tenant.following !== null) {
      tenant.isFollowAgain = true;
      return tenant.following;
    }
    tenant.following = (async () => {
      do {
        tenant.isFollowAgain = false;
        await this.#look(tenant);
      } while (tenant.isFollowAgain && !this.#isClosed);
    })().finally(() => {
      tenant.following = null;
    });
    return tenant.following;
  }

  async #look({ table, roster, listeners }: Tenant): Promise<void> {
    const machines = await table.daemons();
    const news = await table.changesSince(roster.change);
    const all = news === null ? await table.rows() : null;
    for (const machine of machines) roster.putMachine(machine);
    if (all !== null) roster.fill(all, machines);
    else if (news !== null) roster.follow(news);
    for (const listener of listeners) listener();
  }

  /** What this process has written. Another one may have written before it: then both are read from the table. */
  #took(name: string, { roster }: Tenant, done: TableChange): void {
    if (!roster.apply(done)) void this.#follow(name).catch((problem) => this.#trouble('following', problem));
  }

  /** A stream was lost, or part of it: whoever can be reached tells everything anew. */
  async onLost(tenant: string): Promise<void> {
    const { roster } = await this.#tenant(tenant);
    const now = this.#parts.clock.wallMs();
    for (const { daemon } of roster.machines) if (roster.isReachable(daemon, now)) this.#resync(tenant, daemon, null);
  }

  #readBatch({ body, daemon }: EdgeMessage): WireBatch | null {
    const checked = batchSchema.safeParse(body);
    if (!checked.success) {
      this.counters.refused += 1;
      this.#parts.warn('a batch was refused', { daemon, problem: checked.error.issues[0]?.message ?? '' });
      return null;
    }
    const { data } = checked;
    return { ...data, changes: data.changes.map((change) => ({ ...change, value: gated(change.value) })) };
  }

  /** What comes while one transaction is under way becomes the next one, together. */
  async #apply({ tenant, daemon }: EdgeMessage, batch: WireBatch): Promise<WireApplied> {
    const known = await this.#tenant(tenant);
    return new Promise((resolve, reject) => {
      known.waiting.push({ sent: { daemon, batch }, resolve, reject });
      if (!known.isApplying) void this.#drain(tenant, known);
    });
  }

  async #drain(name: string, tenant: Tenant): Promise<void> {
    tenant.isApplying = true;
    while (tenant.waiting.length > 0) {
      const some = tenant.waiting.splice(0, limits.hubApplyBatchesMax);
      try {
        await this.#write(name, tenant, some);
      } catch (problem) {
        // One that cannot be written harms nobody else; where the table is away it is the same for all.
        const isAlone = some.length > 1 && (await this.#parts.table.check());
        for (const one of some) {
          if (isAlone) await this.#write(name, tenant, [one]).catch(one.reject);
          else one.reject(problem);
        }
      }
    }
    tenant.isApplying = false;
  }

  async #write(name: string, tenant: Tenant, some: readonly Waiting[]): Promise<void> {
    const done = await tenant.table.apply(some.map(({ sent }) => sent));
    if (done === null) throw new Error('a cursor that nobody asked for');
    this.#took(name, tenant, done);
    this.#counted(some.map(({ sent }) => sent));
    for (const [index, { sent, resolve }] of some.entries()) {
      const result = done.results[index] ?? { result: 'refused' };
      this.#answered(name, sent.daemon, result);
      resolve(result);
    }
    for (const listener of tenant.listeners) listener();
  }

  #counted(sent: readonly SentBatch[]): void {
    this.counters.batches += sent.length;
    for (const { batch } of sent) this.counters.rows += batch.changes.length;
  }

  #answered(tenant: string, daemon: string, applied: WireApplied): void {
    if (applied.result === 'gap') this.#resync(tenant, daemon, null);
    if (applied.result === 'behind') this.#resync(tenant, daemon, applied.version);
    if (applied.result === 'refused') this.counters.refused += 1;
  }

  /** One at a time for each daemon, and a bounded number in all. */
  #resync(tenant: string, daemon: string, above: number | null): void {
    const name = `${tenant}/${daemon}`;
    if (this.#resyncing.has(name)) return;
    this.#resyncing.add(name);
    const run = (): void => {
      this.counters.resyncs += 1;
      void this.#parts.transport
        .ask(tenant, daemon, 'resync', { above })
        .catch(() => undefined)
        .finally(() => {
          this.#resyncing.delete(name);
          this.#running -= 1;
          this.#wanted.shift()?.();
        });
      this.#running += 1;
    };
    if (this.#running < limits.hubResyncsMax) run();
    else this.#wanted.push(run);
  }
  #running = 0;

  async #log({ tenant, daemon, body }: EdgeMessage): Promise<void> {
    const checked = wireLogSchema.safeParse(body);
    if (!checked.success) {
      this.counters.refused += 1;
      return;
    }
    const rows = checked.data.rows.map((row) => ({ ...row, ...(gateValue(row, 0) as typeof row) }));
    const table = this.tableOf(tenant);
    await table.appendLog(daemon, { ...checked.data, rows });
    for (const row of checked.data.kind === 'audit' ? rows : []) {
      const order = orderOfAudit(row);
      if (order !== null) await table.settleOrder(order, row.result, null, null);
    }
    this.counters.log_rows += rows.length;
  }

  async #beat({ tenant, daemon, body }: EdgeMessage): Promise<void> {
    const checked = beatSchema.safeParse(body);
    if (!checked.success) {
      this.counters.refused += 1;
      return;
    }
    this.counters.beats += 1;
    const { share, agtmux, epoch, version, goodbye } = checked.data;
    const allows = checked.data.allows.map((one) => sanitizeLine(foreign(one)) as string);
    const now = this.#parts.clock.wallMs();
    const { table, roster, behind, listeners } = await this.#tenant(tenant);
    const machine = roster.machine(daemon);
    const beat = { share, allows, agtmux: sanitizeLine(foreign(agtmux)), seen_at: now, left_at: goodbye ? now : null };
    await table.putBeat(daemon, beat);
    const wasThere = roster.isReachable(daemon, now);
    if (machine === null) await this.refreshMachine(tenant, daemon);
    else roster.putMachine({ ...machine, ...beat });
    if (!wasThere || goodbye) for (const listener of listeners) listener();
    await this.#compare(tenant, daemon, { epoch, version }, behind);
    await this.#settle(table, daemon, checked.data.audit);
  }

  /** Everything the machine has on record is here, and an order that has expired is not among it: it was never carried out. */
  async #settle(table: TenantTable, daemon: string, audit: number): Promise<void> {
    const before = new Date(this.#parts.clock.wallMs() - limits.hubActionMs).toISOString();
    const open = await table.unsettled(daemon, before);
    if (open.length === 0 || (await table.lastLog(daemon, 'audit')) < audit) return;
    for (const { id } of open) await table.settleOrder(id, 'refused', 'E_TIMEOUT', 'it never reached the agent');
  }

  /** What was published and does not come into the table was lost on the way: nobody else would ever notice. */
  async #compare(
    tenant: string,
    daemon: string,
    told: { readonly epoch: string | null; readonly version: number },
    behind: Tenant['behind'],
  ): Promise<void> {
    const at = await this.tableOf(tenant).daemon(daemon);
    if (at === null || told.epoch === null) return;
    const isThere = at.epoch === told.epoch && at.version >= told.version;
    const before = behind.get(daemon);
    if (isThere) {
      behind.delete(daemon);
      return;
    }
    const beats = before?.version === at.version ? before.beats + 1 : 1;
    behind.set(daemon, { version: at.version, beats });
    if (beats < limits.hubBehindBeatsMax) return;
    behind.delete(daemon);
    this.#resync(tenant, daemon, null);
  }

  /**
   * A machine that was removed by a command is cut off; machines that only build leave nothing behind; and whoever looks is told that
   * another one fell silent.
   */
  #sweep(): void {
    if (this.#isClosed) return;
    this.#cancelSweep = this.#parts.clock.after(limits.hubBeatMs, () => {
      void this.#sweepAll()
        .catch((problem) => this.#trouble('sweeping', problem))
        .finally(() => this.#sweep());
    });
  }

  async #sweepAll(): Promise<void> {
    const now = this.#parts.clock.wallMs();
    for (const [name, held] of this.#tenants) {
      await this.#dropRevoked(name);
      const { table, roster, listeners } = await held;
      const daemons = new Set(roster.all().map(({ daemon }) => daemon));
      for (const { daemon, kind, left_at, seen_at } of roster.machines) {
        if (kind !== 'ci' || !daemons.has(daemon)) continue;
        const isGone =
          left_at === null ? now - (seen_at ?? now) > limits.hubCiSilentMs : now - left_at > limits.hubCiGoneMs;
        if (isGone) this.#took(name, await held, await table.dropRows(daemon));
      }
      for (const listener of listeners) listener();
    }
  }

  /** Another process may have removed it, as `agtmux hub revoke` does, and not every table tells of that (HUB6). */
  async #dropRevoked(name: string): Promise<void> {
    const { table, roster } = await this.#tenant(name);
    const machines = await table.daemons();
    // Signs of life that came to another process.
    for (const machine of machines) roster.seen(machine);
    const revoked = machines.filter(({ revoked_at }) => revoked_at !== null);
    if (revoked.length === 0) return;
    for (const { daemon } of revoked) this.#parts.transport.cut(name, daemon);
    const listed = new Set(roster.all().map(({ daemon }) => daemon));
    const isKnown = revoked.some(({ daemon }) => roster.machine(daemon) !== null || listed.has(daemon));
    if (isKnown) await this.#follow(name);
  }

  #trouble(doing: string, problem: unknown): void {
    this.#parts.warn(`${doing} failed`, { problem });
  }
}

/** The hub's own gate (SEC3): an edge that does not gate its texts, or shortens none, speaks to people through this one. */
function gated(value: WireItem | null): WireItem | null {
  if (value === null) return null;
  const clean = gateValue(value, 0) as WireItem;
  if (JSON.stringify(clean).length <= limits.hubRowBytesMax) return clean;
  return { ...clean, ask: null, detail: null, task: null, title: '', session: null };
}

const depthMax = 6;
const entriesMax = 200;

function gateValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') {
    const cut = value.slice(0, limits.hubTextCharsMax);
    const isBlock = cut.length > limits.gateLineCharsMax || /[\n\t]/.test(cut);
    return isBlock ? sanitizeBlock(foreign(cut)) : sanitizeLine(foreign(cut));
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= depthMax) return null;
  if (Array.isArray(value)) return value.slice(0, entriesMax).map((one) => gateValue(one, depth + 1));
  const entries = Object.entries(value).slice(0, entriesMax);
  return Object.fromEntries(entries.map(([name, one]) => [sanitizeLine(foreign(name)), gateValue(one, depth + 1)]));
}

const orderPattern = /\border ([0-9a-f]{32})\b/;

/** The order that a row in the audit of the edge is about. */
const orderOfAudit = ({ detail }: Pick<WireLogRow, 'detail'>): string | null =>
  typeof detail.why === 'string' ? (orderPattern.exec(detail.why)?.[1] ?? null) : null;
