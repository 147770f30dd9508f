import { describe, expect, it } from 'vitest';
import type { ShellNotice } from '../model/shells.ts';
import { addNotices, emptyShellNotices, giveBackNotices, type ShellNotices, takeNotices } from './notices.ts';

const notice = (at: number, fields: Partial<ShellNotice> = {}): ShellNotice => ({
  shell_id: 'shell-3',
  attempt: 1,
  kind: 'exited',
  by: 'system',
  at,
  words: `notice ${at}`,
  ...fields,
});

const times = (book: ShellNotices, key: string): readonly number[] =>
  takeNotices(book, key).notices.map(({ at }) => at);

describe('the book of notices', () => {
  it('SHL7 gives each notice to its owner, once, in order', () => {
    const book = addNotices(addNotices(emptyShellNotices, 'a', [notice(1), notice(2)]), 'b', [notice(3)]);
    const first = takeNotices(book, 'a');
    expect(first.notices).toEqual([notice(1), notice(2)]);
    expect(takeNotices(first.book, 'a').notices).toEqual([]);
    expect(times(first.book, 'b')).toEqual([3]);
    expect(takeNotices(emptyShellNotices, 'nobody')).toEqual({ book: emptyShellNotices, notices: [] });
  });

  it('SHL7 the same notice twice is one', () => {
    const book = addNotices(emptyShellNotices, 'a', [notice(1), notice(1), notice(1, { kind: 'killed' })]);
    expect(times(book, 'a')).toEqual([1, 1]);
    expect(addNotices(book, 'a', [notice(1)])).toBe(book);
    expect(addNotices(book, 'a', [])).toBe(book);
  });

  it('SHL7 what could not be delivered comes back before what came meanwhile', () => {
    const { book, notices } = takeNotices(addNotices(emptyShellNotices, 'a', [notice(1), notice(2)]), 'a');
    const later = addNotices(book, 'a', [notice(3)]);
    const back = giveBackNotices(later, 'a', notices);
    expect(times(back, 'a')).toEqual([1, 2, 3]);
    expect(giveBackNotices(back, 'a', notices), 'given back twice').toBe(back);
  });

  it('is bounded: the oldest give way, and how many is said', () => {
    const bounds = { notices: 2, owners: 2 };
    const book = addNotices(emptyShellNotices, 'a', [notice(1), notice(2), notice(3)], bounds);
    expect(takeNotices(book, 'a').notices.map(({ words }) => words)).toEqual([
      '(1 earlier notice was dropped) notice 2',
      'notice 3',
    ]);
    const more = addNotices(book, 'a', [notice(4)], bounds);
    expect(takeNotices(more, 'a').notices[0]?.words).toBe('(2 earlier notices were dropped) notice 3');
    const owners = ['a', 'b', 'a', 'c'].reduce(
      (all, key, at) => addNotices(all, key, [notice(at)], bounds),
      emptyShellNotices,
    );
    expect(owners.owners.map(({ key }) => key)).toEqual(['a', 'c']);
  });

  it('is a plain value', () => {
    const book = addNotices(emptyShellNotices, 'a', [notice(1)]);
    expect(JSON.parse(JSON.stringify(book))).toEqual(book);
  });
});
