import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ControlParser } from './control-parser.ts';

interface Seen {
  readonly kind: string;
  readonly text: string;
  readonly isError?: boolean;
  readonly isOurs?: boolean;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

function parse(chunks: readonly Uint8Array[], bounds: { lineBytesMax?: number; replyBytesMax?: number } = {}): Seen[] {
  const seen: Seen[] = [];
  const parser = new ControlParser(
    {
      onReply: ({ body, isError, isOurs, isCut, time }) =>
        seen.push({ kind: `reply ${time}${isCut ? ' cut' : ''}`, text: hex(body), isError, isOurs }),
      onOutput: (pane, bytes) => seen.push({ kind: `output %${pane}`, text: hex(bytes) }),
      onNotification: (name, rest) => seen.push({ kind: `notification ${name}`, text: hex(rest) }),
      onExit: (reason) => seen.push({ kind: 'exit', text: hex(reason) }),
      onBreach: (what) => seen.push({ kind: 'breach', text: what }),
    },
    bounds,
  );
  for (const chunk of chunks) parser.push(chunk);
  return seen;
}

/** The obvious parser, on strings of bytes: slow, and easy to see right. */
function naive(wire: Uint8Array): Seen[] {
  const seen: Seen[] = [];
  let block: { key: string; lines: string[] } | null = null;
  for (const line of hex(wire).split('\n').slice(0, -1)) {
    if (block !== null) {
      const isError: boolean = line === `%error ${block.key}`;
      if (isError || line === `%end ${block.key}`) {
        const [time = '', , flags] = block.key.split(' ');
        seen.push({ kind: `reply ${time}`, text: block.lines.join('\n'), isError, isOurs: flags === '1' });
        block = null;
      } else block.lines.push(line);
      continue;
    }
    const output = /^%(?:output %(\d+)|extended-output %(\d+) .*? :) (.*)$/s.exec(line);
    const [word = '', ...rest] = line.slice(1).split(' ');
    if (output !== null) {
      const text = (output[3] ?? '').replace(/\\(\d{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      );
      seen.push({ kind: `output %${output[1] ?? output[2]}`, text });
    } else if (word === 'begin') block = { key: rest.join(' '), lines: [] };
    else if (word === 'exit') seen.push({ kind: 'exit', text: rest.join(' ') });
    else seen.push({ kind: `notification ${word}`, text: rest.join(' ') });
  }
  return seen;
}

function escaped(bytes: Uint8Array): string {
  return [...bytes]
    .map((byte) =>
      byte < 0x20 || byte === 0x5c ? `\\${byte.toString(8).padStart(3, '0')}` : String.fromCharCode(byte),
    )
    .join('');
}

/** Text as terminals get it, cut without regard for characters. */
const printed = fc
  .array(
    fc.constantFrom(
      '\x1b[31m',
      '\x1b[2K',
      '✶ Thinking…',
      '日本語',
      '🚀',
      'C:\\path',
      '\r\n',
      ' plain ',
      '%end 1 1 1',
      '\\033',
      '\x7f\x00',
    ),
  )
  .chain((parts) => {
    const bytes = Buffer.from(parts.join(''));
    return fc.nat(bytes.length).map((start) => bytes.subarray(start));
  });

const replyLine = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => escaped(Buffer.from(text))),
  fc.constantFrom('%end 1 2 3', '%output %1 x', '%begin 5 5 1', '%error', '', '%'),
);

const wirePart = fc.oneof(
  fc.tuple(fc.nat(9_999), printed).map(([pane, bytes]) => `%output %${pane} ${escaped(bytes)}\n`),
  fc
    .tuple(fc.nat(99), fc.nat(5_000), printed)
    .map(([pane, age, bytes]) => `%extended-output %${pane} ${age} : ${escaped(bytes)}\n`),
  fc
    .tuple(fc.nat(), fc.nat(1), fc.boolean(), fc.array(replyLine, { maxLength: 5 }))
    .map(([number, flags, isError, lines]) => {
      const key = `1700000000 ${number + 10} ${flags}`;
      return [`%begin ${key}`, ...lines, `%${isError ? 'error' : 'end'} ${key}`, ''].join('\n');
    }),
  fc.constantFrom(
    '%window-add @3\n',
    '%sessions-changed\n',
    '%session-renamed $1 a b\n',
    '%exit\n',
    '%exit too far behind\n',
    '%pause %5\n',
  ),
);

const wires = fc.array(wirePart, { maxLength: 12 }).map((parts) => Buffer.from(parts.join(''), 'latin1'));

describe('control parser', () => {
  it('reads what the obvious parser reads', () => {
    fc.assert(
      fc.property(wires, (wire) => {
        expect(parse([wire])).toEqual(naive(wire));
      }),
      { numRuns: 400 },
    );
  });

  it('every split gives what one push gives', () => {
    fc.assert(
      fc.property(wires, fc.array(fc.nat(), { maxLength: 8 }), (wire, cuts) => {
        const places = [0, ...cuts.map((cut) => cut % (wire.length + 1)), wire.length].sort(
          (one, other) => one - other,
        );
        const chunks = places.slice(1).map((end, index) => wire.subarray(places[index], end));
        expect(parse(chunks)).toEqual(parse([wire]));
      }),
      { numRuns: 400 },
    );
    const wire = Buffer.from(
      '%output %12 a\\033[1m\\134\xe6\x97\xa5\n%begin 1 2 1\nx\n%end 1 2 2\n\n%end 1 2 1\n%exit\n',
      'latin1',
    );
    const whole = parse([wire]);
    expect(parse([...wire].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
    for (let at = 0; at <= wire.length; at += 1)
      expect(parse([wire.subarray(0, at), wire.subarray(at)])).toEqual(whole);
    expect(whole).toEqual([
      { kind: 'output %12', text: 'a\x1b[1m\\\xe6\x97\xa5' },
      { kind: 'reply 1', text: 'x\n%end 1 2 2\n', isError: false, isOurs: true },
      { kind: 'exit', text: '' },
    ]);
  });

  it('a line without end is dropped and costs no memory', () => {
    const bounds = { lineBytesMax: 1_000 };
    const flood = Array.from({ length: 50 }, () => Buffer.alloc(100, 'x'));
    const after = Buffer.from('\n%output %1 ok\n');
    expect(parse([Buffer.from('%output %1 '), ...flood, after], bounds)).toEqual([
      { kind: 'breach', text: 'output_too_long' },
      { kind: 'output %1', text: 'ok' },
    ]);
    expect(parse([Buffer.concat([Buffer.from('%output %1 '), ...flood, after])], bounds)).toEqual([
      { kind: 'breach', text: 'output_too_long' },
      { kind: 'output %1', text: 'ok' },
    ]);
  });

  it('a long line costs its own reply, and no more, wherever it is split', () => {
    const bounds = { lineBytesMax: 1_000 };
    const long = 'x'.repeat(5_000);
    const wire = Buffer.from(
      `%window-renamed @1 ${long}\n%begin 1 2 1\na\n${long}\nb\n%end 1 2 1\n%begin 1 3 1\nc\n%end 1 3 1\n%output %1 ${long}\n%exit\n`,
    );
    const whole = [
      { kind: 'breach', text: 'line_too_long' },
      { kind: 'reply 1 cut', text: 'a', isError: false, isOurs: true },
      { kind: 'reply 1', text: 'c', isError: false, isOurs: true },
      { kind: 'breach', text: 'output_too_long' },
      { kind: 'exit', text: '' },
    ];
    for (const size of [1, 3, 16, 700, 999, 1_000, 1_001, 4_096, wire.length]) {
      const chunks = Array.from({ length: Math.ceil(wire.length / size) }, (_, index) =>
        wire.subarray(index * size, (index + 1) * size),
      );
      expect(parse(chunks, bounds), `in pieces of ${size}`).toEqual(whole);
    }
  });

  it('a reply without end is cut, and says so', () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}\n`).join('');
    const [reply] = parse([Buffer.from(`%begin 1 2 1\n${lines}%end 1 2 1\n`)], { replyBytesMax: 30 });
    expect(reply?.kind).toBe('reply 1 cut');
    expect(reply?.text.length).toBeLessThanOrEqual(30);
  });

  it('what no tmux sends is a breach, not a crash', () => {
    const lines = [
      'hello',
      '%begin',
      '%begin a b c',
      '%begin 1',
      '%output',
      '%output %',
      '%output %x y',
      '%output %1',
      '%extended-output %1 5',
    ];
    for (const line of lines) {
      const kinds = parse([Buffer.from(`${line}\n%output %1 ok\n`)]);
      expect(kinds.at(-1)).toEqual({ kind: 'output %1', text: 'ok' });
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void parse([bytes, Buffer.from('\n')])));
  });
});
