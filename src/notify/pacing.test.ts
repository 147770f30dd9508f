// Sums of a flood, on a desktop that takes its time: no sum of what is over, and never two at once.

import { expect, it } from 'vitest';
import { sampleNotice } from '../../test/system/api/kit-notices.ts';
import { limits } from '../model/limits.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import type { NotificationChannel, NotifyResult } from './channel.ts';
import { Pacing } from './pacing.ts';

function flood() {
  const clock = createSimulatedClock();
  const said: string[] = [];
  const slow: (() => void)[] = [];
  const open = new Set<string>();
  let isSlow = false;
  const later = <T>(value: T): Promise<T> =>
    new Promise((resolve) => {
      if (isSlow) slow.push(() => resolve(value));
      else resolve(value);
    });
  const channel: NotificationChannel = {
    name: 'desktop',
    tell: ({ id }) => {
      said.push(`tell ${id}`);
      return later<NotifyResult>({ ok: true, handle: id });
    },
    withdraw: (id) => {
      said.push(`withdraw ${id}`);
      return later(undefined);
    },
    close: () => undefined,
  };
  const pacing = new Pacing(clock, channel, (id) => (open.has(id) ? sampleNotice : null));
  const come = async (...ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      open.add(id);
      void pacing.tell({ id, title: 't', body: 'b', plain: 'p', isUrgent: true, notice: sampleNotice });
    }
    await clock.advanceSettled(limits.noticesSumMs);
  };
  const answer = (id: string): boolean => open.delete(id) && pacing.settled(id);
  const slowDown = (): void => {
    isSlow = true;
  };
  return { clock, said, slow, come, answer, slowDown };
}

const burst = Array.from({ length: limits.noticesBurstMax }, (_, number) => `n${number}`);

it('NOT3 NOT6 what was answered while an older sum was taken back is in no new one', async () => {
  const { clock, said, slow, come, answer, slowDown } = flood();
  await come(...burst, 'a');
  expect(said.at(-1)).toBe('tell sum-desktop-1');
  slowDown();
  await come('b');
  await clock.advanceSettled(limits.noticesBurstMs);
  expect(said.at(-1)).toBe('withdraw sum-desktop-1');
  answer('a');
  answer('b');
  slow.shift()?.();
  await clock.advanceSettled(limits.noticesBurstMs);
  expect(said.at(-1)).toBe('withdraw sum-desktop-1');
});

it('NOT6 a sum that is slow to show is followed by the next one, which takes it back', async () => {
  const { clock, said, slow, come, slowDown } = flood();
  await come(...burst);
  slowDown();
  await come('a');
  await come('b');
  expect(said.filter((one) => one.includes('sum'))).toEqual(['tell sum-desktop-1']);
  slow.shift()?.();
  await clock.advanceSettled(limits.noticesBurstMs);
  expect(said.filter((one) => one.includes('sum'))).toEqual(['tell sum-desktop-1', 'withdraw sum-desktop-1']);
  slow.shift()?.();
  await clock.advanceSettled(1);
  expect(said.at(-1)).toBe('tell sum-desktop-2');
});
