import { describe, expect, it } from 'vitest';
import { clockContract } from '../contract/clock.contract.ts';
import { createSimulatedClock } from './clock.ts';
import { createSimulatedRandom } from './random.ts';

clockContract('simulated', () => {
  const clock = createSimulatedClock();
  return { clock, pass: async (elapsedMs) => clock.advance(elapsedMs) };
});

describe('simulated clock', () => {
  it('stands still until it is moved', () => {
    const clock = createSimulatedClock({ wallMs: 1_000, monotonicMs: 5 });
    expect([clock.wallMs(), clock.monotonicMs()]).toEqual([1_000, 5]);
    clock.advance(7);
    expect([clock.wallMs(), clock.monotonicMs()]).toEqual([1_007, 12]);
  });

  it('jumps to each due callback: inside it the time is its due time', () => {
    const clock = createSimulatedClock();
    const seen: number[] = [];
    clock.after(3_600_000, () => seen.push(clock.monotonicMs()));
    clock.after(5, () => clock.after(10, () => seen.push(clock.monotonicMs())));
    expect(clock.nextDueMs()).toBe(5);
    clock.advance(7_200_000);
    expect(seen).toEqual([15, 3_600_000]);
    expect(clock.monotonicMs()).toBe(7_200_000);
  });

  it('equal due times fire in the order they were asked for', () => {
    const clock = createSimulatedClock();
    const seen: number[] = [];
    for (let index = 0; index < 200; index += 1) clock.after(10, () => seen.push(index));
    clock.advance(10);
    expect(seen).toEqual([...seen].sort((left, right) => left - right));
    expect(seen.length).toBe(200);
  });

  it('the wall can be set without anything falling due', () => {
    const clock = createSimulatedClock({ wallMs: 1_000_000 });
    const seen: string[] = [];
    clock.after(10, () => seen.push('due'));
    clock.jumpWall(-500);
    clock.suspend(86_400_000);
    expect(seen).toEqual([]);
    expect(clock.monotonicMs()).toBe(0);
    expect(clock.wallMs()).toBe(1_000_000 - 500 + 86_400_000);
  });

  it('a stall makes callbacks late, and time does not go back for them', () => {
    const clock = createSimulatedClock();
    const seen: number[] = [];
    clock.after(10, () => seen.push(clock.monotonicMs()));
    clock.stall(5_000);
    expect(seen).toEqual([]);
    clock.advance(0);
    expect(seen).toEqual([5_000]);
  });

  it('runNext goes to the next callback, however far away, and says when nothing waits', () => {
    const clock = createSimulatedClock();
    clock.after(86_400_000, () => undefined);
    expect(clock.runNext()).toBe(true);
    expect(clock.monotonicMs()).toBe(86_400_000);
    expect(clock.runNext()).toBe(false);
  });

  it('advanceSettled lets promises go on between callbacks', async () => {
    const clock = createSimulatedClock();
    const seen: string[] = [];
    const wait = (delayMs: number): Promise<void> => new Promise((resolve) => void clock.after(delayMs, resolve));
    const first = (async () => {
      for (const step of [1, 2, 3]) {
        await wait(10);
        seen.push(`first ${step} at ${clock.monotonicMs()}`);
      }
    })();
    clock.after(25, () => seen.push('between'));
    await clock.advanceSettled(100);
    await first;
    expect(seen).toEqual(['first 1 at 10', 'first 2 at 20', 'between', 'first 3 at 30']);
  });

  it('a cancelled callback is neither next nor run', () => {
    const clock = createSimulatedClock();
    const cancel = clock.after(5, () => undefined);
    clock.after(9, () => undefined);
    cancel();
    expect([clock.nextDueMs(), clock.pending()]).toEqual([9, 1]);
    expect(clock.runNext()).toBe(true);
    expect(clock.monotonicMs()).toBe(9);
    expect(clock.nextDueMs()).toBeNull();
  });

  it('cancelled deadlines do not pile up', () => {
    const clock = createSimulatedClock();
    for (let index = 0; index < 100_000; index += 1) clock.after(1_000_000, () => undefined)();
    expect(clock.pending()).toBe(0);
  });

  it('a loop that lets no time pass is a defect, not a hang', () => {
    const clock = createSimulatedClock();
    const again = (): void => void clock.after(0, again);
    again();
    expect(() => clock.advance(1)).toThrow('lets no time pass');
  });

  it('random timers and cancels fire exactly as a sorted list says', () => {
    const random = createSimulatedRandom('timers');
    const clock = createSimulatedClock();
    const fired: number[] = [];
    const expected: { id: number; dueMs: number }[] = [];
    for (let id = 0; id < 3_000; id += 1) {
      const dueMs = random.int(0, 500);
      const cancel = clock.after(dueMs, () => fired.push(id));
      if (random.chance(0.6)) cancel();
      else expected.push({ id, dueMs });
    }
    expect(clock.pending()).toBe(expected.length);
    clock.advance(500);
    expected.sort((left, right) => left.dueMs - right.dueMs || left.id - right.id);
    expect(fired).toEqual(expected.map((timer) => timer.id));
  });
});
