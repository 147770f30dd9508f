import { describe, expect, it } from 'vitest';
import { foldStates, type MachineDaySum, type MachineLanes, teamLines } from './history.ts';

const nothing: MachineLanes = { open: new Map(), seen: 0 };
let count = 0;
const row = (at: string, action: string, runtime_id: string | null = 'r1', project = 'shop') => {
  count += 1;
  const detail = { project };
  return { number: count, at: `2026-11-${at}:00.000Z`, actor: 'claude', action, runtime_id, result: '', detail };
};
const shown = (rows: Parameters<typeof foldStates>[1], before = nothing): readonly string[] =>
  foldStates(before, rows).sums.map(
    ({ day, repo, state, ms, spans, longest }) => `${day} ${repo} ${state} ${ms / 60_000} ${spans} ${longest / 60_000}`,
  );

describe('states of a machine by day', () => {
  it('HUB11 a span is over with the next state, another project, or its end', () => {
    const rows = [
      row('01T10:00', 'running'),
      row('01T10:10', 'running', 'r2', 'blog'),
      row('01T10:20', 'waiting_approval'),
      row('01T10:25', 'waiting_approval', 'r1', 'blog'),
      row('01T10:30', 'over', 'r2'),
      row('01T10:40', 'over', 'r1'),
      row('01T10:50', 'over', 'r1'),
    ];
    expect(shown(rows)).toEqual([
      '2026-11-01 shop running 20 1 20',
      '2026-11-01 shop waiting_approval 5 1 5',
      '2026-11-01 blog running 20 1 20',
      '2026-11-01 blog waiting_approval 15 1 15',
    ]);
  });

  it('HUB11 where nobody looked nothing is claimed: a new run ends all with the last word of the one before', () => {
    const rows = [row('01T10:00', 'waiting_input'), row('01T10:05', 'beat', null), row('01T12:00', 'start', null)];
    expect(shown(rows)).toEqual(['2026-11-01 shop waiting_input 5 1 5']);
    // In pieces it is the same.
    const first = foldStates(nothing, rows.slice(0, 2));
    expect(shown(rows.slice(2), first)).toEqual(['2026-11-01 shop waiting_input 5 1 5']);
  });

  it('HUB11 a day that begins with who is there goes on with their spans, and each day has its own part', () => {
    const rows = [row('01T22:00', 'running'), row('02T00:00', 'running'), row('03T01:00', 'idle')];
    expect(shown(rows)).toEqual([
      '2026-11-01 shop running 120 0 0',
      '2026-11-02 shop running 1440 0 0',
      '2026-11-03 shop running 60 1 1620',
    ]);
  });

  it('HUB11 clocks that were set, states of later versions and machines without end cost nothing but themselves', () => {
    expect(shown([row('05T10:00', 'running'), row('01T10:00', 'over')])).toEqual(['2026-11-05 shop running 0 1 0']);
    expect(shown([row('01T10:00', 'dreaming'), row('01T10:01', 'over')])).toEqual(['2026-11-01 shop unknown 1 1 1']);
    const old = { ...row('01T10:00', 'running'), at: '1999-01-01T00:00:00.000Z' };
    expect(foldStates(nothing, [old, row('01T10:00', 'over')]).sums.length).toBe(32);
  });

  it('HUB11 lines of a team say who works and who waits for how long', () => {
    const sum: MachineDaySum = {
      ...{ day: '2026-11-01', daemon: 'a', agent: '', repo: 'shop', state: 'running' },
      ...{ ms: 60_000, spans: 3, longest: 5, within: [3, 3, 3, 3] },
    };
    const waits: MachineDaySum = { ...sum, state: 'waiting_input', ms: 7, spans: 2, longest: 6, within: [1, 2, 2, 2] };
    const lines = teamLines([sum, waits, waits, { ...sum, daemon: 'b' }], ({ daemon }) =>
      daemon === 'a' ? 'alice' : null,
    );
    expect(lines).toEqual([
      { name: 'alice', worked_ms: 60_000, waited_ms: 14, waits: 4, longest_wait_ms: 6, within: [2, 4, 4, 4] },
    ]);
  });
});
