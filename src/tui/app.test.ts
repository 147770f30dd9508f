// The frame: the stack of screens, keys that no screen takes, the help, the daemon that goes and comes, small terminals.

import { describe, expect, it } from 'vitest';
import { itemOf } from '../../test/kit/fake-daemon.ts';
import { paneRow } from '../../test/kit/rows.ts';
import type { FeedEvent } from '../api/client-types.ts';
import type { PaneItem } from '../api/panes.ts';
import { AgtmuxError } from '../model/errors.ts';
import { width } from '../text/width.ts';
import { lineText } from '../view/shells-spans.ts';
import { type AppModel, type AppStep, openApp, updateApp } from './app.ts';
import { viewApp } from './run.ts';
import { emptyWorld } from './world.ts';

const nowMs = 1_800_000_000_000;
const size = { columns: 80, lines: 24 };

function opened(at = size): AppModel {
  const world = emptyWorld({ nowMs, offsetMinutes: 0, self: { cwd: '/', home: '/', agents: [] }, size: at });
  return openApp({ size: at, world }, { screen: 'board' }).model;
}

const press = (model: AppModel, ...keys: readonly string[]): AppStep =>
  keys.reduce<AppStep>(
    (step, key) => {
      const next = updateApp(step.model, { is: 'input', input: { is: 'key', key }, nowMs });
      return { model: next.model, effects: [...step.effects, ...next.effects] };
    },
    { model, effects: [] },
  );

const text = (model: AppModel): string => viewApp(model).map(lineText).join('\n');

const snapshot = (...values: readonly PaneItem[]): FeedEvent => ({
  type: 'snapshot',
  cursor: 'e:1',
  data: {
    schema_version: 1,
    generated_at: new Date(nowMs).toISOString(),
    epoch: 'e',
    version: 1,
    items: values.map((value) => ({ key: `row:${value.runtime_id}`, value })),
    events: [],
  },
});

const fed = (model: AppModel, ...events: readonly FeedEvent[]): AppModel =>
  updateApp(model, { is: 'feed', events, nowMs }).model;

const asking = itemOf(paneRow({ window: 4, state: 'waiting_approval' }), {
  ask: { ask_id: 'a1', kind: 'command', scope: 'main', text: 'rm -rf build', options: [{ id: '1', label: 'Yes' }] },
});

describe('the mouse', () => {
  const click = (model: AppModel, column: number, row: number): AppStep =>
    updateApp(model, { is: 'input', input: { is: 'mouse', what: 'press', column, row }, nowMs });
  const at = (model: AppModel, words: string): readonly [column: number, row: number] => {
    const rows = text(model).split('\n');
    const row = rows.findIndex((line) => line.includes(words));
    return [width((rows[row] ?? '').split(words)[0] ?? ''), row];
  };

  it('SCR5 presses the keys at the bottom, selects a row and opens it, and a key switches it off', () => {
    const other = itemOf(paneRow({ window: 5, state: 'running', agent: 'codex' }));
    const model = fed(opened(), snapshot(asking, other));
    expect(text(click(model, ...at(model, 'a approve')).model)).toContain('Approve for claude');
    const chosen = click(model, ...at(model, 'codex')).model;
    expect(text(chosen)).toMatch(/^> ● codex/m);
    expect(text(click(chosen, ...at(chosen, 'codex')).model)).toContain('confidence');
    // Where nothing stands nothing is done.
    expect(text(click(model, 40, 15).model)).toBe(text(model));
    const off = press(model, 'M');
    expect([off.model.hasMouse, off.effects]).toEqual([false, [{ to: 1, command: { do: 'mouse' } }]]);
    expect(press(off.model, 'M').model.hasMouse).toBe(true);
  });

  it('SCR2 a press decides nothing on a terminal too small to show it', () => {
    const model = fed(opened({ columns: 20, lines: 5 }), snapshot(asking));
    for (let row = 0; row < 5; row += 1) expect(click(model, 2, row).effects).toEqual([]);
  });
});

describe('the frame', () => {
  it('always has as many lines as the terminal, none wider than it', () => {
    for (const at of [
      size,
      { columns: 120, lines: 40 },
      { columns: 36, lines: 50 },
      { columns: 24, lines: 8 },
      { columns: 5, lines: 2 },
    ]) {
      const lines = viewApp(fed(opened(at), snapshot(asking)));
      expect(lines).toHaveLength(at.lines);
      for (const line of lines) expect(width(lineText(line))).toBeLessThanOrEqual(at.columns);
    }
  });

  it('says that a terminal is too small, and goes on when it is not', () => {
    const small = updateApp(fed(opened(), snapshot(asking)), { is: 'size', size: { columns: 20, lines: 5 } }).model;
    expect(text(small)).toContain('Too small.');
    expect(text(updateApp(small, { is: 'size', size }).model)).toContain('Needs you');
  });

  it('SCR2 nothing is decided on a terminal that is too small to show it', () => {
    const small = updateApp(fed(opened(), snapshot(asking)), { is: 'size', size: { columns: 20, lines: 5 } }).model;
    const { model, effects } = press(small, 'a', 'a', 'enter');
    expect(effects).toEqual([]);
    expect(text(updateApp(model, { is: 'size', size }).model)).not.toContain('Approve for');
    expect(press(small, 'q').effects.map(({ command }) => command.do)).toEqual(['quit']);
  });

  it('SCR2 keys that came in one piece, as from a paste without marks, do nothing to an agent', () => {
    const burst = (from: AppModel, ...keys: readonly string[]): AppStep =>
      keys.reduce<AppStep>(
        ({ model, effects }, key) => {
          const next = updateApp(model, { is: 'input', input: { is: 'key', key, isBurst: true }, nowMs });
          return { model: next.model, effects: [...effects, ...next.effects] };
        },
        { model: from, effects: [] },
      );
    const there = fed(opened(), snapshot(asking));
    for (const keys of [
      ['a', 'a'],
      ['K', 'y'],
      ['i', 'enter'],
      ['e', '1'],
      ['enter', '1'],
    ]) {
      const { model, effects } = burst(there, ...keys);
      expect(effects.filter(({ command }) => command.do === 'call')).toEqual([]);
      expect(text(model)).toContain('Several keys arrived at once');
    }
    // The key alone does it still; and what is typed fast is text.
    expect(press(burst(there, 'a', 'a').model, 'a').effects.map(({ command }) => command.do)).toEqual(['call']);
    expect(burst(there, 's', 'h', 'i', 'enter').effects.map(({ command }) => command.do)).toEqual(['call']);
  });

  it('SCR2 a receipt for a screen that was left is said on the next one', () => {
    const detail = press(fed(opened(), snapshot(asking)), 'enter', 'a').model;
    const { model, effects } = press(detail, 'a', 'q');
    const [{ to = 0, command } = {}] = effects;
    if (command?.do !== 'call') throw new Error('nothing was asked for');
    const own = command.failed(new AgtmuxError('E_STATE_CHANGED', 'it asks something else'));
    const late = command.late?.(own) ?? null;
    const after = updateApp(model, { is: 'own', to, own, nowMs, late }).model;
    expect(text(after)).toContain('Needs you');
    expect(text(after)).toContain('it asks something else');
  });

  it('what is said has room for what to do next', () => {
    const words = `${'word '.repeat(30)}and then this`;
    expect(text(updateApp(opened(), { is: 'said', text: words, role: null }).model)).toMatch(/and then\s+this/);
  });

  it('ctrl+z puts it aside, also while somebody types', () => {
    expect(press(opened(), '/', 'ctrl+z').effects.map(({ command }) => command.do)).toEqual(['suspend']);
  });

  it('opens and closes screens, and leaves from the first', () => {
    const { model, effects } = press(fed(opened(), snapshot(asking)), 'enter');
    expect(model.opened.map(({ place }) => place.screen)).toEqual(['board', 'detail']);
    expect(effects).toEqual([]);
    const back = press(model, 'q');
    expect(back.model.opened).toHaveLength(1);
    expect(press(back.model, 'q').effects.map(({ command }) => command.do)).toEqual(['quit']);
    expect(press(model, 'ctrl+c').effects.map(({ command }) => command.do)).toEqual(['quit']);
    expect(press(back.model, 'esc').effects).toEqual([]);
  });

  it('says so when a key or a paste means nothing', () => {
    const { model } = press(opened(), 'Y');
    expect(text(model)).toContain('Y does nothing here; ? shows the keys.');
    expect(text(press(model, 'down').model)).not.toContain('does nothing');
    const pasted = updateApp(opened(), { is: 'input', input: { is: 'paste', text: 'ls\n' }, nowMs }).model;
    expect(text(pasted)).toContain('Paste is not possible here');
  });

  it('shows every key of the screen in its help', () => {
    const { model } = press(fed(opened({ columns: 80, lines: 40 }), snapshot(asking)), '?');
    for (const words of ['approve', 'filter', 'interrupt', 'kill', 'managed sessions', 'this help']) {
      expect(text(model)).toContain(words);
    }
    expect(text(press(model, 'x').model)).toContain('Needs you');
    expect(text(press(fed(opened(), snapshot(asking)), '?', 'down', 'up').model)).toContain('more');
  });

  it('SCR4 says that the daemon is gone and for how long, and takes it back when it is there', () => {
    const lost = updateApp(fed(opened(), snapshot(asking)), {
      is: 'link',
      link: { is: 'lost', sinceMs: nowMs - 5_000, words: '' },
    }).model;
    expect(text(lost)).toContain('The daemon stopped 5s ago; restarting it');
    expect(text(lost)).toContain('rm -rf build');
    expect(text(fed(lost, snapshot()))).not.toContain('gone');
    expect(text(fed(lost, snapshot()))).not.toContain('rm -rf build');
  });

  it('answers that come for a screen that is closed are dropped', () => {
    const { model } = press(fed(opened(), snapshot(asking)), 'enter', 'q');
    expect(updateApp(model, { is: 'own', to: 2, own: { is: 'seen' }, nowMs }).model).toEqual(model);
  });

  it('many changes at once are the last of them', () => {
    const change = (words: string): FeedEvent => ({
      type: 'changes',
      cursor: 'e:2',
      data: {
        schema_version: 1,
        generated_at: new Date(nowMs).toISOString(),
        from: 1,
        to: 2,
        changes: [{ version: 2, key: `row:${asking.runtime_id}`, value: { ...asking, ask: null, detail: words } }],
        events: [],
      },
    });
    const model = fed(opened(), snapshot(asking), change('first'), change('second'));
    expect(text(model)).toContain('second');
    expect(text(model)).not.toContain('first ');
    expect(
      text(
        fed(model, {
          type: 'changes',
          cursor: 'e:3',
          data: { ...snapshotHead, changes: [{ version: 3, key: `row:${asking.runtime_id}`, value: null }] },
        }),
      ),
    ).not.toContain('second');
  });
});

const snapshotHead = {
  schema_version: 1 as const,
  generated_at: new Date(nowMs).toISOString(),
  from: 2,
  to: 3,
  events: [],
};
