// The notice at a reset: once, at its time, and none for what changed or passed before.

import { describe, expect, it } from 'vitest';
import { paneRow } from '../../test/kit/rows.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { ResetNotices } from './reset-notices.ts';

function desk() {
  const clock = createSimulatedClock();
  const told: string[] = [];
  const now = (): number => clock.monotonicMs();
  const notices = new ResetNotices({ clock, now, announce: ({ title }) => told.push(title) });
  return { clock, told, notices };
}
const limited = (until: number) => ({
  ...paneRow({ state: 'error', agent: 'claude' }),
  reason_code: 'usage_limit' as const,
  cwd: '/home/me/web-shop',
  until,
});

describe('the notice at a reset', () => {
  it('LIM4 is told once, at its time, also days ahead', async () => {
    const { clock, told, notices } = desk();
    const until = 3 * 86_400_000;
    for (let look = 0; look < 3; look += 1) notices.look([limited(until)]);
    await clock.advanceSettled(until - 1);
    expect(told).toEqual([]);
    await clock.advanceSettled(2);
    notices.look([limited(until)]);
    await clock.advanceSettled(86_400_000);
    expect(told).toEqual(['claude in web-shop: usage limit has reset']);
  });

  it('LIM4 is not told of one that went on before, nor of one long past', async () => {
    const { clock, told, notices } = desk();
    notices.look([limited(10_000)]);
    notices.look([]);
    await clock.advanceSettled(20_000);
    notices.look([limited(10_000)]);
    await clock.advanceSettled(20_000);
    expect(told).toEqual([]);
  });
});
