// An upgrade keeps everything. State directories as earlier builds left them, one for each schema (fixtures/, event logs as
// SQL), are opened by the daemon of today; and what lives, lives on: agents with names, a message that waits, a session.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { storePaths } from '../../src/store/database.ts';
import type { Head } from '../../src/store/head.ts';
import { backupPath, migrate, migrations, prepareHeadWrite, readMeta } from '../../src/store/migrations.ts';
import { type DatabaseSync, openDatabase } from '../../src/store/node-sqlite.ts';
import { until } from '../kit/live.ts';
import { LookAlike } from '../kit/look-alike.ts';
import { act } from '../kit/scenes.ts';
import { LedWorld } from '../system/sessions/kit.ts';

const states = fileURLToPath(new URL('./fixtures/', import.meta.url));

let world: LedWorld;
afterEach(() => world.close());

/** As that build left it: its agents and their tmux server have ended since. */
function leave(schema: number): string {
  cpSync(join(states, `schema-${schema}`), world.stateDir, { recursive: true });
  execFileSync('chmod', ['-R', 'go=', world.stateDir]);
  for (const name of ['story', 'record']) endedJustNow(join(world.stateDir, 'shells/shell-1/1', name));
  const sql = join(world.stateDir, 'agtmux.sql');
  const { database } = storePaths(world.stateDir);
  const file = openDatabase(database);
  file.exec(readFileSync(sql, 'utf8'));
  file.close();
  rmSync(sql);
  return database;
}

/** A shell that has ended is kept for a day, and that build is older than a day. */
function endedJustNow(path: string): void {
  const now = String(Date.now() - 1_000);
  writeFileSync(path, readFileSync(path, 'utf8').replace(/(?<=at":)\d{13}/g, now));
}

/** The log of today as the first schema had it. */
function takeBack(): string {
  const { database } = storePaths(world.stateDir);
  const path = `${database}.first`;
  const first = openDatabase(path);
  migrate(first, path, 0, migrations.slice(0, 1), 'a'.repeat(32));
  first.exec(`ATTACH '${database}' AS today`);
  const shared = ['events', 'runtimes', 'states', 'audit', 'targets', 'action_snapshots'];
  for (const table of shared) first.exec(`INSERT INTO ${table} SELECT * FROM today.${table}`);
  const [row] = first.prepare("SELECT value FROM today.meta WHERE name = 'head'").all();
  const head = JSON.parse(String(row?.value)) as Head;
  prepareHeadWrite(first)({ ...head, digests: { ...head.digests, places: { count: 0, sum: 0 } } });
  writeFileSync(join(world.stateDir, 'acting.json'), JSON.stringify(actingIn(first)));
  expect(readMeta(first, 'head')).not.toBeNull();
  first.close();
  renameSync(path, database);
  return database;
}

/** What acting keeps today, as the file of the first schema had it. */
function actingIn(attached: DatabaseSync): unknown {
  const rows = attached.prepare('SELECT kind, body FROM today.documents ORDER BY number').all();
  const all = (kind: string) => rows.filter((row) => row.kind === kind).map((row) => JSON.parse(String(row.body)));
  const [messages, names, seen, answered] = ['message', 'name', 'seen', 'answered'].map(all);
  expect([messages?.length, names?.length]).toEqual([1, 1]);
  return { version: 1, messages, names, seen, answered };
}

const schemaOf = (path: string): unknown => {
  const file = openDatabase(path);
  try {
    return file.prepare('PRAGMA user_version').get()?.user_version;
  } finally {
    file.close();
  }
};

describe('an upgrade', () => {
  it.each(readdirSync(states).map((name) => Number(name.replace('schema-', ''))))(
    'LOG3 of what a build with schema %i left loses nothing',
    async (schema) => {
      world = new LedWorld();
      const database = leave(schema);
      const diary = readdirSync(join(world.stateDir, 'diary'))[0] ?? '';
      const days = readFileSync(join(world.stateDir, 'diary', diary), 'utf8');
      world.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 1000');
      await world.startDaemon();
      expect(existsSync(backupPath(database, schema))).toBe(schema < migrations.length);
      if (schema < migrations.length) expect(schemaOf(backupPath(database, schema))).toBe(schema);
      await until(async () => (await world.session('s1')).state === 'paused');
      expect(await world.session('s1')).toMatchObject({ title: 'led', is_resumable: true, turns: 1 });
      expect(await world.words('s1', 'user')).toBe('approve make it so');
      const shells = await world.client.get('/v1/shells', { completed: true, failed: true });
      expect(shells.items).toMatchObject([
        { shell_id: 'shell-1', label: 'ticker', status: 'completed', last_log: ['line 2', 'line 3'] },
      ]);
      // Whoever waited for an agent that is gone is told; nothing disappears without a word.
      const audited = async () => (await world.audit()).map(({ action, result }) => `${action} ${result}`);
      await until(async () => (await audited()).filter((one) => one.startsWith('send')).length === 2);
      expect(await audited()).toEqual(
        expect.arrayContaining(['name delivered', 'session start delivered', 'send queued', 'send refused']),
      );
      const { items } = await world.client.get('/v1/panes', { ended: true });
      const places = items.map(({ identity, agent }) => `${agent} ${identity.pane_id} ${identity.session_name}`).sort();
      // The first schema kept no places.
      const session = schema === 1 ? '' : 'work';
      expect(places).toEqual([`claude %2 ${session}`, 'claude null session:s1', `codex %3 ${session}`]);
      expect(readFileSync(join(world.stateDir, 'diary', diary), 'utf8').startsWith(days)).toBe(true);
    },
    60_000,
  );

  it('LOG3 INS5 agents, names, queue and sessions live on, and one sentence says what happened', async () => {
    world = new LedWorld();
    world.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 1000');
    const [one, two] = [LookAlike.start(world, 'claude', 'work'), LookAlike.start(world, 'codex', 'work')];
    await act(one, 'settled');
    await act(two, 'running');
    expect(await world.agtmux(['daemon', 'start'])).toMatchObject({ status: 0 });
    const living = async () => (await world.client.get('/v1/panes', {})).items.filter(({ ended }) => ended === null);
    await until(async () => (await living()).some(({ agent, state }) => agent === 'codex' && state === 'running'));
    expect(await world.agtmux(['name', one.pane, 'builder'])).toMatchObject({ status: 0 });
    expect(await world.agtmux(['send', two.pane, '--text', 'then the docs', '--when-ready'])).toMatchObject({
      status: 0,
    });
    const { id } = await world.begin('text hello');
    await world.becomes(id, 'completed');
    const rows = async () =>
      (await living()).map(({ identity, agent, nick, ref }) => [agent, nick, identity.session_name, ref]).sort();
    const before = await rows();
    await world.agtmux(['daemon', 'stop']);
    const database = takeBack();
    const ran = await world.agtmux(['daemon', 'restart']);
    expect(ran).toMatchObject({ status: 0 });
    const copy = backupPath(database, 1);
    const newest = migrations.length;
    expect(ran.stdout).toMatch(/^started, pid \d+; the event log was brought from schema 1 to \d+, and how it was/);
    expect(ran.stdout).toContain(`from schema 1 to ${newest}, and how it was before is kept in ${copy}\n`);
    await until(async () => (await rows()).length === before.length);
    expect(await rows()).toEqual(before);
    expect(await world.words(id, 'agent')).toBe('hello');
    expect((await world.client.get('/v1/queue', {})).items).toMatchObject([{ text: 'then the docs' }]);
    await act(two, 'settled');
    await until(() => two.typed().includes('then the docs'), 60_000);
    await world.agtmux(['daemon', 'stop']);
  }, 120_000);
});
