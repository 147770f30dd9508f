// What the founding document says of a session, line by line and written by hand: its table, the arrows of its diagram, its
// entry conditions. Where agents disprove a line, the test says what is done instead.

import { describe, expect, it } from 'vitest';
import { happening, pendingAsk, questionAsk, sessionIn, t0 } from '../../test/kit/machine.ts';
import type { MachineEvent, MachineEventKind, MachineState } from '../model/sessions.ts';
import { step } from './machine.ts';
import type { Machined } from './machine-memory.ts';

function after(from: MachineState | Machined, kind: MachineEventKind, patch: Partial<MachineEvent> = {}): MachineState {
  const record = typeof from === 'string' ? sessionIn(from) : from;
  const { record: next, refusal } = step(record, happening(kind, patch));
  expect(refusal).toBeNull();
  return next.state;
}

describe('SES1 the rows of the table', () => {
  it('SES1 idle, start_session: creating', () => {
    expect(after('idle', 'start_session')).toBe('creating');
  });
  it('SES1 creating, session_created after a request: streaming', () => {
    expect(after(sessionIn('creating', { memory: { saw_request: true } }), 'session_created')).toBe('streaming');
  });
  it('SES1 creating, session_created before any request: creating', () => {
    expect(after('creating', 'session_created')).toBe('creating');
  });
  it('SES1 creating, api_req_started before session_created: creating', () => {
    expect(after('creating', 'api_req_started')).toBe('creating');
  });
  it('SES1 creating, process_error: error', () => {
    expect(after('creating', 'process_error')).toBe('error');
  });
  it('SES1 streaming, partial text: streaming', () => {
    expect(after('streaming', 'say:text', { partial: true })).toBe('streaming');
  });
  it('SES1 streaming, whole text: streaming', () => {
    expect(after('streaming', 'say:text', { partial: false })).toBe('streaming');
  });
  it('SES1 streaming, a partial ask for a tool: streaming', () => {
    expect(after('streaming', 'ask:tool', { partial: true, ask: pendingAsk('a') })).toBe('streaming');
  });
  it('SES1 streaming, a whole ask for a tool: waiting_approval', () => {
    expect(after('streaming', 'ask:tool', { partial: false, ask: pendingAsk('a') })).toBe('waiting_approval');
  });
  it('SES1 streaming, a whole ask for a command: waiting_approval', () => {
    expect(after('streaming', 'ask:command', { ask: pendingAsk('a') })).toBe('waiting_approval');
  });
  it('SES1 streaming, a whole question: waiting_input', () => {
    expect(after('streaming', 'ask:followup', { ask: questionAsk('a') })).toBe('waiting_input');
  });
  it('SES1 streaming, ask:completion_result: completed', () => {
    expect(after('streaming', 'ask:completion_result')).toBe('completed');
  });
  it('SES1 streaming, ask:api_req_failed: error', () => {
    expect(after('streaming', 'ask:api_req_failed')).toBe('error');
  });
  it('SES1 streaming, ask:mistake_limit_reached: error', () => {
    expect(after('streaming', 'ask:mistake_limit_reached')).toBe('error');
  });
  it('SES1 streaming, ask:resume_task: paused', () => {
    expect(after('streaming', 'ask:resume_task')).toBe('paused');
  });
  it('SES1 streaming, cancel_session: stopped', () => {
    expect(after('streaming', 'cancel_session')).toBe('stopped');
  });
  it('SES1 waiting_approval, approve_action: streaming', () => {
    expect(after('waiting_approval', 'approve_action')).toBe('streaming');
  });
  it('SES1 waiting_approval, reject_action: streaming', () => {
    expect(after('waiting_approval', 'reject_action')).toBe('streaming');
  });
  it('SES1 waiting_approval, a new request: streaming', () => {
    expect(after('waiting_approval', 'api_req_started', { request: 'r2' })).toBe('streaming');
  });
  it('SES1 waiting_approval, cancel_session: stopped', () => {
    expect(after('waiting_approval', 'cancel_session')).toBe('stopped');
  });
  it('SES1 waiting_input, send_message: streaming', () => {
    expect(after('waiting_input', 'send_message')).toBe('streaming');
  });
  it('SES1 waiting_input, cancel_session: stopped', () => {
    expect(after('waiting_input', 'cancel_session')).toBe('stopped');
  });
  it('SES1 completed, send_message: streaming', () => {
    expect(after('completed', 'send_message')).toBe('streaming');
  });
  it('SES1 completed, start_session: creating', () => {
    expect(after('completed', 'start_session')).toBe('creating');
  });
  it('SES1 paused, resume_session: streaming', () => {
    expect(after('paused', 'resume_session')).toBe('streaming');
  });
  it('SES1 paused, cancel_session: stopped', () => {
    expect(after('paused', 'cancel_session')).toBe('stopped');
  });
  it('SES1 error, retry: streaming', () => {
    expect(after('error', 'retry')).toBe('streaming');
  });
  it('SES1 error, cancel_session: stopped', () => {
    expect(after('error', 'cancel_session')).toBe('stopped');
  });
  it('SES1 stopped, resume_session: streaming', () => {
    expect(after('stopped', 'resume_session')).toBe('streaming');
  });
  it('SES1 stopped, start_session: creating', () => {
    expect(after('stopped', 'start_session')).toBe('creating');
  });

  const failing = { exit: { code: 1, signal: null } };
  it('SES1 whatever was going on, an exit with an error: error', () => {
    expect(after('creating', 'process_exit_nonzero', failing)).toBe('error');
    expect(after('streaming', 'process_exit_nonzero', failing)).toBe('error');
    expect(after('waiting_approval', 'process_exit_nonzero', failing)).toBe('error');
    expect(after('waiting_input', 'process_exit_nonzero', failing)).toBe('error');
    expect(after('paused', 'process_exit_nonzero', failing)).toBe('error');
    expect(after('error', 'process_exit_nonzero', failing)).toBe('error');
  });
  it('SES4 but what is over stays as it is, and where no process is none can end', () => {
    expect(after('completed', 'process_exit_nonzero', failing)).toBe('completed');
    expect(after('stopped', 'process_exit_nonzero', failing)).toBe('stopped');
    expect(after('idle', 'process_exit_nonzero', failing)).toBe('idle');
  });
  it('SES1 an exit with success and nothing asked: completed', () => {
    const exit = { code: 0, signal: null };
    expect(after(sessionIn('streaming', { memory: { spoke: true } }), 'process_exit_zero', { exit })).toBe('completed');
    expect(after('completed', 'process_exit_zero', { exit })).toBe('completed');
  });
  it('SES1 an exit with success while something is asked: paused, for the row wants nothing to be asked', () => {
    expect(after('waiting_approval', 'process_exit_zero')).toBe('paused');
    expect(after('waiting_input', 'process_exit_zero')).toBe('paused');
    expect(after('paused', 'process_exit_zero')).toBe('paused');
    expect(after('error', 'process_exit_zero')).toBe('error');
  });
  it('SES6 an exit with success before anything was done: error, for so do agents that could not read their settings', () => {
    expect(after('creating', 'process_exit_zero')).toBe('error');
    expect(after('streaming', 'process_exit_zero')).toBe('error');
    expect(after('idle', 'process_exit_zero')).toBe('idle');
    expect(after('stopped', 'process_exit_zero')).toBe('stopped');
  });
});

describe('SES1 the arrows of the diagram', () => {
  it('SES1 idle to creating by start_session', () => {
    expect(after('idle', 'start_session')).toBe('creating');
  });
  it('SES1 creating to streaming by session_created, when the request has begun', () => {
    const begun = step(sessionIn('creating'), happening('api_req_started', { request: 'r1' })).record;
    expect(after(begun, 'session_created')).toBe('streaming');
  });
  it('SES1 creating to streaming by the request, when the session was created first', () => {
    const created = step(sessionIn('creating'), happening('session_created')).record;
    expect(after(created, 'api_req_started', { request: 'r1' })).toBe('streaming');
  });
  it('SES1 creating to error by process_error', () => {
    expect(after('creating', 'process_error')).toBe('error');
  });
  it('SES1 streaming to error by a failed request', () => {
    expect(after('streaming', 'ask:api_req_failed')).toBe('error');
  });
  it('SES1 streaming to error by too many mistakes', () => {
    expect(after('streaming', 'ask:mistake_limit_reached')).toBe('error');
  });
  it('SES1 streaming to error by a model that is not known', () => {
    expect(after('streaming', 'ask:invalid_model')).toBe('error');
  });
  it('SES1 streaming to error by a bill', () => {
    expect(after('streaming', 'ask:payment_required_prompt')).toBe('error');
  });
  it('SES1 error to streaming by retry', () => {
    expect(after('error', 'retry')).toBe('streaming');
  });
  it('SES1 error to streaming by resume', () => {
    expect(after('error', 'resume_session')).toBe('streaming');
  });
  it('SES1 streaming to waiting_approval by a whole ask for a tool or a command', () => {
    expect(after('streaming', 'ask:tool', { ask: pendingAsk('a') })).toBe('waiting_approval');
    expect(after('streaming', 'ask:command', { ask: pendingAsk('a') })).toBe('waiting_approval');
  });
  it('SES1 waiting_approval to streaming by an approval, and by an agent that approves for itself', () => {
    expect(after('waiting_approval', 'approve_action')).toBe('streaming');
    expect(after(sessionIn('waiting_approval', { auto_approve: true }), 'api_req_started')).toBe('streaming');
  });
  it('SES1 streaming to waiting_input by a whole question', () => {
    expect(after('streaming', 'ask:followup', { ask: questionAsk('a') })).toBe('waiting_input');
  });
  it('SES1 waiting_input to streaming by send_message', () => {
    expect(after('waiting_input', 'send_message')).toBe('streaming');
  });
  it('SES1 streaming to completed by ask:completion_result', () => {
    expect(after('streaming', 'ask:completion_result')).toBe('completed');
  });
  it('SES1 completed goes on to streaming by send_message; the arrow to stopped carries the wrong words', () => {
    expect(after('completed', 'send_message')).toBe('streaming');
    expect(after('completed', 'cancel_session')).toBe('completed');
  });
  it('SES1 the arrows of cancel_session that end in idle end in stopped, as the table has it', () => {
    expect(after('streaming', 'cancel_session')).toBe('stopped');
    expect(after('error', 'cancel_session')).toBe('stopped');
    expect(after('stopped', 'cancel_session')).toBe('stopped');
  });
  it('SES1 stopped to streaming by resume_session', () => {
    expect(after('stopped', 'resume_session')).toBe('streaming');
  });
  it('SES1 streaming to paused by ask:resume_task', () => {
    expect(after('streaming', 'ask:resume_task')).toBe('paused');
  });
  it('SES1 paused to streaming by resume_session', () => {
    expect(after('paused', 'resume_session')).toBe('streaming');
  });
});

describe('SES1 the entry conditions', () => {
  it('SES1 creating is entered by submitting a prompt', () => {
    expect(after('idle', 'start_session')).toBe('creating');
  });
  it('SES1 streaming is entered by a request that has begun', () => {
    const created = sessionIn('creating', { memory: { saw_session: true } });
    expect(after(created, 'api_req_started', { request: 'r1' })).toBe('streaming');
  });
  it('SES1 waiting_approval is entered by whole asks only', () => {
    for (const kind of ['ask:tool', 'ask:command'] as const) {
      expect(after('streaming', kind, { ask: pendingAsk('a'), partial: true })).toBe('streaming');
      expect(after('streaming', kind, { ask: pendingAsk('a'), partial: false })).toBe('waiting_approval');
    }
  });
  it('SES1 waiting_approval passes by where the agent approves for itself', () => {
    const asked = step(sessionIn('streaming', { auto_approve: true }), happening('ask:tool', { ask: pendingAsk('a') }));
    expect(asked.record.state).toBe('streaming');
    expect(after(asked.record, 'api_req_started', { at: t0 + 1_400, request: 'r2' })).toBe('streaming');
  });
  it('SES1 waiting_input is entered by whole questions only', () => {
    expect(after('streaming', 'ask:followup', { ask: questionAsk('a'), partial: true })).toBe('streaming');
    expect(after('streaming', 'ask:followup', { ask: questionAsk('a') })).toBe('waiting_input');
  });
  it('SES1 completed is entered by ask:completion_result', () => {
    expect(after('streaming', 'ask:completion_result')).toBe('completed');
  });
  it('SES1 paused is entered by ask:resume_task', () => {
    expect(after('streaming', 'ask:resume_task')).toBe('paused');
  });
  it('SES1 paused is entered by ask:resume_completed_task, except from completed', () => {
    expect(after('streaming', 'ask:resume_completed_task')).toBe('paused');
    expect(after('completed', 'ask:resume_completed_task')).toBe('completed');
  });
  it('SES1 error is entered by ask:api_req_failed', () => {
    expect(after('streaming', 'ask:api_req_failed')).toBe('error');
  });
  it('SES1 error is entered by ask:mistake_limit_reached', () => {
    expect(after('streaming', 'ask:mistake_limit_reached')).toBe('error');
  });
  it('SES1 error is entered by ask:invalid_model', () => {
    expect(after('streaming', 'ask:invalid_model')).toBe('error');
  });
  it('SES1 error is entered by an error of the process', () => {
    expect(after('streaming', 'process_error')).toBe('error');
  });
  it('SES1 stopped is entered by the stop button, wherever it is shown', () => {
    expect(after('creating', 'cancel_session')).toBe('stopped');
    expect(after('streaming', 'cancel_session')).toBe('stopped');
    expect(after('waiting_approval', 'cancel_session')).toBe('stopped');
    expect(after('waiting_input', 'cancel_session')).toBe('stopped');
  });
  it('SES7 input that is enabled is taken, and a resume that is shown works', () => {
    for (const state of ['waiting_input', 'completed', 'paused', 'stopped'] as const)
      expect(after(state, 'send_message')).toBe('streaming');
    for (const state of ['completed', 'paused', 'stopped'] as const)
      expect(after(state, 'resume_session')).toBe('streaming');
  });
});
