// The store as files: who may see them, what is left after a restart, how one process keeps others out, and what the user's
// terminal is spared.
import { execFile } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, it } from 'vitest';
import { targetId } from '../model/ids.ts';
import { createRealRandom } from '../platform/random.ts';
import { Ballast } from './ballast.ts';
import { isSqliteWarning, openDatabase } from './node-sqlite.ts';
import { encodeEvent, identityHash, seal } from './row.ts';
import {
  contentOf,
  emptyCommit,
  SampleWorld,
  sampleNew,
  samplePlace,
  sampleRuntime,
  sampleTarget,
  sampleTime,
} from './samples.contract.ts';
import { openSqliteStore, type SqliteStore } from './sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'agtmux-store-files-'));
let count = 0;
afterAll(() => rmSync(root, { recursive: true, force: true }));

function newDir(): string {
  count += 1;
  return join(root, String(count), 'state');
}

const open = (dir: string, ballastBytes = 4_096): Promise<SqliteStore> =>
  openSqliteStore({ dir, now: () => sampleTime, ballastBytes });

/** Node before 22.18 runs TypeScript only when asked to. */
const typeFlags = process.features.typescript ? [] : ['--experimental-strip-types'];

const withCode = (code: string) => expect.objectContaining({ code });

describe('what pruning writes', () => {
  const atOnce = 10;
  const each = 100;
  const order = { before: 200, auditBefore: 0, snapshotsMax: 100, bytesMax: Number.MAX_SAFE_INTEGER };

  /** Agents that worked side by side, so that their events stand among each other, and have all ended. */
  async function worked(dir: string): Promise<SqliteStore> {
    const store = await open(dir);
    const runtimes = Array.from({ length: atOnce }, (_, index) => index + 1);
    for (let turn = 0; turn < each; turn += 1) {
      const events = runtimes.map((runtime) => sampleNew(turn * atOnce + runtime, runtime, { ingested_at: 50 }));
      await store.commit({ ...emptyCommit, events });
    }
    await store.commit({ ...emptyCommit, runtimes: runtimes.map((runtime) => sampleRuntime(runtime, 100)) });
    return store;
  }

  it('LOG4 goes through the log in its order, and touches no page once for each agent', async () => {
    const dir = newDir();
    await (await worked(dir)).close();
    const store = await open(dir);
    let bytes = 0;
    const report = await store.prune(order, async (step) => {
      const result = step();
      bytes = Math.max(bytes, statSync(join(dir, 'agtmux.db-wal')).size);
      return result;
    });
    expect(report).toMatchObject({ events: atOnce * each, runtimes: atOnce });
    // About a hundred pages hold the events. It is 1.2 MB; agent by agent each of them is written ten times, 2.8 MB.
    expect(bytes).toBeLessThan(2_000_000);
    await store.close();
  });

  it('LOG1 LOG4 what pruning did may be lost with the power, and the log is whole all the same', async () => {
    const [dir, lost] = [newDir(), newDir()];
    const store = await worked(dir);
    mkdirSync(lost, { recursive: true, mode: 0o700 });
    // What is on disk for sure.
    for (const name of ['agtmux.db', 'agtmux.db-wal']) copyFileSync(join(dir, name), join(lost, name));
    const before = await contentOf(store);
    await store.prune(order);
    // Written without a sync as well, but nobody knows which of two files makes it.
    copyFileSync(join(dir, 'agtmux.head'), join(lost, 'agtmux.head'));
    await store.close();
    const after = await open(lost);
    expect(await contentOf(after)).toEqual(before);
    await after.close();
  });
});

describe('files of a store', () => {
  it('SEC1 the directory is 0700 and every file in it 0600, whatever the umask', async () => {
    const dir = newDir();
    const umask = process.umask(0);
    try {
      const store = await open(dir);
      await store.commit({ ...emptyCommit, events: [sampleNew(1, 1)] });
      expect(statSync(dir).mode & 0o777).toBe(0o700);
      const names = readdirSync(dir).sort();
      expect(names).toEqual(['agtmux.ballast', 'agtmux.db', 'agtmux.db-wal', 'agtmux.head', 'agtmux.lock']);
      for (const name of names) expect(statSync(join(dir, name)).mode & 0o777, name).toBe(0o600);
      await store.close();
    } finally {
      process.umask(umask);
    }
  });

  it('SEC1 a directory that others can use is refused', async () => {
    const dir = newDir();
    mkdirSync(dir, { recursive: true });
    for (const mode of [0o755, 0o750, 0o701, 0o770, 0o777]) {
      chmodSync(dir, mode);
      await expect(open(dir), mode.toString(8)).rejects.toEqual(withCode('E_UNSAFE_DIR'));
    }
    expect(readdirSync(dir)).toEqual([]);
  });

  it('SEC1 a directory or a file that is a link is refused', async () => {
    const real = newDir();
    mkdirSync(real, { recursive: true, mode: 0o700 });
    const link = `${real}-link`;
    symlinkSync(real, link);
    await expect(open(link)).rejects.toEqual(withCode('E_UNSAFE_DIR'));
    const elsewhere = join(root, 'elsewhere');
    writeFileSync(elsewhere, '');
    symlinkSync(elsewhere, join(real, 'agtmux.db'));
    await expect(open(real)).rejects.toEqual(withCode('E_UNSAFE_DIR'));
    expect(statSync(elsewhere).size).toBe(0);
    rmSync(join(real, 'agtmux.db'));
    await (await open(real)).close();
  });

  it('holds everything after it was closed and opened again', async () => {
    const dir = newDir();
    const world = new SampleWorld(3, 8);
    const store = await open(dir);
    for (let round = 0; round < 5; round++) await store.commit(world.next(30));
    await store.putTarget(sampleTarget('host'));
    await store.putPlaces([samplePlace(1)]);
    const content = await contentOf(store);
    await store.close();
    const again = await open(dir);
    expect(await contentOf(again)).toEqual(content);
    expect(await again.known([{ target: targetId('host'), source: 'process', dedupe_key: 'toolu_1' }])).toHaveLength(1);
    await again.close();
  });

  it('DED1 known answers without a replay in this process', async () => {
    const dir = newDir();
    const store = await open(dir);
    await store.commit({ ...emptyCommit, events: [sampleNew(1, 1), sampleNew(2, 1)] });
    await store.close();
    const again = await open(dir);
    const identity = { target: targetId('host'), source: 'hook' as const, dedupe_key: 'toolu_2' };
    expect(await again.known([identity])).toMatchObject([{ event_id: 2 }]);
    await again.close();
  });

  it('DED1 another event with the same hash is not taken for a copy', async () => {
    const dir = newDir();
    const store = await open(dir);
    await store.commit({ ...emptyCommit, events: [sampleNew(1, 1)] });
    await store.close();
    const asked = { target: targetId('host'), source: 'hook' as const, dedupe_key: 'toolu_1' };
    const others = [sampleNew(2, 1), sampleNew(1, 1, { source: 'notify' })];
    const database = openDatabase(join(dir, 'agtmux.db'));
    for (const [index, other] of others.entries()) {
      const values = encodeEvent(other).with(12, identityHash(asked));
      seal(values, 100 + index);
      database.prepare(`INSERT INTO events VALUES (${values.map(() => '?').join(', ')})`).run(...values);
    }
    database.close();
    const again = await open(dir);
    expect(await again.known([asked])).toMatchObject([{ event_id: 1 }]);
    await again.close();
  });

  it('a second store of the same directory is refused at once, and only while the first is open', async () => {
    const dir = newDir();
    const store = await open(dir);
    await expect(open(dir)).rejects.toEqual(withCode('E_STORE_LOCKED'));
    await store.commit({ ...emptyCommit, events: [sampleNew(1, 1)] });
    await store.close();
    const again = await open(dir);
    expect((await again.replay(() => {})).events).toBe(1);
    await again.close();
  });

  it('the lock outlives a store that nobody holds any more: only closing or the end of the process frees it', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    const dir = newDir();
    await open(dir);
    for (let round = 0; round < 5; round++) {
      collectGarbage();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect(open(dir)).rejects.toEqual(withCode('E_STORE_LOCKED'));
  });

  it('garbage in the lock file does not lock anyone out', async () => {
    const dir = newDir();
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeFileSync(join(dir, 'agtmux.lock'), 'not a database, but longer than a header of one hundred bytes'.repeat(40));
    const store = await open(dir);
    await expect(open(dir)).rejects.toEqual(withCode('E_STORE_LOCKED'));
    await store.close();
  });

  it('a failed opening leaves the directory free', async () => {
    const dir = newDir();
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    mkdirSync(join(dir, 'agtmux.db'));
    await expect(open(dir)).rejects.toEqual(withCode('E_UNSAFE_DIR'));
    rmSync(join(dir, 'agtmux.db'), { recursive: true });
    await (await open(dir)).close();
  });
});

describe('ballast', () => {
  it('is real bytes, is given up and comes back', async () => {
    const dir = newDir();
    const store = await open(dir, 3_000_000);
    const path = join(dir, 'agtmux.ballast');
    const allocated = () => statSync(path).blocks * 512;
    expect(statSync(path).size).toBe(3_000_000);
    expect(allocated()).toBeGreaterThanOrEqual(3_000_000);
    expect(store.freeBallast()).toBe(3_000_000);
    expect(existsSync(path)).toBe(false);
    expect(store.freeBallast()).toBe(0);
    expect(store.restoreBallast()).toBe(true);
    expect(allocated()).toBeGreaterThanOrEqual(3_000_000);
    await store.close();
  });

  it('does not take the last space there is', () => {
    const dir = newDir();
    mkdirSync(dir, { recursive: true });
    const path = join(dir, 'ballast');
    const withRoom = (room: number) => new Ballast(path, 10_000, createRealRandom(), () => room);
    expect(withRoom(19_999).restore()).toBe(false);
    expect(readdirSync(dir)).toEqual([]);
    expect(withRoom(20_000).restore()).toBe(true);
    expect(withRoom(0).restore()).toBe(true);
  });

  it('leaves no half behind when it cannot be written', () => {
    const ballast = new Ballast(join(newDir(), 'ballast'), 10_000, createRealRandom(), () => 1e9);
    expect(ballast.restore()).toBe(false);
    expect(ballast.held()).toBe(0);
  });
});

describe('the warning of node:sqlite', () => {
  it('is the only one that is filtered', () => {
    const words = 'SQLite is an experimental feature and might change at any time';
    expect(isSqliteWarning(words, 'ExperimentalWarning')).toBe(true);
    expect(isSqliteWarning(words, 'DeprecationWarning')).toBe(false);
    expect(isSqliteWarning('Type Stripping is an experimental feature', 'ExperimentalWarning')).toBe(false);
    expect(isSqliteWarning(new Error(words), undefined)).toBe(false);
  });

  it('does not reach the terminal, while others do', async () => {
    const module = join(import.meta.dirname, 'node-sqlite.ts');
    const script = `await import(${JSON.stringify(module)}); process.emitWarning('something else');`;
    const { stderr } = await promisify(execFile)(process.execPath, [...typeFlags, '--input-type=module', '-e', script]);
    expect(stderr).not.toContain('SQLite');
    expect(stderr).toContain('something else');
  });
});
