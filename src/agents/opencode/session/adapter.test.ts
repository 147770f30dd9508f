// What recordings of OpenCode and Kilo do not show, or not often enough: lost replies and events, several asks at once,
// conversations below ours, and a server that is left and joined again.

import { describe, expect, it } from 'vitest';
import { Talk } from '../../../../test/kit/protocol-adapter.ts';
import { agentSessionId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { MachineEvent } from '../../../model/sessions.ts';
import type { Opening } from '../../protocol/adapter.ts';
import { opencodeHttp } from './adapter.ts';
import type { HttpMemory } from './conversation.ts';

/** A talk with a server: events are of our conversation unless they say otherwise. */
class ServerTalk extends Talk<HttpMemory> {
  event(type: string, properties: object = {}): readonly MachineEvent[] {
    return this.hear({
      from: 'stream',
      data: JSON.stringify({ type, properties: { sessionID: 'ses', ...properties } }),
    });
  }

  status(type: string, rest: object = {}): readonly MachineEvent[] {
    return this.event('session.status', { status: { type, ...rest } });
  }

  message(role: string, id: string, rest: object = {}): readonly MachineEvent[] {
    return this.event('message.updated', { info: { id, role, sessionID: 'ses', ...rest } });
  }

  part(part: object): readonly MachineEvent[] {
    return this.event('message.part.updated', { part: { messageID: 'a1', sessionID: 'ses', ...part } });
  }

  ask(id: string, rest: object = {}): readonly MachineEvent[] {
    return this.event('permission.asked', { id, permission: 'bash', metadata: { command: 'make' }, ...rest });
  }

  /** Answers the last request to a path that ends so. */
  reply(end: string, status: number, body: unknown = ''): readonly MachineEvent[] {
    const call = this.asked.findLast(({ path }) => path.endsWith(end));
    if (call === undefined) throw new Error(`nothing was asked of ${end}`);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.hear({ from: 'reply', request: call.request, status, body: text });
  }

  paths(): readonly string[] {
    return this.asked.map(({ method, path }) => `${method} ${path}`);
  }

  get lastCall(): unknown {
    const call = this.asked.at(-1);
    return call === undefined ? null : { path: call.path, body: call.body === null ? null : JSON.parse(call.body) };
  }

  /** How things stand, as the server would say. */
  look(parts: {
    status?: object;
    permissions?: object[];
    questions?: object[];
    messages?: object[];
    children?: object[];
  }) {
    this.reply('/session/status', 200, parts.status ?? {});
    this.reply('/permission', 200, parts.permissions ?? []);
    this.reply('/question', 200, parts.questions ?? []);
    this.reply('/message?limit=3', 200, parts.messages ?? []);
    return this.reply('/children', 200, parts.children ?? []);
  }
}

/** Up to the conversation that is there; the prompt is said. */
function talk(opening: Partial<Opening> = {}): ServerTalk {
  const one = new ServerTalk(opencodeHttp, opening);
  one.reply('/session', 200, { id: 'ses' });
  return one;
}

/** A turn in which the model has begun to answer. */
function running(opening: Partial<Opening> = {}): ServerTalk {
  const one = talk(opening);
  one.message('user', 'u1');
  one.status('busy');
  one.message('assistant', 'a1');
  return one;
}

const said = (one: ServerTalk, text: string): void => void one.part({ id: 'p1', type: 'text', text, time: { end: 1 } });
const done = (one: ServerTalk, rest: object = {}): void =>
  void one.message('assistant', 'a1', { finish: 'stop', time: { completed: 1 }, ...rest });

describe('beginning', () => {
  it('makes a conversation, then says the prompt, with the model by its provider', () => {
    const one = talk({ prompt: 'hello', model: 'openrouter/qwen/qwen3' });
    expect(one.paths()).toEqual(['POST /session', 'POST /session/ses/prompt_async']);
    expect(one.lastCall).toMatchObject({
      body: { model: { providerID: 'openrouter', modelID: 'qwen/qwen3' }, parts: [{ type: 'text', text: 'hello' }] },
    });
    expect(one.turn.rejoin).toEqual({ session: 'ses' });
    expect(one.texts('user')).toEqual(['hello']);
  });

  it.each(['gpt', '/gpt', 'openai/'])('a model called %s has no provider', (model) => {
    const one = new ServerTalk(opencodeHttp, { model });
    expect(one.events).toMatchObject([{ kind: 'process_error', words: expect.stringContaining('provider/model') }]);
    expect(one.turn.said).toEqual([{ to: 'process', signal: 'TERM' }]);
    expect(one.wakeAt).toBeNull();
  });

  it('goes on with a conversation that is still there', () => {
    const one = new ServerTalk(opencodeHttp, { prompt: 'more', resume: agentSessionId('ses') });
    expect(one.paths()).toEqual(['GET /session/ses']);
    expect(one.reply('/session/ses', 200, { id: 'ses' })).toMatchObject([{ kind: 'session_created' }]);
    expect(one.lastCall).toMatchObject({ path: '/session/ses/prompt_async' });
    const gone = new ServerTalk(opencodeHttp, { resume: agentSessionId('ses') });
    expect(gone.reply('/session/ses', 404, {})).toMatchObject([
      { kind: 'process_error', words: 'the conversation no longer exists' },
    ]);
  });

  it('asks again when a reply was lost, and gives up after some', () => {
    const one = new ServerTalk(opencodeHttp);
    for (let tries = 1; tries < limits.serverTriesMax; tries += 1) {
      expect(one.reply('/session', 0, 'ETIMEDOUT')).toEqual([]);
    }
    expect(one.asked).toHaveLength(limits.serverTriesMax);
    expect(one.reply('/session', 0, 'ETIMEDOUT')).toMatchObject([
      { kind: 'process_error', words: expect.stringContaining('did not answer') },
    ]);
  });

  it('ends with what was printed when it ends before that', () => {
    const one = new ServerTalk(opencodeHttp);
    one.hear({ from: 'stdout', line: 'opencode server listening on http://127.0.0.1:4096' });
    one.hear({ from: 'stderr', line: 'config.json: unexpected token' });
    expect(one.texts('notice')).toEqual(['config.json: unexpected token']);
    expect(one.hear({ from: 'exit', code: 1, signal: null })).toMatchObject([
      { kind: 'process_error', words: 'config.json: unexpected token' },
    ]);
  });

  it.each([
    [400, { name: 'BadRequest', data: { message: 'no such agent' } }, 'no such agent'],
    [401, '', 'its server rejected the password'],
    [500, 'oops', 'oops'],
  ])('a prompt that is refused with %i has failed', (status, body, words) => {
    expect(talk().reply('/prompt_async', status, body)).toMatchObject([{ kind: 'ask:api_req_failed', words }]);
  });

  it('a prompt of which nobody knows whether it arrived is looked for', () => {
    const one = talk();
    one.reply('/prompt_async', 0, 'ETIMEDOUT');
    expect(one.paths().slice(2)).toEqual([
      ...['GET /session/status', 'GET /permission', 'GET /question'],
      ...['GET /session/ses/message?limit=3', 'GET /session/ses/children'],
    ]);
    expect(one.look({ status: { ses: { type: 'busy' } } })).toMatchObject([{ kind: 'api_req_started' }]);
  });
});

describe('asks', () => {
  it('are put one after another, and what others answer is settled', () => {
    const one = running();
    expect(one.ask('per_1')).toMatchObject([{ kind: 'ask:command', ask: { ask_id: 'per_1', text: 'make' } }]);
    expect(one.ask('per_2', { permission: 'edit', metadata: { filepath: '/w/x', diff: '+1' } })).toEqual([]);
    expect(one.ask('per_3')).toEqual([]);
    expect(one.do({ kind: 'approve', ask_id: 'per_2' })).toMatchObject({ code: 'E_STATE_CHANGED' });
    one.do({ kind: 'approve', ask_id: 'per_1' });
    expect(one.lastCall).toEqual({ path: '/permission/per_1/reply', body: { reply: 'once' } });
    expect(one.events.at(-1)).toMatchObject({ kind: 'ask:tool', ask: { kind: 'edit', text: 'edit /w/x\n+1' } });
    expect(one.event('permission.replied', { requestID: 'per_1', reply: 'once' })).toEqual([]);
    expect(one.event('permission.replied', { requestID: 'per_2', reply: 'once' })).toMatchObject([
      { kind: 'user_feedback', ask_id: 'per_2' },
      { kind: 'ask:command', ask: { ask_id: 'per_3' } },
    ]);
    expect(one.ask('per_1')).toEqual([]);
  });

  it('told twice are asked and answered once', () => {
    const one = running();
    one.ask('per_1');
    expect(one.ask('per_1')).toEqual([]);
    one.do({ kind: 'approve', ask_id: 'per_1' });
    expect(one.ask('per_1')).toEqual([]);
    const automatic = running({ auto_approve: true });
    automatic.ask('per_1');
    automatic.ask('per_1');
    expect(automatic.asked.filter(({ path }) => path.endsWith('/reply'))).toHaveLength(1);
  });

  it('of conversations below ours are ours, those of others are not', () => {
    const one = running();
    one.event('session.created', { sessionID: 'kid', info: { id: 'kid', parentID: 'ses' } });
    one.event('session.created', { sessionID: 'kid2', info: { id: 'kid2', parentID: 'kid' } });
    expect(one.ask('per_1', { sessionID: 'other' })).toEqual([]);
    expect(one.ask('per_2', { sessionID: 'kid2' })).toMatchObject([{ ask: { scope: 'kid2' } }]);
    expect(one.event('session.idle', { sessionID: 'kid2' })).toEqual([]);
  });

  it('in automatic mode everything but a question is allowed at once, and said so', () => {
    const one = running({ auto_approve: true });
    expect(one.ask('per_1')).toEqual([]);
    expect(one.lastCall).toEqual({ path: '/permission/per_1/reply', body: { reply: 'once' } });
    expect(one.texts('notice')).toEqual(['approved automatically: make']);
    const question = { id: 'que_1', questions: [{ question: 'Which?', options: [{ label: 'A' }] }] };
    expect(one.event('question.asked', question)).toMatchObject([{ kind: 'ask:followup' }]);
  });

  it('several questions are put one by one and answered together', () => {
    const one = running();
    const questions = [
      { question: 'Which?', options: [{ label: 'A' }, { label: 'B' }], multiple: true },
      { question: 'Why?', options: [], custom: true },
    ];
    expect(one.event('question.asked', { id: 'que_1', questions })).toMatchObject([{ ask: { text: 'Which?' } }]);
    one.do({ kind: 'choose', ask_id: 'que_1', option: '1,2' });
    expect(one.events.at(-1)).toMatchObject({ ask: { ask_id: 'que_1/2', text: 'Why?' } });
    one.do({ kind: 'write', ask_id: 'que_1/2', text: 'because' });
    expect(one.lastCall).toEqual({ path: '/question/que_1/reply', body: { answers: [['A', 'B'], ['because']] } });
  });

  it('an answer that was lost is said again; one that is not taken is asked for again, as another ask', () => {
    const one = running();
    one.ask('per_1');
    one.do({ kind: 'approve', ask_id: 'per_1' });
    one.reply('/reply', 0, 'ECONNRESET');
    one.reply('/reply', 503, '');
    expect(one.asked.filter(({ path }) => path.endsWith('/reply'))).toHaveLength(3);
    expect(one.reply('/reply', 500, '')).toMatchObject([{ kind: 'ask:command', ask: { ask_id: 'per_1~2' } }]);
    one.do({ kind: 'reject', ask_id: 'per_1~2', because: 'no' });
    expect(one.lastCall).toEqual({ path: '/permission/per_1/reply', body: { reply: 'reject', message: 'no' } });
    expect(one.reply('/reply', 404, '')).toEqual([]);
    expect(one.paths().at(-1)).toBe('GET /session/ses/children');
  });

  it('a stop refuses what is asked, which the server would keep for ever', () => {
    const one = running();
    one.ask('per_1');
    one.event('question.asked', { id: 'que_1', questions: [{ question: 'Which?' }] });
    one.do({ kind: 'cancel' });
    expect(one.paths().slice(-3)).toEqual([
      ...['POST /permission/per_1/reply', 'POST /question/que_1/reject', 'POST /session/ses/abort'],
    ]);
    expect(one.do({ kind: 'approve', ask_id: 'per_1' })).toMatchObject({ code: 'E_STATE_CHANGED' });
  });
});

describe('the end of a turn', () => {
  it.each([
    ['stop', { kind: 'say:completion_result', outcome: 'verified' }],
    ['length', { kind: 'say:completion_result', outcome: 'unverified', words: 'the model stopped for "length"' }],
    ['tool-calls', { kind: 'say:completion_result', outcome: 'unverified' }],
    ['error', { kind: 'ask:api_req_failed' }],
  ])('SES6 a model that stopped for %s', (finish, ending) => {
    const one = running();
    said(one, 'Good.');
    done(one, { finish });
    expect(one.event('session.idle')).toMatchObject([ending]);
    expect(one.event('session.idle')).toEqual([]);
  });

  it.each([
    [{ name: 'ProviderAuthError', data: { message: 'no key' } }, 'ask:api_req_failed', /no key \(log in/],
    [{ name: 'APIError', data: { message: 'pay', statusCode: 402 } }, 'ask:payment_required_prompt', /pay/],
    [{ name: 'UnknownError', data: { message: 'Model not found: x/y' } }, 'ask:invalid_model', /x\/y/],
    [{ name: 'UnknownError', data: { message: 'Oops\n  at stack' } }, 'ask:api_req_failed', /^Oops$/],
  ])('SES6 %o ends as %s', (error, kind, words) => {
    const one = running();
    one.event('session.error', { error });
    expect(one.status('idle')).toMatchObject([{ kind, words: expect.stringMatching(words) }]);
  });

  it('SES6 without a word, without an answer, and with an error that is told only afterwards', () => {
    const wordless = running();
    done(wordless);
    expect(wordless.event('session.idle')).toMatchObject(
      [{ outcome: 'unverified', words: /without a word/ }].map(() => ({
        outcome: 'unverified',
        words: 'the turn ended without output',
      })),
    );
    const kilo = running();
    said(kilo, 'Good.');
    done(kilo);
    kilo.event('session.idle');
    expect(kilo.event('session.turn.close', { reason: 'error' })).toMatchObject([{ kind: 'ask:api_req_failed' }]);
    expect(kilo.event('session.turn.close', { reason: 'error' })).toEqual([]);
  });

  it('SES6 an error without an end ends by itself, unless the agent goes on', () => {
    const one = running();
    one.event('session.error', { error: { name: 'APIError', data: { message: 'no' } } });
    expect(one.pass(limits.sessionIdleGraceMs)).toMatchObject([{ kind: 'ask:api_req_failed', words: 'no' }]);
    const other = running();
    other.event('session.error', { error: { name: 'ContextOverflowError', data: { message: 'too long' } } });
    other.message('assistant', 'a2');
    expect(other.pass(limits.sessionIdleGraceMs * 2)).toEqual([]);
    other.part({ id: 'p2', messageID: 'a2', type: 'text', text: 'Fine.', time: { end: 1 } });
    other.message('assistant', 'a2', { finish: 'stop', time: { completed: 1 } });
    expect(other.event('session.idle')).toMatchObject([{ outcome: 'verified' }]);
  });

  it('what is told twice does not end the next turn', () => {
    const one = running();
    said(one, 'Good.');
    done(one);
    one.status('idle');
    one.do({ kind: 'send', text: 'more' });
    expect(one.event('session.idle')).toEqual([]);
    one.message('user', 'u1');
    expect(one.event('session.idle')).toEqual([]);
    expect(one.memory.look).toBeNull();
    expect(one.message('user', 'u2')).toMatchObject([{ kind: 'api_req_started' }]);
  });

  it('a prompt after a failure waits until that is wound up, so that it is not lost', () => {
    const one = running();
    one.event('session.error', { error: { name: 'APIError', data: { message: 'no' } } });
    one.status('idle');
    one.do({ kind: 'retry' });
    expect(one.paths().filter((path) => path.includes('prompt'))).toHaveLength(1);
    one.event('session.idle');
    one.message('assistant', 'a1', { error: { name: 'APIError' }, time: { completed: 1 } });
    one.status('idle');
    expect(one.paths().filter((path) => path.includes('prompt'))).toHaveLength(2);
    one.event('session.idle');
    one.message('user', 'u2');
    one.message('assistant', 'a2');
    expect(one.event('session.idle')).toMatchObject([{ kind: 'say:completion_result', outcome: 'unverified' }]);
  });

  it('that waiting ends by a look, if the end is never heard, or with a stop', () => {
    const failedOnce = (): ServerTalk => {
      const one = running();
      one.event('session.error', { error: { name: 'APIError', data: { message: 'no' } } });
      one.status('idle');
      one.do({ kind: 'retry' });
      return one;
    };
    const one = failedOnce();
    one.pass(limits.serverLookAgainMs);
    one.look({ status: {} });
    expect(one.lastCall).toMatchObject({ path: '/session/ses/prompt_async' });
    const other = failedOnce();
    other.do({ kind: 'cancel' });
    expect(other.events.at(-1)).toMatchObject({ kind: 'turn_cancelled' });
    expect(other.wakeAt).toBeNull();
  });

  it('a prompt that nobody answered is found out', () => {
    const one = talk();
    one.message('user', 'u1');
    one.event('session.idle');
    one.pass(limits.serverLookAgainMs);
    expect(one.look({ messages: [{ info: { id: 'u1', role: 'user' }, parts: [] }] })).toMatchObject([
      { kind: 'ask:api_req_failed', words: 'its server did not start on the prompt' },
    ]);
  });
});

describe('stopping and trying again', () => {
  it('before there is a conversation, nothing is prompted', () => {
    const one = new ServerTalk(opencodeHttp);
    one.do({ kind: 'cancel' });
    expect(one.reply('/session', 200, { id: 'ses' })).toMatchObject([
      { kind: 'session_created' },
      { kind: 'turn_cancelled' },
    ]);
    expect(one.paths()).toEqual(['POST /session']);
  });

  it('before the prompt was taken up, it is stopped when it is', () => {
    const one = talk();
    one.do({ kind: 'cancel' });
    one.status('busy');
    expect(one.paths().filter((path) => path.endsWith('/abort'))).toHaveLength(2);
    expect(one.event('session.idle')).toMatchObject([{ kind: 'turn_cancelled' }]);
  });

  it('what is asked while it is being stopped is refused, and what stayed open is asked again with the next words', () => {
    const one = running();
    one.do({ kind: 'cancel' });
    expect(one.ask('per_1')).toEqual([]);
    expect(one.lastCall).toEqual({ path: '/permission/per_1/reply', body: { reply: 'reject' } });
    const other = running();
    other.ask('per_2');
    other.do({ kind: 'send', text: 'and this' });
    expect(other.events.at(-1)).toMatchObject({ kind: 'ask:command', ask: { ask_id: 'per_2' } });
  });

  it('while it retries by itself, another try says nothing', () => {
    const one = running();
    expect(one.status('retry', { attempt: 4, message: 'Overloaded', next: 1 })).toMatchObject([
      { kind: 'api_retry_scheduled', retry: { count: 4 }, words: 'Overloaded' },
    ]);
    const before = one.asked.length;
    one.do({ kind: 'retry' });
    expect(one.asked).toHaveLength(before);
    expect(one.status('busy')).toEqual([]);
    expect(one.part({ id: 's1', type: 'step-start' })).toMatchObject([{ kind: 'api_retried' }]);
  });

  it('a turn that somebody began at another screen is a turn', () => {
    const one = running();
    said(one, 'Good.');
    done(one);
    one.event('session.idle');
    one.message('user', 'u2');
    one.event('message.part.updated', { part: { id: 'p9', messageID: 'u2', type: 'text', text: 'from the screen' } });
    expect(one.status('busy')).toMatchObject([{ kind: 'api_req_started' }]);
    expect(one.texts('user')).toEqual(['do it', 'from the screen']);
  });
});

describe('silence and loss', () => {
  it('SES6 a quiet turn is looked at, and lost in the end', () => {
    const one = running();
    one.pass(limits.serverLookMs);
    expect(one.paths().filter((path) => path === 'GET /session/status')).toHaveLength(1);
    one.look({ status: { ses: { type: 'busy' } } });
    expect(one.pass(limits.sessionSilenceMs)).toMatchObject([{ kind: 'heartbeat_lost' }]);
  });

  it('SES6 a tool has hours, an ask has days, and a retry until it comes', () => {
    const tool = running();
    tool.part({ id: 't1', type: 'tool', tool: 'bash', state: { status: 'running', input: { command: 'make' } } });
    expect(tool.pass(limits.sessionSilenceMs * 2)).toEqual([]);
    const ask = running();
    ask.ask('per_1');
    expect(ask.pass(limits.sessionToolSilenceMs * 9)).toEqual([]);
    ask.pass(limits.sessionSilenceMs * 0.9);
    ask.do({ kind: 'approve', ask_id: 'per_1' });
    expect(ask.pass(limits.sessionSilenceMs * 0.9)).toEqual([]);
    const retry = running();
    retry.status('retry', { attempt: 1, next: 1_800_000_000_000 + limits.sessionSilenceMs });
    expect(retry.pass(limits.sessionSilenceMs * 1.5)).toEqual([]);
    expect(retry.pass(limits.sessionSilenceMs)).toMatchObject([{ kind: 'heartbeat_lost' }]);
  });

  it('what was missed is found after the stream broke', () => {
    const one = running();
    one.hear({ from: 'reconnect' });
    const answer = { id: 'a1', role: 'assistant', finish: 'stop', time: { completed: 1 } };
    const parts = [{ id: 'p1', messageID: 'a1', type: 'text', text: 'Good.', time: { end: 1 } }];
    expect(one.look({ messages: [{ info: answer, parts }] })).toContainEqual(
      expect.objectContaining({ kind: 'say:completion_result', outcome: 'verified' }),
    );
    expect(one.texts('agent')).toEqual(['Good.']);
    const asked = running();
    asked.ask('per_1');
    asked.hear({ from: 'reconnect' });
    const about = {
      id: 'per_2',
      sessionID: 'ses',
      permission: 'bash',
      metadata: { command: 'rm x' },
      tool: { messageID: 'a1' },
    };
    const messages = [{ info: { id: 'a1', role: 'assistant' }, parts: [] }];
    expect(asked.look({ status: { ses: { type: 'busy' } }, permissions: [about], messages })).toMatchObject([
      { kind: 'user_feedback', ask_id: 'per_1' },
      { kind: 'ask:command', ask: { ask_id: 'per_2', text: 'rm x' } },
    ]);
  });

  it('a picture that is older than the last event does not count', () => {
    const one = running();
    one.hear({ from: 'reconnect' });
    one.ask('per_1');
    expect(one.look({ status: {} })).toEqual([]);
    one.do({ kind: 'approve', ask_id: 'per_1' });
    one.pass(limits.serverLookAgainMs);
    expect(one.paths().filter((path) => path === 'GET /session/status')).toHaveLength(2);
  });
});

describe('joining again', () => {
  const open = (): ServerTalk =>
    new ServerTalk(opencodeHttp, { prompt: '', resume: agentSessionId('ses'), rejoin: { session: 'ses' } });
  const message = (role: string, rest: object = {}) => ({ info: { id: 'a1', role, ...rest }, parts: [] });
  const busy = { status: { ses: { type: 'busy' } } };
  const about = { id: 'per_1', sessionID: 'ses', permission: 'bash', metadata: { command: 'make' } };

  it.each([
    [{ ...busy, messages: [message('assistant')] }, { state: 'streaming' }],
    [
      { ...busy, messages: [message('assistant')], permissions: [{ ...about, tool: { messageID: 'a1' } }] },
      { state: 'waiting_approval', ask: { ask_id: 'per_1', text: 'make' } },
    ],
    [
      { ...busy, messages: [message('assistant')], permissions: [{ ...about, tool: { messageID: 'a0' } }] },
      { state: 'streaming' },
    ],
    [
      {
        ...busy,
        questions: [{ id: 'que_1', sessionID: 'kid', questions: [{ question: 'Which?' }] }],
        children: [{ id: 'kid', parentID: 'ses' }],
      },
      { state: 'waiting_input', ask: { scope: 'kid' } },
    ],
    [{ messages: [message('assistant', { finish: 'stop' })] }, { state: 'completed', outcome: 'verified' }],
    [{ messages: [message('assistant')] }, { state: 'completed', outcome: 'unverified' }],
    [
      { messages: [message('assistant', { error: { name: 'APIError', data: { message: 'no' } } })] },
      { state: 'error', words: 'no' },
    ],
    [{ messages: [message('assistant', { error: { name: 'MessageAbortedError' } })] }, { state: 'paused' }],
    [{ messages: [message('user')] }, { state: 'paused' }],
  ])('SES5 %o is %o', (parts, expected) => {
    const one = open();
    expect(one.paths()).not.toContain('POST /session/ses/prompt_async');
    expect(one.look(parts)).toMatchObject([{ kind: 'rejoined', ...expected }]);
  });

  it('SES5 what was asked can be answered, and the turn ends as any other', () => {
    const one = open();
    one.look({ ...busy, messages: [message('assistant')], permissions: [{ ...about, tool: { messageID: 'a1' } }] });
    one.do({ kind: 'approve', ask_id: 'per_1' });
    expect(one.lastCall).toEqual({ path: '/permission/per_1/reply', body: { reply: 'once' } });
    said(one, 'Made.');
    done(one);
    expect(one.event('session.idle')).toMatchObject([{ outcome: 'verified' }]);
  });

  it('SES5 a server that does not answer is lost after some looks; one without a conversation at once', () => {
    const one = open();
    for (let tries = 1; tries < limits.serverLooksMax; tries += 1) {
      one.reply('/session/status', 0, 'ECONNREFUSED');
      one.pass(limits.serverLookAgainMs);
    }
    expect(one.events).toEqual([]);
    expect(one.reply('/session/status', 0, 'ECONNREFUSED')).toMatchObject([{ kind: 'process_error' }]);
    const other = new ServerTalk(opencodeHttp, { prompt: '', rejoin: {} });
    expect(other.events).toMatchObject([{ kind: 'process_error' }]);
  });
});

describe('messages', () => {
  it('grow by pieces, thoughts apart, and are whole at the end of the turn', () => {
    const one = running();
    one.part({ id: 'p1', type: 'text', text: '' });
    one.part({ id: 'r1', type: 'reasoning', text: '' });
    one.event('message.part.delta', { messageID: 'a1', partID: 'p1', field: 'text', delta: 'Good ' });
    one.event('message.part.delta', { messageID: 'a1', partID: 'r1', field: 'text', delta: 'Hm' });
    one.event('message.part.delta', { messageID: 'a1', partID: 'nobody', field: 'text', delta: 'x' });
    expect(one.messages.get('p1')).toMatchObject({ role: 'agent', text: 'Good ', partial: true });
    done(one);
    one.event('session.idle');
    expect(one.messages.get('p1')).toMatchObject({ text: 'Good ', partial: false });
    expect(one.texts('thought')).toEqual(['Hm']);
  });

  it('a tool is one message with what it printed; signs of the program’s own work are none', () => {
    const one = running();
    const tool = (state: object) => one.part({ id: 't1', type: 'tool', tool: 'bash', state });
    tool({ status: 'running', input: { command: 'make' } });
    expect(tool({ status: 'running', input: { command: 'make' }, metadata: { output: 'cc\n' } })).toMatchObject([
      { kind: 'command_output' },
    ]);
    one.ask('per_1');
    expect(tool({ status: 'completed', input: { command: 'make' }, output: 'cc\nld\n' })).toEqual([]);
    expect(one.messages.get('t1')).toMatchObject({ text: 'make\ncc\nld\n', tool: { name: 'bash', status: 'done' } });
    one.part({ id: 'x', type: 'text', text: 'Initializing…', synthetic: true });
    expect(one.texts('agent')).toEqual([]);
  });

  it('counts tokens, and tells when they change', () => {
    const one = running();
    const usage = { info: { id: 'ses', tokens: { input: 10, output: 2 } } };
    expect(one.event('session.updated', usage)).toMatchObject([{ kind: 'usage_update' }]);
    expect(one.turn.tokens).toEqual({ input: 10, output: 2 });
    expect(one.event('session.updated', usage)).toEqual([]);
  });
});
