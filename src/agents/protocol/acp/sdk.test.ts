// The adapter against an agent made of the protocol's own SDK: its schemas check what we say, and what it sends is what
// the protocol means. The SDK is used nowhere else (ADR 0015).

import { type AgentConnection, type AnyMessage, agent, methods, RequestError } from '@agentclientprotocol/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../../../test/kit/live.ts';
import { Talk } from '../../../../test/kit/protocol-adapter.ts';
import { agentSessionId } from '../../../model/ids.ts';
import { acp } from '../../protocol-adapters.ts';
import type { Opening } from '../adapter.ts';
import type { AcpMemory } from './conversation.ts';

const sessionId = 'se-1';
const models = [
  { value: 'x/small', name: 'Small' },
  { value: 'x/large', name: 'Large' },
];
const configOptions = [
  { type: 'select' as const, id: 'model', name: 'Model', category: 'model', currentValue: 'x/small', options: models },
];

/** What the SDK's agent was told, in its own words. */
interface Told {
  readonly model: string[];
  readonly answers: unknown[];
  readonly prompts: string[];
  readonly problems: string[];
}

function programOf(told: Told) {
  const stops = new Set<() => void>();
  const say = (text: string) => ({
    sessionId,
    update: { sessionUpdate: 'agent_message_chunk' as const, content: { type: 'text' as const, text } },
  });
  const options = [
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' as const },
    { optionId: 'no', name: 'No', kind: 'reject_once' as const },
  ];
  return agent({ name: 'toy' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {} } },
    }))
    .onRequest(methods.agent.session.new, () => ({ sessionId, configOptions }))
    .onRequest(methods.agent.session.resume, () => ({ configOptions }))
    .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
      told.model.push(String(params.value));
      return { configOptions };
    })
    .onNotification(methods.agent.session.cancel, () => {
      for (const stop of stops) stop();
    })
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      const [part] = params.prompt;
      const text = part?.type === 'text' ? part.text : '';
      told.prompts.push(text);
      if (text === 'login') throw RequestError.authRequired();
      if (text === 'leave') {
        const toolCall = { toolCallId: 't1', title: 'ls', kind: 'execute' as const, rawInput: { command: 'ls -l' } };
        told.answers.push(
          await client.request(methods.client.session.requestPermission, { sessionId, toolCall, options }),
        );
      }
      if (text === 'form') {
        const requestedSchema = {
          type: 'object' as const,
          properties: { colour: { type: 'string' as const, title: 'Colour', enum: ['Green', 'Violet'] } },
          required: ['colour'],
        };
        const form = { sessionId, mode: 'form' as const, message: 'Which colour?', requestedSchema };
        told.answers.push(await client.request(methods.client.elicitation.create, form));
      }
      if (text === 'file') {
        const file = { sessionId, path: '/w/x', content: 'x' };
        await client
          .request(methods.client.fs.writeTextFile, file)
          .catch((problem: unknown) => told.answers.push(String(problem)));
      }
      await client.notify(methods.client.session.update, say(`done: ${text}`));
      if (text !== 'slow') return { stopReason: 'end_turn' as const };
      await new Promise<void>((resolve) => stops.add(resolve));
      return { stopReason: 'cancelled' as const };
    });
}

class Meeting {
  readonly talk: Talk<AcpMemory>;
  readonly told: Told = { model: [], answers: [], prompts: [], problems: [] };
  readonly #connection: AgentConnection;
  readonly #toAgent: WritableStreamDefaultWriter<AnyMessage>;
  #passed = 0;

  constructor(opening: Partial<Opening>) {
    const there = new TransformStream<AnyMessage, AnyMessage>();
    this.#toAgent = there.writable.getWriter();
    this.talk = new Talk(acp, opening);
    const back = new WritableStream<AnyMessage>({
      write: (message) => {
        if ('error' in message) this.told.problems.push(JSON.stringify(message.error));
        this.talk.line(message);
        this.pass();
      },
    });
    this.#connection = programOf(this.told).connect({ readable: there.readable, writable: back });
    this.pass();
  }

  /** What was said since the last time goes to the agent. */
  pass(): void {
    const fresh = this.talk.said.slice(this.#passed);
    this.#passed = this.talk.said.length;
    for (const message of fresh) void this.#toAgent.write(message as unknown as AnyMessage);
  }

  async reach(kind: string): Promise<void> {
    await until(() => this.talk.kinds().some((one) => one === kind));
  }

  close(): void {
    this.#connection.close();
  }
}

describe('an agent made of the SDK', () => {
  const open: Meeting[] = [];
  const meet = (opening: Partial<Opening>): Meeting => {
    const meeting = new Meeting(opening);
    open.push(meeting);
    return meeting;
  };
  afterEach(() => {
    for (const meeting of open.splice(0)) meeting.close();
  });

  it('takes our opening, our model and our prompt', async () => {
    const one = meet({ prompt: 'hello', model: 'large' });
    await one.reach('say:completion_result');
    expect(one.told).toEqual({ model: ['x/large'], answers: [], prompts: ['hello'], problems: [] });
    expect(one.talk.texts('agent')).toEqual(['done: hello']);
  });

  it('takes up a conversation without its history', async () => {
    const one = meet({ prompt: 'more', resume: agentSessionId(sessionId) });
    await one.reach('say:completion_result');
    expect(one.talk.said.map(({ method }) => method)).toEqual(['initialize', 'session/resume', 'session/prompt']);
    expect(one.told.problems).toEqual([]);
  });

  it('gets our yes, our no and our answers', async () => {
    for (const [deed, optionId] of [
      ['approve', 'yes'],
      ['reject', 'no'],
    ] as const) {
      const meeting = meet({ prompt: 'leave' });
      await meeting.reach('ask:command');
      const ask_id = meeting.talk.events.at(-1)?.ask?.ask_id ?? '';
      expect(meeting.talk.do(deed === 'approve' ? { kind: deed, ask_id } : { kind: deed, ask_id, because: null })).toBe(
        null,
      );
      meeting.pass();
      await meeting.reach('say:completion_result');
      expect(meeting.told.answers).toEqual([{ outcome: { outcome: 'selected', optionId } }]);
    }
    const meeting = meet({ prompt: 'form' });
    await meeting.reach('ask:followup');
    const ask = meeting.talk.events.at(-1)?.ask;
    expect(ask?.options.map(({ label }) => label)).toEqual(['Green', 'Violet']);
    expect(meeting.talk.do({ kind: 'choose', ask_id: ask?.ask_id ?? '', option: '2' })).toBe(null);
    meeting.pass();
    await meeting.reach('say:completion_result');
    expect(meeting.told.answers).toEqual([{ action: 'accept', content: { colour: 'Violet' } }]);
  });

  it('is stopped, and told that files are not our affair', async () => {
    const slow = meet({ prompt: 'slow' });
    await slow.reach('say:text');
    slow.talk.do({ kind: 'cancel' });
    slow.pass();
    await slow.reach('turn_cancelled');
    expect(slow.told.problems).toEqual([]);
    const file = meet({ prompt: 'file' });
    await file.reach('say:completion_result');
    expect(file.told.answers).toEqual([expect.stringContaining('agtmux does not serve fs/write_text_file')]);
  });

  it('SES6 that wants a login is an error with the words for it', async () => {
    const one = meet({ prompt: 'login' });
    await one.reach('ask:api_req_failed');
    expect(one.talk.events.at(-1)?.words).toMatch(/to log in: log in with the agent itself/);
  });
});
