import { describe, expect, it } from 'vitest';
import { linesFrom, transcriptRun, transcriptSuite } from '../transcript/transcript.contract.ts';
import { transcript } from './transcript.ts';

const at = (second: number, ms = 0): string => `2026-11-15T15:35:${second}.${String(ms).padStart(3, '0')}Z`;
const response = (name: string, answer: object) => ({ functionResponse: { name, response: answer } });

describe('what was said to and by Gemini', () => {
  transcriptSuite(transcript);

  it('a message that is written anew keeps its place, and history written once more is not told twice', () => {
    const call = { id: 'c', name: 'run_shell_command', args: { command: 'make' } };
    const output = '<untrusted_context>\nOutput: started\nfinished\nProcess Group PGID: 31413\n</untrusted_context>';
    const rows = [
      { sessionId: 's', kind: 'main' },
      { $set: { messages: [{ id: 'x', type: 'user', content: [{ text: '<session_context>' }] }] } },
      { id: 'u', timestamp: at(40), type: 'user', content: [{ text: 'run it' }] },
      { id: 'g', timestamp: at(41), type: 'gemini', content: 'I will.' },
      { id: 'r', timestamp: at(42), type: 'user', content: [response('run_shell_command', { output })] },
      {
        ...{ id: 'g', timestamp: at(41), type: 'gemini', content: 'I will.' },
        toolCalls: [{ ...call, status: 'success', result: [response('run_shell_command', { output })] }],
      },
      { id: 'i', timestamp: at(43), type: 'info', content: 'Request cancelled.' },
      { id: 'h1', timestamp: at(43, 464), type: 'user', content: [{ text: '<session_context>\nagain' }] },
      { id: 'h2', timestamp: at(43, 464), type: 'user', content: [{ text: 'run it' }] },
      { id: 'h3', timestamp: at(43, 465), type: 'gemini', content: [{ text: 'I will.' }, { functionCall: call }] },
      { id: 'n', timestamp: at(50), type: 'user', content: [{ text: 'next' }] },
    ];
    expect(linesFrom(transcript, rows)).toEqual([
      'user: run it',
      'assistant: I will.',
      'tool: run_shell_command make',
      'tool: run_shell_command → started (+1 lines)',
      'note: Request cancelled.',
      'user: next',
    ]);
  });

  it('a tool that runs, and one that was refused', () => {
    const refused = response('write_file', { error: '[Operation Cancelled] Reason: User denied execution.' });
    const toolCalls = [
      { name: 'write_file', args: { file_path: 'notes.txt', content: 'x' }, status: 'cancelled', result: [refused] },
      { name: 'run_shell_command', args: { command: 'make' }, status: 'executing' },
    ];
    expect(linesFrom(transcript, [{ id: 'g', timestamp: at(41), type: 'gemini', content: '', toolCalls }])).toEqual([
      'tool: write_file notes.txt',
      'tool: write_file failed → [Operation Cancelled] Reason: User denied execution.',
      'tool: run_shell_command make',
    ]);
  });

  it('BND1 a name tells only the beginning of the id: the first row decides', () => {
    const own = '0925d4ac-2fd8-470e-9469-62efd0eee20c';
    const run = { ...transcriptRun, env: { GEMINI_CLI_HOME: '/else' } };
    const name = '^session-[^/]+-0925d4ac\\.jsonl$';
    expect(transcript.places(run, [own])).toEqual([{ kind: 'find', folder: '/else/.gemini/tmp/*/chats', name }]);
    expect(transcript.isOf?.(JSON.stringify({ sessionId: own }), [own])).toBe(true);
    expect(transcript.isOf?.(JSON.stringify({ sessionId: '0925d4ac-other' }), [own])).toBe(false);
    expect(transcript.isOf?.('', [own])).toBe(false);
  });
});
