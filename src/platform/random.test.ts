import { describe, expect, it } from 'vitest';
import { randomContract } from './contract/random.contract.ts';
import { createRealRandom } from './random.ts';

randomContract('real', createRealRandom);

describe('real random', () => {
  it('two sources have nothing in common', () => {
    expect(createRealRandom().hex(16)).not.toBe(createRealRandom().hex(16));
  });
});
