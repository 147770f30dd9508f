// What a pane shows, as spans: colours kept, everything else gone.
import { describe, expect, it } from 'vitest';
import { clipLine, paneLines } from './pane-picture.ts';
import { lineText } from './shells-spans.ts';

describe('the picture of a pane', () => {
  it('keeps colours, also over the end of a line', () => {
    const lines = paneLines(['plain \u001b[31mred', 'still red\u001b[0m not']);
    expect(lines).toEqual([
      [
        { text: 'plain ', role: null },
        { text: 'red', role: null, sgr: '\u001b[0;31m' },
      ],
      [
        { text: 'still red', role: null, sgr: '\u001b[0;31m' },
        { text: ' not', role: null },
      ],
    ]);
  });

  it('SEC3 lets nothing else through: no cursor, no clipboard, no title', () => {
    const hostile = 'a\u001b[5;5Hb\u001b]52;c;eA==\u0007c\u001b]0;t\u0007\u001b[2Jd\re';
    expect(paneLines([hostile]).map(lineText)).toEqual(['abcd', 'e']);
  });

  it('leaves out the empty rows at its end, and keeps those between', () => {
    expect(paneLines(['a', '', 'b', '', '  ']).map(lineText)).toEqual(['a', '', 'b']);
  });

  it('is cut at a width without halving anything', () => {
    expect(lineText(clipLine(paneLines(['ab\u001b[1mcd語語'])[0] ?? [], 5))).toBe('abcd');
    expect(lineText(clipLine(paneLines(['ab'])[0] ?? [], 5))).toBe('ab');
  });
});
