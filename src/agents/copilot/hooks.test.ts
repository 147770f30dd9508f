// What Copilot's hooks mean, on calls recorded from the real program and replayed in order through the engine.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { event, identity, started, TestWorld, t0 } from '../../../test/kit/engine.ts';
import type { Finding, HookCall } from '../contract.ts';
import { hooks } from './hooks.ts';

const calls = readFileSync(new URL('./fixtures/hooks.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as HookCall);

function replay(given: readonly HookCall[]): readonly (readonly [string, string])[] {
  const world = new TestWorld();
  const first = given[0]?.time ?? 0;
  world.take(started(identity('a')));
  return given.map((call) => {
    world.now = t0 + 10_000 + call.time - first;
    for (const { fact, time } of hooks.read(call)) {
      const { kind, ...payload } = fact;
      world.take(event('a', 'hook', 10_000 + time - first, kind, payload));
    }
    return [call.event, world.word('a')] as const;
  });
}

const factsOf = (event: string, payload: HookCall['payload']): readonly Finding['fact'][] =>
  hooks.read({ event, payload, time: t0 }).map(({ fact }) => fact);

const wanted = calls.filter((call) => hooks.events.includes(call.event));
const wordsAfter = (name: string, test: (payload: Readonly<Record<string, unknown>>) => boolean = () => true) =>
  new Set(
    replay(wanted).flatMap(([called, word], place) => {
      const payload = wanted[place]?.payload ?? {};
      return called === name && test(payload) ? [word] : [];
    }),
  );

describe('hooks of copilot', () => {
  it('every call of a recorded session gives its state', () => {
    expect(wordsAfter('userPromptSubmitted')).toEqual(new Set(['running/turn_running']));
    expect(wordsAfter('postToolUse')).toEqual(new Set(['running/turn_running']));
    expect(wordsAfter('postToolUseFailure')).toEqual(new Set(['running/turn_running']));
    expect(wordsAfter('agentStop')).toEqual(new Set(['completed/turn_completed']));
    const isOf = (type: string) => (payload: Readonly<Record<string, unknown>>) => payload.notification_type === type;
    expect(wordsAfter('notification', isOf('permission_prompt'))).toEqual(new Set(['waiting_approval/approval_asked']));
    expect(wordsAfter('notification', isOf('elicitation_dialog'))).toEqual(new Set(['waiting_input/question_asked']));
    expect(wordsAfter('notification', isOf('shell_completed'))).toEqual(new Set(['running/turn_running']));
  });

  it('RSV4 a failed request may be tried again or not: nothing is claimed', () => {
    expect(wordsAfter('errorOccurred')).toEqual(new Set(['unknown/unsupported_signal']));
    expect(factsOf('errorOccurred', { recoverable: false, error: { message: 'no' } })).toMatchObject([
      { state: 'error', reason: 'api_error', detail: 'no' },
    ]);
  });

  it('a prompt that no person typed leaves an open dialog alone', () => {
    const system = calls.find(({ payload }) => String(payload?.prompt).startsWith('<system_notification>'));
    expect(system).toBeDefined();
    expect(factsOf('userPromptSubmitted', system?.payload ?? null).map(({ kind }) => kind)).toEqual(['state.observed']);
    expect(factsOf('userPromptSubmitted', { prompt: 'go' }).map(({ kind }) => kind)).toEqual([
      'turn.ended',
      'state.observed',
    ]);
  });

  it('stops for another reason than the end of the turn are no completion, and only leaves are goodbyes', () => {
    expect(factsOf('agentStop', { stopReason: 'error' })).toMatchObject([{}, { state: 'unknown' }]);
    expect(factsOf('sessionEnd', { reason: 'user_exit' })).toEqual([{ kind: 'runtime.goodbye' }]);
    expect(factsOf('sessionEnd', { reason: 'error' })).toEqual([]);
  });

  it('foreign payloads never throw', () => {
    const odd = [null, {}, { sessionId: 7, error: null, notification_type: [], prompt: 3, stopReason: {} }];
    for (const event of [...hooks.events, 'preToolUse', 'permissionRequest', 'nonsense'])
      for (const payload of odd) {
        const call = { event, payload, time: t0 };
        expect(() => hooks.read(call)).not.toThrow();
        expect(hooks.session(call)).toBeNull();
      }
    expect(hooks.session({ event: 'agentStop', payload: { sessionId: 'abc' }, time: t0 })).toBe('abc');
  });
});
