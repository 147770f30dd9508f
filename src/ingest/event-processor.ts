// Where the pure engine meets the log: a batch is admitted, judged on a draft, committed, and only then true and shown.
// One batch at a time; whoever calls waits for the one before (the inbox does).

import { type Admission, type AdmitContext, admit } from '../engine/admit.ts';
import { writeFold } from '../engine/base.ts';
import { isSame } from '../engine/canonical.ts';
import { Draft, type DraftResult } from '../engine/draft.ts';
import { isAskRedacted } from '../engine/facts.ts';
import { Loader } from '../engine/load.ts';
import { looksDifferent } from '../engine/publish.ts';
import { Recents } from '../engine/recents.ts';
import { redactDeep } from '../engine/redact.ts';
import { claimHolder } from '../engine/route.ts';
import { type Steps, standardSteps } from '../engine/steps.ts';
import { World } from '../engine/world.ts';
import type { Ask } from '../model/asks.ts';
import type { AdmittedEvent, RuntimeIdentity } from '../model/events.ts';
import type { EventId, RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { AuditRecord, NewEvent, StateRecord } from '../model/records.ts';
import { type Verdict, type VerdictName, verdictNames } from '../model/verdicts.ts';
import type { Commit, KnownCopy, PruneOrder, PruneReport, PruneTurn, Store } from '../store/store.ts';

export interface EventProcessorParts {
  readonly store: Store;
  /** The daemon's timeline, ms. */
  readonly now: () => number;
  readonly offsetMs?: AdmitContext['offsetMs'];
  readonly allowed?: AdmitContext['allowed'];
  readonly steps?: Steps;
  /** Called after each commit with what a screen has to redraw; returns the newest version of the feed. */
  readonly onChange?: (states: readonly StateRecord[]) => number;
  /** Called when a log that was damaged meanwhile was set aside, with its path, and a new one begun. */
  readonly onStartedOver?: (setAside: string | null) => void;
}

/** How much of the past goes. */
export interface PruneRequest {
  readonly before: number;
  readonly bytesMax?: number;
  readonly isFull?: boolean;
  /** How far behind `before` the past of a living runtime may fall until it is replaced by its join. */
  readonly slackMs?: number;
  /** Given when others use the log meanwhile; on a full disk nobody can. */
  readonly turn?: PruneTurn;
}

/** A batch that was judged and not committed yet. */
interface Judged {
  readonly admissions: readonly Admission[];
  readonly verdicts: readonly Verdict[];
  readonly draft: Draft;
}

/** A state that is not on disk. */
interface Unkept {
  readonly identity: RuntimeIdentity;
  readonly record: StateRecord;
}

const nothing: ReadonlySet<string> = new Set();

export class EventProcessor {
  readonly world: World;
  readonly #store: Store;
  readonly #parts: EventProcessorParts;
  readonly #counters = new Map<VerdictName, number>();
  /** Asks as they were told, where something in them is hidden, by the content of their event. In memory only (ADM1). */
  readonly #wholeAsks = new Map<string, Ask>();
  /** What is seen while the log takes nothing; null while it does. */
  #unkept: ReadonlyMap<RuntimeId, Unkept> | null = null;
  #taken = 0;
  #feedVersion: number;

  private constructor(parts: EventProcessorParts, world: World, feedVersion: number) {
    this.#parts = parts;
    this.#store = parts.store;
    this.world = world;
    this.#feedVersion = feedVersion;
  }

  /** Builds the world from a log. Rejects with E_STORE_DAMAGED when the log is not whole. */
  static async open(parts: EventProcessorParts): Promise<EventProcessor> {
    const loader = new Loader(new World(parts.steps ?? standardSteps));
    const { feed_version } = await parts.store.replay((row) => loader.visit(row));
    return EventProcessor.from(parts, loader, feed_version);
  }

  /** For whoever has replayed the log already. */
  static async from(parts: EventProcessorParts, loader: Loader, feedVersion: number): Promise<EventProcessor> {
    const records = await parts.store.states();
    loader.finish(records);
    for (const record of records) if (record.reason === 'rebuilt') loader.world.rebuilt.add(record.runtime_id);
    return new EventProcessor(parts, loader.world, feedVersion);
  }

  /** Where the feed goes on after a restart. */
  get feedVersion(): number {
    return this.#feedVersion;
  }

  /** Events in, and what became of them. `taken` is always the sum of the verdicts (ADM2). */
  counters(): { readonly taken: number; readonly verdicts: Readonly<Record<VerdictName, number>> } {
    const verdicts = Object.fromEntries(verdictNames.map((name) => [name, this.#counters.get(name) ?? 0]));
    return { taken: this.#taken, verdicts: verdicts as Record<VerdictName, number> };
  }

  /** Counts observations that the inbox merged before they got here. */
  countMerged(count: number): void {
    this.#taken += count;
    this.#count('merged', count);
  }

  /** Counts events that the inbox had to refuse because they made the engine fail. */
  countRefused(count: number): void {
    this.#taken += count;
    this.#count('refused', count);
  }

  /**
   * One batch, in order. Resolves after the commit, so a verdict is an acknowledgement. Rejects when the log could not
   * take it; then nothing has happened and the same batch can be handed in again.
   */
  async take(raws: readonly unknown[], audit: readonly AuditRecord[] = []): Promise<readonly Verdict[]> {
    if (this.#store.isDamaged) await this.#startOver();
    try {
      return await this.#take(raws, audit);
    } catch (problem) {
      if (!this.#store.isDamaged) throw problem;
      await this.#startOver();
      return this.#take(raws, audit);
    }
  }

  /**
   * The log was damaged while this ran. What is known was read from it while it was whole, so the new log begins with
   * that: one base for each runtime, and nothing becomes unknown (LOG2).
   */
  async #startOver(): Promise<void> {
    const now = this.#parts.now();
    const entries = [...this.world.entries];
    const waiting = [...this.world.pending];
    const { ids, setAside } = await this.#store.startOver((saved) => ({
      events: [
        ...waiting.map(([, { event }]): NewEvent => ({ runtime_id: null, verdict: 'runtime_not_known', event })),
        ...saved.filter((one) => one.runtime_id === null || this.world.entries.has(one.runtime_id)),
        ...entries.map(([runtime_id, { identity, fold }]): NewEvent => {
          return { runtime_id, verdict: 'joined', event: baseEvent(identity, writeFold(fold), now) };
        }),
      ],
      rebindings: [],
      runtimes: entries.map(([, { identity, record }]) => ({ identity, ended_at: record?.ended?.time ?? null })),
      states: entries.flatMap(([, { record }]) => record ?? []),
      audit: [],
      feed_version: this.#feedVersion,
    }));
    // Ids are those of the new log; what was young has found its place for good.
    for (const [runtime, entry] of entries) {
      this.world.entries.set(runtime, { ...entry, base: entry.fold, baseNewest: now, recents: new Recents() });
    }
    for (const [index, [place, { event }]] of waiting.entries()) {
      this.world.pending.set(place, { event, event_id: ids[index] ?? 0 });
    }
    this.#parts.onStartedOver?.(setAside);
  }

  async #take(raws: readonly unknown[], audit: readonly AuditRecord[]): Promise<readonly Verdict[]> {
    const { admissions, verdicts, draft } = await this.#judge(raws);
    await this.#commit(draft, audit);
    this.#taken += raws.length;
    for (const [name, count] of draft.tally) this.#count(name, count);
    for (const one of admissions) if (!one.ok) this.#count(one.verdict.verdict, 1);
    return verdicts;
  }

  /**
   * The log takes nothing: what waits to be written is judged as if it were, on a draft that nobody accepts, so that the
   * states that are shown go on (LOG5). Null: it takes events again.
   */
  async preview(raws: readonly unknown[] | null): Promise<void> {
    if (raws === null && this.#unkept === null) return;
    this.#unkept = raws === null ? null : await this.#previewed(raws);
    this.#parts.onChange?.([]);
  }

  async #previewed(raws: readonly unknown[]): Promise<ReadonlyMap<RuntimeId, Unkept>> {
    const { states, runtimes } = (await this.#judge(raws)).draft.finish();
    const found = new Map(runtimes.map(({ identity }) => [identity.runtime_id, identity]));
    const unkept = states.flatMap((record): readonly (readonly [RuntimeId, Unkept])[] => {
      const identity = found.get(record.runtime_id) ?? this.world.entries.get(record.runtime_id)?.identity;
      return identity === undefined ? [] : [[record.runtime_id, { identity, record }]];
    });
    return new Map(unkept);
  }

  /** Nothing can be written down: what is shown is seen and not kept. */
  get isKeepingNothing(): boolean {
    return this.#unkept !== null;
  }

  /** Of every runtime that is shown. */
  identityOf(runtime: RuntimeId): RuntimeIdentity | undefined {
    return this.world.entries.get(runtime)?.identity ?? this.#unkept?.get(runtime)?.identity;
  }

  async #judge(raws: readonly unknown[]): Promise<Judged> {
    const now = this.#parts.now();
    const context: AdmitContext = {
      now,
      offsetMs: this.#parts.offsetMs ?? (() => 0),
      allowed: this.#parts.allowed ?? (() => nothing),
    };
    const admissions = raws.map((raw) => admit(raw, context));
    const events = admissions.flatMap((one) => (one.ok ? [one.event] : []));
    for (const one of admissions) if (one.ok && one.whole !== undefined) this.#remember(one.event.key.hash, one.whole);
    const copies = groupCopies(await this.#store.known(events.map(identityOf)));
    const draft = new Draft(this.world, now);
    draft.expirePending();
    draft.touch(this.world.dueBy(now));
    const verdicts = admissions.map((one) =>
      one.ok ? draft.judge(one.event, copies.get(placeOf(one.event)) ?? []) : one.verdict,
    );
    return { admissions, verdicts, draft };
  }

  #remember(hash: string, ask: Ask): void {
    this.#wholeAsks.delete(hash);
    this.#wholeAsks.set(hash, ask);
    const [oldest] = this.#wholeAsks.keys();
    if (this.#wholeAsks.size > limits.wholeAsksMax && oldest !== undefined) this.#wholeAsks.delete(oldest);
  }

  /**
   * The ask that is published of a runtime, as it was told: what a screen or a server is compared with. Null when part of
   * it is hidden and only an earlier daemon has heard it.
   */
  wholeAskOf(runtime: RuntimeId): Ask | null {
    const entry = this.world.entries.get(runtime);
    const ask = entry?.record?.ask ?? null;
    if (entry === undefined || ask === null || !isAskRedacted(ask)) return ask;
    const whole = this.#wholeAsks.get(entry.fold.asked.get(ask.ask_id)?.key.hash ?? '');
    return whole !== undefined && isSame(redactDeep(whole), ask) ? whole : null;
  }

  /** The rules of time were changed: every state is looked at again. */
  async reconsider(): Promise<void> {
    const draft = new Draft(this.world, this.#parts.now());
    draft.touch([...this.world.entries.keys()]);
    await this.#commit(draft, []);
  }

  /** What time alone changes: states that age, events that waited too long. */
  async tick(): Promise<void> {
    await this.take([]);
  }

  async #commit(draft: Draft, audit: readonly AuditRecord[]): Promise<void> {
    const result = draft.finish();
    if (isEmpty(result) && audit.length === 0) return draft.accept([]);
    const feed_version = this.#feedVersion + result.states.length;
    const commit: Commit = { ...result, audit, feed_version };
    const ids = await this.#store.commit(commit);
    draft.accept(ids);
    // The feed may publish a moment later than this; what is written down never goes back.
    this.#feedVersion = Math.max(feed_version, this.#parts.onChange?.(result.states) ?? 0);
  }

  /** Drops what is older than retention allows; of a runtime that lives on, old events become one base event. */
  async prune(wish: PruneRequest): Promise<PruneReport> {
    const { before, bytesMax = limits.retentionBytesMax, isFull = false, slackMs = limits.compactSlackMs, turn } = wish;
    // The last claimant, and those who followed it in its pane: without them it would seem to run again.
    const holder = claimHolder(this.world.routeEntries());
    const order: PruneOrder = {
      before,
      auditBefore: this.#parts.now() - limits.auditAgeMs,
      snapshotsMax: limits.snapshotsMax,
      bytesMax,
      endedBefore: this.#parts.now(),
      keep: holder === null ? [] : this.world.index.inPaneOf(holder).map((one) => one.runtime_id),
      compact: {
        runtimes: [...this.world.entries].flatMap(([runtime, { record }]) => (record?.ended ? [] : [runtime])),
        before: isFull ? Number.MAX_VALUE : before,
        dueBefore: isFull ? Number.MAX_VALUE : before - slackMs,
        baseOf: (runtime) => this.#baseOf(runtime),
      },
      onDropped: (runtime) => this.world.forget(runtime),
    };
    return isFull ? this.#store.pruneWhenFull(order) : this.#store.prune(order, turn);
  }

  /** The join of what a living runtime said, without what is young: that may still find another place. */
  #baseOf(runtime_id: RuntimeId): { upTo: EventId; base: NewEvent } | null {
    const entry = this.world.entries.get(runtime_id);
    if (entry === undefined || entry.record?.ended || entry.base.identity === null) return null;
    // Young events stand in the order they were bound, which is not that of the log.
    const firstYoung = Math.min(Number.MAX_SAFE_INTEGER, ...entry.recents.all.map((one) => one.event_id));
    const base = baseEvent(entry.identity, writeFold(entry.base), this.#parts.now());
    return { upTo: firstYoung - 1, base: { runtime_id, verdict: 'joined', event: base } };
  }

  /** All states as they are at this moment; what has aged since the last commit is shown as aged. */
  states(): readonly StateRecord[] {
    const kept = this.#keptStates();
    const unkept = this.#unkept;
    if (unkept === null) return kept;
    const others = [...unkept.values()].filter(({ identity }) => !this.world.entries.has(identity.runtime_id));
    const live = kept.map((record) => unkept.get(record.runtime_id)?.record ?? record);
    return [...live, ...others.map(({ record }) => record)].map(asUnkept);
  }

  #keptStates(): readonly StateRecord[] {
    const now = this.#parts.now();
    const shown: StateRecord[] = [];
    for (const { identity, fold, record } of this.world.entries.values()) {
      // Time does nothing more to one that has ended.
      if (record !== null && record.ended !== null) {
        shown.push(record);
        continue;
      }
      const current = this.world.stateOf(identity, fold, record, this.world.index, now);
      shown.push(record !== null && !looksDifferent(record, current) ? record : current);
    }
    return shown;
  }

  #count(name: VerdictName, by: number): void {
    this.#counters.set(name, (this.#counters.get(name) ?? 0) + by);
  }
}

/** Nobody could look it up again, and nothing may be decided on it. */
const asUnkept = (record: StateRecord): StateRecord =>
  record.ended !== null || record.state === 'unknown' ? record : { ...record, reason: 'not_kept', confidence: 'low' };

function isEmpty(result: DraftResult): boolean {
  return Object.values(result).every((list) => list.length === 0);
}

const identityOf = ({ evidence: { target }, source, dedupe_key }: AdmittedEvent) => ({ target, source, dedupe_key });
const placeOf = (event: AdmittedEvent): string => placeOfCopy(identityOf(event));
const placeOfCopy = (one: Pick<KnownCopy, 'target' | 'source' | 'dedupe_key'>): string =>
  `${one.target}\n${one.source}\n${one.dedupe_key}`;

function groupCopies(copies: readonly KnownCopy[]): ReadonlyMap<string, readonly KnownCopy[]> {
  const groups = new Map<string, KnownCopy[]>();
  for (const copy of copies) {
    const group = groups.get(placeOfCopy(copy));
    if (group === undefined) groups.set(placeOfCopy(copy), [copy]);
    else group.push(copy);
  }
  return groups;
}

function baseEvent(identity: RuntimeIdentity, fold: string, now: number): AdmittedEvent {
  return {
    evidence: { target: identity.target, runtime_id: identity.runtime_id },
    source: 'retention',
    fact: { kind: 'runtime.base', fold },
    key: { major: now, minor: 0, hash: '' },
    time: now,
    ingested_at: now,
    dedupe_key: `base:${now}`,
  };
}
