// One batch on its way into the world: every event gets its verdict here, in order, seeing the ones before it in the same
// batch. Nothing is changed in the world until `accept`, which is called after the log has committed.

import type { AdmittedEvent } from '../model/events.ts';
import type { EventId, RuntimeId, TargetId } from '../model/ids.ts';
import type { NewEvent, Rebinding, RuntimeRecord, StateRecord } from '../model/records.ts';
import { type Verdict, type VerdictName, type VerdictReason, verdict, verdictReasons } from '../model/verdicts.ts';
import { replacesOlder } from './order.ts';
import { PendingOverlay, type Waiting } from './pending.ts';
import { looksDifferent } from './publish.ts';
import { type Copy, newRow, type Recent, type Row, uncommitted } from './rows.ts';
import { RuntimeIndex } from './runtime-index.ts';
import { type Work, Works } from './works.ts';
import type { World } from './world.ts';

export interface DraftResult {
  readonly events: readonly NewEvent[];
  readonly rebindings: readonly Rebinding[];
  readonly runtimes: readonly RuntimeRecord[];
  readonly states: readonly StateRecord[];
}

export class Draft {
  readonly #world: World;
  readonly #now: number;
  readonly #index: RuntimeIndex;
  readonly #works: Works;
  readonly #pending: PendingOverlay;
  readonly #rows: Row[] = [];
  readonly #touched = new Set<RuntimeId>();
  readonly #rebindings = new Map<EventId, Rebinding>();
  readonly #tally = new Map<VerdictName, number>();
  readonly #due = new Map<RuntimeId, number | null>();
  #states: readonly StateRecord[] = [];

  constructor(world: World, now: number) {
    this.#world = world;
    this.#now = now;
    this.#index = new RuntimeIndex(world.index);
    this.#works = new Works(world, now);
    this.#pending = new PendingOverlay(world.pending);
  }

  /** How the verdict counters change by this batch; they always balance (ADM2). */
  get tally(): ReadonlyMap<VerdictName, number> {
    return this.#tally;
  }

  /** Judges one event. `copies` are those that the log holds under the same identity, of whatever runtime. */
  judge(event: AdmittedEvent, copies: readonly Copy[] = []): Verdict {
    const judged = verdict(this.#judge(event, copies));
    this.#count(judged.verdict, 1);
    return judged;
  }

  #judge(event: AdmittedEvent, copies: readonly Copy[]): VerdictReason {
    const { fact } = event;
    if (fact.kind === 'runtime.started') return this.#judgeStart(event, fact.runtime.runtime_id, copies);
    if (fact.kind === 'server.seen') {
      const seen = { server: fact.server, startedAt: fact.server_started_at };
      return this.#judgeServer(event, copies, seen);
    }
    const runtime = this.#world.steps.bind(event, this.#index);
    if (fact.kind === 'state.repeated') return this.#judgeRepeat(event, runtime);
    return runtime === null ? this.#judgePending(event) : this.#judgeBound(event, runtime, copies, null);
  }

  /** A target speaks only for itself: it cannot take over a runtime that another one has (SEC5). */
  #judgeStart(event: AdmittedEvent, runtime: RuntimeId, copies: readonly Copy[]): VerdictReason {
    const known = this.#index.runtime(runtime);
    if (known !== undefined && known.target !== event.evidence.target) return 'other_target';
    return this.#judgeBound(event, runtime, copies, null);
  }

  #judgeRepeat(event: AdmittedEvent, runtime: RuntimeId | null): VerdictReason {
    if (runtime === null) return 'nothing_to_refresh';
    this.#world.refresh(runtime, event.source, this.#now);
    this.#touched.add(runtime);
    return 'repeated';
  }

  #judgeServer(
    event: AdmittedEvent,
    copies: readonly Copy[],
    seen: Parameters<RuntimeIndex['addServer']>[1],
  ): VerdictReason {
    const { target } = event.evidence;
    const isHere = ({ event: one }: Row): boolean => one.fact.kind === 'server.seen' && one.key.hash === event.key.hash;
    const isKnown = copies.some((copy) => copy.key.hash === event.key.hash);
    // Another content under the same id is another sighting: which server is the newest does not depend on who came first.
    if (isKnown || this.#rows.some(isHere)) return 'same_event';
    this.#rows.push(newRow(event, null, 'joined'));
    if (this.#index.addServer(target, seen)) this.touch(this.#runtimesOn(target));
    return 'joined';
  }

  #judgePending(event: AdmittedEvent): VerdictReason {
    const row = newRow(event, null, 'runtime_not_known');
    if (!this.#pending.add(row)) return 'same_event';
    this.#rows.push(row);
    const surplus = this.#pending.surplus();
    if (surplus !== null) this.#giveUp(surplus, 'pending_full');
    return 'runtime_not_known';
  }

  /** Events whose runtime did not become known in time are given up, with their reason. */
  expirePending(): void {
    for (const waiting of this.#pending.expired(this.#now)) this.#giveUp(waiting, 'bind_expired');
  }

  #giveUp(waiting: Waiting, reason: 'pending_full' | 'bind_expired'): void {
    this.#pending.take(waiting);
    this.#recount(reason);
    this.#rebind(waiting.recent, null, reason);
  }

  /** `held` is given for an event that has its row already: it was pending, or it moves to a nearer runtime. */
  #judgeBound(event: AdmittedEvent, runtime: RuntimeId, copies: readonly Copy[], held: Recent | null): VerdictReason {
    const work = this.#works.open(runtime, event);
    const young = work.copiesOf(event);
    const old = copies.filter((copy) => this.#runtimeOf(copy) === runtime);
    const keys = [...young.map((one) => one.event.key), ...old.map((copy) => copy.key)];
    let reason: VerdictReason = this.#world.steps.judgeCopy(event.key, keys);
    if (reason === 'same_event') return reason;
    // Once its copy is part of the base, the choice is made: the first to arrive stays.
    if (reason !== 'joined' && young.length === 0) return 'conflict_kept';
    this.#touched.add(runtime);
    const before = work.fold;
    const row = held === null ? newRow(event, runtime, reason) : null;
    work.add(row?.recent ?? (held as Recent), reason !== 'joined');
    // The log is told which copies no longer count, so that replay needs no memory of its own.
    if (reason === 'conflict_replaced') for (const loser of young) this.#rebind(loser, runtime, 'conflict_kept');
    if (reason === 'joined' && work.fold === before && replacesOlder[event.fact.kind]) reason = 'older_than_cursor';
    if (row !== null) this.#rows.push(Object.assign(row, { verdict: reason }));
    this.#noteIdentity(work, before.sessions, event);
    return reason;
  }

  /** A new runtime or a new session can be what pending events wait for, or nearer than where others were bound. */
  #noteIdentity(work: Work, sessionsBefore: ReadonlySet<string>, { fact }: AdmittedEvent): void {
    if (fact.kind === 'runtime.session') {
      if (work.fold.sessions === sessionsBefore) return;
      this.#index.addSession(work.identity, fact.agent_session);
    } else if (fact.kind === 'runtime.started') {
      this.#index.addRuntime(work.identity);
      this.touch(this.#index.inPaneOf(work.identity).map((one) => one.runtime_id));
    } else return;
    this.#bindPending(work.identity.target);
    this.#moveNearer(work.identity.target);
  }

  #bindPending(target: TargetId): void {
    for (const waiting of this.#pending.of(target)) {
      const runtime = this.#world.steps.bind(waiting.recent.event, this.#index);
      // Binding one event can bring in a session and with it the next ones: those are done by then.
      if (runtime === null || !this.#pending.isWaiting(waiting.place)) continue;
      this.#pending.take(waiting);
      const reason = this.#judgeBound(waiting.recent.event, runtime, [], waiting.recent);
      this.#recount(reason);
      this.#rebind(waiting.recent, runtime, reason);
    }
  }

  /** Moves young events whose evidence names a nearer runtime now (a nested agent found later, a resumed session). */
  #moveNearer(target: TargetId): void {
    for (const id of this.#runtimesOn(target)) {
      for (const recent of this.#works.youngOf(id)) {
        const { evidence, fact } = recent.event;
        if (evidence.runtime_id !== undefined || fact.kind === 'runtime.started') continue;
        const nearer = this.#world.steps.bind(recent.event, this.#index);
        if (nearer === null || nearer === id) continue;
        const heir = this.#works.open(id, recent.event).withdraw(recent);
        if (heir !== null) this.#rebind(heir, id, 'joined');
        this.#touched.add(id);
        this.#rebind(recent, nearer, this.#judgeBound(recent.event, nearer, [], recent));
      }
    }
  }

  #rebind(recent: Recent, runtime: RuntimeId | null, reason: VerdictReason): void {
    const row = recent.event_id === uncommitted ? this.#rows.find((one) => one.recent === recent) : undefined;
    if (row !== undefined) Object.assign(row, { runtime_id: runtime, verdict: reason });
    else this.#rebindings.set(recent.event_id, { event_id: recent.event_id, runtime_id: runtime, verdict: reason });
  }

  #runtimesOn(target: TargetId): readonly RuntimeId[] {
    const ids = new Set([...this.#world.entries.keys(), ...this.#works.ids()]);
    return [...ids].filter((id) => this.#index.runtime(id)?.target === target);
  }

  /** Where a copy that the log holds belongs by now: this batch may have moved it. */
  #runtimeOf(copy: Copy): RuntimeId | null {
    const moved = this.#rebindings.get(copy.event_id);
    return moved === undefined ? copy.runtime_id : moved.runtime_id;
  }

  #count(name: VerdictName, by: number): void {
    this.#tally.set(name, (this.#tally.get(name) ?? 0) + by);
  }

  /** An event that was counted as pending has its final verdict. */
  #recount(reason: VerdictReason): void {
    this.#count('pending', -1);
    this.#count(verdictReasons[reason].verdict, 1);
  }

  /** Marks runtimes whose state may have changed for another reason than an event of their own: time, neighbours. */
  touch(runtimes: readonly RuntimeId[]): void {
    for (const runtime of runtimes) this.#touched.add(runtime);
  }

  /** What has to be written, all of it in one commit. */
  finish(): DraftResult {
    const states: StateRecord[] = [];
    const runtimes: RuntimeRecord[] = [];
    for (const runtime of this.#touched) {
      const { identity, fold, entry } = this.#works.view(runtime);
      const shown = entry?.record ?? null;
      const { record, due } = this.#world.look(identity, fold, shown, this.#index, this.#now);
      this.#due.set(runtime, due);
      if (looksDifferent(shown, record)) states.push(record);
      const isNews =
        shown === null || entry?.identity !== identity || (shown.ended === null) !== (record.ended === null);
      if (isNews) runtimes.push({ identity, ended_at: record.ended?.time ?? null });
    }
    this.#states = states;
    return {
      events: this.#rows.map(({ runtime_id, verdict: reason, event }) => ({ runtime_id, verdict: reason, event })),
      rebindings: [...this.#rebindings.values()],
      runtimes,
      states,
    };
  }

  /** The log has it: now it is true. `ids` are those of `finish().events`, in order. */
  accept(ids: readonly EventId[]): void {
    this.#rows.forEach((row, place) => {
      row.recent.event_id = ids[place] as EventId;
    });
    this.#world.index.absorb(this.#index);
    this.#pending.accept();
    for (const work of this.#works.all()) work.accept(this.#now);
    for (const record of this.#states) this.#world.show(record);
    // Seen again, even if nothing looks different: the moment it decays has moved on.
    for (const [runtime, due] of this.#due) this.#world.planDecay(runtime, due);
    this.#world.settle(this.#now);
  }
}
