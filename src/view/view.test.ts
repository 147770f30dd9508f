import { describe, expect, it } from 'vitest';
import { stateNames } from '../model/states.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { width } from '../text/width.ts';
import { tableLines } from './table.ts';
import { ageLabel, backgroundLabel, stateLabel, wordsOf } from './words.ts';

const cell = (text: string) => sanitizeLine(foreign(text));

describe('the words of all screens', () => {
  it('FED1 every state has a mark, a word and a place of its own', () => {
    const all = stateNames.map(wordsOf);
    expect(new Set(all.map((one) => one.mark)).size).toBe(7);
    expect(all.map((one) => one.order).sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(wordsOf('waiting_approval').order).toBe(1);
  });

  it('RSV1 confidence below high shows, unknown needs no mark of doubt', () => {
    expect(stateLabel({ state: 'running', confidence: 'high' })).toBe('● running');
    expect(stateLabel({ state: 'running', confidence: 'medium' })).toBe('● ~running');
    expect(stateLabel({ state: 'unknown', confidence: 'low' })).toBe('◌ unknown');
  });

  it.each([
    [-5, '0s'],
    [59_999, '59s'],
    [60_000, '1m'],
    [3_599_000, '59m'],
    [3_600_000, '1h'],
    [86_400_000, '1d'],
  ])('ages are short: %i ms is %s', (age, label) => {
    expect(ageLabel(age)).toBe(label);
  });

  it('RSV9 background work is told apart from the state', () => {
    expect(backgroundLabel({ shells: 2, agents: 1 })).toBe('+2 shells +1 agent');
    expect(backgroundLabel({ shells: 0, agents: 0 })).toBe('');
  });
});

describe('tables', () => {
  const columns = [{ title: 'STATE' }, { title: 'WHAT', flexible: true }, { title: 'AGE' }];
  const rows = [[cell('▲ approve'), cell('Bash: rm -rf build && make all the things 日本語'), cell('4m')]];

  it.each([200, 80, 40, 30])('fit %i columns and never wrap', (columnsMax) => {
    for (const line of tableLines(columns, rows, columnsMax)) expect(width(line)).toBeLessThanOrEqual(columnsMax);
  });

  it('keep fixed columns whole when nothing fits', () => {
    const [, line] = tableLines(columns, rows, 5);
    expect(line).toContain('▲ approve');
    expect(line).toContain('4m');
  });
});
