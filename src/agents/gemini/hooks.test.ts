// What Gemini's hooks mean, on calls recorded from the real program and replayed in order through the engine.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { event, identity, oneAgent, started, TestWorld, t0 } from '../../../test/kit/engine.ts';
import type { Finding, HookCall } from '../contract.ts';
import { hooks } from './hooks.ts';

const calls = readFileSync(new URL('./fixtures/hooks.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as HookCall);

const ofSession = (start: string): readonly HookCall[] =>
  calls.filter((call) => String(call.payload?.session_id).startsWith(start));

function replay(given: readonly HookCall[]): readonly (readonly [string, string])[] {
  const world = new TestWorld();
  const first = given[0]?.time ?? 0;
  world.take(started(identity('a')));
  return given.map((call) => {
    world.now = t0 + 10_000 + call.time - first;
    for (const { fact, time, dedupe } of hooks.read(call)) {
      const { kind, ...payload } = fact;
      const parts = dedupe === undefined ? {} : { dedupe_key: dedupe };
      world.take(event('a', 'hook', 10_000 + time - first, kind, payload, parts));
    }
    return [call.event, world.word('a')] as const;
  });
}

const factsOf = (event: string, payload: HookCall['payload']): readonly Finding['fact'][] =>
  hooks.read({ event, payload, time: t0 }).map(({ fact }) => fact);

describe('hooks of gemini', () => {
  it('a turn with an approval, an edit refused without a word, a question and errors', () => {
    const seen = replay(ofSession('076e2f').filter(({ event }) => hooks.events.includes(event)));
    expect(seen.slice(0, 14)).toEqual([
      ['SessionStart', 'unknown/not_observed_yet'],
      ['BeforeAgent', 'running/turn_running'],
      ['BeforeTool', 'running/turn_running'],
      ['Notification', 'waiting_approval/approval_asked'],
      ['AfterTool', 'running/turn_running'],
      ['AfterAgent', 'unknown/unsupported_signal'],
      ['BeforeAgent', 'running/turn_running'],
      ['BeforeTool', 'running/turn_running'],
      ['Notification', 'waiting_approval/approval_asked'],
      // Refused with Esc: nothing is called. The next prompt shows that the dialog is gone.
      ['BeforeAgent', 'running/turn_running'],
      ['BeforeTool', 'waiting_input/question_asked'],
      ['Notification', 'waiting_input/question_asked'],
      ['AfterTool', 'running/turn_running'],
      ['AfterAgent', 'unknown/unsupported_signal'],
    ]);
  });

  it('RSV13 the end of a turn, with words or without, is neither completed nor failed; the screen has to tell', () => {
    const seen = replay(ofSession('076e2f').filter(({ event }) => event === 'BeforeAgent' || event === 'AfterAgent'));
    const wordless = calls.filter(({ payload }) => payload?.prompt_response === '[no response text]');
    expect(wordless.length).toBeGreaterThan(4);
    expect(seen.filter(([, word]) => word === 'unknown/unsupported_signal')).toHaveLength(10);
    const world = oneAgent();
    world.take(event('a', 'screen', 0, 'state.observed', { state: 'error', reason: 'api_error', confidence: 'high' }));
    for (const { fact } of hooks.read({ event: 'AfterAgent', payload: { prompt_response: '' }, time: t0 })) {
      const { kind, ...payload } = fact;
      world.take(event('a', 'hook', 5, kind, payload));
    }
    expect(world.word('a')).toBe('error/api_error');
  });

  it('takes what is asked from the payload', () => {
    const asks = calls
      .flatMap((call) => hooks.read(call))
      .flatMap(({ fact }) => (fact.kind === 'ask.opened' ? [fact.ask] : []));
    const [command, edit, question] = asks;
    expect(command).toMatchObject({ kind: 'command', text: 'echo started; sleep 6; echo finished', scope: 'main' });
    expect(edit).toMatchObject({ kind: 'edit', text: expect.stringMatching(/notes\.txt\n[\s\S]*line one/) });
    expect(question).toMatchObject({
      kind: 'question',
      text: 'Which colour should the button be?',
      options: [
        { id: '1', label: 'Red' },
        { id: '2', label: 'Blue' },
      ],
    });
    expect(new Set(asks.map(({ ask_id }) => ask_id)).size).toBe(asks.length);
  });

  it('the same command asked for again is another ask, a copy of the call is not', () => {
    const payload = { session_id: 's', notification_type: 'ToolPermission', details: { type: 'exec', command: 'ls' } };
    const at = (timestamp: string, time = t0) =>
      hooks.read({ event: 'Notification', payload: { ...payload, timestamp }, time });
    const idOf = ([finding]: readonly Finding[]) =>
      finding?.fact.kind === 'ask.opened' ? finding.fact.ask.ask_id : null;
    expect(idOf(at('2026-01-01T00:00:00.000Z'))).toBe(idOf(at('2026-01-01T00:00:00.000Z', t0 + 30)));
    expect(idOf(at('2026-01-01T00:00:00.000Z'))).not.toBe(idOf(at('2026-01-01T00:00:09.000Z')));
  });

  it('a session that ends three times takes its leave once, and /clear is no leave', () => {
    const ends = ofSession('b85b9c').filter(({ event }) => event === 'SessionEnd');
    expect(ends).toHaveLength(3);
    expect(new Set(ends.flatMap((call) => hooks.read(call)).map(({ dedupe }) => dedupe)).size).toBe(1);
    expect(factsOf('SessionEnd', { reason: 'clear' })).toEqual([]);
    expect(factsOf('SessionStart', { source: 'startup' })).toEqual([]);
  });

  it.each([
    ['exit_plan_mode', { planPath: '/p/plan.md' }, 'plan', '/p/plan.md'],
    ['mcp', { serverName: 'files', toolName: 'read' }, 'tool', 'files: read'],
    ['info', { prompt: 'fetch it' }, 'tool', 'fetch it'],
    ['of_tomorrow', { title: 'Confirm' }, 'tool', 'Confirm'],
  ])('an approval of the kind %s', (type, details, kind, text) => {
    const facts = factsOf('Notification', { notification_type: 'ToolPermission', details: { type, ...details } });
    expect(facts).toMatchObject([{ kind: 'ask.opened', ask: { kind, text } }]);
  });

  it('foreign payloads never throw and mean no more than their event', () => {
    const odd = [null, {}, { session_id: 7, details: 'x', tool_input: [], notification_type: 'ToolPermission' }];
    for (const event of [...hooks.events, 'Nonsense', 'PreCompress'])
      for (const payload of odd) {
        const call = { event, payload, time: t0 };
        expect(() => hooks.read(call)).not.toThrow();
        expect(hooks.session(call)).toBeNull();
      }
    expect(factsOf('Notification', { notification_type: 'Other' })).toEqual([]);
    expect(factsOf('BeforeTool', { tool_name: 'ask_user', tool_input: { questions: 'x' } })).toHaveLength(1);
    expect(hooks.session({ event: 'BeforeAgent', payload: { session_id: 'abc' }, time: t0 })).toBe('abc');
  });
});
