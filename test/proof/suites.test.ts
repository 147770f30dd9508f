// The table of the proof fits the sources: each planted bug still has its one place, each command its file.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { edited } from './planted.ts';
import { report } from './report.ts';
import { reached, type Tried } from './results.ts';
import { suites } from './suites.ts';

const root = join(import.meta.dirname, '../..');

describe('the proof', () => {
  it.each(suites.flatMap(({ name, planted }) => planted.map((bug) => [name, bug.words, bug] as const)))(
    '%s: there is a place for "%s"',
    (_name, _words, { edits }) => {
      for (const edit of edits) {
        const text = readFileSync(join(root, edit.file), 'utf8');
        expect(edited(text, edit)).not.toBe(text);
      }
    },
  );

  it.each(suites)('$name runs a file that is there', ({ order, quick, piece, promised }) => {
    const file = order(quick, 0).argv.find((word) => word.endsWith('.ts')) ?? '';
    expect([file, existsSync(join(root, file))]).toEqual([file, true]);
    expect(quick).toBeLessThanOrEqual(piece);
    expect(piece).toBeLessThanOrEqual(promised);
  });

  it('a bug with no place, or with two, is not planted', () => {
    expect(() => edited('a b a', { file: 'x', find: 'a', replace: 'c' })).toThrow('2 places');
    expect(() => edited('a b', { file: 'x', find: 'd', replace: 'c' })).toThrow('0 places');
  });

  it('a row counts what was tried with this product, and says what failed', () => {
    const told = { commit: 'c', machine: 'm', date: '2026-01-02', seconds: 1, before: 0, kind: 'tried' } as const;
    const [suite] = suites;
    if (suite === undefined) throw new Error('the table is empty');
    const tried = (product: string, count: number, isSound: boolean): Tried => ({
      ...told,
      suite: suite.name,
      product,
      count,
      isSound,
    });
    const all = [tried('old', 7, true), tried('new', 20, true), tried('new', 3, false)];
    expect(reached(all, suite.name, 'new')).toBe(23);
    const text = report(suites, all, 'new');
    expect(text).toContain(`23 of 1,000,000 ${suite.unit} | **1 of 2 pieces failed**`);
    expect(report(suites, all, 'other')).toContain(', an earlier state of the product |');
    const missing = suites.length - 1;
    expect(text).toContain(`Not run at all: ${missing} of ${suites.length} rows (\`${suites[1]?.name}\`, `);
    expect(text.split('| not run |  |')).toHaveLength(missing + 1);
  });
});
