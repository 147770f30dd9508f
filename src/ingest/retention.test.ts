import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asks, event, identity, says, started, t0 } from '../../test/kit/engine.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { verdict } from '../model/verdicts.ts';
import { createRealClock } from '../platform/clock.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import { EventProcessor } from './event-processor.ts';
import { Inbox } from './inbox.ts';
import { Retention } from './retention.ts';

function setUp() {
  const clock = createSimulatedClock();
  const calls: { before: number; bytesMax: number | undefined; isFull: boolean | undefined }[] = [];
  const turns = { given: 0 };
  const between = { count: 0 };
  const trouble = { value: null as Error | null };
  const retention = new Retention({
    clock,
    now: () => 100 * 86_400_000,
    ledger: {
      prune: ({ before, bytesMax, isFull = false, turn }) => {
        calls.push({ before, bytesMax, isFull });
        if (turn !== undefined) turns.given += 1;
        return trouble.value === null
          ? Promise.resolve({ events: 1, runtimes: 0, audit: 0, snapshots: 0, bytes: 0 })
          : Promise.reject(trouble.value);
      },
    },
    inbox: {
      between: (work) => {
        between.count += 1;
        return work();
      },
    },
    settings: { current: { retention: { days: 30, megabytes: 64 } } },
    log: { info: () => undefined, warn: () => undefined },
  });
  return { clock, calls, retention, trouble, turns, between };
}

describe('retention', () => {
  it('LOG4 drops by age and size, again and again until it is stopped', async () => {
    const { clock, calls, retention } = setUp();
    retention.start();
    await clock.advanceSettled(limits.pruneEveryMs * 2);
    expect(calls).toEqual(Array(2).fill({ before: 70 * 86_400_000, bytesMax: 64 * 1_048_576, isFull: false }));
    retention.stop();
    await clock.advanceSettled(limits.pruneEveryMs * 2);
    expect(calls).toHaveLength(2);
  });

  it('LOG4 what happens while history is dropped is kept and acknowledged before the end of it', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'agtmux-retention-'));
    const clock = createRealClock();
    const pause = () => new Promise<void>((resolve) => clock.after(0, () => resolve()));
    const store = await openSqliteStore({ dir, now: () => t0, ballastBytes: 0, pause });
    const ledger = await EventProcessor.open({ store, now: () => t0 + 10_000 });
    const inbox = new Inbox(ledger, clock);
    const words = Array.from({ length: 2_000 }, (_, index) => says('old', 'hook', index + 1, 'running'));
    await ledger.take([started(identity('old')), ...words]);
    await ledger.take([event('old', 'process', 3_000, 'runtime.ended', { cause: 'exit', status: 0 })]);
    await inbox.offer(started(identity('a', { started_at: t0 + 1 })));
    const order: string[] = [];
    // As `Retention` calls it: each step has its turn among the batches.
    const pruning = ledger
      .prune({ before: t0 + 9_000, turn: (step) => inbox.between(async () => step()) })
      .then(() => order.push('pruned'));
    const taken = inbox.offer(asks('a', 'hook', 5, 'x')).then(() => order.push('acknowledged'));
    await Promise.all([pruning, taken]);
    expect(order).toEqual(['acknowledged', 'pruned']);
    expect(ledger.states().map((one) => [one.runtime_id, one.state])).toEqual([['a', 'waiting_approval']]);
    await store.close();
    rmSync(dir, { recursive: true });
  });

  it('LOG4 in the daemon, only a full disk keeps the batches waiting for the whole of it', async () => {
    const { clock, retention, turns, between } = setUp();
    retention.start();
    await clock.advanceSettled(limits.pruneEveryMs);
    expect([turns.given, between.count]).toEqual([1, 0]);
    retention.onFailure(new AgtmuxError('E_STORE_FULL', 'full'));
    await clock.advanceSettled(1);
    expect([turns.given, between.count]).toEqual([1, 1]);
    retention.stop();
  });

  it('LOG5 a disk that gets full while history is dropped: that ends first, and then room is made', async () => {
    const clock = createSimulatedClock();
    const full = new AgtmuxError('E_STORE_FULL', 'full');
    let isFull = true;
    const done: string[] = [];
    const taker = {
      take: async (raws: readonly unknown[]) => {
        if (isFull) throw full;
        return raws.map(() => verdict('joined'));
      },
      countMerged: () => undefined,
      countRefused: () => undefined,
    };
    const inbox: Inbox = new Inbox(taker, clock, undefined, (problem) => retention.onFailure(problem));
    const report = { events: 1, runtimes: 0, audit: 0, snapshots: 0, bytes: 0 };
    const retention = new Retention({
      clock,
      now: () => 100 * 86_400_000,
      ledger: {
        prune: async ({ isFull: toMakeRoom, turn }) => {
          for (let step = 0; turn !== undefined && step < 5; step += 1) {
            await turn(() => undefined);
            if (step === 1) void inbox.offer({});
            await new Promise<void>((resolve) => clock.after(10, resolve));
          }
          done.push(toMakeRoom === true ? 'room' : 'regular');
          if (toMakeRoom === true) isFull = false;
          return report;
        },
      },
      inbox,
      settings: { current: { retention: { days: 30, megabytes: 64 } } },
      log: { info: () => undefined, warn: () => undefined },
    });
    retention.start();
    await clock.advanceSettled(limits.pruneEveryMs);
    await clock.advanceSettled(30_000);
    expect(done).toEqual(['regular', 'room']);
    expect(inbox.waiting).toBe(0);
    retention.stop();
  });

  it('LOG5 a full disk is answered at once, one answer at a time; other failures are not ours', async () => {
    const { clock, calls, retention, trouble } = setUp();
    retention.onFailure(new AgtmuxError('E_STORE_IO', 'no'));
    retention.onFailure(new Error('no'));
    expect(calls).toEqual([]);
    trouble.value = new AgtmuxError('E_STORE_FULL', 'still full');
    retention.onFailure(new AgtmuxError('E_STORE_FULL', 'full'));
    retention.onFailure(new AgtmuxError('E_STORE_FULL', 'full'));
    expect(calls.map((one) => one.isFull)).toEqual([true]);
    await clock.advanceSettled(1);
    retention.onFailure(new AgtmuxError('E_STORE_FULL', 'full'));
    expect(calls).toHaveLength(2);
  });
});
