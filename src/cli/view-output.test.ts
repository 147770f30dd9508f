import { describe, expect, it } from 'vitest';
import { linesAdded } from './view-output.ts';

describe('lines that came since the last look', () => {
  it.each([
    ['nothing changed', 'abc', 'abc', ''],
    ['one more', 'abc', 'abcd', 'd'],
    ['moved up by two', 'abcd', 'cdef', 'ef'],
    ['the bottom was drawn anew', 'abcX', 'abcY', 'Y'],
    ['moved up, and the bottom drawn anew', 'abcX', 'bcdY', 'dY'],
    ['everything is new', 'abc', 'xyz', 'xyz'],
    ['the longest common part counts', 'aab', 'abc', 'c'],
    ['from nothing', '', 'ab', 'ab'],
    ['to nothing', 'ab', '', ''],
    ['fewer', 'abc', 'ab', ''],
    ['a prompt below that only moved is not new', 'abPF', 'abcdPF', 'cd'],
    ['moved up above a prompt that stays', 'abcPF', 'bcdPF', 'd'],
    ['one came between two', 'acd', 'abcd', 'b'],
    ['the same said again is new', 'ab', 'abb', 'b'],
    ['the same said again after it moved out', 'abc', 'bca', 'a'],
    ['of those drawn anew the ones that stayed are not told', 'aXbYc', 'aZbc', 'Z'],
  ])('%s', (_, before, after, added) => {
    expect(linesAdded([...before], [...after])).toEqual([...added]);
  });

  it('a great many lines that were drawn anew are told as they are', () => {
    const many = Array.from({ length: 2_000 }, (_, at) => `${at}`);
    expect(linesAdded(['a', ...many.toReversed()], ['a', ...many])).toEqual(many);
  });
});
