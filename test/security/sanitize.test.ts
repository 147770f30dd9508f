// Fuzzes the gate for foreign text and lets a real terminal model read what comes out: nothing but text and colours may
// happen there. COUNT sets the number of inputs, SEED where they begin; a failure names the seed of its input.

import { Terminal } from '@xterm/headless';
import { describe, expect, it } from 'vitest';
import {
  createSanitizer,
  foreign,
  type SanitizeMode,
  sanitizeBlock,
  sanitizeColoured,
  sanitizeLine,
  sanitizeRevealed,
} from '../../src/text/sanitize.ts';
import { pad, width } from '../../src/text/width.ts';
import { corpus, inputOf, randomOf } from './sanitize-inputs.ts';

const count = Number(process.env.COUNT ?? 5_000);
const seedFirst = Number(process.env.SEED ?? 1);
const everySplitCount = 100;

const modes: readonly SanitizeMode[] = ['line', 'block', 'coloured', 'revealed'];
const gates = {
  line: sanitizeLine,
  block: sanitizeBlock,
  coloured: sanitizeColoured,
  revealed: sanitizeRevealed,
} as const;
const whole = (mode: SanitizeMode, text: string): string => gates[mode](foreign(text));

function pieces(mode: SanitizeMode, text: string, cuts: readonly number[]): string {
  const gate = createSanitizer(mode);
  const bounds = [0, ...[...cuts].sort((one, other) => one - other), text.length];
  return bounds.map((bound, index) => gate.push(text.slice(bound, bounds[index + 1] ?? bound))).join('') + gate.end();
}

// What a safe text may consist of, said once more and independently of the gate.
const byte = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const colour = `;(?:[123479]|[349][0-7]|10[0-7]|[34]8;5;${byte}|[34]8;2;${byte};${byte};${byte})`;
const sgr = new RegExp(`\x1b\\[0(?:${colour})*m`, 'g');
const printed = '[^\x00-\x1f\x7f-\x9f\u2028\u2029]';
const allowed: Readonly<Record<SanitizeMode, RegExp>> = {
  line: new RegExp(`^${printed}*$`),
  block: new RegExp(`^(?:${printed}|[\n\t])*$`),
  coloured: new RegExp(`^(?:${printed}|[\n\t]|${sgr.source})*$`),
  revealed: new RegExp(`^(?:${printed}|[\n\t])*$`),
};
const tricks = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\p{Cs}/u;
const tower = /[\p{Mn}\p{Me}]{5}|^[\p{Mn}\p{Me}]/mu;

/** A terminal that notes everything that happens to it besides text. */
class Witness {
  readonly #terminal = new Terminal({
    cols: 200,
    rows: 60,
    scrollback: 0,
    convertEol: true,
    allowProposedApi: true,
    logLevel: 'off',
  });
  readonly #calm = JSON.stringify(this.#terminal.modes);
  effects: string[] = [];

  constructor() {
    const note = (effect: string): false => {
      this.effects.push(effect);
      return false;
    };
    const terminal = this.#terminal;
    terminal.onTitleChange(() => note('title'));
    terminal.onData(() => note('answer'));
    terminal.onBinary(() => note('answer'));
    terminal.onBell(() => note('bell'));
    terminal.buffer.onBufferChange(() => note('buffer'));
    const range = (first: number, last: number): string[] =>
      Array.from({ length: last - first + 1 }, (_, index) => String.fromCharCode(first + index));
    const between = ['', ...range(0x20, 0x2f)];
    for (const intermediates of between) {
      for (const final of range(0x30, 0x7e)) {
        terminal.parser.registerEscHandler({ intermediates, final }, () => note(`ESC ${final}`));
      }
      for (const prefix of ['', '<', '=', '>', '?']) {
        for (const final of range(0x40, 0x7e)) {
          const id = { ...(prefix === '' ? {} : { prefix }), intermediates, final };
          const name = `${prefix}${intermediates}${final}`;
          terminal.parser.registerCsiHandler(id, () => note(`CSI ${name}`));
          terminal.parser.registerDcsHandler(id, () => note(`DCS ${name}`));
        }
      }
    }
    for (let id = 0; id < 10_000; id += 1) terminal.parser.registerOscHandler(id, () => note('OSC'));
  }

  /** The terminal's queue would answer later; what it writes now can be read now. */
  #write(text: string): void {
    (this.#terminal as unknown as { _core: { writeSync(text: string): void } })._core.writeSync(text);
  }

  /** The rows that this text makes on a cleared screen, without spaces; wrapped rows joined. */
  read(text: string): readonly string[] {
    this.#write('\x1b[H\x1b[2J');
    this.effects = [];
    this.#write(text);
    const buffer = this.#terminal.buffer.active;
    const rows: string[] = [];
    for (let row = 0; row <= buffer.cursorY; row += 1) {
      const line = buffer.getLine(row);
      const words = line?.translateToString(true).replaceAll(' ', '') ?? '';
      if (line?.isWrapped) rows.push(`${rows.pop() ?? ''}${words}`);
      else rows.push(words);
    }
    if (JSON.stringify(this.#terminal.modes) !== this.#calm) this.effects.push('modes');
    return rows;
  }

  /** Whether what is written next would still be coloured. */
  isColoured(): boolean {
    this.#write('x');
    const buffer = this.#terminal.buffer.active;
    const cell = buffer.getLine(buffer.cursorY)?.getCell(buffer.cursorX - 1);
    return cell?.isAttributeDefault() !== true;
  }
}

const witness = new Witness();
let witnessed = 0;
let harmless = '';

/** What is wrong with this output once a terminal shows it; null when nothing is. */
function harm(mode: SanitizeMode, out: string): string | null {
  if (!allowed[mode].test(out)) return 'a control character';
  if (tricks.test(out)) return 'an invisible character';
  const plain = out.replace(sgr, '');
  if (tower.test(plain)) return 'a tower of marks';
  const lines = out.split('\n');
  if (lines.some((line) => (line.match(sgr)?.at(-1) ?? '\x1b[0m') !== '\x1b[0m')) return 'a line that is not closed';
  if (out === harmless) return null; // Two modes often agree.
  const rows = witness.read(out);
  witnessed += 1;
  const effect = witness.effects.find((name) => mode !== 'coloured' || name !== 'CSI m');
  if (effect !== undefined) return `an effect: ${effect}`;
  const expected = plain.split('\n').map((line) => line.replaceAll(/[ \t]/g, ''));
  if (rows.join('\n') !== expected.join('\n')) return `other rows: ${JSON.stringify([rows, expected])}`;
  if (witness.isColoured()) return 'colours left on';
  harmless = out;
  return null;
}

function problemOf(seed: number, isEverySplit: boolean): string | null {
  const input = inputOf(seed);
  const random = randomOf(-seed);
  for (const mode of modes) {
    const out = whole(mode, input);
    const cuts = [random(input.length + 1), random(input.length + 1)];
    const splits = isEverySplit ? Array.from({ length: input.length + 1 }, (_, at) => [at]) : [cuts];
    const split = splits.find((at) => pieces(mode, input, at) !== out);
    let what = harm(mode, out);
    if (split !== undefined) what = `another result when split at ${split.join()}`;
    if (whole(mode, out) !== out) what = 'another result the second time';
    if (what !== null)
      return `SEED=${seed} ${mode}: ${what}; input ${JSON.stringify(input)} output ${JSON.stringify(out)}`;
  }
  return null;
}

describe('the gate under fuzz', () => {
  it('SEC3 the witness sees what passes by the gate', () => {
    const seen = (text: string): readonly string[] => {
      const fresh = new Witness();
      fresh.read(text);
      return fresh.effects;
    };
    expect(seen('\x1b]2;t\x07')).toEqual(['OSC', 'title']);
    expect(seen('\x1b[6n')).toEqual(['CSI n', 'answer']);
    expect(seen('\x1b[?1049h')).toEqual(['CSI ?h', 'buffer']);
    expect(seen('\x9b?2004h')).toEqual(['CSI ?h', 'modes']);
    expect(seen('\x1bP$qm\x1b\\')).toContain('DCS $q');
    expect(seen('\x1bM\x07')).toEqual(['ESC M', 'bell']);
    expect(new Witness().read('rm -rf\rls')).toEqual(['ls-rf']);
    expect(seen('words\n\t漢字')).toEqual([]);
  });

  it('SEC3 every hostile sequence alone leaves nothing but text', () => {
    for (const sequence of corpus) {
      for (const mode of modes) {
        expect(harm(mode, whole(mode, `a${sequence}b`)), JSON.stringify([mode, sequence])).toBeNull();
      }
    }
  });

  it('SEC3 a line never takes more columns than it may', () => {
    for (let seed = 1; seed <= 1_000; seed += 1) {
      const columnsMax = seed % 30;
      const line = sanitizeLine(foreign(inputOf(seed)), { columnsMax });
      expect(width(line), `SEED=${seed}`).toBeLessThanOrEqual(columnsMax);
      expect(sanitizeLine(foreign(line), { columnsMax }), `SEED=${seed}`).toBe(line);
      expect(width(pad(line, columnsMax)), `SEED=${seed}`).toBe(columnsMax);
    }
  });

  it('SEC3 no input has an effect, whole or in pieces, and a second pass changes nothing', {
    timeout: 120_000 + count * 20,
  }, () => {
    const problems: string[] = [];
    for (let index = 0; index < count && problems.length < 5; index += 1) {
      const problem = problemOf(seedFirst + index, index < everySplitCount);
      if (problem !== null) problems.push(problem);
    }
    expect(problems).toEqual([]);
    console.info(
      `SEC3: ${count} inputs from seed ${seedFirst}, ${everySplitCount} of them at every split, ${witnessed} outputs shown`,
    );
  });
});
