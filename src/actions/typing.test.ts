// Keys of a person: each burst goes to the agent that was meant or to nobody, and what was typed is counted, not kept.
import { describe, expect, it } from 'vitest';
import type { Principal } from '../auth/principal.ts';
import { failure } from '../model/errors.ts';
import type { RuntimeIdentity } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import type { WriteResult } from '../terminals/tmux/pane-writer.ts';
import type { ActionAudit } from './action-audit.ts';
import type { ActionContext, Attempt, Ending } from './action-context.ts';
import { Lanes } from './lanes.ts';
import { startTyping } from './typing.ts';

const caller = { role: 'human', name: 'web session x' } as Principal;
const attempt = { identity: { runtime_id: 'r1' } as unknown as RuntimeIdentity, conditions: {} } as Attempt;

function stage(options: { touch?: WriteResult; handle?: boolean } = {}) {
  const typed: string[] = [];
  const rows: Ending[] = [];
  const state = { isThere: true, touch: options.touch ?? ({ kind: 'done' } as WriteResult) };
  const context = {
    check: () => (state.isThere ? null : failure('E_RUNTIME_STALE', 'gone')),
    handle: async () => {
      if (options.handle === false) return { ok: false, failure: failure('E_UNSUPPORTED', 'it has no pane') };
      const keys = async (_: unknown, data: string): Promise<WriteResult> => {
        if (state.touch.kind === 'done') typed.push(data);
        return state.touch;
      };
      const pasteKeys = async (place: unknown, text: string): Promise<WriteResult> => keys(place, `paste:${text}`);
      return { ok: true, value: { place: {}, writer: { keys, pasteKeys } } };
    },
  } as unknown as ActionContext;
  const deeds = { begin: () => ({}), finish: async (_: unknown, ending: Ending) => void rows.push(ending) };
  const record = async (effect: (one: Attempt) => Promise<Ending>) => {
    const ending = await effect(attempt);
    rows.push(ending);
    return { failure: ending.failure } as never;
  };
  const parts = { context, lanes: new Lanes(), deeds: deeds as unknown as ActionAudit, record };
  return { typed, rows, state, start: () => startTyping(parts, 'claude', caller) };
}

describe('typing', () => {
  it('ACT1 every burst is checked anew, and the last row tells how much it was', async () => {
    const { typed, rows, state, start } = stage();
    const started = await start();
    if (!started.ok) throw new Error(started.failure.message);
    expect(await started.value.type('né')).toBeNull();
    state.isThere = false;
    expect((await started.value.type('rm'))?.code).toBe('E_RUNTIME_STALE');
    state.isThere = true;
    state.touch = { kind: 'refused', why: 'other_process' };
    expect((await started.value.type('rm'))?.code).toBe('E_RUNTIME_STALE');
    state.touch = { kind: 'lost', words: 'tmux is silent' };
    expect((await started.value.type('rm'))?.code).toBe('E_TARGET_DOWN');
    expect((await started.value.type('x'.repeat(limits.webKeysCharsMax + 1)))?.code).toBe('E_TOO_LARGE');
    await started.value.end();
    expect(typed).toEqual(['né']);
    expect(rows.map(({ detail }) => detail)).toEqual([{ typing: 'on' }, { typing: 'off', bytes: 3 }]);
  });

  it('ACT2 a paste has the line ends of a terminal, and no character that could end it', async () => {
    const { typed, start } = stage();
    const started = await start();
    if (!started.ok) throw new Error(started.failure.message);
    const { paste } = started.value;
    expect(await paste('a\n\tb\r\nc\rd')).toBeNull();
    for (const text of ['\u001b[201~', 'a\u0003', '\u009b201~', '\u007f', '\ud800'])
      expect([text, (await paste(text))?.code]).toEqual([text, 'E_INPUT']);
    expect((await paste('x'.repeat(limits.webPasteCharsMax + 1)))?.code).toBe('E_TOO_LARGE');
    expect(await paste('x'.repeat(limits.webKeysCharsMax + 1))).toBeNull();
    expect(typed.map((text) => text.slice(0, 20))).toEqual(['paste:a\r\tb\rc\rd', `paste:${'x'.repeat(14)}`]);
  });

  it('ACT1 is refused where there is no pane to type at, with its row', async () => {
    const { rows, start } = stage({ handle: false });
    expect(await start()).toMatchObject({ ok: false, failure: { code: 'E_UNSUPPORTED' } });
    expect(rows).toHaveLength(1);
  });
});
