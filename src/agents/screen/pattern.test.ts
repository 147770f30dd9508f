import { describe, expect, it } from 'vitest';
import { builtInPattern, growthOf, linearPattern } from './pattern.ts';

describe('patterns of rules', () => {
  const samples = [
    ['^\\s*(\\d+)\\. (.*)$', '  2. No, and tell it why'],
    ['(a)|(b)', 'xb'],
    ['[█│┃]\\s*$', 'some text │'],
    ['\\u2502 ?\\p{L}+', '│ wörter'],
    ['(?<mark>❯) (\\S+)', '❯ yes'],
    ['nothing', 'of this'],
  ] as const;

  it.each(samples)('%s finds the same in a file of a user as in a built-in one', (source, line) => {
    const [own, theirs] = [builtInPattern(source), linearPattern(source)];
    expect(theirs.test(line)).toBe(own.test(line));
    const found = own.exec(line);
    expect(theirs.exec(line)).toEqual(found === null ? null : [...found]);
    expect(theirs.source).toBe(source);
  });

  it('counts what counted repeats add, and nothing else that stands in braces', () => {
    expect(growthOf({ any: ['a{3}', { of: '(bc){2,5}' }], title: '{"a": 1}', width: 3 })).toBe(1);
    expect(growthOf(['a{20}', ['(bc){2,20}']])).toBe(15 + 30);
    expect(growthOf(['[xy{9}]', '\\p{L}', '\\{20}', '\\x{2502}'])).toBe(0);
  });

  it('splits as the built-in ones do', () => {
    for (const text of ['a | b |c', '|', '', 'none'])
      expect(linearPattern('\\s*\\|\\s*').split(text)).toEqual(builtInPattern('\\s*\\|\\s*').split(text));
  });

  // Each takes longer than anybody waits where a pattern is tried in every way it can match.
  it.each([
    ['^(?:\\w|\\d)+!$', '1'.repeat(5_000)],
    ['(a+)+$', `${'a'.repeat(5_000)}b`],
    ['^(?:a|a)*c$', 'a'.repeat(5_000)],
    ['^(?:a{1,30}){1,30}!$', 'a'.repeat(900)],
    ['^(\\S+\\s?)+:$', 'word '.repeat(1_000)],
  ])('RSV10b %s is done in no time on a line made for it', (source, line) => {
    expect(linearPattern(source).test(line)).toBe(false);
  });

  it.each([
    ['(?!interrupt)[a-z]', /look-around.*`none`/],
    ['(?<=a)b', /look-around/],
    ['(a)\\1', /RE2/],
    ['(unclosed', /RE2/],
    ['a{1,5000}', /repeat/],
    ['^[^ab]{999}[^ab]{999}[^ab]{999}$', /stands for 2999 characters/],
    ['((a{30}){30}){30}', /stands for 27000 characters/],
    ['.*'.repeat(21), /21 repeats without an end/],
  ])('%s is refused with the reason', (source, words) => {
    expect(() => linearPattern(source)).toThrow(words);
  });
});
