// A full disk. Reads go on, nothing is half written, and writes resume without a restart once space was made. COUNT
// repeats filling and freeing, 3 times by default.
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { MemoryStore } from '../../src/store/memory.ts';
import { loadStore } from '../../src/store/recover.ts';
import {
  contentOf,
  emptyCommit,
  sampleNew,
  sampleRuntime,
  sampleState,
  sampleTime,
} from '../../src/store/samples.contract.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite.ts';
import type { Commit, PruneOrder } from '../../src/store/store.ts';
import { repetitions } from './children.ts';
import { boundedFile, type SmallDisk, smallDisk } from './small-disk.ts';

const root = mkdtempSync(join(tmpdir(), 'agtmux-full-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const diskBytes = 14 * 1_048_576;
const ballastBytes = 2 * 1_048_576;
const order: PruneOrder = { before: 0, auditBefore: 0, snapshotsMax: 10, bytesMax: Number.MAX_SAFE_INTEGER };
const full = expect.objectContaining({ code: 'E_STORE_FULL' });

/** One runtime from start to end, as one commit. */
function life(number: number): Commit {
  const events = Array.from({ length: 150 }, (_, index) => sampleNew(number * 1_000 + index, number));
  const end = sampleNew(number * 1_000 + 999, number, { fact: { kind: 'runtime.ended', cause: 'exit', status: 0 } });
  return {
    ...emptyCommit,
    events: [...events, end],
    runtimes: [sampleRuntime(number, sampleTime + number)],
    states: [sampleState(number, number)],
  };
}

/** Commits lives until the disk is full; returns the one that did not fit. */
async function fill(store: SqliteStore, truth: MemoryStore, from: number): Promise<number> {
  for (let number = from; ; number++) {
    try {
      await store.commit(life(number));
    } catch (error) {
      expect(error).toEqual(full);
      return number;
    }
    await truth.commit(life(number));
  }
}

async function survive(disk: SmallDisk): Promise<void> {
  const options = { dir: disk.dir, now: () => sampleTime, ballastBytes, ...disk.options };
  const store = await openSqliteStore(options);
  const truth = new MemoryStore();
  let next = 1;
  for (let cycle = 0; cycle < repetitions(3); cycle++) {
    next = await fill(store, truth, next);
    // Nothing of the failed commit is there, and everything else can be read.
    expect(await contentOf(store)).toEqual(await contentOf(truth));
    await expect(store.commit(life(next))).rejects.toEqual(full);
    const report = await store.pruneWhenFull(order);
    expect(report.runtimes).toBeGreaterThan(0);
    expect(report.bytes).toBeGreaterThan(ballastBytes);
    await truth.prune({ ...order, before: await oldestKept(store) });
    expect(await contentOf(store)).toEqual(await contentOf(truth));
    expect(existsSync(join(disk.dir, 'agtmux.ballast'))).toBe(true);
    await store.commit(life(next));
    await truth.commit(life(next));
    next += 1;
  }
  await store.close();
  const loaded = await loadStore({ ...options, visitor: () => () => {} });
  expect(loaded.rebuilt).toBe(false);
  expect(await contentOf(loaded.store)).toEqual(await contentOf(truth));
  await loaded.store.close();
}

async function oldestKept(store: SqliteStore): Promise<number> {
  return Math.min(...(await store.runtimes()).map((record) => record.ended_at ?? Number.MAX_SAFE_INTEGER));
}

describe('a full disk', () => {
  it('is survived on a disk of its own', async () => {
    const disk = smallDisk(root, diskBytes);
    try {
      await survive(disk);
    } finally {
      disk.remove();
    }
  });

  it('is survived by a file that may not grow', async () => {
    await survive(boundedFile(join(root, 'second'), diskBytes - ballastBytes));
  });

  it('filled by others to the last byte is survived too: the ballast is all there is', async () => {
    const disk = smallDisk(root, diskBytes);
    try {
      const store = await openSqliteStore({ dir: disk.dir, now: () => sampleTime, ballastBytes, ...disk.options });
      const truth = new MemoryStore();
      for (let number = 1; number <= 40; number++) {
        await store.commit(life(number));
        await truth.commit(life(number));
      }
      if (disk.kind === 'tmpfs') fillUp(disk.dir);
      const next = await fill(store, truth, 41);
      expect(await contentOf(store)).toEqual(await contentOf(truth));
      await store.pruneWhenFull(order);
      await store.commit(life(next));
      expect((await store.states()).map((state) => state.state_version)).toContain(next);
      await store.close();
    } finally {
      disk.remove();
    }
  });
});

function fillUp(dir: string): void {
  const { bavail, bsize } = statfsSync(dir);
  writeFileSync(join(dir, 'filler'), Buffer.alloc(Number(bavail) * Number(bsize), 1));
}
