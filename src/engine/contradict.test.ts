import { describe, expect, it } from 'vitest';
import { asks, event, oneAgent, says, type TestWorld, t0 } from '../../test/kit/engine.ts';
import type { StateFact } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import { contradicts, type Doubt, followClaim, newTrail, reconcile } from './contradict.ts';

/** Shows a screen every 100 ms and logs what the reconciler says, the way the daemon does. */
function watchScreen(world: TestWorld, from: number, fact: Partial<StateFact>, looks: number): number | null {
  let doubt: Doubt | null = null;
  for (let look = 0; look < looks; look++) {
    const at = from + look * 100;
    const full = { kind: 'state.observed', confidence: 'high', ...fact } as StateFact;
    const entry = world.world.entries.get('a' as never);
    if (entry === undefined) throw new Error('no agent');
    const step = reconcile(doubt, world.world.resolved(entry.identity, entry.fold), { time: t0 + at, fact: full });
    doubt = step.doubt;
    if (step.correction === null) continue;
    world.take(event('a', 'reconciler', at, 'state.observed', { ...step.correction }));
    return at;
  }
  return null;
}

describe('the three drifts', () => {
  it('RSV3 interrupted by Esc: no hook fires, the screen shows its prompt, running heals to idle', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 0, 'running'));
    const healed = watchScreen(world, 1_000, { state: 'idle', reason: 'interrupted' }, 20);
    expect(healed).toBe(1_000 + limits.secondLookMs);
    expect(world.word('a')).toBe('idle/interrupted');
    expect(world.state('a')).toMatchObject({ decided_by: 'reconciler', confidence: 'medium' });
  });

  it.each(['granted', 'refused'])('RSV3 approval %s by hand: no hook fires, the open ask heals away', (how) => {
    const world = oneAgent();
    world.take(says('a', 'hook', 0, 'running'), asks('a', 'hook', 10, 'x'));
    expect(world.word('a')).toBe('waiting_approval/approval_asked');
    const shown =
      how === 'granted'
        ? ({ state: 'running', reason: 'tool_running' } as const)
        : ({ state: 'idle', reason: 'refused_by_person' } as const);
    expect(watchScreen(world, 1_000, shown, 20)).toBe(1_000 + limits.secondLookMs);
    expect(world.word('a')).toBe(`${shown.state}/${shown.reason}`);
    expect(world.state('a').asks_open).toBe(0);
  });

  it('RSV3 a prompt is visible while hooks say running: a dialog shows at once, a ready prompt after a second look', () => {
    const dialog = oneAgent();
    dialog.take(says('a', 'hook', 0, 'running'), asks('a', 'screen', 500, 'on-screen'));
    expect(dialog.word('a')).toBe('waiting_approval/approval_asked');
    const ready = oneAgent();
    ready.take(says('a', 'hook', 0, 'running'), says('a', 'screen', 500, 'idle'));
    expect(ready.word('a')).toBe('running/turn_running');
    watchScreen(ready, 500, { state: 'idle', reason: 'prompt_ready' }, 20);
    expect(ready.word('a')).toBe('idle/prompt_ready');
  });

  it('RSV3 a later hook wins over the correction again', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 0, 'running'));
    watchScreen(world, 1_000, { state: 'idle', reason: 'interrupted' }, 20);
    world.take(says('a', 'hook', 2_000, 'running'));
    expect(world.word('a')).toBe('running/turn_running');
  });

  it('RSV3 a dialog that the hooks deny is corrected with the dialog open', () => {
    const world = oneAgent();
    world.take(says('a', 'screen', 0, 'waiting_approval'), says('a', 'hook', 10, 'running'));
    expect(world.word('a')).toBe('running/turn_running');
    watchScreen(world, 1_000, { state: 'waiting_approval', reason: 'dialog_open', confidence: 'medium' }, 20);
    expect(world.word('a')).toBe('waiting_approval/dialog_open');
    watchScreen(world, 2_000, { state: 'waiting_input', reason: 'dialog_open', confidence: 'low' }, 20);
    expect(world.state('a')).toMatchObject({ state: 'waiting_input', confidence: 'low' });
  });
});

describe('what is no contradiction', () => {
  it('RSV2 RSV2d settled on the screen and completed by hook agree; an unclassified screen says nothing', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 0, 'completed'));
    expect(watchScreen(world, 1_000, { state: 'idle', reason: 'prompt_ready' }, 20)).toBeNull();
    expect(watchScreen(world, 1_000, { state: 'unknown', reason: 'unsupported_signal' }, 20)).toBeNull();
    expect(world.word('a')).toBe('completed/turn_completed');
  });

  it('RSV2 RSV2c one look is not enough, and a screen that changes its mind starts again', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 0, 'running'));
    const entry = world.world.entries.get('a' as never);
    if (entry === undefined) throw new Error('no agent');
    const resolved = world.world.resolved(entry.identity, entry.fold);
    const fact = (state: 'idle' | 'error'): StateFact => ({
      kind: 'state.observed',
      state,
      reason: state === 'idle' ? 'prompt_ready' : 'api_error',
      confidence: 'high',
    });
    const first = reconcile(null, resolved, { time: 0, fact: fact('idle') });
    expect(first.correction).toBeNull();
    expect(reconcile(first.doubt, resolved, { time: 100, fact: fact('idle') })).toEqual(first);
    const other = reconcile(first.doubt, resolved, { time: 300, fact: fact('error') });
    expect(other).toMatchObject({ doubt: { since: 300, shown: 'error' }, correction: null });
    const against = { ...resolved, state: 'waiting_input' as const };
    expect(reconcile(first.doubt, against, { time: 300, fact: fact('idle') }).correction).toBeNull();
  });

  it('RSV8 an agent that has ended is contradicted by nobody', () => {
    const world = oneAgent();
    world.take(event('a', 'process', 5, 'runtime.ended', { cause: 'exit', status: 0 }));
    const entry = world.world.entries.get('a' as never);
    if (entry === undefined) throw new Error('no agent');
    const fact: StateFact = { kind: 'state.observed', state: 'running', reason: 'turn_running', confidence: 'high' };
    expect(contradicts(world.world.resolved(entry.identity, entry.fold), { time: 9, fact })).toBe(false);
  });
});

describe('an error and the prompt below it', () => {
  it('RSV7 a prompt that is ready does not end an error; work does', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 0, 'running'), says('a', 'hook', 10, 'error', { reason: 'api_error' }));
    world.take(says('a', 'native', 300, 'idle', { reason: 'prompt_ready' }));
    expect(world.word('a')).toBe('error/api_error');
    expect(watchScreen(world, 1_000, { state: 'idle', reason: 'prompt_ready' }, 20)).toBeNull();
    world.take(says('a', 'native', 5_000, 'running'));
    expect(world.word('a')).toBe('running/turn_running');
    world.take(says('a', 'native', 6_000, 'idle', { reason: 'prompt_ready' }));
    expect(world.word('a')).toBe('idle/prompt_ready');
  });
});

describe('how far a screen has drawn', () => {
  it('RSV2 what the screen itself told is drawn, also before any picture of it was looked at', () => {
    const claim = { state: 'running', since: 5, decided_by: 'hook', workedAt: 5, turnEndedAt: 0 } as const;
    const begun = followClaim(newTrail, claim, 10);
    expect(begun.drawn).toBe(-1);
    const told = followClaim(begun, { ...claim, state: 'idle', since: 20, decided_by: 'screen' }, 30);
    expect([told.drawn, told.recent.size]).toEqual([told.claims.length - 1, 0]);
  });
});
