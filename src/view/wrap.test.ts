import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { width } from '../text/width.ts';
import { wrapText } from './wrap.ts';

describe('wrapping', () => {
  it.each([
    ['one two three', 7, ['one two', 'three']],
    ['one  two', 4, ['one', 'two']],
    ['abcdefgh', 3, ['abc', 'def', 'gh']],
    ['a abcdefgh b', 4, ['a', 'abcd', 'efgh', 'b']],
    ['語語語', 4, ['語語', '語']],
    ['first\n\nsecond', 20, ['first', '', 'second']],
    ['\tx', 20, ['    x']],
    ['', 5, ['']],
    ['abc', 0, ['a', 'b', 'c']],
  ])('%j in %i columns', (text, columns, lines) => {
    expect(wrapText(text, columns)).toEqual(lines);
  });

  it('no line is wider than asked for, and no word is lost', () => {
    const words = fc.array(fc.constantFrom('a', 'word', 'longerword', '語', 'e\u0301', '👩‍👩‍👧', ' ', '\n', '  '), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 12 }), (parts, columns) => {
        const text = parts.join(' ');
        const lines = wrapText(text, columns);
        for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
        expect(lines.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
      }),
    );
  });
});
