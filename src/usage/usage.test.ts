// Records that grow, break, move and are copied, read from real files into a real database, and what is made of them.

import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agents } from '../agents/registry.ts';
import { createRealClock } from '../platform/clock.ts';
import { createRealFileWatch } from '../platform/file-watch.ts';
import { createRealFiles } from '../platform/files.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { textsFrom } from '../store/foreign-database.ts';
import { openUsageDatabase, type UsageDatabase } from '../store/usage-database.ts';
import { UsageHistory } from './history.ts';
import { UsageMeter } from './usage-service.ts';

let home: string;
let database: UsageDatabase;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agtmux-usage-'));
  database = openUsageDatabase(join(home, 'usage.db'));
});
afterEach(() => {
  database.close();
  rmSync(home, { recursive: true });
});

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const history = (of = database): UsageHistory =>
  new UsageHistory({
    clock: createRealClock(),
    files: createRealFileWatch(),
    textsFrom,
    home,
    env: {},
    agents: () => agents,
    database: of,
    dayOf,
  });

const line = (id: string, output: number, fields: object = {}): string =>
  `${JSON.stringify({
    type: 'assistant',
    sessionId: 's1',
    cwd: '/w/shop',
    requestId: `r-${id}`,
    timestamp: '2026-11-18T10:00:00Z',
    message: { id, model: 'claude-sonnet-4-5', usage: { input_tokens: 100, output_tokens: output } },
    ...fields,
  })}\n`;

function record(name: string, text: string): string {
  const folder = join(home, '.claude/projects/-w-shop');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const outputs = (): number => database.sums('agent', '').reduce((sum, { output }) => sum + output, 0);
const answers = (): number => database.sums('agent', '').reduce((sum, one) => sum + one.answers, 0);

describe('reading records', () => {
  it('USG1 counts an answer once, with its last line, also where the conversation was copied', async () => {
    record('a.jsonl', line('m1', 1) + line('m1', 40) + line('m2', 7) + line('m1', 2));
    record('b.jsonl', line('m1', 40) + line('m1', 3) + line('m3', 5, { sessionId: 's2' }));
    await history().catchUp();
    expect([answers(), outputs()]).toEqual([3, 52]);
  });

  it('USG2 reads once, then only what was added, and half a line when it is whole', async () => {
    const path = record('a.jsonl', line('m1', 10));
    const reading = history();
    await reading.catchUp();
    const next = line('m2', 5);
    appendFileSync(path, next.slice(0, 30));
    await reading.catchUp();
    expect(outputs()).toBe(10);
    appendFileSync(path, next.slice(30));
    // By another daemon: how far it came stands in the database.
    const other = history();
    await other.catchUp();
    expect(outputs()).toBe(15);
    const [kept] = database.records();
    expect(kept?.offset).toBe(line('m1', 10).length + next.length);
    expect(other.brokenLines).toBe(0);
  });

  it('USG2 passes over what is broken, counts it, and reads a file that came in its place from the beginning', async () => {
    const path = record('a.jsonl', `${line('m1', 10)}{"usage": broken\n\u0000\u0000"usage"\n${line('m2', 5)}`);
    const reading = history();
    await reading.catchUp();
    expect([outputs(), reading.brokenLines]).toEqual([15, 2]);
    writeFileSync(`${path}.new`, line('m8', 300) + line('m9', 100).repeat(9));
    renameSync(`${path}.new`, path);
    await reading.catchUp();
    expect([outputs(), reading.brokenLines]).toEqual([415, 0]);
  });

  it('USG2 lines longer than a piece, and longer than anything has a right to be', async () => {
    const picture = 'x'.repeat(3_000_000);
    record('a.jsonl', line('m1', 10, { picture }) + line('m2', 5));
    const reading = history();
    await reading.catchUp();
    expect([outputs(), reading.brokenLines]).toEqual([15, 0]);
    record('b.jsonl', `${'y'.repeat(140_000_000)}\n${line('m3', 1)}`);
    await reading.catchUp();
    expect(outputs()).toBe(16);
    expect(reading.brokenLines).toBeGreaterThan(0);
  });

  it('USG2 a database is asked for what is new, and its rows may grow', async () => {
    const folder = join(home, '.local/share/opencode');
    mkdirSync(folder, { recursive: true });
    const theirs = new DatabaseSync(join(folder, 'opencode.db'));
    theirs.exec(
      'PRAGMA journal_mode = WAL; CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT)',
    );
    const put = (id: string, time: number, output: number): void => {
      const data = {
        role: 'assistant',
        modelID: 'x',
        cost: 0.25,
        tokens: { input: 1, output, reasoning: 0, cache: {} },
      };
      theirs.prepare('INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?)').run(id, 's', time, JSON.stringify(data));
    };
    put('m1', 10_000_000, 4);
    const reading = history();
    await reading.catchUp();
    put('m1', 10_000_000, 9);
    put('m2', 10_000_001, 2);
    await reading.catchUp();
    expect([answers(), outputs()]).toEqual([2, 11]);
    theirs.close();
  });

  it('USG2 a damaged database is made anew from the records', async () => {
    record('a.jsonl', line('m1', 10));
    await history().catchUp();
    database.close();
    writeFileSync(join(home, 'usage.db'), 'nonsense'.repeat(4_096));
    database = openUsageDatabase(join(home, 'usage.db'));
    await history().catchUp();
    expect(outputs()).toBe(10);
  });
});

describe('what is told', () => {
  function meter(budget = 0, of: UsageHistory = history()) {
    const clock = createSimulatedClock();
    const told: string[] = [];
    const made = new UsageMeter({
      clock,
      files: createRealFiles(),
      pricesPath: join(home, 'prices.toml'),
      database,
      history: of,
      today: () => '2026-11-18',
      budgetDay: () => budget,
      announce: ({ title }) => told.push(title),
      warn: (words) => told.push(words),
    });
    return { clock, told, made };
  }

  it('USG1 sums by agent, project, day, model and conversation', async () => {
    record('a.jsonl', line('m1', 10) + line('m2', 5, { cwd: '/w/docs', timestamp: '2026-11-17T10:00:00Z' }));
    record('b.jsonl', line('m3', 1, { sessionId: 's2' }));
    const { made } = meter();
    const namesBy = async (by: 'agent' | 'project' | 'day' | 'session', since: string | null = null) => {
      const report = await made.report({ by, since });
      return report.ok ? report.value.items.map(({ name, output }) => `${name} ${output}`).sort() : [];
    };
    expect(await namesBy('agent')).toEqual(['claude 16']);
    expect(await namesBy('project')).toEqual(['/w/docs 5', '/w/shop 11']);
    expect(await namesBy('day')).toEqual(['2026-11-17 5', '2026-11-18 11']);
    expect(await namesBy('session', '2026-11-18')).toEqual(['s1 10', 's2 1']);
    const report = await made.report({ by: 'session', since: null });
    expect(report.ok && report.value.items.map(({ context }) => context)).toEqual([100, 100]);
  });

  it('USG3 cost is about, by a table that a user can replace', async () => {
    record('a.jsonl', line('m1', 1_000_000));
    const { made } = meter();
    const cost = async () => {
      const report = await made.report({ by: 'model', since: null });
      return report.ok ? [report.value.total.cost?.toFixed(2), report.value.prices.source] : [report.failure.code];
    };
    expect(await cost()).toEqual(['15.00', 'list prices of the providers']);
    const table = 'date = "2026-11-01"\nsource = "mine"\n[models."claude-sonnet"]\ninput = 0\noutput = 1\n';
    writeFileSync(join(home, 'prices.toml'), table);
    expect(await cost()).toEqual(['1.00', 'mine']);
    writeFileSync(join(home, 'prices.toml'), 'date = 1');
    expect(await cost()).toEqual(['E_CONFIG']);
  });

  it('USG4 a budget is told of once when it is nearly spent, and once when it is', async () => {
    const path = record('a.jsonl', line('m1', 600_000));
    const { made, clock, told } = meter(10);
    made.start();
    const minutes = async (): Promise<void> => {
      for (let minute = 0; minute < 3; minute += 1) {
        await clock.advanceSettled(60_000);
        // Real files are read in real time.
        await made.report({ by: 'day', since: '2026-11-18' });
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await minutes();
    await expect.poll(() => told).toEqual(['agtmux: the budget of today is nearly spent']);
    appendFileSync(path, line('m2', 600_000));
    await minutes();
    await expect.poll(() => told).toHaveLength(2);
    expect(told[1]).toBe('agtmux: the budget of today is spent');
    await minutes();
    expect(told).toHaveLength(2);
  });
});
