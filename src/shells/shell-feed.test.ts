import { describe, expect, it } from 'vitest';
import { shellRow } from '../../test/system/api/kit-shells.ts';
import { createFeed, type FeedRow } from '../feed/feed.ts';
import { ShellFeed } from '../feed/shell-feed.ts';
import { limits } from '../model/limits.ts';
import type { ShellEvent } from '../model/shells.ts';
import { LatencyRing } from './shell-service.ts';

const event = (kind: ShellEvent['kind']): Omit<ShellEvent, 'seq'> => ({
  kind,
  at: 5,
  call_id: 'c',
  shell_id: 'shell-1',
  attempt: 1,
  pid: 7,
  start_mode: 'background',
  ended_by: null,
  exit_code: null,
});

function world() {
  const feed = createFeed<FeedRow>({ epoch: 'e', firstVersion: 100, snapshot: () => shells.snapshot() });
  const shells = new ShellFeed(feed);
  return { feed, shells };
}

describe('shells on the feed', () => {
  it('SHL8 one shell is one item, which changes in place and goes when it is forgotten', () => {
    const { feed, shells } = world();
    shells.put('shell-1', shellRow());
    shells.put('shell-1', shellRow());
    expect(feed.version()).toBe(101);
    shells.put('shell-1', shellRow({ is_stopped: true }));
    expect(shells.snapshot()).toEqual([{ key: 'shell:shell-1', value: shellRow({ is_stopped: true }) }]);
    shells.put('shell-1', null);
    shells.put('shell-1', null);
    expect(shells.snapshot()).toEqual([]);
    expect(feed.version()).toBe(103);
  });

  it('SHL7 what happened is told once each, in order, and numbered by its version', () => {
    const { feed, shells } = world();
    const reader = feed.subscribe();
    if (!reader.ok) throw new Error('no room');
    reader.value.take();
    shells.tell([event('start'), event('promote')]);
    shells.put('shell-1', shellRow());
    shells.tell([event('terminate')]);
    const message = reader.value.take();
    if (message?.type !== 'changes') throw new Error('no changes');
    expect(message.changes.map(({ key, version }) => [key, version])).toEqual([
      ['shell-event:101', 101],
      ['shell-event:102', 102],
      ['shell:shell-1', 103],
      ['shell-event:104', 104],
    ]);
    expect(shells.after(101).map(({ seq, kind }) => [seq, kind])).toEqual([
      [102, 'promote'],
      [104, 'terminate'],
    ]);
  });

  it('SHL7 one that is told by a snapshot while it is published finds the event there', () => {
    const { feed, shells } = world();
    const seen: number[] = [];
    const reader = feed.subscribe({
      onReady: () => seen.push(...shells.after(100).map(({ seq }) => seq)),
    });
    if (!reader.ok) throw new Error('no room');
    reader.value.take();
    reader.value.take();
    shells.tell([event('start')]);
    expect(seen).toEqual([101]);
  });

  it('keeps the last ones only', () => {
    const { shells } = world();
    for (let count = 0; count < limits.shellEventsKept + 10; count += 1) shells.tell([event('start')]);
    expect(shells.after(0)).toHaveLength(limits.shellEventsKept);
    expect(shells.after(0)[0]?.seq).toBe(111);
  });
});

describe('the time to an answer', () => {
  it('is told of the last calls, with the middle one and the longest', () => {
    const ring = new LatencyRing(4);
    expect(ring.told()).toEqual({ count: 0, p50_ms: null, max_ms: null });
    for (const ms of [900, 1, 2.06, 3]) ring.add(ms);
    expect(ring.told()).toEqual({ count: 4, p50_ms: 2.1, max_ms: 900 });
    ring.add(4);
    expect(ring.told()).toEqual({ count: 4, p50_ms: 2.1, max_ms: 4 });
  });
});
