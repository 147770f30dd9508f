// What recordings over ACP do not show, or not often enough: logins, models, several asks, questions that are hidden, late
// and doubled lines, every way a turn can fail, and time that passes.

import { describe, expect, it } from 'vitest';
import { Talk } from '../../../../test/kit/protocol-adapter.ts';
import { agentSessionId } from '../../../model/ids.ts';
import { acp } from '../../protocol-adapters.ts';
import type { Opening } from '../adapter.ts';
import type { AcpMemory } from './conversation.ts';

const session = 'se-1';
const hello = (name: string, rest: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  result: { protocolVersion: 1, agentInfo: { name }, agentCapabilities: { loadSession: true }, ...rest },
});
const reply = (id: number, result: unknown) => ({ jsonrpc: '2.0', id, result });
const refusal = (id: number, code: number, message: string, data?: object) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
});
const update = (one: object, sessionId = session) => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId, update: one },
});
const chunk = (text: string, rest: object = {}) =>
  update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...rest });
const options = [
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'once', name: 'Once', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];
const leave = (id: number, toolCall: object = {}, rest: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'session/request_permission',
  params: {
    sessionId: session,
    options,
    toolCall: { toolCallId: `t${id}`, title: 'List', kind: 'execute', rawInput: { command: 'ls -l' }, ...toolCall },
    ...rest,
  },
});
const ended = (id: number, stopReason = 'end_turn') => reply(id, { stopReason });

/** A session of this agent in which the first prompt, with the number 3, is being answered. */
function talk(name = 'toy', opening: Partial<Opening> = {}): Talk<AcpMemory> {
  const one = new Talk(acp, opening);
  one.line(hello(name));
  one.line(reply(2, { sessionId: session }));
  return one;
}

const askOf = (one: Talk<AcpMemory>) => one.events.findLast(({ ask }) => ask !== undefined)?.ask;
const idOf = (one: Talk<AcpMemory>): string => askOf(one)?.ask_id ?? '';

describe('opening', () => {
  it('SES1 says hello, begins a session, then says the prompt; the prompt stands for the request', () => {
    const one = talk('toy', { prompt: 'hello' });
    expect(one.said.map(({ method }) => method)).toEqual(['initialize', 'session/new', 'session/prompt']);
    expect(one.said[0]).toMatchObject({
      params: { clientCapabilities: { fs: { writeTextFile: false }, terminal: false, elicitation: { form: {} } } },
    });
    expect(one.last).toMatchObject({ params: { sessionId: session, prompt: [{ type: 'text', text: 'hello' }] } });
    expect(one.kinds()).toEqual(['session_created', 'api_req_started']);
    expect(one.texts('user')).toEqual(['hello']);
  });

  it('SES6 without a login it is an error that tells how to log in, and can be tried again', () => {
    const one = new Talk(acp, { prompt: 'hello' });
    one.line(hello('toy', { authMethods: [{ id: 'x', name: 'Log in', description: 'Run `toy login`' }] }));
    expect(one.line(refusal(2, -32_000, 'Authentication required'))).toMatchObject([
      { kind: 'ask:api_req_failed', words: 'Authentication required (to log in: Run `toy login`)' },
    ]);
    expect(askOf(one)?.accepts).toEqual(['retry']);
    expect(one.do({ kind: 'retry' })).toBe(null);
    expect(one.last).toMatchObject({ method: 'session/new' });
    one.line(reply(3, { sessionId: session }));
    expect(one.last).toMatchObject({ method: 'session/prompt', params: { prompt: [{ text: 'hello' }] } });
    expect(one.texts('user')).toEqual(['hello']);
  });

  it('an agent that is known has the words of its profile', () => {
    const one = new Talk(acp);
    one.line(hello('gemini-cli'));
    expect(one.line(refusal(2, -32_000, 'Authentication required'))[0]?.words).toMatch(/run `gemini` once/);
  });

  it('another version of the protocol, no hello and no session are told', () => {
    const other = new Talk(acp);
    expect(other.line(hello('toy', { protocolVersion: 2 }))).toMatchObject([
      { kind: 'process_error', words: 'the agent uses ACP version 2, agtmux version 1' },
    ]);
    const rude = new Talk(acp);
    expect(rude.line(refusal(1, -32_603, 'Internal error', { details: 'no settings' }))).toMatchObject([
      { kind: 'process_error', words: 'no settings' },
    ]);
    rude.do({ kind: 'retry' });
    expect(rude.last).toMatchObject({ method: 'initialize' });
    const nameless = new Talk(acp);
    nameless.line(hello('toy'));
    expect(nameless.line(reply(2, {}))).toMatchObject([{ kind: 'process_error' }]);
  });

  it('SES3 takes up a conversation, and what is told anew has no effect', () => {
    const one = new Talk(acp, { prompt: '', resume: agentSessionId(session) });
    one.line(hello('Copilot'));
    expect(one.last).toMatchObject({ method: 'session/load', params: { sessionId: session } });
    expect(one.line(chunk('said before'))).toEqual([]);
    const nameless = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'before' } };
    expect(one.line({ jsonrpc: '2.0', method: 'session/update', params: { update: nameless } })).toEqual([]);
    one.line(update({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'x', status: 'pending' }));
    one.line(reply(2, null));
    expect(one.kinds()).toEqual(['session_created', 'api_req_started']);
    expect(one.last).toMatchObject({ method: 'session/prompt', params: { prompt: [{ text: 'Please continue.' }] } });
    expect([...one.messages.values()].map(({ role }) => role)).toEqual(['user']);
  });

  it('takes up a conversation without its history where it can', () => {
    const one = new Talk(acp, { resume: agentSessionId(session) });
    one.line(hello('toy', { agentCapabilities: { sessionCapabilities: { resume: {} } } }));
    expect(one.last).toMatchObject({ method: 'session/resume' });
    const other = new Talk(acp, { resume: agentSessionId(session) });
    expect(other.line(hello('toy', { agentCapabilities: {} }))).toMatchObject([
      { kind: 'process_error', words: expect.stringContaining('cannot continue a conversation') },
    ]);
  });

  it('Gemini is given another name of the conversation, or it would wipe it out', () => {
    const one = new Talk(acp, { resume: agentSessionId(session) });
    one.line(hello('gemini-cli'));
    expect(one.last).toMatchObject({ method: 'session/load', params: { sessionId: ` ${session}` } });
    expect(one.line(reply(2, {}))).toMatchObject([{ kind: 'session_created', agent_session: session }, {}]);
    expect(one.last).toMatchObject({ params: { sessionId: ` ${session}` } });
    one.line(update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x' } }, ` ${session}`));
    expect(one.texts('agent')).toEqual(['x']);
  });

  it('an old agent without a name is known by its logins', () => {
    const one = new Talk(acp, { resume: agentSessionId(session) });
    one.line(hello('', { authMethods: [{ id: 'oauth-personal' }, { id: 'gemini-api-key' }] }));
    expect(one.memory.profile).toBe('gemini');
  });

  it('stopped before there is a session it says no prompt', () => {
    const one = new Talk(acp);
    one.do({ kind: 'cancel' });
    one.line(hello('toy'));
    one.line(reply(2, { sessionId: session }));
    expect(one.kinds()).toEqual(['session_created', 'turn_cancelled']);
    expect(one.said.map(({ method }) => method)).toEqual(['initialize', 'session/new']);
    one.do({ kind: 'send', text: 'after all' });
    expect(one.last).toMatchObject({ method: 'session/prompt', params: { prompt: [{ text: 'after all' }] } });
  });
});

describe('models', () => {
  const offered = (currentValue: string) => ({
    sessionId: session,
    configOptions: [
      { id: 'mode', category: 'mode', currentValue: 'a', options: [] },
      {
        id: 'm',
        category: 'model',
        currentValue,
        options: [
          { value: 'a/one', name: 'One' },
          { group: 'b', options: [{ value: 'b/two', name: 'Two' }] },
        ],
      },
    ],
  });
  const wish = (model: string, result: object): Talk<AcpMemory> => {
    const one = new Talk(acp, { model });
    one.line(hello('toy'));
    one.line(reply(2, result));
    return one;
  };

  it.each(['b/two', 'Two', 'two'])('%s is set before the prompt', (model) => {
    const one = wish(model, offered('a/one'));
    expect(one.last).toMatchObject({
      method: 'session/set_config_option',
      params: { sessionId: session, configId: 'm', value: 'b/two' },
    });
    expect(one.kinds()).toEqual(['session_created']);
    one.line(reply(3, {}));
    expect(one.last).toMatchObject({ method: 'session/prompt' });
  });

  it('one that is set already needs nothing, and so does an agent without a choice', () => {
    expect(wish('b/two', offered('b/two')).last).toMatchObject({ method: 'session/prompt' });
    expect(wish('b/two', { sessionId: session }).last).toMatchObject({ method: 'session/prompt' });
  });

  it('a list of its own is taken as well', () => {
    const models = { currentModelId: 'x', availableModels: [{ modelId: 'x' }, { modelId: 'y', name: 'Why' }] };
    expect(wish('y', { sessionId: session, models }).last).toMatchObject({
      method: 'session/set_model',
      params: { sessionId: session, modelId: 'y' },
    });
  });

  it('one that is not offered, or not taken, is an error with the ones that are', () => {
    const one = wish('three', offered('a/one'));
    expect(one.events.at(-1)).toMatchObject({
      kind: 'ask:invalid_model',
      words: 'it has no model "three"; it offers a/one, b/two',
    });
    const other = wish('two', offered('a/one'));
    expect(other.line(refusal(3, -32_602, 'not for you'))).toMatchObject([
      { kind: 'ask:invalid_model', words: 'not for you' },
    ]);
  });
});

describe('leave', () => {
  it('shows the command itself, then the words about it, and every way to say yes', () => {
    const one = talk();
    one.line(leave(0, { rawInput: { command: 'rm -rf x', description: 'Tidy up' }, title: 'Clean' }));
    expect(one.events.at(-1)).toMatchObject({ kind: 'ask:command', ask: { kind: 'command' } });
    expect(askOf(one)).toMatchObject({
      text: 'rm -rf x\n# Clean\n# Tidy up',
      options: [
        { id: 'always', label: 'Always' },
        { id: 'once', label: 'Once' },
      ],
      accepts: ['approve', 'reject', 'option'],
    });
  });

  it.each([
    ['edit', 'ask:tool', 'edit'],
    ['delete', 'ask:tool', 'edit'],
    ['fetch', 'ask:browser_action_launch', 'tool'],
    ['switch_mode', 'ask:tool', 'plan'],
    ['constructor', 'ask:tool', 'tool'],
  ])('a tool of the kind %s is %s', (toolKind, kind, askKind) => {
    const one = talk();
    expect(one.line(leave(0, { kind: toolKind }))).toMatchObject([{ kind, ask: { kind: askKind } }]);
  });

  it('an edit is shown as the lines that change', () => {
    const one = talk();
    const content = [{ type: 'diff', path: '/w/a', oldText: 'one\ntwo\nthree\n', newText: 'one\nTWO\nthree\n' }];
    one.line(leave(0, { kind: 'edit', title: '/w/a', rawInput: {}, content }));
    expect(askOf(one)?.text).toBe('/w/a\n- two\n+ TWO');
  });

  it('SES6 what it is for is always shown, wherever the agent told it', () => {
    const one = talk('Copilot');
    const content = [{ type: 'diff', path: '/w/a', oldText: '', newText: 'x\n' }];
    one.line(update({ sessionUpdate: 'tool_call', toolCallId: 't0', kind: 'edit', title: 'Creating /w/a', content }));
    one.line(leave(0, { kind: 'edit', title: 'Create file', rawInput: {} }));
    expect(askOf(one)?.text).toBe('Create file\n/w/a\n+ x');
    one.do({ kind: 'approve', ask_id: idOf(one) });
    one.line(
      leave(1, {
        kind: 'edit',
        title: 'Create file',
        rawInput: { diff: '+++ b/w/c\n+y\n' },
        locations: [{ path: '/w/c' }],
      }),
    );
    expect(askOf(one)?.text).toBe('Create file\n+++ b/w/c\n+y');
    one.do({ kind: 'approve', ask_id: idOf(one) });
    one.line(leave(2, { kind: 'other', title: 'mcp tool', rawInput: { table: 'users' } }));
    expect(askOf(one)?.text).toBe('mcp tool\n{"table":"users"}');
  });

  it('SES5 is given once, by kind and not by place, and a doubled request is not put again', () => {
    const one = talk();
    one.line(leave(0));
    expect(one.line(leave(0))).toEqual([]);
    expect(one.do({ kind: 'approve', ask_id: idOf(one) })).toBe(null);
    expect(one.last).toEqual(reply(0, { outcome: { outcome: 'selected', optionId: 'once' } }));
    expect(one.do({ kind: 'approve', ask_id: idOf(one) })?.code).toBe('E_STATE_CHANGED');
    expect(one.line(leave(0))).toEqual([]);
  });

  it('a yes for longer has to be chosen', () => {
    const one = talk();
    one.line(leave(0, {}, { options: [options[0], options[2]] }));
    expect(one.do({ kind: 'approve', ask_id: idOf(one) })?.message).toMatch(/no option to approve this once/);
    expect(one.do({ kind: 'choose', ask_id: idOf(one), option: 'no' })?.code).toBe('E_INPUT');
    expect(one.do({ kind: 'choose', ask_id: idOf(one), option: 'Always' })).toBe(null);
    expect(one.last).toEqual(reply(0, { outcome: { outcome: 'selected', optionId: 'always' } }));
    const none = talk();
    none.line(leave(0, {}, { options: [options[2]] }));
    expect(none.do({ kind: 'approve', ask_id: idOf(none) })?.message).toMatch(/no option to approve/);
  });

  it('several are put one after another, and those of other sessions are theirs', () => {
    const one = talk();
    one.line(leave(0));
    expect(one.line(leave(1, {}, { sessionId: 'se-2' }))).toEqual([]);
    one.do({ kind: 'approve', ask_id: idOf(one) });
    expect(askOf(one)).toMatchObject({ scope: 'se-2' });
    one.do({ kind: 'reject', ask_id: idOf(one), because: null });
    expect(one.last).toEqual(reply(1, { outcome: { outcome: 'selected', optionId: 'no' } }));
  });

  it('in automatic mode is given at once, and said so; a question is still asked', () => {
    const one = talk('toy', { auto_approve: true });
    expect(one.line(leave(0))).toEqual([]);
    expect(one.last).toEqual(reply(0, { outcome: { outcome: 'selected', optionId: 'once' } }));
    expect(one.texts('notice')).toEqual(['approved automatically: ls -l\n# List']);
    one.line(form(1, { colour: { type: 'string', enum: ['Green'] } }));
    expect(one.events.at(-1)?.kind).toBe('ask:followup');
  });

  it('that the agent takes back is settled', () => {
    const one = talk();
    one.line(leave(0));
    const id = idOf(one);
    expect(one.line({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 0 } })).toMatchObject([
      { kind: 'user_feedback', ask_id: id },
    ]);
    expect(one.do({ kind: 'approve', ask_id: id })?.code).toBe('E_STATE_CHANGED');
  });

  it('a tool that is told of while it waits does not end the waiting', () => {
    const one = talk();
    one.line(leave(0));
    const running = { sessionUpdate: 'tool_call_update', toolCallId: 't0', status: 'in_progress' };
    expect(one.line(update({ ...running, content: [{ type: 'content', content: { text: 'x' } }] }))).toEqual([]);
    expect(one.messages.get('tool-t0')?.tool?.status).toBe('pending');
    one.do({ kind: 'approve', ask_id: idOf(one) });
    expect(one.line(update(running))).toMatchObject([{ kind: 'command_output' }]);
    expect(one.messages.get('tool-t0')?.tool?.status).toBe('running');
  });
});

const form = (id: number, properties: object, rest: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Please', requestedSchema: { type: 'object', properties }, ...rest },
});

describe('questions', () => {
  it("Claude's pair of fields is one question, and words of one's own go into the second", () => {
    const colour = { type: 'string', title: 'Colour', oneOf: [{ const: 'Red' }, { const: 'Blue' }] };
    const both = { question_0: colour, question_0_custom: { type: 'string', title: 'Other' } };
    const one = talk('@agentclientprotocol/claude-agent-acp');
    one.line(form(0, both));
    expect(askOf(one)).toMatchObject({ options: [{ label: 'Red' }, { label: 'Blue' }], accepts: ['option', 'text'] });
    one.do({ kind: 'write', ask_id: idOf(one), text: 'mauve' });
    expect(one.last).toEqual(reply(0, { action: 'accept', content: { question_0_custom: 'mauve' } }));
    one.line(form(1, both));
    one.do({ kind: 'choose', ask_id: idOf(one), option: '2' });
    expect(one.last).toEqual(reply(1, { action: 'accept', content: { question_0: 'Blue' } }));
  });

  it('a page to be opened wants a yes or a no', () => {
    const one = talk();
    one.line(form(0, {}, { mode: 'url', url: 'https://x.example/login', message: 'Log in' }));
    expect(one.events.at(-1)).toMatchObject({
      kind: 'ask:use_mcp_server',
      ask: { text: 'Log in\nhttps://x.example/login', accepts: ['approve', 'reject'] },
    });
    one.do({ kind: 'approve', ask_id: idOf(one) });
    expect(one.last).toEqual(reply(0, { action: 'accept' }));
  });

  const hidden = (status: string, rest: object = {}) =>
    update({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'q',
      title: 'question',
      status,
      rawInput: {
        questions: [
          { question: 'Which colour?', options: [{ label: 'Red' }, { label: 'Blue' }] },
          { question: 'Which size?', options: [] },
        ],
      },
      ...rest,
    });

  it('SES6 that the protocol hides are asked, and answered by the next prompt', () => {
    const one = talk('Kilo');
    one.line(hidden('in_progress'));
    expect(one.events.at(-1)).toMatchObject({ kind: 'ask:followup', ask: { text: 'Which colour?' } });
    expect(one.line(hidden('in_progress'))).toEqual([]);
    one.do({ kind: 'choose', ask_id: idOf(one), option: '2' });
    one.do({ kind: 'write', ask_id: idOf(one), text: 'large' });
    expect(one.last).toMatchObject({ method: 'session/cancel' });
    // The end of the turn that was called off for it is no end.
    expect(one.line(ended(3, 'cancelled'))).toMatchObject([{ kind: 'api_req_started' }]);
    expect(one.last).toMatchObject({ params: { prompt: [{ text: 'Which colour? Blue\nWhich size? large' }] } });
    one.line(chunk('good'));
    expect(one.line(ended(4))).toMatchObject([{ kind: 'say:completion_result', outcome: 'verified' }]);
  });

  it('that end by themselves are no longer asked', () => {
    const one = talk('Kilo');
    one.line(hidden('in_progress'));
    expect(one.line(hidden('failed')).map(({ kind }) => kind)).toEqual(['user_feedback', 'command_output']);
  });

  it('are ordinary tools with agents that do not hide them', () => {
    const one = talk('toy');
    expect(one.line(hidden('in_progress'))).toEqual([]);
  });
});
