// The ordering hazards of an event stream, one test each: what goes wrong with a naive rule, and that it does not here.

import { describe, expect, it } from 'vitest';
import { asks, event, host, identity, oneAgent, says, started, TestWorld, t0 } from '../../test/kit/engine.ts';
import { limits } from '../model/limits.ts';
import { heardByHooksAlone, tellsItself, underHealth, withoutPane } from './decay.ts';

/** Every order of a few things. */
function permutations<One>(list: readonly One[]): One[][] {
  if (list.length < 2) return [[...list]];
  return list.flatMap((one, place) =>
    permutations(list.filter((_, other) => other !== place)).map((rest) => [one, ...rest]),
  );
}

describe('ordering hazards', () => {
  it('ORD1 hazard 1, a cyclic comparison: a source is numbered or timed for good, an event without its key is refused', () => {
    const mixed = says('a', 'stream', 20, 'running');
    expect(oneAgent().take(mixed)).toEqual(['missing_order_key']);
    const { event_time: _, ...timeless } = says('a', 'hook', 20, 'running');
    expect(oneAgent().take(timeless)).toEqual(['missing_order_key']);
    const numbered = [
      says('a', 'stream', 30, 'running', {}, { source_seq: 1 }),
      says('a', 'stream', 10, 'idle', {}, { source_seq: 2 }),
    ];
    for (const order of permutations(numbered)) {
      const world = oneAgent();
      world.take(...order);
      expect(world.state('a').state).toBe('idle');
    }
  });

  it('ORD2 hazard 2, a counter that starts again: a later epoch is later, whatever its numbers', () => {
    const events = [
      says('a', 'stream', 10, 'running', {}, { source_seq: 900, source_epoch: 1 }),
      says('a', 'stream', 20, 'idle', {}, { source_seq: 1, source_epoch: 2 }),
    ];
    for (const order of permutations(events)) {
      const world = oneAgent();
      world.take(...order);
      expect(world.state('a').state).toBe('idle');
    }
  });

  it('ORD2 ORD2c hazard 3, a stamp from the future would block its lane: refused beyond 5 s, taken below', () => {
    const world = oneAgent();
    const ahead = world.now - t0 + limits.futureLeadMs;
    expect(world.take(says('a', 'hook', ahead + 1, 'running'))).toEqual(['future_time']);
    expect(world.take(says('a', 'hook', ahead, 'running'))).toEqual(['joined']);
  });

  it('ORD2 hazard 4 and 5, equal stamps: content breaks the tie, both are applied, arrival decides nothing', () => {
    const events = [
      says('a', 'hook', 10, 'running'),
      says('a', 'hook', 10, 'idle'),
      says('a', 'hook', 10, 'completed'),
    ];
    const answers = permutations(events).map((order) => {
      const world = oneAgent();
      const reasons = order.flatMap((one) => world.take(one));
      expect(reasons.every((reason) => reason === 'joined' || reason === 'older_than_cursor')).toBe(true);
      return world.word('a');
    });
    expect(new Set(answers).size).toBe(1);
  });

  it('ORD3 hazard 6, late events are stored and not applied, but a late end is', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 20, 'running'));
    expect(world.take(says('a', 'hook', 10, 'idle'))).toEqual(['older_than_cursor']);
    expect(world.log.at(-1)).toMatchObject({ verdict: 'older_than_cursor', runtime_id: 'a' });
    expect(world.word('a')).toBe('running/turn_running');
    expect(world.take(event('a', 'process', 5, 'runtime.ended', { cause: 'exit', status: 0 }))).toEqual(['joined']);
    expect(world.word('a')).toBe('unknown/exited');
  });

  it('DED1 hazard 7, an event without an id is its content and its own stamp; a poller that sees the same again makes none', () => {
    const world = oneAgent();
    const look = says('a', 'screen', 10, 'idle');
    expect(world.take(look, { ...look })).toEqual(['joined', 'same_event']);
    expect(world.take(look)).toEqual(['same_event']);
    const rows = world.log.length;
    world.now += 500;
    expect(world.take(event('a', 'screen', 600, 'state.repeated'))).toEqual(['repeated']);
    expect(world.log.length).toBe(rows);
    expect(world.state('a').last_seen_at).toBe(world.now);
    expect(world.take(event('nobody', 'screen', 600, 'state.repeated'))).toEqual(['nothing_to_refresh']);
  });

  it('DED1 hazard 8, copies are recognised before they are bound and again after', () => {
    const world = new TestWorld();
    const early = says('a', 'hook', 10, 'running', {}, { dedupe_key: 'k' });
    expect(world.take(early, early)).toEqual(['runtime_not_known', 'same_event']);
    expect(world.take(early)).toEqual(['same_event']);
    const byProcess = { ...early, evidence: { target: host, ancestry: [identity('a').process] } };
    expect(world.take(byProcess)).toEqual(['runtime_not_known']);
    world.take(started(identity('a')));
    expect(
      world.log
        .filter((one) => one.event.dedupe_key === 'k')
        .map((one) => one.verdict)
        .sort(),
    ).toHaveLength(2);
    expect(world.word('a')).toBe('running/turn_running');
    expect(world.world.pending.size).toBe(0);
  });

  it('RSV2 hazard 9, a hook that latches: the approval it told of ends when a later equal witness sees work', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 0, 'waiting_approval'));
    world.take(says('a', 'native', 2_000, 'running'));
    expect(world.word('a')).toBe('running/turn_running');
  });

  it('RSV5 hazard 10, a two-hour approval wait stays a wait; only running without evidence goes stale', () => {
    const world = oneAgent();
    world.take(asks('a', 'hook', 10, 'x'));
    world.now += 7_200_000;
    expect(world.word('a')).toBe('waiting_approval/approval_asked');
  });

  it('IDN10c without a pane what hooks alone tell of work and asks is never told for sure', () => {
    const world = oneAgent();
    const seen = () => {
      const { state, reason, confidence } = heardByHooksAlone(world.state('a'));
      return `${state}/${reason}/${confidence}`;
    };
    world.take(says('a', 'hook', 10, 'running'));
    expect(seen()).toBe('running/hooks_only/medium');
    world.take(asks('a', 'hook', 20, 'x'));
    expect(seen()).toBe('waiting_approval/approval_asked/medium');
    world.take(event('a', 'hook', 30, 'turn.ended', { scope: 'main' }), says('a', 'hook', 31, 'completed'));
    expect(seen()).toBe('completed/turn_completed/high');
    world.take(event('a', 'hook', 35, 'state.observed', { state: 'running', reason: 'compacting', confidence: 'low' }));
    expect(seen()).toBe('running/compacting/low');
    // A transcript would tell that the turn was cut short, and not that a request was granted.
    const other = oneAgent();
    other.take(says('a', 'transcript', 5, 'running'), says('a', 'hook', 10, 'running'));
    const told = () => heardByHooksAlone(other.state('a')).confidence;
    expect(told()).toBe('high');
    other.take(asks('a', 'hook', 20, 'x'));
    expect(told()).toBe('medium');
    // Nobody saw how it ended.
    other.take(event('a', 'process', 40, 'runtime.ended', { cause: 'vanished' }));
    expect(other.state('a').confidence).toBe('high');
    expect(told()).toBe('medium');
    // Somebody did.
    const gone = oneAgent();
    gone.take(
      says('a', 'hook', 10, 'running'),
      event('a', 'process', 40, 'runtime.ended', { cause: 'exit', status: 0 }),
    );
    expect(heardByHooksAlone(gone.state('a'))).toEqual(gone.state('a'));
    // Its own registry would tell that the turn was cut short.
    world.take(says('a', 'native', 40, 'running'));
    expect(seen()).toBe('running/compacting/high');
  });

  it('RTE4 IDN10 without the pane that it had, what it tells itself is heard and what its screen told is not known', () => {
    const world = oneAgent();
    const seen = () => {
      const { state, reason, confidence, competing } = withoutPane(world.state('a'), 5, 'was in work:1.0');
      return `${state}/${reason}/${confidence} ${competing.map(({ source }) => source)}`;
    };
    expect(tellsItself(world.state('a'))).toBe(false);
    expect(seen()).toBe('unknown/no_pane/low ');
    world.take(says('a', 'hook', 10, 'running'), says('a', 'screen', 11, 'running'));
    expect(seen()).toBe('running/hooks_only/medium ');
    world.take(says('a', 'screen', 9_000, 'idle'), says('a', 'reconciler', 9_001, 'idle'));
    expect(seen()).toMatch(/^unknown\/no_pane\/low/);
  });

  it('RSV6 hazard 11, a target that is down is applied when reading: the stored state comes back with it', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 10, 'running'));
    const stored = world.state('a');
    expect(underHealth(stored, 'down')).toMatchObject({
      state: 'unknown',
      reason: 'target_unreachable',
      confidence: 'low',
    });
    expect(underHealth(stored, 'degraded')).toBe(stored);
    expect(underHealth(stored, 'ok')).toBe(stored);
    world.take(event('a', 'process', 20, 'runtime.ended', { cause: 'exit', status: 0 }));
    expect(underHealth(world.state('a'), 'down')).toMatchObject({ reason: 'exited' });
  });

  it('RSV7 hazard 12, a completion that arrives ten minutes late is still shown as fresh, with its own time', () => {
    const world = oneAgent();
    world.now = t0 + 600_000;
    world.take(says('a', 'hook', 10, 'completed'));
    expect(world.state('a')).toMatchObject({ state: 'completed', since: t0 + 10 });
    world.now += limits.completedMs - 1;
    expect(world.state('a').state).toBe('completed');
    world.now += 1;
    expect(world.word('a')).toBe('idle/completed_aged');
  });

  it('IDN5 hazard 13, two agents in one pane: one epoch each, and of two that claim one epoch the later start is there', () => {
    const world = oneAgent();
    world.take(started(identity('twin', { pane: identity('a').pane, started_at: t0 + 5 })));
    expect(world.word('a')).toBe('unknown/replaced');
    expect(world.word('twin')).toBe('unknown/not_observed_yet');
    const other = new TestWorld();
    other.take(started(identity('twin', { pane: identity('a').pane, started_at: t0 + 5 })), started(identity('a')));
    expect([other.word('a'), other.word('twin')]).toEqual(['unknown/replaced', 'unknown/not_observed_yet']);
  });

  it('ORD3 hazard 14, numbers mean nothing across sources: each source and kind of fact has a cursor of its own', () => {
    const events = [
      says('a', 'stream', 10, 'running', {}, { source_seq: 500 }),
      event('a', 'stream', 11, 'background.counted', { shells: 1, agents: 0 }, { source_seq: 400 }),
      says('a', 'hook', 12, 'completed'),
    ];
    for (const order of permutations(events)) {
      const world = oneAgent();
      expect(order.flatMap((one) => world.take(one))).toEqual(['joined', 'joined', 'joined']);
      expect(world.state('a')).toMatchObject({ state: 'completed', background: { shells: 1, agents: 0 } });
    }
  });

  it('RSV11 hazard 15, the version grows with state, reason or ask, and with nothing else', () => {
    const world = oneAgent();
    const version = () => world.state('a').state_version;
    expect(version()).toBe(1);
    world.take(says('a', 'hook', 10, 'running'));
    expect(version()).toBe(2);
    world.take(
      says('a', 'hook', 11, 'running', { detail: 'npm test' }),
      event('a', 'hook', 12, 'background.counted', { shells: 1, agents: 1 }),
    );
    world.take(event('a', 'screen', 13, 'state.repeated'));
    expect(version()).toBe(2);
    world.take(says('a', 'hook', 14, 'running', { reason: 'tool_running' }));
    expect(version()).toBe(3);
    expect(world.state('a').since).toBe(t0 + 10);
    world.take(asks('a', 'hook', 15, 'x'));
    expect(version()).toBe(4);
    world.take(asks('a', 'hook', 14, 'earlier'));
    expect(version()).toBe(5);
  });

  it('RSV7 hazard 16, an error does not mask what comes after it', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 10, 'error'), asks('a', 'hook', 20, 'x'));
    expect(world.word('a')).toBe('waiting_approval/approval_asked');
  });
});

describe('servers', () => {
  it('DED1 two sightings under one id that differ are two: which server is the newest depends on neither order', () => {
    const seen = (server: string, at: number) => ({
      ...event('a', 'process', at, 'server.seen', { server, server_started_at: t0 + at }, { dedupe_key: 'k' }),
      evidence: { target: host },
    });
    for (const order of permutations([seen('server-8', 50), seen('server-9', 60)])) {
      const world = oneAgent();
      for (const one of order) expect(world.take(one)).toEqual(['joined']);
      expect(world.take(order[0])).toEqual(['same_event']);
      expect(world.world.index.server(host)?.server).toBe('server-9');
    }
  });
});

describe('copies of one event', () => {
  const first = says('a', 'hook', 10, 'running', {}, { dedupe_key: 'k' });
  const again = says('a', 'hook', 50, 'running', {}, { dedupe_key: 'k' });
  const between = says('a', 'hook', 30, 'completed');

  it('DED1a a copy that was stamped again never moves the state forward, whichever comes first', () => {
    for (const order of permutations([first, again, between])) {
      const world = oneAgent();
      for (const one of order) world.take(one);
      expect(world.word('a')).toBe('completed/turn_completed');
    }
  });

  it('DED1a the verdicts say which copy stayed', () => {
    const kept = oneAgent();
    expect(kept.take(first, again)).toEqual(['joined', 'conflict_kept']);
    const replaced = oneAgent();
    expect(replaced.take(again)).toEqual(['joined']);
    expect(replaced.take(first)).toEqual(['conflict_replaced']);
    expect(replaced.state('a').since).toBe(t0 + 10);
  });

  it('DED1 CNV1a once a copy is old its choice is final', () => {
    const world = oneAgent();
    world.take(again);
    world.now += limits.bindTtlMs;
    world.take(says('a', 'screen', 60, 'running'));
    expect(world.take(first)).toEqual(['conflict_kept']);
    world.take(between);
    expect(world.word('a')).toBe('running/turn_running');
  });

  it('DED1 copies that lost are forgotten together with the age of the one that counts', () => {
    const world = oneAgent();
    world.take(first);
    world.now += limits.bindTtlMs - 1;
    world.take(again);
    expect(world.world.entries.get('a' as never)?.recents.all).toHaveLength(3);
    world.now += 1;
    world.take(says('a', 'screen', 60, 'running'));
    expect(world.world.entries.get('a' as never)?.recents.all.map((one) => one.event.source)).toEqual(['screen']);
  });

  it('DED1 a corrected identity binds by what is right', () => {
    const world = new TestWorld();
    const wrong = identity('a', { process: { boot: 'boot', pid: 7, start: 'wrong' } });
    world.take(started(wrong, { event_time: t0 + 50 }), started(identity('a')));
    const hook = (process: unknown) => ({
      ...says('a', 'hook', 60, 'running'),
      evidence: { target: host, ancestry: [process] },
    });
    expect(world.take(hook(wrong.process))).toEqual(['runtime_not_known']);
    expect(world.take(hook(identity('a').process))).toEqual(['joined']);
    const moved = identity('a', { pane: '%other' as never });
    const panes = new TestWorld();
    panes.take(started(moved, { event_time: t0 + 50 }));
    panes.take(started(identity('a')));
    expect(panes.world.index.inPaneOf(moved)).toEqual([]);
  });
});
