// Step "decay": what time alone does to a state (RSV0, RSV5, RSV7), and what an unreachable target does (RSV6). All of it
// is applied when reading; the evidence stays as it was and comes back by itself.

import { limits } from '../model/limits.ts';
import type { Health, StateRecord } from '../model/records.ts';
import type { SourceName } from '../model/sources.ts';
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

/** Who sees nothing any more once the pane is gone. */
const ofThePane: readonly SourceName[] = ['screen', 'title', 'reconciler'];

/** Something other than its screen told what it does: that can be heard without a pane as well (IDN10). */
export const tellsItself = ({ decided_by }: StateRecord): boolean =>
  decided_by !== null && !ofThePane.includes(decided_by);

/**
 * It runs on without its pane: what it shows nobody sees, and what only its screen told is not known any more. The evidence
 * stays, as that of a target that does not answer.
 */
export function withoutPane(record: StateRecord, closedAt: number, detail: string | null): StateRecord {
  if (tellsItself(record)) {
    const competing = record.competing.filter(({ source }) => !ofThePane.includes(source));
    return heardByHooksAlone({ ...record, competing });
  }
  const shown = { state: 'unknown', reason: 'no_pane', confidence: 'low', detail, until: null } as const;
  return { ...record, ...shown, since: closedAt, ask: null, asks_open: 0 };
}

/** Who hears of an answer at the keyboard that no hook tells of... */
const hearsAnswers: readonly (SourceName | null)[] = ['native', 'stream', 'driver'];
/** ...and of an interrupt. What was allowed stands in a transcript only once it is done (measured: Codex). */
const hearsInterrupts: readonly (SourceName | null)[] = [...hearsAnswers, 'transcript'];

/**
 * Without a pane nobody sees its screen. Where its hooks are all that speaks of it, a turn that is cut short with Esc goes on
 * for ever by what was heard, so that it is never told for sure (IDN10).
 */
export function heardByHooksAlone(record: StateRecord): StateRecord {
  const { ended, state } = record;
  // Its screen would have shown a goodbye, and a shell its status: here nobody saw how it ended (measured: Codex on its server).
  if (ended !== null) return ended.cause === 'vanished' && !ended.clean ? { ...record, confidence: 'medium' } : record;
  const heard = [record.decided_by, ...record.competing.map(({ source }) => source)];
  const isAsking = state === 'waiting_approval' || state === 'waiting_input';
  const hears = isAsking ? hearsAnswers : hearsInterrupts;
  if ((!isAsking && state !== 'running') || heard.some((one) => hears.includes(one))) return record;
  const reason = record.reason === 'turn_running' || record.reason === 'tool_running' ? 'hooks_only' : record.reason;
  return { ...record, reason, confidence: record.confidence === 'high' ? 'medium' : record.confidence };
}

/** A target that does not answer is not an agent that is gone: the row stays, its state is unknown meanwhile. */
export function underHealth(record: StateRecord, health: Health): StateRecord {
  if (health !== 'down' || record.ended !== null) return record;
  return { ...record, state: 'unknown', reason: 'target_unreachable', confidence: 'low' };
}
