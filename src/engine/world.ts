// All runtimes and what is known of each: the one mutable container of the engine. A batch is judged on a Draft; only
// when the log has it on disk does the world take the draft over, so what is served is never ahead of what is kept.

import type { RuntimeIdentity } from '../model/events.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import type { SourceName } from '../model/sources.ts';
import { decayDue } from './decay.ts';
import { emptyFold, type Fold } from './fold.ts';
import { Recents } from './recents.ts';
import type { Resolved } from './resolve.ts';
import { type Route, type RouteEntry, routeOf } from './route.ts';
import type { Recent } from './rows.ts';
import { RuntimeIndex } from './runtime-index.ts';
import { type Steps, standardSteps } from './steps.ts';

export interface Entry {
  identity: RuntimeIdentity;
  /** The join of everything older than `recents`. */
  base: Fold;
  readonly recents: Recents;
  /** When the newest event of the base was taken in. */
  baseNewest: number;
  fold: Fold;
  record: StateRecord | null;
}

export interface Look {
  readonly record: StateRecord;
  readonly due: number | null;
}

export function newEntry(identity: RuntimeIdentity): Entry {
  return { identity, base: emptyFold, recents: new Recents(), baseNewest: 0, fold: emptyFold, record: null };
}

export class World {
  readonly steps: Steps;
  readonly index = new RuntimeIndex();
  readonly entries = new Map<RuntimeId, Entry>();
  readonly pending = new Map<string, Recent>();
  /** Runtimes that are all that was saved of a damaged log (RSV4: they show as unknown until seen again). */
  readonly rebuilt = new Set<RuntimeId>();
  readonly #endedRoutes = new WeakMap<Entry, RouteEntry>();
  readonly #seen = new Map<RuntimeId, Map<SourceName, number>>();
  readonly #dueAt = new Map<RuntimeId, number>();
  /** Who has young events, and since when nothing came; the one that was heard of last stands last. */
  readonly #young = new Map<Entry, number>();

  constructor(steps: Steps = standardSteps) {
    this.steps = steps;
  }

  /** An observer saw the same as before: that is not a new fact, but it keeps `running` fresh (DED1, RSV5). */
  refresh(runtime: RuntimeId, source: SourceName, now: number): void {
    const seen = this.#seen.get(runtime) ?? new Map<SourceName, number>();
    seen.set(source, Math.max(seen.get(source) ?? 0, now));
    this.#seen.set(runtime, seen);
  }

  /** The state of a fold at this moment, ready to be shown, and when it will change by time alone. */
  look(identity: RuntimeIdentity, fold: Fold, previous: StateRecord | null, index: RuntimeIndex, now: number): Look {
    const { runtime_id } = identity;
    const resolved = this.resolved(identity, fold, index);
    const runningSeenAt = this.#runningSeenAt(runtime_id, fold);
    const aged = this.steps.decay(resolved, runningSeenAt, now, this.steps.decayLimits);
    const record = this.steps.publish(previous, runtime_id, aged, this.#lastSeenAt(runtime_id, fold));
    // Once it has decayed there is nothing left to wait for.
    const due = aged === resolved ? decayDue(resolved, runningSeenAt, this.steps.decayLimits) : null;
    return { record, due };
  }

  stateOf(
    identity: RuntimeIdentity,
    fold: Fold,
    previous: StateRecord | null,
    index: RuntimeIndex,
    now: number,
  ): StateRecord {
    return this.look(identity, fold, previous, index, now).record;
  }

  resolved(identity: RuntimeIdentity, fold: Fold, index: RuntimeIndex = this.index): Resolved {
    const rebuilt = this.rebuilt.has(identity.runtime_id);
    return this.steps.resolve(fold, { ...index.surroundings(identity), rebuilt });
  }

  /** Runtimes whose state time alone has changed, or will have by now (RSV7). */
  dueBy(now: number): readonly RuntimeId[] {
    return [...this.#dueAt].filter(([, due]) => due <= now).map(([id]) => id);
  }

  /** When time alone next changes something: a state that decays, an event that waited too long. Null when nothing. */
  nextDue(): number | null {
    const waiting = this.pending.values().next().value;
    const due = Math.min(
      ...this.#dueAt.values(),
      ...(waiting === undefined ? [] : [waiting.event.ingested_at + limits.bindTtlMs]),
    );
    return Number.isFinite(due) ? due : null;
  }

  /** Notes what is published about a runtime now. */
  show(record: StateRecord): void {
    const entry = this.entries.get(record.runtime_id);
    if (entry !== undefined) entry.record = record;
  }

  /** Notes when a runtime's state will change by time alone; null when it will not. */
  planDecay(runtime: RuntimeId, due: number | null): void {
    if (due === null) this.#dueAt.delete(runtime);
    else this.#dueAt.set(runtime, due);
  }

  /** Drops a runtime whose history was pruned. */
  forget(runtime: RuntimeId): void {
    this.entries.delete(runtime);
    this.index.removeRuntime(runtime);
    this.#seen.delete(runtime);
    this.#dueAt.delete(runtime);
    this.rebuilt.delete(runtime);
  }

  /** It has young events. */
  heard(entry: Entry, now: number): void {
    this.#young.delete(entry);
    this.#young.set(entry, now);
  }

  /**
   * Ages those of whom nothing more was heard. Of all that ever ran most have ended and say nothing again: without this the
   * last events of each would be held for as long as the log keeps them.
   */
  settle(now: number): void {
    for (const [entry, at] of this.#young) {
      if (now - at < limits.bindTtlMs) return;
      this.#young.delete(entry);
      this.age(entry, now);
      if (entry.recents.all.length > 0) this.#young.set(entry, now);
      // The base is all there is: one copy of it is enough.
      else entry.base = entry.fold;
    }
  }

  /** Events that are old enough become part of the base for good, and with them the choice among their copies. */
  age(entry: Entry, now: number): void {
    for (const { event } of entry.recents.takeOld(now)) {
      entry.base = this.steps.join(entry.base, event);
      entry.baseNewest = Math.max(entry.baseNewest, event.ingested_at);
    }
  }

  routeEntries(): readonly RouteEntry[] {
    return Array.from(this.entries.values(), (entry) => this.#routeEntryOf(entry));
  }

  /** Of all that ever ran most have ended: what was found out about them need not be worked out again. */
  #routeEntryOf(entry: Entry): RouteEntry {
    const { identity, fold, record } = entry;
    const known = this.#endedRoutes.get(entry);
    const isEnded = record?.ended != null;
    if (isEnded && known?.identity === identity && known.activatedAt === fold.activatedAt) return known;
    const ended = isEnded || this.resolved(identity, fold).ended !== null;
    const found = { identity, ended, activatedAt: fold.activatedAt };
    if (isEnded) this.#endedRoutes.set(entry, found);
    return found;
  }

  /** Who is CONNECTED, DISCONNECTED or NONE right now (RTE1). */
  routes(isHomeless: (identity: RuntimeIdentity) => boolean = () => false): ReadonlyMap<RuntimeId, Route> {
    const entries = this.routeEntries().map((entry) =>
      entry.ended ? entry : { ...entry, homeless: isHomeless(entry.identity) },
    );
    const active = this.steps.activeRuntime(entries);
    return new Map(entries.map((entry) => [entry.identity.runtime_id, routeOf(entry, active)]));
  }

  #runningSeenAt(runtime: RuntimeId, fold: Fold): number {
    const seen = this.#seen.get(runtime);
    let latest = 0;
    for (const [source, claim] of Object.entries(fold.claims)) {
      if (claim.fact.state !== 'running') continue;
      latest = Math.max(latest, claim.received, seen?.get(source as SourceName) ?? 0);
    }
    return latest;
  }

  #lastSeenAt(runtime: RuntimeId, fold: Fold): number {
    const times = [...(this.#seen.get(runtime)?.values() ?? [])];
    for (const claim of Object.values(fold.claims)) times.push(claim.received);
    return Math.max(0, ...times);
  }
}
