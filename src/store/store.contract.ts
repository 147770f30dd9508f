// What every store must do, whatever it stands on. Run by memory.test.ts and sqlite.test.ts; a store to come runs it too.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentName, paneId, type RuntimeId, runtimeId, snapshotId, targetId } from '../model/ids.ts';
import {
  contentOf,
  emptyCommit,
  SampleWorld,
  sampleAudit,
  sampleDocument,
  sampleEvent,
  sampleIdentity,
  sampleNew,
  samplePlace,
  sampleRuntime,
  sampleRuntimeId,
  sampleSnapshot,
  sampleState,
  sampleTarget,
  sampleTime,
  storedOf,
} from './samples.contract.ts';
import type { Commit, PruneOrder, ReplayRow, Store } from './store.ts';

const host = targetId('host');
const keepAll: PruneOrder = {
  before: 0,
  auditBefore: 0,
  snapshotsMax: Number.MAX_SAFE_INTEGER,
  bytesMax: Number.MAX_SAFE_INTEGER,
};

async function replayed(store: Store): Promise<ReplayRow[]> {
  const rows: ReplayRow[] = [];
  await store.replay((row) => rows.push(row));
  return rows;
}

const identity = (dedupe_key: string) => ({ target: host, source: 'hook' as const, dedupe_key });

export function storeContract(name: string, open: () => Promise<Store>): void {
  describe(`${name} keeps the contract of a store`, () => {
    let store: Store;
    const commit = (part: Partial<Commit>) => store.commit({ ...emptyCommit, ...part });

    beforeEach(async () => {
      store = await open();
    });
    afterEach(async () => {
      await store.close();
    });

    logContract(() => store, commit);
    projectionContract(() => store, commit);
    atomicContract(() => store, commit);
    registerContract(() => store);
    pruneContract(() => store, commit);
    closeContract(() => store);
  });
}

type CommitPart = (part: Partial<Commit>) => Promise<readonly number[]>;

function logContract(store: () => Store, commit: CommitPart): void {
  it('ADM1 gives back every field of an event as it was', async () => {
    const event = sampleEvent(1, {
      time: sampleTime + 0.5,
      key: { major: 1e300, minor: 2 ** 60, hash: '' },
      dedupe_key: "quote ' ☃ 漢字 😀",
      extra: { tool: 'Bash', nested: { list: [1, null, 'half \ud83d \u0000'] }, future_field: true },
    });
    const [id = 0] = await commit({ events: [{ runtime_id: null, verdict: 'runtime_not_known', event }] });
    expect((await replayed(store())).map(storedOf)).toEqual([
      { event_id: id, runtime_id: null, verdict: 'runtime_not_known', event },
    ]);
  });

  it('ADM2 keeps the verdict of every event', async () => {
    const late = { ...sampleNew(2, 1), verdict: 'older_than_cursor' as const };
    await commit({ events: [sampleNew(1, 1), late] });
    expect((await replayed(store())).map((row) => row.verdict)).toEqual(['older_than_cursor', 'joined']);
  });

  it('numbers events in the order of arrival and never uses a number twice', async () => {
    expect(await commit({ events: [sampleNew(1, 1), sampleNew(2, 1)] })).toEqual([1, 2]);
    await commit({ runtimes: [sampleRuntime(1, 5)] });
    await store().prune({ ...keepAll, before: 10 });
    expect(await commit({ events: [sampleNew(3, 1)] })).toEqual([3]);
  });

  it('replays newest first, with what events are judged by ready to hand', async () => {
    await commit({ events: [sampleNew(1, 1), sampleNew(2, 2)] });
    await commit({ events: [sampleNew(3, null)] });
    const rows = await replayed(store());
    expect(rows.map((row) => row.event_id)).toEqual([3, 2, 1]);
    const { event } = sampleNew(2, 2);
    expect(rows[1]).toMatchObject({
      runtime_id: sampleRuntimeId(2),
      verdict: 'joined',
      target: host,
      source: 'hook',
      kind: 'state.observed',
      key: event.key,
      time: event.time,
      ingested_at: event.ingested_at,
      dedupe_key: event.dedupe_key,
    });
  });

  it('replays nothing from an empty log', async () => {
    expect(await store().replay(() => expect.unreachable())).toEqual({ events: 0, feed_version: 0 });
  });

  it('DED1 knows the copies of an event by target, source and key', async () => {
    const twin = sampleEvent(1, { key: { major: 5, minor: 1, hash: 'b' } });
    await commit({ events: [sampleNew(1, 1), sampleNew(2, null)] });
    await commit({ events: [{ runtime_id: sampleRuntimeId(2), verdict: 'conflict_kept', event: twin }] });
    const { key } = sampleEvent(1);
    expect(await store().known([identity('toolu_1'), identity('toolu_9'), identity('toolu_1')])).toEqual([
      { ...identity('toolu_1'), event_id: 1, runtime_id: sampleRuntimeId(1), key },
      { ...identity('toolu_1'), event_id: 3, runtime_id: sampleRuntimeId(2), key: twin.key },
    ]);
    expect(await store().known([{ ...identity('toolu_1'), source: 'notify' }])).toEqual([]);
    expect(await store().known([{ ...identity('toolu_1'), target: targetId('vm1') }])).toEqual([]);
    expect(await store().known([])).toEqual([]);
  });

  it('DED1 knows what was committed after it was first asked', async () => {
    expect(await store().known([identity('toolu_1')])).toEqual([]);
    await commit({ events: [sampleNew(1, 1)] });
    expect(await store().known([identity('toolu_1')])).toMatchObject([{ event_id: 1 }]);
    await store().replay(() => {});
    await commit({ events: [sampleNew(2, 1)] });
    expect(await store().known([identity('toolu_1'), identity('toolu_2')])).toHaveLength(2);
  });

  it('DED1 knows an event again whose key is hardly text', async () => {
    for (const dedupe_key of ['half \ud83d pair', 'zero \u0000 and on', '']) {
      const [id] = await commit({ events: [sampleNew(1, 1, { dedupe_key })] });
      expect(await store().known([identity(dedupe_key)])).toMatchObject([{ event_id: id, dedupe_key }]);
    }
    expect(await replayed(store())).toHaveLength(3);
  });

  it('BND1 rebinds an event to the runtime that claimed it', async () => {
    await commit({ events: [sampleNew(1, null), sampleNew(2, null)] });
    await commit({ rebindings: [{ event_id: 1, runtime_id: sampleRuntimeId(7), verdict: 'joined' }] });
    await commit({ rebindings: [{ event_id: 2, runtime_id: null, verdict: 'bind_expired' }] });
    expect(
      (await replayed(store())).map(({ event_id, runtime_id, verdict }) => [event_id, runtime_id, verdict]),
    ).toEqual([
      [2, null, 'bind_expired'],
      [1, sampleRuntimeId(7), 'joined'],
    ]);
    expect(await store().eventsOf(sampleRuntimeId(7), 10)).toMatchObject([{ event_id: 1 }]);
    expect(await store().known([identity('toolu_1')])).toMatchObject([{ runtime_id: sampleRuntimeId(7) }]);
  });

  it('shows the latest events of one runtime, newest first', async () => {
    await commit({ events: [sampleNew(1, 1), sampleNew(2, 2), sampleNew(3, 1), sampleNew(4, 1)] });
    const events = await store().eventsOf(sampleRuntimeId(1), 2);
    expect(events).toEqual([
      { ...sampleNew(4, 1), event_id: 4 },
      { ...sampleNew(3, 1), event_id: 3 },
    ]);
    expect(await store().eventsOf(runtimeId('rt_none'), 2)).toEqual([]);
  });

  it('FED2 keeps the newest version of the feed', async () => {
    await commit({ feed_version: 7 });
    await commit({ feed_version: 7 });
    expect(await store().replay(() => {})).toEqual({ events: 0, feed_version: 7 });
  });
}

function projectionContract(store: () => Store, commit: CommitPart): void {
  it('IDN9 states are keyed by runtime: the newest takes the place of the one before', async () => {
    const asking = sampleState(1, 2, {
      state: 'waiting_approval',
      reason: 'approval_asked',
      decided_by: null,
      detail: null,
      until: sampleTime,
      suspended: true,
      ended: { cause: 'signal', status: null, signal: 'SIGKILL', clean: false, time: sampleTime },
    });
    await commit({ states: [sampleState(2, 1), sampleState(1, 1)] });
    await commit({ states: [asking] });
    expect(await store().states()).toEqual([asking, sampleState(2, 1)]);
  });

  it('IDN5 keeps two runtimes that claim one epoch: which of them is there is not for the log to say', async () => {
    const twin = { identity: sampleIdentity(3, { pane: paneId('%2') }), ended_at: null };
    await commit({ runtimes: [sampleRuntime(2), twin] });
    expect((await store().runtimes()).map((one) => one.identity.runtime_id).sort()).toHaveLength(2);
  });

  it('IDN5 keeps who a runtime is, and when it ended', async () => {
    const session = {
      identity: sampleIdentity(2, { pane: null, server: null, process: null, parent: sampleRuntimeId(1) }),
      ended_at: null,
    };
    await commit({ runtimes: [sampleRuntime(1), session] });
    await commit({ runtimes: [sampleRuntime(1, sampleTime)] });
    expect(await store().runtimes()).toEqual([sampleRuntime(1, sampleTime), session]);
  });

  it('IDN9 managed sessions have no pane, and a child shares the pane of its parent', async () => {
    const child = { identity: sampleIdentity(2, { pane: paneId('%1'), parent: sampleRuntimeId(1) }), ended_at: null };
    const sessions = [3, 4].map((number) => ({ identity: sampleIdentity(number, { pane: null }), ended_at: null }));
    await commit({ runtimes: [sampleRuntime(1), child, ...sessions] });
    expect(await store().runtimes()).toHaveLength(4);
  });

  it('ACT1 keeps the audit trail, newest first', async () => {
    await commit({ audit: [sampleAudit(1), { ...sampleAudit(2), runtime_id: null, snapshot_id: null }] });
    await commit({ audit: [sampleAudit(3)] });
    expect(await store().audit(2)).toEqual([
      sampleAudit(3),
      { ...sampleAudit(2), runtime_id: null, snapshot_id: null },
    ]);
    expect(await store().audit(10)).toHaveLength(3);
    const numbered = await store().auditAfter(1, 1);
    expect(numbered.map(({ audit_id }) => audit_id)).toEqual([2]);
    expect((await store().auditAfter(null, 9)).map(({ audit_id }) => audit_id)).toEqual([3]);
    expect(await store().auditAfter(3, 9)).toEqual([]);
  });
}

function atomicContract(store: () => Store, commit: CommitPart): void {
  const good: Partial<Commit> = {
    events: [sampleNew(1, 1)],
    runtimes: [sampleRuntime(1)],
    states: [sampleState(1, 1)],
    audit: [sampleAudit(1)],
    feed_version: 5,
  };
  const bad: Readonly<Record<string, Partial<Commit>>> = {
    'a time that is no number': { ...good, events: [sampleNew(2, 1), sampleNew(3, 1, { time: Number.NaN })] },
    'a rebinding of an event that never was': {
      ...good,
      rebindings: [{ event_id: 99, runtime_id: null, verdict: 'bind_expired' }],
    },
    'a version of the feed that goes back (FED2)': { ...good, feed_version: 4 },
  };

  for (const [what, part] of Object.entries(bad)) {
    it(`writes nothing of a commit with ${what}`, async () => {
      await commit(good);
      const before = await contentOf(store());
      await expect(commit(part)).rejects.toThrow();
      expect(await contentOf(store())).toEqual(before);
      expect(await commit({ events: [sampleNew(4, 1)], feed_version: 6 })).toEqual([2]);
    });
  }
}

function registerContract(store: () => Store): void {
  it('IDN1 keeps targets, each once', async () => {
    await store().putTarget(sampleTarget('vm1', { last_seen_at: null, health: 'down' }));
    await store().putTarget(sampleTarget('host'));
    await store().putTarget(sampleTarget('vm1'));
    expect(await store().targets()).toEqual([sampleTarget('host'), sampleTarget('vm1')]);
    await store().removeTarget(targetId('vm1'));
    await store().removeTarget(targetId('never'));
    expect(await store().targets()).toEqual([sampleTarget('host')]);
  });

  it('ACT1 LOG4 keeps snapshots until they are too old or too many, the newest longest', async () => {
    for (let number = 1; number <= 2_000; number += 1) await store().putSnapshot(sampleSnapshot(number));
    expect(await store().snapshot(snapshotId('snap_2'))).toEqual(sampleSnapshot(2));
    expect(await store().prune({ ...keepAll, before: sampleTime + 3 })).toMatchObject({ snapshots: 2, events: 0 });
    expect(await store().snapshot(snapshotId('snap_2'))).toBeNull();
    expect(await store().snapshot(snapshotId('snap_3'))).toEqual(sampleSnapshot(3));
    expect(await store().prune({ ...keepAll, snapshotsMax: 10 })).toMatchObject({ snapshots: 1_988 });
    expect(await store().snapshot(snapshotId('snap_1990'))).toBeNull();
    expect(await store().snapshot(snapshotId('snap_1991'))).toEqual(sampleSnapshot(1_991));
    expect(await store().prune({ ...keepAll, snapshotsMax: 10 })).toMatchObject({ snapshots: 0 });
  });

  it('keeps what adapters can do', async () => {
    const adapter = {
      adapter: 'claude',
      agent: agentName('claude'),
      version: '1',
      capabilities: { hooks: true, asks: false },
      enabled: true,
      updated_at: sampleTime,
    };
    await store().putAdapter(adapter);
    await store().putAdapter({ ...adapter, enabled: false });
    expect(await store().adapters()).toEqual([{ ...adapter, enabled: false }]);
  });

  it('LOG8 keeps documents by kind and id, in the order of their numbers, and changes them all at once', async () => {
    const [one, two] = [sampleDocument(2, { id: 'a' }), sampleDocument(1, { id: 'b' })];
    const name = sampleDocument(3, { kind: 'name', id: 'a', body: JSON.stringify('half \ud83d, zero \u0000') });
    await store().putDocuments({ put: [one, two, name], remove: [] });
    expect(await store().documents(['message'])).toEqual([two, one]);
    expect(await store().documents(['name', 'message', 'hops'])).toEqual([name, two, one]);
    await store().putDocuments({ put: [{ ...one, body: '{}' }], remove: [two, { kind: 'name', id: 'never' }] });
    await store().putDocuments({ put: [], remove: [] });
    expect(await store().documents(['message', 'name'])).toEqual([{ ...one, body: '{}' }, name]);
    // They are no facts about agents: no retention drops them.
    await store().prune({ ...keepAll, before: sampleTime * 2, bytesMax: 0 });
    expect(await store().documents(['message', 'name'])).toHaveLength(2);
  });
}

function pruneContract(store: () => Store, commit: CommitPart): void {
  it('LOG1 keeps where a runtime was last seen for as long as the runtime is on record', async () => {
    await commit({ runtimes: [sampleRuntime(1, 100), sampleRuntime(2)] });
    await store().putPlaces([samplePlace(1), samplePlace(2), samplePlace(3)]);
    expect(await store().places()).toEqual([samplePlace(1), samplePlace(2)]);
    const moved = { ...samplePlace(2), window_name: 'half \ud83d, zero \u0000', closed_at: 7 };
    await store().putPlaces([moved]);
    expect((await store().places()).map(({ closed_at }) => closed_at)).toEqual([null, 7]);
    await store().putPlaces([]);
    await store().prune({ ...keepAll, before: 200 });
    expect((await store().places()).map(({ runtime_id }) => runtime_id)).toEqual([samplePlace(2).runtime_id]);
  });

  const ids = async () => (await replayed(store())).map((row) => row.event_id);

  it('drops runtimes whole that ended before the bound, and nothing of others', async () => {
    await commit({
      events: [sampleNew(1, 1), sampleNew(2, 2), sampleNew(3, 1), sampleNew(4, 3)],
      runtimes: [sampleRuntime(1, 100), sampleRuntime(2, 200), sampleRuntime(3)],
      states: [sampleState(1, 1), sampleState(2, 1), sampleState(3, 1)],
    });
    const report = await store().prune({ ...keepAll, before: 200 });
    expect(report).toMatchObject({ events: 2, runtimes: 1, audit: 0 });
    expect(await ids()).toEqual([4, 2]);
    expect(await store().runtimes()).toEqual([sampleRuntime(2, 200), sampleRuntime(3)]);
    expect(await store().states()).toEqual([sampleState(2, 1), sampleState(3, 1)]);
    expect(await store().known([identity('toolu_1'), identity('toolu_2')])).toMatchObject([{ event_id: 2 }]);
  });

  it('drops old events without a runtime, and old events of a runtime that is not on record', async () => {
    await commit({
      events: [
        sampleNew(1, null, { ingested_at: 50 }),
        sampleNew(2, null, { ingested_at: 150 }),
        sampleNew(3, 9, { ingested_at: 50 }),
        sampleNew(4, 9, { ingested_at: 150 }),
        sampleNew(5, 1, { ingested_at: 50 }),
      ],
      runtimes: [sampleRuntime(1)],
    });
    expect(await store().prune({ ...keepAll, before: 100 })).toMatchObject({ events: 2, runtimes: 0 });
    expect(await ids()).toEqual([5, 4, 2]);
  });

  it('passes over a rebinding of an event that was dropped', async () => {
    await commit({ events: [sampleNew(1, null, { ingested_at: 50 })] });
    await store().prune({ ...keepAll, before: 100 });
    await commit({ rebindings: [{ event_id: 1, runtime_id: sampleRuntimeId(1), verdict: 'joined' }] });
    expect(await ids()).toEqual([]);
  });

  it('replaces the older events of a living runtime by their base', async () => {
    const base = sampleNew(9, 1, { source: 'retention', fact: { kind: 'runtime.base', fold: '{"asked":[]}' } });
    await commit({ events: [1, 2, 3, 4].map((number) => sampleNew(number, 1)), runtimes: [sampleRuntime(1)] });
    await commit({ events: [sampleNew(5, 2)], runtimes: [sampleRuntime(2)] });
    const compact = {
      runtimes: [sampleRuntimeId(1), sampleRuntimeId(2)],
      before: Number.MAX_VALUE,
      dueBefore: Number.MAX_VALUE,
      baseOf: (runtime: RuntimeId) => ({ upTo: 3, base: runtime === sampleRuntimeId(1) ? base : sampleNew(10, 2) }),
    };
    expect(await store().prune({ ...keepAll, compact })).toMatchObject({ events: 3, runtimes: 0 });
    expect((await replayed(store())).map(storedOf)).toEqual([
      { ...base, event_id: 6 },
      { ...sampleNew(5, 2), event_id: 5 },
      { ...sampleNew(4, 1), event_id: 4 },
    ]);
    expect(await store().known([{ ...identity('toolu_9'), source: 'retention' }])).toMatchObject([{ event_id: 6 }]);
  });

  it('LOG4 replaces only what is old of a runtime that goes on, and waits until that is due', async () => {
    const base = sampleNew(99, 1, { source: 'retention', fact: { kind: 'runtime.base', fold: '{"asked":[]}' } });
    const many = Array.from({ length: 250 }, (_, index) => sampleNew(index, 1, { ingested_at: 1_000 + index }));
    await commit({ events: many, runtimes: [sampleRuntime(1)] });
    const asked: RuntimeId[] = [];
    const compact = {
      runtimes: [sampleRuntimeId(1), sampleRuntimeId(2)],
      before: 1_200,
      dueBefore: 1_000,
      baseOf: (runtime: RuntimeId) => {
        asked.push(runtime);
        return { upTo: 240, base };
      },
    };
    expect(await store().prune({ ...keepAll, compact })).toMatchObject({ events: 0 });
    expect(asked).toEqual([]);
    expect(await store().prune({ ...keepAll, compact: { ...compact, dueBefore: 1_100 } })).toMatchObject({
      events: 200,
    });
    expect(asked).toEqual([sampleRuntimeId(1)]);
    expect((await ids()).length).toBe(51);
    expect((await ids())[0]).toBe(251);
  });

  it('LOG4 each step of pruning has a turn of its own, and who is dropped is told in it', async () => {
    const bulk = Array.from({ length: 300 }, (_, index) => sampleNew(index, 1));
    await commit({ events: bulk, runtimes: [sampleRuntime(1, 50)] });
    const dropped: RuntimeId[] = [];
    let turns = 0;
    const report = await store().prune(
      { ...keepAll, before: 100, onDropped: (runtime) => dropped.push(runtime) },
      async (step) => {
        turns += 1;
        return step();
      },
    );
    expect(report).toMatchObject({ events: 300, runtimes: 1 });
    expect(dropped).toEqual([sampleRuntimeId(1)]);
    expect(turns).toBeGreaterThan(0);
  });

  it('over its size drops the runtimes that ended first, then strays, never what lives', async () => {
    const bulk = (runtime: number | null, from: number) =>
      Array.from({ length: 200 }, (_, index) => sampleNew(from + index, runtime));
    await commit({ events: bulk(1, 1), runtimes: [sampleRuntime(1, 300)] });
    await commit({ events: bulk(2, 1_000), runtimes: [sampleRuntime(2, 200)] });
    await commit({ events: bulk(3, 2_000), runtimes: [sampleRuntime(3)] });
    await commit({ events: bulk(null, 3_000) });
    const { bytes } = await store().prune({ ...keepAll, bytesMax: 0 });
    expect(bytes).toBeGreaterThan(100_000);
    expect(await store().runtimes()).toEqual([sampleRuntime(3)]);
    expect(await ids()).toHaveLength(200);
  });

  it('over its size drops no more than it must', async () => {
    const bulk = (runtime: number, from: number) =>
      Array.from({ length: 500 }, (_, index) => sampleNew(from + index, runtime));
    await commit({ events: bulk(1, 1), runtimes: [sampleRuntime(1, 300)] });
    await commit({ events: bulk(2, 1_000), runtimes: [sampleRuntime(2, 200)] });
    const { bytes: runtime2Bytes } = await store().prune({ ...keepAll, before: 250 });
    await commit({ events: bulk(4, 2_000), runtimes: [sampleRuntime(4, 100)] });
    const total = await store().prune({ ...keepAll });
    expect(total).toMatchObject({ events: 0, bytes: 0 });
    // Room for about one and a half of the two that are left.
    await store().prune({ ...keepAll, bytesMax: Math.floor(runtime2Bytes * 1.7) });
    expect(await store().runtimes()).toEqual([sampleRuntime(1, 300)]);
  });

  it('drops old audit rows', async () => {
    await commit({ audit: [sampleAudit(1), sampleAudit(2), sampleAudit(3)] });
    expect(await store().prune({ ...keepAll, auditBefore: sampleTime + 3 })).toMatchObject({ audit: 2, events: 0 });
    expect(await store().audit(9)).toEqual([sampleAudit(3)]);
  });

  it('is whole after pruning among many commits', async () => {
    const world = new SampleWorld(11, 12);
    for (let round = 0; round < 10; round++) await store().commit(world.next(40));
    await store().commit({
      ...world.next(1),
      runtimes: [1, 2, 3].map((number) => sampleRuntime(number, 100 + number)),
    });
    await store().prune({ ...keepAll, before: 103 });
    const content = await contentOf(store());
    expect(content.runtimes).toHaveLength(10);
    await store().commit(world.next(40));
    expect((await store().replay(() => {})).events).toBe((await ids()).length);
  });
}

function closeContract(store: () => Store): void {
  it('can be closed twice and refuses everything afterwards', async () => {
    await store().close();
    await store().close();
    const closed = expect.objectContaining({ code: 'E_STORE_IO' });
    await expect(store().commit(emptyCommit)).rejects.toEqual(closed);
    await expect(store().replay(() => {})).rejects.toEqual(closed);
    await expect(store().known([identity('x')])).rejects.toEqual(closed);
    await expect(store().states()).rejects.toEqual(closed);
    await expect(store().putTarget(sampleTarget('host'))).rejects.toEqual(closed);
    await expect(store().prune(keepAll)).rejects.toEqual(closed);
  });
}
