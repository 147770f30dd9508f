// Which messages may be typed, and how one is recognised on a screen.

import { describe, expect, it } from 'vitest';
import { limits } from '../model/limits.ts';
import { checkMessage, isEchoed, isTakenFrom, standingOf } from './message-text.ts';

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
  ])('ACT2 ACT2b: %j with control characters removed', (text, expected) => expect(codeOf(text, true)).toBe(expected));

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

describe('standingOf', () => {
  type Lines = readonly string[];
  const pattern = /\[Pasted text #\d+ \+\d+ lines\]/gu;
  const stands = (text: string, before: Lines, now: Lines, collapsed: RegExp | null = null) => {
    const standing = standingOf(text, collapsed, { lines: before, prompt: null }, { lines: now, prompt: null });
    return standing.kind === 'alone' ? standing.rows : standing.kind;
  };
  const inPrompt = (text: string, unsent: string, collapsed: RegExp | null = pattern) => {
    const prompt = { unsent, sign: null, rows: { from: 3, to: 5 } };
    const standing = standingOf(text, collapsed, { lines: [], prompt: null }, { lines: [], prompt });
    return standing.kind === 'alone' ? standing.rows : standing.kind;
  };

  it('ACT2: a message stands there where it stands once more than before', () => {
    const before = ['> fix the bug', '', '> '];
    expect(stands('fix the bug', before, before)).toBe('not_yet');
    expect(stands('fix the bug', before, ['> fix the bug', '', '> fix the bug'])).toEqual([2]);
  });

  it('ACT2: it is found through wraps and frames', () => {
    const after = ['╭──────────────╮', '│ > please fix │', '│ the bug      │', '╰──────────────╯'];
    expect(stands('please fix the bug', ['│ > Try "x" │'], after)).toEqual([1, 2]);
    expect(stands('first\n\tsecond: 漢字', ['> '], ['> first', '    second: 漢字'])).toEqual([0, 1]);
  });

  it('ACT2: short messages and those of signs alone are found, and their letters elsewhere are none', () => {
    expect(stands('y', ['why', 'say yes', '> '], ['why', 'say yes', '> '])).toBe('not_yet');
    expect(stands('y', ['> '], ['> y                 │'])).toEqual([0]);
    expect(stands('🙂', ['> '], ['> 🙂'])).toEqual([0]);
    for (const text of ['a b', '1, 2', 'y\n', 'o k'])
      expect(stands(text, ['> '], [`> ${text.trim()}`]), text).toEqual([0]);
    for (const text of ['a b', '1, 2', 'y\n']) expect(inPrompt(text, text.trim()), text).toEqual([3, 4]);
  });

  it('ACT2: what somebody typed in the same line makes it mixed', () => {
    for (const now of ['> rm fix the bug', '> fix the bugrm', '> fix the bug rm']) {
      expect(stands('fix the bug', ['earlier', '> '], ['earlier', now]), now).toBe('mixed');
      expect(inPrompt('fix the bug', now.slice(2)), now).toBe('mixed');
    }
    expect(stands('fix the bug', ['? for shortcuts'], ['? for shortcutsfix the bug'])).toEqual([0]);
    expect(stands('fix the bug', ['? for shortcuts'], ['? for shortcutsrm fix the bug'])).toBe('mixed');
  });

  it('ACT2: what the agent shows in its place counts, if it is new and alone', () => {
    const before = ['> [Pasted text #1 +12 lines]', '> '];
    expect(stands('long\ntext', before, before, pattern)).toBe('not_yet');
    const after = ['> [Pasted text #1 +12 lines]', '> [Pasted text #2 +30 lines]'];
    expect(stands('long\ntext', before, after, pattern)).toEqual([1]);
    expect(stands('long\ntext', before, after)).toBe('not_yet');
    expect(stands('long\ntext', before, [before[0] ?? '', '> rm [Pasted text #2 +30 lines]'], pattern)).toBe('mixed');
    const long = 'begin of it\n'.repeat(40).concat('and end');
    expect(inPrompt(long, '[Pasted text #2 +30 lines]')).toEqual([3, 4]);
    expect(inPrompt(long, 'begin of it[Pasted text #2 +30 lines]and end')).toEqual([3, 4]);
    for (const other of ['rm ', '[Pasted text #1 +2 lines]', '| x'])
      expect(inPrompt(long, `${other}[Pasted text #2 +30 lines]`), other).toBe('mixed');
    // A mark of somebody else's paste before a message that is there whole.
    expect(inPrompt('please', '[Pasted text #1 +5 lines]please')).toBe('mixed');
  });

  it('ACT2: of a message that is too long for the prompt its end counts, and its begin is waited for', () => {
    const long = 'one two three four five six seven eight nine';
    expect(inPrompt(long, 'five six seven eight nine')).toEqual([3, 4]);
    expect(inPrompt(long, 'one two three')).toBe('not_yet');
    expect(inPrompt(long, 'five six seven eight nine rm')).toBe('mixed');
    expect(inPrompt(long, 'rm')).toBe('not_yet');
  });

  it('ACT2: nothing but marks without a width is never seen', () => {
    expect(stands('\u200b', [], ['\u200b'])).toBe('not_yet');
  });
});

describe('isTakenFrom', () => {
  const on = { lines: ['above', '> fix it'], rows: [1] };
  const taken = (unsent: string | null, lines: readonly string[]) =>
    isTakenFrom(on, 'fix it', null, {
      lines,
      prompt: unsent === null ? null : { unsent, sign: null, rows: { from: 1, to: 2 } },
    });

  it('ACT4: a message is taken when it no longer stands where Enter was pressed on it', () => {
    expect([taken(null, on.lines), taken('fix it', on.lines), taken('fix', ['above', '> fix'])]).toEqual([
      false,
      false,
      false,
    ]);
    expect([taken(null, ['above', '> ']), taken('', ['above', '> ']), taken('next', ['', '> next'])]).toEqual([
      true,
      true,
      true,
    ]);
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
