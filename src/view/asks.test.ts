// Asks as they are shown: whole, broken at words, with the option that a yes or a no takes.
import { describe, expect, it } from 'vitest';
import { width } from '../text/width.ts';
import { type AskItem, askText, plainOption, wrapped } from './asks.ts';

const ask = (text: string, ...labels: readonly string[]): AskItem => ({
  ask_id: 'a1',
  kind: 'command',
  scope: 'main',
  text,
  options: labels.map((label, place) => ({ id: String(place + 1), label })),
});

describe('an ask', () => {
  it('is broken at words, and a long word where the line ends', () => {
    expect(wrapped('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrapped('abcdefghij kl', 4)).toEqual(['abcd', 'efgh', 'ij', 'kl']);
    expect(wrapped('語語語 a', 4)).toEqual(['語語', '語 a']);
    expect(wrapped('a\n\nb', 4)).toEqual(['a', '', 'b']);
    for (const line of wrapped('x 語abc😀 defghi 語語語', 5)) expect(width(line)).toBeLessThanOrEqual(5);
  });

  it('SEC3 hides nothing of what a person decides on', () => {
    const [line = ''] = askText(ask('rm\u001b[2K -rf\u202e /'), 80);
    expect(line).toContain('␛[2K');
    expect(line).toContain('�');
  });

  it('tells the one option that a yes or a no takes', () => {
    const three = ask('x', 'Yes', "Yes, and don't ask again for npm", 'No, and tell Claude what to do');
    expect(plainOption(three, 'approve')).toBe('Yes');
    expect(plainOption(three, 'reject')).toBe('No, and tell Claude what to do');
    expect(plainOption(ask('x', 'Postgres', 'SQLite'), 'approve')).toBeNull();
    expect(plainOption(ask('x', 'Yes', 'Yes please'), 'approve')).toBeNull();
  });
});
