// Who may do what to a session: by what a deed does to its agent, not by what it is called.

import { describe, expect, it } from 'vitest';
import { keptSession } from '../../test/kit/managed-session.ts';
import { defaultPolicy } from '../auth/policy.ts';
import type { Principal } from '../auth/principal.ts';
import { askId, mainScope } from '../model/ids.ts';
import type { PendingAsk } from '../model/sessions.ts';
import { mayAct, type WantedAction } from './session-rights.ts';

const caller = (role: Principal['role'], fields: Partial<Principal> = {}): Principal => ({
  ...{ role, name: 'x', runtime_id: null, hops: 0, why: 'a test', pid: 7, above: [], is_traceable: true },
  ...fields,
});
const ask: PendingAsk = {
  ...{ ask_id: askId('q1'), kind: 'question', scope: mainScope, text: 'which?', options: [] },
  accepts: ['text'],
};
const asking = keptSession({ state: 'waiting_input', pending_ask: ask });
const resting = keptSession({ state: 'completed' });
const allowing = { ...defaultPolicy, allow_approve: ['operator' as const], kinds: ['question' as const] };

const codeOf = (who: Principal, deed: WantedAction, session = resting, policy = defaultPolicy): string | null =>
  mayAct(who, policy, deed, session)?.code ?? null;

describe('who may', () => {
  it('ACT6 words for a session that asks something are an answer, and need the right to answer', () => {
    const send = { action: 'send', text: 'blue' } as const;
    expect(codeOf(caller('human'), send, asking)).toBeNull();
    expect(codeOf(caller('operator'), send, asking)).toBe('E_ROLE');
    expect(codeOf(caller('operator'), send, asking, allowing)).toBeNull();
    expect(codeOf(caller('operator'), send, resting)).toBeNull();
    const failed = keptSession({ state: 'error', pending_ask: { ...ask, kind: 'dialog', accepts: ['retry'] } });
    expect(codeOf(caller('operator'), send, failed)).toBeNull();
  });

  it('ACT6 to go on with words reaches the input of an agent as a message does', () => {
    const nobodyKnows = caller('operator', { is_traceable: false });
    expect(codeOf(nobodyKnows, { action: 'resume' })).toBeNull();
    expect(codeOf(nobodyKnows, { action: 'resume', text: 'do this' })).toBe('E_ROLE');
    expect(codeOf(nobodyKnows, { action: 'send', text: 'do this' })).toBe('E_ROLE');
    expect(codeOf(caller('operator'), { action: 'resume', text: 'do this' })).toBeNull();
  });

  it('ACT6 a program starts no session that approves for itself, ends none and removes none, unless the policy says so', () => {
    const auto = { action: 'start', auto_approve: true } as const;
    expect(codeOf(caller('human'), auto)).toBeNull();
    expect(codeOf(caller('operator'), { action: 'start', auto_approve: false })).toBeNull();
    expect(codeOf(caller('operator'), auto)).toBe('E_ROLE');
    expect(codeOf(caller('operator', { may: ['auto_approve'] }), auto)).toBeNull();
    expect(codeOf(caller('operator'), { action: 'stop' })).toBe('E_ROLE');
    expect(codeOf(caller('operator'), { action: 'remove' })).toBe('E_ROLE');
    expect(codeOf(caller('operator', { may: ['kill'] }), { action: 'remove' })).toBeNull();
  });

  it('ACT6 an agent does nothing to a session', () => {
    for (const action of ['start', 'send', 'approve', 'reject', 'answer', 'stop', 'resume', 'retry', 'remove'] as const)
      expect([action, codeOf(caller('observer'), { action }, asking, allowing)]).toEqual([action, 'E_ROLE']);
  });
});
