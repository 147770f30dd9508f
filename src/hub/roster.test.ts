// Windows of rows: filters, order, counts, and machines that are silent.

import { describe, expect, it } from 'vitest';
import { limits } from '../model/limits.ts';
import { type Machine, Roster, type WindowQuery, wholeScope } from './roster.ts';
import { wireItem } from './table.contract.ts';

const now = Date.parse('2026-11-01T12:00:00Z');
const machine = (daemon: string, fields: Partial<Machine> = {}): Machine => ({
  ...{ daemon, label: `box ${daemon}`, owner: daemon === 'a' ? 'alice' : 'bob', kind: 'person', share: 'asks' },
  ...{ allows: [], agtmux: '1', seen_at: now, left_at: null, revoked_at: null },
  ...fields,
});

function filled(machines: readonly Machine[] = [machine('a'), machine('b')]): Roster {
  const roster = new Roster();
  const item = (state: string, minute: number, cwd: string) =>
    wireItem({ state, since: `2026-11-01T10:${String(minute).padStart(2, '0')}:00.000Z`, cwd });
  const rows = [
    { daemon: 'a', key: 'x', version: 1, item: item('running', 5, '/w/shop') },
    { daemon: 'a', key: 'y', version: 1, item: item('waiting_approval', 9, '/w/shop') },
    { daemon: 'b', key: 'x', version: 1, item: item('waiting_approval', 2, '/w/blog') },
    { daemon: 'b', key: 'z', version: 1, item: item('a state of later', 1, '/w/blog') },
  ];
  roster.fill({ change: 1, rows, removed: [] }, machines);
  return roster;
}

const ids = (roster: Roster, query: WindowQuery = {}, scope = wholeScope): readonly string[] =>
  roster.window(query, scope, now).items.map(({ id }) => id);

describe('a window', () => {
  it('SCR1 begins with who needs a person, longest waiting first, whatever machine they are on', () => {
    expect(ids(filled())).toEqual(['b/x', 'a/y', 'b/z', 'a/x']);
    expect(ids(filled(), { offset: 1, limit: 2 })).toEqual(['a/y', 'b/z']);
    expect(ids(filled(), { sort: 'age' })).toEqual(['b/z', 'b/x', 'a/x', 'a/y']);
    expect(ids(filled(), { sort: 'machine' })).toEqual(['a/y', 'a/x', 'b/x', 'b/z']);
  });

  it('narrows by everything that it shows, and counts what is left', () => {
    expect(ids(filled(), { machine: ['box b'] })).toEqual(['b/x', 'b/z']);
    expect(ids(filled(), { owner: ['alice'], needs_action: true })).toEqual(['a/y']);
    expect(ids(filled(), { repo: ['blog'], state: ['unknown'] })).toEqual(['b/z']);
    const { total, needs_action, by_state, by_repo } = filled().window({}, wholeScope, now);
    expect({ total, needs_action, by_state, by_repo }).toEqual({
      ...{ total: 4, needs_action: 2, by_repo: { shop: 2, blog: 2 } },
      by_state: { running: 1, waiting_approval: 2, unknown: 1 },
    });
  });

  it('HUB7 a person sees only machines and projects that are theirs to see', () => {
    expect(ids(filled(), {}, { owners: ['bob'], repos: [] })).toEqual(['b/x', 'b/z']);
    expect(ids(filled(), {}, { owners: [], repos: ['shop'] })).toEqual(['a/y', 'a/x']);
    expect(filled().window({}, { owners: ['bob'], repos: ['shop'] }, now).total).toBe(0);
  });

  it('HUB4 a silent machine is told as unreachable, and what was known of it stays', () => {
    const silent = filled([machine('a'), machine('b', { seen_at: now - limits.hubSilentMs - 1 })]);
    const { items, missing, needs_action } = silent.window({}, wholeScope, now);
    expect(missing).toEqual(['box b']);
    expect(needs_action).toBe(1);
    expect(items.find(({ id }) => id === 'b/x')).toMatchObject({
      ...{ state: 'unknown', reachable: false, needs: false },
      item: { state: 'unknown', reason_code: 'target_unreachable', cwd: '/w/blog' },
    });
    silent.putMachine(machine('b'));
    expect(silent.window({}, wholeScope, now).needs_action).toBe(2);
  });

  it('HUB2 an older row never takes the place of a newer one', () => {
    const roster = filled();
    roster.apply({
      change: 2,
      rows: [{ daemon: 'a', key: 'x', version: 0, item: wireItem({ state: 'error' }) }],
      removed: [],
    });
    expect(roster.row('a/x')?.state).toBe('running');
    roster.apply({ change: 3, rows: [], removed: [{ daemon: 'a', key: 'x' }] });
    expect(roster.row('a/x')).toBeNull();
  });

  it('HUB8 what another process has written between is read from the table, and what was read too early is not taken', () => {
    const roster = filled();
    const row = (version: number) => [{ daemon: 'a', key: 'x', version, item: wireItem({ state: 'error' }) }];
    const before = roster.change;
    expect(roster.apply({ change: before + 2, rows: row(20), removed: [] })).toBe(false);
    expect(roster.change).toBe(before);
    roster.follow({ change: before + 2, rows: row(20), removed: [{ daemon: 'b', key: 'x' }] });
    expect([roster.change, roster.row('b/x')]).toEqual([before + 2, null]);
    expect(roster.apply({ change: before + 3, rows: [], removed: [{ daemon: 'a', key: 'x' }] })).toBe(true);
    roster.follow({ change: before + 2, rows: row(20), removed: [] });
    expect(roster.row('a/x')).toBeNull();
  });
});
