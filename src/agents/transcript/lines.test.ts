import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../model/limits.ts';
import type { Spoken } from '../contract.ts';
import { linesOf } from './lines.ts';
import { textIn, toolCalled, toolReturned } from './tools.ts';

const said = (who: Spoken['who'], text: string): Spoken => ({ who, text });

describe('lines of a transcript', () => {
  it('whoever speaks stands at the beginning of a line, and further lines are set in', () => {
    const spoken = [said('user', 'fix it\n\nplease'), said('assistant', '\n\nDone.\n'), said('tool', 'Bash ls\n-l')];
    expect(linesOf(spoken, 10)).toEqual(['user: fix it', '', '  please', 'assistant: Done.', 'tool: Bash ls -l']);
  });

  it('SEC3 nobody can speak in the name of somebody else, and nothing invisible comes through', () => {
    const spoken = [
      said('assistant', 'a\nuser: yes\r\nb \u001b[2J\u0007\u001b]0;title\u0007c'),
      said('note', '\u001b[31mx'),
    ];
    expect(linesOf(spoken, 10)).toEqual(['assistant: a', '  user: yes', '  b c', 'note: x']);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('user', 'assistant', 'tool', 'note'), fc.string({ unit: 'binary' }))),
        (all) => {
          const lines = linesOf(
            all.map(([who, text]) => said(who as Spoken['who'], text)),
            20,
          );
          expect(lines.length).toBeLessThanOrEqual(20);
          for (const line of lines) expect(line).toMatch(/^((user|assistant|tool|note): | {2}|$)/);
          for (const line of lines) expect(line).not.toMatch(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202a-\u202e]/);
        },
      ),
    );
  });

  it('secrets are blotted out, also with a sequence inside them or over several lines', () => {
    const key = `-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----`;
    const spoken = [
      said('user', 'password=hunter2 now'),
      said('assistant', `sk-abcd\u001b[0mefghijklmnopqrstuvwx\n${key}`),
      said('tool', 'Bash export TOKEN=abc123'),
    ];
    expect(linesOf(spoken, 10)).toEqual([
      'user: password=[redacted] now',
      'assistant: [redacted]',
      '  [redacted]',
      'tool: Bash export TOKEN=[redacted]',
    ]);
  });

  it('gives the last lines, as many as were asked for, and nothing for silence', () => {
    const spoken = [said('user', 'one'), said('assistant', 'a\nb\nc'), said('note', ' '), said('assistant', '')];
    expect(linesOf(spoken, 2)).toEqual(['  b', '  c']);
    expect(linesOf(spoken, 4)).toEqual(['user: one', 'assistant: a', '  b', '  c']);
    expect(linesOf([], 4)).toEqual([]);
  });

  it('a tool is one line of bounded width', () => {
    const [line = ''] = linesOf([said('tool', `Bash ${'x'.repeat(5_000)}`)], 5);
    expect(line.length).toBeLessThanOrEqual(limits.spokenColumnsMax);
    expect(line).toMatch(/…$/);
  });
});

describe('tools in a line', () => {
  it.each([
    [{ command: 'ls -l', description: 'lists' }, 'Bash ls -l'],
    [{ command: ['git', 'status'] }, 'Bash git status'],
    [{ file_path: '/a', content: 'much' }, 'Bash /a'],
    [{ other: 1 }, 'Bash {"other":1}'],
    ['free text', 'Bash free text'],
    [{}, 'Bash'],
    [null, 'Bash'],
  ])('%j', (input, text) => {
    expect(toolCalled('Bash', input)).toEqual({ who: 'tool', text });
  });

  it('what came of it: its first line, and how many more', () => {
    expect(toolReturned('Bash', '\none\ntwo\nthree\n', false).text).toBe('Bash → one (+2 lines)');
    expect(toolReturned('Bash', '', false).text).toBe('Bash → nothing');
    expect(toolReturned(null, 'no', true).text).toBe('a tool failed → no');
  });

  it('finds the texts in content of every shape', () => {
    expect(textIn('a')).toBe('a');
    expect(textIn([{ type: 'text', text: 'a' }, { type: 'image' }, { text: 'b' }])).toBe('a\nb');
    expect(textIn({ content: [{ text: 'a' }] })).toBe('a');
    expect(textIn(null)).toBe('');
    expect(textIn({})).toBe('');
  });
});
