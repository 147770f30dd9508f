import { describe, expect, it } from 'vitest';
import { randomContract } from '../contract/random.contract.ts';
import { createSimulatedRandom, type SimulatedRandom } from './random.ts';

randomContract('simulated', () => createSimulatedRandom('contract'));

const draw = (random: SimulatedRandom, count: number): number[] => Array.from({ length: count }, () => random.uint32());

describe('simulated random', () => {
  it('the same seed gives the same stream; a number and its text are one seed', () => {
    expect(draw(createSimulatedRandom(7), 100)).toEqual(draw(createSimulatedRandom('7'), 100));
    expect(draw(createSimulatedRandom(7), 4)).not.toEqual(draw(createSimulatedRandom(8), 4));
  });

  it('the stream never changes: kept seeds depend on it', () => {
    expect(draw(createSimulatedRandom('agtmux'), 4)).toEqual([
      1_071_025_088, 824_024_039, 2_435_676_887, 2_940_870_179,
    ]);
  });

  it('neighbouring seeds are unrelated', () => {
    const firsts = new Set<number>();
    const buckets = new Array<number>(16).fill(0);
    for (let seed = 0; seed < 16_000; seed += 1) {
      const first = createSimulatedRandom(seed).uint32();
      firsts.add(first);
      buckets[first >>> 28] = (buckets[first >>> 28] ?? 0) + 1;
    }
    expect(firsts.size).toBeGreaterThan(15_990);
    for (const count of buckets) expect(Math.abs(count - 1_000)).toBeLessThan(200);
  });

  it('int covers its range, both ends included, evenly', () => {
    const random = createSimulatedRandom('int');
    const counts = new Map<number, number>();
    for (let index = 0; index < 30_000; index += 1) {
      const number = random.int(-1, 1);
      counts.set(number, (counts.get(number) ?? 0) + 1);
    }
    expect([...counts.keys()].sort((left, right) => left - right)).toEqual([-1, 0, 1]);
    for (const count of counts.values()) expect(Math.abs(count - 10_000)).toBeLessThan(500);
    expect(random.int(5, 5)).toBe(5);
    expect(() => random.int(2, 1)).toThrow('broken invariant');
    expect(() => random.int(0.5, 1)).toThrow('broken invariant');
  });

  it('int reaches every bit of wide ranges and never leaves them', () => {
    const random = createSimulatedRandom('wide');
    let odd = 0;
    let high = 0;
    for (let index = 0; index < 4_000; index += 1) {
      const number = random.int(0, Number.MAX_SAFE_INTEGER - 1);
      expect(Number.isSafeInteger(number) && number >= 0 && number < Number.MAX_SAFE_INTEGER).toBe(true);
      odd += number % 2;
      high += number > Number.MAX_SAFE_INTEGER / 2 ? 1 : 0;
    }
    expect(Math.abs(odd - 2_000)).toBeLessThan(250);
    expect(Math.abs(high - 2_000)).toBeLessThan(250);
    for (let index = 0; index < 4_000; index += 1) expect(random.int(0, 2 ** 32 - 1)).toBeLessThan(2 ** 32);
  });

  it('chance keeps its probability; 0 is never and 1 is always', () => {
    const random = createSimulatedRandom('chance');
    const hits = (probability: number): number =>
      Array.from({ length: 10_000 }, () => random.chance(probability)).filter((hit) => hit).length;
    expect(hits(0)).toBe(0);
    expect(hits(1)).toBe(10_000);
    expect(Math.abs(hits(0.3) - 3_000)).toBeLessThan(250);
  });

  it('pick reaches every item and refuses an empty list', () => {
    const random = createSimulatedRandom('pick');
    const seen = new Set(Array.from({ length: 200 }, () => random.pick(['a', 'b', 'c'])));
    expect([...seen].sort()).toEqual(['a', 'b', 'c']);
    expect(() => random.pick([])).toThrow('broken invariant');
  });

  it('shuffle gives every order about equally often and leaves the list alone', () => {
    const random = createSimulatedRandom('shuffle');
    const list = [1, 2, 3];
    const orders = new Map<string, number>();
    for (let index = 0; index < 6_000; index += 1) {
      const order = random.shuffle(list).join('');
      orders.set(order, (orders.get(order) ?? 0) + 1);
    }
    expect(list).toEqual([1, 2, 3]);
    expect(orders.size).toBe(6);
    for (const count of orders.values()) expect(Math.abs(count - 1_000)).toBeLessThan(200);
  });

  it('a fork depends on seed and label only, not on what was drawn before', () => {
    const early = createSimulatedRandom('world').fork('hooks');
    const parent = createSimulatedRandom('world');
    draw(parent, 1_000);
    expect(draw(parent.fork('hooks'), 8)).toEqual(draw(early, 8));
    expect(draw(parent.fork('disk'), 8)).not.toEqual(draw(parent.fork('hooks'), 8));
  });
});
