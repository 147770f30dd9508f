// How a daemon gets its store: opened, verified and replayed, or, when the log is damaged, set aside and rebuilt so that
// nothing it said is believed. After a rebuild every runtime is unknown until it is seen again.

import type { RuntimeId } from '../model/ids.ts';
import type { EndRecord, NewEvent, RuntimeRecord, StateRecord, StoredEvent } from '../model/records.ts';
import { createRealRandom } from '../platform/random.ts';
import { storePaths } from './database.ts';
import { readMark } from './head-file.ts';
import type { StoreLock } from './lock.ts';
import type { Salvage } from './salvage.ts';
import { discardNewLog, putNewLogInPlace } from './set-aside.ts';
import { lockDirectory, replaceLog, SqliteStore, type SqliteStoreOptions } from './sqlite.ts';
import { isDamage } from './sqlite-errors.ts';
import type { Commit, ReplayRow } from './store.ts';

export interface LoadOptions extends SqliteStoreOptions {
  /** Asked for a new visitor for every attempt: when one attempt fails, what it visited must be thrown away. */
  readonly visitor: () => (row: ReplayRow) => void;
}

export interface LoadedStore {
  readonly store: SqliteStore;
  readonly events: number;
  readonly feed_version: number;
  /** True when the log was damaged and began anew; then every runtime in it is unknown. */
  readonly rebuilt: boolean;
  /** What was wrong, in words; null when nothing was. */
  readonly damage: string | null;
  /** Where the damaged log stands now; null when there was none or nothing was left of it. */
  readonly setAside: string | null;
}

/** Rejects with E_STORE_LOCKED, E_UNSAFE_DIR, E_STORE_NEWER, E_STORE_FULL or E_STORE_IO; damage is not a rejection. */
export async function loadStore(options: LoadOptions): Promise<LoadedStore> {
  const lock = await lockDirectory(options);
  try {
    // Whoever replaced a damaged log was killed before the new one stood in its place.
    const finished = putNewLogInPlace(storePaths(options.dir), options.now());
    discardNewLog(storePaths(options.dir));
    const damage = finished === null ? null : 'the last daemon ended while it replaced the damaged one';
    return await loadSound(options, lock, { rebuilt: false, damage, setAside: finished?.setAside ?? null }).catch(
      (error: unknown) => {
        if (!isDamage(error)) throw error;
        return rebuild(options, lock, (error as Error).message);
      },
    );
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function loadSound(
  options: LoadOptions,
  lock: StoreLock,
  found: Pick<LoadedStore, 'rebuilt' | 'damage' | 'setAside'>,
): Promise<LoadedStore> {
  const store = new SqliteStore(options, lock);
  try {
    const { events, feed_version } = await store.replay(options.visitor());
    return { store, events, feed_version, ...found };
  } catch (error) {
    store.closeNow(false);
    throw error;
  }
}

async function rebuild(options: LoadOptions, lock: StoreLock, damage: string): Promise<LoadedStore> {
  const mark = readMark(storePaths(options.dir).head);
  // Later than every version there can have been, whether or not the old head could be read (FED2).
  const feed_version = Math.max(mark?.feed_version ?? 0, Math.ceil(options.now())) + 1;
  const { setAside } = replaceLog(options, options.random ?? createRealRandom(), (saved) =>
    rebuiltCommit(saved, feed_version, options.now()),
  );
  return loadSound(options, lock, { rebuilt: true, damage, setAside });
}

function rebuiltCommit(saved: Salvage, feed_version: number, now: number): Commit {
  const runtimes = runtimesOf(saved.events);
  const known = new Set(runtimes.map((record) => record.identity.runtime_id));
  const ends = endsOf(saved.events);
  const events = saved.events
    .filter((stored) => stored.runtime_id !== null && known.has(stored.runtime_id))
    .map(({ runtime_id, verdict, event }): NewEvent => ({ runtime_id, verdict, event }));
  return {
    events,
    rebindings: [],
    runtimes: runtimes.map((record) => ({ ...record, ended_at: ends.get(record.identity.runtime_id)?.time ?? null })),
    states: runtimes.map(({ identity }) =>
      rebuiltState(identity.runtime_id, ends.get(identity.runtime_id) ?? null, now),
    ),
    audit: [],
    feed_version,
  };
}

/** The runtimes that were found to have started. Of two that claim one place, which damage can cause, the later stays. */
function runtimesOf(events: readonly StoredEvent[]): RuntimeRecord[] {
  const byPlace = new Map<string, RuntimeRecord>();
  const byId = new Map<RuntimeId, string>();
  for (const { event } of events) {
    if (event.fact.kind !== 'runtime.started') continue;
    const identity = event.fact.runtime;
    const shared = identity.pane === null || identity.parent !== null;
    const place = shared
      ? `runtime ${identity.runtime_id}`
      : JSON.stringify([identity.target, identity.pane, identity.pane_epoch]);
    const before = byId.get(identity.runtime_id);
    if (before !== undefined) byPlace.delete(before);
    byId.set(identity.runtime_id, place);
    byPlace.set(place, { identity, ended_at: null });
  }
  return [...byPlace.values()];
}

function endsOf(events: readonly StoredEvent[]): ReadonlyMap<RuntimeId, EndRecord> {
  const ends = new Map<RuntimeId, EndRecord>();
  for (const { runtime_id, event } of events) {
    if (event.fact.kind !== 'runtime.ended' || runtime_id === null) continue;
    const { cause, status = null, signal = null } = event.fact;
    ends.set(runtime_id, { cause, status, signal, clean: false, time: event.time });
  }
  return ends;
}

/** `state_version` is a time, which is later than any count: an action decided before the damage can never fit (ACT1). */
function rebuiltState(runtime_id: RuntimeId, ended: EndRecord | null, now: number): StateRecord {
  return {
    runtime_id,
    state: 'unknown',
    reason: 'rebuilt',
    confidence: 'low',
    detail: null,
    until: null,
    since: now,
    last_seen_at: now,
    state_version: Math.ceil(now),
    decided_by: null,
    competing: [],
    ask: null,
    asks_open: 0,
    background: { shells: 0, agents: 0 },
    suspended: false,
    ended,
  };
}
