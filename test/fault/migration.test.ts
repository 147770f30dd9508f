// Kill -9 at every point of a migration leaves the old schema or the new one, never something between.
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { storePaths } from '../../src/store/database.ts';
import { encodeMark, readMark } from '../../src/store/head-file.ts';
import { backupPath, migrations } from '../../src/store/migrations.ts';
import { openDatabase } from '../../src/store/node-sqlite.ts';
import { SampleWorld, sampleTime } from '../../src/store/samples.contract.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { endChildren, fileAppears, startChild } from './children.ts';
import { copyStore, eventsPerCommit, runtimeCount, Truth, wholeOf } from './truth.ts';

const root = mkdtempSync(join(tmpdir(), 'agtmux-migration-'));
afterEach(endChildren);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const seed = 31;
const commits = 60;
const old = join(root, 'old');
const truth = new Truth(seed);

beforeAll(async () => {
  const world = new SampleWorld(seed, runtimeCount);
  const store = await openSqliteStore({ dir: old, now: () => sampleTime, ballastBytes: 0 });
  for (let commit = 0; commit < commits; commit++) await store.commit(world.next(eventsPerCommit));
  await store.close();
  await truth.growTo(commits);
});

function newDir(name: string): string {
  const dir = join(root, name);
  copyStore(old, dir);
  return dir;
}

/** Goes through the migration undisturbed. */
async function finish(dir: string): Promise<void> {
  const child = startChild('migrator.ts', [dir, 'none']);
  await child.linesReached(1);
  expect(child.lines[0]).toBe('open');
  await child.kill();
}

/** The schema version, after SQLite has recovered the file by itself. */
function versionOf(dir: string): unknown {
  const database = openDatabase(storePaths(dir).database);
  try {
    const tables = database.prepare("SELECT count(*) AS count FROM sqlite_schema WHERE name = 'later'").get();
    const columns = database
      .prepare("SELECT count(*) AS count FROM pragma_table_info('events') WHERE name = 'origin'")
      .get();
    return { ...database.prepare('PRAGMA user_version').get(), later: tables?.count, origin: columns?.count };
  } finally {
    database.close();
  }
}

const before = { user_version: migrations.length, later: 0, origin: 0 };
const after = { user_version: migrations.length + 2, later: 1, origin: 1 };

describe('kill -9 during a migration', () => {
  for (const point of ['first', 'second', 'last']) {
    it(`at the ${point} point leaves the old schema, whole, and a copy beside it`, async () => {
      const dir = newDir(point);
      const child = startChild('migrator.ts', [dir, point]);
      await child.linesReached(1);
      expect(child.lines).toEqual([`at ${point}`]);
      await child.kill();
      expect(existsSync(backupPath(storePaths(dir).database, migrations.length))).toBe(true);
      expect(versionOf(dir)).toEqual(before);
      const store = await openSqliteStore({ dir, now: () => sampleTime, ballastBytes: 0 });
      expect(await wholeOf(store)).toEqual(await truth.content());
      await store.close();
      await finish(dir);
      expect(versionOf(dir)).toEqual(after);
    });
  }

  it('after it leaves the new schema, and the copy is a store of the old one', async () => {
    const dir = newDir('done');
    await finish(dir);
    expect(versionOf(dir)).toEqual(after);
    // Put back as a person would: over the new file, beside a mark that knows of later commits.
    const mark = readMark(storePaths(dir).head);
    if (mark === null) throw new Error('the store left no mark');
    writeFileSync(storePaths(dir).head, encodeMark({ ...mark, commits: mark.commits + 100 }));
    renameSync(backupPath(storePaths(dir).database, migrations.length), storePaths(dir).database);
    const store = await openSqliteStore({ dir, now: () => sampleTime, ballastBytes: 0 });
    expect(await wholeOf(store)).toEqual(await truth.content());
    await store.close();
  });

  it('in the middle of the copy leaves a part that the next start does not mistake for a copy', async () => {
    const dir = newDir('half');
    const backup = backupPath(storePaths(dir).database, migrations.length);
    writeFileSync(`${backup}.part`, readFileSync(storePaths(dir).database).subarray(0, 20_000));
    await finish(dir);
    expect(versionOf(dir)).toEqual(after);
    expect(existsSync(`${backup}.part`)).toBe(false);
    const database = openDatabase(backup);
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    database.close();
  });

  it('while the copy is being made leaves old or new, and no half copy that looks whole', async () => {
    const dir = newDir('copying');
    const backup = backupPath(storePaths(dir).database, migrations.length);
    const child = startChild('migrator.ts', [dir, 'none']);
    // The copy of a small store is made in a moment; seen half or whole, it is a moment worth a kill.
    await fileAppears(`${backup}.part`, backup);
    await child.kill();
    expect([before, after]).toContainEqual(versionOf(dir));
    if (existsSync(backup)) {
      const database = openDatabase(backup);
      expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
      database.close();
    }
    await finish(dir);
    expect(versionOf(dir)).toEqual(after);
    expect(readdirSync(dir).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});
