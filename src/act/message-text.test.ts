// Which messages may be typed, and how one is recognised on a screen.

import { describe, expect, it } from 'vitest';
import { limits } from '../model/limits.ts';
import { checkMessage, isEchoed, sightingOf } from './message-text.ts';

const codeOf = (text: string, strip = false): string => {
  const result = checkMessage(text, { strip });
  return result.ok ? `ok ${JSON.stringify(result.value)}` : result.failure.code;
};

describe('checkMessage', () => {
  it.each([
    ['plain', 'fix it', 'ok "fix it"'],
    ['newline and tab', 'a\n\tb\n', 'ok "a\\n\\tb\\n"'],
    ['line ends of another system', 'a\r\nb', 'ok "a\\nb"'],
    ['a CR of its own', 'a\rb', 'E_INPUT'],
    ['two CRs', 'a\r\r\nb', 'E_INPUT'],
    ['NUL', 'a\0b', 'E_INPUT'],
    ['the end of a paste', 'a\u001b[201~\rrm', 'E_INPUT'],
    ['DEL', '\u007f', 'E_INPUT'],
    ['C1', 'a\u009b201~', 'E_INPUT'],
    ['half a character', 'a\ud800', 'E_INPUT'],
    ['nothing', '', 'E_INPUT'],
    ['nothing to be seen', ' \n\t', 'E_INPUT'],
    ['what other languages write', '漢字 👩‍👩‍👧 é', 'ok "漢字 👩‍👩‍👧 é"'],
  ])('ACT2: %s', (_, text, expected) => expect(codeOf(text)).toBe(expected));

  it.each([
    ['a\rb', 'ok "ab"'],
    ['a\u001b[201~\0b\r\n', 'ok "a[201~b\\n"'],
    ['\u001b\u0003', 'E_INPUT'],
    ['a\udc00', 'E_INPUT'],
  ])('ACT2: %j with control characters removed', (text, expected) => expect(codeOf(text, true)).toBe(expected));

  it('ACT2: one megabyte is taken, a byte more is not, counted as it arrives', () => {
    const largest = 'x'.repeat(limits.messageBytesMax);
    expect(checkMessage(largest, { strip: false }).ok).toBe(true);
    expect(codeOf(`${largest}y`)).toBe('E_TOO_LARGE');
    expect(codeOf('漢'.repeat(limits.messageBytesMax / 3 + 1))).toBe('E_TOO_LARGE');
    expect(checkMessage(`${largest.slice(1)}\r\n`, { strip: false }).ok).toBe(true);
  });

  it('says where the character is and what to do', () => {
    const result = checkMessage('one\ntwo\u001b', { strip: false });
    expect(result).toMatchObject({
      ok: false,
      failure: {
        message: 'the message contains a control character (U+001B) in line 2',
        next: expect.stringContaining('--strip-control'),
      },
    });
  });
});

describe('sightingOf', () => {
  const seen = (text: string, before: readonly string[], after: readonly string[], collapsed: RegExp | null = null) =>
    sightingOf(text, collapsed, before, after);

  it('ACT2: a message is seen where its end stands once more than before', () => {
    const before = ['> fix the bug', '', '> '];
    expect(seen('fix the bug', before, before)).toBeNull();
    expect(seen('fix the bug', before, ['> fix the bug', '', '> fix the bug'])).toEqual({ shown: 'fix the bug' });
  });

  it('ACT2: it is found through wraps and frames, with a piece that stands in one line', () => {
    const after = ['╭──────────────╮', '│ > please fix │', '│ the bug      │', '╰──────────────╯'];
    expect(seen('please fix the bug', [], after)).toEqual({ shown: 'the bug' });
    expect(seen('first\n\tsecond: 漢字', [], ['> first', '    second: 漢字'])).toEqual({ shown: 'second' });
  });

  it('ACT2: a short message must end a line, for its letters are everywhere', () => {
    expect(seen('y', [], ['why', 'say yes'])).toBeNull();
    expect(seen('y', ['> '], ['> y                 │'])).toEqual({ shown: 'y' });
    expect(seen('🙂', ['> '], ['> 🙂'])).toEqual({ shown: null });
  });

  it('ACT2: what the agent shows in its place counts, if it is new', () => {
    const pattern = /\[Pasted text #\d+ \+\d+ lines\]/gu;
    const before = ['> [Pasted text #1 +12 lines]'];
    expect(seen('long\ntext', before, before, pattern)).toBeNull();
    const after = [...before, '> [Pasted text #2 +30 lines]'];
    expect(seen('long\ntext', before, after, pattern)).toEqual({ shown: 'Pasted text' });
    expect(seen('long\ntext', before, after)).toBeNull();
  });

  it('ACT2: nothing but marks without a width is never seen', () => {
    expect(seen('\u200b', [], ['\u200b'])).toBeNull();
  });
});

describe('isEchoed', () => {
  it('ACT2: a text that the terminal shows by itself has its marks around it, also where they wrap', () => {
    expect(isEchoed('fix', ['> '], ['> ^[[200~fix^[[201~'])).toBe(true);
    expect(isEchoed('fix', ['> '], ['> ^[[2', '00~fix^[[201~'])).toBe(true);
    expect(isEchoed('fix', ['> '], ['> fix'])).toBe(false);
  });

  it('ACT2: marks that stood there before, or stand in the text itself, are none', () => {
    expect(isEchoed('fix', ['^[[200~old'], ['^[[200~old', '> fix'])).toBe(false);
    expect(isEchoed('what is ^[[200~ for', ['> '], ['> what is ^[[200~ for'])).toBe(false);
    expect(isEchoed('what is ^[[200~ for', ['> '], ['> ^[[200~what is ^[[200~ for^[[201~'])).toBe(true);
  });
});
