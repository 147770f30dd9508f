// The suite that every agent's recordings pass: what its rules say of screens that were recorded from the real program,
// against what was going on. Rules are written on the part that a hash of the file's name selects; the rest is counted
// apart, so that the figures tell how the rules do on screens nobody wrote them for.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawnTo } from '../../corpus/mutate.ts';
import { hashText } from '../engine/canonical.ts';
import { classOf } from '../model/states.ts';
import { classify, type Reading } from './screen/classify.ts';
import { readRuleFile } from './screen/rule-file.ts';

/** What was going on. Starting is right as running, idle or unknown; gone as unknown because no agent runs. */
const classes = ['running', 'waiting_approval', 'waiting_input', 'settled', 'error', 'gone', 'starting'] as const;
type Class = (typeof classes)[number];

interface Recording {
  readonly file: string;
  readonly class: Class;
  readonly version: string;
  readonly title: string;
  readonly command: string;
  /** State and reason, `idle/interrupted`, where more is known than the class: how a turn ended, which dialog it was. */
  readonly why?: string;
}

export interface Goals {
  /** Share of right answers, each part by itself. */
  readonly right: number;
}

type Outcome = 'right' | 'unknown' | 'wrong';

/** Right also when the prompt is all that is told, and with it that nothing says how the turn ended; never as done. */
function whyOf(expected: string, { state, reason, ask, unfinished }: Reading): Outcome {
  const [, expectedReason = ''] = expected.split('/');
  if (state === 'unknown' || (unfinished && reason === 'prompt_ready')) return 'unknown';
  const isDialog = expectedReason === 'dialog_open';
  const asked = isDialog && ask !== null ? ask.kind === 'dialog' : true;
  return `${state}/${reason}` === expected && asked ? 'right' : 'wrong';
}

export const isWrittenOn = (file: string): boolean => Number.parseInt(hashText(file).slice(-6), 36) % 10 < 7;

export function outcomeOf(expected: Class, { state, reason }: Pick<Reading, 'state' | 'reason'>): Outcome {
  if (expected === 'gone')
    return state === 'unknown' ? (reason === 'agent_not_running' ? 'right' : 'unknown') : 'wrong';
  if (expected === 'starting') return ['running', 'idle', 'unknown'].includes(state) ? 'right' : 'wrong';
  if (state === 'unknown') return 'unknown';
  return classOf(state) === expected ? 'right' : 'wrong';
}

/** `folder` holds `screens.json` and the screens it names, as plain text in `screens/`. */
export function recordingsSuite(agent: string, rules: unknown, folder: string, goals: Goals): void {
  const file = readRuleFile(rules);
  const recordings = JSON.parse(readFileSync(join(folder, 'screens.json'), 'utf8')) as Recording[];
  const readings = recordings.map((recording) => {
    const lines = readFileSync(join(folder, 'screens', recording.file), 'utf8').split('\n');
    const reading = classify(file, { lines, title: recording.title, command: recording.command }, recording.version);
    return { recording, reading, outcome: outcomeOf(recording.class, reading) };
  });

  describe(`recordings of ${agent}`, () => {
    it('names every screen once, and no other', () => {
      const names = recordings.map((one) => one.file).sort();
      expect(names).toEqual(readdirSync(join(folder, 'screens')).sort());
      expect(recordings.filter((one) => !classes.includes(one.class))).toEqual([]);
    });

    it('no screen is read wrong', () => {
      const wrong = readings.filter(({ outcome }) => outcome === 'wrong');
      expect(
        wrong.map(
          ({ recording, reading }) =>
            `${recording.file}: ${recording.class}, read as ${reading.state} by ${reading.rule}`,
        ),
      ).toEqual([]);
    });

    const explained = readings.flatMap(({ recording, reading }) => {
      const { file, why } = recording;
      return why === undefined ? [] : [{ file, why, reading, outcome: whyOf(why, reading) }];
    });

    it('RSV13 RSV13a where it is known why, no other reason is told, and nothing is done that was not', () => {
      const wrong = explained.filter(({ outcome }) => outcome === 'wrong');
      expect(
        wrong.map(
          ({ file, why, reading: { state, reason, rule } }) => `${file}: ${why}, read ${state}/${reason} by ${rule}`,
        ),
      ).toEqual([]);
      for (const isOne of [isWrittenOn, (name: string) => !isWrittenOn(name)]) {
        const counted = explained.filter(({ file }) => isOne(file));
        const right = counted.filter(({ outcome }) => outcome === 'right').length;
        const part = isOne === isWrittenOn ? 'written on' : 'held out';
        if (counted.length > 0)
          process.stdout.write(`${agent}, ${part}, reasons: ${right} of ${counted.length} right\n`);
      }
    });

    for (const [part, isIn] of [
      ['written on', isWrittenOn],
      ['held out', (name: string) => !isWrittenOn(name)],
    ] as const) {
      it(`enough of them are read right: ${part}`, () => {
        const counted = readings.filter(({ recording }) => isIn(recording.file));
        const right = counted.filter(({ outcome }) => outcome === 'right');
        process.stdout.write(matrixOf(`${agent}, ${part}`, counted));
        const missed = counted.filter(({ outcome }) => outcome !== 'right').map(({ recording }) => recording.file);
        expect(right.length / counted.length, missed.join(', ')).toBeGreaterThanOrEqual(goals.right);
      });
    }
  });
}

function matrixOf(
  name: string,
  counted: readonly { recording: Recording; reading: Reading; outcome: Outcome }[],
): string {
  const seen = ['running', 'waiting_approval', 'waiting_input', 'settled', 'error', 'unclassified'];
  const right = counted.filter(({ outcome }) => outcome === 'right').length;
  const rows = classes.flatMap((expected) => {
    const of = counted.filter(({ recording }) => recording.class === expected);
    if (of.length === 0) return [];
    const cells = seen.map((one) => of.filter(({ reading }) => classOf(reading.state) === one).length);
    return [`  ${expected.padEnd(17)}${cells.map((cell) => String(cell).padStart(17)).join('')}`];
  });
  const head = `  ${'was \\ read as'.padEnd(17)}${seen.map((one) => one.padStart(17)).join('')}`;
  return `${name}: ${right} of ${counted.length} right\n${head}\n${rows.join('\n')}\n`;
}

const widths = [50, 64, 72, 100, 132, 180];
const heights = [10, 12, 16, 20, 30];

/**
 * The same screens in terminals that nobody recorded: lines wrapped and frames drawn to another width, and only the last
 * rows of it. What decides may be out of sight then, so that less is right; nothing may be wrong.
 */
export function reshapedSuite(agent: string, rules: unknown, folder: string, goals: Goals): void {
  const file = readRuleFile(rules);
  const recordings = JSON.parse(readFileSync(join(folder, 'screens.json'), 'utf8')) as Recording[];
  const readings = recordings.flatMap((recording) => {
    const { file: name, title, command, version } = recording;
    const lines = readFileSync(join(folder, 'screens', name), 'utf8')
      .trimEnd()
      .split('\n');
    const width = Number(/(\d+)x\d+/.exec(name)?.[1] ?? 80);
    const wide = widths.filter((to) => to !== width).map((to) => [`${to} columns`, drawnTo(lines, width, to)] as const);
    const shapes = [[`${width} columns`, lines] as const, ...wide].flatMap(([words, all]) => [
      [words, all] as const,
      ...heights
        .filter((rows) => rows < all.length)
        .map((rows) => [`${words}, ${rows} rows`, all.slice(-rows)] as const),
    ]);
    return shapes.map(([shape, shown]) => {
      const reading = classify(file, { lines: shown, title, command }, version);
      return { recording, shape, reading, outcome: outcomeOf(recording.class, reading) };
    });
  });

  describe(`recordings of ${agent} in other sizes`, () => {
    it('no screen is read wrong', () => {
      const wrong = readings.filter(({ outcome }) => outcome === 'wrong');
      expect(
        wrong.map(
          ({ recording, shape, reading }) =>
            `${recording.file}, ${shape}: ${recording.class}, read as ${reading.state} by ${reading.rule}`,
        ),
      ).toEqual([]);
    });

    for (const [part, isIn] of [
      ['in another width', (shape: string) => !shape.includes('rows')],
      ['in at least 16 rows', (shape: string) => /(?:columns|16 rows|20 rows|30 rows)$/.test(shape)],
    ] as const) {
      it(`enough of them are read right: ${part}`, () => {
        const counted = readings.filter(({ shape }) => isIn(shape));
        const missed = counted.filter(({ outcome }) => outcome !== 'right');
        process.stdout.write(`${agent}, ${part}: ${counted.length - missed.length} of ${counted.length} right\n`);
        const names = missed.map(({ recording, shape }) => `${recording.file}, ${shape}`).join('; ');
        expect(1 - missed.length / counted.length, names).toBeGreaterThanOrEqual(goals.right);
      });
    }
  });
}
