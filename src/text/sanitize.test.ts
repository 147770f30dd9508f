import { inspect } from 'node:util';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { limits } from '../model/limits.ts';
import {
  createSanitizer,
  type Foreign,
  foreign,
  type SafeText,
  type SanitizeMode,
  sanitizeBlock,
  sanitizeColoured,
  sanitizeLine,
  sanitizeRevealed,
} from './sanitize.ts';

const line = (text: string): string => sanitizeLine(foreign(text));
const block = (text: string): string => sanitizeBlock(foreign(text));
const coloured = (text: string): string => sanitizeColoured(foreign(text));
const revealed = (text: string): string => sanitizeRevealed(foreign(text));

const modes: readonly SanitizeMode[] = ['line', 'block', 'coloured', 'revealed'];

describe('the types', () => {
  it('SEC3 foreign text is no string, safe text is one', () => {
    expectTypeOf<Foreign>().not.toExtend<string>();
    expectTypeOf<string>().not.toExtend<Foreign>();
    expectTypeOf<string>().not.toExtend<SafeText>();
    expectTypeOf<SafeText>().toExtend<string>();
    expectTypeOf(sanitizeLine).parameter(0).toEqualTypeOf<Foreign>();
    expectTypeOf(sanitizeLine).returns.toEqualTypeOf<SafeText>();
  });

  it('SEC3 foreign text printed by mistake shows nothing of itself', () => {
    const box = foreign('\x1b]52;c;c2VjcmV0\x07secret');
    for (const printed of [`${box}`, String(box), JSON.stringify({ box }), inspect(box, { showHidden: true })]) {
      expect(printed).not.toContain('secret');
      expect(printed).not.toContain('\x1b');
    }
    expect(JSON.stringify({ box })).toBe('{"box":"[foreign text]"}');
  });
});

describe('control sequences', () => {
  const hostile: readonly (readonly [string, string])[] = [
    ['title', '\x1b]0;evil\x07'],
    ['title with ST', '\x1b]2;evil\x1b\\'],
    ['clipboard', '\x1b]52;c;ZXZpbA==\x07'],
    ['link', '\x1b]8;;https://evil.example\x1b\\'],
    ['agent state', '\x1b]7501;state=evil\x07'],
    ['screen title', '\x1bkevil\x1b\\'],
    ['DCS', '\x1bP$qm\x1b\\'],
    ['APC', '\x1b_Gevil\x1b\\'],
    ['PM', '\x1b^evil\x1b\\'],
    ['SOS', '\x1bXevil\x1b\\'],
    ['8-bit OSC', '\u009d0;evil\u009c'],
    ['8-bit DCS', '\u0090evil\u009c'],
    ['8-bit APC', '\u009fevil\u009c'],
    ['8-bit PM', '\u009eevil\u009c'],
    ['8-bit SOS', '\u0098evil\u009c'],
    ['8-bit CSI', '\u009b6n'],
    ['C1 without arguments', '\u0084\u0085\u008d\u0080\u009c'],
    ['cursor up', '\x1b[3A'],
    ['report', '\x1b[6n\x1b[c\x1b[>c\x1b[5n'],
    ['mode', '\x1b[?1049h\x1b[?2004h\x1b[4h'],
    ['control inside CSI', '\x1b[\x08\x076\x7fn'],
    ['reset', '\x1bc'],
    ['charset', '\x1b(0\x1b%G\x1b(\x07\x7fB'],
    ['escape of escape', '\x1b\x1b\x1b[A'],
    ['control after escape', '\x1b\x07\x7fM'],
    ['CAN and SUB', '\x1b]0;evil\x18\x1b[3\x1a'],
    ['escape inside OSC', '\x1b]0;evil\x1b[6n'],
    ['CSI inside OSC', '\x1b]0;evil\u009b6n'],
    ['other C0', '\x00\x01\x05\x07\x08\x0b\x0c\x0e\x0f\x7f'],
    ['modifyOtherKeys', '\x1b[>4;2m'],
    ['unclosed OSC', '\x1b]0;evil'],
  ];

  it.each(hostile)('SEC3 %s leaves nothing in any mode', (_name, sequence) => {
    expect(line(`a${sequence}`)).toBe('a');
    expect(block(`a${sequence}`)).toBe('a');
    expect(coloured(`a${sequence}`)).toBe('a');
  });

  it.each(hostile.slice(0, -1))('SEC3 %s hides nothing of what follows', (_name, sequence) => {
    expect(line(`a${sequence}b`)).toBe('ab');
    expect(coloured(`a${sequence}b`)).toBe('ab');
  });

  it.each(hostile)('SEC3 %s stays visible where a person decides', (_name, sequence) => {
    const shown = revealed(`a${sequence}b`);
    expect(shown).toMatch(/^[^\x00-\x1f\x7f-\x9f]+$/);
    expect(shown).toHaveLength(sequence.length + 2);
    expect(shown.includes('evil')).toBe(sequence.includes('evil'));
  });

  it('SEC3 a line end closes what is open, so an unclosed string hides no further line', () => {
    expect(block('\x1b]0;evil\nshown')).toBe('\nshown');
    expect(block('\x1b[12\nshown')).toBe('\nshown');
    expect(block('\x1bPevil\r\nshown')).toBe('\nshown');
  });

  it('SEC3 text that is not ASCII breaks off a short sequence and is shown', () => {
    expect(line('\x1bé')).toBe('é');
    expect(line('\x1b(é')).toBe('é');
    expect(line('\x1b[3é')).toBe('é');
  });

  it('SEC3 outputs joined form no sequence', () => {
    expect(`${line('a\x1b')}${line('[6n')}${line('\u009b')}${line('6n')}`).toBe('a[6n6n');
  });
});

describe('lines and tabs', () => {
  it('SEC3 a block keeps them, a line makes them spaces', () => {
    expect(block('a\tb\nc\r\nd\u2028e\u2029f')).toBe('a\tb\nc\nd\ne\nf');
    expect(line('a\tb\nc\r\nd\u2028e\u2029f')).toBe('a b c d e f');
    expect(revealed('a\tb\nc\r\nd\u2028e')).toBe('a\tb\nc␍\nd\ufffde');
  });

  it('SEC3 a carriage return cannot write over its row', () => {
    expect(block('rm -rf\rls')).toBe('rm -rf\nls');
    expect(block('50%\r\r\x1b[K\r\n51%\r')).toBe('50%\n51%');
    expect(line('a\r\nb\rc\r')).toBe('a b c');
    expect(block('a\r\u200b\r\nb')).toBe('a\nb');
  });
});

describe('characters', () => {
  it('SEC3 halves of characters are replaced', () => {
    expect(line('a\ud83db\ude00c')).toBe('a\ufffdb\ufffdc');
    expect(line('\ud83d\ud83d\ude00\ud83d')).toBe('\ufffd😀\ufffd');
  });

  it('SEC3 what is invisible or turns the reading direction goes', () => {
    const tricks =
      '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200c\u200d\u2060\u2061\u2064' +
      '\ufeff\u180e\u{e0001}\u{e0041}\u{e007f}\ufff9\ufffa\ufffb\u00ad\u034f\u115f\u3164\uffa0\ufe00\u{e0100}\ufffe\uffff';
    for (const gate of [line, block, coloured]) expect(gate(`a${tricks}b`)).toBe('ab');
    expect(revealed(`a${tricks}b`)).toBe(`a${'\ufffd'.repeat([...tricks].length)}b`);
  });

  it('SEC3 ordinary text of many scripts passes unchanged', () => {
    const text = 'Grüße, мир, 漢字 かな 한글, مرحبا, שלום, हिन्दी, ไทย, e\u0301, 👍🏽 🇩🇪 ✳ … ⠿  nbsp\u00a0. \ue0b0';
    for (const gate of [line, block, coloured, revealed]) expect(gate(text)).toBe(text);
  });

  it('SEC3 emoji selectors stay in blocks and go from lines, whose width must be certain', () => {
    expect(block('⚠\ufe0f')).toBe('⚠\ufe0f');
    expect(line('⚠\ufe0f☎\ufe0e')).toBe('⚠☎');
  });

  it('SEC3 marks are few and never change what stands before the text', () => {
    const tower = '\u0300'.repeat(50);
    const kept = '\u0300'.repeat(limits.combiningMarksMax);
    expect(line(`a${tower}b`)).toBe(`a${kept}b`);
    expect(block(`${tower}a\n${tower}b\t${tower}c`)).toBe('a\nb\tc');
    expect(coloured(`a${kept}\x1b[1m${tower}`)).toBe(`a${kept}`);
    expect(revealed(`\u0300a${kept}\u0301`)).toBe(`\ufffda${kept}\ufffd`);
    expect(line('\u1112\u1161\u11ab')).toBe('\u1112\u1161\u11ab');
  });
});

describe('colours', () => {
  it('SEC3 the allowed ones are kept in one form and closed', () => {
    expect(coloured('\x1b[1;31mred\x1b[0m plain')).toBe('\x1b[0;1;31mred\x1b[0m plain');
    expect(coloured('\x1b[41mopen')).toBe('\x1b[0;41mopen\x1b[0m');
    expect(coloured('\u009b97mx\x1b[my')).toBe('\x1b[0;97mx\x1b[0my');
    expect(coloured('\x1b[1m\x1b[31m\x1b[32m\x1b[0m\x1b[4m')).toBe('');
    expect(coloured('e\x1b[1m\u0301x')).toBe('e\u0301\x1b[0;1mx\x1b[0m');
  });

  it('SEC3 each line is closed by itself', () => {
    expect(coloured('\x1b[44ma\nb\x1b[0m\nc')).toBe('\x1b[0;44ma\x1b[0m\n\x1b[0;44mb\x1b[0m\nc');
  });

  it.each([
    ['1;2;3;4;7;9', '0;1;2;3;4;7;9'],
    ['21', '0;4'],
    ['1;2;22', '0'],
    ['3;23;4;24;7;27;9;29', '0'],
    ['31;91;39;42;107;49', '0'],
    ['90;100', '0;90;100'],
    ['38;5;200;48;5;0', '0;38;5;200;48;5;0'],
    ['38;2;1;2;3;48;2;255;254;253', '0;38;2;1;2;3;48;2;255;254;253'],
    ['38;5;;1', '0;1;38;5;0'],
    ['4:3;38:5:9', '0;4;38;5;9'],
    ['4;4:0', '0'],
    ['38:2:1:2:3', '0;38;2;1;2;3'],
    ['48:2::1:2:3', '0;48;2;1;2;3'],
    ['0000031', '0;31'],
  ])('SEC3 SGR %s becomes %s', (given, canonical) => {
    const open = `\x1b[${canonical}m`;
    expect(coloured(`\x1b[${given}mx`)).toBe(canonical === '0' ? 'x' : `${open}x\x1b[0m`);
  });

  it.each([
    ['blink and conceal', '5;6;8;25;28;53;73'],
    ['colour of the underline', '58;5;1;58;2;1;2;3'],
    ['out of range', '38;5;256'],
    ['cut short', '38;2;1;2'],
    ['unknown kind, rest unknown', '38;3;31'],
    ['no kind', '48'],
    ['unknown numbers', '999999999999;11;108;99'],
    ['colons out of range', '38:5:256'],
    ['colons of unknown kind', '38:9:1'],
    ['colons on something else', '1:2;58:5:1'],
    ['colons cut short', '38:2:1'],
    ['private', '?1'],
    ['intermediate', '1 '],
    ['too long', `${'1;'.repeat(limits.sgrCharsMax / 2)}1`],
  ])('SEC3 SGR %s colours nothing', (_name, given) => {
    expect(coloured(`\x1b[${given}mx`)).toBe('x');
  });

  it('SEC3 the longest parameters that are believed', () => {
    expect(coloured(`\x1b[${'1;'.repeat(limits.sgrCharsMax / 2)}31mx`)).toBe('x');
    expect(coloured(`\x1b[${'0'.repeat(limits.sgrCharsMax - 2)}31mx`)).toBe('\x1b[0;31mx\x1b[0m');
  });

  it('SEC3 other modes drop every colour', () => {
    expect(line('\x1b[31mred\x1b[0m')).toBe('red');
    expect(block('\x1b[31mred\x1b[0m')).toBe('red');
  });
});

describe('length', () => {
  it('SEC3 is bounded in every mode, and the cut is shown', () => {
    expect(line('x'.repeat(limits.gateLineCharsMax + 5))).toBe(`${'x'.repeat(limits.gateLineCharsMax)}…`);
    for (const gate of [block, coloured, revealed]) {
      expect(gate('x'.repeat(limits.gateBlockCharsMax + 5))).toHaveLength(limits.gateBlockCharsMax + 1);
    }
    expect(line('x'.repeat(limits.gateLineCharsMax))).not.toContain('…');
    expect(line(`${'x'.repeat(limits.gateLineCharsMax - 1)}😀b`)).toBe(`${'x'.repeat(limits.gateLineCharsMax - 1)}…`);
  });

  it('SEC3 a cut inside colours is closed and stable', () => {
    const through = (text: string, mode: SanitizeMode = 'coloured'): string => {
      const gate = createSanitizer(mode, { charsMax: 3 });
      return `${gate.push(text)}${gate.end()}`;
    };
    for (const mode of modes) {
      expect(through('abcd', mode)).toBe('abc…');
      expect(through('abc…', mode)).toBe('abc…');
    }
    for (const text of [
      '\x1b[1mabc\ndef',
      '\x1b[1mabcdef',
      '\x1b[1ma\x1b[2mb\x1b[3mc\x1b[4md',
      'ab\u0300\u0301c',
      '\x1b[1mab😀',
    ]) {
      expect(through(text)).toContain('…');
      expect(through(through(text))).toBe(through(text));
    }
    expect(through('\x1b[1mabc\ndef')).toBe('\x1b[0;1mabc\x1b[0m…');
  });

  it('SEC3 a stream without end may lift the bound', () => {
    const gate = createSanitizer('line', { charsMax: Number.POSITIVE_INFINITY });
    for (let index = 0; index < 10; index += 1) expect(gate.push('x'.repeat(1_000))).toHaveLength(1_000);
  });

  it('SEC3 a line is cut to columns', () => {
    expect(sanitizeLine(foreign('漢字\x1b[6n漢字'), { columnsMax: 5 })).toBe('漢字…');
    expect(sanitizeLine(foreign('short'), { columnsMax: 5 })).toBe('short');
  });
});

describe('pieces', () => {
  const text = 'a\x1b[1;31m漢\ud83d\ude00\r\n\x1b]0;t\x1b\\e\u0301\u0300\r\u009b5nx\ud83d';

  it.each(modes)('SEC3 %s gives the same for every split', (mode) => {
    const whole = createSanitizer(mode);
    const expected = `${whole.push(text)}${whole.end()}`;
    for (let first = 0; first <= text.length; first += 1) {
      for (let second = first; second <= text.length; second += 1) {
        const gate = createSanitizer(mode);
        const parts = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        expect(`${parts.map((part) => gate.push(part)).join('')}${gate.end()}`).toBe(expected);
      }
    }
  });

  it('SEC3 nothing passes after the end', () => {
    const gate = createSanitizer('line');
    gate.end();
    expect(() => gate.push('x')).toThrow('broken invariant');
  });
});
