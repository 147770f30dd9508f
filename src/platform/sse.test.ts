import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventStreamParser } from './sse.ts';

function parse(chunks: readonly Uint8Array[], charsMax = 100): string[] {
  const told: string[] = [];
  const parser = new EventStreamParser(
    charsMax,
    (text) => told.push(text),
    (chars) => told.push(`dropped ${chars}`),
  );
  for (const chunk of chunks) parser.push(chunk);
  return told;
}

describe('a stream of events', () => {
  const text = [
    '\ufeffdata: one\n\n',
    ': a comment\nevent: named\nid: 7\ndata:two\r\ndata:  lines\r\n\r\n',
    'data: with €\r\rdata\n\n',
    `data: ${'x'.repeat(60)}\ndata: ${'x'.repeat(60)}\n\n`,
    `data: ${'y'.repeat(200)}\r\n\r\n`,
    'event: without data\n\ndata: last\n\n',
    'data: unfinished',
  ].join('');
  const told = ['one', 'two\n lines', 'with €', '', 'dropped 132', 'dropped 206', 'last'];
  const bytes = Buffer.from(text);

  it('is the same however it is cut', () => {
    expect(parse([bytes])).toEqual(told);
    expect(parse([...bytes].map((byte) => Buffer.of(byte)))).toEqual(told);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.sort((one, other) => one - other), bytes.length];
        expect(parse(at.slice(1).map((end, index) => bytes.subarray(at[index], end)))).toEqual(told);
      }),
    );
  });

  it('comments without end do not use up the room of an event', () => {
    expect(parse([Buffer.from(`${': awake\n'.repeat(100)}data: a\n\n`)])).toEqual(['a']);
  });

  it('garbage never throws', () => {
    fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (chunks) => void parse(chunks)));
  });
});
