// What every clock promises; run on the real one and on the simulated one.

import { describe, expect, it } from 'vitest';
import type { Clock } from '../clock.ts';

export interface ClockUnderTest {
  readonly clock: Clock;
  /** Lets at least this much time pass, and with it everything that falls due. */
  readonly pass: (elapsedMs: number) => Promise<void>;
}

export function clockContract(name: string, create: () => ClockUnderTest): void {
  describe(`clock contract: ${name}`, () => {
    it('monotonic time never goes back and follows what passes', async () => {
      const { clock, pass } = create();
      const before = clock.monotonicMs();
      await pass(20);
      expect(clock.monotonicMs() - before).toBeGreaterThanOrEqual(20);
    });

    it('wall time is a whole number of milliseconds since 1970', () => {
      const { clock } = create();
      expect(Number.isSafeInteger(clock.wallMs())).toBe(true);
      expect(clock.wallMs()).toBeGreaterThan(1_600_000_000_000);
    });

    it('calls back once, never early, and not before the caller has gone on', async () => {
      const { clock, pass } = create();
      const began = clock.monotonicMs();
      const calls: number[] = [];
      clock.after(10, () => calls.push(clock.monotonicMs() - began));
      expect(calls).toEqual([]);
      await pass(40);
      expect(calls.length).toBe(1);
      expect(calls[0]).toBeGreaterThanOrEqual(10);
    });

    it('a delay of nothing is still later than now', async () => {
      const { clock, pass } = create();
      const calls: string[] = [];
      clock.after(0, () => calls.push('later'));
      calls.push('now');
      await pass(5);
      expect(calls).toEqual(['now', 'later']);
    });

    it('fires in the order of the due times', async () => {
      const { clock, pass } = create();
      const calls: number[] = [];
      for (const delayMs of [30, 10, 20]) clock.after(delayMs, () => calls.push(delayMs));
      await pass(60);
      expect(calls).toEqual([10, 20, 30]);
    });

    it('a cancelled callback is never called, and cancelling twice or late does nothing', async () => {
      const { clock, pass } = create();
      const calls: string[] = [];
      const cancelFirst = clock.after(5, () => calls.push('cancelled'));
      const cancelSecond = clock.after(5, () => calls.push('kept'));
      cancelFirst();
      cancelFirst();
      await pass(20);
      cancelSecond();
      expect(calls).toEqual(['kept']);
    });

    it('a callback may cancel another one that is due with it', async () => {
      const { clock, pass } = create();
      const calls: string[] = [];
      const cancels: (() => void)[] = [];
      const ring = (name: string, other: number) => () => {
        calls.push(name);
        cancels[other]?.();
      };
      cancels.push(
        clock.after(5, ring('first', 1)),
        clock.after(5, () => calls.push('second')),
      );
      await pass(20);
      expect(calls).toEqual(['first']);
    });

    it('a delay beyond the range of system timers does not fire at once', async () => {
      const { clock, pass } = create();
      const calls: string[] = [];
      const cancel = clock.after(2 ** 31 + 5, () => calls.push('fired'));
      await pass(20);
      cancel();
      expect(calls).toEqual([]);
    });

    it('refuses a delay that is no time', () => {
      const { clock } = create();
      for (const delayMs of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(() => clock.after(delayMs, () => undefined)).toThrow('broken invariant');
      }
    });
  });
}
