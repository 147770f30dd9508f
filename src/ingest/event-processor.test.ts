import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { asks, event, host, identity, says, settles, started, t0 } from '../../test/kit/engine.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { StateRecord } from '../model/records.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { MemoryStore } from '../store/memory.ts';
import { sampleTarget } from '../store/samples.contract.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Commit, Store } from '../store/store.ts';
import { EventProcessor } from './event-processor.ts';
import { Inbox } from './inbox.ts';

async function openLedger(
  store: Store = new MemoryStore(),
  parts: { now?: number; onChange?: (states: readonly StateRecord[]) => number } = {},
) {
  const time = { now: parts.now ?? t0 + 10_000 };
  const ledger = await EventProcessor.open({
    store,
    now: () => time.now,
    ...(parts.onChange === undefined ? {} : { onChange: parts.onChange }),
  });
  return { ledger, time, store };
}

const wordOf = (ledger: EventProcessor, runtime = 'a') => {
  const record = ledger.states().find((one) => one.runtime_id === runtime);
  return record === undefined ? null : `${record.state}/${record.reason}`;
};

const stateOnly = ({ runtime_id, state, reason, ask }: StateRecord) => ({ runtime_id, state, reason, ask });

describe('the ledger', () => {
  it('LOG1 what could not be committed has not happened, and the same batch can be handed in again', async () => {
    const store = new MemoryStore();
    let broken = true;
    const flaky: Store = new Proxy(store, {
      get: (of, name) => {
        if (name === 'commit' && broken) return () => Promise.reject(new AgtmuxError('E_STORE_FULL', 'no space'));
        const value: unknown = Reflect.get(of, name);
        return typeof value === 'function' ? value.bind(of) : value;
      },
    });
    const { ledger } = await openLedger(flaky);
    const batch = [started(identity('a')), asks('a', 'hook', 5, 'x')];
    await expect(ledger.take(batch)).rejects.toMatchObject({ code: 'E_STORE_FULL' });
    expect(ledger.states()).toEqual([]);
    expect(ledger.counters().taken).toBe(0);
    broken = false;
    expect((await ledger.take(batch)).map((one) => one.reason)).toEqual(['joined', 'joined']);
    expect(wordOf(ledger)).toBe('waiting_approval/approval_asked');
  });

  it('LOG5a CNV1 what cannot be written is still seen, marked, and written later as if nothing had been', async () => {
    const store = new MemoryStore();
    let isFull = false;
    const flaky: Store = new Proxy(store, {
      get: (of, name) => {
        if (name === 'commit' && isFull) return () => Promise.reject(new AgtmuxError('E_STORE_FULL', 'no space'));
        const value: unknown = Reflect.get(of, name);
        return typeof value === 'function' ? value.bind(of) : value;
      },
    });
    let changes = 0;
    const onChange = (): number => {
      changes += 1;
      return 0;
    };
    const { ledger } = await openLedger(flaky, { onChange });
    const clock = createSimulatedClock();
    const inbox = new Inbox(ledger, clock);
    const first = [started(identity('a')), says('a', 'hook', 1, 'idle')];
    await Promise.all(first.map((one) => inbox.offer(one)));
    isFull = true;
    const later = [asks('a', 'hook', 5, 'x'), started(identity('b')), says('b', 'hook', 6, 'running')];
    const taken = Promise.all(later.map((one) => inbox.offer(one)));
    await clock.advanceSettled(limits.inboxRetryMs * 3);
    expect(changes).toBeGreaterThan(1);
    expect(ledger.states()).toMatchObject([
      { runtime_id: 'a', state: 'waiting_approval', reason: 'not_kept', confidence: 'low', ask: { ask_id: 'x' } },
      { runtime_id: 'b', state: 'running', reason: 'not_kept', confidence: 'low' },
    ]);
    expect(ledger.identityOf(identity('b').runtime_id)).toMatchObject({ runtime_id: 'b' });
    // Nothing may be decided on it, and nothing of it is on disk.
    expect(ledger.world.entries.get(identity('a').runtime_id)?.record?.state).toBe('idle');
    expect((await store.states()).map(({ runtime_id }) => runtime_id)).toEqual(['a']);
    isFull = false;
    await clock.advanceSettled(limits.inboxRetryMs * 2);
    expect((await taken).map(({ reason }) => reason)).toEqual(['joined', 'joined', 'joined']);
    const { ledger: other } = await openLedger();
    await other.take([...first, ...later]);
    expect(ledger.states().map(stateOnly)).toEqual(other.states().map(stateOnly));
    expect(ledger.states().map(({ confidence }) => confidence)).toEqual(
      other.states().map(({ confidence }) => confidence),
    );
  });

  it('BND1 the last events of whoever says nothing more are not held for good, nor after a restart', async () => {
    const store = new MemoryStore();
    const { ledger: first } = await openLedger(store);
    await first.take([started(identity('a')), says('a', 'hook', 5, 'running')]);
    await first.take([event('a', 'process', 6, 'runtime.ended', { cause: 'exit' })]);
    const { ledger, time } = await openLedger(store);
    const young = () => ledger.world.entries.get(identity('a').runtime_id)?.recents.all.length;
    expect(young()).toBe(3);
    time.now += limits.bindTtlMs;
    await ledger.tick();
    expect([young(), wordOf(ledger)]).toEqual([0, wordOf(first)]);
  });

  it('holds little of an agent that has ended', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heldBytes = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    let ids = 0;
    // A log that is on disk alone.
    const disk: Store = new Proxy(new MemoryStore(), {
      get: (of, name) => {
        if (name === 'commit') return async ({ events }: Commit) => events.map(() => (ids += 1));
        const value: unknown = Reflect.get(of, name);
        return typeof value === 'function' ? value.bind(of) : value;
      },
    });
    const { ledger, time } = await openLedger(disk);
    const lives = 1_000;
    const before = heldBytes();
    for (let life = 0; life < lives; life += 1) {
      const process = { boot: 'boot', pid: 100 + life, start: `${life}` };
      const one = identity(`life${life}`, { started_at: time.now, process });
      const at = time.now - t0;
      const { runtime_id } = one;
      const turns = [10, 20, 30, 40].flatMap((turn) => [
        says(runtime_id, 'hook', at + turn, 'running'),
        asks(runtime_id, 'hook', at + turn + 1, `ask${turn}`),
        settles(runtime_id, 'hook', at + turn + 2, `ask${turn}`),
        says(runtime_id, 'screen', at + turn + 3, 'idle'),
      ]);
      const end = event(runtime_id, 'process', at + 50, 'runtime.ended', { cause: 'exit', status: 0 });
      await ledger.take(JSON.parse(JSON.stringify([started(one), ...turns, end])));
      time.now += 1_000;
    }
    time.now += limits.bindTtlMs;
    await ledger.tick();
    // 3.6 KB, its identity, its state and where it can be found among them. It was 5.4 KB.
    expect((heldBytes() - before) / lives).toBeLessThan(4_000);
    expect(ledger.states()).toHaveLength(lives);
  });

  it('ADM2 counters balance over every verdict', async () => {
    const { ledger, time } = await openLedger();
    await ledger.take([
      started(identity('a')),
      says('a', 'hook', 5, 'running'),
      says('a', 'hook', 5, 'running'),
      says('a', 'hook', 4, 'idle'),
    ]);
    await ledger.take([null, event('a', 'screen', 5, 'state.repeated'), says('nobody', 'hook', 5, 'running')]);
    ledger.countMerged(2);
    const { taken, verdicts } = ledger.counters();
    expect(verdicts).toEqual({
      applied: 2,
      refreshed: 1,
      merged: 2,
      duplicate: 1,
      late: 1,
      pending: 1,
      unbound: 0,
      refused: 1,
    });
    expect(taken).toBe(9);
    time.now += limits.bindTtlMs;
    await ledger.tick();
    expect(ledger.counters().verdicts).toMatchObject({ pending: 0, unbound: 1 });
  });

  it('DED1 a copy that was committed before a restart is known after it', async () => {
    const { ledger, store, time } = await openLedger();
    const told = says('a', 'hook', 5, 'idle', {}, { dedupe_key: 'k' });
    await ledger.take([started(identity('a')), told]);
    const { ledger: again } = await openLedger(store, { now: time.now + limits.bindTtlMs * 2 });
    expect((await again.take([told, { ...told, event_time: t0 + 1 }])).map((one) => one.reason)).toEqual([
      'same_event',
      'conflict_kept',
    ]);
    expect(again.states()).toEqual(ledger.states());
  });

  it('RSV11 versions go on over a restart, and FED2 so do those of the feed', async () => {
    const { ledger, store } = await openLedger();
    await ledger.take([started(identity('a'))]);
    await ledger.take([says('a', 'hook', 5, 'running')]);
    const before = ledger.states()[0]?.state_version;
    const { ledger: again } = await openLedger(store);
    expect(again.states()[0]?.state_version).toBe(before);
    expect(again.feedVersion).toBe(ledger.feedVersion);
    expect(again.feedVersion).toBe(2);
    await again.take([says('a', 'hook', 6, 'idle')]);
    expect(again.states()[0]?.state_version).toBe(Number(before) + 1);
  });

  it('FED1 every change is told once, after its commit, and nothing is told when nothing changed', async () => {
    const told: string[] = [];
    const { ledger, time } = await openLedger(new MemoryStore(), {
      onChange: (states) => {
        told.push(states.map((one) => `${one.runtime_id} ${one.state}`).join(', '));
        return told.length;
      },
    });
    await ledger.take([started(identity('a')), says('a', 'hook', 5, 'completed')]);
    await ledger.take([event('a', 'screen', 6, 'state.repeated')]);
    expect(told).toEqual(['a completed']);
    time.now += limits.completedMs;
    await ledger.tick();
    expect(told).toEqual(['a completed', 'a idle']);
    expect(ledger.feedVersion).toBe(2);
  });

  it('RSV4 what was saved of a damaged log is unknown until it is seen again', async () => {
    const { ledger, store } = await openLedger();
    await ledger.take([started(identity('a'))]);
    const [record] = ledger.states();
    const rebuilt = { ...(record as StateRecord), reason: 'rebuilt' as const };
    await store.commit({
      events: [],
      rebindings: [],
      runtimes: [],
      states: [rebuilt],
      audit: [],
      feed_version: 9,
    } satisfies Commit);
    const { ledger: again } = await openLedger(store);
    expect(wordOf(again)).toBe('unknown/rebuilt');
    await again.take([says('a', 'screen', 6, 'idle')]);
    expect(wordOf(again)).toBe('idle/prompt_ready');
  });

  it('LOG4 retention keeps what is known of living runtimes and forgets ended ones whole', async () => {
    const { ledger, store, time } = await openLedger();
    await ledger.take([
      started(identity('a')),
      started(identity('b', { started_at: t0 - 9 })),
      asks('a', 'hook', 5, 'x'),
    ]);
    for (let count = 0; count < 20; count++) await ledger.take([says('a', 'hook', 10 + count, 'running')]);
    await ledger.take([event('b', 'process', 9, 'runtime.ended', { cause: 'exit', status: 0 })]);
    time.now += 86_400_000;
    await ledger.take([says('a', 'screen', 50, 'running')]);
    const before = ledger.states().filter((one) => one.runtime_id === 'a');
    const report = await ledger.prune({ before: time.now - 3_600_000, slackMs: 0 });
    expect(report.runtimes).toBe(1);
    expect(report.events).toBeGreaterThan(20);
    expect(ledger.states()).toEqual(before);
    const { ledger: again } = await openLedger(store, { now: time.now });
    expect(again.states()).toEqual(before);
    expect(again.world.routes()).toEqual(ledger.world.routes());
  });

  it('LOG4 the old part of an agent that lives and is busy goes too, and its newer part stays', async () => {
    const { ledger, store, time } = await openLedger();
    const day = 86_400_000;
    await ledger.take([started(identity('a')), asks('a', 'hook', 5, 'x')]);
    for (let count = 1; count <= 180; count++) {
      time.now = t0 + count * day;
      await ledger.take([says('a', 'hook', count * day, count % 2 === 0 ? 'running' : 'completed')]);
    }
    const before = ledger.states();
    await ledger.prune({ before: time.now - 30 * day });
    const kept = await store.eventsOf(identity('a').runtime_id, 1_000);
    // Thirty days, the start, and the base.
    expect(kept.length).toBeLessThanOrEqual(33);
    expect(kept.length).toBeGreaterThanOrEqual(30);
    expect(ledger.states()).toEqual(before);
    const again = await openLedger(store, { now: time.now });
    expect(again.ledger.states()).toEqual(before);
    // An hour later there is nothing new to do; a day later there is.
    expect(await ledger.prune({ before: time.now + 3_600_000 - 30 * day })).toMatchObject({ events: 0 });
    expect((await again.ledger.prune({ before: time.now + 3 * day - 30 * day })).events).toBeGreaterThan(0);
    expect((await openLedger(store, { now: time.now })).ledger.states()).toEqual(before);
  });

  it('LOG2b a log that is damaged while it is in use is set aside, and a new one begins with what is known', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'agtmux-ledger-'));
    const open = () => openSqliteStore({ dir, now: () => t0, ballastBytes: 0, cacheKib: 16 });
    const first = await open();
    const filling = await openLedger(first);
    await filling.ledger.take([started(identity('a')), started(identity('b', { started_at: t0 - 9 }))]);
    const words = Array.from({ length: 400 }, (_, index) => says('b', 'hook', index + 1, 'running'));
    await filling.ledger.take([asks('a', 'hook', 3, 'x', { text: 'make the release' }), ...words]);
    await first.close();

    const store = await open();
    const { ledger, time } = await openLedger(store);
    await store.putTarget(sampleTarget('host'));
    const before = ledger.states();
    // One word of an old row, wherever it stands in the file.
    const path = join(dir, 'agtmux.db');
    const bytes = readFileSync(path);
    let found = 0;
    for (let at = bytes.indexOf('make the release'); at >= 0; at = bytes.indexOf('make the release', at)) {
      bytes.write('M', at);
      found += 1;
    }
    expect(found).toBeGreaterThan(0);
    writeFileSync(path, bytes);
    const repeated = await ledger.take([
      asks('a', 'hook', 3, 'x', { text: 'make the release' }),
      says('nobody', 'hook', 4, 'running'),
    ]);
    expect(repeated).toHaveLength(2);
    expect(readdirSync(dir).filter((name) => name.includes('damaged')).length).toBeGreaterThan(0);
    expect(ledger.states().map(stateOnly)).toEqual(before.map(stateOnly));
    // It goes on, and a restart finds all of it.
    await ledger.take([settles('a', 'hook', 6, 'x'), says('a', 'hook', 7, 'running')]);
    expect(wordOf(ledger)).toBe('running/turn_running');
    const now = new Set(ledger.states());
    await store.close();
    const again = await openLedger(await open(), { now: time.now });
    expect(new Set(again.ledger.states())).toEqual(now);
    expect(again.ledger.world.pending.size).toBe(1);
    expect(await again.store.targets()).toHaveLength(1);
    await again.store.close();
    rmSync(dir, { recursive: true });
  });

  it('LOG2 a log that has to start over does not wait for pruning that waits for it', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'agtmux-ledger-'));
    const store = await openSqliteStore({ dir, now: () => t0, ballastBytes: 0 });
    const { ledger, time } = await openLedger(store);
    const words = Array.from({ length: 400 }, (_, index) => says('old', 'hook', index + 1, 'running'));
    await ledger.take([started(identity('old')), ...words]);
    await ledger.take([event('old', 'process', 3_000, 'runtime.ended', { cause: 'exit', status: 0 })]);
    await ledger.take([started(identity('a', { started_at: t0 + 1 }))]);
    const before = new Set(ledger.states().filter((one) => one.runtime_id === 'a'));
    let steps = 0;
    const goOn = Promise.withResolvers<void>();
    const waits = Promise.withResolvers<void>();
    const pruning = ledger.prune({
      before: time.now,
      turn: async (step) => {
        steps += 1;
        if (steps === 2) waits.resolve();
        if (steps === 2) await goOn.promise;
        return step();
      },
    });
    await waits.promise;
    const nothing = { rebindings: [], runtimes: [], states: [], audit: [] };
    const began = store.startOver(() => ({ ...nothing, events: [], feed_version: 99 }));
    await expect(began).resolves.toMatchObject({ ids: [] });
    goOn.resolve();
    await expect(pruning).rejects.toMatchObject({ code: 'E_STORE_IO' });
    expect(new Set(ledger.states().filter((one) => one.runtime_id === 'a'))).toEqual(before);
    await store.close();
    rmSync(dir, { recursive: true });
  });

  it('ADM1 what a person did is written in the same commit as what it caused', async () => {
    const { ledger, store } = await openLedger();
    const audit = {
      at: t0,
      actor: 'human',
      action: 'send',
      runtime_id: null,
      snapshot_id: null,
      result: 'refused',
      detail: {},
    };
    await ledger.take([], [audit]);
    expect(await store.audit(10)).toMatchObject([audit]);
    expect(host).toBe('host');
  });
});
