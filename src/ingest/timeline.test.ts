import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { createSimulatedRandom } from '../platform/simulated/random.ts';
import { Arrivals, createTimeline, type KeptClocks, readKeptClocks, writeKeptClocks } from './timeline.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const wallMs = 1_700_000_000_000;
const jumpsMs = [hourMs, -hourMs, dayMs, -dayMs];

function world(lastLoggedMs: number | null = null) {
  const clock = createSimulatedClock({ wallMs, monotonicMs: 123.75 });
  const timeline = createTimeline(clock, lastLoggedMs);
  /** What the timeline must say, told without it. */
  const truth = (): number => Math.max(wallMs, (lastLoggedMs ?? 0) + 1) + Math.floor(clock.monotonicMs() - 123.75);
  return { clock, timeline, truth };
}

describe('timeline: the time of the daemon', () => {
  it.each(jumpsMs)('RSV7 goes on evenly when the wall clock jumps by %d ms', (jumpMs) => {
    const { clock, timeline, truth } = world();
    expect(timeline.now()).toBe(wallMs);
    clock.advance(1_000);
    clock.jumpWall(jumpMs);
    expect(timeline.now()).toBe(wallMs + 1_000);
    clock.advance(limits.completedMs);
    expect(timeline.now()).toBe(wallMs + 1_000 + limits.completedMs);
    expect(timeline.now()).toBe(truth());
  });

  it('RSV7 sleep of the machine does not age anything', () => {
    const { clock, timeline } = world();
    clock.suspend(8 * hourMs);
    expect(timeline.now()).toBe(wallMs);
    clock.advance(5);
    expect(timeline.now()).toBe(wallMs + 5);
  });

  it('RSV7 a restart never goes behind what was logged, wherever the wall clock is', () => {
    expect(createTimeline(createSimulatedClock({ wallMs }), wallMs + dayMs).now()).toBe(wallMs + dayMs + 1);
    expect(createTimeline(createSimulatedClock({ wallMs }), wallMs - dayMs).now()).toBe(wallMs);
    expect(createTimeline(createSimulatedClock({ wallMs }), wallMs).now()).toBe(wallMs + 1);
  });

  it('RSV7 1,000 random jumps, sleeps and steps leave it equal to the run without them, through restarts too', () => {
    const random = createSimulatedRandom('jumps');
    const clock = createSimulatedClock({ wallMs });
    let timeline = createTimeline(clock, null);
    let expectedMs = wallMs;
    let previousMs = 0;
    for (let step = 0; step < 1_000; step += 1) {
      const passMs = random.int(0, 5_000);
      clock.advance(passMs);
      expectedMs += passMs;
      if (random.chance(0.3)) clock.suspend(random.int(0, dayMs));
      else clock.jumpWall(random.int(-dayMs, dayMs));
      if (random.chance(0.05)) {
        timeline = createTimeline(clock, timeline.now());
        expectedMs = timeline.now();
      }
      expect(timeline.now()).toBe(expectedMs);
      expect(timeline.now()).toBeGreaterThanOrEqual(previousMs);
      previousMs = timeline.now();
    }
  });

  it('tells whole milliseconds', () => {
    const { clock, timeline } = world();
    clock.advance(0.6);
    expect(timeline.now()).toBe(wallMs);
    clock.advance(0.6);
    expect(timeline.now()).toBe(wallMs + 1);
  });
});

describe('timeline: stamps of this machine', () => {
  it.each(jumpsMs)('ORD2 ORD2a stamps from both sides of a jump by %d ms come out where they arose', (jumpMs) => {
    const { clock, timeline, truth } = world();
    const stamps: { stampMs: number; trueMs: number }[] = [];
    const stamp = (): void => void stamps.push({ stampMs: clock.wallMs(), trueMs: truth() });
    stamp();
    clock.advance(20_000);
    timeline.now();
    stamp();
    clock.advance(100);
    stamp();
    clock.jumpWall(jumpMs);
    stamp();
    clock.advance(100);
    stamp();
    for (const { stampMs, trueMs } of stamps) expect(timeline.fromLocalWall(stampMs)).toBe(trueMs);
    clock.advance(20_000);
    stamp();
    for (const { stampMs, trueMs } of stamps) expect(timeline.fromLocalWall(stampMs)).toBe(trueMs);
  });

  it('ORD2 stamps from before the machine slept stay before it, those after come after', () => {
    const { clock, timeline } = world();
    clock.advance(10_000);
    const before = { stampMs: clock.wallMs(), trueMs: timeline.now() };
    clock.advance(50);
    clock.suspend(8 * hourMs);
    const after = { stampMs: clock.wallMs(), trueMs: wallMs + 10_050 };
    clock.advance(50);
    expect(timeline.fromLocalWall(before.stampMs)).toBe(before.trueMs);
    expect(timeline.fromLocalWall(after.stampMs)).toBe(after.trueMs);
    clock.advance(2 * hourMs);
    expect(timeline.fromLocalWall(before.stampMs)).toBe(before.trueMs);
    expect(timeline.fromLocalWall(after.stampMs)).toBe(after.trueMs);
  });

  it('a stamp long after a jump forwards is not taken for one from before it', () => {
    const { clock, timeline, truth } = world();
    clock.advance(1_000);
    timeline.now();
    clock.jumpWall(hourMs);
    timeline.now();
    clock.advance(hourMs / 2);
    const stampMs = clock.wallMs();
    const trueMs = truth();
    clock.advance(3 * hourMs);
    expect(timeline.fromLocalWall(stampMs)).toBe(trueMs);
  });

  it('the known limit: a wall time that occurs twice is read as the later one once that has passed', () => {
    const { clock, timeline, truth } = world();
    clock.advance(10_000);
    timeline.now();
    const stampMs = clock.wallMs();
    const trueMs = truth();
    clock.jumpWall(-hourMs);
    clock.advance(hourMs - 2 * limits.wallDriftMs);
    expect(timeline.fromLocalWall(stampMs)).toBe(trueMs);
    clock.advance(2 * limits.wallDriftMs);
    expect(timeline.fromLocalWall(stampMs)).toBe(trueMs + hourMs);
  });

  it('files older than the daemon keep their age', () => {
    const { timeline } = world();
    expect(timeline.fromLocalWall(wallMs - 30_000)).toBe(wallMs - 30_000);
    const late = world(wallMs + dayMs).timeline;
    expect(late.now() - late.fromLocalWall(wallMs - 30_000)).toBe(30_000);
  });

  it('a stamp ahead of the clock comes out in the future, for intake to refuse', () => {
    const { clock, timeline } = world();
    clock.jumpWall(hourMs);
    timeline.now();
    const ahead = timeline.fromLocalWall(clock.wallMs() + limits.futureLeadMs + 1_000) - timeline.now();
    expect(ahead).toBe(limits.futureLeadMs + 1_000);
  });

  it('slow trimming of the clock is followed and makes no jump', () => {
    const { clock, timeline, truth } = world();
    for (let step = 0; step < 10_000; step += 1) {
      clock.advance(1_000);
      clock.jumpWall(-0.5);
      const error = Math.abs(timeline.fromLocalWall(clock.wallMs()) - truth());
      expect(error).toBeLessThanOrEqual(limits.wallDriftMs + 1);
    }
    expect(timeline.toWall(timeline.now()) - clock.wallMs()).toBeLessThanOrEqual(limits.wallDriftMs + 1);
  });

  /** A clock whose reader is put aside after reading the wall: it learns of monotonic time too late. */
  function noisyClock(stallMs: () => number) {
    const clock = createSimulatedClock({ wallMs });
    const noisy: Clock = {
      ...clock,
      wallMs: () => {
        const told = clock.wallMs();
        clock.stall(stallMs());
        return told;
      },
    };
    return { clock, noisy };
  }

  it('noise of reading the clocks does not change the order of stamps', () => {
    const random = createSimulatedRandom('noise');
    const { clock, noisy } = noisyClock(() => (random.chance(0.7) ? random.int(0, limits.wallDriftMs - 1) : 0));
    const timeline = createTimeline(noisy, null);
    for (let round = 0; round < 100; round += 1) {
      const stamps: number[] = [];
      for (let index = 0; index < 50; index += 1) {
        clock.advance(1);
        stamps.push(clock.wallMs());
      }
      const placed = stamps.map((stampMs) => timeline.fromLocalWall(stampMs));
      expect(placed).toEqual(stamps.map((stampMs) => stampMs + ((placed[0] ?? 0) - (stamps[0] ?? 0))));
    }
  });

  it('being put aside for long between two readings is noticed and read again', () => {
    let readings = 0;
    const { clock, noisy } = noisyClock(() => {
      readings += 1;
      return readings % 2 === 0 ? 300 : 0;
    });
    const timeline = createTimeline(noisy, null);
    for (let round = 0; round < 100; round += 1) {
      clock.advance(10);
      const trueMs = wallMs + clock.monotonicMs();
      expect(timeline.fromLocalWall(clock.wallMs())).toBe(trueMs);
    }
  });

  it('a small step of the clock soon after a large one is not taken for a return to the time before it', () => {
    const { clock, timeline, truth } = world();
    clock.advance(10_000);
    timeline.now();
    clock.jumpWall(-hourMs);
    timeline.now();
    clock.advance(60_000);
    timeline.now();
    const stampMs = clock.wallMs();
    const trueMs = truth();
    clock.jumpWall(-500);
    expect(timeline.fromLocalWall(stampMs) - trueMs).toBe(500);
  });

  it('ORD2 whatever the wall does, a stamp that is read within a second is never far from the truth', () => {
    const jump = fc.record({
      passMs: fc.integer({ min: 2_000, max: 60_000 }),
      jumpMs: fc.oneof(fc.constantFrom(...jumpsMs, 0), fc.integer({ min: -dayMs, max: dayMs })),
      delayMs: fc.integer({ min: 0, max: 1_000 }),
    });
    fc.assert(
      fc.property(fc.array(jump, { maxLength: 40 }), (jumps) => {
        const { clock, timeline, truth } = world();
        for (const { passMs, jumpMs, delayMs } of jumps) {
          clock.advance(passMs);
          timeline.now();
          const stampMs = clock.wallMs();
          const trueMs = truth();
          clock.jumpWall(jumpMs);
          clock.advance(delayMs);
          const errorMs = Math.abs(timeline.fromLocalWall(stampMs) - trueMs);
          // A step back that is shorter than the wait makes the wall time occur twice; steps below the bound are trimming.
          const ambiguous = jumpMs < 0 && -jumpMs <= delayMs + limits.wallDriftMs;
          const trimming = Math.abs(jumpMs) <= limits.wallJumpMs + limits.wallDriftMs;
          expect(errorMs).toBeLessThanOrEqual(ambiguous || trimming ? 2 * limits.wallJumpMs : limits.wallDriftMs);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('timeline: what people read', () => {
  it('times are shown as the wall showed them then', () => {
    const { clock, timeline } = world();
    const firstMs = timeline.now();
    clock.advance(10_000);
    timeline.now();
    clock.suspend(8 * hourMs);
    clock.advance(10_000);
    expect(timeline.toWall(firstMs)).toBe(wallMs);
    expect(timeline.toWall(timeline.now())).toBe(clock.wallMs());
    clock.jumpWall(-dayMs);
    expect(timeline.toWall(timeline.now())).toBe(clock.wallMs());
    expect(timeline.toWall(firstMs)).toBe(wallMs);
  });

  it('more jumps than are remembered cost only the oldest', () => {
    const { clock, timeline, truth } = world();
    for (let jump = 0; jump < 10 * limits.wallSegmentsMax; jump += 1) {
      clock.advance(60_000);
      clock.jumpWall(jump % 2 === 0 ? dayMs : -hourMs);
      timeline.now();
    }
    clock.advance(500);
    expect(timeline.fromLocalWall(clock.wallMs())).toBe(truth());
    expect(timeline.toWall(timeline.now())).toBe(clock.wallMs());
  });
});

describe('timeline: stamps of other machines', () => {
  const near = targetId('vm1');
  const far = targetId('vm2');

  it('ORD2 ORD2a remote times are corrected by the measured offset of their target', () => {
    const { clock, timeline } = world();
    timeline.setTargetOffset(near, 90_000);
    timeline.setTargetOffset(far, -dayMs);
    expect(timeline.fromTarget(near, wallMs + 90_000 + 7)).toBe(wallMs + 7);
    expect(timeline.fromTarget(far, wallMs - dayMs + 7)).toBe(wallMs + 7);
    // When our own clock is set, forward or back, what was measured before still holds.
    for (const setMs of [hourMs, -2 * hourMs]) {
      clock.jumpWall(setMs);
      timeline.now();
      expect(timeline.fromTarget(near, wallMs + 90_000 + 7)).toBe(wallMs + 7);
    }
  });

  it('ORD2 a far clock goes on while this machine sleeps, and what is said there afterwards is not from the future', () => {
    const { clock, timeline } = world();
    timeline.setTargetOffset(near, 90_000);
    // Asleep for eight hours: the wall clock goes on, the monotonic one does not.
    clock.jumpWall(8 * hourMs);
    clock.advance(5_000);
    const said = timeline.fromTarget(near, wallMs + 8 * hourMs + 90_000 + 4_000) ?? 0;
    expect(said).toBe(wallMs + 4_000);
    expect(said).toBeLessThanOrEqual(timeline.now());
    // Measured again while the timeline is behind the wall: the same.
    timeline.setTargetOffset(near, 90_000);
    expect(timeline.fromTarget(near, wallMs + 8 * hourMs + 90_000 + 4_000)).toBe(wallMs + 4_000);
  });

  it('RSV7 a restart goes on where the last run was: what was slept ages nothing, and old times are still told right', () => {
    const clock = createSimulatedClock({ wallMs });
    let kept = readKeptClocks(null);
    const keep = (clocks: KeptClocks): void => {
      kept = readKeptClocks(writeKeptClocks(clocks));
    };
    const first = createTimeline(clock, null, { kept, boot: null, keep });
    const begunMs = first.now();
    for (let night = 0; night < 40; night += 1) {
      clock.advance(hourMs);
      clock.jumpWall(8 * hourMs);
      first.now();
    }
    const loggedMs = first.now();
    clock.advance(1_000);
    const again = createTimeline(clock, loggedMs, { kept, boot: null, keep });
    expect(again.now() - begunMs).toBe(40 * hourMs + 1_000);
    expect(again.toWall(begunMs)).toBe(wallMs);
    expect(again.toWall(again.now())).toBe(clock.wallMs());
    expect(again.fromLocalWall(clock.wallMs())).toBe(again.now());
  });

  it('ORD2 a target that was never measured gives no time at all', () => {
    const { timeline } = world();
    expect(timeline.fromTarget(near, wallMs)).toBeNull();
    timeline.setTargetOffset(near, 5);
    timeline.forgetTarget(near);
    expect(timeline.fromTarget(near, wallMs)).toBeNull();
  });

  it.each([
    null,
    '',
    '{}',
    '[1]',
    '{"monotonic_ms":1,"time_ms":1,"segments":[1],"targets":{}}',
    '{"monotonic_ms":1,"time_ms":1,"segments":[],"targets":{"vm1":[{"from_ms":1}]}}',
  ])('what cannot be read of an earlier run is nothing: %s', (text) => {
    expect(readKeptClocks(text)).toEqual({ line: null, segments: [], targets: [] });
  });

  /** A daemon that ran for a minute, was away for one while its clock was moved by so much, and is back. */
  function restarted(movedMs: number, boots: readonly [string, string]) {
    const clock = createSimulatedClock({ wallMs });
    let kept = readKeptClocks(null);
    const keep = (clocks: KeptClocks): void => {
      kept = readKeptClocks(writeKeptClocks(clocks));
    };
    const first = createTimeline({ ...clock, originMs: 7 }, null, { kept, boot: boots[0], keep });
    clock.advance(60_000);
    const loggedMs = first.now();
    clock.advance(20_000);
    const before = clock.wallMs();
    clock.jumpWall(movedMs);
    clock.advance(20_000);
    const after = clock.wallMs();
    clock.advance(20_000);
    const again = createTimeline({ ...clock, originMs: 7 }, loggedMs, { kept, boot: boots[1], keep });
    return { again, before, after };
  }

  it.each([-hourMs, hourMs, 8 * hourMs])(
    'RSV7 ORD2 while nobody ran the clock was moved by %d ms: within one boot every time is still told right',
    (movedMs) => {
      const { again, before, after } = restarted(movedMs, ['one', 'one']);
      expect(again.now()).toBe(wallMs + 120_000);
      expect(again.fromLocalWall(before)).toBe(wallMs + 80_000);
      expect(again.fromLocalWall(after)).toBe(wallMs + 100_000);
      // Another boot has a monotonic clock of its own: then the wall is all there is.
      expect(restarted(movedMs, ['one', 'two']).again.now()).toBe(
        Math.max(wallMs + 60_001, wallMs + 120_000 + movedMs),
      );
    },
  );

  it('ORD2 what was said over there while this machine slept comes after what was said before, and before what came after', () => {
    const { clock, timeline } = world();
    timeline.setTargetOffset(near, 0);
    clock.advance(10_000);
    timeline.now();
    const said = [clock.wallMs()];
    clock.suspend(4 * hourMs);
    said.push(clock.wallMs());
    clock.suspend(4 * hourMs);
    clock.advance(500);
    said.push(clock.wallMs());
    const expected = [wallMs + 10_000, wallMs + 10_000, wallMs + 10_500];
    expect(said.map((stamp) => timeline.fromTarget(near, stamp))).toEqual(expected);
    expect(timeline.fromTarget(near, timeline.targetNow(near) ?? 0)).toBe(timeline.now());
    timeline.setTargetOffset(near, 0);
    expect(said.map((stamp) => timeline.fromTarget(near, stamp))).toEqual(expected);
  });

  it('ORD2b of the two times at which a clock showed the same, the one from before a call could be made is not meant', () => {
    const { clock, timeline } = world();
    timeline.setTargetOffset(near, 0);
    clock.advance(2 * hourMs);
    timeline.setTargetOffset(near, 0);
    clock.advance(1_000);
    timeline.setTargetOffset(near, -hourMs);
    const notBeforeMs = timeline.now();
    clock.advance(10_000);
    timeline.now();
    clock.suspend(2 * hourMs);
    // Made while this machine slept; the clock had shown that before it was set back.
    const stamp = clock.wallMs() - hourMs - 90 * 60_000;
    clock.advance(1_000);
    timeline.setTargetOffset(near, -hourMs);
    expect(timeline.fromTarget(near, stamp)).toBeLessThan(notBeforeMs);
    expect(timeline.fromTarget(near, stamp, notBeforeMs)).toBe(notBeforeMs + 10_000);
  });

  it('RSV7 what the clock has drifted since it was set is known to the next run', () => {
    const clock = createSimulatedClock({ wallMs });
    let kept = readKeptClocks(null);
    const keep = (clocks: KeptClocks): void => {
      kept = readKeptClocks(writeKeptClocks(clocks));
    };
    const first = createTimeline({ ...clock, originMs: 7 }, null, { kept, boot: 'one', keep });
    for (let hour = 0; hour < 10; hour += 1) {
      clock.advance(hourMs);
      clock.jumpWall(30);
      first.now();
    }
    const [loggedMs, stamp] = [first.now(), clock.wallMs()];
    clock.advance(5_000);
    clock.suspend(8 * hourMs);
    const again = createTimeline({ ...clock, originMs: 7 }, loggedMs, { kept, boot: 'one', keep });
    expect(Math.abs(again.fromLocalWall(stamp) - loggedMs)).toBeLessThanOrEqual(limits.wallDriftMs);
  });

  it('ORD2 an offset is a number', () => {
    expect(() => world().timeline.setTargetOffset(near, Number.NaN)).toThrow('broken invariant');
  });
});

describe('what arrives', () => {
  it('ORD2 ORD2b is never from the future, and stays in the order of its arrival', () => {
    let now = 1_000;
    const arrivals = new Arrivals(() => now);
    const timeOf = (time: number, notBefore: number | null = null): number =>
      arrivals.timeOf({ stream: 'a', told: time, time, notBefore });
    expect(timeOf(900)).toBe(900);
    expect([timeOf(1_000 + dayMs), timeOf(1_000 + hourMs), timeOf(1_001)]).toEqual([1_000, 1_001, 1_002]);
    now = 2_000;
    expect([timeOf(5_000), timeOf(1_999)]).toEqual([2_000, 1_999]);
  });

  it('ORD2 is never from before a look that did not show it, however far its clock was set back', () => {
    const arrivals = new Arrivals(() => 2_000);
    const timeOf = (told: number, notBefore: number): number =>
      arrivals.timeOf({ stream: 'a', told, time: told, notBefore });
    expect([timeOf(1_200, 1_000), timeOf(1_300 - dayMs, 1_200), timeOf(1_400 - dayMs, 1_200)]).toEqual([
      1_200, 1_201, 1_202,
    ]);
  });

  it('ORD2b two of nearly the same place stay in the order of the clock that told them', () => {
    const arrivals = new Arrivals(() => 2_000);
    const timeOf = (told: number, time: number): number =>
      arrivals.timeOf({ stream: 'a', told, time, notBefore: null });
    expect([timeOf(1_017, 1_017), timeOf(1_357, 1_000)]).toEqual([1_017, 1_018]);
    // Further apart than places are inexact: a clock that was set back meanwhile tells the older one later.
    expect(timeOf(1_400, 900)).toBe(900);
  });

  it('ORD1 sources that nobody hears of any more are forgotten, and one of them that comes back begins anew', () => {
    let now = 1_000;
    const arrivals = new Arrivals(() => now);
    const first = arrivals.epochOf('run 0', 7);
    now = 2_000;
    for (let run = 1; run <= 2 * limits.arrivalStreamsMax; run += 1) arrivals.epochOf(`run ${run}`, 7);
    expect(arrivals.size).toBe(limits.arrivalStreamsMax);
    expect(arrivals.epochOf('run 0', 7)).toBeGreaterThan(first);
  });

  it('ORD1 a counter that starts over is a step forward, also when the clock was set back meanwhile', () => {
    let now = 1_000;
    const arrivals = new Arrivals(() => now);
    const first = arrivals.epochOf('a native', 50_000);
    expect(arrivals.epochOf('a native', 50_000)).toBe(first);
    now = 1_500;
    const second = arrivals.epochOf('a native', 50_000 - 1_800_000);
    expect(second).toBeGreaterThan(first);
    expect(arrivals.epochOf('a native', 50_000 - 1_800_000)).toBe(second);
    expect(arrivals.epochOf('b native', 7)).toBe(1_500);
  });
});
