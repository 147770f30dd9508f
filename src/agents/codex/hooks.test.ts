// Hook and notify calls as Codex 0.166 made them, scene by scene, through the reader and through the engine.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { event, oneAgent, type TestWorld, t0 } from '../../../test/kit/engine.ts';
import type { Finding, HookCall, HookReader } from '../contract.ts';
import { codexHooks } from './hooks.ts';

interface Call {
  readonly at: number;
  readonly event: string;
  readonly payload: Record<string, unknown>;
}

const scenes = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures', 'payloads', 'hooks.json'), 'utf8')) as {
  scene: string;
  calls: Call[];
}[];

function callsOf(...names: readonly string[]): readonly Call[] {
  return names.flatMap((name, place) => {
    const scene = scenes.find((one) => one.scene.startsWith(name));
    if (scene === undefined) throw new Error(`no scene ${name}`);
    return scene.calls.map((call) => ({ ...call, at: call.at + place * 10_000 }));
  });
}

const asCall = (call: Call): HookCall => ({ event: call.event, payload: call.payload, time: t0 + call.at });

/** As the daemon hands them on: bound by the process they came from. */
function give(world: TestWorld, findings: readonly Finding[]): void {
  for (const { fact, time, source } of findings) {
    const { kind, ...payload } = fact;
    world.take(event('a', source ?? 'hook', time - t0, kind, payload));
  }
}

function play(
  calls: readonly Call[],
  reader: HookReader = codexHooks(),
): { world: TestWorld; words: readonly string[] } {
  const world = oneAgent();
  world.now = t0 + 60_000;
  const words = calls.map((call) => {
    give(world, reader.read(asCall(call)));
    return `${call.event}: ${world.word('a')}`;
  });
  return { world, words };
}

describe('hooks of codex', () => {
  it('a turn with a command: running, a tool, running, completed; the call for the hidden thread counts for nothing', () => {
    expect(play(callsOf('08_')).words).toEqual([
      'UserPromptSubmit: running/turn_running',
      'notify: running/turn_running',
      'PreToolUse: running/tool_running',
      'PostToolUse: running/turn_running',
      'Stop: completed/turn_completed',
      'notify: completed/turn_completed',
    ]);
  });

  it('ASK1 a permission is asked under the id of its call, and the result settles it', () => {
    const { world } = play(callsOf('10_'));
    const { ask, state } = world.state('a');
    expect(state).toBe('waiting_approval');
    expect(ask).toMatchObject({
      ask_id: 'call_mock_371_0',
      kind: 'command',
      scope: 'main',
      text: 'touch /lab/outside-approved.txt\nDo you want to allow writing outside the workspace?',
    });
    expect(play(callsOf('10_', '11_')).words.slice(-3)).toEqual([
      'PostToolUse: running/turn_running',
      'Stop: completed/turn_completed',
      'notify: completed/turn_completed',
    ]);
  });

  it('a patch is an edit', () => {
    const { world, words } = play(callsOf('13_'));
    expect(world.state('a').ask).toMatchObject({ ask_id: 'call_mock_386_0', kind: 'edit' });
    expect(words.at(-1)).toBe('PermissionRequest: waiting_approval/approval_asked');
    expect(play(callsOf('13_', '14_')).words.at(-2)).toBe('Stop: completed/turn_completed');
  });

  it('Esc while it asks is a refusal, Esc while it works an interruption', () => {
    const asked = callsOf('10_');
    const turn = asked[0]?.payload.turn_id;
    const esc: Call = { at: 20_000, event: 'Interrupt', payload: { ...asked[0]?.payload, turn_id: turn } };
    expect(play([...asked, esc]).words.at(-1)).toBe('Interrupt: idle/refused_by_person');
    expect(play([...asked.slice(0, 1), esc]).words.at(-1)).toBe('Interrupt: idle/interrupted');
    expect(play(callsOf('16_')).words).toEqual(['Interrupt: idle/interrupted']);
  });

  it('a question is asked when its tool begins, with its options', () => {
    const { world } = play(callsOf('42_'));
    expect(world.word('a')).toBe('waiting_input/question_asked');
    expect(world.state('a').ask).toMatchObject({
      ask_id: 'call_mock_546_0',
      kind: 'question',
      text: 'Which database should I use?',
      options: [
        { id: '1', label: 'SQLite (Recommended)' },
        { id: '2', label: 'Postgres' },
      ],
    });
    expect(play(callsOf('42_', '43_')).words.at(-3)).toBe('PostToolUse: running/turn_running');
  });

  it('ASK4 a question that Codex never showed is settled with its turn', () => {
    expect(play(callsOf('40_')).words.at(-1)).toBe('notify: completed/turn_completed');
    expect(play(callsOf('40_')).world.state('a').asks_open).toBe(0);
  });

  it('RSV4 an API error fires no hook: running stays, and no notify call of the hidden thread ends it', () => {
    expect(play(callsOf('22_')).words.at(-1)).toBe('notify: running/turn_running');
  });

  it('compacting is work', () => {
    expect(play(callsOf('29_')).words.slice(0, 2)).toEqual([
      'PreCompact: running/compacting',
      'PostCompact: running/turn_running',
    ]);
    const manual: Call = { at: 1, event: 'PostCompact', payload: { session_id: 's', trigger: 'manual' } };
    expect(play([manual]).words).toEqual(['PostCompact: idle/prompt_ready']);
  });

  it('the end of a session is a goodbye, that of a cleared one is not', () => {
    const reader = codexHooks();
    const facts = callsOf('32_').flatMap((call) => reader.read(asCall(call)).map((one) => one.fact));
    expect(facts).toEqual([{ kind: 'runtime.goodbye' }]);
    expect(reader.read({ event: 'SessionEnd', payload: { reason: 'clear' }, time: 1 })).toEqual([]);
  });

  it('the same command asked twice in one turn is two asks', () => {
    const [submit, begins, , asks] = callsOf('10_');
    const ended = callsOf('11_')[0];
    if (!submit || !begins || !asks || !ended) throw new Error('calls are missing');
    const again = (call: Call, id: string): Call => ({ ...call, payload: { ...call.payload, tool_use_id: id } });
    const calls = [submit, begins, asks, ended, again(begins, 'second'), asks].map((call, at) => ({ ...call, at }));
    const { world, words } = play(calls);
    expect(words.at(-1)).toBe('PermissionRequest: waiting_approval/approval_asked');
    expect(world.state('a').ask?.ask_id).toBe('second');
  });

  it('after a restart of the daemon ids are made from the call, so that the result still settles the ask', () => {
    const world = oneAgent();
    world.now = t0 + 60_000;
    const asks = callsOf('10_').filter((call) => call.event === 'PermissionRequest');
    const results = callsOf('10_', '11_').filter((call) => call.event === 'PostToolUse');
    for (const call of asks) give(world, codexHooks().read(asCall(call)));
    expect(world.state('a').state).toBe('waiting_approval');
    for (const call of results) give(world, codexHooks().read(asCall(call)));
    expect(world.word('a')).toBe('running/turn_running');
  });

  it('a subagent keeps its own asks and ends its own turn', () => {
    const reader = codexHooks();
    const payload = {
      session_id: 's',
      turn_id: 't',
      agent_id: 'sub',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
    };
    const [asked] = reader.read({ event: 'PermissionRequest', payload, time: 1 });
    expect(asked?.fact).toMatchObject({ kind: 'ask.opened', ask: { scope: 'sub' } });
    expect(reader.read({ event: 'SubagentStop', payload, time: 2 }).map((one) => one.fact)).toEqual([
      { kind: 'turn.ended', scope: 'sub' },
    ]);
    expect(reader.read({ event: 'UserPromptSubmit', payload, time: 3 })).toEqual([]);
  });

  it('names the conversation', () => {
    const reader = codexHooks();
    expect(reader.session({ event: 'Stop', payload: { session_id: 'x' }, time: 1 })).toBe('x');
    expect(reader.session({ event: 'notify', payload: { 'thread-id': 'y' }, time: 1 })).toBe('y');
    expect(reader.session({ event: 'Stop', payload: null, time: 1 })).toBeNull();
  });

  it('never throws on foreign input', () => {
    const reader = codexHooks();
    const odd: unknown[] = [null, 1, '', [], {}, { question: 1 }, 'x'.repeat(100_000), [null], { description: {} }];
    for (const name of [...reader.events, 'Unknown', '']) {
      for (const value of odd) {
        const payload = {
          ...{ session_id: value, turn_id: value, tool_name: value, tool_input: value, tool_use_id: value },
          ...{ agent_id: value, reason: value, prompt: value, type: value, 'input-messages': value },
        };
        expect(() => reader.read({ event: name, payload, time: 1 })).not.toThrow();
        expect(() => reader.session({ event: name, payload, time: 1 })).not.toThrow();
      }
      expect(() => reader.read({ event: name, payload: null, time: 1 })).not.toThrow();
    }
    const question = { tool_name: 'request_user_input', tool_input: { questions: [{ options: 'none' }, 3] } };
    expect(reader.read({ event: 'PreToolUse', payload: question, time: 1 })).toHaveLength(1);
  });
});
