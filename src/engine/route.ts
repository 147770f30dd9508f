// Step "route": which agent gets messages (RTE1 to RTE7). CONNECTED, DISCONNECTED and NONE are never stored: they are a
// function of who runs and of the last claim to be the active one, so they cannot go stale or contradict each other.

import type { RuntimeIdentity } from '../model/events.ts';
import type { RuntimeId } from '../model/ids.ts';
import { startsAfter } from './bind.ts';

export type Route = 'CONNECTED' | 'DISCONNECTED' | 'NONE';

export interface RouteEntry {
  readonly identity: RuntimeIdentity;
  /** Ended by its process, replaced in its pane, or gone with its server. A target that is down has not ended (RTE7). */
  readonly ended: boolean;
  /** When a person last chose it, -1 if never. */
  readonly activatedAt: number;
  /** It runs on without its pane: nothing can be said to it. */
  readonly homeless?: boolean;
}

/** Who last became active by right: by starting or by being chosen. Survives the end of its runtime. */
export interface ActiveClaim {
  readonly at: number;
  readonly identity: RuntimeIdentity;
}

export function latestClaim(one: ActiveClaim | null, other: ActiveClaim): ActiveClaim {
  if (one === null || other.at !== one.at) return one === null || other.at > one.at ? other : one;
  return startsAfter(other.identity, one.identity) ? other : one;
}

/** The claim of one entry: its start, or the moment a person chose it. */
export function claimOf(entry: RouteEntry): ActiveClaim {
  return { at: Math.max(entry.identity.started_at, entry.activatedAt), identity: entry.identity };
}

/** Children of other agents are shown but never routed to (IDN6). */
const isRoutable = (entry: RouteEntry): boolean =>
  !entry.ended && entry.homeless !== true && entry.identity.parent === null;

/** Whoever made the last claim, running or not. */
function lastClaimant(entries: readonly RouteEntry[]): RouteEntry | null {
  let claim: ActiveClaim | null = null;
  let holder: RouteEntry | null = null;
  for (const entry of entries) {
    if (entry.identity.parent !== null) continue;
    const kept = latestClaim(claim, claimOf(entry));
    if (kept !== claim) holder = entry;
    claim = kept;
  }
  return holder;
}

/** The runtime that has to be remembered even when it has ended: without it an older claim would come to life again. */
export function claimHolder(entries: readonly RouteEntry[]): RuntimeIdentity | null {
  return lastClaimant(entries)?.identity ?? null;
}

/**
 * The active runtime: the last claimant while it runs; when it has ended, the most recently started of the others
 * (RTE2). If any agent runs there is exactly one (RTE5).
 */
export function activeRuntime(entries: readonly RouteEntry[]): RuntimeId | null {
  const holder = lastClaimant(entries);
  if (holder !== null && isRoutable(holder)) return holder.identity.runtime_id;
  let newest: RuntimeIdentity | null = null;
  for (const entry of entries) {
    if (isRoutable(entry) && (newest === null || startsAfter(entry.identity, newest))) newest = entry.identity;
  }
  return newest === null ? null : newest.runtime_id;
}

export function routeOf(entry: RouteEntry, active: RuntimeId | null): Route {
  if (!isRoutable(entry)) return 'NONE';
  return entry.identity.runtime_id === active ? 'CONNECTED' : 'DISCONNECTED';
}
