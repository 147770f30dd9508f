import { describe, expect, it } from 'vitest';
import { canTakeForever } from './pattern-cost.ts';

describe('patterns that can take for ever', () => {
  it.each(['(a+)+', '^(─+)+x$', '(?:/\\S+)*', '((a*)b?)*', '(?:x{2,})+', '(a|b+)*c', '(?:[\\]a]+ ?){3,}'])(
    '%s can',
    (pattern) => {
      expect(canTakeForever(pattern)).toBe(true);
    },
  );

  it.each([
    'a+b*',
    '(?:/[^\\s/]+){0,4}',
    '(?:\\S| \\S)*',
    '^[(+*]+$',
    '\\(a+\\)+',
    '(a{1,3})+',
    '(?:x+)?y+',
    '(a+){2}',
    '[a-z()+*]+ (b)*',
  ])('%s cannot', (pattern) => {
    expect(canTakeForever(pattern)).toBe(false);
  });
});
