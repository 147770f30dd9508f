// Typing one line: every key it takes, and characters that are more than one code unit.
import { describe, expect, it } from 'vitest';
import { width } from '../text/width.ts';
import { lineText } from '../view/shells-spans.ts';
import { editText, emptyText, fieldSpans, type TextField, withPaste } from './text-field.ts';

const typed = (keys: readonly string[], from: TextField = emptyText): TextField => keys.reduce(editText, from);

describe('typing', () => {
  it.each([
    [['a', 'b'], 'ab', 2],
    [['a', 'b', 'left', 'x'], 'axb', 2],
    [['a', '😀', 'left', 'x'], 'ax😀', 2],
    [['a', '😀', 'backspace'], 'a', 1],
    [['a', '😀', 'left', 'delete'], 'a', 1],
    [['a', 'home', 'backspace', 'delete', 'delete'], '', 0],
    [['a', 'b', 'ctrl+a', 'right', 'right', 'right'], 'ab', 2],
    [['a', ' ', 'b', 'c', 'ctrl+w'], 'a ', 2],
    [['a', 'b', 'left', 'ctrl+u'], 'b', 0],
    [['a', 'b', 'left', 'ctrl+k'], 'a', 1],
    [['a', 'b', 'home', 'end', 'c'], 'abc', 3],
    [['a', 'pageup', 'ctrl+x'], 'a', 1],
  ] as const)('%j gives %j', (keys, text, cursor) => {
    expect(typed(keys)).toEqual({ text, cursor });
  });

  it('a paste is one line, however many it had', () => {
    expect(withPaste(typed(['>']), 'rm -rf /\r\nyes\u001b[31m\n')).toEqual({ text: '>rm -rf / yes ', cursor: 14 });
    expect(withPaste(emptyText, 'x'.repeat(9_000)).text.length).toBe(0);
  });

  it('shows the part around the cursor', () => {
    const long = typed([...'abcdefghijkl']);
    expect(lineText(fieldSpans(long, 6))).toBe('ijkl ');
    expect(lineText(fieldSpans(typed(['home'], long), 6))).toBe('abcdefghijkl');
  });
});

/** Of several runs the one that the least came in between; in microseconds of the processor. */
function leastTime(run: () => unknown): number {
  const once = (): number => {
    const began = process.cpuUsage();
    for (let round = 0; round < 20; round += 1) run();
    return process.cpuUsage(began).user;
  };
  return Math.max(1, Math.min(...Array.from({ length: 7 }, once)));
}

describe('what is long', () => {
  it('is drawn as fast as what is short, at its end and in its middle', () => {
    const long = withPaste(emptyText, '語'.repeat(8_000));
    for (const field of [long, { ...long, cursor: 4_000 }]) {
      const text = lineText(fieldSpans(field, 40));
      expect(text).toContain('語語語');
      expect(width(text.slice(0, text.indexOf(' ') + 1 || undefined))).toBeGreaterThan(20);
    }
    // Against one that is as long as what can be in sight, in the same run: what is longer must not cost more.
    const short = withPaste(emptyText, '語'.repeat(400));
    const draw = (field: TextField) => () => fieldSpans(field, 40);
    const ratio = leastTime(draw(long)) / leastTime(draw(short));
    expect(ratio).toBeLessThan(5);
  });

  it('SEC3 what is under the cursor has passed the gate too', () => {
    const text = '\u202eevil';
    expect(lineText(fieldSpans({ text, cursor: 0 }, 40))).not.toContain('\u202e');
  });
});
