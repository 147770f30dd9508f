import { describe, expect, it } from 'vitest';
import { limits } from '../../model/limits.ts';
import { clip, draftOf, freshMarks, hearStillborn, hearStray, lastOf, nextId, own, turnOf, write } from './draft.ts';

describe('a draft', () => {
  it('own finds what was put in and nothing that objects have by birth', () => {
    const table: Readonly<Record<string, number>> = { a: 1 };
    expect(own(table, 'a')).toBe(1);
    for (const key of ['b', 'constructor', '__proto__', 'toString']) expect(own(table, key)).toBeUndefined();
  });

  it('messages are clipped with a mark', () => {
    const draft = draftOf({}, 5);
    write(draft, { id: 'x', role: 'agent', text: 'y'.repeat(limits.sessionMessageCharsMax + 1) });
    const [message] = turnOf(draft).messages;
    expect(message?.text).toHaveLength(limits.sessionMessageCharsMax);
    expect(message?.text.endsWith('y…')).toBe(true);
    expect(clip('abc', 3)).toBe('abc');
    expect(lastOf('abcdef', 2)).toBe('ef');
  });

  it('ids are never the same twice', () => {
    const draft = draftOf(freshMarks(1_000), 0);
    expect(nextId(draft, 'user')).not.toBe(nextId(draft, 'user'));
  });

  it('keeps the last of what a program printed, without its colours', () => {
    const draft = draftOf(freshMarks(1_000), 0);
    for (let line = 0; line < 500; line += 1) hearStray(draft, `\u001b[31mline ${line}\u001b[0m and more words`);
    expect(draft.memory.stray.length).toBeLessThanOrEqual(limits.sessionStrayCharsMax);
    expect(draft.memory.stray.endsWith('line 499 and more words')).toBe(true);
    expect(draft.memory.stray).not.toContain('\u001b');
  });

  it('says nothing about the end of a program that printed nothing, or was asked to end', () => {
    const quiet = draftOf(freshMarks(0), 0);
    hearStillborn(quiet, { from: 'exit', code: 1, signal: null });
    const asked = draftOf({ ...freshMarks(0), stray: 'bye' }, 0);
    hearStillborn(asked, { from: 'exit', code: null, signal: 'SIGTERM' });
    expect([...quiet.events, ...asked.events]).toEqual([]);
  });
});
