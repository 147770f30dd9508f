import { describe, expect, it } from 'vitest';
import { asks, event, oneAgent, says, settles } from '../../test/kit/engine.ts';
import { limits } from '../model/limits.ts';

describe('asks are sets', () => {
  it('ASK1 open is asked minus settled, in whatever order they come', () => {
    const orders = [
      [asks('a', 'hook', 10, 'x'), settles('a', 'hook', 12, 'x')],
      [settles('a', 'hook', 12, 'x'), asks('a', 'hook', 10, 'x')],
    ];
    for (const order of orders) {
      const world = oneAgent();
      world.take(...order);
      expect(world.state('a')).toMatchObject({ ask: null, asks_open: 0, state: 'unknown' });
    }
  });

  it('ASK1 an ask is seen although a later event of the same source came first', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 20, 'running'));
    expect(world.take(asks('a', 'hook', 10, 'x'))).toEqual(['joined']);
    expect(world.word('a')).toBe('waiting_approval/approval_asked');
  });

  it('ASK2 kind, text and options are carried to the published state; a question waits for input, trust for trust', () => {
    const world = oneAgent();
    world.take(
      asks('a', 'hook', 10, 'x', {
        kind: 'question',
        text: 'Which database?',
        options: [{ id: '1', label: 'PostgreSQL' }],
      }),
    );
    expect(world.state('a')).toMatchObject({
      state: 'waiting_input',
      reason: 'question_asked',
      detail: 'Which database?',
      ask: {
        ask_id: 'x',
        kind: 'question',
        scope: 'main',
        text: 'Which database?',
        options: [{ id: '1', label: 'PostgreSQL' }],
      },
    });
    world.take(asks('a', 'hook', 11, 'y', { kind: 'trust' }));
    expect(world.word('a')).toBe('waiting_approval/trust_asked');
  });

  it('ASK1 of several open asks the first one asked is shown, and the same id told twice is one ask', () => {
    const world = oneAgent();
    world.take(asks('a', 'hook', 20, 'late'), asks('a', 'hook', 10, 'early'), asks('a', 'hook', 10, 'also'));
    expect(world.state('a')).toMatchObject({ ask: { ask_id: 'also' }, asks_open: 3 });
    world.take(asks('a', 'screen', 5, 'early', { text: 'as the screen has it' }));
    world.take(asks('a', 'notify', 30, 'early', { text: 'stamped later' }));
    expect(world.state('a').asks_open).toBe(3);
    world.take(settles('a', 'hook', 30, 'also'));
    expect(world.state('a').ask).toMatchObject({ ask_id: 'early', text: 'rm -rf build' });
    world.take(asks('a', 'native', 9, 'early', { text: 'stamped earlier' }));
    expect(world.state('a').ask).toMatchObject({ text: 'stamped earlier' });
  });

  it('ASK1 a voice that knows what is asked is shown before one that only knows that something is', () => {
    const world = oneAgent();
    world.take(asks('a', 'hook', 10, 'x'), says('a', 'native', 20, 'waiting_approval'));
    expect(world.state('a').ask).toMatchObject({ ask_id: 'x' });
    const other = oneAgent();
    other.take(says('a', 'native', 20, 'waiting_approval'), asks('a', 'screen', 10, 'x'));
    expect(other.state('a').ask).toMatchObject({ ask_id: 'x' });
  });
});

describe('what settles an ask', () => {
  it('ASK4 the end of the turn of the same scope does, the main turn leaves a subagent alone', () => {
    const world = oneAgent();
    world.take(asks('a', 'hook', 10, 'main'), asks('a', 'hook', 11, 'sub', { scope: 'sub1' }));
    world.take(event('a', 'hook', 20, 'turn.ended'), event('a', 'hook', 15, 'turn.ended'));
    expect(world.state('a')).toMatchObject({ ask: { ask_id: 'sub' }, asks_open: 1 });
    world.take(event('a', 'hook', 11, 'turn.ended', { scope: 'sub1' }));
    expect(world.state('a').asks_open).toBe(0);
    // The next turn asks again.
    world.take(asks('a', 'hook', 21, 'next'));
    expect(world.state('a').ask).toMatchObject({ ask_id: 'next' });
  });

  it('ASK4 a scope may be called like something every object has', () => {
    const world = oneAgent();
    world.take(
      asks('a', 'hook', 10, 'x', { scope: 'constructor' }),
      asks('a', 'hook', 10, 'y', { scope: '__proto__' }),
    );
    expect(world.state('a').asks_open).toBe(2);
    world.take(event('a', 'hook', 12, 'turn.ended', { scope: '__proto__' }));
    expect(world.state('a')).toMatchObject({ asks_open: 1, ask: { ask_id: 'x' } });
  });

  it('ASK4 a level source that later shows no dialog does, if it is as good a witness', () => {
    const world = oneAgent();
    world.take(asks('a', 'hook', 10, 'x'), says('a', 'screen', 20, 'running', { dialog: false }));
    expect(world.state('a').ask).toMatchObject({ ask_id: 'x' });
    world.take(says('a', 'native', 10, 'running', { dialog: false }));
    expect(world.state('a').ask).toMatchObject({ ask_id: 'x' });
    world.take(says('a', 'native', 21, 'running', { dialog: false }));
    expect(world.word('a')).toBe('running/turn_running');
    const screen = oneAgent();
    screen.take(asks('a', 'screen', 10, 'x'), says('a', 'screen', 20, 'idle', { dialog: false }));
    expect(screen.word('a')).toBe('idle/prompt_ready');
  });

  it('ASK4 a running word of another hook does not: a second subagent may be working', () => {
    const world = oneAgent();
    world.take(asks('a', 'hook', 10, 'x'), says('a', 'hook', 20, 'running'));
    expect(world.word('a')).toBe('waiting_approval/approval_asked');
  });
});

describe('memory of asks', () => {
  const foldOf = (world: ReturnType<typeof oneAgent>) => world.world.entries.get('a' as never)?.fold;

  it('ASK1 CNV1a is bounded, and what is open stays open however much is settled around it', () => {
    const world = oneAgent();
    world.take(asks('a', 'hook', 0, 'forgotten', { scope: 'sub1' }));
    for (let count = 1; count < 1_300; count++)
      world.take(asks('a', 'hook', count, `n${count}`), settles('a', 'hook', count, `n${count}`));
    expect(world.state('a')).toMatchObject({ ask: { ask_id: 'forgotten' }, asks_open: 1 });
    expect(foldOf(world)?.asked.size).toBe(1);
    expect(foldOf(world)?.settled.size).toBeLessThanOrEqual(limits.settledAsksMax);
    // Told again by another witness, a settled one stays settled.
    world.take(asks('a', 'notify', 5_000, 'n1299'));
    expect(world.state('a').asks_open).toBe(1);
    world.take(settles('a', 'hook', 6_000, 'forgotten'));
    expect(world.state('a')).toMatchObject({ ask: null, asks_open: 0 });
  });

  it('ASK1 asks that a turn end closed give way first, and stay closed', () => {
    const world = oneAgent();
    for (let count = 0; count < limits.asksPerRuntimeMax; count++) world.take(asks('a', 'hook', count, `n${count}`));
    world.take(event('a', 'hook', 5_000, 'turn.ended'), asks('a', 'hook', 6_000, 'open'));
    expect(foldOf(world)?.asked.size).toBe(limits.asksPerRuntimeMax / 2);
    expect(world.state('a')).toMatchObject({ ask: { ask_id: 'open' }, asks_open: 1 });
    world.take(asks('a', 'notify', 7_000, 'n0'));
    expect(world.state('a').asks_open).toBe(1);
  });

  it('ASK1 a sender that never ends a dialog, countless subagents and sessions: each has its bound', () => {
    const world = oneAgent();
    for (let count = 0; count < limits.asksPerRuntimeMax; count++) world.take(asks('a', 'hook', count, `n${count}`));
    expect(world.state('a')).toMatchObject({ asks_open: limits.asksPerRuntimeMax, ask: { ask_id: 'n0' } });
    world.take(asks('a', 'hook', 9_000, 'one more'));
    expect(world.state('a').asks_open).toBe(limits.asksPerRuntimeMax / 2);
    for (let count = 0; count < limits.scopesPerRuntimeMax + 5; count++)
      world.take(event('a', 'hook', count, 'turn.ended', { scope: `s${count}` }));
    expect(Object.keys(foldOf(world)?.turnEnds ?? {})).toHaveLength(limits.scopesPerRuntimeMax);
    for (let count = 0; count < limits.sessionsPerRuntimeMax + 5; count++) {
      world.take(event('a', 'native', count, 'runtime.session', { agent_session: `s${count}` }));
    }
    expect(foldOf(world)?.sessions.size).toBe(limits.sessionsPerRuntimeMax);
  });
});
