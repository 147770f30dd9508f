import { describe, expect, it } from 'vitest';
import { withoutAside } from './aside.ts';

const aside = /^ *← +\+ +(?=│)/u;
const beside = (left: readonly string[], right: readonly string[]): readonly string[] =>
  right.map((line, at) => `${left[at] ?? '          '}│${line}`);
const right = ['tabs', '● said', '────', '❯', '────', ' keys'];

describe('a column left of the interface', () => {
  it('RSV10 is cut away where its bar runs down the whole screen', () => {
    expect(withoutAside(aside, beside(['  ←   +   ', ' Sorted   '], right))).toEqual(right);
  });

  it('RSV10 is measured in columns: wide letters in it take two', () => {
    expect(withoutAside(aside, beside(['  ←   +   ', ' ● 日本語 '], right))).toEqual(right);
  });

  it('RSV10 a bar inside the interface is not the one between them', () => {
    const framed = ['tabs', '│ in a frame │', '────', '❯ a │ b', '────', ' keys'];
    expect(withoutAside(aside, beside(['  ←   +   '], framed))).toEqual(framed);
  });

  it('RSV4 with one line that has no bar there, it is text, and nothing is cut', () => {
    for (const broken of ['────────────────', ' no bar', ' bar too far   │']) {
      const lines = [...beside(['  ←   +   '], right), broken];
      expect(withoutAside(aside, lines)).toEqual(lines);
    }
  });

  it('RSV4 without its head, or where an agent has none, nothing is cut', () => {
    const lines = beside(['  another '], right);
    expect(withoutAside(aside, lines)).toEqual(lines);
    expect(withoutAside(null, beside(['  ←   +   '], right))[0]).toBe('  ←   +   │tabs');
  });
});
