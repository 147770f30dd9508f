// Agents that ask for ever, and for more than anyone can hold: what goes beyond the bounds is refused, the agent and whoever
// reads along are told, and what was asked before stays to be answered (SES10).

import { describe, expect, it } from 'vitest';
import { settled, ToyWorld } from '../../../test/kit/managed-session.ts';
import { limits } from '../../model/limits.ts';
import type { SessionMessage } from '../../model/sessions.ts';
import { protocolAdapters } from '../protocol-adapters.ts';
import type { Incoming, Outgoing, ProtocolAdapter } from './adapter.ts';
import { AskBudget, fullReason, weightOf } from './draft.ts';

const mib = 1_048_576;
const long = 'x'.repeat(4 * mib);

class Talk {
  readonly adapter: ProtocolAdapter<unknown>;
  readonly messages: SessionMessage[] = [];
  readonly asked: string[] = [];
  said: Outgoing[] = [];
  memory: unknown;
  room: number | undefined;
  #at = 0;

  constructor(driver: string) {
    const adapter = protocolAdapters.get(driver);
    if (adapter === undefined) throw new Error('no such adapter');
    this.adapter = adapter;
    const wish = {
      prompt: 'go',
      cwd: '/w',
      model: null,
      auto_approve: false,
      resume: null,
      spawned_at: 0,
      rejoin: null,
    };
    this.#take(adapter.open(wish, 0));
  }

  hear(line: object): void {
    const text = JSON.stringify(line);
    const heard: Incoming =
      this.adapter.name === 'opencode-http' ? { from: 'stream', data: text } : { from: 'stdout', line: text };
    this.#at += 1;
    this.said = [];
    this.#take(this.adapter.hear(this.memory, heard, this.#at, this.room));
  }

  reply(request: string, body: object): void {
    this.#take(
      this.adapter.hear(this.memory, { from: 'reply', request, status: 200, body: JSON.stringify(body) }, this.#at),
    );
  }

  approve(ask_id: string): boolean {
    const done = this.adapter.do(this.memory, { kind: 'approve', ask_id }, this.#at);
    if (done.ok) this.#take(done.value);
    return done.ok;
  }

  /** Everything that went out, as text. */
  get out(): string {
    return this.said.map((one) => ('line' in one ? one.line : JSON.stringify(one))).join('\n');
  }

  get held(): number {
    return this.adapter.asksBytes(this.memory);
  }

  #take({ memory, said, messages, events }: ReturnType<ProtocolAdapter<unknown>['hear']>): void {
    this.memory = memory;
    this.said.push(...said);
    this.messages.push(...messages);
    for (const { ask } of events) if (ask !== undefined) this.asked.push(ask.ask_id);
  }
}

interface Cast {
  readonly driver: string;
  readonly begin?: (talk: Talk) => void;
  readonly ask: (number: number, text: string) => object;
}

const casts: readonly Cast[] = [
  {
    driver: 'claude-stream',
    ask: (number, content) => ({
      type: 'control_request',
      request_id: `r${number}`,
      request: { subtype: 'can_use_tool', tool_name: 'Write', input: { file_path: '/f', content } },
    }),
  },
  {
    driver: 'codex-app-server',
    ask: (number, command) => ({
      id: number,
      method: 'item/commandExecution/requestApproval',
      params: { itemId: `i${number}`, turnId: 't', command },
    }),
  },
  {
    driver: 'acp',
    ask: (number, message) => ({
      jsonrpc: '2.0',
      id: number,
      method: 'elicitation/create',
      params: { message, requestedSchema: { type: 'object', properties: {} } },
    }),
  },
  {
    driver: 'opencode-http',
    begin: (talk) => {
      const create = talk.said.find((one) => one.to === 'server');
      talk.reply(create?.to === 'server' ? create.request : '', { id: 'ses_1' });
    },
    ask: (number, question) => ({
      type: 'question.asked',
      properties: { id: `q${number}`, sessionID: 'ses_1', questions: [{ question, options: [] }] },
    }),
  },
];

function begun({ driver, begin }: Cast): Talk {
  const talk = new Talk(driver);
  begin?.(talk);
  return talk;
}

describe.each(casts)('$driver', (cast) => {
  it('SES10a holds no more than its bound, refuses the newest with a reason, and says so', () => {
    const talk = begun(cast);
    for (let number = 1; number <= 40; number += 1) talk.hear(cast.ask(number, long));
    expect(talk.held).toBeGreaterThan(4 * mib);
    expect(talk.held).toBeLessThanOrEqual(limits.sessionAsksBytesMax);
    expect(talk.out).toMatch(cast.driver === 'opencode-http' ? /question\/q40\/reject/ : new RegExp(fullReason));
    expect(talk.messages.filter(({ text }) => text.includes('rejected without being shown')).length).toBeGreaterThan(
      30,
    );
    expect(new Set(talk.asked).size).toBe(1);
  });

  it('SES10 a flood of small asks pushes out none that was put to a person', () => {
    const talk = begun(cast);
    for (let number = 1; number <= limits.sessionToolsMax + 5; number += 1) talk.hear(cast.ask(number, 'y'));
    const [first = ''] = talk.asked;
    expect(talk.out).not.toBe('');
    if (cast.driver !== 'opencode-http') expect(talk.approve(first)).toBe(true);
    else expect(talk.adapter.do(talk.memory, { kind: 'write', ask_id: first, text: 'z' }, 9_999).ok).toBe(true);
  });

  it('SES10 a refused ask that is printed again is not answered again', () => {
    const talk = begun(cast);
    for (let number = 1; number <= 9; number += 1) talk.hear(cast.ask(number, long));
    expect(talk.out).not.toBe('');
    talk.hear(cast.ask(9, long));
    expect(talk.out).toBe('');
  });

  it('SES10 with no room left over all, what is large is refused and what is small is still asked', () => {
    const talk = begun(cast);
    talk.room = 0;
    talk.hear(cast.ask(1, long));
    expect([talk.asked, talk.held]).toEqual([[], 0]);
    talk.hear(cast.ask(2, 'a small thing'));
    expect(talk.asked.length).toBe(1);
  });
});

describe('what asks hold', () => {
  it('SES10 many small things weigh more than the text they came in', () => {
    const many = JSON.parse(`[${'[],'.repeat(99_999)}[]]`);
    expect(weightOf(many)).toBeGreaterThan(100_000 * 50);
    let deep: unknown = [];
    for (let level = 0; level < 200_000; level += 1) deep = [deep];
    expect(weightOf(deep)).toBeGreaterThan(200_000);
  });

  it('SES10a is counted over all sessions, and given back', () => {
    const room = new AskBudget();
    room.change(limits.sessionsAsksBytesMax + 5);
    expect(room.left).toBe(0);
    room.change(-mib - 5);
    expect(room.left).toBe(mib);
  });

  it('SES10 is given back by a session whose process is gone', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    const { left } = world.asks;
    world.wakeful.bytes = mib;
    process.say('ask a1');
    expect(world.asks.left).toBe(left - mib);
    const ended = world.live.end();
    await settled();
    await process.exit(0);
    await ended;
    expect(world.asks.left).toBe(left);
  });
});
