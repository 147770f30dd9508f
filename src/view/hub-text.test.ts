import { describe, expect, it } from 'vitest';
import { isAskShown } from './hub-text.ts';

describe('an ask at the hub', () => {
  it('HUB5 can be answered there only where its words stand', () => {
    expect(isAskShown({ text: 'run: make' })).toBe(true);
    for (const text of ['', ' \n', undefined, null, 7]) expect(isAskShown({ text })).toBe(false);
  });
});
