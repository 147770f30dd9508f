// What every source of randomness promises; run on the real one and on the seeded one.

import { describe, expect, it } from 'vitest';
import type { RandomSource } from '../random.ts';

export function randomContract(name: string, create: () => RandomSource): void {
  describe(`random contract: ${name}`, () => {
    it('numbers are whole and fill 32 bits evenly', () => {
      const random = create();
      const buckets = new Array<number>(16).fill(0);
      const draws = 16_000;
      for (let draw = 0; draw < draws; draw += 1) {
        const number = random.uint32();
        expect(Number.isInteger(number) && number >= 0 && number < 2 ** 32).toBe(true);
        const bucket = Math.floor(number / 2 ** 28);
        buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      }
      const expected = draws / buckets.length;
      const chiSquare = buckets.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
      // 15 degrees of freedom: beyond 60 less than once in a million runs.
      expect(chiSquare).toBeLessThan(60);
    });

    it('gives as many bytes as asked for, each bit about half the time', () => {
      const random = create();
      for (const count of [0, 1, 3, 4, 5, 17]) expect(random.bytes(count).length).toBe(count);
      const ones = new Array<number>(8).fill(0);
      for (const byte of random.bytes(8_000)) {
        for (let bit = 0; bit < 8; bit += 1) ones[bit] = (ones[bit] ?? 0) + ((byte >> bit) & 1);
      }
      for (const count of ones) expect(Math.abs(count - 4_000)).toBeLessThan(300);
    });

    it('hex is lower case, two digits a byte, and does not repeat', () => {
      const random = create();
      expect(random.hex(0)).toBe('');
      const seen = new Set<string>();
      for (let draw = 0; draw < 1_000; draw += 1) {
        const text = random.hex(16);
        expect(text).toMatch(/^[0-9a-f]{32}$/);
        seen.add(text);
      }
      expect(seen.size).toBe(1_000);
    });

    it('refuses a count that is none', () => {
      const random = create();
      for (const count of [-1, 1.5, Number.NaN]) expect(() => random.bytes(count)).toThrow('broken invariant');
    });
  });
}
