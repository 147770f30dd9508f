import { describe, expect, it } from 'vitest';
import { limits } from '../../model/limits.ts';
import { createSimulatedClock } from '../../platform/simulated/clock.ts';
import { HealthWatch, type LinkHealth } from './health.ts';

describe('health', () => {
  it('RSV5 one miss is degraded, three are down, one answer is ok; only changes are told', async () => {
    const clock = createSimulatedClock();
    const told: LinkHealth[] = [];
    const health = new HealthWatch(clock, (one) => told.push(one));
    health.answer();
    health.answer();
    let answer = (_: string): void => undefined;
    const waiting = health.watch(
      new Promise<string>((resolve) => {
        answer = resolve;
      }),
    );
    clock.advance(limits.sweepAnswerMs - 1);
    expect(told.map((one) => one.health)).toEqual(['ok']);
    clock.advance(limits.sweepAnswerMs * 5);
    expect(told.map((one) => one.health)).toEqual(['ok', 'degraded', 'down']);
    answer('late');
    expect(await waiting).toBe('late');
    expect(clock.pending()).toBe(0);
    health.answer();
    expect(told.at(-1)).toEqual({ health: 'ok', trouble: null, code: null });
  });

  it('what will not get better by waiting is down at once', () => {
    const told: LinkHealth[] = [];
    const health = new HealthWatch(createSimulatedClock(), (one) => told.push(one));
    health.refuse('tmux 2.9 is too old', 'E_TMUX_OLD');
    expect(told).toEqual([{ health: 'down', trouble: 'tmux 2.9 is too old', code: 'E_TMUX_OLD' }]);
  });
});
