import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Fact } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import { documentKinds, type StoredEvent } from '../model/records.ts';
import { storePaths } from './database.ts';
import { openDatabase } from './node-sqlite.ts';
import { type LoadedStore, loadStore } from './recover.ts';
import {
  contentOf,
  emptyCommit,
  SampleWorld,
  sampleAudit,
  sampleDocument,
  sampleIdentity,
  sampleNew,
  sampleRuntime,
  sampleRuntimeId,
  sampleState,
  sampleTarget,
  sampleTime,
  storedOf,
} from './samples.contract.ts';
import { openSqliteStore } from './sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'agtmux-recover-'));
let count = 0;
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Loaded extends LoadedStore {
  readonly visited: readonly StoredEvent[];
  readonly visitors: number;
}

async function load(dir: string): Promise<Loaded> {
  let visited: StoredEvent[] = [];
  let visitors = 0;
  const loaded = await loadStore({
    dir,
    now: () => sampleTime + 86_400_000,
    ballastBytes: 0,
    visitor: () => {
      visitors += 1;
      visited = [];
      return (row) => visited.push(storedOf(row));
    },
  });
  return { ...loaded, visited, visitors };
}

async function filled(): Promise<{ dir: string; content: Record<string, unknown> }> {
  count += 1;
  const dir = join(root, String(count));
  const store = await openSqliteStore({ dir, now: () => sampleTime, ballastBytes: 0 });
  const world = new SampleWorld(count, 10);
  for (let round = 0; round < 6; round++) await store.commit(world.next(50));
  const ended: Fact = { kind: 'runtime.ended', cause: 'signal', signal: 'SIGKILL' };
  const { feed_version } = await store.replay(() => {});
  await store.commit({
    ...emptyCommit,
    events: [sampleNew(9_001, 2, { source: 'process', fact: ended })],
    runtimes: [sampleRuntime(2, sampleTime + 9_001)],
    audit: [sampleAudit(1)],
    feed_version,
  });
  await store.putTarget(sampleTarget('host'));
  const signedIn = sampleDocument(1, { kind: 'web_server', id: 'all' });
  await store.putDocuments({ put: [sampleDocument(1), sampleDocument(2, { kind: 'name' }), signedIn], remove: [] });
  const content = await contentOf(store);
  await store.close();
  return { dir, content };
}

function change(dir: string, sql: string): void {
  const database = openDatabase(storePaths(dir).database);
  database.exec(sql);
  database.close();
}

describe('LOG1 loading a sound store', () => {
  it('replays it once and reports nothing', async () => {
    const { dir, content } = await filled();
    const loaded = await load(dir);
    expect(loaded).toMatchObject({ rebuilt: false, setAside: null, damage: null, visitors: 1 });
    expect(loaded.visited).toEqual(content.events);
    expect(await contentOf(loaded.store)).toEqual(content);
    await loaded.store.close();
  });

  it('makes a new one where there is none', async () => {
    count += 1;
    const loaded = await load(join(root, String(count)));
    expect(loaded).toMatchObject({ rebuilt: false, setAside: null, events: 0, feed_version: 0 });
    await loaded.store.close();
  });

  it('an error of the visitor is no damage', async () => {
    const { dir, content } = await filled();
    const visitor = () => () => {
      throw new Error('broken invariant: of the engine');
    };
    await expect(loadStore({ dir, now: () => sampleTime, ballastBytes: 0, visitor })).rejects.toThrow('of the engine');
    const loaded = await load(dir);
    expect(loaded.visited).toEqual(content.events);
    await loaded.store.close();
  });
});

const pageBytes = 4_096;

/** The pages of one tree of the file, read as SQLite's file format lays them out: 2 and 5 are inner pages. */
function pagesOf(file: Buffer, root: number): { readonly leaf: number[]; readonly internal: number[] } {
  const found = { leaf: [] as number[], internal: [] as number[] };
  const visit = (number: number): void => {
    const page = file.subarray((number - 1) * pageBytes, number * pageBytes);
    if (page[0] !== 2 && page[0] !== 5) {
      found.leaf.push(number);
      return;
    }
    found.internal.push(number);
    for (let cell = 0; cell < page.readUInt16BE(3); cell++) visit(page.readUInt32BE(page.readUInt16BE(12 + 2 * cell)));
    visit(page.readUInt32BE(8));
  };
  visit(root);
  return found;
}

/** Changes a page in the middle of a table or index in the closed file, below SQLite. */
function changePage(dir: string, name: string, type: 'leaf' | 'internal', harm: (page: Buffer) => void): void {
  const path = storePaths(dir).database;
  const database = openDatabase(path);
  const root = Number(database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name)?.rootpage);
  database.close();
  const file = readFileSync(path);
  const found = pagesOf(file, root)[type];
  const number = found[Math.floor(found.length / 2)] ?? 0;
  harm(file.subarray((number - 1) * pageBytes, number * pageBytes));
  writeFileSync(path, file);
}

const someState = 'SELECT max(event_id) FROM events WHERE kind = 6';

/** What SQLite itself does not notice. */
const silent: Readonly<Record<string, string>> = {
  'an event with another state': `UPDATE events SET body = replace(body, 'running', 'waiting') WHERE event_id = (${someState})`,
  'an event of another runtime': `UPDATE events SET runtime_id = '${sampleRuntimeId(99)}' WHERE event_id = 40`,
  'an event that is gone': 'DELETE FROM events WHERE event_id = 40',
  'an event too much': `INSERT INTO events SELECT 5000, runtime_id, source, kind, verdict, key_major, key_minor, key_hash,
    event_time, ingested_at, target_id, dedupe_key, identity, body, crc FROM events WHERE event_id = 40`,
  'a state that was changed': "UPDATE states SET state = 'idle', reason_code = 'prompt_ready'",
  'a state that is gone': `DELETE FROM states WHERE runtime_id = '${sampleRuntimeId(1)}'`,
  'a message with other words': "UPDATE documents SET body = '{}' WHERE document_id = 'm1'",
  'an audit row that is gone': 'DELETE FROM audit',
  'a head that claims less': "UPDATE meta SET value = replace(value, 'commits', 'commitz') WHERE name = 'head'",
  'a schema that was edited': 'DROP INDEX runtimes_by_end',
};

describe('LOG2 loading a damaged store', () => {
  for (const [what, sql] of Object.entries(silent)) {
    it(`notices ${what}`, async () => {
      const { dir } = await filled();
      change(dir, sql);
      const loaded = await load(dir);
      expect(loaded.rebuilt).toBe(true);
      expect(new Set((await loaded.store.states()).map((state) => state.state))).toEqual(new Set(['unknown']));
      await loaded.store.close();
    });
  }

  it('LOG8 sets it aside, saves starts, ends, audit, targets and documents, and believes no state', async () => {
    const { dir, content } = await filled();
    change(dir, 'DELETE FROM events WHERE kind = 6 AND event_id > 100');
    const loaded = await load(dir);
    expect(loaded.setAside).toBe(join(dir, 'agtmux.db.damaged-20251116T094640Z'));
    expect(existsSync(loaded.setAside ?? '')).toBe(true);
    expect(loaded.damage).toContain('rows');
    const kinds = new Set(loaded.visited.map(({ event }) => event.fact.kind));
    expect(kinds).toEqual(new Set(['runtime.started', 'runtime.ended']));
    expect(await loaded.store.runtimes()).toEqual(content.runtimes);
    expect(await loaded.store.audit(9)).toEqual(content.audit);
    expect(await loaded.store.targets()).toEqual(content.targets);
    // LOG8: what people said is there again; nobody is signed in.
    const documents = [sampleDocument(1), sampleDocument(2, { kind: 'name' })];
    expect(await loaded.store.documents(documentKinds)).toEqual(documents);
    const states = await loaded.store.states();
    expect(states).toHaveLength(10);
    for (const state of states) {
      expect(state).toMatchObject({ state: 'unknown', reason: 'rebuilt', confidence: 'low', ask: null, asks_open: 0 });
    }
    expect(states.find((state) => state.runtime_id === sampleRuntimeId(2))?.ended).toMatchObject({ signal: 'SIGKILL' });
    await loaded.store.close();
    const again = await load(dir);
    expect(again.rebuilt).toBe(false);
    await again.store.close();
  });

  it('notices a state as it once was: sound in itself, but not the latest', async () => {
    const { dir } = await filled();
    const database = openDatabase(storePaths(dir).database);
    const row = database.prepare('SELECT * FROM states WHERE runtime_id = ?').get(sampleRuntimeId(1)) ?? {};
    database.close();
    const store = await openSqliteStore({ dir, now: () => sampleTime, ballastBytes: 0 });
    const { feed_version } = await store.replay(() => {});
    await store.commit({ ...emptyCommit, states: [sampleState(1, 5_000)], feed_version });
    await store.close();
    change(dir, `DELETE FROM states WHERE runtime_id = '${sampleRuntimeId(1)}'`);
    const again = openDatabase(storePaths(dir).database);
    const names = Object.keys(row);
    again
      .prepare(`INSERT INTO states (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
      .run(...Object.values(row));
    again.close();
    const loaded = await load(dir);
    expect(loaded.damage).toContain('states');
    await loaded.store.close();
  });

  it('throws away what was visited before the damage was found', async () => {
    const { dir } = await filled();
    change(dir, "UPDATE events SET body = '{}' WHERE event_id = 1");
    const loaded = await load(dir);
    expect(loaded.visitors).toBe(2);
    expect(loaded.visited.every(({ event }) => event.fact.kind.startsWith('runtime.'))).toBe(true);
    await loaded.store.close();
  });

  it('FED2 ACT1 versions go on above all that were ever used', async () => {
    const { dir, content } = await filled();
    const before = content.replayed as { feed_version: number };
    change(dir, 'DELETE FROM states');
    const loaded = await load(dir);
    expect(loaded.feed_version).toBeGreaterThan(before.feed_version);
    for (const state of await loaded.store.states()) expect(state.state_version).toBeGreaterThan(1e12);
    await loaded.store.close();
  });

  it('saves what it can from around an unreadable place', async () => {
    const { dir, content } = await filled();
    changePage(dir, 'events', 'leaf', (page) => page.fill(0xff));
    const loaded = await load(dir);
    expect(loaded.rebuilt).toBe(true);
    expect(await loaded.store.audit(99)).toEqual(content.audit);
    // The starts stand before the unreadable place, the end behind it.
    expect(await loaded.store.runtimes()).toEqual(content.runtimes);
    await loaded.store.close();
  });

  it('notices an index of runtimes that no longer fits the events', async () => {
    const { dir } = await filled();
    // Inside the index one entry gets the name of the next runtime; SQLite would believe it.
    changePage(dir, 'events_by_runtime', 'leaf', (page) => {
      const place = Math.max(...[1, 2, 3, 4, 5, 6, 7, 8].map((number) => page.lastIndexOf(sampleRuntimeId(number))));
      expect(place).toBeGreaterThan(0);
      const last = place + sampleRuntimeId(1).length - 1;
      page.writeUInt8(page.readUInt8(last) + 1, last);
    });
    const loaded = await load(dir);
    expect(loaded.damage).toContain('index of runtimes');
    await loaded.store.close();
  });

  // Inside a cell of this index: one byte of length, the header `04 08 06 ..` (generation 0, identity, id), then identity.
  const identityHarms: Readonly<Record<string, number>> = { 'low byte': 12, 'high byte': 7, generation: 2 };
  for (const [what, place] of Object.entries(identityHarms)) {
    it(`notices an index of identities that no longer fits the events: ${what}`, async () => {
      const { dir } = await filled();
      changePage(dir, 'events_by_identity', 'leaf', (page) => {
        // The last one: large identities take eight bytes, small ones fewer.
        const cell = page.readUInt16BE(8 + 2 * (page.readUInt16BE(3) - 1));
        expect(page.subarray(cell + 1, cell + 4).toString('hex')).toBe('040806');
        page.writeUInt8(page.readUInt8(cell + place) ^ 1, cell + place);
      });
      const loaded = await load(dir);
      expect(loaded.damage).toContain('index of identities');
      await loaded.store.close();
    });
  }

  it('notices a way through the tree that leads nowhere', async () => {
    const { dir } = await filled();
    changePage(dir, 'events', 'internal', (page) => {
      // The first cell of an inner page: four bytes of page number, then the largest id below it.
      const cell = page.readUInt16BE(12);
      page.writeUInt8(page.readUInt8(cell + 4) ^ 3, cell + 4);
    });
    const loaded = await load(dir);
    expect(loaded.rebuilt).toBe(true);
    await loaded.store.close();
  });

  const files: Readonly<Record<string, (dir: string) => void>> = {
    'a file that is gone': (dir) => rmSync(storePaths(dir).database),
    'a file that is empty': (dir) => truncateSync(storePaths(dir).database, 0),
    'a file that was cut': (dir) => truncateSync(storePaths(dir).database, 20_000),
    'a file of something else': (dir) => writeFileSync(storePaths(dir).database, 'hello '.repeat(10_000)),
    'an empty database in its place': (dir) => {
      rmSync(storePaths(dir).database);
      change(dir, 'CREATE TABLE passing (a); DROP TABLE passing;');
      chmodSync(storePaths(dir).database, 0o600);
    },
    'a file of zeros': (dir) => writeFileSync(storePaths(dir).database, Buffer.alloc(40_960)),
  };
  for (const [what, harm] of Object.entries(files)) {
    it(`notices ${what}`, async () => {
      const { dir } = await filled();
      harm(dir);
      const loaded = await load(dir);
      expect(loaded.rebuilt).toBe(true);
      expect(loaded.setAside === null).toBe(what === 'a file that is gone');
      expect((await loaded.store.states()).every((state) => state.state === 'unknown')).toBe(true);
      await loaded.store.commit({ ...emptyCommit, states: [sampleState(1, 1)], feed_version: loaded.feed_version });
      await loaded.store.close();
    });
  }

  it('notices a log that lost its newest commits, by the mark beside it', async () => {
    const { dir } = await filled();
    const { database } = storePaths(dir);
    copyFileSync(database, `${database}.old`);
    const store = await openSqliteStore({ dir, now: () => sampleTime, ballastBytes: 0 });
    const { feed_version } = await store.replay(() => {});
    await store.commit({ ...emptyCommit, events: [sampleNew(9_999, 1)], feed_version });
    await store.close();
    copyFileSync(`${database}.old`, database);
    const loaded = await load(dir);
    expect(loaded.rebuilt).toBe(true);
    expect(loaded.damage).toContain('acknowledged');
    await loaded.store.close();
  });

  it('a mark that is missing, older or garbage is no damage', async () => {
    const { dir, content } = await filled();
    const { head } = storePaths(dir);
    copyFileSync(head, `${head}.old`);
    const store = await openSqliteStore({ dir, now: () => sampleTime, ballastBytes: 0 });
    await store.putTarget(sampleTarget('host'));
    await store.close();
    for (const harm of [
      () => rmSync(head),
      () => copyFileSync(`${head}.old`, head),
      () => writeFileSync(head, 'x'.repeat(500)),
    ]) {
      harm();
      const loaded = await load(dir);
      expect(loaded.rebuilt).toBe(false);
      expect(loaded.visited).toEqual(content.events);
      await loaded.store.close();
    }
  });

  it('keeps the newest few damaged logs and no more', async () => {
    const { dir } = await filled();
    for (let round = 0; round < limits.damagedKeptMax + 2; round++) {
      writeFileSync(storePaths(dir).database, `not a database ${round} `.repeat(1_000));
      await (await load(dir)).store.close();
    }
    const kept = readdirSync(dir).filter((name) => /damaged-[^-]*$/.test(name));
    expect(kept).toHaveLength(limits.damagedKeptMax);
  });

  it('IDN5 saves the later of two runtimes that claim one place', async () => {
    count += 1;
    const dir = join(root, String(count));
    const store = await openSqliteStore({ dir, now: () => sampleTime, ballastBytes: 0 });
    const started = (number: number) => {
      const runtime = sampleIdentity(number, { pane: sampleIdentity(1).pane });
      return sampleNew(number, number, { fact: { kind: 'runtime.started', runtime } });
    };
    await store.commit({ ...emptyCommit, events: [started(1), started(2)] });
    await store.close();
    change(
      dir,
      'INSERT INTO events SELECT 99, runtime_id, source, 6, verdict, key_major, key_minor, key_hash, event_time, ingested_at, target_id, dedupe_key, identity, body, crc FROM events WHERE event_id = 1',
    );
    const loaded = await load(dir);
    expect((await loaded.store.runtimes()).map((record) => record.identity.runtime_id)).toEqual([sampleRuntimeId(2)]);
    await loaded.store.close();
  });
});
