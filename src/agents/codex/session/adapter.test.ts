// What recordings of Codex do not show, or not often enough: stops before there is anything to stop, requests of every
// kind, threads of others, and a shared server that is left and joined again.

import { describe, expect, it } from 'vitest';
import { Talk } from '../../../../test/kit/protocol-adapter.ts';
import { agentSessionId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { Opening } from '../../protocol/adapter.ts';
import { codexAppServer, codexDaemon } from './adapter.ts';

const notice = (method: string, params: object) => ({ method, params: { threadId: 'th', ...params } });
const started = (id = 'tu') => notice('turn/started', { turn: { id, status: 'inProgress' } });
const ended = (status: string, id = 'tu', error: object | null = null) =>
  notice('turn/completed', { turn: { id, status, error } });
const item = (how: 'started' | 'completed', fields: object) => notice(`item/${how}`, { item: fields });
const command = (id: string, rest: object = {}) => ({ type: 'commandExecution', id, command: 'make', ...rest });
const approval = (id: number, itemId: string, rest: object = {}) => ({
  id,
  ...notice('item/commandExecution/requestApproval', { turnId: 'tu', itemId, command: 'make', ...rest }),
});

/** Up to the thread that is there; the prompt is said. */
function talk(opening: Partial<Opening> = {}): Talk<unknown> {
  const one = new Talk<unknown>(codexAppServer, opening);
  one.line({ id: 1, result: {} });
  one.line({ id: 2, result: { thread: { id: 'th' } } });
  return one;
}

function running(opening: Partial<Opening> = {}): Talk<unknown> {
  const one = talk(opening);
  one.line({ id: 3, result: { turn: { id: 'tu' } } });
  one.line(started());
  return one;
}

const methods = ({ said }: Talk<unknown>): readonly unknown[] => said.map(({ method }) => method);

describe('opening', () => {
  it('says hello, asks for a thread with what is wished, then for a turn', () => {
    const one = talk({ prompt: 'hello', cwd: '/p', model: 'gpt-x' });
    expect(methods(one)).toEqual(['initialize', 'initialized', 'thread/start', 'turn/start']);
    expect(one.said[2]).toMatchObject({
      params: { cwd: '/p', model: 'gpt-x', approvalPolicy: 'on-request', sandbox: 'workspace-write' },
    });
    expect(one.last).toMatchObject({ params: { threadId: 'th', input: [{ type: 'text', text: 'hello' }] } });
    expect(one.kinds()).toEqual(['session_created']);
  });

  it('goes on with a conversation, without words with one of ours', () => {
    const one = talk({ prompt: '', resume: agentSessionId('th') });
    expect(one.said[2]).toMatchObject({ method: 'thread/resume', params: { threadId: 'th', excludeTurns: true } });
    expect(one.last).toMatchObject({ params: { input: [{ text: 'Please continue.' }] } });
  });

  it.each([1, 2])('fails in words when request %i is refused', (id) => {
    const one = new Talk<unknown>(codexAppServer);
    if (id === 2) one.line({ id: 1, result: {} });
    expect(one.line({ id, error: { code: -32600, message: 'no rollout found' } })).toMatchObject([
      { kind: 'process_error', words: 'no rollout found' },
    ]);
  });

  it('a server that ends before there is a thread says why in what it printed', () => {
    const one = new Talk<unknown>(codexAppServer);
    one.hear({ from: 'stderr', line: 'Error loading config.toml: bad key' });
    expect(one.hear({ from: 'exit', code: 1, signal: null })).toMatchObject([
      { kind: 'process_error', words: 'Error loading config.toml: bad key' },
    ]);
  });

  it('a second message before there is a thread is said with the first', () => {
    const one = new Talk<unknown>(codexAppServer, { prompt: 'one' });
    one.do({ kind: 'send', text: 'two' });
    one.line({ id: 1, result: {} });
    one.line({ id: 2, result: { thread: { id: 'th' } } });
    expect(one.last).toMatchObject({ params: { input: [{ text: 'one\n\ntwo' }] } });
    expect(one.texts('user')).toEqual(['one', 'two']);
  });
});

describe('stops', () => {
  it('before there is a thread nothing is ever asked', () => {
    const one = new Talk<unknown>(codexAppServer);
    one.do({ kind: 'cancel' });
    one.line({ id: 1, result: {} });
    expect(one.line({ id: 2, result: { thread: { id: 'th' } } })).toMatchObject([
      { kind: 'session_created' },
      { kind: 'turn_cancelled' },
    ]);
    expect(methods(one)).not.toContain('turn/start');
  });

  it('before the turn has an id it is interrupted as soon as it has one', () => {
    const one = talk();
    one.do({ kind: 'cancel' });
    expect(methods(one)).not.toContain('turn/interrupt');
    one.line({ id: 3, result: { turn: { id: 'tu' } } });
    expect(one.last).toMatchObject({ method: 'turn/interrupt', params: { threadId: 'th', turnId: 'tu' } });
    expect(one.line(ended('interrupted'))).toMatchObject([{ kind: 'turn_cancelled' }]);
  });

  it('a refused interruption changes nothing', () => {
    const one = running();
    one.do({ kind: 'cancel' });
    expect(one.line({ id: 4, error: { code: -1, message: 'no turn' } })).toEqual([]);
  });
});

describe('asks', () => {
  const permissions = { network: { enabled: true } };
  const form = (properties: object) => ({
    ...{ serverName: 'db', mode: 'form', message: 'Where?' },
    requestedSchema: { type: 'object', properties },
  });
  const requests: readonly (readonly [string, object, string, string, unknown, unknown])[] = [
    [
      'item/commandExecution/requestApproval',
      { itemId: 'c1', command: 'rm x', reason: 'outside' },
      'ask:command',
      'rm x\n# outside',
      { decision: 'accept' },
      { decision: 'decline' },
    ],
    [
      'item/fileChange/requestApproval',
      { itemId: 'f1' },
      'ask:tool',
      '/a, /b',
      { decision: 'accept' },
      { decision: 'decline' },
    ],
    [
      'item/permissions/requestApproval',
      { itemId: 'p1', permissions, reason: null },
      'ask:tool',
      `permissions ${JSON.stringify(permissions)}`,
      { permissions, scope: 'turn' },
      { permissions: {}, scope: 'turn' },
    ],
    [
      'mcpServer/elicitation/request',
      { ...form({}), message: 'Allow the db server to run drop?' },
      'ask:use_mcp_server',
      'Allow the db server to run drop?',
      { action: 'accept', content: null, _meta: null },
      { action: 'decline', content: null, _meta: null },
    ],
  ];

  it.each(requests)('%s', (method, params, kind, text, yes, no) => {
    const one = running();
    one.line(item('started', { type: 'fileChange', id: 'f1', changes: [{ path: '/a' }, { path: '/b' }] }));
    const [event] = one.line({ id: 7, ...notice(method, { turnId: 'tu', ...params }) });
    expect(event).toMatchObject({ kind, ask: { text, accepts: ['approve', 'reject'] } });
    const ask_id = event?.ask?.ask_id ?? '';
    expect(one.do({ kind: 'choose', ask_id, option: '1' })?.code).toBe('E_UNSUPPORTED');
    expect(one.do({ kind: 'approve', ask_id })).toBeNull();
    expect(one.last).toEqual({ id: 7, result: yes });
    expect(one.do({ kind: 'approve', ask_id })?.code).toBe('E_STATE_CHANGED');
    const [again] = one.line({ id: 8, ...notice(method, { turnId: 'tu', ...params, itemId: 'f1', approvalId: 'x' }) });
    one.do({ kind: 'reject', ask_id: again?.ask?.ask_id ?? '', because: null });
    expect(one.last).toEqual({ id: 8, result: no });
  });

  it('a no with a reason is said into the turn', () => {
    const one = running();
    one.line(approval(0, 'c1'));
    one.do({ kind: 'reject', ask_id: 'tu/c1', because: 'use make' });
    expect(one.said.at(-2)).toEqual({ id: 0, result: { decision: 'decline' } });
    expect(one.last).toMatchObject({ method: 'turn/start', params: { input: [{ text: 'use make' }] } });
    one.line(item('completed', { type: 'userMessage', id: 'u9', content: [{ type: 'text', text: 'use make' }] }));
    expect(one.texts('user')).toEqual(['do it', 'use make']);
  });

  it('are put one after another; one that was answered elsewhere is over', () => {
    const one = running();
    one.line(approval(0, 'c1'));
    expect(one.line(approval(1, 'c2'))).toEqual([]);
    expect(one.line(approval(0, 'c1'))).toEqual([]);
    expect(one.line(notice('serverRequest/resolved', { requestId: 0 }))).toMatchObject([
      { kind: 'user_feedback', ask_id: 'tu/c1' },
      { kind: 'ask:command', ask: { ask_id: 'tu/c2' } },
    ]);
    one.do({ kind: 'approve', ask_id: 'tu/c2' });
    expect(one.line(notice('serverRequest/resolved', { requestId: 1 }))).toEqual([]);
    expect(one.line(approval(1, 'c2'))).toEqual([]);
    expect(one.said.filter(({ result }) => result !== undefined)).toHaveLength(1);
  });

  it('what was asked in a turn that was followed by another is over', () => {
    const one = running();
    one.line(approval(0, 'c1'));
    expect(one.line(started())).toEqual([]);
    expect(one.line(started('tu2'))).toMatchObject([{ kind: 'api_req_started', request: 'tu2' }]);
    expect(one.do({ kind: 'approve', ask_id: 'tu/c1' })?.code).toBe('E_STATE_CHANGED');
  });

  it('questions are put one by one and answered together', () => {
    const one = running();
    const questions = [
      { id: 'a', question: 'Which colour?', options: [{ label: 'Red' }, { label: 'Blue' }], isOther: false },
      { id: 'b', question: 'Which name?', options: null, isOther: true },
    ];
    const [event] = one.line({
      id: 5,
      ...notice('item/tool/requestUserInput', { turnId: 'tu', itemId: 'q', questions }),
    });
    expect(event).toMatchObject({ kind: 'ask:followup', ask: { ask_id: 'tu/q', accepts: ['option'] } });
    one.do({ kind: 'choose', ask_id: 'tu/q', option: 'Blue' });
    expect(one.turn.events).toMatchObject([{ ask: { ask_id: 'tu/q/2', accepts: ['text'] } }]);
    one.do({ kind: 'write', ask_id: 'tu/q/2', text: 'Ada' });
    expect(one.last).toEqual({ id: 5, result: { answers: { a: { answers: ['Blue'] }, b: { answers: ['Ada'] } } } });
  });

  it('a form of an MCP server is a row of questions', () => {
    const one = running();
    const fields = form({
      port: { type: 'integer', title: 'Port' },
      safe: { type: 'boolean', description: 'Encrypted?' },
      host: { type: 'string', enum: ['near', 'far'] },
      tags: { type: 'array', items: { enum: ['x', 'y'] } },
    });
    const [event] = one.line({ id: 6, ...notice('mcpServer/elicitation/request', fields) });
    const id = event?.ask?.ask_id ?? '';
    expect(event?.ask).toMatchObject({ kind: 'question', text: 'Where?\nPort', accepts: ['text'] });
    one.do({ kind: 'write', ask_id: id, text: '8080' });
    one.do({ kind: 'choose', ask_id: `${id}/2`, option: 'true' });
    one.do({ kind: 'choose', ask_id: `${id}/3`, option: '2' });
    one.do({ kind: 'choose', ask_id: `${id}/4`, option: '1,2' });
    const content = { port: 8080, safe: true, host: 'far', tags: ['x', 'y'] };
    expect(one.last).toEqual({ id: 6, result: { action: 'accept', content, _meta: null } });
  });

  it('in automatic mode leave is given and told of, questions are asked', () => {
    const one = running({ auto_approve: true });
    expect(one.line(approval(0, 'c1'))).toEqual([]);
    expect(one.last).toEqual({ id: 0, result: { decision: 'accept' } });
    expect(one.texts('notice')).toEqual(['approved automatically: make']);
    const questions = [{ id: 'a', question: 'Which?', options: [{ label: 'A' }] }];
    const asked = one.line({
      id: 5,
      ...notice('item/tool/requestUserInput', { turnId: 'tu', itemId: 'q', questions }),
    });
    expect(asked).toMatchObject([{ kind: 'ask:followup' }]);
  });

  it('what nobody here can serve is refused at once; of a subagent it is asked', () => {
    const one = running();
    one.line({ id: 9, method: 'attestation/generate', params: {} });
    expect(one.last).toMatchObject({ id: 9, error: { code: -32601 } });
    expect(one.line(approval(0, 'c1', { threadId: 'child' }))).toMatchObject([{ ask: { scope: 'child' } }]);
  });
});

describe('SES6 how a turn ended', () => {
  const http = (status: number | null) => ({ httpConnectionFailed: { httpStatusCode: status } });
  it.each([
    ['completed', null, 'say:completion_result', 'verified', undefined],
    ['interrupted', null, 'turn_cancelled', undefined, undefined],
    ['evaporated', null, 'say:completion_result', 'unverified', 'the turn ended as "evaporated"'],
    ['failed', null, 'ask:api_req_failed', undefined, 'the turn failed without a message'],
    ['failed', { message: 'no', codexErrorInfo: http(500) }, 'ask:api_req_failed', undefined, 'no'],
    ['failed', { message: 'no', codexErrorInfo: http(404) }, 'ask:invalid_model', undefined, 'no'],
    ['failed', { message: 'no', codexErrorInfo: 'modelNotFound' }, 'ask:invalid_model', undefined, 'no'],
    ['failed', { message: 'no', codexErrorInfo: 'usageLimitExceeded' }, 'ask:payment_required_prompt', undefined, 'no'],
    ['failed', { message: 'no', codexErrorInfo: 'tooManyDenials' }, 'ask:mistake_limit_reached', undefined, 'no'],
    [
      'failed',
      { message: 'no', codexErrorInfo: http(401) },
      'ask:api_req_failed',
      undefined,
      'no (log in with `codex login`)',
    ],
  ])('%s with %o', (status, error, kind, outcome, words) => {
    const one = running();
    one.line(item('completed', { type: 'agentMessage', id: 'm', text: 'hi' }));
    const [event] = one.line(ended(status, 'tu', error));
    expect(event?.kind).toBe(kind);
    expect(event?.outcome).toBe(outcome);
    expect(event?.words).toBe(words);
  });

  it('completed without a word is no sure success', () => {
    const one = running();
    one.line(item('completed', { type: 'userMessage', id: 'p', content: [] }));
    expect(one.line(ended('completed'))).toMatchObject([{ kind: 'say:completion_result', outcome: 'unverified' }]);
  });

  it('completed after a failure that was final is a failure', () => {
    const one = running();
    one.line(notice('error', { turnId: 'tu', willRetry: false, error: { message: 'context too long' } }));
    expect(one.line(ended('completed'))).toMatchObject([{ kind: 'ask:api_req_failed', words: 'context too long' }]);
  });

  it('is told once, and not by the end of another turn', () => {
    const one = running();
    expect(one.line(ended('completed', 'other'))).toEqual([]);
    one.line(ended('completed'));
    expect(one.line(ended('completed'))).toEqual([]);
    expect(one.line(started())).toEqual([]);
  });

  it('a turn that could not be begun has failed', () => {
    const one = talk();
    expect(one.line({ id: 3, error: { code: -1, message: 'thread is busy' } })).toMatchObject([
      { kind: 'ask:api_req_failed', words: 'thread is busy' },
    ]);
    one.do({ kind: 'retry' });
    expect(one.last).toMatchObject({ method: 'turn/start' });
  });

  it('idle without an end, and silence', () => {
    const one = running();
    one.line(notice('thread/status/changed', { status: { type: 'idle' } }));
    expect(one.pass(limits.sessionIdleGraceMs)).toMatchObject([
      { kind: 'say:completion_result', outcome: 'unverified' },
    ]);
    const silent = running();
    expect(silent.pass(limits.sessionSilenceMs)).toMatchObject([{ kind: 'heartbeat_lost' }]);
    silent.line(notice('item/agentMessage/delta', { itemId: 'm1', delta: 'here I am' }));
    expect(silent.pass(limits.sessionSilenceMs)).toMatchObject([{ kind: 'heartbeat_lost' }]);
    const tool = running();
    tool.line(item('started', command('c1')));
    expect(tool.pass(limits.sessionSilenceMs * 2)).toEqual([]);
  });

  it('SES6 the silence after a late answer begins with the answer', () => {
    const one = running();
    one.line(approval(0, 'c1'));
    one.pass(limits.sessionSilenceMs * 2.9);
    one.do({ kind: 'approve', ask_id: 'tu/c1' });
    expect(one.pass(limits.sessionSilenceMs * 0.9)).toEqual([]);
    expect(one.pass(limits.sessionSilenceMs)).toMatchObject([{ kind: 'heartbeat_lost' }]);
  });

  it('a thread that was put away can be taken up again', () => {
    const one = running();
    expect(one.line(notice('thread/closed', { threadId: 'other' }))).toEqual([]);
    expect(one.line(notice('thread/closed', {}))).toMatchObject([{ kind: 'ask:resume_task' }]);
    one.do({ kind: 'send', text: 'more' });
    expect(one.last).toMatchObject({ id: 4, method: 'thread/resume', params: { threadId: 'th' } });
    one.line({ id: 4, result: { thread: { id: 'th' } } });
    expect(one.last).toMatchObject({ method: 'turn/start', params: { input: [{ text: 'more' }] } });
  });
});

describe('an ask of another thread', () => {
  const ofOther = (id: number, itemId: string) => approval(id, itemId, { threadId: 'sub' });

  it('SES6 outlasts the turn, is put to a person then, and holds up nothing that is asked later', () => {
    const one = running();
    one.line(ofOther(50, 'i1'));
    one.line(ended('completed'));
    expect(one.events.map(({ kind }) => kind).slice(-2)).toEqual(['say:completion_result', 'ask:command']);
    one.do({ kind: 'approve', ask_id: 'tu/i1' });
    expect(one.last).toMatchObject({ id: 50, result: { decision: 'accept' } });
    one.pass(limits.sessionIdleGraceMs);
    expect(one.events.at(-1)).toMatchObject({ kind: 'say:completion_result', outcome: 'unverified' });
    one.do({ kind: 'send', text: 'more' });
    one.line({ id: 4, result: { turn: { id: 'tu2' } } });
    one.line(started('tu2'));
    one.line(approval(51, 'i2', { turnId: 'tu2' }));
    expect(one.events.at(-1)).toMatchObject({ kind: 'ask:command', ask: { ask_id: 'tu2/i2' } });
  });
});

describe('messages', () => {
  it('grow, and the whole takes their place; those of other threads are nobody’s', () => {
    const one = running();
    one.line(item('started', { type: 'agentMessage', id: 'a1', text: '' }));
    one.line(notice('item/agentMessage/delta', { itemId: 'a1', delta: 'Good ' }));
    one.line(notice('item/agentMessage/delta', { itemId: 'a1', delta: 'day', threadId: 'other' }));
    expect(one.messages.get('a1')).toMatchObject({ role: 'agent', text: 'Good ', partial: true });
    one.line(item('completed', { type: 'agentMessage', id: 'a1', text: 'Good day.' }));
    one.line(item('started', { type: 'reasoning', id: 'r1', summary: [], content: [] }));
    one.line(notice('item/reasoning/summaryTextDelta', { itemId: 'r1', delta: 'Hm' }));
    one.line(item('completed', { type: 'reasoning', id: 'r1', summary: [], content: [] }));
    expect(one.texts('agent')).toEqual(['Good day.']);
    expect(one.texts('thought')).toEqual(['Hm']);
  });

  it('a command is one message with its output', () => {
    const one = running();
    one.line(item('started', command('c1')));
    one.line(approval(0, 'c1'));
    expect(one.messages.get('c1')?.tool?.status).toBe('pending');
    expect(one.line(notice('item/commandExecution/outputDelta', { itemId: 'c1', delta: 'early' }))).toEqual([]);
    one.do({ kind: 'approve', ask_id: 'tu/c1' });
    expect(one.line(notice('item/commandExecution/outputDelta', { itemId: 'c1', delta: 'er' }))).toMatchObject([
      { kind: 'command_output' },
    ]);
    expect(one.messages.get('c1')).toMatchObject({
      text: 'make\nearlyer',
      tool: { name: 'command', status: 'running' },
    });
    one.line(item('completed', command('c1', { status: 'failed', aggregatedOutput: 'earlier\n' })));
    expect(one.messages.get('c1')).toMatchObject({
      text: 'make\nearlier\n',
      tool: { status: 'failed' },
      partial: false,
    });
  });

  it.each([
    [{ type: 'mcpToolCall', server: 'db', tool: 'drop', arguments: { t: 1 } }, 'db.drop', 'db.drop {"t":1}'],
    [{ type: 'webSearch', query: 'tmux' }, 'webSearch', 'tmux'],
    [{ type: 'fileChange', changes: [] }, 'edit', 'files'],
  ])('%o is a tool', (fields, name, text) => {
    const one = running();
    one.line(item('completed', { id: 'x', status: 'completed', ...fields }));
    expect(one.messages.get('x')).toMatchObject({ text, tool: { name, status: 'done' } });
  });

  it('SES6 an ask that nobody is shown excuses no silence, one that is shown does for days', () => {
    for (const isAsked of [true, false]) {
      const one = running();
      one.line(approval(0, 'c1'));
      const told = one.pass(3 * 24 * 3_600_000, isAsked).map(({ kind }) => kind);
      expect(told).toEqual(isAsked ? [] : ['heartbeat_lost']);
    }
  });

  it('nothing grows after the end of the turn, and output of what runs on is passed over', () => {
    const one = running();
    one.line(item('started', { type: 'agentMessage', id: 'a1', text: '' }));
    one.line(notice('item/agentMessage/delta', { itemId: 'a1', delta: 'Half' }));
    one.line(item('started', command('c1')));
    one.line(ended('interrupted'));
    expect([...one.messages.values()].every(({ partial }) => !partial)).toBe(true);
    expect(one.messages.get('c1')?.tool?.status).toBe('failed');
    expect(one.line(notice('item/commandExecution/outputDelta', { itemId: 'c1', delta: 'tick' }))).toEqual([]);
  });

  it('what never ends grows no further than it is shown', () => {
    const one = running();
    one.line(item('started', { type: 'agentMessage', id: 'a1', text: '' }));
    one.line(item('started', command('c1')));
    const delta = 'x'.repeat(limits.sessionMessageCharsMax + 1);
    one.line(notice('item/agentMessage/delta', { itemId: 'a1', delta }));
    one.line(notice('item/commandExecution/outputDelta', { itemId: 'c1', delta }));
    for (const [method, itemId] of [
      ['item/agentMessage/delta', 'a1'],
      ['item/commandExecution/outputDelta', 'c1'],
    ] as const) {
      one.line(notice(method, { itemId, delta }));
      expect(one.turn.messages).toEqual([]);
    }
  });

  it('retries are told, and that they ended', () => {
    const one = running();
    const error = {
      message: 'Reconnecting... 2/5',
      codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: 503 } },
    };
    expect(one.line(notice('error', { turnId: 'tu', willRetry: true, error }))).toMatchObject([
      { kind: 'api_retry_scheduled', retry: { count: 2, status: 503 } },
    ]);
    expect(one.line(item('started', { type: 'agentMessage', id: 'a1', text: '' }))[0]).toMatchObject({
      kind: 'api_retried',
    });
  });
});

describe('the shared server', () => {
  const rejoin = { thread: 'th' };
  function joined(status: object, last: object | null): Talk<unknown> {
    const one = new Talk<unknown>(codexDaemon, { prompt: '', resume: agentSessionId('th'), rejoin });
    one.line({ id: 1, result: {} });
    one.line({ id: 2, result: { thread: { id: 'th', status } } });
    one.line(last === null ? { id: 3, error: { message: 'no' } } : { id: 3, result: { data: [last] } });
    return one;
  }

  it('SES5 says what has to be kept to find the thread again, and prompts nothing when it does', () => {
    const one = joined({ type: 'idle' }, { id: 'tu', status: 'completed' });
    expect(codexDaemon.livesOn).toBe(true);
    expect(methods(one)).toEqual(['initialize', 'initialized', 'thread/resume', 'thread/turns/list']);
    const fresh = new Talk<unknown>(codexDaemon);
    fresh.line({ id: 1, result: {} });
    fresh.line({ id: 2, result: { thread: { id: 'th', status: { type: 'idle' } } } });
    expect(fresh.turn.rejoin).toEqual(rejoin);
    expect(fresh.last).toMatchObject({ method: 'turn/start' });
  });

  it.each([
    ['idle', { id: 'tu', status: 'completed' }, 'completed'],
    ['idle', { id: 'tu', status: 'failed', error: { message: 'no' } }, 'error'],
    ['idle', { id: 'tu', status: 'interrupted' }, 'paused'],
    ['notLoaded', null, 'completed'],
    ['active', { id: 'tu', status: 'inProgress' }, 'streaming'],
    ['active', { id: 'tu', status: 'inProgress' }, 'waiting_approval', 'waitingOnApproval'],
    ['active', { id: 'tu', status: 'inProgress' }, 'waiting_input', 'waitingOnUserInput'],
  ])('SES5 a thread that is %s with %o is %s', (type, last, state, flag = 'other') => {
    const one = joined({ type, activeFlags: [flag] }, last);
    expect(one.events).toContainEqual(expect.objectContaining({ kind: 'rejoined', state }));
  });

  it('SES5 what was asked before is asked again under the same id, and a running turn can be stopped', () => {
    const one = joined({ type: 'active', activeFlags: ['waitingOnApproval'] }, { id: 'tu', status: 'inProgress' });
    expect(one.line(approval(0, 'c1'))).toMatchObject([{ kind: 'ask:command', ask: { ask_id: 'tu/c1' } }]);
    one.do({ kind: 'cancel' });
    expect(one.last).toMatchObject({ method: 'turn/interrupt', params: { turnId: 'tu' } });
  });

  it('another connection joins the same thread', () => {
    const one = joined({ type: 'active', activeFlags: [] }, { id: 'tu', status: 'inProgress' });
    one.hear({ from: 'reconnect' });
    one.line({ id: 1, result: {} });
    expect(one.last).toMatchObject({ method: 'thread/resume', params: { threadId: 'th' } });
  });

  it('what others type into the thread is shown', () => {
    const one = joined({ type: 'idle' }, { id: 'tu', status: 'completed' });
    one.line(item('completed', { type: 'userMessage', id: 'u1', content: [{ type: 'text', text: 'from the pane' }] }));
    expect(one.texts('user')).toEqual(['from the pane']);
  });
});
