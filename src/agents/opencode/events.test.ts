// What real events of OpenCode mean, step by step: recorded from 1.18.33 by its plugin and by its event stream, and replayed
// through the engine. How the provoked turns went stands beside each list.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identity, started, TestWorld } from '../../../test/kit/engine.ts';
import { agentName, runtimeId } from '../../model/ids.ts';
import type { Finding, RunView } from '../contract.ts';
import { eventHooks } from './hooks.ts';
import { natives } from './native.ts';

const folder = join(import.meta.dirname, 'fixtures/events');

function linesOf<Line>(file: string): Line[] {
  const text = readFileSync(join(folder, file), 'utf8').trimEnd();
  return text.split('\n').map((line) => JSON.parse(line) as Line);
}

interface Call {
  readonly event: string;
  readonly payload: Record<string, unknown>;
  readonly time: number;
}

function envelope({ fact, time, dedupe, seq }: Finding, source: string): Record<string, unknown> {
  const { kind, ...payload } = fact;
  return {
    evidence: { target: 'host', runtime_id: 'a' },
    source,
    kind,
    event_time: time,
    payload,
    ...(dedupe === undefined ? {} : { dedupe_key: dedupe }),
    ...(seq === undefined ? {} : { source_seq: seq.number, source_epoch: seq.epoch }),
  };
}

/** The states the engine publishes while the findings come in, each once. */
class Replay {
  readonly world = new TestWorld();
  readonly words: string[] = [];
  readonly verdicts = new Set<string>();

  constructor(startedAt: number) {
    this.world.now = startedAt;
    this.world.take(started(identity('a', { agent: agentName('opencode'), started_at: startedAt })));
  }

  take(findings: readonly Finding[], source: string, now: number): void {
    this.world.now = Math.max(this.world.now, now);
    for (const one of findings) for (const word of this.world.take(envelope(one, source))) this.verdicts.add(word);
    const { state, reason, background } = this.world.state('a');
    const word = `${state}/${reason}${background.agents > 0 ? ` +${background.agents}` : ''}`;
    if (this.words.at(-1) !== word) this.words.push(word);
  }
}

const timeOfFirst = 1_794_729_900_000;

describe('an answer that its model did not finish', () => {
  const session = 'ses_1';
  const busy = { type: 'session.status', properties: { sessionID: session, status: { type: 'busy' } } };
  const idle = { type: 'session.idle', properties: { sessionID: session } };
  const message = (info: object) => ({
    type: 'message.updated',
    properties: { sessionID: session, info: { id: 'msg_1', sessionID: session, role: 'assistant', ...info } },
  });
  const endOf = (...events: readonly object[]): string | undefined => {
    const hooks = eventHooks();
    const facts = events.flatMap((event, place) => {
      const { type, properties } = event as { type: string; properties: object };
      return hooks
        .read({ event: type, payload: { properties }, time: timeOfFirst + place } as Call)
        .map((one) => one.fact);
    });
    const last = facts.findLast((fact) => fact.kind === 'state.observed');
    return last === undefined ? undefined : `${last.state}/${last.reason}`;
  };

  it('RSV13 is no finished turn, although the turn says busy once more before it ends', () => {
    expect(endOf(busy, message({ finish: 'length' }), busy, idle)).toBe('error/turn_failed');
    expect(endOf(busy, message({ finish: 'content-filter' }), busy, idle, idle)).toBe('error/turn_failed');
  });

  it('says nothing of a later answer, of a summary, or of what the person said', () => {
    const done = 'completed/turn_completed';
    expect(endOf(busy, message({ finish: 'stop' }), busy, idle)).toBe(done);
    expect(endOf(busy, message({ finish: 'length' }), busy, message({ id: 'msg_2' }), busy, idle)).toBe(done);
    expect(endOf(busy, message({ finish: 'length', summary: true }), busy, idle)).toBe(done);
    expect(endOf(busy, message({ finish: 'length', role: 'user' }), busy, idle)).toBe(done);
  });
});

describe('calls of the plugin', () => {
  const calls = linesOf<Call>('plugin-1.18.33.jsonl');

  it('a whole session, state by state', () => {
    const hooks = eventHooks();
    const replay = new Replay(timeOfFirst);
    for (const call of calls) replay.take(hooks.read(call), 'hook', call.time);
    expect(replay.words).toMatchInlineSnapshot(`
      [
        "unknown/not_observed_yet",
        "running/turn_running",
        "idle/interrupted",
        "running/turn_running",
        "waiting_approval/approval_asked",
        "running/tool_running",
        "running/turn_running",
        "completed/turn_completed",
        "running/turn_running",
        "waiting_approval/approval_asked",
        "running/turn_running",
        "idle/refused_by_person",
        "running/turn_running",
        "completed/turn_completed",
        "running/turn_running",
        "waiting_input/question_asked",
        "running/tool_running",
        "running/turn_running",
        "completed/turn_completed",
        "running/turn_running",
        "error/api_error",
        "running/turn_running",
        "running/retrying",
        "running/turn_running",
        "running/retrying",
        "running/turn_running",
        "running/retrying",
        "idle/interrupted",
        "running/turn_running",
        "waiting_approval/approval_asked",
        "running/turn_running",
        "idle/refused_by_person",
        "running/turn_running",
        "idle/interrupted",
        "running/turn_running",
        "completed/turn_completed",
        "running/turn_running",
      ]
    `);
    expect([...replay.verdicts].sort()).toMatchInlineSnapshot(`
      [
        "joined",
      ]
    `);
  });
});

const run = (argv: readonly string[]): RunView => ({
  runtime_id: runtimeId('a'),
  version: '1.18.33',
  programs: [{ pid: 10, start: '1', argv }],
  home: '/home/user',
  cwd: '/home/user/code',
  env: {},
  openFiles: [],
  title: 'OpenCode',
  startedAt: timeOfFirst,
});

describe('the event stream', () => {
  const [source] = natives;
  if (source === undefined) throw new Error('there is no source');

  function replayStream(file: string, startedAt: number): Replay {
    const reader = source?.open({ kind: 'sse', port: 4096, path: '/event' });
    const replay = new Replay(startedAt);
    const runs = [run(['opencode', '--port', '4096'])];
    reader?.take({ kind: 'opened' }, runs, startedAt);
    for (const line of linesOf<Record<string, unknown>>(file)) {
      const now = startedAt + 600_000;
      const { findings } = reader?.take({ kind: 'message', text: JSON.stringify(line) }, runs, now) ?? { findings: [] };
      replay.take(findings, 'stream', now);
    }
    return replay;
  }

  it('the same session as a stream', () => {
    const replay = replayStream('stream-1.18.33.jsonl', timeOfFirst);
    expect(replay.words).toMatchInlineSnapshot(`
      [
        "unknown/not_observed_yet",
        "running/turn_running",
        "idle/interrupted",
        "running/turn_running",
        "running/tool_running",
        "waiting_approval/approval_asked",
        "running/tool_running",
        "running/turn_running",
        "completed/turn_completed",
        "running/turn_running",
        "running/tool_running",
        "waiting_approval/approval_asked",
        "running/tool_running",
        "running/turn_running",
        "idle/refused_by_person",
        "running/turn_running",
        "completed/turn_completed",
        "running/turn_running",
        "waiting_input/question_asked",
        "running/tool_running",
        "running/turn_running",
        "completed/turn_completed",
        "running/turn_running",
        "error/api_error",
        "running/turn_running",
        "running/retrying",
        "running/turn_running",
        "running/retrying",
        "running/turn_running",
        "running/retrying",
        "idle/interrupted",
        "running/turn_running",
        "waiting_approval/approval_asked",
        "running/tool_running",
        "running/turn_running",
        "idle/refused_by_person",
        "running/turn_running",
        "idle/interrupted",
      ]
    `);
    expect([...replay.verdicts].sort()).toMatchInlineSnapshot(`
      [
        "joined",
      ]
    `);
  });

  it('ASK4 a subagent asks for itself and does not end the turn of its main agent', () => {
    const replay = replayStream('subagent-1.18.33.jsonl', 1_794_757_180_000);
    expect(replay.words).toMatchInlineSnapshot(`
      [
        "unknown/not_observed_yet",
        "running/turn_running",
        "running/tool_running",
        "running/tool_running +1",
        "waiting_approval/approval_asked +1",
        "running/tool_running +1",
        "running/tool_running",
        "running/turn_running",
        "completed/turn_completed",
        "running/turn_running",
        "running/retrying",
        "running/turn_running",
        "running/retrying",
        "idle/interrupted",
        "running/turn_running",
        "waiting_input/question_asked",
        "running/tool_running",
        "running/turn_running",
        "idle/refused_by_person",
      ]
    `);
  });

  it('is asked for on the port that the program was given, and only there', () => {
    const planned = (argv: readonly string[]) => source.plan(run(argv)).map((watch) => 'port' in watch && watch.port);
    expect(planned(['opencode', '--port', '4096'])).toEqual([4096]);
    expect(planned(['opencode', '-m', 'x', '--port=48113'])).toEqual([48_113]);
    for (const argv of [
      ['opencode'],
      ['opencode', '--port'],
      ['opencode', '--port', '0'],
      ['opencode', '--port=99999'],
    ])
      expect(planned(argv)).toEqual([]);
    expect(planned(['opencode', 'fix', '--', '--port', '4096'])).toEqual([]);
  });

  it('BND1 two runs that claim one port prove neither', () => {
    const reader = source.open({ kind: 'sse', port: 1, path: '/event' });
    const text = JSON.stringify({
      type: 'session.status',
      properties: { sessionID: 'ses_1', status: { type: 'busy' } },
    });
    const one = run(['opencode', '--port', '1']);
    reader.take({ kind: 'opened' }, [one], 1000);
    expect(reader.take({ kind: 'message', text }, [one, one], 1001).findings).toEqual([]);
    expect(reader.take({ kind: 'message', text: `data: ${text}` }, [one], 1002).findings).toMatchObject([
      { fact: { kind: 'runtime.session', agent_session: 'ses_1' }, runtime_id: 'a', seq: { epoch: 1000, number: 1 } },
      { fact: { state: 'running', reason: 'turn_running' }, runtime_id: 'a', seq: { epoch: 1000, number: 2 } },
    ]);
    expect(reader.take({ kind: 'message', text: '{"type":' }, [one], 1003).findings).toEqual([]);
    reader.take({ kind: 'opened' }, [one], 2000);
    expect(reader.take({ kind: 'message', text }, [one], 2001).findings.at(-1)?.seq).toEqual({
      epoch: 2000,
      number: 2,
    });
  });
});

describe('single events', () => {
  const session = 'ses_1';
  const call = (event: string, properties: Record<string, unknown>, id?: string): Call => ({
    event,
    payload: { ...(id === undefined ? {} : { id }), type: event, properties: { sessionID: session, ...properties } },
    time: 1_794_729_914_700,
  });
  const busy = call('session.status', { status: { type: 'busy' } });
  const idle = call('session.status', { status: { type: 'idle' } });
  const factsOf = (findings: readonly Finding[]) => findings.map(({ fact }) => fact);

  it('ASK2 an ask has the same id, text and options whichever way it came', () => {
    const asked = (line: Record<string, unknown>) => /asked$/.test(String(line.type));
    const hooks = eventHooks();
    const byPlugin = linesOf<Call>('plugin-1.18.33.jsonl')
      .filter(({ payload }) => asked(payload))
      .flatMap((one) => factsOf(hooks.read(one)));
    const reader = natives[0]?.open({ kind: 'sse', port: 1, path: '/event' });
    const byStream = linesOf<Record<string, unknown>>('stream-1.18.33.jsonl')
      .filter(asked)
      .flatMap((one) => {
        const text = JSON.stringify(one);
        return factsOf(reader?.take({ kind: 'message', text }, [run([])], timeOfFirst)?.findings ?? []);
      })
      .filter(({ kind }) => kind === 'ask.opened');
    expect(byPlugin).toEqual(byStream);
    expect(byPlugin).toMatchObject([
      { ask: { kind: 'command', text: 'echo started; sleep 6; echo finished', options: [{ id: 'once' }, {}, {}] } },
      { ask: { kind: 'edit', text: expect.stringContaining('notes.txt') } },
      { ask: { kind: 'question', text: 'Which colour should the button be?', options: [{ label: 'Red' }, {}] } },
      { ask: { kind: 'command', text: 'echo started; sleep 3; echo finished' } },
    ]);
  });

  it('a call that is read twice means the same twice', () => {
    const hooks = eventHooks();
    for (const one of linesOf<Call>('plugin-1.18.33.jsonl')) expect(hooks.read(one)).toEqual(hooks.read(one));
  });

  it('ORD2 the time of an event is the one in its id, so that events of one millisecond keep their order', () => {
    const hooks = eventHooks();
    hooks.read(busy);
    const [first] = hooks.read(
      call('session.error', { error: { name: 'MessageAbortedError' } }, 'evt_1de3d310e001abc'),
    );
    const [second] = hooks.read(call('session.idle', {}, 'evt_1de3d310e002abc'));
    expect(Math.floor(first?.time ?? 0)).toBe(1_794_729_914_638);
    expect((second?.time ?? 0) - (first?.time ?? 0)).toBeCloseTo(1 / 4096, 6);
    // One that does not fit the time of receipt is not believed.
    expect(hooks.read(call('session.idle', {}, 'evt_fffffffff001abc'))[0]?.time).toBe(1_794_729_914_700);
  });

  it.each([
    ['ProviderAuthError', {}, 'login_needed'],
    ['APIError', { statusCode: 400, message: 'bad' }, 'api_error'],
    ['APIError', { statusCode: 429, message: 'quota' }, 'usage_limit'],
    ['MessageOutputLengthError', {}, 'turn_failed'],
    ['UnknownError', { message: 'odd' }, 'turn_failed'],
  ])('%s with %j is an error that the end of the turn does not take away', (name, data, reason) => {
    const hooks = eventHooks();
    hooks.read(busy);
    expect(factsOf(hooks.read(call('session.error', { error: { name, data } })))).toMatchObject([
      { state: 'error', reason },
    ]);
    expect(factsOf(hooks.read(idle))).toEqual([{ kind: 'turn.ended', scope: 'main' }]);
    hooks.read(busy);
    expect(factsOf(hooks.read(idle))).toMatchObject([{}, { state: 'completed' }]);
  });

  it('versions up to 1.0 ask and answer under other names', () => {
    const hooks = eventHooks();
    const asked = call('permission.updated', { id: 'per_1', type: 'bash', title: 'rm -r x', metadata: {} });
    expect(factsOf(hooks.read(asked))).toMatchObject([{ ask: { ask_id: 'per_1', kind: 'command', text: 'rm -r x' } }]);
    const answered = call('permission.replied', { permissionID: 'per_1', response: 'reject' });
    expect(factsOf(hooks.read(answered))).toEqual([{ kind: 'ask.settled', ask_id: 'per_1', how: 'denied' }]);
  });

  it('what a subagent says is about the conversation of its main agent, and errors without one are about nothing', () => {
    const hooks = eventHooks();
    hooks.read(call('session.created', { sessionID: 'ses_2', info: { id: 'ses_2', parentID: session } }));
    const asked = call('permission.asked', { id: 'per_1', sessionID: 'ses_2', permission: 'bash', patterns: ['ls'] });
    expect(hooks.session(asked)).toBe(session);
    expect(hooks.read(asked)).toMatchObject([
      { agent_session: session, fact: { ask: { scope: 'ses_2', text: 'bash ls' } } },
    ]);
    hooks.read(busy);
    hooks.read(call('session.status', { sessionID: 'ses_2', status: { type: 'busy' } }));
    const aborted = call('session.error', { sessionID: 'ses_2', error: { name: 'MessageAbortedError' } });
    expect(hooks.read(aborted)).toEqual([]);
    expect(factsOf(hooks.read(call('session.idle', { sessionID: 'ses_2' })))).toEqual([
      { kind: 'turn.ended', scope: 'ses_2' },
      { kind: 'background.counted', shells: 0, agents: 0 },
    ]);
    expect(hooks.read(call('session.error', { sessionID: undefined, error: { name: 'UnknownError' } }))).toEqual([]);
    expect(hooks.session({ event: 'session.idle', payload: null, time: 1 })).toBeNull();
  });
});
