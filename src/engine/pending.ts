// Events that wait for their runtime (BND1), as one batch sees them: those the world holds, those this batch adds, and
// those that leave it again by being bound, by running out of time, or because too many wait.

import type { AdmittedEvent } from '../model/events.ts';
import type { TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Recent, Row } from './rows.ts';

/** A waiting event; `row` only while it belongs to the batch itself and is not in the log yet. */
export interface Waiting {
  readonly place: string;
  readonly recent: Recent;
  readonly row: Row | null;
}

export class PendingOverlay {
  readonly #held: Map<string, Recent>;
  readonly #added = new Map<string, Row>();
  readonly #gone = new Set<string>();

  constructor(held: Map<string, Recent>) {
    this.#held = held;
  }

  /** False when the very same event waits already. */
  add(row: Row): boolean {
    const place = pendingPlace(row.event);
    if (this.#added.has(place) || (this.#held.has(place) && !this.#gone.has(place))) return false;
    this.#added.set(place, row);
    return true;
  }

  /** The oldest one when there are more than the bound allows. */
  surplus(): Waiting | null {
    if (this.#held.size - this.#gone.size + this.#added.size <= limits.pendingEventsMax) return null;
    return this.#waiting().next().value as Waiting;
  }

  expired(now: number): readonly Waiting[] {
    return this.all().filter(({ recent }) => now - recent.event.ingested_at >= limits.bindTtlMs);
  }

  of(target: TargetId): readonly Waiting[] {
    return this.all().filter(({ recent }) => recent.event.evidence.target === target);
  }

  all(): readonly Waiting[] {
    return [...this.#waiting()];
  }

  /** Oldest first. */
  *#waiting(): Generator<Waiting> {
    for (const [place, recent] of this.#held) if (!this.#gone.has(place)) yield { place, recent, row: null };
    for (const [place, row] of this.#added) yield { place, recent: row.recent, row };
  }

  isWaiting(place: string): boolean {
    return this.#added.has(place) || (this.#held.has(place) && !this.#gone.has(place));
  }

  take({ place, row }: Waiting): void {
    if (row === null) this.#gone.add(place);
    else this.#added.delete(place);
  }

  accept(): void {
    for (const place of this.#gone) this.#held.delete(place);
    for (const [place, row] of this.#added) this.#held.set(place, row.recent);
  }
}

/** Before binding, copies are recognised by their own content: the key's hash covers all of it. */
export function pendingPlace(event: AdmittedEvent): string {
  return `${event.evidence.target}\n${event.source}\n${event.dedupe_key}\n${event.key.hash}`;
}
