import { describe, expect, it } from 'vitest';
import { linesFrom, transcriptRun, transcriptSuite } from '../transcript/transcript.contract.ts';
import { transcript } from './transcript.ts';

const item = (payload: object) => ({ type: 'response_item', payload });
const event = (payload: object) => ({ type: 'event_msg', payload });
const message = (role: string, text: string, kinds?: readonly string[]) =>
  item({
    type: 'message',
    role,
    content: [{ type: 'input_text', text }],
    ...(kinds === undefined ? {} : { internal_chat_message_metadata_passthrough: { content_item_kinds: kinds } }),
  });
const thread = '01a1e06c-8c48-7173-ae26-892477d72b4a';

describe('what was said in a thread of Codex', () => {
  transcriptSuite(transcript);

  it('a turn with a command, as 0.166 writes it', () => {
    const output = 'Chunk ID: 520730\nWall time: 0.0 seconds\nProcess exited with code 0\nOutput:\nfinished\n';
    const rows = [
      message('developer', '<skills_instructions>', ['host_skills.instructions']),
      message('user', '<environment_context>', ['environments.environment_context']),
      message('user', '<b> is bold', ['user.text']),
      event({ type: 'item_completed', item: { type: 'UserMessage' } }),
      message('assistant', 'I will wait.', ['unknown']),
      item({ type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls; echo finished"}', call_id: 'c' }),
      item({ type: 'function_call_output', call_id: 'c', output }),
      event({ type: 'task_complete', last_agent_message: 'x' }),
    ];
    expect(linesFrom(transcript, rows)).toEqual([
      'user: <b> is bold',
      'assistant: I will wait.',
      'tool: exec_command ls; echo finished',
      'tool: exec_command → finished',
    ]);
  });

  it('older rows, patches, failures and interrupts', () => {
    const rows = [
      message('user', '# AGENTS.md instructions for /x'),
      message('user', '<environment_context>\n</environment_context>'),
      message('user', 'hello'),
      item({ type: 'local_shell_call', call_id: 's', action: { command: ['git', 'status'] } }),
      item({ type: 'function_call_output', call_id: 's', output: 'Exit code: 1\nWall time: 0\nOutput:\nno repo' }),
      item({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch', call_id: 'p' }),
      item({ type: 'custom_tool_call_output', call_id: 'p', output: 'Success.' }),
      event({ type: 'task_complete', error: { message: '400 mock says no' } }),
      event({ type: 'turn_aborted', reason: 'interrupted' }),
    ];
    expect(linesFrom(transcript, rows)).toEqual([
      'user: hello',
      'tool: shell git status',
      'tool: shell failed → no repo',
      'tool: apply_patch *** Begin Patch',
      'tool: apply_patch → Success.',
      'note: 400 mock says no',
      'note: interrupted',
    ]);
  });

  it('is held open by a run that works alone, else in the folder of its day, the time zone being unknown', () => {
    const path = `/x/sessions/2026/11/15/rollout-2026-11-15T18-16-12-${thread}.jsonl`;
    expect(transcript.places({ ...transcriptRun, openFiles: [path, '/x/rollout-y.jsonl'] }, [thread])).toEqual([
      { kind: 'journal', path },
    ]);
    const places = transcript.places({ ...transcriptRun, env: { CODEX_HOME: '/else' } }, [thread]);
    const days = ['2026/11/14', '2026/11/15', '2026/11/16'];
    const name = `^rollout-[^/]+-${thread}\\.jsonl$`;
    expect(places).toEqual(days.map((day) => ({ kind: 'find', folder: `/else/sessions/${day}`, name })));
    expect(transcript.places(transcriptRun, ['no-stamp-in-it'])).toEqual([]);
  });
});
