// What each agent's own records tell of its tokens, line by line, as its programs write them.

import { describe, expect, it } from 'vitest';
import type { UsageEntry } from './contract.ts';
import { costOf, readPrices } from './prices.ts';
import { agents } from './registry.ts';

const sourceOf = (name: string) => {
  const usage = agents.find((agent) => agent.name === name)?.usage;
  if (usage === undefined) throw new Error(`${name} keeps nothing`);
  return usage;
};

const read = (name: string, rows: readonly object[], path = '/x/s1/events.jsonl'): readonly UsageEntry[] => {
  const reader = sourceOf(name).open(path, {});
  return rows.flatMap((row) => reader.take(JSON.stringify(row)) ?? []);
};
const counts = ({ input, output, cache_read, cache_write }: UsageEntry) => [input, output, cache_read, cache_write];
const timestamp = '2026-11-18T10:00:00.000Z';

const answer = (id: string, requestId: string, output: number, more: object = {}) => ({
  type: 'assistant',
  sessionId: 's1',
  cwd: '/w/shop',
  requestId,
  timestamp,
  message: {
    id,
    model: 'claude-sonnet-4-5',
    usage: { input_tokens: 10, output_tokens: output, cache_read_input_tokens: 300, cache_creation_input_tokens: 20 },
  },
  ...more,
});

const total = (input: number, cached: number, output: number) => ({
  type: 'event_msg',
  timestamp,
  payload: {
    type: 'token_count',
    info: { total_token_usage: { input_tokens: input, cached_input_tokens: cached, output_tokens: output } },
  },
});

describe('what agents keep about their tokens', () => {
  it('USG1 of an answer in many lines all have one key, by message and request', () => {
    const found = read('claude', [answer('m1', 'r1', 1), answer('m1', 'r1', 90), answer('m1', 'r2', 5)]);
    expect(found.map(({ key }) => key)).toEqual(['m1 r1', 'm1 r1', 'm1 r2']);
    expect(found.map(counts)).toEqual([
      [10, 1, 300, 20],
      [10, 90, 300, 20],
      [10, 5, 300, 20],
    ]);
    expect(found[0]).toMatchObject({ session: 's1', cwd: '/w/shop', model: 'claude-sonnet-4-5', cost: null });
    expect(read('claude', [{ type: 'user', message: { usage: {} } }, answer('m', 'r', 1, { timestamp: 'x' })])).toEqual(
      [],
    );
  });

  it('USG1 sums since the beginning count by their differences, and begin anew when they became smaller', () => {
    const turn = { type: 'turn_context', payload: { model: 'gpt-5', cwd: '/w/api' } };
    const meta = { type: 'session_meta', payload: { id: 't1', cwd: '/w' } };
    const found = read('codex', [
      meta,
      turn,
      total(100, 40, 7),
      total(100, 40, 7),
      total(260, 140, 17),
      total(50, 0, 5),
    ]);
    expect(found.map(counts)).toEqual([
      [60, 7, 40, 0],
      [60, 10, 100, 0],
      [50, 5, 0, 0],
    ]);
    expect(found[0]).toMatchObject({ session: 't1', cwd: '/w/api', model: 'gpt-5' });
    expect(new Set(found.map(({ key }) => key)).size).toBe(3);
  });

  it('USG1 a fork begins with the sum of the thread it came from, of which only its own answer counts', () => {
    const last = { input_tokens: 130, cached_input_tokens: 30, output_tokens: 5 };
    const first = total(10_130, 3_030, 905);
    Object.assign(first.payload.info, { last_token_usage: last });
    expect(read('codex', [first, total(10_230, 3_030, 915)]).map(counts)).toEqual([
      [100, 5, 30, 0],
      [100, 10, 0, 0],
    ]);
  });

  it('USG2 a reader goes on where another one stopped', () => {
    const first = sourceOf('codex').open('/x', {});
    first.take(JSON.stringify(total(100, 0, 7)));
    const next = sourceOf('codex').open('/x', JSON.parse(JSON.stringify(first.state())));
    expect(next.take(JSON.stringify(total(130, 0, 9)))?.map(counts)).toEqual([[30, 2, 0, 0]]);
  });

  it('USG1 what is written again has the key it had, and cached input is part of the input', () => {
    const tokens = { input: 120, output: 4, cached: 100, thoughts: 6, tool: 0, total: 130 };
    const row = { id: 'g1', type: 'gemini', timestamp, model: 'gemini-2.5-pro', tokens };
    const found = read('gemini', [{ sessionId: 'c1' }, row, { ...row, tokens: { ...tokens, output: 14, total: 140 } }]);
    expect(found.map(counts)).toEqual([
      [20, 10, 100, 0],
      [20, 20, 100, 0],
    ]);
    expect(found.map(({ key, session }) => `${key} ${session}`)).toEqual(['c1 g1 c1', 'c1 g1 c1']);
  });

  it('USG1 one sum for each model at the end of a run', () => {
    const usage = { inputTokens: 1000, outputTokens: 100, cacheReadTokens: 5, cacheWriteTokens: 0 };
    const accountingSnapshot = { sessionStartTime: 'then', modelMetrics: { 'gpt-5.4': { usage }, other: { usage } } };
    const found = read('copilot', [{ type: 'session.shutdown', timestamp, data: { accountingSnapshot } }]);
    expect(found.map(({ key }) => key)).toEqual(['s1 then gpt-5.4', 's1 then other']);
    // What was read from the cache is part of what went in.
    expect(found.map(counts)).toEqual([
      [995, 100, 5, 0],
      [995, 100, 5, 0],
    ]);
  });

  it.each(['opencode', 'kilo'])(
    'USG1 rows of the database of %s, with its own cost where that is something',
    (name) => {
      const tokens = { input: 9, output: 2, reasoning: 3, cache: { read: 7, write: 1 } };
      const row = { id: 'm', session: 's', time: 5, model: 'x', cwd: '/w', cost: 0.5, tokens };
      expect(read(name, [row, { ...row, cost: 0 }]).map(({ cost }) => cost)).toEqual([0.5, null]);
      expect(read(name, [row]).map(counts)).toEqual([[9, 5, 7, 1]]);
    },
  );

  it('USG2 what is no row at all is told as such, and nothing throws', () => {
    for (const { name, usage } of agents) {
      const reader = usage?.open('/x', { sums: 'odd', model: 7 });
      expect(reader?.take('{"usage":') ?? null, name).toBeNull();
      for (const odd of [{}, { type: 'assistant', message: 7 }, { payload: [], tokens: 'x', id: 'i', time: 'x' }])
        expect(reader?.take(JSON.stringify(odd)) ?? [], name).toEqual([]);
    }
  });
});

describe('prices', () => {
  const table = readPrices(
    'date = "2026-11-01"\nsource = "mine"\n[models."gpt-5"]\ninput = 1\noutput = 10\n[models."gpt-5-mini"]\ninput = 0.5\noutput = 2\n',
    'prices.toml',
  );
  if (!table.ok) throw new Error('the table is a good one');
  const million = { input: 1_000_000, output: 1_000_000, cache_read: 0, cache_write: 0 };

  it('USG3 the longest name that fits counts, and a later model of the family has no price here', () => {
    expect(costOf(million, 'gpt-5', table.value)).toBe(11);
    expect(costOf(million, 'openai/gpt-5-mini-2025-08-07', table.value)).toBe(2.5);
    expect(costOf(million, 'gpt-5.4', table.value)).toBeNull();
    expect(costOf(million, 'unknown', table.value)).toBeNull();
    expect(costOf({ ...million, cache_read: 1_000_000 }, 'gpt-5', table.value)).toBe(12);
  });

  it('USG3 a table with a mistake is none', () => {
    expect(readPrices('date = 1', 'prices.toml')).toMatchObject({ ok: false, failure: { code: 'E_CONFIG' } });
    expect(readPrices('date = "', 'prices.toml')).toMatchObject({ ok: false, failure: { code: 'E_CONFIG' } });
  });
});
