// Says "surely not in the log" about most new events without a look at the disk: a Bloom filter per generation of the log
// (DED1). It may say "maybe" in vain, about once in 400; it never denies what is there.

import type { EventId } from '../model/ids.ts';
import { generationOf, generationShift } from './row.ts';

/** 16 bits and 4 marks an event: 32 KiB a generation, 2 MiB for a million events. */
const bitsPerGeneration = 2 ** generationShift * 16;
const marks = 4;

export class IdentityFilter {
  readonly #generations = new Map<number, Uint32Array>();

  add(id: EventId, identity: number): void {
    const generation = generationOf(id);
    let bits = this.#generations.get(generation);
    if (bits === undefined) {
      bits = new Uint32Array(bitsPerGeneration / 32);
      this.#generations.set(generation, bits);
    }
    const step = stepOf(identity);
    let place = identity % 2 ** 32;
    for (let mark = 0; mark < marks; mark++) {
      const bit = place % bitsPerGeneration;
      bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
      place += step;
    }
  }

  /** The generations that may hold this identity. */
  candidates(identity: number): number[] {
    const found: number[] = [];
    for (const [generation, bits] of this.#generations) {
      if (mayHold(bits, identity)) found.push(generation);
    }
    return found;
  }
}

/** Odd, so that the marks of one identity fall apart. */
function stepOf(identity: number): number {
  return Math.floor(identity / 2 ** 32) * 2 + 1;
}

function mayHold(bits: Uint32Array, identity: number): boolean {
  const step = stepOf(identity);
  let place = identity % 2 ** 32;
  for (let mark = 0; mark < marks; mark++) {
    const bit = place % bitsPerGeneration;
    if (((bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
    place += step;
  }
  return true;
}
