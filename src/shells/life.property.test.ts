// Any story of a shell: whatever happens, in whatever order, its record stays sound and its events make sense.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lifeCells } from '../../test/kit/shell-cells.ts';
import { born, eventOf } from '../../test/kit/shells.ts';
import { problemOf, stateOf, step } from './life.ts';

const anyEvent = fc.constantFrom(...new Set(lifeCells.map(({ event }) => event)));

it('SHL1 SHL4 every attempt ends once, its author stays, and nothing comes back to the foreground', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 40 }), fc.boolean(), (story, run_in_background) => {
      let record = born({ run_in_background });
      const ends: number[] = [];
      for (const event of story) {
        const before = record;
        const next = step(record, eventOf(event));
        record = next.record;
        expect(problemOf(record)).toBeNull();
        expect(record.attempt - before.attempt).toBe(next.result === 'Restarted' ? 1 : 0);
        if (stateOf(before) === 'running_bg') expect(stateOf(record)).not.toBe('running_fg');
        if (before.status !== 'running' && record.attempt === before.attempt) expect(record).toBe(before);
        const isTakenBack = next.result === 'KillFailed' || next.result === 'Restarted';
        if (before.kill_requested_by !== null && !isTakenBack)
          expect(record.kill_requested_by).toBe(before.kill_requested_by);
        ends.push(...next.events.flatMap(({ kind, attempt }) => (kind === 'terminate' ? [attempt] : [])));
      }
      const over = record.attempt - (record.status === 'running' ? 1 : 0);
      expect(ends).toEqual(Array.from({ length: over }, (_, place) => place + 1));
    }),
    { numRuns: Number(process.env.COUNT ?? 1_000) },
  );
});
