// How sessions come to an end and outlive one: stops that hold, exit codes, restarts of the daemon.

import { describe, expect, it } from 'vitest';
import { happening, pendingAsk, play, questionAsk, sessionIn, t0 } from '../../test/kit/machine.ts';
import { agentSessionId } from '../model/ids.ts';
import type { MachineEvent, MachineEventKind, MachineState } from '../model/sessions.ts';
import { exitKind, step } from './machine.ts';

const at = (ms: number): number => t0 + ms;
const on = (ms: number, kind: MachineEventKind, patch: Partial<MachineEvent> = {}): MachineEvent =>
  happening(kind, { at: at(ms), ...patch });

describe('SES4 what is held', () => {
  it('SES4 stopped stays stopped, whatever the agent still says', () => {
    const stopped = step(sessionIn('streaming'), on(1, 'cancel_session')).record;
    const late = play(stopped, [
      on(2, 'say:text'),
      on(3, 'ask:tool', { ask: pendingAsk('late') }),
      on(4, 'api_req_started', { request: 'late' }),
      on(5, 'ask:resume_task'),
      on(6, 'say:completion_result'),
      on(7, 'turn_cancelled'),
      on(8, 'usage_update'),
      on(9, 'process_exit_nonzero', { exit: { code: 143, signal: null } }),
    ]);
    expect(new Set(late.states)).toEqual(new Set(['stopped']));
    expect(late.last).toMatchObject({ reason: 'stopped', pending_ask: null, is_resumable: true });
  });

  it('SES4 a request of a session that was resumed since leads on', () => {
    const resumed = play(sessionIn('streaming'), [on(1, 'cancel_session'), on(2, 'resume_session')]).last;
    expect(resumed.state).toBe('streaming');
    // The end of the process that was stopped comes late.
    const ended = step(resumed, on(3, 'process_exit_nonzero', { exit: { code: 143, signal: null } })).record;
    expect(ended.state).toBe('stopped');
    expect(step(ended, on(4, 'api_req_started', { request: 'new' })).record.state).toBe('streaming');
    const again = step(ended, on(4, 'resume_session')).record;
    const stopped = step(again, on(5, 'cancel_session')).record;
    expect(step(stopped, on(6, 'api_req_started', { request: 'new' })).record.state).toBe('stopped');
  });

  it('SES4 what was open when somebody stopped it is not asked again', () => {
    const stopped = step(sessionIn('waiting_approval'), on(1, 'cancel_session')).record;
    expect(stopped).toMatchObject({ pending_ask: null, answered: ['open'] });
    const held = step(sessionIn('streaming'), on(1, 'ask:tool', { ask: pendingAsk('half'), partial: true })).record;
    expect(step(held, on(2, 'cancel_session')).record.answered).toEqual(['half']);
  });

  it.each([
    ['completed', 'process_exit_nonzero', 130],
    ['completed', 'process_exit_nonzero', 143],
    ['completed', 'process_exit_nonzero', 1],
    ['completed', 'process_exit_zero', 0],
    ['stopped', 'process_exit_nonzero', 130],
    ['stopped', 'process_exit_nonzero', 143],
    ['stopped', 'process_exit_nonzero', 137],
    ['stopped', 'process_exit_zero', 0],
  ] as const)('SES4 %s is not undone by %s with %i', (state, kind, code) => {
    const record = sessionIn(state);
    expect(step(record, on(1, kind, { exit: { code, signal: null } })).record).toBe(record);
  });
});

describe('SES1 how processes end', () => {
  it.each([
    ['streaming', 0, null, 'error', 'no_output'],
    ['streaming', 1, null, 'error', 'ended_with_status'],
    ['streaming', 124, null, 'error', 'ran_out_of_time'],
    ['streaming', 129, null, 'stopped', 'stopped_outside'],
    ['streaming', 130, null, 'stopped', 'stopped_outside'],
    ['streaming', 137, null, 'error', 'killed_or_oom'],
    ['streaming', 143, null, 'stopped', 'stopped_outside'],
    ['streaming', null, 'SIGINT', 'stopped', 'stopped_outside'],
    ['streaming', null, 'SIGTERM', 'stopped', 'stopped_outside'],
    ['streaming', null, 'SIGHUP', 'stopped', 'stopped_outside'],
    ['streaming', null, 'SIGKILL', 'error', 'killed_or_oom'],
    ['streaming', null, 'SIGSEGV', 'error', 'ended_by_signal'],
    ['waiting_approval', 0, null, 'paused', 'exited_with_ask'],
    ['waiting_approval', 1, null, 'error', 'ended_with_status'],
    ['waiting_approval', 143, null, 'stopped', 'stopped_outside'],
    ['waiting_input', 0, null, 'paused', 'exited_with_ask'],
    ['waiting_input', 130, null, 'stopped', 'stopped_outside'],
    ['paused', 143, null, 'paused', null],
    ['paused', 1, null, 'error', 'ended_with_status'],
    ['creating', 0, null, 'error', 'start_failed'],
    ['creating', 1, null, 'error', 'start_failed'],
    ['creating', 124, null, 'error', 'ran_out_of_time'],
    ['creating', 137, null, 'error', 'killed_or_oom'],
    ['creating', 143, null, 'error', 'start_failed'],
  ] as const)('SES1 %s ends with %s %s as %s because of %s', (state, code, signal, next, reason) => {
    const exit = { code, signal };
    const { record } = step(sessionIn(state), on(1, exitKind(exit), { exit }));
    expect(record).toMatchObject({ state: next, reason });
  });

  it('SES6 ends as completed only when the end was seen, and says so when it was not', () => {
    const exit = { code: 0, signal: null };
    const spoke = play(sessionIn('streaming'), [on(1, 'say:text'), on(2, 'process_exit_zero', { exit })]).last;
    expect(spoke).toMatchObject({ state: 'completed', reason: 'outcome_unverified', confidence: 'low' });
    const done = play(sessionIn('streaming'), [
      on(1, 'say:completion_result'),
      on(2, 'api_req_started', { request: 'title' }),
      on(3, 'process_exit_zero', { exit }),
    ]).last;
    expect(done).toMatchObject({ state: 'completed', reason: 'turn_completed', confidence: 'high' });
  });

  it('SES6 what the turn before has done does not count for this one', () => {
    const exit = { code: 0, signal: null };
    const silent = play(sessionIn('streaming'), [
      on(1, 'say:text'),
      on(2, 'say:completion_result'),
      on(3, 'send_message'),
      on(4, 'process_exit_zero', { exit }),
    ]).last;
    expect(silent).toMatchObject({ state: 'error', reason: 'no_output' });
  });

  it('SES6 the prompt said back is no output', () => {
    const exit = { code: 0, signal: null };
    const silent = play(sessionIn('creating', { memory: { has_no_created: true } }), [
      on(1, 'say:text'),
      on(2, 'api_req_started', { request: 'r' }),
      on(3, 'process_exit_zero', { exit }),
    ]).last;
    expect(silent).toMatchObject({ state: 'error', reason: 'no_output', words: 'it exited with status 0' });
  });

  it('SES5 what was asked is kept when the process leaves, to be seen and not to be answered', () => {
    const left = step(sessionIn('waiting_approval'), on(1, 'process_exit_zero')).record;
    expect(left).toMatchObject({ state: 'paused', pending_ask: { ask_id: 'open' }, answered: [] });
    expect(step(left, on(2, 'approve_action')).refusal?.code).toBe('E_STATE_CHANGED');
    const resumed = step(left, on(3, 'resume_session', { is_alive: false })).record;
    expect(resumed).toMatchObject({ state: 'creating', pending_ask: null, answered: [] });
  });

  it('SES1 an error whose process is gone has nothing left to answer', () => {
    const failed = step(sessionIn('streaming'), on(1, 'ask:api_req_failed', { ask: pendingAsk('f') })).record;
    expect(failed.pending_ask?.ask_id).toBe('f');
    const gone = step(failed, on(2, 'process_exit_nonzero', { exit: { code: 1, signal: null } })).record;
    expect(gone).toMatchObject({ state: 'error', reason: 'api_error', pending_ask: null });
    expect(step(gone, on(3, 'retry', { is_alive: false }))).toMatchObject({ effect: 'spawn' });
  });
});

describe('SES5 over a restart of the daemon', () => {
  it.each([
    ['idle', 'idle'],
    ['creating', 'paused'],
    ['streaming', 'paused'],
    ['waiting_approval', 'paused'],
    ['waiting_input', 'paused'],
    ['completed', 'completed'],
    ['paused', 'paused'],
    ['error', 'error'],
    ['stopped', 'stopped'],
  ] as const)('SES5 what was %s comes back as %s', (state, next) => {
    const before = sessionIn(state, { agent_session: agentSessionId('s') });
    const { record } = step(before, on(1, 'daemon_restarted'));
    expect(record).toMatchObject({ state: next, is_resumable: true });
    if (next !== state) expect(record.reason).toBe('daemon_restarted');
    expect(record.pending_ask).toEqual(before.pending_ask);
    expect(record.answered).toEqual([]);
    const resumed = step(record, on(2, 'resume_session', { is_alive: false, said_at: at(2) }));
    expect(resumed).toMatchObject({
      effect: 'spawn',
      record: { state: 'creating', reason: 'resuming', pending_ask: null },
    });
    expect(step(resumed.record, on(3, 'api_req_started', { request: 'r' })).record.state).toBe('streaming');
  });

  it('SES5 a session without a name that had not begun cannot be resumed', () => {
    expect(step(sessionIn('creating'), on(1, 'daemon_restarted')).record.is_resumable).toBe(false);
  });

  it.each([
    ['waiting_approval', 'streaming', ['open']],
    ['waiting_approval', 'waiting_approval', []],
    ['streaming', 'completed', []],
    ['completed', 'streaming', []],
    ['stopped', 'streaming', []],
    ['stopped', 'error', []],
  ] as const)('SES5 one that lived on is rejoined: %s, now %s', (state, told, answered) => {
    const { record } = step(sessionIn(state), on(1, 'rejoined', { state: told }));
    expect(record.state).toBe(told as MachineState);
    expect(record.answered).toEqual(answered);
    expect(record.pending_ask?.ask_id).toBe(told === 'waiting_approval' ? 'open' : undefined);
  });

  it('SES5 an ask that was answered is not waited with again, though the agent still shows it', () => {
    const told = { state: 'waiting_approval', ask: pendingAsk('done') } as const;
    const { record } = step(sessionIn('streaming', { answered: ['done'] }), on(1, 'rejoined', told));
    expect(record).toMatchObject({ state: 'streaming', pending_ask: null });
  });

  it('SES5 a stop is not undone by an agent that rests', () => {
    for (const told of ['completed', 'paused', 'idle'] as const)
      expect(step(sessionIn('stopped'), on(1, 'rejoined', { state: told })).record.state).toBe('stopped');
  });

  it('SES5 one that waits with another ask shows that one, and one that says nothing stays as it was', () => {
    const asked = step(
      sessionIn('streaming'),
      on(1, 'rejoined', { state: 'waiting_input', ask: questionAsk('q') }),
    ).record;
    expect(asked.pending_ask?.ask_id).toBe('q');
    expect(step(sessionIn('streaming'), on(1, 'rejoined', { state: 'waiting_input' })).record.pending_ask?.kind).toBe(
      'question',
    );
    const plain = sessionIn('streaming');
    expect(step(plain, on(1, 'rejoined')).record).toBe(plain);
  });
});
