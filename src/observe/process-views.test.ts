// When agents are asked about one by one, and when one word of the machine is enough; what is seen where nothing can be opened.

import { expect, it } from 'vitest';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { createEndCheck, viewOfProc } from './process-views.ts';

const identities = [1, 2, 3].map((pid) => ({ boot: 'b', pid, start: '5' }));

function world() {
  const clock = createSimulatedClock();
  const gone = new Set<number>();
  const asked: number[] = [];
  const proc = {
    words: '200 900' as string | null,
    turnover: () => proc.words,
    seemsAlive: ({ pid }: { readonly pid: number }) => {
      asked.push(pid);
      return !gone.has(pid);
    },
  };
  return { clock, gone, asked, proc, anyGone: createEndCheck(proc, clock) };
}

it('RSV8 nobody is asked about while the machine says that nobody began or ended, and everybody once a second', () => {
  const { clock, asked, proc, anyGone } = world();
  for (let tick = 0; tick < 10; tick += 1) {
    expect(anyGone(identities)).toBe(false);
    clock.advance(100);
  }
  expect(asked).toEqual([1, 2, 3]);
  anyGone(identities);
  expect(asked).toHaveLength(6);
  proc.words = '201 901';
  anyGone(identities);
  expect(asked).toHaveLength(9);
});

it('RSV8 who is gone is told at once, and again until nobody follows it any more', () => {
  const { clock, gone, proc, anyGone } = world();
  anyGone(identities);
  gone.add(2);
  proc.words = '199 900';
  expect(anyGone(identities)).toBe(true);
  clock.advance(100);
  expect(anyGone(identities)).toBe(true);
  expect(anyGone(identities.filter(({ pid }) => pid !== 2))).toBe(false);
});

it('RSV8 an agent that is followed since then is asked about, whatever the words', () => {
  const { asked, anyGone } = world();
  anyGone(identities.slice(0, 2));
  anyGone(identities);
  expect(asked).toEqual([1, 2, 1, 2, 3]);
});

it('RSV8 words that hid an end, or are none, are not relied on', () => {
  const hidden = world();
  hidden.anyGone(identities);
  hidden.gone.add(1);
  expect(hidden.anyGone(identities)).toBe(false);
  hidden.clock.advance(1_000);
  expect(hidden.anyGone(identities)).toBe(true);
  const rest = identities.slice(1);
  hidden.anyGone(rest);
  hidden.gone.add(3);
  expect(hidden.anyGone(rest)).toBe(true);
  const silent = world();
  silent.proc.words = null;
  silent.anyGone(identities);
  silent.anyGone(identities);
  expect(silent.asked).toHaveLength(6);
});

it('RSV8 who cannot be looked at for want of a descriptor is not seen, and not taken for gone', async () => {
  const short = (): never => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  };
  const { clock, proc } = world();
  const view = viewOfProc({ ...proc, read: short, glance: short }, clock);
  expect(await view.read([1])).toBeNull();
  expect(view.glance?.(1)).toBeNull();
});
