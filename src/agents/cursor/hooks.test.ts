// What Cursor's hooks mean, with payloads as its documentation and others describe them.

import { describe, expect, it } from 'vitest';
import { event as eventOf, oneAgent, t0 } from '../../../test/kit/engine.ts';
import { hooks } from './hooks.ts';

const base = { conversation_id: 'c0ffee-1', generation_id: 'g-1', workspace_roots: ['/work'] };

function replay(...calls: readonly (readonly [string, Record<string, unknown>])[]): readonly string[] {
  const world = oneAgent();
  return calls.map(([event, payload], at) => {
    const found = hooks.read({ event, payload: { ...base, hook_event_name: event, ...payload }, time: t0 + at * 100 });
    for (const { fact, time } of found) {
      const { kind, ...rest } = fact;
      world.take(eventOf('a', 'hook', time - t0, kind, rest));
    }
    return world.word('a');
  });
}

describe('hooks of Cursor', () => {
  it('a turn from its question to each of its ends', () => {
    expect(replay(['beforeSubmitPrompt', { prompt: 'go' }], ['stop', { status: 'completed', loop_count: 0 }])).toEqual([
      'running/turn_running',
      'completed/turn_completed',
    ]);
    expect(replay(['beforeSubmitPrompt', {}], ['stop', { status: 'aborted' }]).at(-1)).toBe('idle/interrupted');
    expect(replay(['beforeSubmitPrompt', {}], ['stop', { status: 'error' }]).at(-1)).toBe('error/turn_failed');
    expect(replay(['beforeSubmitPrompt', {}], ['stop', {}]).at(-1)).toBe('idle/prompt_ready');
  });

  it('a hook before a tool is no approval and no work', () => {
    for (const event of ['beforeShellExecution', 'preToolUse', 'afterAgentResponse', 'toString'])
      expect(hooks.read({ event, payload: { ...base, command: 'rm -r x' }, time: 1 })).toEqual([]);
  });

  it('RSV12 only a leave-taking is one', () => {
    const said = (reason: unknown) => hooks.read({ event: 'sessionEnd', payload: { ...base, reason }, time: 1 });
    expect(said('user_close')).toEqual([{ fact: { kind: 'runtime.goodbye' }, time: 1 }]);
    expect([said('completed'), said(undefined), said(7)]).toEqual([[], [], []]);
  });

  it('the conversation, if it is one', () => {
    const session = (payload: Record<string, unknown> | null) => hooks.session({ event: 'stop', payload, time: 1 });
    expect(session(base)).toBe('c0ffee-1');
    expect([session(null), session({ conversation_id: 7 }), session({ conversation_id: 'a b\n' })]).toEqual([
      null,
      null,
      null,
    ]);
  });
});
