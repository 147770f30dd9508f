// The small tables as data: how each record becomes a row and a row a record again. One codec for all of them, so that no
// table can forget its checksum.

import { crc32 } from 'node:zlib';
import type { ProcessIdentity } from '../model/ids.ts';
import type {
  AdapterRecord,
  DocumentRecord,
  NumberedAudit,
  PlaceRecord,
  RuntimeRecord,
  SnapshotRecord,
  StateRecord,
  TargetRecord,
} from '../model/records.ts';
import type { Row, SQLInputValue } from './node-sqlite.ts';
import { storable } from './row.ts';
import { tableColumns } from './schema.ts';
import { damaged } from './sqlite-errors.ts';

export type TableName = keyof typeof tableColumns;

export interface TableShape<Kept> {
  readonly name: TableName;
  readonly columns: readonly string[];
  /** The first so many columns are the key. */
  readonly keyColumns: number;
  encode(record: Kept): SQLInputValue[];
  decode(row: Row): Kept;
}

const flag = (value: boolean): number => (value ? 1 : 0);
const json = (value: unknown): string => JSON.stringify(value);
const jsonOrNull = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

// Rows are read only after their checksum was verified, so what stands in them is what `encode` put there.
const text = <Text extends string>(value: unknown): Text => value as Text;
const number = (value: unknown): number => value as number;
const parsed = <Value>(value: unknown): Value => JSON.parse(value as string) as Value;
const parsedOrNull = <Value>(value: unknown): Value | null => (value === null ? null : parsed<Value>(value));

function shape<Kept>(
  name: TableName,
  keyColumns: number,
  encode: (record: Kept) => SQLInputValue[],
  decode: (row: Row) => Kept,
): TableShape<Kept> {
  return { name, columns: tableColumns[name], keyColumns, encode, decode };
}

export const runtimeTable = shape<RuntimeRecord>(
  'runtimes',
  1,
  ({ identity, ended_at }) => [
    identity.runtime_id,
    identity.target,
    identity.pane,
    identity.pane_epoch,
    identity.agent,
    identity.server,
    identity.process?.boot ?? null,
    identity.process?.pid ?? null,
    identity.process?.start ?? null,
    identity.parent,
    identity.started_at,
    ended_at,
  ],
  (row) => ({
    identity: {
      runtime_id: text(row[0]),
      target: text(row[1]),
      pane: row[2] === null ? null : text(row[2]),
      pane_epoch: number(row[3]),
      agent: text(row[4]),
      server: row[5] === null ? null : text(row[5]),
      process: processOf(row[6], row[7], row[8]),
      parent: row[9] === null ? null : text(row[9]),
      started_at: number(row[10]),
    },
    ended_at: row[11] === null ? null : number(row[11]),
  }),
);

function processOf(boot: unknown, pid: unknown, start: unknown): ProcessIdentity | null {
  return boot === null ? null : { boot: text(boot), pid: number(pid), start: text(start) };
}

export const stateTable = shape<StateRecord>(
  'states',
  1,
  (record) => [
    record.runtime_id,
    record.state,
    record.reason,
    record.confidence,
    record.state_version,
    record.since,
    record.last_seen_at,
    record.decided_by,
    record.detail,
    record.until,
    flag(record.suspended),
    record.asks_open,
    jsonOrNull(record.ask),
    json(record.background),
    json(record.competing),
    jsonOrNull(record.ended),
  ],
  (row) => ({
    runtime_id: text(row[0]),
    state: text(row[1]),
    reason: text(row[2]),
    confidence: text(row[3]),
    state_version: number(row[4]),
    since: number(row[5]),
    last_seen_at: number(row[6]),
    decided_by: row[7] === null ? null : text(row[7]),
    detail: row[8] === null ? null : text(row[8]),
    until: row[9] === null ? null : number(row[9]),
    suspended: row[10] === 1,
    asks_open: number(row[11]),
    ask: parsedOrNull(row[12]),
    background: parsed(row[13]),
    competing: parsed(row[14]),
    ended: parsedOrNull(row[15]),
  }),
);

export const auditTable = shape<NumberedAudit>(
  'audit',
  1,
  (record) => [
    record.audit_id,
    record.at,
    record.actor,
    record.action,
    record.runtime_id,
    record.snapshot_id,
    record.result,
    json(record.detail),
  ],
  (row) => ({
    audit_id: number(row[0]),
    at: number(row[1]),
    actor: text(row[2]),
    action: text(row[3]),
    runtime_id: row[4] === null ? null : text(row[4]),
    snapshot_id: row[5] === null ? null : text(row[5]),
    result: text(row[6]),
    detail: parsed(row[7]),
  }),
);

export const targetTable = shape<TargetRecord>(
  'targets',
  1,
  (record) => [
    record.target,
    record.kind,
    record.connection_ref,
    flag(record.is_default),
    record.health,
    record.last_seen_at,
    record.updated_at,
  ],
  (row) => ({
    target: text(row[0]),
    kind: text(row[1]),
    connection_ref: text(row[2]),
    is_default: row[3] === 1,
    health: text(row[4]),
    last_seen_at: row[5] === null ? null : number(row[5]),
    updated_at: number(row[6]),
  }),
);

export const placeTable = shape<PlaceRecord>(
  'places',
  1,
  (record) => [
    record.runtime_id,
    record.session_id,
    record.session_name,
    json(record.other_sessions),
    record.window_id,
    record.window_index,
    record.window_name,
    record.pane_index,
    record.title,
    record.cwd,
    record.current_command,
    record.closed_at,
  ],
  (row) => ({
    runtime_id: text(row[0]),
    session_id: text(row[1]),
    session_name: text(row[2]),
    other_sessions: parsed(row[3]),
    window_id: text(row[4]),
    window_index: number(row[5]),
    window_name: text(row[6]),
    pane_index: number(row[7]),
    title: text(row[8]),
    cwd: text(row[9]),
    current_command: text(row[10]),
    closed_at: row[11] === null ? null : number(row[11]),
  }),
);

export const snapshotTable = shape<SnapshotRecord>(
  'action_snapshots',
  1,
  (record) => [
    record.snapshot_id,
    record.target,
    record.pane,
    record.runtime_id,
    record.state_version,
    record.observed_at,
    record.expires_at,
    record.nonce,
  ],
  (row) => ({
    snapshot_id: text(row[0]),
    target: text(row[1]),
    pane: row[2] === null ? null : text(row[2]),
    runtime_id: text(row[3]),
    state_version: number(row[4]),
    observed_at: number(row[5]),
    expires_at: number(row[6]),
    nonce: text(row[7]),
  }),
);

export const adapterTable = shape<AdapterRecord>(
  'adapters',
  1,
  (record) => [
    record.adapter,
    record.agent,
    record.version,
    json(record.capabilities),
    flag(record.enabled),
    record.updated_at,
  ],
  (row) => ({
    adapter: text(row[0]),
    agent: text(row[1]),
    version: text(row[2]),
    capabilities: parsed(row[3]),
    enabled: row[4] === 1,
    updated_at: number(row[5]),
  }),
);

export const documentTable = shape<DocumentRecord>(
  'documents',
  2,
  ({ kind, id, number, body }) => [kind, id, number, body],
  (row) => ({ kind: text(row[0]), id: text(row[1]), number: number(row[2]), body: text(row[3]) }),
);

/** The values of a record with their checksum last. */
export function encodeRow<Kept>(table: TableShape<Kept>, record: Kept): SQLInputValue[] {
  const values = table.encode(record).map((value) => (typeof value === 'string' ? storable(value) : value));
  return [...values, rowCrc(table.name, values)];
}

/** The record of a row whose checksum holds; throws E_STORE_DAMAGED otherwise. */
export function decodeRow<Kept>(table: TableShape<Kept>, row: Row): Kept {
  if (!isSound(table, row)) throw damaged(`a row of ${table.name} does not match its checksum`);
  return table.decode(row);
}

export function isSound<Kept>(table: TableShape<Kept>, row: Row): boolean {
  return rowCrc(table.name, row.slice(0, -1)) === row.at(-1);
}

/** Names the table too: a row of one table is never sound in another. */
function rowCrc(name: string, values: readonly unknown[]): number {
  return crc32(JSON.stringify([name, ...values]));
}
