import { describe, expect, it } from 'vitest';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { Retention } from './retention.ts';

function setUp() {
  const clock = createSimulatedClock();
  const calls: { before: number; bytesMax: number | undefined; isFull: boolean | undefined }[] = [];
  const trouble = { value: null as Error | null };
  const retention = new Retention({
    clock,
    now: () => 100 * 86_400_000,
    ledger: {
      prune: (before, bytesMax, isFull) => {
        calls.push({ before, bytesMax, isFull });
        return trouble.value === null
          ? Promise.resolve({ events: 1, runtimes: 0, audit: 0, snapshots: 0, bytes: 0 })
          : Promise.reject(trouble.value);
      },
    },
    inbox: { between: (work) => work() },
    settings: { current: { retention: { days: 30, megabytes: 64 } } },
    log: { info: () => undefined, warn: () => undefined },
  });
  return { clock, calls, retention, trouble };
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
