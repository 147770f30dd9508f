import { describe, expect, it } from 'vitest';
import { transcript as kilo } from '../kilo/transcript.ts';
import { linesFrom, transcriptRun, transcriptSuite } from '../transcript/transcript.contract.ts';
import { transcript } from './transcript.ts';

const text = (message: string, role: string, words: string, more: object = {}) =>
  ({ message, role, type: 'text', text: words, ...more }) as const;

describe.each([
  ['opencode', transcript],
  ['kilo', kilo],
])('what was said to and by %s', (name, one) => {
  transcriptSuite(one);

  it('a turn with tools, what failed and what was interrupted', () => {
    const rows = [
      text('m1', 'user', 'run it'),
      text('m1', 'user', 'Called the Read tool', { synthetic: 1 }),
      text('m2', 'assistant', 'I will.'),
      {
        message: 'm2',
        type: 'tool',
        tool: 'bash',
        status: 'completed',
        input: { command: 'make' },
        output: 'ok\nok\n',
      },
      { message: 'm2', type: 'tool', tool: 'write', status: 'error', input: null, file: '/a', failure: 'denied' },
      { message: 'm2', type: 'tool', tool: 'bash', status: 'running', input: { command: 'sleep 5' } },
      text('m3', 'assistant', 'First', { error: 'APIError', words: 'mock says no' }),
      text('m3', 'assistant', 'second', { error: 'APIError', words: 'mock says no' }),
      {
        message: 'm4',
        role: 'assistant',
        type: null,
        error: 'MessageAbortedError',
        words: 'The operation was aborted.',
      },
    ];
    expect(linesFrom(one, rows)).toEqual([
      'user: run it',
      'assistant: I will.',
      'tool: bash make',
      'tool: bash → ok (+1 lines)',
      'tool: write /a',
      'tool: write failed → denied',
      'tool: bash sleep 5',
      'assistant: First',
      'assistant: second',
      'note: mock says no',
      'note: interrupted',
    ]);
  });

  it('stands in its own database, which may be moved', () => {
    const at = (env: Record<string, string>) => one.places({ ...transcriptRun, env }, ['ses_1'])[0];
    const path = `/home/user/.local/share/${name}/${name}.db`;
    expect(at({})).toMatchObject({ kind: 'database', path, values: ['["ses_1"]'] });
    expect(at({ XDG_DATA_HOME: '/data/' })).toMatchObject({ path: `/data/${name}/${name}.db` });
    expect(at({ [`${name.toUpperCase()}_DB`]: '/x.db' })).toMatchObject({ path: '/x.db' });
  });
});
