// Step "decay": what time alone does to a state (RSV0, RSV5, RSV7), and what an unreachable target does (RSV6). All of it
// is applied when reading; the evidence stays as it was and comes back by itself.

import { limits } from '../model/limits.ts';
import type { Health, StateRecord } from '../model/records.ts';
import type { Resolved } from './resolve.ts';

export interface DecayLimits {
  readonly completedMs: number;
  readonly runningStaleMs: number;
}

export const standardDecay: DecayLimits = { completedMs: limits.completedMs, runningStaleMs: limits.runningStaleMs };

/**
 * `now` and `runningSeenAt` are on the daemon's timeline, which follows its monotonic clock: a jump of the wall clock
 * ages nothing. Asks, errors and idle never age: a two-hour wait for approval is still a wait for approval.
 */
export function decay(resolved: Resolved, runningSeenAt: number, now: number, by: DecayLimits): Resolved {
  const due = decayDue(resolved, runningSeenAt, by);
  if (due === null || now < due) return resolved;
  // The state that time made began when it was due, not when the evidence for the one before it arose.
  const aged = { ...resolved, time: due };
  return resolved.state === 'completed'
    ? { ...aged, state: 'idle', reason: 'completed_aged' }
    : { ...aged, state: 'unknown', reason: 'stale_signal', confidence: 'low' };
}

/** When this state will decay if nothing more is heard; null when time does nothing to it. */
export function decayDue(resolved: Resolved, runningSeenAt: number, by: DecayLimits): number | null {
  if (resolved.state === 'completed') return resolved.received + by.completedMs;
  if (resolved.state === 'running') return Math.max(resolved.received, runningSeenAt) + by.runningStaleMs;
  return null;
}

/**
 * It runs on without its pane: what it shows nobody sees, and what it asks nobody can answer there. The evidence stays, as
 * that of a target that does not answer.
 */
export function withoutPane(record: StateRecord, closedAt: number, detail: string | null): StateRecord {
  const shown = { state: 'unknown', reason: 'no_pane', confidence: 'low', detail, until: null } as const;
  return { ...record, ...shown, since: closedAt, ask: null, asks_open: 0 };
}

/** A target that does not answer is not an agent that is gone: the row stays, its state is unknown meanwhile. */
export function underHealth(record: StateRecord, health: Health): StateRecord {
  if (health !== 'down' || record.ended !== null) return record;
  return { ...record, state: 'unknown', reason: 'target_unreachable', confidence: 'low' };
}
