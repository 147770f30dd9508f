import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from './lines.ts';

function split(chunks: readonly Uint8Array[], bytesMax = 20, isMidLine = false): { lines: string[]; dropped: number } {
  let dropped = 0;
  const splitter = new LineSplitter(bytesMax, () => {
    dropped += 1;
  });
  splitter.restart(isMidLine);
  return { lines: chunks.flatMap((chunk) => splitter.push(chunk)), dropped };
}

describe('whole lines', () => {
  const bytes = Buffer.from(`eins\r\nzwei €\n\n${'x'.repeat(21)}\n${'y'.repeat(20)}\na\rb\nunfinished`);
  const whole = { lines: ['eins', 'zwei €', '', 'y'.repeat(20), 'a\rb'], dropped: 1 };

  it('are the same however they are cut', () => {
    expect(split([bytes])).toEqual(whole);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.sort((one, other) => one - other), bytes.length];
        expect(split(at.slice(1).map((end, index) => bytes.subarray(at[index], end)))).toEqual(whole);
      }),
    );
  });

  it('begin after the next line end when we came in in the middle, which is no loss', () => {
    expect(split([bytes], 20, true)).toEqual({ ...whole, lines: whole.lines.slice(1) });
  });
});
