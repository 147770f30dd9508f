// A managed session in the words of all agents: the state of its machine as one of the seven, with the reason beside it.

import { isReasonCode, type ReasonCode, reasonFits } from '../model/reasons.ts';
import type { MachineState, SessionRecord } from '../model/sessions.ts';
import type { StateName } from '../model/states.ts';

interface Canonical {
  readonly state: StateName;
  /** Where the record gives none that fits. */
  readonly reason: ReasonCode;
}

/**
 * Paused and stopped are idle: nobody is waited for. Were they `waiting_input`, a session that somebody put aside would
 * stand above everything that runs.
 */
export const canonicalStates: Readonly<Record<MachineState, Canonical>> = {
  idle: { state: 'idle', reason: 'not_started' },
  creating: { state: 'running', reason: 'starting' },
  streaming: { state: 'running', reason: 'turn_running' },
  waiting_approval: { state: 'waiting_approval', reason: 'approval_asked' },
  waiting_input: { state: 'waiting_input', reason: 'question_asked' },
  completed: { state: 'completed', reason: 'turn_completed' },
  paused: { state: 'idle', reason: 'paused' },
  error: { state: 'error', reason: 'turn_failed' },
  stopped: { state: 'idle', reason: 'stopped' },
};

export function canonicalOf({ state, reason }: Pick<SessionRecord, 'state' | 'reason'>): Canonical {
  const plain = canonicalStates[state];
  const isFitting = reason !== null && isReasonCode(reason) && reasonFits(reason, plain.state);
  return isFitting ? { state: plain.state, reason } : plain;
}
