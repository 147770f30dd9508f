// How turns over ACP end: well, badly, or as if well; after a no, after a stop, and not at all (SES6).

import { describe, expect, it } from 'vitest';
import { Talk } from '../../../../test/kit/protocol-adapter.ts';
import { replaySession, type Scene } from '../../../../test/kit/replay-session.ts';
import { limits } from '../../../model/limits.ts';
import { acp } from '../../protocol-adapters.ts';
import type { AcpMemory } from './conversation.ts';

const session = 'se-1';
const reply = (id: number, result: unknown) => ({ jsonrpc: '2.0', id, result });
const refusal = (id: number, code: number, message: string, data: object = {}) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, data },
});
const update = (one: object) => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId: session, update: one },
});
const chunk = (text: string, rest: object = {}) =>
  update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...rest });
const tool = (status: string, rest: object = {}) =>
  update({ sessionUpdate: 'tool_call_update', toolCallId: 't', title: 'x', status, ...rest });
const usage = update({ sessionUpdate: 'usage_update', used: 1, size: 2 });
const leave = {
  jsonrpc: '2.0',
  id: 0,
  method: 'session/request_permission',
  params: {
    sessionId: session,
    toolCall: { toolCallId: 't', title: 'x', kind: 'execute' },
    options: [
      { optionId: 'y', name: 'Yes', kind: 'allow_once' },
      { optionId: 'n', name: 'No', kind: 'reject_once' },
    ],
  },
};
const ended = (id: number, stopReason = 'end_turn', rest: object = {}) => reply(id, { stopReason, ...rest });
const threadStatus = (type: string) =>
  update({ sessionUpdate: 'session_info_update', _meta: { codex: { threadStatus: { type } } } });

const opened = (name: string): readonly unknown[] => [
  { jsonrpc: '2.0', id: 1, result: { protocolVersion: 1, agentInfo: { name }, agentCapabilities: {} } },
  reply(2, { sessionId: session }),
];

/** A session of this agent in which the first prompt, with the number 3, is being answered. */
function talk(name: string): Talk<AcpMemory> {
  const one = new Talk(acp, { prompt: 'hello' });
  for (const line of opened(name)) one.line(line);
  return one;
}

function endOf(name: string, lines: readonly unknown[], end: unknown = ended(3)): unknown {
  const one = talk(name);
  for (const line of lines) one.line(line);
  return one.line(end).at(-1);
}

const well = { kind: 'say:completion_result', outcome: 'verified' };

describe('the end of a turn', () => {
  it.each([
    ['words', [chunk('done')], well],
    ['a tool', [tool('in_progress'), tool('completed')], well],
    ['nothing', [], { outcome: 'unverified', words: 'the turn ended without output' }],
    [
      'thoughts',
      [update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } })],
      { outcome: 'unverified' },
    ],
    [
      'what looks like a failure',
      [chunk('API Error: 529 busy')],
      { outcome: 'unverified', words: expect.stringContaining('529 busy') },
    ],
    ['words about an error, in pieces', [chunk('Error'), chunk(' handling is done')], well],
  ])('SES6 after %s is not taken on trust', (_what, lines, expected) => {
    expect(endOf('toy', lines)).toMatchObject(expected);
  });

  it.each([
    ['max_tokens', { kind: 'say:completion_result', outcome: 'unverified' }],
    ['refusal', { kind: 'say:completion_result', outcome: 'unverified' }],
    [
      'something_new',
      { kind: 'say:completion_result', outcome: 'unverified', words: 'the turn ended with "something_new"' },
    ],
    ['max_turn_requests', { kind: 'ask:mistake_limit_reached', ask: { accepts: ['retry', 'text'] } }],
    ['cancelled', { kind: 'turn_cancelled' }],
  ])('SES6 that is called %s is told as what it is', (reason, expected) => {
    expect(endOf('toy', [chunk('x')], ended(3, reason))).toMatchObject(expected);
  });

  it('counts tokens of turns together, and of conversations as they are told', () => {
    const tokens = (name: string): unknown => {
      const one = talk(name);
      one.line(ended(3, 'end_turn', { usage: { inputTokens: 10, outputTokens: 1 } }));
      one.do({ kind: 'send', text: 'more' });
      one.line(ended(4, 'end_turn', { usage: { inputTokens: 30, outputTokens: 3 } }));
      return one.turn.tokens;
    };
    expect(tokens('OpenCode')).toEqual({ input: 40, output: 4 });
    expect(tokens('Copilot')).toEqual({ input: 30, output: 3 });
  });
});

describe('a request that failed', () => {
  it.each([
    [
      'gemini-cli',
      refusal(3, 400, '{"error":{"code":400,"message":"no such thing"}}'),
      'ask:api_req_failed',
      'no such thing',
    ],
    ['OpenCode', refusal(3, -32_603, 'Internal error: no such thing'), 'ask:api_req_failed', 'no such thing'],
    ['claude-agent-acp', refusal(3, -32_603, 'x', { errorKind: 'model_not_found' }), 'ask:invalid_model', 'x'],
    ['claude-agent-acp', refusal(3, -32_603, 'API Error: 402 pay'), 'ask:payment_required_prompt', '402 pay'],
    [
      'gemini-cli',
      refusal(3, 403, 'not you'),
      'ask:api_req_failed',
      'not you (to log in: run `gemini` once and choose how to log in, or set GEMINI_API_KEY)',
    ],
  ])('SES6 of %s is an error with its words', (name, end, kind, words) => {
    expect(endOf(name, [], end)).toMatchObject({ kind, words, ask: { accepts: ['retry'] } });
  });

  it.each([
    ['alone', [chunk('Error: 400 mock says no')], '400 mock says no'],
    [
      'after retries',
      [chunk('Info: Request failed. Retrying...'), usage, chunk('Error: Failed. Last error: 404 gone')],
      'Failed. Last error: 404 gone',
    ],
    [
      'after words that broke off',
      [chunk('Once '), chunk('there '), chunk('Error: connection lost to it')],
      'connection lost to it',
    ],
  ])('SES6 of Copilot ends its turn well; its own line tells, %s', (_when, lines, words) => {
    expect(endOf('Copilot', lines)).toMatchObject({
      kind: expect.stringMatching(/^ask:(api_req_failed|invalid_model)$/),
      words,
    });
  });

  it.each([
    ['a model that begins so', [chunk('Error: '), chunk('that is what it printed')]],
    ['a failure that was overcome', [chunk('Error: 500 for a moment'), usage, chunk('Here '), chunk('it is')]],
    ['news', [chunk('Info: something else'), usage, chunk('Here '), chunk('it is')]],
  ])('SES6 of Copilot is not %s', (_what, lines) => {
    expect(endOf('Copilot', lines)).toMatchObject(well);
  });

  it('SES6 of Codex is told by the state of its thread', () => {
    const warning = chunk('Warning: no metadata');
    const body = chunk('{"error":{"message":"mock bad request"}}\n\n');
    expect(endOf('codex-acp', [warning, threadStatus('active'), threadStatus('systemError'), body])).toMatchObject({
      kind: 'ask:api_req_failed',
      words: 'mock bad request',
    });
    expect(endOf('codex-acp', [threadStatus('systemError')])).toMatchObject({
      words: 'a request failed without a message',
    });
    const words = chunk('done', { messageId: 'm' });
    expect(endOf('codex-acp', [threadStatus('systemError'), threadStatus('active'), words])).toMatchObject(well);
    expect(endOf('codex-acp', [warning])).toMatchObject({ outcome: 'unverified' });
  });

  it('that is tried again is told, and after it works', () => {
    const one = talk('Copilot');
    expect(one.line(chunk('Info: Request failed due to a transient API error. Retrying...'))).toMatchObject([
      { kind: 'api_retry_scheduled', retry: { count: 1 } },
    ]);
    one.line(usage);
    expect(one.line(chunk('Info: Request failed due to a transient API error. Retrying...'))).toMatchObject([
      { kind: 'api_retry_scheduled', retry: { count: 2 } },
    ]);
    one.line(usage);
    expect(one.line(chunk('It '))).toMatchObject([{ kind: 'say:text' }]);
    expect(one.texts('notice').length).toBe(2);
  });

  it('is tried again by a word for it, and by the same words where the agent forgot them', () => {
    const one = talk('OpenCode');
    one.line(refusal(3, -32_603, 'x'));
    one.do({ kind: 'retry' });
    expect(one.last).toMatchObject({
      params: { prompt: [{ text: expect.stringMatching(/continue where it stopped/) }] },
    });
    const other = talk('gemini-cli');
    other.line(refusal(3, 400, 'x'));
    other.do({ kind: 'retry' });
    expect(other.last).toMatchObject({ params: { prompt: [{ text: 'hello' }] } });
    other.line(chunk('half of it'));
    other.line(refusal(4, 400, 'x'));
    other.do({ kind: 'retry' });
    expect(other.last).toMatchObject({ params: { prompt: [{ text: expect.stringMatching(/continue/) }] } });
  });

  it('takes words instead: they are another prompt', () => {
    const one = talk('toy');
    one.line(ended(3, 'max_turn_requests'));
    const ask_id = one.events.at(-1)?.ask?.ask_id ?? '';
    expect(one.do({ kind: 'write', ask_id, text: 'go on, but shorter' })).toBe(null);
    expect(one.last).toMatchObject({ id: 4, params: { prompt: [{ text: 'go on, but shorter' }] } });
  });
});

describe('after a no', () => {
  const refused = (name: string, because: string | null = null): Talk<AcpMemory> => {
    const one = talk(name);
    one.line(leave);
    one.do({ kind: 'reject', ask_id: one.events.at(-1)?.ask?.ask_id ?? '', because });
    return one;
  };

  it('SES6 an agent that stops there has not finished', () => {
    const one = refused('OpenCode');
    expect(one.messages.get('tool-t')).toMatchObject({ partial: false, tool: { name: 'execute', status: 'failed' } });
    one.line(tool('in_progress'));
    one.line(update({ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'failed' }));
    expect(one.messages.get('tool-t')).toMatchObject({ text: 'x', tool: { name: 'execute', status: 'failed' } });
    expect(one.line(ended(3))).toMatchObject([{ kind: 'turn_cancelled' }]);
    const copilot = refused('Copilot');
    copilot.line(chunk('Info: Operation cancelled by user'));
    expect(copilot.line(ended(3))).toMatchObject([{ kind: 'turn_cancelled' }]);
    expect(refused('codex-acp').line(ended(3, 'cancelled'))).toMatchObject([{ kind: 'turn_cancelled' }]);
  });

  it('an agent that goes on has', () => {
    const one = refused('gemini-cli');
    one.line(chunk('Then I will not.'));
    expect(one.line(ended(3))).toMatchObject([well]);
    expect(one.messages.get('tool-t')?.tool?.status).toBe('failed');
  });

  it('the reason is said as soon as the turn is over, which is no end then', () => {
    const one = refused('OpenCode', 'not in this folder');
    expect(one.said.filter(({ method }) => method === 'session/prompt').length).toBe(1);
    expect(one.line(ended(3))).toMatchObject([{ kind: 'api_req_started' }]);
    expect(one.last).toMatchObject({ id: 4, params: { prompt: [{ text: 'not in this folder' }] } });
    one.line(chunk('I see'));
    expect(one.line(ended(4))).toMatchObject([well]);
  });
});

describe('after a stop', () => {
  it('everything that is asked is called off, also what comes late', () => {
    const one = talk('toy');
    one.line(leave);
    one.do({ kind: 'cancel' });
    expect(one.said.slice(-2)).toEqual([
      { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: session } },
      reply(0, { outcome: { outcome: 'cancelled' } }),
    ]);
    expect(one.line({ ...leave, id: 7 })).toEqual([]);
    expect(one.last).toEqual(reply(7, { outcome: { outcome: 'cancelled' } }));
    expect(one.line(refusal(3, -32_603, 'aborted'))).toMatchObject([{ kind: 'turn_cancelled' }]);
  });

  it('SES4 late updates open no turn and leave nothing growing', () => {
    const one = talk('toy');
    one.line(chunk('Once '));
    one.do({ kind: 'cancel' });
    one.line(ended(3, 'cancelled'));
    expect(one.line(chunk('there '))).toEqual([]);
    expect(one.line(usage)).toEqual([]);
    one.line(tool('in_progress'));
    expect(one.kinds().at(-1)).toBe('turn_cancelled');
    expect([...one.messages.values()].filter(({ partial }) => partial)).toEqual([]);
    expect(one.wakeAt).toBe(null);
    one.do({ kind: 'send', text: 'more' });
    one.line(chunk('anew'));
    expect(one.texts('agent')).toEqual(['Once ', 'there ', 'anew']);
  });

  it('a message waits until the old turn is over, whose end is not the end of the new one', () => {
    const one = talk('toy');
    one.do({ kind: 'cancel' });
    one.do({ kind: 'send', text: 'something else' });
    expect(one.said.filter(({ method }) => method === 'session/prompt').length).toBe(1);
    expect(one.line(ended(3, 'cancelled'))).toMatchObject([{ kind: 'api_req_started' }]);
    expect(one.last).toMatchObject({ params: { prompt: [{ text: 'something else' }] } });
    one.line(chunk('well'));
    expect(one.line(ended(4))).toMatchObject([well]);
  });
});

describe('time', () => {
  it('SES6 a prompt that is never answered is given up, and watched again when it speaks', () => {
    const one = talk('claude-agent-acp');
    expect(one.pass(limits.sessionSilenceMs + 1)).toMatchObject([{ kind: 'heartbeat_lost' }]);
    expect(one.wakeAt).toBe(null);
    expect(one.line(chunk('here I am'))).toMatchObject([{ kind: 'say:text' }]);
    expect(one.pass(limits.sessionSilenceMs + 1)).toMatchObject([{ kind: 'heartbeat_lost' }]);
  });

  it('a question may stand for days, a tool may run for an hour', () => {
    const one = talk('toy');
    one.line(leave);
    expect(one.pass(3 * 24 * 3_600_000)).toEqual([]);
    one.do({ kind: 'approve', ask_id: one.events.at(-1)?.ask?.ask_id ?? '' });
    expect(one.pass(3_600_000)).toEqual([]);
    expect(one.pass(3 * limits.sessionToolSilenceMs)).toMatchObject([{ kind: 'heartbeat_lost' }]);
  });

  it('leave outside of a prompt does not keep the session busy', () => {
    const lines = [...opened('toy'), chunk('x'), ended(3), leave];
    const scenes: readonly Scene[] = [
      ...lines.map((line, place): Scene => ({ at: place, heard: { from: 'stdout', line: JSON.stringify(line) } })),
      { at: 10, deed: { action: 'approve' } },
    ];
    const { states, final } = replaySession(acp, scenes);
    expect(states).toEqual(['creating', 'streaming', 'completed', 'waiting_approval', 'streaming', 'completed']);
    expect(final).toMatchObject({ reason: 'outcome_unverified', confidence: 'low' });
  });

  it('an end before the beginning tells what was printed', () => {
    const one = new Talk(acp);
    one.hear({ from: 'stderr', line: 'unknown option --acp' });
    expect(one.hear({ from: 'exit', code: 2, signal: null })).toMatchObject([
      { kind: 'process_error', words: 'unknown option --acp' },
    ]);
    const later = talk('toy');
    later.line(chunk('Once '));
    expect(later.hear({ from: 'exit', code: 1, signal: null })).toEqual([]);
    expect([...later.messages.values()].filter(({ partial }) => partial)).toEqual([]);
  });
});

describe('what is said and done', () => {
  it('pieces of one message grow together; another message, a tool or a plan begins a new one', () => {
    const one = talk('toy');
    for (const line of [chunk('a', { messageId: '1' }), chunk('b', { messageId: '1' }), chunk('c', { messageId: '2' })])
      one.line(line);
    one.line(tool('pending'));
    one.line(chunk('d', { messageId: '2' }));
    one.line(
      update({
        sessionUpdate: 'plan',
        entries: [
          { content: 'look', status: 'completed' },
          { content: 'act', status: 'pending' },
        ],
      }),
    );
    one.line(chunk('', { messageId: '3' }));
    one.line(update({ sessionUpdate: 'agent_message_chunk', content: { type: 'resource_link', uri: 'file:///x' } }));
    expect(one.texts('agent')).toEqual(['ab', 'c', 'd', '[resource_link file:///x]']);
    expect(one.texts('notice')).toEqual(['[x] look\n[ ] act']);
  });

  it('a tool keeps its command, and what it gave back', () => {
    const one = talk('Kilo');
    one.line(tool('pending', { kind: 'execute', title: 'bash' }));
    one.line(tool('in_progress', { title: 'ls', rawInput: { command: 'ls -l' } }));
    one.line(
      tool('completed', {
        title: 'List files',
        content: [{ type: 'content', content: { type: 'text', text: 'a b' } }],
      }),
    );
    expect(one.messages.get('tool-t')).toMatchObject({
      text: 'ls -l\na b',
      partial: false,
      tool: { name: 'execute', status: 'done' },
    });
    const codex = talk('codex-acp');
    codex.line(tool('in_progress', { kind: 'execute', title: 'make' }));
    for (const data of ['one\n', 'two\n'])
      codex.line(
        update({ sessionUpdate: 'tool_call_update', toolCallId: 't', _meta: { terminal_output_delta: { data } } }),
      );
    expect(codex.messages.get('tool-t')?.text).toBe('make\none\ntwo\n');
  });

  it('other sessions, unknown updates and garbage change nothing', () => {
    const one = talk('toy');
    const foreign = {
      ...chunk('theirs'),
      params: { sessionId: 'se-2', update: { sessionUpdate: 'agent_message_chunk' } },
    };
    for (const line of [
      foreign,
      update({ sessionUpdate: 'brand_new' }),
      update({}),
      '{"half',
      '[]',
      { jsonrpc: '2.0', id: 99, result: {} },
    ]) {
      expect(one.line(line)).toEqual([]);
    }
    one.line('Loading plug-ins...');
    expect(one.texts('notice')).toEqual(['Loading plug-ins...']);
    expect(one.line({ jsonrpc: '2.0', id: 5, method: 'terminal/create', params: {} })).toEqual([]);
    expect(one.last).toMatchObject({ id: 5, error: { code: -32_601 } });
  });
});
