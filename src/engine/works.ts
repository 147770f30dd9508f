// The runtimes that a batch touches, as the batch sees them: a fold that has run ahead of the world's, and the events
// added to it or taken out of it.

import type { AdmittedEvent, RuntimeIdentity } from '../model/events.ts';
import type { RuntimeId } from '../model/ids.ts';
import { emptyFold, type Fold } from './fold.ts';
import { Recents } from './recents.ts';
import { type Recent, winner, winners } from './rows.ts';
import { type Entry, newEntry, type World } from './world.ts';

export class Work {
  readonly #world: World;
  readonly #entry: Entry | null;
  readonly #found: RuntimeIdentity;
  readonly #added = new Recents();
  readonly #removed = new Set<Recent>();
  fold: Fold;

  constructor(world: World, entry: Entry | null, found: RuntimeIdentity) {
    this.#world = world;
    this.#entry = entry;
    this.#found = found;
    this.fold = entry?.fold ?? emptyFold;
  }

  get identity(): RuntimeIdentity {
    return this.fold.identity?.value ?? this.#found;
  }

  /** Adds an event. With copies of it around, the join has to be made anew from the copies that count. */
  add(recent: Recent, contested: boolean): void {
    this.#added.push(recent);
    if (contested) this.#refold();
    else this.fold = this.#join(this.fold, recent.event);
  }

  /** Takes an event out again, and gives back the copy that counts in its place, if it was contested. */
  withdraw(recent: Recent): Recent | null {
    this.#removed.add(recent);
    this.#refold();
    return winner(this.copiesOf(recent.event));
  }

  /** Young copies of the same event, not counting the object itself. */
  copiesOf(event: AdmittedEvent): readonly Recent[] {
    const copies = [...(this.#entry?.recents.copiesOf(event) ?? []), ...this.#added.copiesOf(event)];
    return copies.filter((one) => one.event !== event && !this.#removed.has(one));
  }

  recents(): readonly Recent[] {
    return [...(this.#entry?.recents.all ?? []), ...this.#added.all].filter((one) => !this.#removed.has(one));
  }

  #refold(): void {
    this.fold = winners(this.recents()).reduce(
      (fold, one) => this.#join(fold, one.event),
      this.#entry?.base ?? emptyFold,
    );
  }

  #join(fold: Fold, event: AdmittedEvent): Fold {
    return this.#world.steps.join(fold, event);
  }

  accept(now: number): void {
    if (this.#added.all.length === 0 && this.#removed.size === 0) return;
    const { identity } = this;
    const entry = this.#entry ?? newEntry(identity);
    entry.identity = identity;
    entry.fold = this.fold;
    entry.recents.remove(this.#removed);
    for (const one of this.#added.all) if (!this.#removed.has(one)) entry.recents.push(one);
    this.#world.entries.set(identity.runtime_id, entry);
    this.#world.age(entry, now);
    this.#world.heard(entry, now);
    // It has been seen again: what was lost no longer matters.
    if (Object.keys(this.fold.claims).length > 0) this.#world.rebuilt.delete(identity.runtime_id);
  }
}

export class Works {
  readonly #world: World;
  readonly #now: number;
  readonly #works = new Map<RuntimeId, Work>();

  constructor(world: World, now: number) {
    this.#world = world;
    this.#now = now;
  }

  /** The runtime as this batch sees it. A runtime that nobody knows yet is what its own start says it is. */
  open(runtime: RuntimeId, event: AdmittedEvent): Work {
    const known = this.#works.get(runtime);
    if (known !== undefined) return known;
    const entry = this.#world.entries.get(runtime) ?? null;
    if (entry !== null) this.#world.age(entry, this.#now);
    const found = entry?.identity ?? (event.fact as { runtime: RuntimeIdentity }).runtime;
    const work = new Work(this.#world, entry, found);
    this.#works.set(runtime, work);
    return work;
  }

  ids(): Iterable<RuntimeId> {
    return this.#works.keys();
  }

  all(): readonly Work[] {
    return [...this.#works.values()];
  }

  /** The events of a runtime that can still be moved, aged first: what is part of the base by now cannot. */
  youngOf(runtime: RuntimeId): readonly Recent[] {
    const work = this.#works.get(runtime);
    if (work !== undefined) return work.recents();
    const entry = this.#world.entries.get(runtime) as Entry;
    this.#world.age(entry, this.#now);
    return entry.recents.all;
  }

  /** Identity and fold of a runtime that is known to the world, to this batch, or to both. */
  view(runtime: RuntimeId): { identity: RuntimeIdentity; fold: Fold; entry: Entry | undefined } {
    const entry = this.#world.entries.get(runtime);
    const { identity, fold } = this.#works.get(runtime) ?? (entry as Entry);
    return { identity, fold, entry };
  }
}
