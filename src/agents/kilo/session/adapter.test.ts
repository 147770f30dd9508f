// What recordings of Kilo before 7 do not show, or not often enough: answers of every kind, words that it never says it
// would take, and lines of the program itself.

import { describe, expect, it } from 'vitest';
import { Talk } from '../../../../test/kit/protocol-adapter.ts';
import { agentSessionId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { MachineEvent } from '../../../model/sessions.ts';
import type { Opening } from '../../protocol/adapter.ts';
import { goOn } from '../../protocol/draft.ts';
import { lastConversation } from '../session.ts';
import { kiloLines } from './adapter.ts';
import type { LinesMemory } from './conversation.ts';

const start = 1_800_000_000_000;

class LineTalk extends Talk<LinesMemory> {
  say(say: string, timestamp: number, rest: object = {}): readonly MachineEvent[] {
    return this.line({ timestamp: start + timestamp, source: 'extension', type: 'say', say, ...rest });
  }

  ask(ask: string, timestamp: number, rest: object = {}): readonly MachineEvent[] {
    return this.line({ timestamp: start + timestamp, source: 'extension', type: 'ask', ask, ...rest });
  }
}

const id = (timestamp: number): string => String(start + timestamp);

/** A task whose first request has begun. */
function running(opening: Partial<Opening> = {}): LineTalk {
  const one = new LineTalk(kiloLines, opening);
  one.say('text', 100, { content: 'do it' });
  one.say('api_req_started', 200, { metadata: { apiProtocol: 'openai' } });
  return one;
}

describe('beginning', () => {
  it('is a task, and has a name that it can be gone on with', () => {
    const one = running();
    expect(one.said).toEqual([{ type: 'newTask', text: 'do it' }]);
    expect(one.events).toContainEqual(
      expect.objectContaining({ kind: 'session_renamed', agent_session: lastConversation }),
    );
    expect(one.texts('user')).toEqual(['do it']);
    expect(one.texts('agent')).toEqual([]);
  });

  it('a name of Kilo’s cloud is better', () => {
    const one = new LineTalk(kiloLines);
    expect(one.line({ event: 'session_created', sessionId: 'k-1', timestamp: start + 50 })).toMatchObject([
      { kind: 'session_created', agent_session: 'k-1' },
    ]);
    expect(one.say('api_req_started', 200).map(({ kind }) => kind)).toEqual(['api_req_started']);
  });

  it.each(['resume_task', 'resume_completed_task'])('going on waits for ask:%s, and then says the words', (ask) => {
    const one = new LineTalk(kiloLines, { prompt: '', resume: agentSessionId(lastConversation) });
    expect(one.said).toEqual([]);
    one.say('text', -900, { content: 'what was said first' });
    one.ask('command', -800, { content: 'rm x' });
    expect(one.do({ kind: 'approve', ask_id: id(-800) })).toMatchObject({ code: 'E_STATE_CHANGED' });
    one.ask('completion_result', -700);
    expect(one.ask(ask, 900)).toEqual([]);
    expect(one.said).toEqual([{ type: 'askResponse', askResponse: 'messageResponse', text: goOn }]);
    expect(one.texts('user')).toEqual([goOn]);
  });

  it('the program’s own words are shown, and tell why it ended', () => {
    const one = new LineTalk(kiloLines);
    one.line({ timestamp: start, source: 'cli', type: 'error', content: 'Config error' });
    expect(one.texts('notice')).toEqual(['Config error']);
    const other = new LineTalk(kiloLines);
    other.line('error: unknown option --json-io');
    expect(other.hear({ from: 'exit', code: 1, signal: null })).toMatchObject([
      { kind: 'process_error', words: 'error: unknown option --json-io' },
    ]);
  });
});

describe('asks', () => {
  it('are answered once, though the answer names none', () => {
    const one = running();
    one.ask('command', 300, { content: 'make' });
    expect(one.do({ kind: 'approve', ask_id: id(299) })).toMatchObject({ code: 'E_STATE_CHANGED' });
    expect(one.do({ kind: 'write', ask_id: id(300), text: 'yes' })).toMatchObject({ code: 'E_UNSUPPORTED' });
    expect(one.do({ kind: 'approve', ask_id: id(300) })).toBeNull();
    expect(one.last).toEqual({ type: 'askResponse', askResponse: 'yesButtonClicked' });
    expect(one.do({ kind: 'approve', ask_id: id(300) })).toMatchObject({ code: 'E_STATE_CHANGED' });
    expect(one.ask('command', 300, { content: 'make' })).toEqual([]);
    expect(one.do({ kind: 'approve', ask_id: id(300) })).toMatchObject({ code: 'E_STATE_CHANGED' });
  });

  it('a no takes words with it, which are not shown twice', () => {
    const one = running();
    one.ask('tool', 300, { metadata: { tool: 'newFileCreated', path: 'a.txt', content: 'A' } });
    expect(one.events.at(-1)).toMatchObject({
      kind: 'ask:tool',
      ask: { kind: 'edit', text: 'newFileCreated a.txt\nA' },
    });
    one.do({ kind: 'reject', ask_id: id(300), because: 'elsewhere' });
    expect(one.last).toEqual({ type: 'askResponse', askResponse: 'noButtonClicked', text: 'elsewhere' });
    expect(one.messages.get(`ask-${id(300)}`)?.tool?.status).toBe('failed');
    one.say('user_feedback', 400, { content: 'elsewhere' });
    expect(one.texts('user')).toEqual(['do it']);
  });

  it.each([
    [
      'use_mcp_server',
      { metadata: { serverName: 'db', toolName: 'drop', arguments: '{}' } },
      'ask:use_mcp_server',
      'db drop {}',
    ],
    ['browser_action_launch', { content: 'https://x.org' }, 'ask:browser_action_launch', 'https://x.org'],
    ['brand_new_thing', { content: 'really?' }, 'ask:tool', 'brand_new_thing: really?'],
  ])('%s wants a yes or a no', (ask, rest, kind, text) => {
    const one = running();
    expect(one.ask(ask, 300, rest)).toMatchObject([{ kind, ask: { text, accepts: ['approve', 'reject'] } }]);
  });

  it('a question takes a proposal or words', () => {
    const question = { metadata: { question: 'Which?', suggest: [{ answer: 'Red' }, { answer: 'Blue' }] } };
    const one = running();
    expect(one.ask('followup', 300, question)).toMatchObject([
      { kind: 'ask:followup', ask: { options: [{ id: '1', label: 'Red' }, { id: '2' }], accepts: ['option', 'text'] } },
    ]);
    expect(one.do({ kind: 'approve', ask_id: id(300) })).toMatchObject({ code: 'E_UNSUPPORTED' });
    expect(one.do({ kind: 'choose', ask_id: id(300), option: '3' })).toMatchObject({ code: 'E_INPUT' });
    one.do({ kind: 'choose', ask_id: id(300), option: '2' });
    expect(one.last).toMatchObject({ askResponse: 'messageResponse', text: 'Blue' });
    one.ask('followup', 500, { content: 'And why?' });
    one.do({ kind: 'write', ask_id: id(500), text: 'so' });
    expect(one.last).toMatchObject({ text: 'so' });
  });

  it('what somebody else answered is settled', () => {
    const one = running();
    one.ask('command', 300, { content: 'make' });
    expect(one.ask('command', 300, { content: 'make', isAnswered: true })).toMatchObject([
      { kind: 'user_feedback', ask_id: id(300) },
    ]);
    one.ask('followup', 500, { content: 'Which?' });
    expect(one.say('user_feedback', 600, { content: 'Red' })).toMatchObject([
      { kind: 'user_feedback', ask_id: id(500) },
    ]);
    expect(one.texts('user')).toEqual(['do it', 'Red']);
  });

  it('what another ask has pushed aside asks nobody when it is printed again', () => {
    const one = running();
    one.ask('tool', 300, { metadata: { tool: 'readFile', path: 'a' } });
    one.ask('completion_result', 400);
    expect(one.ask('tool', 300, { metadata: { tool: 'readFile', path: 'a' } })).toEqual([]);
    one.ask('api_req_failed', 500, { content: '400' });
    one.say('api_req_retried', 600);
    expect(one.ask('api_req_failed', 500, { content: '400' })).toEqual([]);
  });

  it('a command that prints was answered, whoever did it', () => {
    const one = running();
    one.ask('command', 300, { partial: true, content: 'ma' });
    const run = { executionId: id(300), command: 'make', output: 'cc' };
    expect(one.ask('command_output', 400, { partial: true, metadata: run })).toMatchObject([
      { kind: 'command_output', ask_id: id(300) },
    ]);
    expect(one.ask('command', 300, { partial: false, content: 'make' })).toEqual([]);
    one.ask('command_output', 400, { partial: false, metadata: { ...run, exitCode: 2 } });
    expect(one.messages.get(`ask-${id(300)}`)).toMatchObject({ text: 'ma\ncc', tool: { status: 'failed' } });
  });
});

describe('failures', () => {
  it('too many mistakes take words, or another try', () => {
    const one = running();
    expect(one.ask('mistake_limit_reached', 300, { content: 'Try a smarter model' })).toMatchObject([
      { kind: 'ask:mistake_limit_reached', words: 'Try a smarter model', ask: { accepts: ['retry', 'text'] } },
    ]);
    one.do({ kind: 'write', ask_id: id(300), text: 'use the tool' });
    expect(one.last).toMatchObject({ askResponse: 'messageResponse', text: 'use the tool' });
    one.ask('api_req_failed', 500, { content: '400' });
    one.do({ kind: 'retry' });
    expect(one.last).toMatchObject({ askResponse: 'yesButtonClicked' });
    const before = one.said.length;
    one.do({ kind: 'retry' });
    expect(one.said).toHaveLength(before);
  });

  it('words for a failed request are said behind another try of it', () => {
    const one = running();
    one.ask('api_req_failed', 300, { content: '400' });
    one.do({ kind: 'continue', text: 'shorter' });
    expect(one.last).toEqual({ type: 'askResponse', askResponse: 'yesButtonClicked' });
    expect(one.do({ kind: 'write', ask_id: id(300), text: 'x' })).toMatchObject({ code: 'E_STATE_CHANGED' });
    one.pass(limits.sessionHeldWordsMs);
    expect(one.said).toHaveLength(2);
    one.ask('completion_result', 900);
    expect(one.last).toMatchObject({ askResponse: 'messageResponse', text: 'shorter' });
  });

  it('each wait between tries counts once, and words begin anew', () => {
    const one = running();
    const content = '429\nToo many\n<retry_timer>5</retry_timer>';
    expect(one.say('api_req_retry_delayed', 300, { partial: true, content })).toMatchObject([
      { kind: 'api_retry_scheduled', retry: { count: 1, status: 429 }, words: 'Too many' },
    ]);
    expect(one.say('api_req_retry_delayed', 300, { partial: false, content: '429\nToo many\n' })).toEqual([]);
    expect(one.say('api_req_retry_delayed', 400, { partial: true, content })).toMatchObject([{ retry: { count: 2 } }]);
    one.say('text', 500, { content: 'Here it is' });
    expect(one.say('api_req_retry_delayed', 600, { content: 'cut off' })).toMatchObject([
      { retry: { count: 1, status: null, until: null }, words: 'cut off' },
    ]);
  });

  it('SES6 silence after a request is found out, also after an ask that it settled by itself', () => {
    expect(running().pass(limits.sessionSilenceMs)).toMatchObject([{ kind: 'heartbeat_lost' }]);
    const one = running({ auto_approve: true });
    one.ask('command', 300, { content: 'make' });
    expect(one.pass(limits.sessionSilenceMs * 2)).toEqual([]);
    one.say('api_req_started', 400);
    expect(one.pass(limits.sessionSilenceMs)).toMatchObject([{ kind: 'heartbeat_lost' }]);
  });

  it('SES6 the silence after a late answer begins with the answer', () => {
    const one = running();
    one.ask('followup', 300, { content: 'which?' });
    one.pass(limits.sessionSilenceMs * 2.9);
    one.do({ kind: 'write', ask_id: id(300), text: 'blue' });
    expect(one.pass(limits.sessionSilenceMs * 0.9)).toEqual([]);
    const other = running();
    other.ask('browser_action_launch', 300, { content: 'look' });
    other.pass(limits.sessionToolSilenceMs * 1.95);
    other.do({ kind: 'reject', ask_id: id(300), because: null });
    expect(other.pass(limits.sessionSilenceMs * 0.9)).toEqual([]);
  });
});

describe('stopping and going on', () => {
  it('words after a stop wait for the word that they are taken, but not for ever', () => {
    const one = running();
    one.ask('command', 300, { content: 'make' });
    one.do({ kind: 'cancel' });
    expect(one.last).toEqual({ type: 'cancelTask' });
    one.do({ kind: 'send', text: 'another way' });
    expect(one.last).toEqual({ type: 'cancelTask' });
    one.pass(limits.sessionHeldWordsMs);
    expect(one.last).toMatchObject({ askResponse: 'messageResponse', text: 'another way' });
    const other = running();
    other.do({ kind: 'cancel' });
    other.ask('resume_task', 400);
    other.do({ kind: 'continue', text: null });
    expect(other.last).toMatchObject({ askResponse: 'messageResponse', text: goOn });
    expect(other.do({ kind: 'send', text: ' ' })).toMatchObject({ code: 'E_INPUT' });
  });

  it('words at the very end of a task are said when it asks for them', () => {
    const one = running();
    one.say('completion_result', 300, { partial: false, content: 'Done.' });
    one.do({ kind: 'send', text: 'more' });
    expect(one.said).toHaveLength(1);
    one.ask('completion_result', 310);
    expect(one.last).toMatchObject({ askResponse: 'messageResponse', text: 'more' });
    expect(one.texts('agent')).toEqual(['Done.']);
  });

  it('tokens are counted once a request', () => {
    const one = running();
    const metadata = { tokensIn: 10, tokensOut: 5, cost: 0 };
    expect(one.say('api_req_started', 200, { metadata })).toMatchObject([
      { kind: 'api_req_started', is_usage: true },
      { kind: 'usage_update' },
    ]);
    one.say('api_req_started', 200, { metadata });
    one.say('api_req_started', 300, { metadata: { tokensIn: 1, tokensOut: 1 } });
    expect(one.turn.tokens).toEqual({ input: 11, output: 6 });
  });
});
