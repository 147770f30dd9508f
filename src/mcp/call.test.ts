import { describe, expect, it } from 'vitest';
import type { ShellNoticeItem } from '../api/shells.ts';
import { limits } from '../model/limits.ts';
import { createPendingNotices } from './call.ts';

const notice = (words: string): ShellNoticeItem => ({
  shell_id: 'shell-1',
  attempt: 1,
  kind: 'exited',
  by: 'system',
  at: '2026-01-01T00:00:00.000Z',
  words,
});
const wordsOf = (notices: readonly ShellNoticeItem[]): readonly string[] => notices.map(({ words }) => words);

describe('notices that could not be handed over', () => {
  it('SHL7 come once, in their order, and to their own thread', () => {
    const held = createPendingNotices();
    held.keep('a', [notice('one')]);
    held.keep('b', [notice('other')]);
    held.keep('a', [notice('two'), notice('three')]);
    held.keep(null, []);
    expect(wordsOf(held.take('a'))).toEqual(['one', 'two', 'three']);
    expect([held.take('a'), held.take(null)]).toEqual([[], []]);
    expect(wordsOf(held.take('b'))).toEqual(['other']);
  });

  it('are bounded: of one thread the newest stay, of many threads those that spoke last', () => {
    const held = createPendingNotices();
    for (let count = 0; count < limits.shellNoticesMax + 5; count += 1) held.keep('a', [notice(`${count}`)]);
    const kept = wordsOf(held.take('a'));
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([limits.shellNoticesMax, '5', '104']);
    for (let count = 0; count < 70; count += 1) held.keep(`thread ${count}`, [notice('x')]);
    held.keep('thread 6', [notice('y')]);
    held.keep('thread 70', [notice('x')]);
    expect([held.take('thread 5'), held.take('thread 7')]).toEqual([[], []]);
    expect(wordsOf(held.take('thread 6'))).toEqual(['x', 'y']);
  });
});
