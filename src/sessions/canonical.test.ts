// The states of the machine in the words of all agents.

import { describe, expect, it } from 'vitest';
import { type ReasonCode, reasonFits } from '../model/reasons.ts';
import { machineStates } from '../model/sessions.ts';
import { canonicalOf } from './entry.ts';

describe('the canonical state of a session', () => {
  it.each([
    ['creating', 'starting', 'running'],
    ['creating', 'resuming', 'running'],
    ['streaming', 'turn_running', 'running'],
    ['streaming', 'retrying', 'running'],
    ['waiting_approval', 'approval_asked', 'waiting_approval'],
    ['waiting_input', 'question_asked', 'waiting_input'],
    ['completed', 'turn_completed', 'completed'],
    ['completed', 'outcome_unverified', 'completed'],
    ['paused', 'paused', 'idle'],
    ['paused', 'daemon_restarted', 'idle'],
    ['paused', 'interrupted', 'idle'],
    ['paused', 'refused_by_person', 'idle'],
    ['paused', 'exited_with_ask', 'idle'],
    ['stopped', 'stopped', 'idle'],
    ['stopped', 'stopped_outside', 'idle'],
    ['error', 'needs_action', 'error'],
    ['error', 'creation_timeout', 'error'],
    ['error', 'killed_or_oom', 'error'],
  ] as const)('SES1 %s because of %s is %s', (state, reason, canonical) => {
    expect(canonicalOf({ state, reason })).toEqual({ state: canonical, reason });
  });

  it('SES1 a reason that does not fit, or none, gives way to the plain one of the state', () => {
    expect(canonicalOf({ state: 'idle', reason: null })).toEqual({ state: 'idle', reason: 'not_started' });
    expect(canonicalOf({ state: 'error', reason: 'paused' })).toEqual({ state: 'error', reason: 'turn_failed' });
    expect(canonicalOf({ state: 'stopped', reason: 'nonsense' })).toEqual({ state: 'idle', reason: 'stopped' });
    for (const state of machineStates) {
      const plain = canonicalOf({ state, reason: null });
      expect(reasonFits(plain.reason as ReasonCode, plain.state)).toBe(true);
    }
  });
});
