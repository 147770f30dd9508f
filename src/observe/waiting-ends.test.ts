// Which ends wait for what tmux says next, and that none waits for ever.

import { expect, it } from 'vitest';
import { limits } from '../model/limits.ts';
import type { LiveRuntime, Look } from './sightings.ts';
import { WaitingEnds } from './waiting-ends.ts';

const run = (runtime_id: string, pane: string | null): LiveRuntime =>
  ({ identity: { runtime_id, pane }, suspended: false }) as unknown as LiveRuntime;

const look = (panes: readonly object[], processes: readonly (readonly [number, string])[]): Look =>
  ({ panes, table: { processes: new Map(processes.map(([pid, state]) => [pid, { state }])) } }) as unknown as Look;

const ids = (runs: readonly LiveRuntime[]): readonly string[] => runs.map(({ identity }) => identity.runtime_id);

it('RTE3 the end of an agent waits while tmux has not said what is in its pane now, and no longer than so', () => {
  const ends = new WaitingEnds();
  const stale = look([{ pane: '%1', panePid: 10, dead: false }], []);
  expect(ids(ends.due([run('a', '%1')], stale, 5_000))).toEqual([]);
  expect(ids(ends.due([run('a', '%1')], stale, 5_000 + limits.paneRenewedMs - 1))).toEqual([]);
  expect(ids(ends.due([run('a', '%1')], stale, 5_000 + limits.paneRenewedMs))).toEqual(['a']);
  const zombie = look([{ pane: '%1', panePid: 10, dead: false }], [[10, 'Z']]);
  expect(ids(ends.due([run('a', '%1')], zombie, 9_000))).toEqual([]);
});

it.each([
  ['its pane has a process', look([{ pane: '%1', panePid: 10, dead: false }], [[10, 'S']])],
  ['its pane is known to be dead', look([{ pane: '%1', panePid: 10, dead: true }], [])],
  ['its pane is gone', look([], [])],
])('RTE3 it is told at once when %s', (_, now) => {
  expect(ids(new WaitingEnds().due([run('a', '%1')], now, 5_000))).toEqual(['a']);
});
