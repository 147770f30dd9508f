import { describe, expect, it } from 'vitest';
import { asks, event, host, identity, oneAgent, says, started, TestWorld, t0 } from '../../test/kit/engine.ts';
import { agentName, type ProcessIdentity, runtimeId, targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';

const shell: ProcessIdentity = { boot: 'boot', pid: 900, start: 'shell' };
const inner: ProcessIdentity = { boot: 'boot', pid: 100, start: 'inner' };
const from = (...ancestry: (ProcessIdentity | null)[]) => ({ evidence: { target: host, ancestry } });
const hook = (at: number, state: string, parts: object) => ({ ...says('-', 'hook', at, state), ...parts });
const session = (runtime: string, id: string, parts: object = {}) => ({
  ...event(runtime, 'native', 1, 'runtime.session', { agent_session: id }),
  ...parts,
});

describe('binding by evidence', () => {
  it('BND1 the nearest process that is an agent owns the event', () => {
    const world = oneAgent();
    expect(world.take(hook(10, 'running', from(shell, identity('a').process)))).toEqual(['joined']);
    expect(world.word('a')).toBe('running/turn_running');
  });

  it('IDN3 the same pid with another start is another process', () => {
    const world = oneAgent();
    expect(
      world.take(hook(10, 'running', from({ ...(identity('a').process as ProcessIdentity), start: 'later' }))),
    ).toEqual(['runtime_not_known']);
    expect(world.word('a')).toBe('unknown/not_observed_yet');
  });

  it('BND1 BND1a never the runtime that happens to be in the pane: without evidence an event is refused', () => {
    const world = oneAgent();
    const { evidence: _, ...rest } = says('a', 'hook', 10, 'running');
    expect(world.take({ ...rest, evidence: { target: host, pane: '%a' } })).toEqual(['missing_evidence']);
    expect(world.take(session('a', 's', { evidence: { target: host, ancestry: [shell] } }))).toEqual([
      'missing_evidence',
    ]);
  });

  it('SEC5 a target speaks only for itself', () => {
    const world = oneAgent();
    const elsewhere = { evidence: { target: 'vm1', runtime_id: 'a' } };
    expect(world.take({ ...says('a', 'hook', 10, 'running'), ...elsewhere })).toEqual(['runtime_not_known']);
    // Not even with an earlier stamp: the runtime is another target's.
    const stolen = identity('a', { target: targetId('vm1'), started_at: 1 });
    expect(world.take(started(stolen))).toEqual(['other_target']);
    const claimed = { ...started(identity('x')), evidence: { target: 'vm1' } };
    expect(world.take(claimed)).toEqual(['bad_payload']);
    const process = { evidence: { target: 'vm1', ancestry: [identity('a').process] } };
    expect(world.take(hook(10, 'running', process))).toEqual(['runtime_not_known']);
  });

  it('BND1 an agent session that is bound already is evidence, its latest runtime by then when it was resumed', () => {
    const world = oneAgent();
    world.take(session('a', 's'), session('a', 's', { event_time: t0 + 2 }));
    const told = (at: number) => hook(at, 'running', { evidence: { target: host, agent_session: 's' } });
    expect(world.take(told(10))).toEqual(['joined']);
    world.take(started(identity('b', { started_at: t0 + 100 })), session('b', 's'));
    expect(world.take(told(50), told(150), told(-500))).toEqual(['joined', 'joined', 'older_than_cursor']);
    expect(world.log.slice(-3).map((one) => one.runtime_id)).toEqual(['a', 'b', 'a']);
    expect(world.take(hook(5, 'idle', { evidence: { target: host, agent_session: 'other' } }))).toEqual([
      'runtime_not_known',
    ]);
  });

  it('BND1 a runtime whose process is not known is bound by its name', () => {
    const world = new TestWorld();
    world.take(
      started(identity('m', { process: null, pane: null, server: null })),
      says('m', 'stream', 1, 'running', {}, { source_seq: 1 }),
    );
    expect(world.word('m')).toBe('running/turn_running');
  });

  it('BND1 a named runtime is never replaced by a guess', () => {
    const world = oneAgent();
    const both = { evidence: { target: host, runtime_id: 'gone', ancestry: [identity('a').process] } };
    expect(world.take(hook(10, 'running', both))).toEqual(['runtime_not_known']);
  });

  it('IDN6 a nested agent of another kind never speaks for its host', () => {
    const world = oneAgent();
    const told = { evidence: { target: host, ancestry: [inner, identity('a').process], agent: 'codex' } };
    expect(world.take(hook(10, 'running', told))).toEqual(['runtime_not_known']);
    world.take(started(identity('n', { process: inner, agent: agentName('codex'), parent: 'a' as never })));
    expect([world.word('a'), world.word('n')]).toEqual(['unknown/not_observed_yet', 'running/turn_running']);
  });

  it('IDN6 a nested agent of the same kind that is found later gets its events back, from this batch and from before', () => {
    const nested = started(identity('n', { process: inner, parent: 'a' as never }));
    const told = hook(10, 'error', from(inner, identity('a').process));
    for (const batches of [[[told], [nested]], [[told, nested]]]) {
      const world = oneAgent();
      for (const batch of batches) world.take(...batch);
      expect([world.word('a'), world.word('n')]).toEqual(['unknown/not_observed_yet', 'error/api_error']);
      expect(world.log.find((one) => one.event.fact.kind === 'state.observed')?.runtime_id).toBe('n');
    }
  });

  it('IDN6 when the copy that counted moves on, the other copy counts in its place', () => {
    const world = oneAgent();
    const keyed = { dedupe_key: 'k' };
    world.take(says('a', 'hook', 20, 'running', {}, keyed));
    world.take(hook(10, 'error', { ...from(inner, identity('a').process), ...keyed }));
    expect(world.word('a')).toBe('error/api_error');
    world.take(started(identity('n', { process: inner, parent: 'a' as never })));
    expect([world.word('a'), world.word('n')]).toEqual(['running/turn_running', 'error/api_error']);
    expect(world.rebindings).toContainEqual({ event_id: 1, runtime_id: 'a', verdict: 'joined' });
  });
});

describe('copies and moves in one batch', () => {
  it('DED1 a copy is judged by where the other one is now, not by where the log still has it', () => {
    const world = oneAgent();
    const keyed = { dedupe_key: 'k' };
    world.take(hook(10, 'error', { ...from(inner, identity('a').process), ...keyed }));
    const nested = started(identity('n', { process: inner, parent: 'a' as never }));
    expect(world.take(nested, says('a', 'hook', 20, 'running', {}, keyed))).toEqual(['joined', 'joined']);
    expect([world.word('a'), world.word('n')]).toEqual(['running/turn_running', 'error/api_error']);
  });

  it('IDN5 a start that the log knows and the world has forgotten brings nothing back', () => {
    const world = oneAgent();
    world.world.forget(identity('a').runtime_id);
    expect(world.take(started(identity('a')))).toEqual(['same_event']);
    expect(world.world.entries.size).toBe(0);
  });
});

describe('events that wait for their runtime', () => {
  it('BND1 are bound when it becomes known, in this batch or in a later one', () => {
    const world = new TestWorld();
    const early = hook(10, 'running', from(identity('a').process));
    expect(world.take(early)).toEqual(['runtime_not_known']);
    world.take(started(identity('a')));
    expect(world.word('a')).toBe('running/turn_running');
    expect(world.rebindings).toEqual([{ event_id: 0, runtime_id: 'a', verdict: 'joined' }]);
    const together = new TestWorld();
    expect(together.take(early, started(identity('a')))).toEqual(['runtime_not_known', 'joined']);
    expect(together.log[0]).toMatchObject({ runtime_id: 'a', verdict: 'joined' });
    expect(together.rebindings).toEqual([]);
    expect(Object.fromEntries(together.tally)).toEqual({ pending: 0, applied: 2 });
  });

  it('BND1 one bound event can bring in the session that the next ones wait for', () => {
    const world = new TestWorld();
    const bySession = hook(10, 'running', { evidence: { target: host, agent_session: 's' } });
    const elsewhere = hook(10, 'idle', { evidence: { target: targetId('vm1'), agent_session: 's' } });
    world.take(bySession, elsewhere, session('a', 's'));
    world.take(started(identity('a')));
    expect(world.word('a')).toBe('running/turn_running');
    expect(world.world.pending.size).toBe(1);
  });

  it('BND1 are given up after their time, and say so', () => {
    const world = new TestWorld();
    world.take(hook(10, 'running', from(shell)), hook(11, 'running', from(shell)));
    world.now += limits.bindTtlMs - 1;
    world.take();
    expect(world.world.pending.size).toBe(2);
    world.now += 1;
    world.take();
    expect(world.world.pending.size).toBe(0);
    expect(world.rebindings).toContainEqual({ event_id: 0, runtime_id: null, verdict: 'bind_expired' });
    expect(Object.fromEntries(world.tally)).toEqual({ pending: 0, unbound: 2 });
  });

  it('BND1 are bounded: over the limit the oldest gives way, from before or from the same batch, and is counted', () => {
    const world = new TestWorld();
    const stray = (count: number) => hook(count, 'running', from(shell));
    const many = Array.from({ length: limits.pendingEventsMax }, (_, count) => stray(count));
    world.take(...many);
    world.take(stray(-5));
    expect(world.world.pending.size).toBe(limits.pendingEventsMax);
    expect(world.rebindings).toEqual([{ event_id: 0, runtime_id: null, verdict: 'pending_full' }]);
    const fresh = new TestWorld();
    fresh.take(...many, stray(-5));
    expect(fresh.log[0]).toMatchObject({ runtime_id: null, verdict: 'pending_full' });
    expect(Object.fromEntries(fresh.tally)).toEqual({ pending: limits.pendingEventsMax, unbound: 1 });
  });

  it('BND1 a copy that waited and turns out to be known is dropped with that verdict', () => {
    const world = new TestWorld();
    const named = says('a', 'hook', 10, 'running', {}, { dedupe_key: 'k' });
    world.take(named, { ...named });
    world.take(started(identity('a')));
    const copy = { ...named, event_time: t0 + 10 };
    expect(world.take(copy)).toEqual(['same_event']);
    const twice = new TestWorld();
    twice.take(asks('a', 'hook', 1, 'x'), started(identity('a')));
    expect(twice.state('a').asks_open).toBe(1);
  });
});

describe('memory', () => {
  it('IDN5 a runtime whose history was pruned binds nothing any more', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 10, 'running'), event('a', 'screen', 11, 'state.repeated'));
    world.world.forget(identity('a').runtime_id);
    expect(world.take(says('a', 'hook', 20, 'running'))).toEqual(['runtime_not_known']);
    expect(world.take(hook(20, 'idle', from(identity('a').process)))).toEqual(['runtime_not_known']);
    // Only the strays that wait are left to wake up for.
    expect(world.world.nextDue()).toBe(world.now + limits.bindTtlMs);
    const shared = oneAgent();
    shared.take(started(identity('b', { process: identity('a').process })));
    shared.world.forget(identity('b').runtime_id);
    expect(shared.take(hook(20, 'idle', from(identity('a').process)))).toEqual(['joined']);
  });

  it('BND1 the last events of agents that have ended are not kept for good', () => {
    const world = new TestWorld();
    const young = (): number =>
      [...world.world.entries.values()].reduce((sum, { recents }) => sum + recents.all.length, 0);
    let most = 0;
    for (let life = 0; life < 300; life += 1) {
      const one = identity(`life${life}`, { process: { boot: 'boot', pid: 1_000 + life, start: `${life}` } });
      world.take(started(one, { event_time: world.now }));
      for (let turn = 0; turn < 5; turn += 1) {
        world.take({ ...says(one.runtime_id, 'hook', 0, turn % 2 === 0 ? 'running' : 'idle'), event_time: world.now });
        world.now += 1_000;
      }
      world.take({ ...event(one.runtime_id, 'process', 0, 'runtime.ended', { cause: 'exit' }), event_time: world.now });
      most = Math.max(most, young());
    }
    // Half a minute holds the events of six lives or seven.
    expect(most).toBeLessThan(60);
    expect(world.world.entries.size).toBe(300);
  });

  it('BND1 nor where no other agent begins after them', () => {
    const world = oneAgent();
    world.take(...[10, 20, 30].map((at) => says('a', 'hook', at, 'running')));
    world.take(started(identity('b')));
    const youngOf = (name: string) => world.world.entries.get(runtimeId(name))?.recents.all.length;
    world.now += limits.bindTtlMs;
    const before = world.word('a');
    world.take(says('b', 'hook', 40, 'running'));
    expect([youngOf('a'), youngOf('b'), world.word('a')]).toEqual([0, 1, before]);
    const entry = world.world.entries.get(runtimeId('a'));
    // What is known of it is held once.
    expect(entry?.base).toBe(entry?.fold);
    expect(world.take(says('a', 'hook', 5, 'idle'))).toEqual(['older_than_cursor']);
    expect(world.word('a')).toBe(before);
  });

  it('BND1 only the newest events can still be moved or replaced', () => {
    const world = oneAgent();
    for (let count = 0; count < limits.recentEventsMax + limits.recentEventsSlack; count++)
      world.take(says('a', 'hook', count, 'running'));
    expect(world.world.entries.get('a' as never)?.recents.all).toHaveLength(limits.recentEventsMax);
    expect(world.word('a')).toBe('running/turn_running');
  });
});
