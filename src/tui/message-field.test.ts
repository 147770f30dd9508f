import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineText } from '../view/shells-spans.ts';
import { emptyField, fieldKey, fieldLines, fieldOf, insert, type TextField } from './message-field.ts';

const typed = (start: TextField, ...keys: readonly string[]): TextField =>
  keys.reduce((field, key) => fieldKey(field, key) ?? field, start);
const shown = (field: TextField): string => `${field.text.slice(0, field.at)}|${field.text.slice(field.at)}`;
const view = (field: TextField, columns: number, lines = 5): readonly string[] =>
  fieldLines(field, { columns, lines, isFocused: true, prompt: '> ', hint: 'write' }).map(lineText);

describe('a field that a person writes in', () => {
  it.each([
    [['a', 'b', 'left', 'x'], 'ax|b'],
    [['a', ' ', 'b', 'ctrl+w'], 'a |'],
    [['a', 'b', 'home', 'delete'], '|b'],
    [['a', 'b', 'ctrl+a', 'right', 'ctrl+k'], 'a|'],
    [['a', 'b', 'ctrl+u'], '|'],
    [['👍🏽', 'backspace'], '|'],
    [['語', 'a', 'left', 'left'], '|語a'],
    [['a', 'alt+enter', 'b', 'home', 'c'], 'a\nc|b'],
    [['a', ' ', 'b', 'c', 'alt+b', 'x'], 'a x|bc'],
    [['a', 'b', 'home', 'alt+f', 'x'], 'abx|'],
    [['backspace', 'left', 'delete', 'right', 'f1'], '|'],
  ])('%j', (keys, wanted) => {
    expect(shown(typed(emptyField, ...keys))).toBe(wanted);
  });

  it('SEC3 what is pasted has no effects, and line ends only where there may be some', () => {
    expect(insert(emptyField, 'one\r\ntwo\u001b[2J\u001b]52;c;eA==\u0007\tx').text).toBe('one\ntwo    x');
    expect(insert(emptyField, 'one\ntwo', true).text).toBe('one two');
    expect(fieldKey(emptyField, 'alt+enter', true)).toBeNull();
  });

  it('is as large as it may get', () => {
    expect(insert(fieldOf('x'.repeat(199_999)), 'yz').text).toHaveLength(200_000);
  });

  it('shows its hint, its lines, and the part around the cursor', () => {
    expect(view(emptyField, 20)).toEqual(['>  write']);
    expect(view(fieldOf('one two three'), 9)).toEqual(['> one two', '   three ']);
    expect(view(fieldOf('a\nb\nc\nd'), 20, 2)).toEqual(['  c', '  d ']);
    expect(view({ text: 'a\nb\nc\nd', at: 0 }, 20, 2)).toEqual(['> a', '  b']);
    expect(view({ text: 'a\nb', at: 1 }, 20)).toEqual(['> a ', '  b']);
  });

  it('the cursor is never inside a character, whatever is pressed', () => {
    const keys = fc.array(
      fc.constantFrom(
        'a',
        '語',
        '👩‍👩‍👧',
        'e\u0301',
        ' ',
        'left',
        'right',
        'backspace',
        'delete',
        'ctrl+w',
        'home',
        'end',
        'alt+b',
        'ctrl+j',
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(keys, (pressed) => {
        const { text, at } = typed(emptyField, ...pressed);
        const ends = [
          0,
          ...[...new Intl.Segmenter().segment(text)].map(({ segment, index }) => index + segment.length),
        ];
        expect(ends).toContain(at);
      }),
    );
  });
});
