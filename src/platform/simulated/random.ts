// Seeded randomness for the simulation: the sfc32 generator (small, fast, 128 bits of state) and the few draws that
// schedules are made of. The same seed gives the same stream for ever: kept seeds depend on it.

import { assert } from '../../model/errors.ts';
import { assertCount, type RandomSource, toHex } from '../random.ts';

export interface SimulatedRandom extends RandomSource {
  readonly seed: string;
  /** From 0 up to, not including, 1. */
  unit(): number;
  /** A whole number from min to max, both included. */
  int(min: number, max: number): number;
  /** True with this probability: never for 0, always for 1. */
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** A shuffled copy. */
  shuffle<Item>(items: readonly Item[]): Item[];
  /**
   * A stream of its own that depends on the seed and the label only, not on what was drawn before: one part of a world
   * can draw more without changing what the others see. The same label gives the same stream.
   */
  fork(label: string): SimulatedRandom;
}

const twoTo32 = 4_294_967_296;

export function createSimulatedRandom(seed: string | number): SimulatedRandom {
  return new Sfc32(String(seed));
}

class Sfc32 implements SimulatedRandom {
  readonly seed: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string) {
    this.seed = seed;
    this.#a = hash32(seed, 1);
    this.#b = hash32(seed, 2);
    this.#c = hash32(seed, 3);
    // The first outputs still resemble the seed; a dozen rounds spread every bit of it.
    for (let round = 0; round < 12; round += 1) this.uint32();
  }

  uint32(): number {
    const output = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + output) | 0;
    return output >>> 0;
  }

  unit(): number {
    return this.uint32() / twoTo32;
  }

  int(min: number, max: number): number {
    const span = max - min + 1;
    assert(
      Number.isSafeInteger(min) && Number.isSafeInteger(max) && span >= 1,
      `no whole number from ${min} to ${max}`,
    );
    if (span <= twoTo32) return min + Math.floor((this.uint32() * span) / twoTo32);
    assert(Number.isSafeInteger(span), `the span from ${min} to ${max} is too wide`);
    const wide = (this.uint32() * 2_097_152 + (this.uint32() >>> 11)) / 9_007_199_254_740_992;
    return min + Math.floor(wide * span);
  }

  chance(probability: number): boolean {
    return this.uint32() < probability * twoTo32;
  }

  pick<Item>(items: readonly Item[]): Item {
    assert(items.length > 0, 'nothing to pick from');
    return items[this.int(0, items.length - 1)] as Item;
  }

  shuffle<Item>(items: readonly Item[]): Item[] {
    const list = items.slice();
    for (let last = list.length - 1; last > 0; last -= 1) {
      const other = this.int(0, last);
      const kept = list[last] as Item;
      list[last] = list[other] as Item;
      list[other] = kept;
    }
    return list;
  }

  bytes(count: number): Uint8Array {
    assertCount(count);
    const result = new Uint8Array(count);
    let word = 0;
    for (let index = 0; index < count; index += 1) {
      if (index % 4 === 0) word = this.uint32();
      result[index] = word & 0xff;
      word >>>= 8;
    }
    return result;
  }

  hex(byteCount: number): string {
    return toHex(this.bytes(byteCount));
  }

  fork(label: string): SimulatedRandom {
    return new Sfc32(`${this.seed}/${label}`);
  }
}

/** Spreads a text over 32 bits; different `lane`s give unrelated numbers for the same text. */
function hash32(text: string, lane: number): number {
  let hash = Math.imul(lane, 0x9e3779b1) ^ text.length;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x85ebca6b);
    hash = (hash << 13) | (hash >>> 19);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
}
