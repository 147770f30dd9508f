// When a lower witness contradicts a higher one: look again, and if it still does, say so once as the reconciler (RSV2,
// RSV3). Hooks are silent when a person presses Esc or answers a dialog by hand; this is how such drift heals.

import type { StateFact } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import { type Confidence, classOf, type StateClass } from '../model/states.ts';
import { isSilentOn, type Resolved } from './resolve.ts';

/** What a level source shows at this moment. */
export interface Observation {
  readonly time: number;
  readonly fact: StateFact;
}

/** A contradiction seen once, waiting for the second look. */
export interface Doubt {
  readonly since: number;
  readonly against: StateClass;
  readonly shown: StateClass;
}

export interface Reconciliation {
  readonly doubt: Doubt | null;
  /** To be logged as an event of source `reconciler`, if any. */
  readonly correction: StateFact | null;
}

/** What is believed at the moment. */
export type Believed = Pick<Resolved, 'state' | 'ended'>;

export function contradicts(resolved: Believed, observation: Observation): boolean {
  const shown = classOf(observation.fact.state);
  if (resolved.ended !== null || shown === 'unclassified' || isSilentOn(observation.fact, resolved)) return false;
  return shown !== classOf(resolved.state);
}

/** Feed it every fresh look of a level source. `doubt` is what the previous call returned. */
export function reconcile(doubt: Doubt | null, resolved: Believed, observation: Observation): Reconciliation {
  if (!contradicts(resolved, observation)) return { doubt: null, correction: null };
  const shown = classOf(observation.fact.state);
  const against = classOf(resolved.state);
  if (doubt === null || doubt.shown !== shown || doubt.against !== against) {
    return { doubt: { since: observation.time, against, shown }, correction: null };
  }
  if (observation.time - doubt.since < limits.secondLookMs) return { doubt, correction: null };
  const waiting = shown === 'waiting_approval' || shown === 'waiting_input';
  const confidence: Confidence = observation.fact.confidence === 'high' ? 'medium' : observation.fact.confidence;
  return { doubt: null, correction: { ...observation.fact, confidence, dialog: waiting } };
}
