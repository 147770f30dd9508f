// The process table where there is no /proc, from what ps says.

import { expect, it } from 'vitest';
import { type Exec, notStarted } from '../platform/exec.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { openPsTable } from './reach-ps.ts';

const report = (state: string): string => `agtmux-boot A1B2
agtmux-stat

agtmux-arguments-of-processes

agtmux-ps
  100     1   100    -1 ??       ${state}    Sun Nov 15 22:52:00 2026 /bin/sh -c x
  101   100   100    -1 ??       S    Sun Nov 15 22:52:01 2026 sleep 600

agtmux-end 0
`;

function answering(answer: () => { readonly status: number; readonly text: string }): Exec & { runs(): number } {
  let runs = 0;
  return {
    runs: () => runs,
    run: async () => {
      runs += 1;
      const { status, text } = answer();
      return { ...notStarted(''), spawnError: null, status, stdout: Buffer.from(text) };
    },
  };
}

it('SHL3 tells groups, parents and starts, and the start that a holder wrote in its own words', async () => {
  const clock = createSimulatedClock();
  let state = 'S';
  const exec = answering(() => ({ status: 0, text: report(state) }));
  const table = await openPsTable(exec, clock);
  if (!table.ok) throw new Error(table.failure.message);
  expect(table.value.boot).toBe('A1B2');
  const start = table.value.start('Sun Nov 15 22:52:00 2026\n');
  expect(await table.value.row(100)).toEqual({ pid: 100, ppid: 1, pgid: 100, session: null, state: 'S', start });
  expect(await table.value.row(7)).toBeNull();
  state = 'T';
  // A look every second at each of many shells is one table; who sends signals gets a new one.
  const runs = exec.runs();
  expect((await table.value.row(100))?.state).toBe('S');
  expect(exec.runs()).toBe(runs);
  expect((await table.value.rows()).map((row) => row.state)).toEqual(['T', 'S']);
  clock.advance(1_000);
  expect((await table.value.row(100))?.state).toBe('T');
});

it('SHL3 fails where ps does not answer', async () => {
  const silent = answering(() => ({ status: 1, text: '' }));
  expect(await openPsTable(silent, createSimulatedClock())).toMatchObject({ ok: false });
});
