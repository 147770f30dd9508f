// What Codex' rollouts tell of its tokens: sums since the beginning of the thread, so that each says what came since the one
// before. The model stands in lines of its own. A fork begins with a copy, whose lines are known by their time and sum.

import type { UsageEntry, UsageReader, UsageSource } from '../contract.ts';
import { type Fields, fieldsIn, numberIn, parseFields, textOf } from '../fields.ts';

export const usage: UsageSource = {
  places: ({ home, env }) => [
    {
      kind: 'lines',
      folder: `${env.CODEX_HOME?.startsWith('/') === true ? env.CODEX_HOME : `${home}/.codex`}/sessions`,
      levels: 4,
      name: '^rollout-.*\\.jsonl$',
    },
  ],
  hints: ['"token_count"', '"turn_context"', '"session_meta"'],
  open: (_path, state) => new RolloutUsage(state),
};

interface Sums {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

const sumsIn = (fields: Fields): Sums => ({
  input: numberIn(fields.input),
  output: numberIn(fields.output),
  cached: numberIn(fields.cached),
});

const told = (usage: Fields): Sums => ({
  input: numberIn(usage.input_tokens),
  output: numberIn(usage.output_tokens),
  cached: numberIn(usage.cached_input_tokens),
});

/** What was there before the last answer. */
const without = (total: Sums, last: Sums): Sums => ({
  input: Math.max(0, total.input - last.input),
  output: Math.max(0, total.output - last.output),
  cached: Math.max(0, total.cached - last.cached),
});

class RolloutUsage implements UsageReader {
  #model: string;
  #session: string | null;
  #cwd: string | null;
  #sums: Sums;

  constructor(state: Fields) {
    this.#model = textOf(state.model) ?? 'unknown';
    this.#session = textOf(state.session);
    this.#cwd = textOf(state.cwd);
    this.#sums = sumsIn(fieldsIn(state.sums));
  }

  state(): Readonly<Record<string, unknown>> {
    return { model: this.#model, session: this.#session, cwd: this.#cwd, sums: this.#sums };
  }

  take(line: string): readonly UsageEntry[] | null {
    const row = parseFields(line);
    if (row === null) return null;
    const payload = fieldsIn(row.payload);
    if (row.type === 'session_meta') {
      // Of a fork the first one is its own, and the copy tells those that it came from.
      this.#session ??= textOf(payload.id);
      this.#cwd ??= textOf(payload.cwd);
    }
    if (row.type === 'turn_context') {
      this.#model = textOf(payload.model) ?? this.#model;
      this.#cwd = textOf(payload.cwd) ?? this.#cwd;
    }
    if (row.type !== 'event_msg' || payload.type !== 'token_count') return [];
    const { total_token_usage: total, last_token_usage: last } = fieldsIn(payload.info);
    return this.#counted(told(fieldsIn(total)), told(fieldsIn(last)), textOf(row.timestamp) ?? '');
  }

  #counted(now: Sums, last: Sums, timestamp: string): readonly UsageEntry[] {
    const time = Date.parse(timestamp);
    if (Number.isNaN(time) || now.input + now.output === 0) return [];
    const before = this.#sums;
    // A sum that became smaller began anew.
    const isAnew = now.input < before.input || now.output < before.output || now.cached < before.cached;
    // A fork goes on with the sum of the thread that it came from, without its lines (measured: 0.166.0).
    const isInherited = before.input + before.output === 0 && last.input + last.output > 0;
    const since = isAnew ? { input: 0, output: 0, cached: 0 } : isInherited ? without(now, last) : before;
    this.#sums = now;
    const cached = now.cached - since.cached;
    const input = now.input - since.input - cached;
    const output = now.output - since.output;
    if (input + cached + output === 0) return [];
    const key = `${timestamp} ${now.input} ${now.output}`;
    const of = { key, time, session: this.#session, cwd: this.#cwd, model: this.#model };
    return [{ ...of, input, output, cache_read: cached, cache_write: 0, cost: null }];
  }
}
