// Step "dedupe": is this event known, and if a copy of it says something else, which copy stays (DED1)? The earlier
// stamp does: a fact is stamped where it arose, a copy that was stamped again can only be later.

import type { OrderKey } from '../model/events.ts';
import type { VerdictReason } from '../model/verdicts.ts';
import { compareKeys } from './order.ts';

/** Judges an event by the keys of the copies that are already there. */
export function judgeCopy(
  key: OrderKey,
  copies: readonly OrderKey[],
): Extract<VerdictReason, 'joined' | 'same_event' | 'conflict_kept' | 'conflict_replaced'> {
  if (copies.length === 0) return 'joined';
  if (copies.some((copy) => compareKeys(copy, key) === 0)) return 'same_event';
  return copies.some((copy) => compareKeys(copy, key) < 0) ? 'conflict_kept' : 'conflict_replaced';
}
