import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { linesOf } from '../transcript/lines.ts';
import { linesFrom, transcriptRun, transcriptSuite } from '../transcript/transcript.contract.ts';
import { transcript, transcriptReader } from './transcript.ts';

const person = (content: unknown, more: object = {}) => ({ type: 'user', message: { role: 'user', content }, ...more });
const agent = (part: object, more: object = {}) => ({ type: 'assistant', message: { content: [part] }, ...more });

describe('what was said to and by Claude', () => {
  transcriptSuite(transcript);

  it('a turn with a tool', () => {
    const rows = [
      person('run it'),
      agent({ type: 'thinking', thinking: 'hm' }),
      agent({ type: 'text', text: 'I will.' }),
      agent({ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'make', description: 'builds' } }),
      person([{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'ok\nmore' }] }]),
      agent({ type: 'text', text: 'Done.' }),
      { type: 'system', subtype: 'turn_duration' },
    ];
    expect(linesFrom(transcript, rows)).toEqual([
      'user: run it',
      'assistant: I will.',
      'tool: Bash make',
      'tool: Bash → ok (+1 lines)',
      'assistant: Done.',
    ]);
  });

  it('FED5 tells what a person asked for, once, and no command, answer of a tool or summary', () => {
    const reader = transcriptReader();
    const heard = (...rows: readonly object[]): readonly (string | undefined)[] => {
      const lines = rows.map((row) => JSON.stringify(row));
      const input = { kind: 'lines', path: '/p/s1.jsonl', lines, changedAt: 1, isFirst: false } as const;
      return reader.take(input as never, [], 1).findings.map(({ prompt }) => prompt);
    };
    expect(heard(person('fix it'), agent({ type: 'text', text: 'I will.' }))).toEqual(['fix it']);
    expect(heard(agent({ type: 'text', text: 'more' }))).toEqual([undefined]);
    const result = [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }];
    expect(heard(person(result), person('a summary', { isCompactSummary: true }))).toEqual([undefined]);
    expect(heard(person([{ type: 'text', text: 'now this' }]), person('inner', { isSidechain: true }))).toEqual([
      'now this',
    ]);
  });

  it('failures, interrupts and commands; nothing of subagents and of what the program tells itself', () => {
    const rows = [
      person('<command-name>/model</command-name>\n<command-message>model</command-message>'),
      person('<local-command-stdout>set</local-command-stdout>'),
      person('Caveat: below', { isMeta: true }),
      person('inner', { isSidechain: true }),
      person([{ type: 'tool_result', tool_use_id: 'unseen', content: 'no', is_error: true }]),
      person([{ type: 'text', text: '[Request interrupted by user for tool use]' }]),
      agent({ type: 'text', text: 'API Error: 400' }, { isApiErrorMessage: true }),
      { type: 'system', subtype: 'compact_boundary' },
      person('a summary', { isCompactSummary: true }),
    ];
    expect(linesFrom(transcript, rows)).toEqual([
      'user: /model',
      'tool: a tool failed → no',
      'note: interrupted',
      'note: API Error: 400',
      'note: the conversation was compacted',
    ]);
  });

  it.each(['1.0.128-refused', '2.0.77-interrupt', '2.1.325-refused'])('%s, as it was recorded', (name) => {
    const text = readFileSync(new URL(`fixtures/transcripts/${name}.jsonl`, import.meta.url), 'utf8');
    const lines = linesOf(transcript.read(text.split('\n')), 100);
    for (const who of ['user', 'assistant', 'tool'])
      expect(lines.some((line) => line.startsWith(`${who}: `))).toBe(true);
    expect(lines.join('\n')).not.toMatch(/<command-|Caveat/);
  });

  it('stands under the directory of the run, or under another one of the same home', () => {
    const run = { ...transcriptRun, env: { CLAUDE_CONFIG_DIR: '/else/' } };
    expect(transcript.places(run, ['a-b'])).toEqual([
      { kind: 'journal', path: '/else/projects/-home-user-a-project/a-b.jsonl' },
      { kind: 'find', folder: '/else/projects/*', name: '^a-b\\.jsonl$' },
    ]);
  });
});
