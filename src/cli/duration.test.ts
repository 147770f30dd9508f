import { describe, expect, it } from 'vitest';
import { durationOf } from './duration.ts';

const bounds = { minMs: 10, maxMs: 7_200_000, words: 'from 10ms to 2h' };

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['2s', 2_000],
    ['2', 2_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['0.0105s', 11],
  ])('%s', (text, ms) => {
    expect(durationOf('timeout', text, bounds)).toBe(ms);
  });

  it.each(['', '9ms', '3h', '-1s', '1d', 's', '1e3', '0x10', '1 s', '1s2'])('%j is none', (text) => {
    expect(() => durationOf('timeout', text, bounds)).toThrow('--timeout must be a duration from 10ms to 2h');
  });

  it('none was said', () => {
    expect(durationOf('timeout', undefined, bounds)).toBeNull();
  });
});
