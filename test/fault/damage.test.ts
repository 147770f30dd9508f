// Damage of any kind is either without effect or noticed; then the log is set aside and nothing in it is believed.
// COUNT repeats it, 15 times by default.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { storePaths } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/node-sqlite.ts';
import { loadStore } from '../../src/store/recover.ts';
import {
  contentOf,
  emptyCommit,
  SampleWorld,
  sampleAudit,
  sampleNew,
  sampleTarget,
  sampleTime,
  seeded,
} from '../../src/store/samples.contract.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { ReplayRow, Store } from '../../src/store/store.ts';
import { endChildren, repetitions, startChild } from './children.ts';
import { damage } from './damage.ts';
import { copyStore, Truth, wholeOf } from './truth.ts';

const root = mkdtempSync(join(tmpdir(), 'agtmux-damage-'));
afterEach(endChildren);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const seed = Number(process.env.SEED ?? 21);
const commits = 90;
/** Every step when asked for many, every other one otherwise. */
const stride = process.env.COUNT === undefined ? 2 : 1;
const pristine = join(root, 'pristine');
const older = { database: join(root, 'older.db'), wal: join(root, 'older.db-wal') };
const truth = new Truth(seed);

/** As a daemon that was killed leaves it: part of the content in the database, part in the write-ahead log only. */
beforeAll(async () => {
  for (const upTo of [commits - 37, commits]) {
    const writer = startChild('writer.ts', [pristine, String(seed), String(upTo)]);
    const found = upTo === commits ? commits - 37 : 0;
    await writer.linesReached(1 + upTo - found);
    await writer.kill();
    if (upTo !== commits) {
      copyFileSync(storePaths(pristine).database, older.database);
      copyFileSync(storePaths(pristine).wal, older.wal);
    }
  }
  await truth.growTo(commits);
});

const load = async (dir: string) => {
  let rows: ReplayRow[] = [];
  const visitor = () => {
    rows = [];
    return (row: ReplayRow) => rows.push(row);
  };
  const loaded = await loadStore({ dir, now: () => sampleTime, ballastBytes: 0, visitor });
  return { ...loaded, rows };
};

describe('LOG2 damage', () => {
  it('none: the files of a killed daemon load as the truth', async () => {
    const dir = join(root, 'none');
    copyStore(pristine, dir);
    const { store, rebuilt } = await load(dir);
    expect(rebuilt).toBe(false);
    expect(await wholeOf(store)).toEqual(await truth.content());
    await store.close();
  });

  it('is without effect, or the log is set aside and every state unknown', async () => {
    const whole = await truth.content();
    const random = seeded(seed);
    const outcomes = { sound: 0, rebuilt: 0 };
    for (let round = 0; round < repetitions(15); round++) {
      const dir = join(root, `round-${round}`);
      copyStore(pristine, dir);
      const what = `seed ${seed}, round ${round}: ${damage(dir, older, random)}`;
      const { store, rebuilt, setAside, rows } = await load(dir).catch((error: unknown) => {
        throw new Error(what, { cause: error });
      });
      outcomes[rebuilt ? 'rebuilt' : 'sound'] += 1;
      if (rebuilt) {
        expect(setAside !== null && existsSync(setAside), what).toBe(true);
        await expectNothingBelieved(store, rows, what);
      } else expect(await wholeOf(store), what).toEqual(whole);
      await expectUsable(store, what);
      rmSync(dir, { recursive: true });
    }
    // Only a run that saw both has shown anything.
    expect(outcomes.sound).toBeGreaterThan(0);
    expect(outcomes.rebuilt).toBeGreaterThan(0);
  });

  it('of the lock file or the ballast harms nothing', async () => {
    const dir = join(root, 'beside');
    copyStore(pristine, dir);
    mkdirSync(join(dir, 'agtmux.db.damaged-x'));
    copyFileSync(storePaths(dir).database, storePaths(dir).lock);
    rmSync(storePaths(dir).ballast);
    const { store, rebuilt } = await load(dir);
    expect(rebuilt).toBe(false);
    await store.close();
  });
});

async function expectNothingBelieved(store: Store, rows: readonly ReplayRow[], what: string): Promise<void> {
  for (const state of await store.states()) {
    expect(state, what).toMatchObject({ state: 'unknown', reason: 'rebuilt', confidence: 'low' });
  }
  for (const row of rows) expect(['runtime.started', 'runtime.ended'], what).toContain(row.kind);
}

/** It takes commits, and holds them after it was closed. */
async function expectUsable(store: Store & { close(): Promise<void> }, what: string): Promise<void> {
  const { events, feed_version } = await store.replay(() => {});
  await store.commit({ ...emptyCommit, events: [sampleNew(1_000_000, 1)], feed_version });
  expect((await store.replay(() => {})).events, what).toBe(events + 1);
  await store.close();
}

describe('LOG2a replacing a damaged log', () => {
  const whole = join(root, 'whole');
  let known: Record<string, unknown>;

  beforeAll(async () => {
    const store = await openSqliteStore({ dir: whole, now: () => sampleTime, ballastBytes: 0 });
    const world = new SampleWorld(seed, 6);
    for (let commit = 0; commit < 3; commit++) await store.commit(world.next(40));
    const { feed_version } = await store.replay(() => {});
    await store.commit({ ...emptyCommit, audit: [sampleAudit(1), sampleAudit(2)], feed_version });
    await store.putTarget(sampleTarget('host'));
    known = await contentOf(store);
    await store.close();
    const database = openDatabase(storePaths(whole).database);
    database.exec('DELETE FROM events WHERE event_id = (SELECT max(event_id) FROM events WHERE kind = 6)');
    database.close();
  });

  for (const [way, harm, words] of [
    ['start', 'kill', 'killed at any step of it at its start'],
    ['running', 'kill', 'killed at any step of it while it runs'],
    ['running', 'fail', 'tried again after any step of it failed'],
  ] as const) {
    it(`${words}: nothing that can be known is lost, nothing is there twice`, async () => {
      let steps = 1;
      for (let at = 1; at <= steps; at += stride) {
        const dir = join(root, `${way}-${harm}-${at}`);
        copyStore(whole, dir);
        const child = startChild('replacer.ts', [dir, way, harm, String(at)]);
        await child.ended();
        steps = Math.max(steps, Number(/^done (\d+)$/.exec(child.lines[0] ?? '')?.[1] ?? at + stride));
        const { store } = await load(dir);
        const { states, ...found } = (await contentOf(store)) as { states: { state: string }[] };
        const { runtimes, audit, targets } = known;
        expect(found, `step ${at}`).toMatchObject({ runtimes, audit, targets });
        const isRebuilt = states.every(({ state }) => state === 'unknown');
        if (way === 'start' || isRebuilt) expect([way, isRebuilt, states.length]).toEqual([way, true, 6]);
        else expect(states, `step ${at}`).toEqual(known.states);
        await store.close();
        const names = readdirSync(dir).filter((name) => /\.new|-wal$|-head$/.test(name));
        expect(names.filter((name) => !existsSync(join(dir, name.replace(/-\w+$/, ''))))).toEqual([]);
        rmSync(dir, { recursive: true });
      }
      expect(steps).toBeGreaterThan(4);
    });
  }
});
