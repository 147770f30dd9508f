// Step "guard": may an action that was decided on this snapshot still be carried out (ACT1, ACT8)? Fails closed: any
// doubt is a refusal with its code, and only an explicit force passes over what merely looks old, never over another
// runtime.

import { type ErrorCode, type Failure, failure } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import type { Health, SnapshotRecord, StateRecord } from '../model/records.ts';
import type { StateName } from '../model/states.ts';

/** Conditions that the caller set on the action. */
export interface GuardConditions {
  readonly ifRuntime?: RuntimeId;
  readonly ifStates?: readonly StateName[];
  /** On the daemon's clock, against the last evidence (ACT8). */
  readonly ifUpdatedWithinMs?: number;
  readonly forceStale?: boolean;
}

/** What is true at the moment of the effect. `current` is the runtime that owns the place now. */
export interface GuardView {
  readonly current: RuntimeId | null;
  readonly state: StateRecord | null;
  readonly health: Health;
  /** It runs without a pane. */
  readonly isPaneless?: boolean;
  readonly now: number;
}

/** Null means go. */
export function guard(snapshot: SnapshotRecord, view: GuardView, conditions: GuardConditions = {}): Failure | null {
  const { state } = view;
  // Another runtime is another agent: no force reaches past this.
  if (state === null || view.current !== snapshot.runtime_id || state.runtime_id !== snapshot.runtime_id) {
    return refusal('E_RUNTIME_STALE', 'the agent that was shown is no longer there');
  }
  if (conditions.ifRuntime !== undefined && conditions.ifRuntime !== snapshot.runtime_id) {
    return refusal('E_RUNTIME_STALE', 'the agent there is not the one that was named');
  }
  if (state.ended !== null) return refusal('E_ENDED', 'the agent has ended');
  if (view.health === 'down') return refusal('E_TARGET_DOWN', 'its machine does not answer');
  if (view.isPaneless === true) {
    return refusal('E_NO_PANE', 'it runs without a pane, so it cannot be seen or written to');
  }
  if (state.suspended) return refusal('E_SUSPENDED', 'the agent is suspended');
  return conditions.forceStale === true ? null : staleness(snapshot, state, view.now, conditions);
}

function staleness(
  snapshot: SnapshotRecord,
  state: StateRecord,
  now: number,
  conditions: GuardConditions,
): Failure | null {
  if (now >= snapshot.expires_at)
    return refusal('E_SNAPSHOT_EXPIRED', 'the state that the action was based on is too old');
  if (state.state_version !== snapshot.state_version) {
    return refusal('E_STATE_CHANGED', `the agent is ${state.state} now`);
  }
  if (conditions.ifStates !== undefined && !conditions.ifStates.includes(state.state)) {
    return refusal('E_STATE_CHANGED', `the agent is ${state.state}, not ${conditions.ifStates.join(' or ')}`);
  }
  if (conditions.ifUpdatedWithinMs !== undefined && now - state.last_seen_at > conditions.ifUpdatedWithinMs) {
    return refusal('E_STATE_CHANGED', 'the last evidence is older than the condition allows');
  }
  return null;
}

const refusal = (code: ErrorCode, message: string): Failure => failure(code, message);
