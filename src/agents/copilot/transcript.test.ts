import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { linesOf } from '../transcript/lines.ts';
import { linesFrom, transcriptRun, transcriptSuite } from '../transcript/transcript.contract.ts';
import { transcript } from './transcript.ts';

const event = (type: string, data: object) => ({ type, data });

describe('what was said to and by Copilot', () => {
  transcriptSuite(transcript);

  it('a turn with a tool, an error and an interrupt; nothing of subagents', () => {
    const rows = [
      event('session.start', { sessionId: 's' }),
      event('system.message', { role: 'system', content: 'You are' }),
      event('user.message', { content: 'run it', transformedContent: '<current_datetime>' }),
      event('user.message', { content: '<system_notification>a shell has ended</system_notification>' }),
      event('assistant.message', { content: 'I will.', toolRequests: [] }),
      event('tool.execution_start', { toolCallId: 'c', toolName: 'bash', arguments: { command: 'make' } }),
      event('assistant.message', { content: 'inner', parentToolCallId: 'c' }),
      event('tool.execution_complete', {
        toolCallId: 'c',
        success: true,
        result: { content: 'started\nfinished\n<shellId: 0 completed with exit code 0>' },
      }),
      event('tool.execution_complete', { toolCallId: 'unseen', success: false, error: { message: 'denied' } }),
      event('assistant.message', { content: '' }),
      event('session.error', { message: '400 Mock error 400' }),
      event('abort', { reason: 'user_abort' }),
    ];
    expect(linesFrom(transcript, rows)).toEqual([
      'user: run it',
      'assistant: I will.',
      'tool: bash make',
      'tool: bash → started (+1 lines)',
      'tool: a tool failed → denied',
      'note: 400 Mock error 400',
      'note: interrupted',
    ]);
  });

  it.each(['events-1', 'events-2'])('%s, as it was recorded', (name) => {
    const text = readFileSync(new URL(`fixtures/${name}.jsonl`, import.meta.url), 'utf8');
    const lines = linesOf(transcript.read(text.split('\n')), 100);
    for (const who of ['user', 'assistant', 'tool'])
      expect(lines.some((line) => line.startsWith(`${who}: `))).toBe(true);
  });

  it('stands in the folder of the conversation', () => {
    const path = '/else/session-state/a-b/events.jsonl';
    const run = { ...transcriptRun, env: { COPILOT_HOME: '/else' } };
    expect(transcript.places(run, ['a-b'])).toEqual([{ kind: 'journal', path }]);
  });
});
