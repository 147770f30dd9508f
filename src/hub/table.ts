// Where a hub keeps what daemons told it: the port with its two implementations, and what a batch does to the rows, worked out
// as values. Older never overwrites newer (HUB2): every row has the daemon, its epoch and its version.

import type { WireApplied, WireBatch, WireItem, WireLog, WireLogRow } from '../api/hub-wire.ts';
import type { HubRole, HubShare, MachineKind } from '../model/hub.ts';
import type { MachineDaySum } from './history.ts';

export interface CodeRecord {
  readonly hash: string;
  readonly label: string | null;
  readonly owner: string;
  readonly kind: MachineKind;
  readonly expires_at: number;
}

export interface DaemonRecord {
  readonly daemon: string;
  readonly public_key: string;
  readonly label: string;
  readonly owner: string;
  readonly kind: MachineKind;
  readonly share: HubShare;
  readonly allows: readonly string[];
  readonly agtmux: string;
  readonly epoch: string | null;
  readonly version: number;
  readonly seen_at: number | null;
  /** It said goodbye: its silence is no trouble. */
  readonly left_at: number | null;
  readonly joined_at: number;
  readonly revoked_at: number | null;
}

export type NewDaemon = Pick<
  DaemonRecord,
  'daemon' | 'public_key' | 'label' | 'owner' | 'kind' | 'share' | 'agtmux' | 'joined_at'
>;

export interface AgentRecord {
  readonly daemon: string;
  readonly key: string;
  readonly version: number;
  readonly item: WireItem;
}

export interface SentBatch {
  readonly daemon: string;
  readonly batch: WireBatch;
}

/** What an application changed; rows are those of the batches, `removed` also those that a snapshot left out. */
export interface TableChange {
  readonly change: number;
  readonly rows: readonly AgentRecord[];
  readonly removed: readonly Pick<AgentRecord, 'daemon' | 'key'>[];
}

export interface AppliedBatches extends TableChange {
  /** One for each batch, in their order. */
  readonly results: readonly WireApplied[];
}

export interface LogRecord extends WireLogRow {
  readonly daemon: string;
}

/** wanted: on its way. After that what the receipt says, or what the audit of the edge settled. */
export interface OrderRecord {
  readonly id: string;
  readonly at: string;
  readonly who: string;
  readonly daemon: string;
  readonly key: string;
  readonly runtime_id: string | null;
  readonly action: string;
  readonly expires_at: string;
  readonly outcome: string;
  readonly code: string | null;
  readonly words: string | null;
}

export interface PersonSession {
  readonly hash: string;
  readonly who: string;
  readonly role: HubRole;
  /** Owners and repositories that this person sees; none: all. */
  readonly owners: readonly string[];
  readonly repos: readonly string[];
  readonly expires_at: number;
  /** A link signs one browser in, once; a page is signed in. */
  readonly kind: 'link' | 'page';
}

/** Everything is of one tenant: no query can name a row of another one. */
export interface TenantTable {
  readonly tenant: string;
  /** The key that daemons know this hub by: the first one stays, unless it is to be another one from now on. */
  keepKey(publicKey: string, isNew: boolean): Promise<string>;
  putCode(code: CodeRecord): Promise<void>;
  /** Once: null when there is no such code, when it was used, or when it has expired. */
  takeCode(hash: string, now: number): Promise<CodeRecord | null>;
  /** False: this key has been here before and was revoked. */
  putDaemon(daemon: NewDaemon): Promise<boolean>;
  daemon(daemon: string): Promise<DaemonRecord | null>;
  daemons(): Promise<readonly DaemonRecord[]>;
  /** A sign of life. */
  putBeat(
    daemon: string,
    beat: Pick<DaemonRecord, 'share' | 'allows' | 'agtmux' | 'seen_at' | 'left_at'>,
  ): Promise<void>;
  /** Its rows go; its key is good for nothing any more. False when there is none. */
  revoke(daemon: string, now: number): Promise<boolean>;
  /** Its rows go, it may come again. */
  dropRows(daemon: string): Promise<TableChange>;
  /** All or nothing. `cursor` is how far a stream was read: it moves with the rows, or nothing does. */
  apply(batches: readonly SentBatch[], cursor?: CursorMove): Promise<AppliedBatches | null>;
  rows(): Promise<TableChange>;
  /** Since another process changed something. Null: too long ago, take `rows`. */
  changesSince(change: number): Promise<TableChange | null>;
  cursor(stream: string): Promise<number>;
  setCursor(stream: string, sequence: number): Promise<void>;
  /** Every row once, whatever is sent how often; the number of the last one. States are added up by day, and not kept one by one. */
  appendLog(daemon: string, log: WireLog): Promise<number>;
  lastLog(daemon: string, kind: WireLog['kind']): Promise<number>;
  /** The audit of all machines, newest first. */
  log(asked: { readonly countMax: number; readonly since?: string }): Promise<readonly LogRecord[]>;
  /** From this day on, as 2026-11-19. */
  history(since: string): Promise<readonly MachineDaySum[]>;
  putOrder(order: OrderRecord): Promise<void>;
  settleOrder(id: string, outcome: string, code: string | null, words: string | null): Promise<void>;
  orders(countMax: number): Promise<readonly OrderRecord[]>;
  /** Of this daemon, without an answer, expired before this. */
  unsettled(daemon: string, before: string): Promise<readonly OrderRecord[]>;
  putSession(session: PersonSession): Promise<void>;
  session(hash: string, now: number): Promise<PersonSession | null>;
  /** For links: once. */
  takeSession(hash: string, now: number): Promise<PersonSession | null>;
  /** Everyone of this name is signed out. */
  endSessions(who: string): Promise<number>;
  /** Who looks after the rows of this tenant; true for the holder. */
  lease(holder: string, now: number, forMs: number): Promise<boolean>;
}

export interface CursorMove {
  readonly stream: string;
  readonly from: number;
  readonly to: number;
}

export interface HubTable {
  readonly kind: 'sqlite' | 'postgres';
  of(tenant: string): TenantTable;
  addTenant(tenant: string): Promise<void>;
  tenants(): Promise<readonly string[]>;
  /** Called when another process may have changed something. */
  onChange(listener: (tenant: string) => void): void;
  /** Whether it answers. */
  check(): Promise<boolean>;
  close(): Promise<void>;
}

/** How far a daemon's rows are, and what of a snapshot has come. */
export interface DaemonProgress {
  readonly daemon: string;
  readonly epoch: string | null;
  readonly version: number;
  readonly snap_epoch: string | null;
  readonly snap_version: number;
  readonly snap_part: number;
}

export interface BatchPlan {
  readonly results: readonly WireApplied[];
  readonly rows: readonly AgentRecord[];
  readonly removed: readonly { readonly daemon: string; readonly key: string; readonly version: number }[];
  /** Rows of this daemon that are older than this were in no part of its snapshot. */
  readonly prunes: readonly { readonly daemon: string; readonly before: number }[];
  readonly progress: readonly DaemonProgress[];
}

/** Pure: what these batches do, in their order, to daemons that are as far as they are. */
export function planBatches(known: readonly DaemonProgress[], batches: readonly SentBatch[]): BatchPlan {
  const progress = new Map(known.map((one) => [one.daemon, one]));
  const cells = new Map<
    string,
    { readonly daemon: string; readonly key: string; readonly version: number; readonly item: WireItem | null }
  >();
  const prunes = new Map<string, number>();
  const touched = new Set<string>();
  const results = batches.map(({ daemon, batch }): WireApplied => {
    const at = progress.get(daemon);
    if (at === undefined) return { result: 'refused' };
    const verdict = verdictOn(at, batch);
    if (verdict.result !== 'applied') return verdict;
    touched.add(daemon);
    for (const { key, version, value } of batch.changes) {
      const name = `${daemon}\n${key}`;
      if ((cells.get(name)?.version ?? -1) < version) cells.set(name, { daemon, key, version, item: value });
    }
    const isWhole = batch.kind === 'changes' || batch.part === batch.parts - 1;
    if (isWhole && batch.kind === 'snapshot') prunes.set(daemon, batch.to);
    progress.set(daemon, isWhole ? wholeAt(at, batch) : partAt(at, batch));
    return verdict;
  });
  const all = [...cells.values()];
  return {
    results,
    rows: all.flatMap(({ item, ...rest }) => (item === null ? [] : [{ ...rest, item }])),
    removed: all.flatMap(({ item, ...rest }) => (item === null ? [rest] : [])),
    prunes: [...prunes].map(([daemon, before]) => ({ daemon, before })),
    progress: [...touched].flatMap((daemon) => progress.get(daemon) ?? []),
  };
}

function verdictOn(at: DaemonProgress, batch: WireBatch): WireApplied {
  const isSameEpoch = at.epoch === batch.epoch;
  if (batch.kind === 'changes') {
    if (batch.changes.some(({ version }) => version <= batch.from || version > batch.to)) return { result: 'refused' };
    if (isSameEpoch && batch.to <= at.version) return { result: 'old' };
    // One that begins earlier says the last change of each row since then: of what is known already nothing becomes older.
    return isSameEpoch && batch.from <= at.version ? { result: 'applied' } : { result: 'gap' };
  }
  if (batch.changes.some(({ version }) => version !== batch.to)) return { result: 'refused' };
  if (isSameEpoch && batch.to < at.version) return { result: 'old' };
  // Versions never repeat (FED2): a new run that is behind was set back, as from a backup.
  if (!isSameEpoch && batch.to < at.version) return { result: 'behind', version: at.version };
  const isNext =
    batch.part === 0 ||
    (at.snap_epoch === batch.epoch && at.snap_version === batch.to && at.snap_part === batch.part - 1);
  return isNext ? { result: 'applied' } : { result: 'gap' };
}

const noSnapshot = { snap_epoch: null, snap_version: 0, snap_part: -1 } as const;

const wholeAt = ({ daemon }: DaemonProgress, { epoch, to }: WireBatch): DaemonProgress => ({
  daemon,
  epoch,
  version: to,
  ...noSnapshot,
});

const partAt = (at: DaemonProgress, batch: Extract<WireBatch, { kind: 'snapshot' }> | WireBatch): DaemonProgress =>
  batch.kind === 'changes' ? at : { ...at, snap_epoch: batch.epoch, snap_version: batch.to, snap_part: batch.part };
