// The table of everyday tasks in docs/tui.md: its keys, pressed on the board, do what it says, and are never more than the
// better of the two programs beside it needs.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { itemOf } from '../../../test/kit/fake-daemon.ts';
import { paneRow, type RowOptions } from '../../../test/kit/rows.ts';
import { Played, sentBy, worldOf } from '../../../test/kit/tui-screens.ts';
import type { PaneItem } from '../../api/panes.ts';
import type { Command, Key } from '../contract.ts';
import { grepScreen } from '../grep/screen.ts';
import { boardScreen } from './screen.ts';

const item = (options: RowOptions, fields: Partial<PaneItem> = {}): PaneItem => itemOf(paneRow(options), fields);
const asks = (window: number, minutes: number): PaneItem =>
  item(
    { window, state: 'waiting_approval' },
    {
      since: new Date(Date.now() - minutes * 60_000).toISOString(),
      ask: { ask_id: `ask-${window}`, kind: 'command', scope: 'main', text: `make number-${window}`, options: [] },
    },
  );
const running = [1, 2, 3].map((window) => item({ window, state: 'running' }));
const ended = { cause: 'exit', status: 1, signal: null, clean: false, at: '', listed_until: '2999-01-01T00:00:00Z' };
const gone = item({ window: 4, state: 'error' }, { ended: ended as NonNullable<PaneItem['ended']> });

const board = (...items: readonly PaneItem[]) =>
  new Played(
    boardScreen,
    { screen: 'board' },
    worldOf({ rows: new Map(items.map((one) => [`row:${one.runtime_id}`, one])), nowMs: Date.now() }),
  );

/** What the keys made the board ask the daemon for. */
async function sent(keys: readonly Key[], ...items: readonly PaneItem[]): Promise<readonly unknown[]> {
  const calls = board(...items)
    .press(...keys)
    .took();
  return (await Promise.all(calls.map((call) => sentBy(call)))).flat();
}
const took = (keys: readonly Key[], ...items: readonly PaneItem[]): readonly Command<unknown>[] =>
  board(...items)
    .press(...keys)
    .took();

function docs(name: string): string {
  return readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
}

type Check = (keys: readonly Key[]) => Promise<void> | void;
const checks: Readonly<Record<string, Check>> = {
  'answer the oldest request': async (keys) =>
    expect(await sent(keys, asks(1, 2), asks(2, 9))).toMatchObject([{ body: { action: 'approve', ask_id: 'ask-2' } }]),
  'see why it waits': (keys) => {
    expect(keys).toEqual([]);
    expect(board(asks(1, 2)).text()).toMatch(/^> ▲ claude .*make number-1/m);
  },
  'one message to three': async (keys) =>
    expect(await sent(keys, ...running)).toMatchObject(
      running.map(({ runtime_id }) => ({ body: { action: 'send', text: 'hi', ref: `runtime:${runtime_id}` } })),
    ),
  'find who touched a file': ([open, ...text]) => {
    expect(took([open ?? ''], ...running)).toEqual([{ do: 'open', place: { screen: 'grep' } }]);
    const grep = new Played(grepScreen, { screen: 'grep' }).press(...text);
    expect(grepScreen.streams?.(grep.model, grep.world).map(({ key }) => key)).toEqual(['grep hi']);
  },
  'open the diff of a turn': (keys) =>
    expect(took(keys, ...running)).toEqual([
      { do: 'open', place: { screen: 'diff', runtime: running[0]?.runtime_id } },
    ]),
  'give a name': async (keys) =>
    expect(await sent(keys, ...running)).toMatchObject([{ body: { action: 'name', nick: 'hi' } }]),
  'mute for an hour': async (keys) =>
    expect(await sent(keys, ...running)).toMatchObject([{ path: '/v1/notifications/mute', body: { minutes: 60 } }]),
  'start one again that ended': async (keys) =>
    expect(await sent(keys, gone)).toMatchObject([{ body: { action: 'resume', ref: gone.ref } }]),
  'go to its pane': (keys) => expect(took(keys, ...running)).toMatchObject([{ do: 'attach' }]),
  'search everything from a shell': () => expect(docs('cli.md')).toContain('\n### agtmux grep\n'),
};

const section = docs('tui.md').split('## Keys for ten everyday tasks')[1]?.split('\n## ')[0];
const rows = (section ?? '')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| task'))
  .map((line) => line.slice(1, -1).split('|'))
  .map(([task = '', ...cells]) => ({ task: task.trim(), cells: cells.map((cell) => cell.trim()) }));

/** Keys; what has to be written anyway counts for nothing, a command for its letters. */
function presses(cell: string): number {
  if (cell === '-') return Number.POSITIVE_INFINITY;
  const times = /three times/.test(cell) ? 3 : 1;
  const each = [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) =>
    word.includes(' ') ? word.replace('TEXT', '').trim().length : 1,
  );
  const own = /own key/.test(cell) ? 1 : 0;
  return times * (each.reduce((sum, one) => sum + one, 0) + own);
}

const keysOf = (cell: string): readonly Key[] =>
  [...cell.matchAll(/`([^`]+)`|TEXT/g)].flatMap(([, key]) => {
    if (key === undefined) return [...'hi'];
    return [key === 'space' ? ' ' : key];
  });

describe('ten everyday tasks', () => {
  it('SCR9 all stand in the table, and each has a check here', () => {
    expect(rows.map(({ task }) => task)).toEqual(Object.keys(checks));
    expect(rows).toHaveLength(10);
  });

  it.each(rows)('SCR9 $task: the keys do it, and are never more than the better of the others', async (row) => {
    const [own = '', ccmux = '', herdr = ''] = row.cells;
    expect(presses(own)).toBeLessThanOrEqual(Math.min(presses(ccmux), presses(herdr)));
    await checks[row.task]?.(keysOf(own));
  });
});
