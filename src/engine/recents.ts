// The young events of one runtime: those that can still be moved to a nearer runtime or outdone by an earlier stamp of
// the same event. Kept in order of arrival, and by where copies meet.

import type { AdmittedEvent } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import { copyPlace, type Recent, winner } from './rows.ts';

export class Recents {
  #list: Recent[] = [];
  /** Null while there is none: of all that ever ran nearly all have none, and an empty map is not small. */
  #byPlace: Map<string, Recent[]> | null = null;

  /** Oldest first. */
  get all(): readonly Recent[] {
    return this.#list;
  }

  push(one: Recent): void {
    this.#list.push(one);
    const place = copyPlace(one.event);
    this.#byPlace ??= new Map();
    const copies = this.#byPlace.get(place);
    if (copies === undefined) this.#byPlace.set(place, [one]);
    else copies.push(one);
  }

  copiesOf(event: AdmittedEvent): readonly Recent[] {
    return this.#byPlace?.get(copyPlace(event)) ?? [];
  }

  remove(gone: ReadonlySet<Recent>): void {
    if (gone.size === 0) return;
    this.#list = this.#list.filter((one) => !gone.has(one));
    if (this.#list.length === 0) this.#byPlace = null;
    for (const { event } of gone) {
      const left = this.copiesOf(event).filter((one) => !gone.has(one));
      if (left.length === 0) this.#byPlace?.delete(copyPlace(event));
      else this.#byPlace?.set(copyPlace(event), left);
    }
  }

  /**
   * Takes out what has grown old and gives back the events that count for good. With an event that counts its copies go
   * too, young ones included: the choice among them is made.
   */
  takeOld(now: number): readonly Recent[] {
    const { length } = this.#list;
    const isCrowded = length > limits.recentEventsMax + limits.recentEventsSlack;
    const surplus = isCrowded ? length - limits.recentEventsMax : 0;
    const firstYoung = this.#list.findIndex(
      (one, place) => place >= surplus && now - one.event.ingested_at < limits.bindTtlMs,
    );
    const old = firstYoung === -1 ? this.#list : this.#list.slice(0, firstYoung);
    if (old.length === 0) return [];
    const counting = old.filter((one) => winner(this.copiesOf(one.event)) === one);
    const gone = new Set(old);
    for (const { event } of counting) for (const copy of this.copiesOf(event)) gone.add(copy);
    this.remove(gone);
    return counting;
  }
}
