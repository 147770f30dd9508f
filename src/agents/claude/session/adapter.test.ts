// What recordings of Claude do not show, or not often enough: several asks, late and doubled lines, every way a turn can
// fail, and time that passes.

import { describe, expect, it } from 'vitest';
import { Talk } from '../../../../test/kit/protocol-adapter.ts';
import { agentSessionId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { Opening } from '../../protocol/adapter.ts';
import { claudeStream } from './adapter.ts';

const begin = (uuid = 'i1') => ({ type: 'system', subtype: 'init', session_id: 'se-1', uuid });
const result = (rest: object = {}) => ({
  ...{ type: 'result', subtype: 'success', is_error: false, terminal_reason: 'completed', uuid: 'r1' },
  ...rest,
});
const assistant = (id: string, content: object, rest: object = {}) => ({
  ...{ type: 'assistant', message: { id, content: [content] }, parent_tool_use_id: null },
  ...rest,
});
const bash = (id: string, command: string) => ({ type: 'tool_use', id, name: 'Bash', input: { command } });
const leave = (request: string, tool: string, input: object, rest: object = {}) => ({
  type: 'control_request',
  request_id: request,
  request: { subtype: 'can_use_tool', tool_name: tool, input, ...rest },
});
const returned = (id: string, content: string, is_error = false) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: id, content, is_error }] },
  parent_tool_use_id: null,
});

function talk(opening: Partial<Opening> = {}): Talk<unknown> {
  const one = new Talk<unknown>(claudeStream, opening);
  one.line(begin());
  return one;
}

describe('opening', () => {
  it('says the prompt, and for a conversation that goes on without one a word of ours', () => {
    expect(new Talk(claudeStream, { prompt: 'hello' }).last).toMatchObject({
      type: 'user',
      message: { role: 'user', content: [{ type: 'text', text: 'hello' }] },
    });
    const resumed = new Talk(claudeStream, { prompt: '', resume: agentSessionId('se-1') });
    expect(resumed.last).toMatchObject({ message: { content: [{ text: 'Please continue.' }] } });
  });

  it('SES1 the first turn tells of the session, a later one only of another id', () => {
    const one = talk();
    expect(one.kinds()).toEqual(['session_created', 'api_req_started']);
    one.line(result());
    one.line(begin('i2'));
    expect(one.line({ ...begin('i3'), session_id: 'se-2' })).toMatchObject([
      { kind: 'session_renamed', agent_session: 'se-2' },
      { kind: 'api_req_started', request: 'i3' },
    ]);
  });

  it('ids of another process of the same session are others', () => {
    const one = new Talk(claudeStream, { spawned_at: 1_000 });
    const two = new Talk(claudeStream, { spawned_at: 2_000 });
    expect([...one.messages.keys()]).not.toEqual([...two.messages.keys()]);
  });

  it('a program that ends before it began says why in what it printed', () => {
    const one = new Talk<unknown>(claudeStream);
    one.hear({ from: 'stderr', line: "\u001b[31merror: unknown option '--permission-prompt-tool'\u001b[0m" });
    expect(one.hear({ from: 'exit', code: 1, signal: null })).toMatchObject([
      { kind: 'process_error', words: "error: unknown option '--permission-prompt-tool'" },
    ]);
    const stopped = new Talk<unknown>(claudeStream);
    stopped.hear({ from: 'stderr', line: 'bye' });
    expect(stopped.hear({ from: 'exit', code: 143, signal: null })).toEqual([]);
  });

  it('words beside the protocol become a notice, broken lines nothing', () => {
    const one = talk();
    one.line('Loading your settings');
    one.line('{"type":"assist');
    one.line('[1,2');
    one.line('  ');
    expect(one.texts('notice')).toEqual(['Loading your settings']);
  });
});

describe('asks', () => {
  const ask = (tool: string, input: object) => {
    const one = talk();
    return one.line(leave('q1', tool, input))[0];
  };

  it.each([
    ['Bash', { command: 'rm x' }, 'ask:command', 'command', 'rm x'],
    ['Write', { file_path: '/a', content: 'b' }, 'ask:tool', 'edit', 'Write /a\n+b'],
    ['mcp__db__drop', { table: 't' }, 'ask:use_mcp_server', 'tool', 'mcp__db__drop {"table":"t"}'],
    ['WebFetch', { url: 'http://x' }, 'ask:tool', 'tool', 'WebFetch {"url":"http://x"}'],
  ])('%s asks as %s', (tool, input, kind, askKind, text) => {
    expect(ask(tool, input)).toMatchObject({
      kind,
      ask: { ask_id: 'q1', kind: askKind, text, accepts: ['approve', 'reject'] },
    });
  });

  it('are put one after another', () => {
    const one = talk();
    one.line(leave('q1', 'Bash', { command: 'one' }));
    expect(one.line(leave('q2', 'Bash', { command: 'two' }, { agent_id: 'sub' }))).toEqual([]);
    expect(one.do({ kind: 'approve', ask_id: 'q2' })?.code).toBe('E_STATE_CHANGED');
    expect(one.do({ kind: 'approve', ask_id: 'q1' })).toBeNull();
    expect(one.turn.events).toMatchObject([{ kind: 'ask:command', ask: { ask_id: 'q2', scope: 'sub' } }]);
  });

  it('a doubled request is one, also after its answer', () => {
    const one = talk();
    one.line(leave('q1', 'Bash', { command: 'one' }));
    expect(one.line(leave('q1', 'Bash', { command: 'one' }))).toEqual([]);
    one.do({ kind: 'approve', ask_id: 'q1' });
    expect(one.line(leave('q1', 'Bash', { command: 'one' }))).toEqual([]);
    expect(one.do({ kind: 'approve', ask_id: 'q1' })?.code).toBe('E_STATE_CHANGED');
    expect(one.said.filter(({ type }) => type === 'control_response')).toHaveLength(1);
  });

  it('a no carries its reason, or a plain one', () => {
    const one = talk();
    one.line(leave('q1', 'Bash', { command: 'one' }));
    one.do({ kind: 'reject', ask_id: 'q1', because: 'use make' });
    expect(one.last).toMatchObject({
      response: { request_id: 'q1', response: { behavior: 'deny', message: 'use make' } },
    });
    one.line(leave('q2', 'Bash', { command: 'two' }));
    one.do({ kind: 'reject', ask_id: 'q2', because: null });
    expect(one.last).toMatchObject({ response: { response: { message: expect.stringMatching(/user rejected/) } } });
  });

  it('what the agent takes back, or what ran without us, was decided by somebody else', () => {
    const one = talk();
    one.line(assistant('m1', bash('t2', 'two')));
    one.line(leave('q1', 'Bash', { command: 'one' }));
    one.line(leave('q2', 'Bash', { command: 'two' }, { tool_use_id: 't2' }));
    expect(one.line({ type: 'control_cancel_request', request_id: 'q1' })).toMatchObject([
      { kind: 'user_feedback', ask_id: 'q1' },
      { kind: 'ask:command', ask: { ask_id: 'q2' } },
    ]);
    expect(one.line(returned('t2', 'ran'))).toMatchObject([
      { kind: 'user_feedback', ask_id: 'q2' },
      { kind: 'command_output' },
    ]);
    expect(one.do({ kind: 'approve', ask_id: 'q2' })?.code).toBe('E_STATE_CHANGED');
  });

  it('while one is open, work of another part of the agent does not end it', () => {
    const one = talk();
    one.line(leave('q1', 'Bash', { command: 'one' }, { agent_id: 'sub' }));
    const start = { type: 'stream_event', event: { type: 'message_start', message: { id: 'm9' } } };
    expect(one.line(start)).toEqual([]);
    expect(one.line(returned('t9', 'done'))).toEqual([]);
  });

  it('a request that nobody here can serve is refused at once', () => {
    const one = talk();
    one.line({ type: 'control_request', request_id: 'h1', request: { subtype: 'hook_callback' } });
    expect(one.last).toMatchObject({ type: 'control_response', response: { subtype: 'error', request_id: 'h1' } });
  });

  it('in automatic mode tools are allowed and told of, questions are asked', () => {
    const one = talk({ auto_approve: true });
    expect(one.line(leave('q1', 'Bash', { command: 'one' }))).toEqual([]);
    expect(one.last).toMatchObject({ response: { response: { behavior: 'allow', updatedInput: { command: 'one' } } } });
    expect(one.texts('notice')).toEqual(['approved automatically: Bash: one']);
    const questions = [{ question: 'Which?', options: [{ label: 'A' }] }];
    expect(one.line(leave('q2', 'AskUserQuestion', { questions }))).toMatchObject([{ kind: 'ask:followup' }]);
  });
});

describe('questions', () => {
  const questions = [
    { question: 'Which colour?', options: [{ label: 'Red' }, { label: 'Blue' }], multiSelect: false },
    { question: 'Which sizes?', options: [{ label: 'S' }, { label: 'M' }, { label: 'L' }], multiSelect: true },
  ];

  it('are put one by one and answered together', () => {
    const one = talk();
    one.line(leave('q1', 'AskUserQuestion', { questions }));
    expect(one.do({ kind: 'choose', ask_id: 'q1', option: '2' })).toBeNull();
    expect(one.turn.events).toMatchObject([{ kind: 'ask:followup', ask: { ask_id: 'q1/2', text: 'Which sizes?' } }]);
    expect(one.turn.said).toEqual([]);
    expect(one.do({ kind: 'choose', ask_id: 'q1/2', option: '1,3' })).toBeNull();
    expect(one.last).toMatchObject({
      response: {
        response: {
          behavior: 'allow',
          updatedInput: { questions, answers: { 'Which colour?': 'Blue', 'Which sizes?': 'S, L' } },
        },
      },
    });
  });

  it('take words of one’s own, and a no', () => {
    const one = talk();
    one.line(leave('q1', 'AskUserQuestion', { questions }));
    expect(one.do({ kind: 'approve', ask_id: 'q1' })?.code).toBe('E_UNSUPPORTED');
    one.do({ kind: 'write', ask_id: 'q1', text: 'mauve' });
    one.do({ kind: 'reject', ask_id: 'q1/2', because: null });
    expect(one.last).toMatchObject({ response: { request_id: 'q1', response: { behavior: 'deny' } } });
  });
});

describe('SES6 how a turn ended', () => {
  const failed = { subtype: 'success', is_error: true, terminal_reason: 'api_error' };
  it.each([
    ['well', { result: 'done' }, 'say:completion_result', 'verified'],
    ['without a word', {}, 'say:completion_result', 'unverified'],
    [
      'well, in words of an older version',
      { terminal_reason: undefined, result: 'done' },
      'say:completion_result',
      'verified',
    ],
    ['cut off', { stop_reason: 'max_tokens' }, 'say:completion_result', 'unverified'],
    ['refused by the model', { stop_reason: 'refusal' }, 'say:completion_result', 'unverified'],
    ['in a way nobody knows', { terminal_reason: 'tired' }, 'say:completion_result', 'unverified'],
    ['with a failed request', { ...failed, api_error_status: 500, result: 'no' }, 'ask:api_req_failed', undefined],
    ['without money', { ...failed, api_error_status: 402 }, 'ask:payment_required_prompt', undefined],
    ['without the model', { ...failed, api_error_status: 404 }, 'ask:invalid_model', undefined],
    ['after too many steps', { subtype: 'error_max_turns', is_error: true }, 'ask:mistake_limit_reached', undefined],
    ['over its budget', { subtype: 'error_max_budget_usd', is_error: true }, 'ask:payment_required_prompt', undefined],
    [
      'interrupted',
      { subtype: 'error_during_execution', terminal_reason: 'aborted_tools' },
      'turn_cancelled',
      undefined,
    ],
  ])('%s', (_, rest, kind, outcome) => {
    const one = talk();
    const [event] = one.line(result(rest));
    expect(event?.kind).toBe(kind);
    expect(event?.outcome).toBe(outcome);
  });

  it('an answer that tells of a failed request is none, whatever the result calls itself', () => {
    const one = talk();
    const words = { type: 'text', text: 'Invalid API key' };
    one.line(
      assistant('m1', words, { is_api_error_message: true, error: 'authentication_failed', api_error_status: 401 }),
    );
    expect(one.texts('agent')).toEqual([]);
    expect(one.line(result())).toMatchObject([
      { kind: 'ask:api_req_failed', words: 'Invalid API key (log in: run `claude` and type /login)' },
    ]);
  });

  it('after a failure, trying again and words to it are another prompt', () => {
    const one = talk();
    const [event] = one.line(result({ subtype: 'error_max_turns', is_error: true }));
    expect(one.do({ kind: 'write', ask_id: event?.ask?.ask_id ?? '', text: 'only the first file' })).toBeNull();
    expect(one.last).toMatchObject({ message: { content: [{ text: 'only the first file' }] } });
    one.do({ kind: 'retry' });
    expect(one.last).toMatchObject({
      message: { content: [{ text: expect.stringMatching(/continue where it stopped/) }] },
    });
  });

  it('is told once, and by a doubled line not again', () => {
    const one = talk();
    one.line(result());
    expect(one.line(result())).toEqual([]);
    expect(one.line(begin())).toEqual([]);
  });

  it('a failing result after our own stop is the stop', () => {
    const one = talk();
    one.do({ kind: 'cancel' });
    expect(one.last).toMatchObject({ type: 'control_request', request: { subtype: 'interrupt' } });
    expect(
      one.line(result({ subtype: 'error_during_execution', is_error: true, terminal_reason: undefined })),
    ).toMatchObject([{ kind: 'turn_cancelled' }]);
  });

  it('retries are told, and that they ended', () => {
    const one = talk();
    const retry = { type: 'system', subtype: 'api_retry', attempt: 2, retry_delay_ms: 500, error_status: 429 };
    expect(one.line({ ...retry, error: 'rate_limit' })).toMatchObject([
      { kind: 'api_retry_scheduled', retry: { count: 2, status: 429, until: expect.any(Number) } },
    ]);
    expect(one.line(assistant('m1', { type: 'text', text: 'back' }))[0]).toMatchObject({ kind: 'api_retried' });
  });
});

describe('time', () => {
  it('SES6 an agent that is idle and never said how the turn ended has ended it, without proof', () => {
    const one = talk();
    one.line({ type: 'system', subtype: 'session_state_changed', state: 'idle' });
    expect(one.pass(limits.sessionIdleGraceMs - 1)).toEqual([]);
    expect(one.pass(1)).toMatchObject([{ kind: 'say:completion_result', outcome: 'unverified' }]);
  });

  it('an idle that belongs to the turn before does not end the next one', () => {
    const one = talk();
    one.line(result());
    one.do({ kind: 'send', text: 'more' });
    one.line({ type: 'system', subtype: 'session_state_changed', state: 'idle' });
    expect(one.pass(60_000)).toEqual([]);
  });

  it('SES6 a prompt without a word for too long is lost; a tool or a question is waited for', () => {
    const one = talk();
    expect(one.pass(limits.sessionSilenceMs)).toMatchObject([{ kind: 'heartbeat_lost' }]);
    one.line(assistant('m1', { type: 'text', text: 'here I am' }));
    expect(one.pass(limits.sessionSilenceMs)).toMatchObject([{ kind: 'heartbeat_lost' }]);
    const tool = talk();
    tool.line(assistant('m1', bash('t1', 'make')));
    expect(tool.pass(limits.sessionSilenceMs * 2)).toEqual([]);
    expect(tool.pass(limits.sessionToolSilenceMs)).toMatchObject([{ kind: 'heartbeat_lost' }]);
    const asked = talk();
    asked.line(leave('q1', 'Bash', { command: 'one' }));
    expect(asked.pass(limits.sessionToolSilenceMs * 10)).toEqual([]);
  });

  it('SES6 the silence after a late answer begins with the answer', () => {
    const one = talk();
    one.line(leave('q1', 'Bash', { command: 'one' }));
    one.pass(limits.sessionSilenceMs * 2.9);
    one.do({ kind: 'approve', ask_id: 'q1' });
    expect(one.pass(limits.sessionSilenceMs * 0.9)).toEqual([]);
    expect(one.pass(limits.sessionSilenceMs)).toMatchObject([{ kind: 'heartbeat_lost' }]);
  });

  it('a subagent behind the answer keeps the turn open until it reports or is gone', () => {
    const tasks = (...types: string[]) => ({
      ...{ type: 'system', subtype: 'background_tasks_changed' },
      tasks: types.map((task_type) => ({ task_type })),
    });
    const one = talk();
    one.line(tasks('local_agent', 'local_bash'));
    expect(one.line(result({ result: 'done' })).map(({ kind }) => kind)).toEqual([]);
    one.line(tasks('local_bash'));
    expect(one.pass(limits.sessionBehindGraceMs)).toMatchObject([
      { kind: 'say:completion_result', outcome: 'verified' },
    ]);
    const reports = talk();
    reports.line(tasks('local_agent'));
    reports.line(result());
    reports.line(tasks());
    reports.line(begin('i2'));
    expect(reports.pass(60_000)).toEqual([]);
    expect(reports.line(result({ uuid: 'r2' }))).toMatchObject([{ kind: 'say:completion_result' }]);
    const ends = talk();
    ends.line(tasks('local_agent'));
    ends.line(result());
    expect(ends.hear({ from: 'exit', code: 0, signal: null })).toMatchObject([{ kind: 'say:completion_result' }]);
  });
});

describe('messages', () => {
  const piece = (event: object, parent: string | null = null) => ({
    ...{ type: 'stream_event', event, parent_tool_use_id: parent },
  });
  const delta = (index: number, text: object, parent: string | null = null) =>
    piece({ type: 'content_block_delta', index, delta: text }, parent);

  it('words and thoughts grow, and the whole takes their place', () => {
    const one = talk();
    one.line(piece({ type: 'message_start', message: { id: 'm1' } }));
    one.line(piece({ type: 'content_block_start', index: 0, content_block: { type: 'thinking' } }));
    one.line(delta(0, { type: 'thinking_delta', thinking: 'Hm' }));
    one.line(piece({ type: 'content_block_start', index: 1, content_block: { type: 'text' } }));
    one.line(delta(1, { type: 'text_delta', text: 'Good ' }));
    one.line(delta(1, { type: 'text_delta', text: 'day' }));
    expect(one.messages.get('m1.1')).toMatchObject({ role: 'agent', text: 'Good day', partial: true });
    one.line(assistant('m1', { type: 'thinking', thinking: 'Hm.' }));
    one.line(assistant('m1', { type: 'text', text: 'Good day.' }));
    one.line(assistant('m1', { type: 'text', text: 'Good day.' }));
    one.line(delta(1, { type: 'text_delta', text: ' late' }));
    one.line(piece({ type: 'message_stop' }));
    expect(one.texts('thought')).toEqual(['Hm.']);
    expect(one.texts('agent')).toEqual(['Good day.']);
    expect([...one.messages.values()].every(({ partial }) => !partial)).toBe(true);
  });

  it('an answer that never ends grows no further than it is shown', () => {
    const one = talk();
    one.line(piece({ type: 'message_start', message: { id: 'm1' } }));
    one.line(piece({ type: 'content_block_start', index: 0, content_block: { type: 'text' } }));
    one.line(delta(0, { type: 'text_delta', text: 'x'.repeat(limits.sessionMessageCharsMax + 1) }));
    expect(one.messages.get('m1.0')?.text).toHaveLength(limits.sessionMessageCharsMax);
    one.line(delta(0, { type: 'text_delta', text: 'more' }));
    expect(one.turn.messages).toEqual([]);
  });

  it('what breaks off is left as it was', () => {
    const one = talk();
    one.line(piece({ type: 'message_start', message: { id: 'm1' } }));
    one.line(piece({ type: 'content_block_start', index: 0, content_block: { type: 'text' } }));
    one.line(delta(0, { type: 'text_delta', text: 'Half' }));
    one.hear({ from: 'exit', code: null, signal: 'SIGKILL' });
    expect(one.messages.get('m1.0')).toMatchObject({ text: 'Half', partial: false });
  });

  it('a tool is one message from its call to what came of it', () => {
    const one = talk();
    one.line(assistant('m1', bash('t1', 'make')));
    expect(one.messages.get('t1')).toMatchObject({ text: 'Bash: make', tool: { name: 'Bash', status: 'running' } });
    one.line(leave('q1', 'Bash', { command: 'make' }, { tool_use_id: 't1' }));
    expect(one.messages.get('t1')?.tool?.status).toBe('pending');
    one.do({ kind: 'approve', ask_id: 'q1' });
    expect(one.messages.get('t1')?.tool?.status).toBe('running');
    one.line(returned('t1', 'no rule', true));
    expect(one.messages.get('t1')).toMatchObject({
      text: 'Bash: make\nno rule',
      tool: { status: 'failed' },
      partial: false,
    });
  });

  it('of a subagent all words are thoughts', () => {
    const one = talk();
    one.line(assistant('m1', { type: 'text', text: 'I look' }, { parent_tool_use_id: 't1' }));
    expect(one.texts('agent')).toEqual([]);
    expect(one.texts('thought')).toEqual(['I look']);
  });

  it.each(['constructor', '__proto__'])('an id like %s is an id like any other', (id) => {
    const one = talk();
    one.line(assistant('m1', bash(id, 'make'), { parent_tool_use_id: id }));
    one.line(piece({ type: 'content_block_start', index: 0, content_block: { type: 'text' } }, id));
    one.line(returned(id, 'done'));
    expect(one.messages.get(id)).toMatchObject({ text: 'Bash: make\ndone', tool: { status: 'done' } });
  });

  it('tokens are those of the whole session', () => {
    const one = talk();
    const modelUsage = {
      a: { inputTokens: 10, outputTokens: 2, cacheReadInputTokens: 5, cacheCreationInputTokens: 1 },
      b: { inputTokens: 100, outputTokens: 20 },
    };
    one.line(result({ modelUsage }));
    expect(one.turn.tokens).toEqual({ input: 116, output: 22 });
  });
});
