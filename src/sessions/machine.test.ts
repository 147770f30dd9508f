// The hard cases of a session: what agents really print, in the order in which they print it.

import { describe, expect, it } from 'vitest';
import { happening, pendingAsk, play, questionAsk, sessionIn, t0 } from '../../test/kit/machine.ts';
import { agentSessionId } from '../model/ids.ts';
import type { MachineEvent, MachineEventKind } from '../model/sessions.ts';
import { dueOf, heard, step, tick } from './machine.ts';
import { freshFields, freshMemory, type Machined } from './machine-memory.ts';

const at = (ms: number): number => t0 + ms;
const on = (ms: number, kind: MachineEventKind, patch: Partial<MachineEvent> = {}): MachineEvent =>
  happening(kind, { at: at(ms), ...patch });

function started(options: { hasNoCreated?: boolean; auto_approve?: boolean } = {}): Machined {
  const fresh: Machined = {
    ...freshFields(t0),
    auto_approve: options.auto_approve ?? false,
    memory: freshMemory({ hasNoCreated: options.hasNoCreated ?? false }),
  };
  const { record, effect } = step(fresh, on(0, 'start_session', { said_at: t0 }));
  expect(effect).toBe('spawn');
  return record;
}

describe('SES1 how a session begins', () => {
  it('SES1 needs its session and a request, in any order', () => {
    const one = play(started(), [on(1, 'session_created'), on(2, 'api_req_started', { request: 'r' })]);
    expect(one.states).toEqual(['creating', 'streaming']);
    const other = play(started(), [on(1, 'api_req_started', { request: 'r' }), on(2, 'session_created')]);
    expect(other.states).toEqual(['creating', 'streaming']);
  });

  it('SES1 needs only the request of an agent that never tells of its session', () => {
    expect(play(started({ hasNoCreated: true }), [on(1, 'api_req_started')]).states).toEqual(['streaming']);
  });

  it('SES1 an ask proves that there is a session', () => {
    expect(play(started(), [on(1, 'ask:tool', { ask: pendingAsk('a') })]).states).toEqual(['waiting_approval']);
  });

  it('SES1 begins anew with nothing of the session before', () => {
    const before = sessionIn('completed', {
      agent_session: agentSessionId('old'),
      is_resumable: true,
      answered: ['a'],
    });
    const { record } = step(before, on(1, 'start_session'));
    expect(record).toMatchObject({ state: 'creating', agent_session: null, is_resumable: false, answered: ['a'] });
  });

  it('SES1 cuts words that nobody reads to their end', () => {
    const { record } = step(started(), on(1, 'process_error', { words: 'x'.repeat(9_000) }));
    expect(record).toMatchObject({ reason: 'start_failed', words: 'x'.repeat(2_000) });
  });

  it('SES1 takes the name of its session, and a new one later', () => {
    const named = play(started(), [on(1, 'session_created', { agent_session: agentSessionId('one') })]).last;
    expect(named).toMatchObject({ agent_session: 'one', is_resumable: true });
    const renamed = step(named, on(2, 'session_renamed', { agent_session: agentSessionId('two') }));
    expect(renamed).toMatchObject({ changed: true, record: { agent_session: 'two', state: 'creating' } });
  });

  it('SES1 fails after 120 s of silence, and only of silence', () => {
    const silent = started();
    expect(dueOf(silent)).toBe(at(120_000));
    expect(tick(silent, at(119_999))).toMatchObject({ changed: false, record: { state: 'creating' } });
    expect(tick(silent, at(120_000)).record).toMatchObject({ state: 'error', reason: 'creation_timeout' });
    const noisy = heard(silent, at(119_000));
    expect(dueOf(noisy)).toBe(at(239_000));
    expect(tick(noisy, at(120_000)).record).toBe(noisy);
    const working = play(started({ hasNoCreated: true }), [on(1, 'api_req_started')]).last;
    expect(dueOf(working)).toBeNull();
    expect(tick(working, at(999_999)).record).toBe(working);
  });

  it('SES1 counts its silence from the moment it is there, also when it was there before anybody asked', () => {
    const found = step(sessionIn('idle'), on(500, 'session_created')).record;
    expect(dueOf(found)).toBe(at(120_500));
  });

  it('SES1 queues what is sent before it takes messages', () => {
    expect(step(started(), on(1, 'send_message'))).toMatchObject({ effect: 'queue', changed: false, refusal: null });
    expect(step(sessionIn('streaming'), on(1, 'send_message'))).toMatchObject({ effect: 'queue', refusal: null });
  });
});

describe('SES2 asks that are still being written', () => {
  const partial = (ms: number, id = 'a'): MachineEvent =>
    on(ms, 'ask:command', { ask: pendingAsk(id), partial: true, said_at: at(ms) });

  it('SES2 move nothing, and whole means that partial is not true', () => {
    const held = play(sessionIn('streaming'), [partial(10), partial(20)]);
    expect(held.states).toEqual(['streaming', 'streaming']);
    expect(held.last.pending_ask).toBeNull();
    const whole = step(held.last, on(30, 'ask:command', { ask: pendingAsk('a') })).record;
    expect(whole).toMatchObject({ state: 'waiting_approval', confidence: 'high', pending_ask: { ask_id: 'a' } });
    expect(dueOf(whole)).toBeNull();
  });

  it('SES2 that stand still for 3 s count, with low confidence', () => {
    const held = step(sessionIn('streaming'), partial(10)).record;
    expect(dueOf(held)).toBe(at(3_010));
    expect(tick(held, at(3_009)).changed).toBe(false);
    const stalled = tick(held, at(3_010));
    expect(stalled).toMatchObject({ changed: true, record: { state: 'waiting_approval', confidence: 'low' } });
    expect(dueOf(stalled.record)).toBeNull();
    // Its whole text later only makes sure of it.
    const whole = step(stalled.record, on(9_000, 'ask:command', { ask: pendingAsk('a') })).record;
    expect(whole).toMatchObject({ confidence: 'high', state_version: stalled.record.state_version });
  });

  it('SES2 are not still while anything is printed', () => {
    const held = step(sessionIn('streaming'), partial(10)).record;
    expect(dueOf(heard(held, at(2_000)))).toBe(at(5_000));
    expect(dueOf(step(held, partial(2_500)).record)).toBe(at(5_500));
    expect(dueOf(step(held, on(1_000, 'usage_update')).record)).toBe(at(4_000));
  });

  it('SES2 can be told to have stalled, and without one that is nothing', () => {
    const held = step(sessionIn('streaming'), partial(10)).record;
    expect(step(held, on(20, 'partial_stall')).record).toMatchObject({ state: 'waiting_approval', confidence: 'low' });
    const plain = sessionIn('streaming');
    expect(step(plain, on(20, 'partial_stall')).record).toBe(plain);
  });

  it('SES2 are forgotten when the agent goes on', () => {
    const held = step(sessionIn('streaming'), partial(10)).record;
    for (const kind of ['api_req_started', 'command_output', 'say:completion_result'] as const)
      expect(dueOf(step(held, on(20, kind)).record)).toBeNull();
    expect(dueOf(step(held, on(20, 'cancel_session')).record)).toBeNull();
  });

  it('SES2 a partial printing of what is waited with already begins nothing anew', () => {
    const waiting = step(sessionIn('streaming'), on(1, 'ask:command', { ask: pendingAsk('a') })).record;
    expect(step(waiting, partial(2)).record).toBe(waiting);
  });

  it('SES2 are no longer held when they came whole without effect', () => {
    const held = step(sessionIn('paused'), on(1, 'ask:tool', { ask: pendingAsk('a'), partial: true })).record;
    expect(dueOf(held)).not.toBeNull();
    const whole = step(held, on(2, 'ask:tool', { ask: pendingAsk('a') })).record;
    expect(whole).toMatchObject({ state: 'paused', pending_ask: null });
    expect(dueOf(whole)).toBeNull();
  });

  it('SES2 stay held when another command prints', () => {
    const held = step(sessionIn('streaming'), partial(10)).record;
    const other = step(held, on(20, 'command_output', { ask_id: 'other' })).record;
    expect(tick(other, at(3_020)).record).toMatchObject({ state: 'waiting_approval', pending_ask: { ask_id: 'a' } });
  });

  it('SES2 a partial ending is no ending', () => {
    expect(play(sessionIn('streaming'), [on(1, 'say:completion_result', { partial: true })]).states).toEqual([
      'streaming',
    ]);
  });
});

describe('SES3 what was said before', () => {
  it('SES3 lines older than the start are history and move nothing', () => {
    const old = { said_at: t0 - 1 };
    const resumed = step(sessionIn('stopped'), on(0, 'resume_session', { is_alive: false, said_at: t0 })).record;
    const history = play(resumed, [
      on(5, 'api_req_started', { ...old, request: 'old' }),
      on(5, 'ask:command', { ...old, ask: pendingAsk('old') }),
      on(5, 'say:completion_result', old),
      on(5, 'ask:followup', { ...old, ask: questionAsk('old-q'), partial: true }),
    ]);
    expect(new Set(history.states)).toEqual(new Set(['creating']));
    expect(history.last.pending_ask).toBeNull();
    expect(play(history.last, [on(6, 'ask:resume_task', old)]).states).toEqual(['paused']);
  });

  it('SES3 a paused session takes a live ask and no other', () => {
    const ask = { ask: pendingAsk('a') };
    expect(play(sessionIn('paused'), [on(5, 'ask:tool', ask)]).states).toEqual(['paused']);
    expect(play(sessionIn('paused'), [on(5, 'ask:tool', { ...ask, said_at: at(4) })]).states).toEqual([
      'waiting_approval',
    ]);
    const held = step(sessionIn('paused'), on(5, 'ask:tool', { ...ask, said_at: at(4), partial: true })).record;
    expect(tick(held, at(3_005)).record.state).toBe('waiting_approval');
  });

  it('SES3 a request line that comes again reports usage and approves nothing', () => {
    const waiting = play(sessionIn('streaming'), [
      on(1, 'api_req_started', { request: 'r1' }),
      on(2, 'ask:tool', { ask: pendingAsk('a') }),
    ]).last;
    expect(play(waiting, [on(3, 'api_req_started', { request: 'r1' })]).states).toEqual(['waiting_approval']);
    expect(play(waiting, [on(3, 'api_req_started', { request: 'r7', is_usage: true })]).states).toEqual([
      'waiting_approval',
    ]);
    const moved = step(waiting, on(3, 'api_req_started', { request: 'r2' })).record;
    expect(moved).toMatchObject({ state: 'streaming', pending_ask: null, answered: ['a'] });
  });

  it('SES3 a new process may count its requests anew', () => {
    const first = play(sessionIn('streaming'), [
      on(1, 'api_req_started', { request: 'r1' }),
      on(2, 'cancel_session'),
    ]).last;
    const named = { ...first, agent_session: agentSessionId('s') };
    const again = play(named, [
      on(3, 'resume_session', { is_alive: false }),
      on(4, 'api_req_started', { request: 'r1' }),
    ]);
    expect(again.states).toEqual(['creating', 'streaming']);
  });

  it('SES3 remembers a bounded number of requests', () => {
    const many = Array.from({ length: 500 }, (_, index) => on(index, 'api_req_started', { request: `r${index}` }));
    expect(play(sessionIn('streaming'), many).last.memory.requests).toHaveLength(64);
  });
});

describe('SES1 asks that come twice, or late', () => {
  it('SES1 the same ask again only changes its words', () => {
    const waiting = step(sessionIn('streaming'), on(1, 'ask:tool', { ask: pendingAsk('a') })).record;
    const again = step(waiting, on(2, 'ask:tool', { ask: pendingAsk('a', { text: 'as a diff' }) }));
    expect(again).toMatchObject({ changed: true, record: { pending_ask: { text: 'as a diff' } } });
    expect(again.record.state_version).toBe(waiting.state_version);
    expect(step(again.record, on(3, 'ask:tool', { ask: pendingAsk('a', { text: 'as a diff' }) })).changed).toBe(false);
  });

  it('SES1 another ask takes its place', () => {
    const waiting = sessionIn('waiting_approval');
    const other = step(waiting, on(2, 'ask:tool', { ask: pendingAsk('b') })).record;
    expect(other).toMatchObject({
      pending_ask: { ask_id: 'b' },
      state_version: waiting.state_version + 1,
      answered: [],
    });
  });

  it('SES5 an ask that was answered never waits again', () => {
    const approved = step(sessionIn('waiting_approval'), on(1, 'approve_action', { ask_id: 'open' })).record;
    expect(approved.answered).toEqual(['open']);
    expect(step(approved, on(2, 'ask:command', { ask: pendingAsk('open') })).record).toBe(approved);
    expect(step(approved, on(2, 'ask:command', { ask: pendingAsk('open'), partial: true })).record).toBe(approved);
    expect(dueOf(approved)).toBeNull();
  });

  it('SES1 an ask whose command has printed already never waits', () => {
    const late = play(sessionIn('streaming', { auto_approve: true }), [
      on(1, 'ask:command', { ask: pendingAsk('a'), partial: true }),
      on(2, 'command_output', { ask_id: 'a' }),
      on(3, 'ask:command', { ask: pendingAsk('a'), partial: false }),
    ]).last;
    expect(late).toMatchObject({ state: 'streaming', answered: ['a'] });
    expect(dueOf(late)).toBeNull();
    const unseen = play(sessionIn('streaming'), [
      on(1, 'command_output', { ask_id: 'b' }),
      on(2, 'ask:command', { ask: pendingAsk('b') }),
    ]);
    expect(unseen.states).toEqual(['streaming', 'streaming']);
  });

  it('SES1 output of another command approves nothing', () => {
    const waiting = sessionIn('waiting_approval');
    expect(step(waiting, on(1, 'command_output', { ask_id: 'other' })).record.state).toBe('waiting_approval');
    expect(step(waiting, on(1, 'command_output', { ask_id: 'open' })).record).toMatchObject({
      state: 'streaming',
      answered: ['open'],
    });
    expect(step(waiting, on(1, 'command_output')).record.state).toBe('streaming');
  });

  it('SES1 somebody else may answer', () => {
    for (const state of ['waiting_approval', 'waiting_input'] as const) {
      const answered = step(sessionIn(state), on(1, 'user_feedback', { ask_id: 'open' })).record;
      expect(answered).toMatchObject({ state: 'streaming', pending_ask: null, answered: ['open'] });
      expect(step(sessionIn(state), on(1, 'user_feedback', { ask_id: 'x' })).record.state).toBe(state);
    }
  });

  it('SES1 an ask without words still has an id that can be answered once', () => {
    const waiting = step(sessionIn('streaming'), on(1, 'ask:command')).record;
    const id = waiting.pending_ask?.ask_id ?? '';
    expect(id).not.toBe('');
    expect(step(waiting, on(2, 'approve_action', { ask_id: id })).record.answered).toEqual([id]);
    expect(step(sessionIn('streaming'), on(1, 'ask:followup')).record.pending_ask?.kind).toBe('question');
  });

  it('SES5 the answered ones are bounded', () => {
    let record: Machined = sessionIn('streaming');
    for (let index = 0; index < 400; index += 1) {
      record = step(record, on(index, 'ask:tool', { ask: pendingAsk(`a${index}`) })).record;
      record = step(record, on(index, 'approve_action')).record;
    }
    expect(record.answered).toHaveLength(256);
    expect(record.answered.at(-1)).toBe('a399');
  });
});

describe('SES5 answers', () => {
  it('SES5 to an ask that was answered, or to another one, are refused', () => {
    const waiting = sessionIn('waiting_approval', { answered: ['old'] });
    expect(step(waiting, on(1, 'approve_action', { ask_id: 'old' })).refusal).toMatchObject({
      code: 'E_STATE_CHANGED',
      message: 'it was answered already',
    });
    expect(step(waiting, on(1, 'reject_action', { ask_id: 'x' })).refusal?.message).toBe(
      'the pending request is another one now',
    );
    expect(step(sessionIn('waiting_input'), on(1, 'send_message', { ask_id: 'x' })).refusal?.code).toBe(
      'E_STATE_CHANGED',
    );
    expect(
      step(sessionIn('streaming', { answered: ['a'] }), on(1, 'approve_action', { ask_id: 'a' })).refusal?.message,
    ).toBe('it was answered already');
  });

  it('SES5 are refused even if a record says both, that it was answered and that it waits', () => {
    const torn = sessionIn('waiting_approval', { answered: ['open'] });
    expect(step(torn, on(1, 'approve_action')).refusal?.code).toBe('E_STATE_CHANGED');
  });

  it('SES1 a message is no approval', () => {
    expect(step(sessionIn('waiting_approval'), on(1, 'send_message')).refusal?.code).toBe('E_DIALOG');
  });

  it('SES1 what stands in an error takes words only where words are asked for', () => {
    const mistakes = step(sessionIn('streaming'), on(1, 'ask:mistake_limit_reached')).record;
    expect(step(mistakes, on(2, 'send_message')).record.state).toBe('streaming');
    const guided = sessionIn('error', { pending_ask: pendingAsk('g', { accepts: ['retry', 'text'] }) });
    expect(step(guided, on(2, 'send_message')).record).toMatchObject({ state: 'streaming', answered: ['g'] });
    expect(step(guided, on(2, 'send_message', { is_alive: false })).refusal?.next).toContain('agtmux session retry');
    expect(step(sessionIn('error'), on(2, 'send_message')).refusal?.code).toBe('E_STATE_CHANGED');
  });

  it('SES1 a retry answers what failed, once', () => {
    const failed = step(sessionIn('streaming'), on(1, 'ask:api_req_failed', { ask: pendingAsk('f') })).record;
    const retried = step(failed, on(2, 'retry')).record;
    expect(retried).toMatchObject({ state: 'streaming', answered: ['f'], pending_ask: null });
    expect(step(retried, on(3, 'ask:api_req_failed', { ask: pendingAsk('f') })).record.state).toBe('streaming');
    expect(step(retried, on(3, 'ask:api_req_failed', { ask: pendingAsk('f2') })).record.state).toBe('error');
  });

  it('SES1 messages and starts count as turns, answers do not', () => {
    const counted = play(started(), [
      on(1, 'ask:followup', { ask: questionAsk('q') }),
      on(2, 'send_message'),
      on(3, 'say:completion_result'),
      on(4, 'send_message'),
      on(5, 'say:completion_result'),
      on(6, 'ask:mistake_limit_reached'),
      on(7, 'send_message'),
    ]).last;
    expect(counted.turns).toBe(2);
  });
});

describe('SES1 agents that approve for themselves', () => {
  const auto = sessionIn('streaming', { auto_approve: true });
  const ask = on(1_000, 'ask:command', { ask: pendingAsk('a') });

  it('SES1 wait visibly only after 1.5 s without a sign', () => {
    const held = step(auto, ask);
    expect(held).toMatchObject({ changed: false, record: { state: 'streaming', pending_ask: null } });
    expect(dueOf(held.record)).toBe(at(2_500));
    expect(tick(held.record, at(2_499)).changed).toBe(false);
    const shown = tick(held.record, at(2_500)).record;
    expect(shown).toMatchObject({ state: 'waiting_approval', confidence: 'high', pending_ask: { ask_id: 'a' } });
    expect(dueOf(shown)).toBeNull();
  });

  it.each(['api_req_started', 'command_output', 'user_feedback', 'say:completion_result'] as const)(
    'SES1 %s is a sign',
    (kind) => {
      const gone = play(auto, [ask, on(1_200, kind)]).last;
      expect(dueOf(gone)).toBeNull();
      expect(gone.answered).toEqual(['a']);
      expect(tick(gone, at(60_000)).record.state).not.toBe('waiting_approval');
    },
  );

  it('SES1 talk and the second printing do not put it off', () => {
    const twice = play(auto, [
      ask,
      on(1_800, 'say:text'),
      on(2_000, 'ask:command', { ask: pendingAsk('a', { text: 'x' }) }),
      on(2_100, 'api_req_started', { request: 'r', is_usage: true }),
    ]);
    expect(dueOf(heard(twice.last, at(2_400)))).toBe(at(2_500));
    expect(tick(twice.last, at(2_500)).record.pending_ask?.text).toBe('x');
  });

  it('SES1 a partial ask waits 3 s and then no longer', () => {
    const held = step(auto, on(1_000, 'ask:command', { ask: pendingAsk('a'), partial: true })).record;
    expect(tick(held, at(4_000)).record).toMatchObject({ state: 'waiting_approval', confidence: 'low' });
  });

  it('SES1 questions are for people', () => {
    expect(step(auto, on(1, 'ask:followup', { ask: questionAsk('q') })).record.state).toBe('waiting_input');
  });

  it('SES1 cannot be answered meanwhile', () => {
    expect(step(step(auto, ask).record, on(1_100, 'approve_action', { ask_id: 'a' })).refusal?.code).toBe(
      'E_STATE_CHANGED',
    );
  });
});

describe('SES5 what was settled while it was held', () => {
  it('SES5 is not asked again when its time has come', () => {
    const held = play({ ...started(), auto_approve: true }, [
      on(1, 'ask:api_req_failed', { ask: pendingAsk('a', { accepts: ['retry'] }) }),
      on(2, 'ask:command', { ask: pendingAsk('a') }),
      on(3, 'rejoined', { ask: pendingAsk('b', { accepts: ['retry'] }) }),
    ]).last;
    expect(held).toMatchObject({ state: 'error', pending_ask: { ask_id: 'b' }, answered: ['a'] });
    expect(tick(held, at(10_000)).record).toMatchObject({ state: 'error', pending_ask: { ask_id: 'b' } });
  });
});

describe('SES6 requests that fail', () => {
  const retry = (ms: number, count: number, status: number | null): MachineEvent =>
    on(ms, 'api_retry_scheduled', { retry: { count, status, until: null } });

  it('SES6 are retried visibly, three times', () => {
    const tried = play(sessionIn('streaming'), [retry(1, 1, 429), retry(2, 2, 429), retry(3, 3, 429)]);
    expect(tried.states).toEqual(['streaming', 'streaming', 'streaming']);
    expect(tried.last).toMatchObject({ reason: 'retrying', words: 'retry 3 after status 429' });
    expect(step(tried.last, retry(4, 4, 429)).record).toMatchObject({ state: 'error', reason: 'needs_action' });
  });

  it('SES6 are retried visibly at the start as well', () => {
    expect(step(started(), retry(1, 1, 500)).record).toMatchObject({ state: 'creating', reason: 'retrying' });
  });

  it('SES6 are counted where the agent does not count', () => {
    const uncounted = on(1, 'api_retry_scheduled');
    const { states } = play(sessionIn('streaming'), [uncounted, uncounted, uncounted, uncounted]);
    expect(states).toEqual(['streaming', 'streaming', 'streaming', 'error']);
  });

  it.each([401, 402, 403, 404])('SES6 with %i need somebody at once', (status) => {
    expect(step(sessionIn('streaming'), retry(1, 1, status)).record).toMatchObject({
      state: 'error',
      reason: 'needs_action',
    });
    expect(step(sessionIn('creating'), retry(1, 1, status)).record.state).toBe('error');
  });

  it.each(['say:text', 'command_output', 'api_req_started', 'api_retried'] as const)(
    'SES6 are over when %s comes',
    (kind) => {
      const failing = step(sessionIn('streaming'), retry(1, 9, 500)).record;
      expect(failing.state).toBe('error');
      expect(step(failing, on(2, kind)).record).toMatchObject({ state: 'streaming', reason: 'turn_running' });
      const trying = step(sessionIn('streaming'), retry(1, 1, 500)).record;
      expect(step(trying, on(2, kind)).record).toMatchObject({
        state: 'streaming',
        reason: 'turn_running',
        words: null,
      });
    },
  );

  it('SES6 an error that the agent has ended with does not pass by talk', () => {
    const failed = step(sessionIn('streaming'), on(1, 'ask:api_req_failed', { words: 'status 400' })).record;
    expect(failed).toMatchObject({ reason: 'api_error', words: 'status 400' });
    expect(step(failed, on(2, 'say:text')).record.state).toBe('error');
  });

  it.each([
    ['ask:api_req_failed', 'api_error'],
    ['ask:mistake_limit_reached', 'mistake_limit'],
    ['ask:invalid_model', 'invalid_model'],
    ['ask:payment_required_prompt', 'payment_required'],
    ['process_error', 'process_failed'],
    ['heartbeat_lost', 'heartbeat_lost'],
  ] as const)('SES6 %s says why: %s', (kind, reason) => {
    expect(step(sessionIn('streaming'), on(1, kind)).record).toMatchObject({ state: 'error', reason });
  });

  it('SES6 an end that was not checked is doubtful, until it is', () => {
    const doubtful = step(sessionIn('streaming'), on(1, 'say:completion_result', { outcome: 'unverified' })).record;
    expect(doubtful).toMatchObject({ state: 'completed', reason: 'outcome_unverified', confidence: 'low' });
    const sure = step(doubtful, on(2, 'ask:completion_result', { outcome: 'verified' })).record;
    expect(sure).toMatchObject({ reason: 'turn_completed', confidence: 'high' });
    expect(step(sure, on(3, 'ask:completion_result', { outcome: 'unverified' })).record).toBe(sure);
    const said = step(doubtful, on(2, 'say:completion_result', { outcome: 'verified' })).record;
    expect(said).toMatchObject({ reason: 'turn_completed', confidence: 'high' });
  });
});

describe('SES1 turns that are cut short', () => {
  it('SES1 an interrupted turn can be gone on with', () => {
    for (const state of ['creating', 'streaming', 'waiting_approval', 'waiting_input'] as const)
      expect(step(sessionIn(state), on(1, 'turn_cancelled')).record).toMatchObject({
        state: 'paused',
        reason: 'interrupted',
      });
  });

  it('SES1 some agents end their turn with a refusal', () => {
    const refused = play(sessionIn('waiting_approval'), [on(1, 'reject_action'), on(2, 'turn_cancelled')]).last;
    expect(refused).toMatchObject({ state: 'paused', reason: 'refused_by_person', answered: ['open'] });
    const wentOn = play(sessionIn('waiting_approval'), [
      on(1, 'reject_action'),
      on(2, 'api_req_started', { request: 'r' }),
      on(3, 'turn_cancelled'),
    ]).last;
    expect(wentOn.reason).toBe('interrupted');
  });
});

describe('SES1 a flood', () => {
  it('SES1 of text makes no new record once the first was heard', () => {
    const first = step(sessionIn('streaming'), on(1, 'say:text', { partial: true })).record;
    expect(step(first, on(2, 'say:text', { partial: true })).record).toBe(first);
    expect(heard(first, at(3))).toBe(first);
  });
});
