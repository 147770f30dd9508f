// Randomness as a port: unpredictable bytes from the system, or a seeded stream in the simulation. Ids, nonces and
// tokens come from here and nowhere else.

import { randomBytes } from 'node:crypto';
import { assert } from '../model/errors.ts';

export interface RandomSource {
  uint32(): number;
  bytes(count: number): Uint8Array;
  /** Lower-case hex of `byteCount` random bytes: twice as many characters. */
  hex(byteCount: number): string;
}

export function createRealRandom(): RandomSource {
  const bytes = (count: number): Uint8Array => {
    assertCount(count);
    return new Uint8Array(randomBytes(count));
  };
  return {
    uint32: () => randomBytes(4).readUInt32LE(0),
    bytes,
    hex: (byteCount) => toHex(bytes(byteCount)),
  };
}

export function assertCount(count: number): void {
  assert(Number.isSafeInteger(count) && count >= 0, `a count of bytes is a whole number from 0 up, not ${count}`);
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
