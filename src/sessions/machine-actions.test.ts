// What people want, as events of the machine and as deeds of an adapter.

import { describe, expect, it } from 'vitest';
import { pendingAsk, questionAsk, sessionIn, t0 } from '../../test/kit/machine.ts';
import type { SessionCommand } from '../model/sessions.ts';
import { step } from './machine.ts';
import { type Machined, wantOf } from './machine-memory.ts';

type Intent = Exclude<SessionCommand, { readonly action: 'remove' }>;

function want(record: Machined, deed: Intent, isAlive = true) {
  const result = wantOf(record, deed, t0 + 1, isAlive);
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
}

const refused = (record: Machined, deed: Intent) => wantOf(record, deed, t0 + 1, true);

const options = [
  { id: '1', label: 'Once' },
  { id: '2', label: 'Always' },
];

describe('SES1 what a person wants', () => {
  it('SES1 a message is sent, or answers what is asked, or is the word to go on', () => {
    const deed = { action: 'send', text: 'go' } as const;
    expect(want(sessionIn('completed'), deed).deed).toEqual({ kind: 'send', text: 'go' });
    expect(want(sessionIn('waiting_input'), deed).deed).toEqual({ kind: 'write', ask_id: 'open', text: 'go' });
    expect(want(sessionIn('paused'), deed).deed).toEqual({ kind: 'send', text: 'go' });
    const asked = sessionIn('paused', { pending_ask: pendingAsk('resume') });
    expect(want(asked, deed).deed).toEqual({ kind: 'continue', text: 'go' });
  });

  it('SES1 a session whose process is gone is started for a message, a resume and a retry', () => {
    for (const [state, deed] of [
      ['completed', { action: 'send', text: 'go' }],
      ['paused', { action: 'resume' }],
      ['error', { action: 'retry' }],
    ] as const) {
      expect(step(sessionIn(state), want(sessionIn(state), deed, false).event).effect).toBe('spawn');
      expect(step(sessionIn(state), want(sessionIn(state), deed, true).event).effect).toBe('deliver');
    }
  });

  it('SES5 approve and reject name the ask, by its id or the one that is open', () => {
    const waiting = sessionIn('waiting_approval');
    expect(want(waiting, { action: 'approve' })).toEqual({
      event: { kind: 'approve_action', at: t0 + 1, ask_id: 'open' },
      deed: { kind: 'approve', ask_id: 'open' },
    });
    const other = want(waiting, { action: 'reject', ask_id: 'x', because: 'no' });
    expect(other.deed).toEqual({ kind: 'reject', ask_id: 'x', because: 'no' });
    expect(step(waiting, other.event).refusal?.code).toBe('E_STATE_CHANGED');
    expect(
      step(sessionIn('streaming'), want(sessionIn('streaming'), { action: 'approve' }).event).refusal,
    ).not.toBeNull();
  });

  it('SES1 an answer chooses an option by its id or its words', () => {
    const waiting = sessionIn('waiting_approval', { pending_ask: pendingAsk('a', { options }) });
    for (const option of ['2', 'Always'])
      expect(want(waiting, { action: 'answer', option }).deed).toEqual({ kind: 'choose', ask_id: 'a', option: '2' });
    expect(refused(waiting, { action: 'answer', option: '7' })).toMatchObject({
      ok: false,
      failure: { code: 'E_INPUT', message: 'there is no option 7; its options are 1 (Once), 2 (Always)' },
    });
    expect(step(waiting, want(waiting, { action: 'answer', option: '1' }).event).record).toMatchObject({
      state: 'streaming',
      answered: ['a'],
    });
  });

  it('SES1 an answer in words goes only where words are taken', () => {
    const asking = sessionIn('waiting_input', { pending_ask: questionAsk('q') });
    const written = want(asking, { action: 'answer', text: 'blue' });
    expect(written.deed).toEqual({ kind: 'write', ask_id: 'q', text: 'blue' });
    expect(step(asking, written.event).record).toMatchObject({ state: 'streaming', answered: ['q'] });
    expect(refused(sessionIn('waiting_approval'), { action: 'answer', text: 'no, rather' })).toMatchObject({
      failure: { code: 'E_INPUT', next: 'approve it, or reject it with a reason: `agtmux session reject --because`' },
    });
    expect(refused(asking, { action: 'answer' })).toMatchObject({ failure: { code: 'E_INPUT' } });
    expect(refused(sessionIn('streaming'), { action: 'answer', text: 'x' })).toMatchObject({
      failure: { code: 'E_STATE_CHANGED' },
    });
    const leftOver = sessionIn('paused', { pending_ask: questionAsk('q') });
    expect(refused(leftOver, { action: 'answer', text: 'x' })).toMatchObject({ failure: { code: 'E_STATE_CHANGED' } });
  });

  it('SES1 stop, resume and retry', () => {
    expect(want(sessionIn('streaming'), { action: 'stop' })).toEqual({
      event: { kind: 'cancel_session', at: t0 + 1 },
      deed: { kind: 'cancel' },
    });
    expect(want(sessionIn('paused'), { action: 'resume', text: 'on' }).deed).toEqual({ kind: 'continue', text: 'on' });
    expect(want(sessionIn('paused'), { action: 'resume' }).deed).toEqual({ kind: 'continue', text: null });
    expect(want(sessionIn('error'), { action: 'retry' }).deed).toEqual({ kind: 'retry' });
  });
});
