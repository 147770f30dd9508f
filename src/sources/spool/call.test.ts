import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../model/limits.ts';
import { compareSpoolFiles, isSpoolName, parseSpoolHeader, readSpoolFile } from './call.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const line = 'agtmux1 agent=claude event=Stop pane=%2512 socket=/tmp/a%20b,1 pid=41 ppid=40 up=40:7,39:6 body=stdin';

describe('the first line of a spool file', () => {
  it('ADM3 says who and where, its values unescaped', () => {
    expect(parseSpoolHeader(line)).toEqual({
      agent: 'claude',
      event: 'Stop',
      pane: '%12',
      socket: '/tmp/a b,1',
      pid: 41,
      ppid: 40,
      ancestors: [
        { pid: 40, start: '7' },
        { pid: 39, start: '6' },
      ],
      hasBody: true,
    });
  });

  it('may lack what is not known, and may hold fields of later versions', () => {
    const bare = parseSpoolHeader('agtmux1 agent=x event=a%0Ab pane= socket= pid=2 ppid=1 up= body=none more=1');
    expect(bare).toMatchObject({ event: 'a\nb', pane: null, socket: null, ancestors: [], hasBody: false });
  });

  it.each([
    ['another mark', line.replace('agtmux1', 'agtmux2')],
    ['no agent', line.replace('agent=claude', 'agent=')],
    ['no event', line.replace('event=Stop ', '')],
    ['a pid that is none', line.replace('pid=41', 'pid=0x29')],
    ['a field twice', `${line} agent=codex`],
    ['a word without a value', `${line} word`],
    ['a bad escape', line.replace('%20', '%x')],
    ['bytes that are no text', line.replace('%20', '%ff')],
    ['a pane that is none', line.replace('%2512', '12')],
    ['a socket that is no path', line.replace('/tmp', 'tmp')],
    ['a parent without a start', line.replace('40:7', '40')],
    [
      'more parents than there can be',
      line.replace(
        '40:7',
        Array(limits.ancestryMax + 1)
          .fill('4:4')
          .join(','),
      ),
    ],
    ['a name without end', line.replace('Stop', 'S'.repeat(limits.idCharsMax + 1))],
  ])('is refused with %s', (_words, bad) => {
    expect(parseSpoolHeader(bad)).toBeNull();
  });
});

describe('a spool file', () => {
  const read = (text: string) => readSpoolFile('7-41-0', bytes(text), 1_000.5);

  it('ADM3 is a call once line and payload are whole, and not before', () => {
    const whole = `${line}\n{"a":{"b":"}"}}`;
    for (let cut = 0; cut < whole.length; cut += 1) expect(read(whole.slice(0, cut)).kind).toBe('yet');
    expect(read(whole)).toMatchObject({ kind: 'call', call: { file: '7-41-0', payload: { a: { b: '}' } } } });
  });

  it('tells an empty payload that may still come from one that never was', () => {
    expect(read(`${line}\n`)).toMatchObject({ kind: 'yet', why: 'payload', call: { payload: null, text: '' } });
    expect(read(`${line.replace('stdin', 'none')}\n`)).toMatchObject({ kind: 'call', call: { payload: null } });
  });

  it('JSON that is no object is a call without a payload; its text is there', () => {
    for (const text of ['[1]', '"x"', 'null']) {
      expect(read(`${line}\n${text}`)).toMatchObject({ kind: 'call', call: { payload: null, text } });
    }
  });

  it('has a stamp in the millisecond it was written in, in the order of the pids', () => {
    const timeOf = (pid: number): number => {
      const reading = read(`${line.replace('pid=41', `pid=${pid}`)}\n{}`);
      return reading.kind === 'call' ? reading.call.time : Number.NaN;
    };
    expect([timeOf(41) >= 1_000, timeOf(41) < timeOf(42), timeOf(4_095) < 1_001]).toEqual([true, true, true]);
  });

  it('a first line without end is refused', () => {
    expect(read('x'.repeat(limits.spoolHeaderBytesMax + 1))).toEqual({ kind: 'refused', why: 'header' });
  });

  it('never throws, whatever it holds', () => {
    const part = fc.oneof(
      fc.constantFrom('agtmux1 ', 'agent=x ', 'up=1:1,', '%', '=', '\n', '{"a":', '}'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), fc.uint8Array(), (parts, tail) => {
        const content = new Uint8Array([...bytes(parts.join('')), ...tail]);
        expect(() => readSpoolFile('1-1-0', content, 0)).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });
});

describe('names of spool files', () => {
  it('are numbers; nothing that leads elsewhere is one', () => {
    expect(['7-41-0', '0-1-9'].every(isSpoolName)).toBe(true);
    expect(['', '.', '../x', 'a-1-0', '1-2', '1-2-10', '1-2-3/4', '1-2-3\n', '-1-2-3', 'full'].some(isSpoolName)).toBe(
      false,
    );
  });

  it('of one moment are in the order of caller and pid, by number', () => {
    const files = [
      { name: '10-9-0', mtimeMs: 5 },
      { name: '9-100-0', mtimeMs: 5 },
      { name: '9-20-1', mtimeMs: 5 },
      { name: '9-20-0', mtimeMs: 5 },
      { name: '99-1-0', mtimeMs: 4 },
    ];
    expect(files.sort(compareSpoolFiles).map((file) => file.name)).toEqual([
      '99-1-0',
      '9-20-0',
      '9-20-1',
      '9-100-0',
      '10-9-0',
    ]);
  });
});
