import { describe, expect, it } from 'vitest';
import { limits } from '../../../model/limits.ts';
import { rowsIn } from './adapter.ts';

const esc = '\u001b';

describe('lines of Kilo', () => {
  it.each([
    ['plain', '{"a":1}'],
    ['behind the moves of a cursor', `${esc}[2K${esc}[1A${esc}[2K${esc}[G{"a":1}`],
    ['behind the title of a window', `${esc}]0;Kilo Code - w${'\u0007'}${esc}[2J${esc}[3J${esc}[H{"a":1}`],
    ['behind a title that ends another way', `${esc}]0;x{"b":2}${esc}\\{"a":1}`],
    ['before a bare escape', `{"a":1}${esc}[?2004l`],
    ['with raw controls around it', '\u0000\u0008{"a":1}\r'],
    ['behind words', 'Loading... {"a":1}'],
  ])('an object %s', (_, line) => {
    expect(rowsIn('', line)).toMatchObject({ rows: [{ a: 1 }], half: '', words: '' });
  });

  it('several objects in one line, with anything between them', () => {
    const line = `{"a":1}${esc}[2K{"b":"}{ \\"not the end"} and {"c":{"d":[{}]}}`;
    expect(rowsIn('', line).rows).toEqual([{ a: 1 }, { b: '}{ "not the end' }, { c: { d: [{}] } }]);
  });

  it('two halves are one object; a half that stays alone is lost, and nothing else', () => {
    const { rows, half } = rowsIn('', '{"a":1}{"b":"long te');
    expect(rows).toEqual([{ a: 1 }]);
    expect(rowsIn(half, 'xt"}{"c":3}').rows).toEqual([{ b: 'long text' }, { c: 3 }]);
    expect(rowsIn(half, '{"c":3}').rows).toEqual([{ c: 3 }]);
    expect(rowsIn('', '{"b":"long te{"c":3}').rows).toEqual([{ c: 3 }]);
  });

  it('words without an object are words, and braces that are none cost little', () => {
    expect(rowsIn('', `${esc}[31mCannot find ripgrep${esc}[0m`)).toMatchObject({
      rows: [],
      words: 'Cannot find ripgrep',
    });
    expect(rowsIn('', '{'.repeat(100_000)).rows).toEqual([]);
    expect(rowsIn('', '{"'.repeat(limits.sessionHalfCharsMax)).half).toBe('');
  });
});
