// The small tables of one open store, together: opened once, verified as a whole.

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
import type { StoreDatabase } from './database.ts';
import { KeyedTable } from './keyed-table.ts';
import {
  adapterTable,
  auditTable,
  documentTable,
  placeTable,
  runtimeTable,
  snapshotTable,
  stateTable,
  targetTable,
} from './tables.ts';

export interface StoreTables {
  readonly runtimes: KeyedTable<RuntimeRecord>;
  readonly states: KeyedTable<StateRecord>;
  readonly audit: KeyedTable<NumberedAudit>;
  readonly targets: KeyedTable<TargetRecord>;
  readonly places: KeyedTable<PlaceRecord>;
  readonly snapshots: KeyedTable<SnapshotRecord>;
  readonly adapters: KeyedTable<AdapterRecord>;
  readonly documents: KeyedTable<DocumentRecord>;
}

export function openTables(database: StoreDatabase): StoreTables {
  return {
    runtimes: new KeyedTable(database, runtimeTable),
    states: new KeyedTable(database, stateTable),
    audit: new KeyedTable(database, auditTable),
    targets: new KeyedTable(database, targetTable),
    places: new KeyedTable(database, placeTable),
    snapshots: new KeyedTable(database, snapshotTable),
    adapters: new KeyedTable(database, adapterTable),
    documents: new KeyedTable(database, documentTable),
  };
}

/** Reads every row of every small table; throws E_STORE_DAMAGED at the first that is not what was written. */
export function verifyTables(tables: StoreTables): void {
  for (const table of Object.values(tables) as readonly KeyedTable<unknown>[]) table.all();
}
