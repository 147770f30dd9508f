// The board: who is on it, in which order and groups, and what a filter finds.
import { describe, expect, it } from 'vitest';
import { itemOf } from '../../test/kit/fake-daemon.ts';
import { paneRow, type RowOptions } from '../../test/kit/rows.ts';
import type { PaneItem } from '../api/panes.ts';
import { boardGroups, boardItems, completions, fits, parseFilter } from './board.ts';

const now = Date.now();
const item = (options: RowOptions, fields: Partial<PaneItem> = {}): PaneItem => itemOf(paneRow(options), fields);
const since = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();

const rows = [
  item({ window: 1, state: 'idle' }),
  item({ window: 2, state: 'running', agent: 'codex' }),
  item({ window: 3, state: 'error' }, { reason_code: 'usage_limit' }),
  item({ window: 4, state: 'waiting_input' }),
  item({ window: 5, state: 'waiting_approval' }, { since: since(1) }),
  item({ window: 6, state: 'waiting_approval', target: 'vm1', session: 'api' }, { since: since(9), nick: 'reviewer' }),
  item({ window: 7, state: 'completed' }),
  item({ window: 8, state: 'unknown' }),
  item({ window: 9, agent: null }),
];

describe('the board', () => {
  it('SCR1 has whoever needs a person first, and of these who has waited longest', () => {
    const items = boardItems(rows, now);
    expect(items.map(({ window_index }) => window_index)).toEqual([6, 5, 4, 3, 8, 7, 2, 1]);
    const groups = boardGroups(items, 'agents');
    expect(groups.map(({ title, items: own }) => [title, own.length])).toEqual([
      ['Needs you', 4],
      ['host / work', 4],
    ]);
    expect(groups[1]?.counts).toMatchObject({ waiting_approval: 1, waiting_input: 1, error: 1, running: 1, idle: 1 });
  });

  it('groups by window and by session, with the top state of each', () => {
    const items = boardItems(rows, now);
    expect(boardGroups(items, 'sessions').map(({ title, top }) => [title, top])).toEqual([
      ['host / work', 'error'],
      ['vm1 / api', 'waiting_approval'],
    ]);
    expect(boardGroups(items, 'windows')).toHaveLength(8);
  });

  it('RSV12 forgets a good end at once and keeps a bad one for a while', () => {
    const end = { cause: 'exit', status: 1, signal: null, clean: false } as const;
    const ended = (state: 'idle' | 'error', minutes: number): PaneItem =>
      item(
        { state },
        { ended: { ...end, at: since(minutes), listed_until: state === 'error' ? since(minutes - 10) : null } },
      );
    expect(boardItems([ended('idle', 1)], now)).toHaveLength(0);
    expect(boardItems([ended('error', 1)], now)).toHaveLength(1);
    expect(boardItems([ended('error', 11)], now)).toHaveLength(0);
  });

  it.each([
    ['', 8],
    ['state:approve', 2],
    ['state:waiting', 3],
    ['state:approve target:vm1', 1],
    ['agent:codex', 1],
    ['agent:rev', 1],
    ['target:host state:run state:idle', 2],
    ['in:host/work:5', 1],
    ['API', 1],
    ['usage limit', 1],
    ['nothing like it', 0],
  ])('the filter %j finds %d', (text, count) => {
    const filter = parseFilter(text);
    expect(boardItems(rows, now).filter((one) => fits(one, filter, now))).toHaveLength(count);
  });

  it('completes names of states, agents and targets', () => {
    const items = boardItems(rows, now);
    expect(completions('x state:a', items)).toEqual(['answer', 'approve']);
    expect(completions('agent:', items)).toEqual(['claude', 'codex']);
    expect(completions('target:v', items)).toEqual(['vm1']);
    expect(completions('web', items)).toEqual([]);
  });
});
