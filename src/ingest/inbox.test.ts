import { describe, expect, it } from 'vitest';
import { asks, event, says } from '../../test/kit/engine.ts';
import { AgtmuxError } from '../model/errors.ts';
import { type Verdict, verdict } from '../model/verdicts.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { Inbox, mergeKeyOf } from './inbox.ts';

/** A log that answers when told to, and can be full. */
class FakeTaker {
  readonly batches: unknown[][] = [];
  merged = 0;
  refused = 0;
  full = false;
  #waiting: (() => void)[] = [];
  held = false;

  async take(raws: readonly unknown[]): Promise<readonly Verdict[]> {
    if (this.held) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.full) throw new AgtmuxError('E_STORE_FULL', 'no space');
    if (raws.some((raw) => (raw as { poison?: boolean }).poison)) throw new TypeError('defect');
    this.batches.push([...raws]);
    return raws.map(() => verdict('joined'));
  }

  countMerged(count: number): void {
    this.merged += count;
  }

  countRefused(count: number): void {
    this.refused += count;
  }

  release(): void {
    this.held = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

const small = { eventsMax: 3, batchMax: 2, retryMs: 250 };

function inboxOn(taker: FakeTaker, parts: Partial<typeof small> = {}) {
  const clock = createSimulatedClock();
  return { clock, inbox: new Inbox(taker, clock, { ...small, ...parts }) };
}

describe('the inbox', () => {
  it('ADM4 acknowledges after the commit, not before', async () => {
    const taker = new FakeTaker();
    taker.held = true;
    const { inbox } = inboxOn(taker);
    let acknowledged = false;
    const done = inbox.offer(says('a', 'hook', 1, 'running')).then(() => {
      acknowledged = true;
    });
    await Promise.resolve();
    expect(acknowledged).toBe(false);
    expect(inbox.waiting).toBe(1);
    taker.release();
    await done;
    expect(taker.batches).toHaveLength(1);
    expect(inbox.waiting).toBe(0);
  });

  it('ADM4 keeps the order and the size of its batches', async () => {
    const taker = new FakeTaker();
    taker.held = true;
    const { inbox } = inboxOn(taker, { eventsMax: 10 });
    const all = [1, 2, 3, 4, 5].map((at) => inbox.offer(says('a', 'hook', at, 'running')));
    taker.release();
    await Promise.all(all);
    await inbox.drain();
    expect(taker.batches.map((batch) => batch.length)).toEqual([1, 2, 2]);
    expect(taker.batches.flat().map((raw) => (raw as { event_time: number }).event_time)).toEqual(
      [1, 2, 3, 4, 5].map((at) => 1_000_000 + at),
    );
  });

  it('ADM4 a full inbox merges repeated looks, never asks or ends: their senders are told to come back', async () => {
    const taker = new FakeTaker();
    taker.held = true;
    const { inbox } = inboxOn(taker);
    const first = inbox.offer(says('a', 'hook', 1, 'running'));
    const look = inbox.offer(says('a', 'screen', 2, 'idle'));
    const ask = inbox.offer(asks('a', 'hook', 3, 'x'));
    const newer = inbox.offer(says('a', 'screen', 4, 'idle'));
    expect(await look).toMatchObject({ verdict: 'merged', reason: 'newer_waiting' });
    expect(taker.merged).toBe(1);
    await expect(inbox.offer(asks('a', 'hook', 5, 'y'))).rejects.toMatchObject({ code: 'E_INBOX_FULL' });
    await expect(inbox.offer(event('a', 'process', 5, 'runtime.ended', { cause: 'vanished' }))).rejects.toMatchObject({
      code: 'E_INBOX_FULL',
    });
    await expect(inbox.offer(says('a', 'screen', 6, 'running'))).rejects.toMatchObject({ code: 'E_INBOX_FULL' });
    taker.release();
    expect((await Promise.all([first, ask, newer])).map((one) => one.verdict)).toEqual([
      'applied',
      'applied',
      'applied',
    ]);
  });

  it('ADM4 what is on its way to the disk can no longer be merged', async () => {
    const taker = new FakeTaker();
    taker.held = true;
    const { inbox } = inboxOn(taker, { eventsMax: 1 });
    const first = inbox.offer(says('a', 'screen', 1, 'idle'));
    await expect(inbox.offer(says('a', 'screen', 2, 'idle'))).rejects.toMatchObject({ code: 'E_INBOX_FULL' });
    taker.release();
    expect(await first).toMatchObject({ verdict: 'applied' });
  });

  it('LOG5 a full disk loses nothing: the batch stays in front and is tried again until it fits', async () => {
    const taker = new FakeTaker();
    taker.full = true;
    const { inbox, clock } = inboxOn(taker);
    const done = inbox.offer(asks('a', 'hook', 1, 'x'));
    await clock.advanceSettled(1_000);
    expect(inbox.failure).toMatchObject({ code: 'E_STORE_FULL' });
    expect(inbox.waiting).toBe(1);
    taker.full = false;
    await clock.advanceSettled(250);
    expect(await done).toMatchObject({ verdict: 'applied' });
    expect(inbox.failure).toBeNull();
  });

  it('ADM4 a job meets no batch, its failure stops nobody, and a failing log tells whoever may help', async () => {
    const taker = new FakeTaker();
    const clock = createSimulatedClock();
    const told: unknown[] = [];
    const inbox = new Inbox(taker, clock, small, (problem) => told.push(problem));
    taker.full = true;
    const event = inbox.offer(asks('a', 'hook', 1, 'x'));
    const job = inbox.between(async () => {
      taker.full = false;
      return taker.batches.length;
    });
    const failing = expect(inbox.between(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await clock.advanceSettled(small.retryMs);
    await failing;
    expect(await job).toBe(0);
    expect(await event).toMatchObject({ verdict: 'applied' });
    expect(told).toMatchObject([{ code: 'E_STORE_FULL' }]);
  });

  it('ADM2 an event that makes the engine fail is refused by itself; those around it are taken', async () => {
    const taker = new FakeTaker();
    taker.held = true;
    const { inbox } = inboxOn(taker, { eventsMax: 10, batchMax: 10 });
    const all = [1, 2, 3, 4].map((at) => inbox.offer({ ...says('a', 'hook', at, 'running'), poison: at === 3 }));
    taker.release();
    expect((await Promise.all(all)).map((one) => one.reason)).toEqual(['joined', 'joined', 'defect', 'joined']);
    expect([taker.refused, inbox.waiting, inbox.failure]).toEqual([1, 0, null]);
  });

  it('ADM4 drain resolves when nothing waits any more', async () => {
    const taker = new FakeTaker();
    const { inbox } = inboxOn(taker);
    await inbox.drain();
    const done = inbox.offer(says('a', 'hook', 1, 'running'));
    await inbox.drain();
    expect(taker.batches).toHaveLength(1);
    await done;
  });

  it('ADM4 only the same words of a level source are the same look', () => {
    const look = says('a', 'screen', 1, 'idle');
    expect(mergeKeyOf(look)).toBe(mergeKeyOf(says('a', 'screen', 9, 'idle')));
    expect(mergeKeyOf(look)).not.toBe(mergeKeyOf(says('b', 'screen', 1, 'idle')));
    expect(mergeKeyOf(look)).not.toBe(mergeKeyOf(says('a', 'screen', 1, 'running')));
    expect(mergeKeyOf(event('a', 'screen', 1, 'state.repeated'))).not.toBeNull();
    const never = [
      says('a', 'hook', 1, 'idle'),
      asks('a', 'screen', 1, 'x'),
      null,
      'x',
      { source: 7 },
      { source: 'rumour' },
    ];
    expect(never.map(mergeKeyOf)).toEqual(never.map(() => null));
  });
});
