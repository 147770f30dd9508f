// The kit that plays recordings, with an adapter small enough to see through: one word a line.

import { describe, expect, it } from 'vitest';
import { pendingAsk, questionAsk } from '../../test/kit/machine.ts';
import { replaySession, type Scene } from '../../test/kit/replay-session.ts';
import type { Incoming, ProtocolAdapter, Turn } from '../agents/protocol/adapter.ts';
import { fail, ok } from '../model/errors.ts';
import { agentSessionId } from '../model/ids.ts';
import type { MachineEvent, SessionMessage } from '../model/sessions.ts';

interface Memory {
  readonly prompt: string;
  readonly lines: number;
}

const nothing = { events: [], messages: [], said: [] } as const;

function eventsOf(line: string, at: number): readonly MachineEvent[] {
  const [word = '', id = ''] = line.split(' ');
  switch (word) {
    case 'created':
      return [{ kind: 'session_created', at, agent_session: agentSessionId('s') }];
    case 'request':
      return [{ kind: 'api_req_started', at, request: id }];
    case 'text':
      return [{ kind: 'say:text', at }];
    case 'half':
      return [{ kind: 'ask:command', at, ask: pendingAsk(id), partial: true }];
    case 'ask':
      return [{ kind: 'ask:command', at, ask: pendingAsk(id) }];
    case 'question':
      return [{ kind: 'ask:followup', at, ask: questionAsk(id) }];
    case 'done':
      return [{ kind: 'say:completion_result', at }];
    default:
      return [];
  }
}

const toy: ProtocolAdapter<Memory> = {
  name: 'toy',
  hasNoCreated: false,
  livesOn: false,
  asksBytes: () => 0,
  delivery: () => 'taken',
  wakeful: () => null,
  open: ({ prompt, resume }) => ({
    ...nothing,
    memory: { prompt, lines: 0 },
    said: [{ to: 'stdin', line: resume === null ? prompt : `resume ${resume}` }],
  }),
  hear(memory: Memory, heard: Incoming, at: number): Turn<Memory> {
    if (heard.from === 'clock') return { ...nothing, memory, events: [{ kind: 'heartbeat_lost', at }] };
    if (heard.from !== 'stdout') return { ...nothing, memory };
    const message: SessionMessage = { id: 'm', role: 'agent', at, text: heard.line, partial: false };
    return {
      memory: { ...memory, lines: memory.lines + 1 },
      events: eventsOf(heard.line, at),
      messages: heard.line.startsWith('text') ? [message] : [],
      said: [],
      wakeMs: heard.line.startsWith('request') ? 60_000 : null,
    };
  },
  do(memory, deed) {
    if (deed.kind === 'retry') return fail('E_UNSUPPORTED', 'it cannot try again');
    return ok({ ...nothing, memory, said: [{ to: 'stdin', line: JSON.stringify(deed) }] });
  },
};

const line = (at: number, text: string): Scene => ({ at, heard: { from: 'stdout', line: text } });
const exit = (at: number, code: number): Scene => ({ at, heard: { from: 'exit', code, signal: null } });
const begun = [line(10, 'created'), line(20, 'request r1'), line(30, 'text hello')];

describe('the replay of sessions', () => {
  it('SES1 plays a turn with an approval, a queued message and a second turn', () => {
    const replay = replaySession(toy, [
      ...begun,
      { at: 35, deed: { action: 'send', text: 'and then' } },
      line(40, 'ask a'),
      { at: 50, deed: { action: 'approve' } },
      line(60, 'done'),
      line(70, 'text more'),
      line(80, 'done'),
    ]);
    expect(replay.states).toEqual([
      'creating',
      'streaming',
      'waiting_approval',
      'streaming',
      'completed',
      'streaming',
      'completed',
    ]);
    expect(replay.said.map((said) => (said.to === 'stdin' ? said.line : ''))).toEqual([
      'do it',
      '{"kind":"approve","ask_id":"a"}',
      '{"kind":"send","text":"and then"}',
    ]);
    expect(replay.messages.map(({ text }) => text)).toEqual(['text more']);
    expect(replay.final).toMatchObject({ state: 'completed', agent_session: 's', answered: ['a'], turns: 2 });
    expect(replay.refusals).toEqual([]);
  });

  it('SES2 serves stalls, the wakes of the adapter and the silence at the start by its own clock', () => {
    expect(replaySession(toy, []).trail).toEqual([
      { at: 0, state: 'creating', reason: 'starting' },
      { at: 120_000, state: 'error', reason: 'creation_timeout' },
    ]);
    const stalled = replaySession(toy, [...begun, line(40, 'half a')]);
    expect(stalled.trail.at(-1)).toEqual({ at: 3_040, state: 'waiting_approval', reason: 'approval_asked' });
    expect(stalled.final.confidence).toBe('low');
    const silent = replaySession(toy, [line(10, 'created'), line(20, 'request r1')]);
    expect(silent.trail.at(-1)).toEqual({ at: 60_020, state: 'error', reason: 'heartbeat_lost' });
    const auto = replaySession(toy, [...begun, line(40, 'ask a')], { opening: { auto_approve: true } });
    expect(auto.trail.at(-1)).toMatchObject({ at: 1_540, state: 'waiting_approval' });
  });

  it('SES1 ends with the process, refuses what is refused, and starts it again', () => {
    const replay = replaySession(toy, [
      ...begun,
      { at: 40, deed: { action: 'approve' } },
      line(45, 'done'),
      { at: 46, deed: { action: 'retry' } },
      exit(50, 143),
      { at: 60, deed: { action: 'resume', text: 'on' } },
      line(70, 'request r2'),
      line(75, 'text x'),
      exit(80, 1),
      { at: 90, deed: { action: 'stop' } },
    ]);
    expect(replay.refusals.map(({ code }) => code)).toEqual(['E_STATE_CHANGED', 'E_STATE_CHANGED']);
    expect(replay.states).toEqual(['creating', 'streaming', 'completed', 'creating', 'streaming', 'error', 'stopped']);
    expect(replay.said.at(1)).toEqual({ to: 'stdin', line: 'resume s' });
  });

  it('SES1 takes nothing over when the adapter could not do it', () => {
    const failed = replaySession(toy, [
      line(10, 'created'),
      line(20, 'request r'),
      { at: 70_000, deed: { action: 'retry' } },
    ]);
    expect(failed.refusals.map(({ code }) => code)).toEqual(['E_UNSUPPORTED']);
    expect(failed.final.state).toBe('error');
  });

  it('SES3 begins by resuming where a conversation is given', () => {
    const resumed = replaySession(toy, [line(10, 'request r')], {
      opening: { resume: agentSessionId('old') },
      settleMs: 0,
    });
    expect(resumed.trail[0]).toEqual({ at: 0, state: 'creating', reason: 'resuming' });
    expect(resumed.states).toEqual(['creating', 'streaming']);
  });
});
