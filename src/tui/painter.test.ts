// What is written to the terminal: only what changed, and nothing that a span could do by itself.
import { describe, expect, it } from 'vitest';
import { span } from '../view/shells-spans.ts';
import { inSixteen, paintedLine, repaint } from './painter.ts';

describe('a line', () => {
  it('has its colours, and without colours still what is chosen and what stands back', () => {
    const line = [
      span('a', 'bad'),
      span('b', 'selected'),
      span('c', 'dim'),
      { text: 'd', role: null, sgr: '\u001b[0;32m' },
    ];
    expect(paintedLine(line, 'all')).toBe(
      '\u001b[31ma\u001b[0m\u001b[7mb\u001b[0m\u001b[2mc\u001b[0m\u001b[0;32md\u001b[0m',
    );
    expect(paintedLine(line, 'none')).toBe('a\u001b[7mb\u001b[0m\u001b[2mc\u001b[0md');
  });

  it.each([
    ['0;1;38;5;196', '0;1;91'],
    ['0;38;5;2;48;5;9', '0;32;101'],
    ['0;38;2;10;200;20', '0;92'],
    ['0;38;5;240;4', '0;90;4'],
    ['0;48;2;255;255;255', '0;107'],
    ['0;31', '0;31'],
  ])('SCR5 the colours %s of a pane are %s where there are sixteen', (many, few) => {
    expect(inSixteen(`\u001b[${many}m`)).toBe(`\u001b[${few}m`);
    expect(paintedLine([{ text: 'd', role: null, sgr: `\u001b[${many}m` }], 'sixteen')).toBe(
      `\u001b[${few}md\u001b[0m`,
    );
  });

  it('SEC3 has no control characters, whatever a span holds', () => {
    const text = 'a\u001b]52;c;eA==\u0007\u001b[2Jb\r\nc\u009bH\u007f';
    expect(paintedLine([span(text)], 'all')).toBe('a]52;c;eA==[2JbcH');
  });
});

describe('a picture', () => {
  it('is drawn whole at first, then only where it changed', () => {
    expect(repaint(null, ['a', 'b'])).toBe(
      '\u001b[?2026h\u001b[2J\u001b[1;1H\u001b[Ka\u001b[2;1H\u001b[Kb\u001b[?2026l',
    );
    expect(repaint(['a', 'b', 'c'], ['a', 'x', 'c'])).toBe('\u001b[?2026h\u001b[2;1H\u001b[Kx\u001b[?2026l');
    expect(repaint(['a'], ['a'])).toBe('');
  });
});
