import { describe, expect, it } from 'vitest';
import { asks, event, identity, oneAgent, says, settles, started, TestWorld, t0 } from '../../test/kit/engine.ts';
import { reasonCodes, reasonFits, reasons } from '../model/reasons.ts';
import { stateNames } from '../model/states.ts';

describe('the seven states', () => {
  for (const state of stateNames) {
    it(`RSV1 ${state} is published with reason, confidence, since, last seen, source and competing evidence`, () => {
      const world = oneAgent();
      world.take(says('a', 'screen', 5, 'idle'), says('a', 'hook', 10, state));
      const record = world.state('a');
      expect(record.state).toBe(state === 'unknown' ? 'idle' : state);
      expect(reasonFits(record.reason, record.state)).toBe(true);
      expect(record.since).toBe(t0 + (state === 'unknown' ? 5 : 10));
      expect(record.last_seen_at).toBe(world.now);
      expect(record.decided_by).toBe(state === 'unknown' ? 'screen' : 'hook');
      expect(record.competing.map((one) => one.source)).toEqual(state === 'unknown' ? [] : ['screen']);
    });
  }

  it('RSV0 reason codes are one closed table, and a reason that is not in it is refused', () => {
    const world = oneAgent();
    expect(world.take(says('a', 'hook', 1, 'running', { reason: 'made_up' }))).toEqual(['bad_payload']);
    expect(world.take(says('a', 'hook', 1, 'running', { reason: 'turn_completed' }))).toEqual(['bad_payload']);
    for (const code of reasonCodes) expect(reasons[code].states.length).toBeGreaterThan(0);
  });

  it('RSV2 RSV2g precedence decides among what is not superseded: error, approval, input, running, completed, idle', () => {
    const order = ['error', 'waiting_approval', 'waiting_input', 'running', 'completed', 'idle'];
    const sources = ['hook', 'native', 'notify', 'reconciler', 'transcript', 'screen'];
    for (let first = 0; first < order.length; first++) {
      const world = oneAgent();
      // Equal times: nobody is later than anybody.
      order.slice(first).forEach((state, place) => {
        world.take(says('a', String(sources[place]), 7, state));
      });
      expect(world.state('a').state).toBe(order[first]);
    }
  });

  it('RSV4 unsure is unknown with a reason, never idle', () => {
    const world = oneAgent();
    expect(world.word('a')).toBe('unknown/not_observed_yet');
    world.take(says('a', 'screen', 5, 'unknown'));
    expect(world.word('a')).toBe('unknown/unsupported_signal');
    expect(world.state('a').confidence).toBe('low');
    world.take(says('a', 'title', 9, 'unknown', { reason: 'starting', detail: 'hello' }));
    expect(world.word('a')).toBe('unknown/starting');
    expect(world.state('a').detail).toBe('hello');
    world.take(says('a', 'native', 7, 'unknown', { reason: 'stalled' }));
    expect(world.word('a')).toBe('unknown/starting');
  });
});

describe('who supersedes whom', () => {
  it('RSV2 RSV2b a later word of equal or higher rank supersedes; a lower one does not', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 10, 'waiting_approval'), says('a', 'native', 20, 'running'));
    expect(world.word('a')).toBe('running/turn_running');
    world.take(says('a', 'screen', 30, 'idle'));
    expect(world.word('a')).toBe('running/turn_running');
    expect(world.state('a').confidence).toBe('medium');
  });

  it('RSV2 a low confidence stays low when contradicted', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 10, 'running', { confidence: 'low' }), says('a', 'screen', 20, 'idle'));
    expect(world.state('a').confidence).toBe('low');
  });

  it('RSV2 a screen that shows a settled prompt does not contradict completed', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 10, 'completed'), says('a', 'screen', 20, 'idle'));
    expect(world.word('a')).toBe('completed/turn_completed');
    expect(world.state('a').confidence).toBe('high');
    expect(world.state('a').since).toBe(t0 + 20);
  });

  it('RSV2 RSV2d an unclassified screen contradicts nothing and supersedes nobody', () => {
    const world = oneAgent();
    world.take(says('a', 'title', 10, 'running'), says('a', 'screen', 20, 'unknown'));
    expect(world.word('a')).toBe('running/turn_running');
    expect(world.state('a').confidence).toBe('high');
  });

  it('RSV7 error leaves on any later activity of equal rank', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 10, 'error'));
    expect(world.state('a').state).toBe('error');
    world.take(says('a', 'notify', 11, 'running'));
    expect(world.state('a').state).toBe('running');
    world.take(says('a', 'notify', 12, 'idle'));
    expect(world.state('a').state).toBe('idle');
  });

  it('RSV7 work since then makes an old completion history, whoever saw the work', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 10, 'completed'), says('a', 'native', 20, 'running'), says('a', 'native', 30, 'idle'));
    expect(world.word('a')).toBe('idle/prompt_ready');
    const lower = oneAgent();
    lower.take(says('a', 'hook', 10, 'completed'), says('a', 'screen', 20, 'running'), says('a', 'screen', 30, 'idle'));
    expect(lower.word('a')).toBe('completed/turn_completed');
  });

  it('RSV2 among equals the better witness decides, then the later, then the name', () => {
    const world = oneAgent();
    world.take(says('a', 'screen', 10, 'running'), says('a', 'hook', 10, 'running', { reason: 'tool_running' }));
    expect(world.state('a').decided_by).toBe('hook');
    world.take(says('a', 'native', 12, 'running'));
    expect(world.state('a').decided_by).toBe('native');
    world.take(says('a', 'hook', 12, 'running'));
    expect(world.state('a').decided_by).toBe('hook');
  });
});

describe('background, suspension, usage limits', () => {
  it('RSV9 background work is a flag of its own, from the best witness', () => {
    const world = oneAgent();
    expect(world.state('a').background).toEqual({ shells: 0, agents: 0 });
    world.take(event('a', 'screen', 20, 'background.counted', { shells: 9, agents: 9 }));
    world.take(event('a', 'hook', 10, 'background.counted', { shells: 2, agents: 1 }));
    world.take(event('a', 'native', 9, 'background.counted', { shells: 7, agents: 7 }));
    expect(world.state('a').background).toEqual({ shells: 2, agents: 1 });
    world.take(event('a', 'transcript', 30, 'background.counted', { shells: 5, agents: 5 }));
    expect(world.state('a').background).toEqual({ shells: 2, agents: 1 });
  });

  it('RSV9 a usage limit is an error with the time of its reset, a stalled turn a reason', () => {
    const world = oneAgent();
    world.take(says('a', 'screen', 10, 'error', { reason: 'usage_limit', until: t0 + 9_000, detail: 'resets 19:30' }));
    expect(world.state('a')).toMatchObject({ reason: 'usage_limit', until: t0 + 9_000, detail: 'resets 19:30' });
    world.take(says('a', 'screen', 11, 'running', { reason: 'stalled' }));
    expect(world.word('a')).toBe('running/stalled');
  });

  it('IDN6 a suspended process still runs and says so', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 5, 'running'), event('a', 'process', 10, 'process.observed', { suspended: true }));
    expect(world.state('a')).toMatchObject({ state: 'running', suspended: true });
    expect(world.route('a')).toBe('CONNECTED');
    expect(world.take(event('a', 'process', 8, 'process.observed', { suspended: false }))).toEqual([
      'older_than_cursor',
    ]);
  });
});

describe('ends', () => {
  const ended = (at: number, payload: Record<string, unknown>, source = 'process') =>
    event('a', source, at, 'runtime.ended', payload);

  it.each([
    [{ cause: 'exit', status: 0 }, false, 'unknown/exited'],
    [{ cause: 'exit', status: 2 }, true, 'error/ended_with_status'],
    [{ cause: 'exit' }, true, 'unknown/exited'],
    [{ cause: 'exit' }, false, 'error/ended_with_status'],
    [{ cause: 'vanished' }, true, 'unknown/exited'],
    [{ cause: 'vanished' }, false, 'error/ended_without_goodbye'],
    [{ cause: 'signal', signal: 'KILL' }, true, 'error/ended_by_signal'],
  ])('RSV12 %j with goodbye %s is %s', (payload, goodbye, word) => {
    const world = oneAgent();
    world.take(says('a', 'hook', 5, 'running'), asks('a', 'hook', 6, 'x'), ended(10, payload));
    if (goodbye) world.take(event('a', 'hook', 9, 'runtime.goodbye'), event('a', 'native', 9, 'runtime.goodbye'));
    expect(world.word('a')).toBe(word);
    expect(world.state('a')).toMatchObject({ ask: null, asks_open: 0, confidence: 'high' });
    expect(world.route('a')).toBe('NONE');
  });

  it('RSV8 a goodbye alone ends nothing: the process does', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 5, 'idle'), event('a', 'hook', 9, 'runtime.goodbye'));
    expect(world.word('a')).toBe('idle/prompt_ready');
    expect(world.route('a')).toBe('CONNECTED');
  });

  it('ORD3 an end applies however late it comes, and who knows the status beats who only saw it gone', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 50, 'running'));
    expect(world.take(ended(10, { cause: 'vanished' }))).toEqual(['joined']);
    expect(world.word('a')).toBe('error/ended_without_goodbye');
    world.take(ended(60, { cause: 'exit', status: 3 }, 'wrapper'));
    expect(world.word('a')).toBe('error/ended_with_status');
    world.take(ended(5, { cause: 'vanished' }));
    world.take(ended(20, { cause: 'signal', signal: 'INT' }, 'wrapper'));
    expect(world.state('a').ended).toMatchObject({ cause: 'signal', time: t0 + 20 });
    world.take(ended(30, { cause: 'exit', status: 0 }, 'wrapper'));
    expect(world.state('a').ended).toMatchObject({ cause: 'signal', time: t0 + 20 });
  });

  it('IDN2 another tmux server ends every runtime of the old one, and only those', () => {
    const world = new TestWorld();
    world.take(
      started(identity('a')),
      started(identity('b', { target: 'vm1' as never })),
      says('a', 'hook', 5, 'running'),
    );
    world.take(started(identity('managed', { server: null, pane: null })));
    const server = (key: string, at: number) => ({
      ...event('a', 'process', at, 'server.seen', { server: key, server_started_at: t0 + at }),
      evidence: { target: 'host' },
    });
    expect(world.take(server('server-1', -5))).toEqual(['joined']);
    expect(world.word('a')).toBe('running/turn_running');
    expect(world.take(server('server-2', 100), server('server-2', 100))).toEqual(['joined', 'same_event']);
    expect(world.word('a')).toBe('unknown/target_restarted');
    expect(world.state('a').ended).toMatchObject({ cause: 'server_gone', time: t0 + 100 });
    expect([world.word('b'), world.word('managed')]).toEqual(['unknown/not_observed_yet', 'unknown/not_observed_yet']);
    // The report of an older server that comes late changes nothing back; of equal starts one is chosen for good.
    world.take(server('server-0', 50), server('server-1', 100));
    expect(world.word('a')).toBe('unknown/target_restarted');
    world.take(server('server-3', 100), started(identity('c', { server: 'server-3' as never, started_at: t0 + 110 })));
    expect(world.word('c')).toBe('unknown/not_observed_yet');
  });

  it('IDN4 a new epoch in the same pane ends the old runtime even when its end was never seen', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 5, 'running'));
    const again = identity('a2', { pane: identity('a').pane, pane_epoch: 1, started_at: t0 + 500 });
    const third = identity('a3', { pane: identity('a').pane, pane_epoch: 2, started_at: t0 + 900 });
    world.take(started(third), started(again));
    expect(world.word('a')).toBe('unknown/replaced');
    expect(world.state('a').ended).toMatchObject({ cause: 'replaced', clean: true, time: t0 + 500 });
    expect([world.word('a2'), world.word('a3')]).toEqual(['unknown/replaced', 'unknown/not_observed_yet']);
  });

  it('ASK1 the end of a runtime settles all its asks', () => {
    const world = oneAgent();
    world.take(asks('a', 'hook', 5, 'x'), asks('a', 'hook', 6, 'y', { scope: 'sub1' }));
    expect(world.state('a').asks_open).toBe(2);
    world.take(ended(10, { cause: 'exit', status: 0 }), settles('a', 'hook', 11, 'x'));
    expect(world.state('a').asks_open).toBe(0);
  });
});

describe('a damaged log', () => {
  it('RSV4 what was saved of it is unknown/rebuilt until it is seen again', () => {
    const world = oneAgent();
    world.world.rebuilt.add(identity('a').runtime_id);
    expect(world.word('a')).toBe('unknown/rebuilt');
    world.take(says('a', 'screen', 5, 'idle'));
    expect(world.word('a')).toBe('idle/prompt_ready');
    expect(world.world.rebuilt.size).toBe(0);
  });
});

describe('the reason of a ready prompt', () => {
  it('RSV1 is told by who agrees and knows why, if it was about then', () => {
    const world = oneAgent();
    world.take(says('a', 'transcript', 1_000, 'idle', { reason: 'interrupted' }), says('a', 'native', 1_200, 'idle'));
    expect(world.state('a')).toMatchObject({ state: 'idle', reason: 'interrupted', decided_by: 'native' });
    world.take(says('a', 'screen', 1_300, 'idle', { reason: 'refused_by_person' }));
    expect(world.state('a').reason).toBe('interrupted');
    world.take(says('a', 'native', 9_000, 'idle'));
    expect(world.state('a').reason).toBe('prompt_ready');
  });

  it('RSV1 and so is that of a turn: the screen shows a retry that the agent itself does not tell', () => {
    const world = oneAgent();
    world.take(says('a', 'native', 1_000, 'running'), says('a', 'screen', 5_000, 'running', { reason: 'retrying' }));
    expect(world.state('a')).toMatchObject({ reason: 'retrying', decided_by: 'native' });
    world.take(says('a', 'screen', 6_000, 'running'));
    expect(world.state('a').reason).toBe('turn_running');
  });

  it('RSV2 a turn that is only believed to be finished gives way to who saw it cut short', () => {
    const cut = says('a', 'screen', 1_200, 'idle', { reason: 'interrupted' });
    const unsure = oneAgent();
    unsure.take(says('a', 'hook', 1_000, 'completed', { confidence: 'medium' }), cut);
    expect(unsure.state('a')).toMatchObject({ state: 'idle', reason: 'interrupted' });
    unsure.take(says('a', 'hook', 9_000, 'completed', { confidence: 'medium' }));
    expect(unsure.word('a')).toBe('completed/turn_completed');
    const refused = oneAgent();
    const finished = says('a', 'hook', 1_000, 'completed', { confidence: 'medium' });
    refused.take(finished, says('a', 'screen', 1_200, 'idle', { reason: 'refused_by_person', confidence: 'low' }));
    expect(refused.word('a')).toBe('completed/turn_completed');
    refused.take(says('a', 'screen', 1_300, 'idle', { reason: 'refused_by_person' }));
    expect(refused.word('a')).toBe('idle/refused_by_person');
    refused.take(says('a', 'screen', 1_400, 'idle'));
    expect(refused.word('a')).toBe('completed/turn_completed');
    const sure = oneAgent();
    sure.take(says('a', 'hook', 1_000, 'completed'), cut);
    expect(sure.word('a')).toBe('completed/turn_completed');
  });
});

describe('what an ask makes of the state', () => {
  it.each([
    ['question', 'waiting_input/question_asked'],
    ['dialog', 'waiting_input/dialog_open'],
    ['trust', 'waiting_approval/trust_asked'],
    ['plan', 'waiting_approval/approval_asked'],
  ])('ASK2 %s: %s', (kind, word) => {
    const world = oneAgent();
    world.take(asks('a', 'hook', 10, 'x', { kind }));
    expect(world.word('a')).toBe(word);
  });
});

describe('a screen that lags', () => {
  it('RSV2 work that is still drawn does not undo that the turn is over; a dialog without a hook is heard at once', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 1_000, 'completed'), says('a', 'screen', 1_100, 'running'));
    expect(world.word('a')).toBe('completed/turn_completed');
    world.take(says('a', 'hook', 2_000, 'running'), says('a', 'screen', 2_100, 'waiting_approval'));
    expect(world.word('a')).toBe('waiting_approval/approval_asked');
  });
});

describe('a turn that was cut short', () => {
  it('RSV13 CNV1 of several who saw it the best is heard, in whatever order they came', () => {
    const words = [
      says('a', 'native', 10, 'idle', { reason: 'interrupted' }),
      says('a', 'transcript', 11, 'idle', { reason: 'refused_by_person' }),
      says('a', 'screen', 12, 'completed', { confidence: 'medium' }),
    ];
    for (const order of [words, [...words].reverse()]) {
      const world = oneAgent();
      for (const one of order) world.take(one);
      expect(world.word('a')).toBe('idle/interrupted');
    }
  });
});
