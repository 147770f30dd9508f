// The world from its log. The log already holds every decision that depended on arrival (which runtime, which copy), and
// all the rest is a join: rows can be read in any order, and newest first is the cheapest.

import type { AdmittedEvent, FactKind, OrderKey } from '../model/events.ts';
import type { AskId, EventId, RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import { rankOf, type SourceName, sources } from '../model/sources.ts';
import { type VerdictReason, verdictReasons } from '../model/verdicts.ts';
import { boundMemory } from './asks.ts';
import { joinFolds } from './base.ts';
import { emptyFold, type Fold } from './fold.ts';
import { compareKeys } from './order.ts';
import { pendingPlace } from './pending.ts';
import { copyPlace, type Recent, winners } from './rows.ts';
import { newEntry, type World } from './world.ts';

/** A row as replay hands it over: cheap fields first, the event itself only when it is asked for. */
export interface LogRow {
  readonly event_id: EventId;
  readonly runtime_id: RuntimeId | null;
  readonly verdict: VerdictReason;
  readonly source: SourceName;
  readonly kind: FactKind;
  readonly key: OrderKey;
  readonly time: number;
  readonly ingested_at: number;
  decode(): AdmittedEvent;
}

/** A young event, and whether it counted when the log was written. */
interface Young extends Recent {
  readonly counted: boolean;
}

interface Loading {
  base: Fold;
  baseNewest: number;
  /** Of the base, newest first. */
  readonly settled: Set<AskId>;
  readonly young: Young[];
}

export class Loader {
  readonly world: World;
  readonly #loading = new Map<RuntimeId, Loading>();
  readonly #waiting: Recent[] = [];
  #newest = 0;

  constructor(world: World) {
    this.world = world;
  }

  /** When the newest event was taken in; the daemon's timeline goes on from there. */
  get newest(): number {
    return this.#newest;
  }

  /** Takes the rows newest first. */
  visit(row: LogRow): void {
    this.#newest = Math.max(this.#newest, row.ingested_at);
    if (row.runtime_id !== null) this.#visitBound(row, row.runtime_id);
    else if (row.kind === 'server.seen') this.#visitServer(row.decode());
    else if (verdictReasons[row.verdict].verdict === 'pending') {
      this.#waiting.push({ event: row.decode(), event_id: row.event_id });
    }
  }

  #visitServer({ evidence, fact }: AdmittedEvent): void {
    const { server, server_started_at } = fact as Extract<typeof fact, { kind: 'server.seen' }>;
    this.world.index.addServer(evidence.target, { server, startedAt: server_started_at });
  }

  #visitBound(row: LogRow, runtime: RuntimeId): void {
    let loading = this.#loading.get(runtime);
    if (loading === undefined) {
      loading = { base: emptyFold, baseNewest: 0, settled: new Set(), young: [] };
      this.#loading.set(runtime, loading);
    }
    const isYoung = this.#newest - row.ingested_at < limits.bindTtlMs && loading.young.length < limits.recentEventsMax;
    // Young copies are all kept, the fold chooses among them. Of old ones only the one that counted is.
    if (row.verdict === 'same_event' || (row.verdict === 'conflict_kept' && !isYoung)) return;
    if (!isYoung && isOutdone(loading.base, row)) return;
    const event = row.decode();
    if (isYoung) {
      loading.young.push({ event, event_id: row.event_id, counted: row.verdict !== 'conflict_kept' });
    } else {
      loading.base = this.#joinOld(loading, event);
      loading.baseNewest = Math.max(loading.baseNewest, row.ingested_at);
    }
  }

  /** Settled ids are gathered in one set and joined at the end: a set made anew for each would be most of the work. */
  #joinOld({ base, settled }: Loading, event: AdmittedEvent): Fold {
    const { fact } = event;
    if (fact.kind === 'ask.opened' && settled.has(fact.ask.ask_id)) return base;
    if (fact.kind !== 'ask.settled') return this.world.steps.join(base, event);
    // All of them until the last row is read: a forgotten one would let its ask, further down the log, seem open again.
    settled.add(fact.ask_id);
    return base;
  }

  /** Puts everything in place. `records` is what was last published, so that versions go on from there (RSV11). */
  finish(records: readonly StateRecord[]): void {
    for (const [runtime, { base: joined, baseNewest, settled, young }] of this.#loading) {
      const base = boundMemory(joinFolds(joined, { ...emptyFold, settled: new Set([...settled].reverse()) }));
      const recent = youngest(young.reverse());
      const join = (fold: Fold, one: Recent): Fold => this.world.steps.join(fold, one.event);
      const fold = winners(recent).reduce(join, base);
      // Without its start a runtime has no identity and cannot be shown; its events stay in the log.
      if (fold.identity === null) continue;
      const identity = fold.identity.value;
      const entry = { ...newEntry(identity), base, baseNewest, fold };
      for (const one of recent) entry.recents.push(one);
      this.world.entries.set(runtime, entry);
      this.world.heard(entry, this.#newest);
      this.world.index.addRuntime(identity);
      for (const session of fold.sessions) this.world.index.addSession(identity, session);
    }
    for (const one of this.#waiting.reverse()) this.world.pending.set(pendingPlace(one.event), one);
    for (const record of records) this.world.show(record);
    for (const [runtime, { identity, fold, record }] of this.world.entries) {
      const { due } = this.world.look(identity, fold, record, this.world.index, this.#newest);
      this.world.planDecay(runtime, due);
    }
  }
}

/**
 * Whether an old row can add nothing to what newer ones said, seen without reading it: most of a log is. A look of a level
 * source may also say that no dialog was open, which is a mark of its own.
 */
function isOutdone(base: Fold, { kind, source, key, time }: LogRow): boolean {
  if (kind !== 'state.observed') return false;
  const claim = base.claims[source];
  if (claim === undefined || compareKeys(claim.key, key) <= 0) return false;
  const marks =
    sources[source].style === 'edge' ? [base.activeAt[source]] : [base.activeAt[source], base.noDialog[rankOf(source)]];
  return marks.every((mark) => mark !== undefined && mark >= time);
}

/** A copy that did not count is only remembered while the one that did is young too: later, the choice is made. */
function youngest(young: readonly Young[]): Recent[] {
  const counted = young.filter((one) => one.counted);
  return young
    .filter((one) => one.counted || counted.some((other) => copyPlace(one.event) === copyPlace(other.event)))
    .map(({ event, event_id }) => ({ event, event_id }));
}
