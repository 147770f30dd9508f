// Small shapes that the world and its drafts share: an event with its place in the log, and a row on its way there.

import type { AdmittedEvent, OrderKey } from '../model/events.ts';
import type { EventId, RuntimeId } from '../model/ids.ts';
import type { VerdictReason } from '../model/verdicts.ts';
import { compareKeys } from './order.ts';

/** An event that can still be bound, moved to a nearer runtime, or replaced by an earlier stamp. */
export interface Recent {
  readonly event: AdmittedEvent;
  event_id: EventId;
}

/** A row of the log that is not committed yet; it may still find its runtime inside the same batch. */
export interface Row {
  runtime_id: RuntimeId | null;
  verdict: VerdictReason;
  readonly event: AdmittedEvent;
  readonly recent: Recent;
}

/** A copy of an event that the log already holds. */
export interface Copy {
  readonly event_id: EventId;
  readonly runtime_id: RuntimeId | null;
  readonly key: OrderKey;
}

/** The id of an event that has no place in the log yet. */
export const uncommitted: EventId = -1;

export function newRow(event: AdmittedEvent, runtime: RuntimeId | null, reason: VerdictReason): Row {
  return { runtime_id: runtime, verdict: reason, event, recent: { event, event_id: uncommitted } };
}

/** Where copies of one event meet, inside their runtime. */
export function copyPlace(event: AdmittedEvent): string {
  return `${event.source}\n${event.dedupe_key}`;
}

/** Of several copies of one event the one with the smallest key counts; the others are only remembered (DED1). */
export function winner(copies: readonly Recent[]): Recent | null {
  let best: Recent | null = null;
  for (const one of copies) if (best === null || compareKeys(one.event.key, best.event.key) < 0) best = one;
  return best;
}

/** The events that count, of a list that may hold copies. */
export function winners(recents: readonly Recent[]): readonly Recent[] {
  const best = new Map<string, Recent>();
  for (const one of recents) {
    const place = copyPlace(one.event);
    const known = best.get(place);
    best.set(place, known === undefined ? one : (winner([known, one]) as Recent));
  }
  return [...best.values()];
}
