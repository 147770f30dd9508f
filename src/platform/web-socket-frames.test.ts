import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientFrame, FrameParser, opcodes } from './web-socket-frames.ts';

function parse(chunks: readonly Uint8Array[], messageBytesMax = 100): string[] {
  const told: string[] = [];
  const parser = new FrameParser(messageBytesMax, {
    onText: (text) => told.push(`text ${text}`),
    onPing: (payload) => told.push(`ping ${Buffer.from(payload)}`),
    onClose: () => told.push('close'),
    onDropped: (bytes) => told.push(`dropped ${bytes}`),
    onBreach: (what) => told.push(`breach ${what}`),
  });
  for (const chunk of chunks) parser.push(chunk);
  return told;
}

/** A server's frame: what a client would send, without the mask. */
function serverFrame(opcode: number, payload: string | Uint8Array, final = true): Buffer {
  const body = Buffer.from(payload);
  const framed = Buffer.from(clientFrame(opcode, body, Buffer.alloc(4)));
  const headBytes = framed.length - body.length - 4;
  const head = framed.subarray(0, headBytes);
  head[0] = (final ? 0x80 : 0) | opcode;
  head[1] = (head[1] ?? 0) & 0x7f;
  return Buffer.concat([head, body]);
}

const { text, binary, continuation, ping, pong, close } = opcodes;

describe('frames of a web socket', () => {
  const stream = Buffer.concat([
    serverFrame(text, 'hello'),
    serverFrame(text, ''),
    serverFrame(text, 'a', false),
    serverFrame(ping, 'p'),
    serverFrame(continuation, Buffer.from([0xe2, 0x82]), false),
    serverFrame(continuation, Buffer.from([0xac])),
    serverFrame(pong, 'unasked'),
    serverFrame(text, 'x'.repeat(101)),
    serverFrame(text, 'y'.repeat(60), false),
    serverFrame(continuation, 'y'.repeat(60)),
    serverFrame(binary, 'bytes'),
    serverFrame(text, 'z'.repeat(100)),
    serverFrame(close, ''),
    serverFrame(text, 'after the end'),
  ]);
  const told = [
    'text hello',
    'text ',
    'ping p',
    'text a€',
    'dropped 101',
    'dropped 120',
    'dropped 5',
    `text ${'z'.repeat(100)}`,
    'close',
  ];

  it('are the same however they are cut', () => {
    expect(parse([stream])).toEqual(told);
    expect(parse([...stream].map((byte) => Buffer.of(byte)))).toEqual(told);
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.sort((one, other) => one - other), stream.length];
        const chunks = at.slice(1).map((end, index) => stream.subarray(at[index], end));
        expect(parse(chunks)).toEqual(told);
      }),
    );
  });

  it.each([
    ['reserved bits', Buffer.from([0xc1, 0])],
    ['a masked frame', Buffer.from([0x81, 0x80, 0, 0, 0, 0])],
    ['an unknown kind', Buffer.from([0x83, 0])],
    ['an unknown control', Buffer.from([0x8b, 0])],
    ['a long control', serverFrame(ping, 'x'.repeat(126))],
    ['a control in pieces', serverFrame(ping, 'x', false)],
    ['a continuation of nothing', serverFrame(continuation, 'x')],
    ['a message within a message', Buffer.concat([serverFrame(text, 'a', false), serverFrame(text, 'b')])],
    ['no UTF-8', serverFrame(text, Buffer.from([0xc3]))],
    ['no end', Buffer.from([0x81, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
  ])('break the rules with %s: told once, then silence', (_words, bytes) => {
    const heard = parse([bytes, serverFrame(text, 'later')]);
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatch(/^breach /);
  });

  it('garbage never throws', () => {
    fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (chunks) => void parse(chunks)));
  });

  it.each([0, 125, 126, 65_535, 65_536])('of ours are masked, with %i bytes', (length) => {
    const mask = Buffer.from([1, 2, 3, 4]);
    const framed = clientFrame(text, Buffer.alloc(length, 0x61), mask);
    const headBytes = length < 126 ? 2 : length < 65_536 ? 4 : 10;
    expect(framed.length).toBe(headBytes + 4 + length);
    expect(framed[0]).toBe(0x81);
    expect((framed[1] ?? 0) & 0x80).toBe(0x80);
    const body = framed.subarray(headBytes + 4).map((byte, at) => byte ^ (mask[at & 3] ?? 0));
    expect(body.every((byte) => byte === 0x61)).toBe(true);
  });
});
