// What terminals send, in whole pieces and in halves.
import { describe, expect, it } from 'vitest';
import { asBurst, endInput, type Input, noInput, readInput } from './keys.ts';

const keysOf = (inputs: readonly Input[]): readonly string[] =>
  inputs.map((input) => {
    if (input.is === 'mouse') return `${input.what} ${input.column},${input.row}`;
    return input.is === 'key' ? input.key : `<${input.text}>`;
  });

const read = (text: string): readonly string[] => keysOf(readInput(noInput, text).inputs);

describe('keys', () => {
  it.each([
    ['a', ['a']],
    ['\u001b[<0;12;3M\u001b[<0;12;3m', ['press 11,2']],
    ['\u001b[<64;1;1M\u001b[<65;1;1M\u001b[<2;1;1M', ['wheelup 0,0', 'wheeldown 0,0']],
    ['aB?', ['a', 'B', '?']],
    ['語😀', ['語', '😀']],
    ['\r', ['enter']],
    ['\n', ['ctrl+j']],
    ['\t', ['tab']],
    ['\u007f', ['backspace']],
    ['\u0003', ['ctrl+c']],
    ['\u0012', ['ctrl+r']],
    ['\u0000', ['ctrl+space']],
    ['\u001b[A', ['up']],
    ['\u001bOB', ['down']],
    ['\u001b[1;5C', ['ctrl+right']],
    ['\u001b[Z', ['shift+tab']],
    ['\u001b[5~\u001b[6~', ['pageup', 'pagedown']],
    ['\u001b[3~', ['delete']],
    ['\u001b[H\u001b[F', ['home', 'end']],
    ['\u001bx', ['alt+x']],
    ['\u001b\r', ['alt+enter']],
    // Sequences that are no keys of ours: focus, mouse, an answer of the terminal.
    ['\u001b[I\u001b[<35;3;4M\u001b[?62;c\u001b[99~x', ['x']],
    ['\u0085', []],
  ])('%j is %j', (text, keys) => {
    expect(read(text)).toEqual(keys);
  });

  it('a sequence in two pieces is one key, wherever it was cut', () => {
    for (const whole of ['\u001b[1;5C', '\u001b[5~', '\u001bOA']) {
      for (let at = 1; at < whole.length; at += 1) {
        const first = readInput(noInput, whole.slice(0, at));
        expect(first.inputs).toEqual([]);
        expect(keysOf(readInput(first.state, whole.slice(at)).inputs)).toEqual(read(whole));
      }
    }
  });

  it('a lone escape is the key when nothing follows it', () => {
    const { state, inputs } = readInput(noInput, '\u001b');
    expect(inputs).toEqual([]);
    expect(keysOf(endInput(state).inputs)).toEqual(['esc']);
    expect(keysOf(endInput(readInput(noInput, '\u001b[').state).inputs)).toEqual(['esc', '[']);
    expect(read('\u001b\u001b[A')).toEqual(['esc', 'up']);
    expect(endInput(noInput).inputs).toEqual([]);
  });

  it('a sequence without an end is thrown away', () => {
    expect(read(`\u001b[${'1;'.repeat(40)}`)).toEqual([]);
    expect(readInput(noInput, `\u001b[${'1;'.repeat(40)}`).state.waiting).toBe('');
  });
});

describe('pastes', () => {
  it('come in one piece, with what looks like keys in them', () => {
    expect(read('a\u001b[200~q\r\u001b[A\u001b[201~b')).toEqual(['a', '<q\r\u001b[A>', 'b']);
  });

  it('may be cut anywhere', () => {
    const whole = '\u001b[200~two\nlines\u001b[201~x';
    for (let at = 1; at < whole.length; at += 1) {
      const first = readInput(noInput, whole.slice(0, at));
      const second = readInput(first.state, whole.slice(at));
      expect(keysOf([...first.inputs, ...second.inputs])).toEqual(['<two\nlines>', 'x']);
    }
  });

  it('do not end by waiting, and are cut when they are endless', () => {
    const { state } = readInput(noInput, '\u001b[200~abc');
    expect(endInput(state).inputs).toEqual([]);
    const [paste] = readInput(noInput, `\u001b[200~${'x'.repeat(100_000)}\u001b[201~`).inputs;
    expect(paste?.is === 'paste' && paste.text.length).toBe(65_536);
  });
});

describe('several at once', () => {
  it('are marked, one alone is not', () => {
    expect(asBurst(readInput(noInput, 'Ky').inputs)).toEqual([
      { is: 'key', key: 'K', isBurst: true },
      { is: 'key', key: 'y', isBurst: true },
    ]);
    expect(asBurst(readInput(noInput, '\u001b[A').inputs)).toEqual([{ is: 'key', key: 'up' }]);
  });
});
