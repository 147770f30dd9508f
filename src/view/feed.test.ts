// What was told, one event after the other or several at once, is what is so; and what a snapshot does not name is gone.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FeedEvent } from '../api/client-types.ts';
import type { FeedValue } from '../api/feed.ts';
import type { ShellEventItem } from '../api/shells.ts';
import { changesOf, emptyFeed, type FeedState, feedAfter } from './feed.ts';

const head = { schema_version: 1, generated_at: '2026-01-01T00:00:00.000Z' } as const;

/** A value of the kind that its key says, with a number that tells one from the next. */
function itemAt(key: string, mark: number): FeedValue {
  const [kind, name] = key.split(':');
  const kinds: Readonly<Record<string, object>> = {
    row: { identity: { target: 'host' }, runtime_id: name },
    target: { target: name, health: 'ok' },
    shell: { shell_id: name, last_log: [] },
    notice: { notice_id: name },
  };
  return { ...kinds[kind ?? ''], mark } as unknown as FeedValue;
}

const snapshot = (
  version: number,
  values: ReadonlyMap<string, FeedValue>,
  events: ShellEventItem[] = [],
): FeedEvent => {
  const items = [...values].map(([key, value]) => ({ key, value }));
  return { type: 'snapshot', cursor: `e:${version}`, data: { ...head, epoch: 'e', version, items, events } };
};

const change = (version: number, key: string, value: FeedValue | null): FeedEvent => ({
  type: 'changes',
  cursor: `e:${version}`,
  data: { ...head, from: version - 1, to: version, changes: [{ version, key, value }], events: [] },
});

const held = ({ rows, targets, shells, notices }: FeedState): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>([
    ...rows,
    ...targets.map((item) => [`target:${item.target}`, item] as const),
    ...shells.map((item) => [`shell:${item.shell_id}`, item] as const),
    ...notices,
  ]);

const keys = ['row', 'target', 'shell', 'notice'].flatMap((kind) => [1, 2, 3].map((place) => `${kind}:${place}`));
const steps = fc.array(
  fc.record({ kind: fc.constantFrom('put', 'put', 'drop', 'whole', 'noise'), key: fc.constantFrom(...keys) }),
  { maxLength: 60 },
);

describe('what the feed told', () => {
  it('FED2 is the truth after any events, however they are cut into pieces', () => {
    fc.assert(
      fc.property(steps, fc.array(fc.integer({ min: 1, max: 7 })), (made, cuts) => {
        const truth = new Map<string, FeedValue>();
        const events = made.flatMap(({ kind, key }, place): FeedEvent[] => {
          if (kind === 'noise') return [{ type: 'connected' }];
          if (kind === 'drop') truth.delete(key);
          if (kind === 'put') truth.set(key, itemAt(key, place));
          // What was missed is in the snapshot.
          if (kind === 'whole') truth.set(key, itemAt(key, place)).delete(keys[place % keys.length] ?? '');
          return kind === 'whole' ? [snapshot(place, truth)] : [change(place, key, truth.get(key) ?? null)];
        });
        let [state, at, turn] = [emptyFeed, 0, 0];
        while (at < events.length) {
          const size = cuts[turn % Math.max(1, cuts.length)] ?? 1;
          state = feedAfter(state, events.slice(at, at + size));
          [at, turn] = [at + size, turn + 1];
        }
        expect(new Map([...held(state)].sort())).toEqual(new Map([...truth].sort()));
        expect(held(feedAfter(emptyFeed, events))).toEqual(held(state));
        expect(state.targets.map(({ target }) => target)).toEqual(state.targets.map(({ target }) => target).toSorted());
      }),
    );
  });

  it('FED2 a snapshot takes away what it does not name, and that is told first', () => {
    const before = feedAfter(emptyFeed, [
      change(1, 'row:1', itemAt('row:1', 1)),
      change(2, 'shell:1', itemAt('shell:1', 1)),
    ]);
    const next = snapshot(9, new Map([['row:2', itemAt('row:2', 2)]]));
    expect(changesOf(before, next).map(({ version, key, value }) => [version, key, value === null])).toEqual([
      [9, 'row:1', true],
      [9, 'shell:1', true],
      [9, 'row:2', false],
    ]);
  });

  it('what nothing was said of stays the same value, and what says nothing changes nothing', () => {
    const before = feedAfter(emptyFeed, [
      change(1, 'row:1', itemAt('row:1', 1)),
      change(2, 'target:1', itemAt('target:1', 1)),
    ]);
    const after = feedAfter(before, [change(3, 'row:1', itemAt('row:1', 2))]);
    expect(after.targets).toBe(before.targets);
    expect(after.rows).not.toBe(before.rows);
    expect(feedAfter(before, [{ type: 'connected' }])).toBe(before);
  });
});
