import { Terminal } from '@xterm/headless';
import { describe, expect, it } from 'vitest';
import { codePointColumns, cut, pad, width } from './width.ts';

describe('width', () => {
  it.each([
    ['', 0],
    ['plain ASCII ~', 13],
    ['\x00\x1b\x7f\u009b', 0],
    ['é', 1],
    ['e\u0301\u0302', 1],
    ['\u0301', 0],
    ['漢字', 4],
    ['한글', 4],
    ['\u1112\u1161\u11ab', 2],
    ['ｆｕｌｌ', 8],
    ['\u3000', 2],
    ['½…—', 3],
    ['😀', 2],
    ['👍🏽', 2],
    ['🏽', 2],
    ['a🏽', 3],
    ['❤', 1],
    ['❤\ufe0f', 2],
    ['a\ufe0f', 1],
    ['1\ufe0f\u20e3', 2],
    ['👩\u200d💻', 2],
    ['👩🏽\u200d❤\ufe0f\u200d👨', 2],
    ['a\u200db', 2],
    ['👩\u200da', 3],
    ['👩\u200d', 2],
    ['🇩🇪', 2],
    ['🇩🇪🇫🇷', 4],
    ['🇩', 1],
    ['🇩a', 2],
    ['✳ ⠿ │', 5],
    ['\u{1fffd}', 1],
    ['\u{2a700}', 2],
    ['\u{10fffd}', 1],
  ])('%j takes %i', (text, columns) => {
    expect(width(text)).toBe(columns);
  });

  it('agrees with the properties the engine knows', () => {
    const wrong: string[] = [];
    for (let code = 0xa0; code <= 0x10ffff; code += 1) {
      const char = String.fromCodePoint(code);
      const columns = codePointColumns(code);
      const isMark = /[\p{Mn}\p{Me}]/u.test(char);
      const isWide =
        /[\p{Ideographic}\p{Emoji_Presentation}]/u.test(char) && !/[\p{Regional_Indicator}\p{Mn}]/u.test(char);
      const isNarrow = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}]/u.test(char) && !isMark;
      if (isMark && columns !== 0) wrong.push(`mark ${code.toString(16)}`);
      if (isWide && columns !== 2) wrong.push(`wide ${code.toString(16)}`);
      // Full-width forms of Latin letters, and Arabic format characters, are what their names say.
      if (isNarrow && columns !== 1 && !/[\uff00-\uff5e]|\p{Cf}/u.test(char)) wrong.push(`narrow ${code.toString(16)}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe('against @xterm/headless', () => {
  const terminal = new Terminal({ cols: 80, rows: 2, scrollback: 0, allowProposedApi: true });

  async function columnsOnTerminal(text: string): Promise<number> {
    await new Promise<void>((resolve) => terminal.write(`\x1b[H.${text}`, resolve));
    return terminal.buffer.active.cursorX - 1;
  }

  it('its table differs only where Unicode grew after version 6', () => {
    expect(terminal.unicode.activeVersion).toBe('6');
    const { unicodeService } = (terminal as unknown as { _core: { unicodeService: { wcwidth(code: number): number } } })
      ._core;
    let same = 0;
    const unexplained: string[] = [];
    // Arabic start of rub el hizb, Tagalog vowel sign, circled numbers on squares; trigrams, Jamo and Tangut marks.
    const known = /[\u06de\u1734\u3248-\u324f\u2630-\u2637\u268a-\u268f\ua960-\ua97c\ud7b0-\ud7fb\u{16fe0}-\u{16fff}]/u;
    const grown = /[\p{Mn}\p{Me}\p{Cf}\p{Emoji_Presentation}\p{Ideographic}\p{Script=Katakana}\p{Script=Hiragana}]/u;
    const symbols = /[\u{1d300}-\u{1d376}\u{1f200}-\u{1f7ff}]/u;
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const char = String.fromCodePoint(code);
      if (/[\p{Cn}\p{Co}\p{Cs}]/u.test(char)) continue;
      if (unicodeService.wcwidth(code) === codePointColumns(code)) same += 1;
      else if (!known.test(char) && !grown.test(char) && !symbols.test(char)) unexplained.push(code.toString(16));
    }
    expect(unexplained).toEqual([]);
    expect(same).toBeGreaterThan(140_000);
  });

  it('text of many scripts takes the same', async () => {
    const texts = 'Grüße мир 漢字かな 한글 مرحبا שלום हि ไทย e\u0301 ｆ ½…— ✳ ⠿ │┌ 🇩🇪 \u{20000} ❤ ☎ → ✓ ✗ ● ⏺ ⎿'.split(
      ' ',
    );
    for (const text of texts) expect(await columnsOnTerminal(text), text).toBe(width(text));
  });

  it.each([
    ['a picture', '😀', 2, 1],
    ['joined pictures', '👩\u200d👩\u200d👧', 2, 3],
    ['a picture by selector', '❤\ufe0f', 2, 1],
    ['a keycap', '1\ufe0f\u20e3', 2, 1],
  ])('differs on purpose on %s', async (_name, text, ours, theirs) => {
    expect(width(text)).toBe(ours);
    expect(await columnsOnTerminal(text)).toBe(theirs);
  });
});

describe('cut', () => {
  it.each([
    ['hello', 5, 'hello'],
    ['hello', 4, 'hel…'],
    ['hello', 1, '…'],
    ['hello', 0, ''],
    ['', 0, ''],
    ['漢字漢字', 8, '漢字漢字'],
    ['漢字漢字', 7, '漢字漢…'],
    ['漢字漢字', 6, '漢字…'],
    ['漢字', 1, '…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
    ['🇩🇪🇫🇷', 3, '🇩🇪…'],
    ['👩\u200d💻👩\u200d💻', 3, '👩\u200d💻…'],
    ['ab\u0301', 2, 'ab\u0301'],
  ])('%j to %i', (text, columnsMax, expected) => {
    expect(cut(text, columnsMax)).toBe(expected);
    expect(cut(expected, columnsMax)).toBe(expected);
  });
});

describe('pad', () => {
  it('is exact on both sides', () => {
    expect(pad('ab', 4)).toBe('ab  ');
    expect(pad('ab', 4, 'right')).toBe('  ab');
    expect(pad('漢字', 3)).toBe('漢…');
    expect(pad('漢字', 3, 'right')).toBe('漢…');
    expect(pad('漢字漢', 4)).toBe('漢… ');
    expect(pad('abc', 0)).toBe('');
    expect(pad('abc', -1)).toBe('');
    for (let columns = 0; columns < 12; columns += 1) expect(width(pad('a漢👍🏽e\u0301🇩🇪b', columns))).toBe(columns);
  });
});
