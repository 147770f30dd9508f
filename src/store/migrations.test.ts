import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { metaCrc, newHead } from './head.ts';
import { type Migration, migrate, migrations } from './migrations.ts';
import { openDatabase } from './node-sqlite.ts';
import { contentOf, emptyCommit, SampleWorld, samplePlace, sampleRuntime, sampleTime } from './samples.contract.ts';
import { openSqliteStore } from './sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'agtmux-migrations-'));
let count = 0;
afterAll(() => rmSync(root, { recursive: true, force: true }));

const next: Migration = {
  version: migrations.length + 1,
  words: 'a column and a table more',
  apply: (database) => database.exec('ALTER TABLE adapters ADD COLUMN homepage TEXT; CREATE TABLE later (a);'),
};
const failing: Migration = {
  version: next.version + 1,
  words: 'a step that cannot be done',
  apply: (database) => database.exec('ALTER TABLE nowhere ADD COLUMN a'),
};

const open = (dir: string, steps: readonly Migration[]) =>
  openSqliteStore({ dir, now: () => sampleTime, ballastBytes: 0, migrations: steps });

async function filled(): Promise<{ dir: string; content: unknown }> {
  count += 1;
  const dir = join(root, String(count));
  const world = new SampleWorld(5, 6);
  const store = await open(dir, migrations);
  for (let round = 0; round < 4; round++) await store.commit(world.next(25));
  const content = await contentOf(store);
  await store.close();
  return { dir, content };
}

function query(path: string, sql: string): unknown {
  const database = openDatabase(path);
  try {
    return database.prepare(sql).get();
  } finally {
    database.close();
  }
}

describe('LOG3 migrations', () => {
  it('are numbered from 1 without a gap', () => {
    expect(migrations.map((step) => step.version)).toEqual(migrations.map((_, index) => index + 1));
  });

  it('keep everything, and put a private copy of the file beside it first', async () => {
    const { dir, content } = await filled();
    const store = await open(dir, [...migrations, next]);
    expect(await contentOf(store)).toEqual(content);
    await store.close();
    const backup = join(dir, `agtmux.db.backup-${migrations.length}`);
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(query(backup, 'PRAGMA user_version')).toEqual({ user_version: migrations.length });
    expect(query(join(dir, 'agtmux.db'), 'PRAGMA user_version')).toEqual({ user_version: next.version });
  });

  it('of a log of version 1 drop its panes and find everything else as it was', async () => {
    count += 1;
    const dir = join(root, String(count));
    mkdirSync(dir, { mode: 0o700 });
    const path = join(dir, 'agtmux.db');
    const database = openDatabase(path);
    migrate(database, path, 0, migrations.slice(0, 1), 'abc');
    const head = newHead('abc');
    const digests = { ...head.digests, panes: { count: 1, sum: 5 } };
    const text = JSON.stringify({ ...head, digests });
    database.prepare("UPDATE meta SET value = ?, crc = ? WHERE name = 'head'").run(text, metaCrc('head', text));
    database.exec("INSERT INTO panes VALUES ('host', '%1', 'work', '@1', 'w', 1, 5)");
    database.close();
    chmodSync(path, 0o600);
    const store = await open(dir, migrations);
    await store.replay(() => undefined);
    await store.commit({ ...emptyCommit, runtimes: [sampleRuntime(1)] });
    await store.putPlaces([samplePlace(1)]);
    await store.close();
    expect(query(path, "SELECT count(*) AS tables FROM sqlite_schema WHERE name = 'panes'")).toEqual({ tables: 0 });
    const again = await open(dir, migrations);
    await again.replay(() => undefined);
    expect(await again.places()).toEqual([samplePlace(1)]);
    await again.close();
  });

  it('run once', async () => {
    const { dir } = await filled();
    await (await open(dir, [...migrations, next])).close();
    const again = await open(dir, [...migrations, next]);
    await again.close();
  });

  it('make no copy of a store that is new', async () => {
    count += 1;
    const dir = join(root, String(count));
    await (await open(dir, [...migrations, next])).close();
    expect(readdirSync(dir).filter((name) => name.includes('backup'))).toEqual([]);
  });

  it('that fail leave the old schema and its content', async () => {
    const { dir, content } = await filled();
    await expect(open(dir, [...migrations, next, failing])).rejects.toThrow();
    const store = await open(dir, migrations);
    expect(await contentOf(store)).toEqual(content);
    await store.close();
  });

  it('of a newer agtmux are refused by an older one, which changes nothing', async () => {
    const { dir, content } = await filled();
    await (await open(dir, [...migrations, next])).close();
    await expect(open(dir, migrations)).rejects.toEqual(expect.objectContaining({ code: 'E_STORE_NEWER' }));
    const store = await open(dir, [...migrations, next]);
    expect(await contentOf(store)).toEqual(content);
    await store.close();
  });

  it('take a version number that only the file header claims for damage', async () => {
    const { dir } = await filled();
    query(join(dir, 'agtmux.db'), 'PRAGMA user_version = 77');
    await expect(open(dir, migrations)).rejects.toEqual(expect.objectContaining({ code: 'E_STORE_DAMAGED' }));
  });

  it('keep the newest copy only', async () => {
    const { dir } = await filled();
    const third: Migration = {
      version: next.version + 1,
      words: 'one more',
      apply: (database) => database.exec('CREATE TABLE more (a)'),
    };
    await (await open(dir, [...migrations, next])).close();
    await (await open(dir, [...migrations, next, third])).close();
    expect(readdirSync(dir).filter((name) => name.includes('backup'))).toEqual([`agtmux.db.backup-${next.version}`]);
  });
});
