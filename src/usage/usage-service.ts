// What agents have used, for people: summed up, priced by a table that they can replace, and held against a budget of theirs
// (USG1 to USG4). Nothing is read before somebody asks, or has set a budget.

import { builtInPrices, costOf, type Prices, readPrices } from '../agents/prices.ts';
import { ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { UsageGroup, UsageReport, UsageService, UsageSum } from '../model/usage.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Files } from '../platform/files.ts';
import type { ModelSum, UsageDatabase } from '../store/usage-database.ts';
import type { UsageHistory } from './history.ts';

export interface UsageMeterParts {
  readonly clock: Clock;
  readonly files: Pick<Files, 'read'>;
  /** prices.toml of the user. */
  readonly pricesPath: string;
  readonly database: Pick<UsageDatabase, 'sums' | 'contexts' | 'close'>;
  readonly history: Pick<UsageHistory, 'catchUp' | 'files' | 'brokenLines' | 'stop'>;
  /** `2026-11-18`, where the person is. */
  readonly today: () => string;
  /** In USD; 0 for none. */
  readonly budgetDay: () => number;
  readonly announce: (announcement: { readonly id: string; readonly title: string; readonly body: string }) => void;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Shares of the budget at which a person is told. */
const warnings = [1, 0.8] as const;

export class UsageMeter implements UsageService {
  readonly #parts: UsageMeterParts;
  readonly #told = new Set<string>();
  #timer: Cancel | null = null;

  constructor(parts: UsageMeterParts) {
    this.#parts = parts;
  }

  /** Looks at the budget from time to time, while there is one. */
  start(): void {
    this.#timer = this.#parts.clock.after(limits.usageBudgetLookMs, () => {
      const look = this.#parts.budgetDay() > 0 ? this.#lookAtBudget() : Promise.resolve();
      void look
        .catch((problem: unknown) => this.#parts.warn('what agents used could not be read', { why: String(problem) }))
        .finally(() => {
          if (this.#timer !== null) this.start();
        });
    });
  }

  async stop(): Promise<void> {
    this.#timer?.();
    this.#timer = null;
    await this.#parts.history.stop();
    this.#parts.database.close();
  }

  async report({ by, since }: { by: UsageGroup; since: string | null }): Promise<Result<UsageReport>> {
    const { database, history, budgetDay } = this.#parts;
    const prices = await this.#prices();
    if (!prices.ok) return prices;
    await history.catchUp();
    const first = since ?? '';
    const groups = new Map<string, ModelSum[]>();
    for (const sum of database.sums(by, first)) groups.set(sum.name, [...(groups.get(sum.name) ?? []), sum]);
    const contexts = by === 'session' ? database.contexts(first) : new Map<string, number>();
    const items = [...groups].map(([name, sums]) => sumOf(name, sums, prices.value, contexts.get(name) ?? null));
    const { date, source } = prices.value;
    const budget = budgetDay();
    return ok({
      by,
      since,
      items: by === 'day' ? items.toSorted(byName) : items.toSorted(byCost),
      total: sumOf('', [...groups.values()].flat(), prices.value, null),
      prices: { date, source },
      files: history.files,
      broken_lines: history.brokenLines,
      budget_day: budget === 0 ? null : budget,
    });
  }

  /** The user's own table, whole, where there is one. */
  async #prices(): Promise<Result<Prices>> {
    const { files, pricesPath } = this.#parts;
    const found = await files.read(pricesPath, { bytesMax: limits.configBytesMax, followLinks: true });
    return found === null ? ok(builtInPrices) : readPrices(Buffer.from(found.bytes).toString(), pricesPath);
  }

  async #lookAtBudget(): Promise<void> {
    const { today, budgetDay, announce } = this.#parts;
    const day = today();
    const report = await this.report({ by: 'day', since: day });
    const cost = report.ok ? report.value.total.cost : null;
    const budget = budgetDay();
    const share = warnings.find((one) => cost !== null && cost >= one * budget);
    if (share === undefined || cost === null) return;
    const id = `budget-${day}-${share}`;
    if (this.#told.has(id)) return;
    // Whoever is told that it is spent need not be told that it will be.
    for (const one of warnings) if (one <= share) this.#told.add(`budget-${day}-${one}`);
    const spent = share >= 1 ? 'is spent' : 'is nearly spent';
    announce({
      id,
      title: `agtmux: the budget of today ${spent}`,
      body: `about $${cost.toFixed(2)} of $${budget.toFixed(2)}; see agtmux usage`,
    });
  }
}

const byCost = (one: UsageSum, other: UsageSum): number =>
  (other.cost ?? 0) - (one.cost ?? 0) || other.input + other.output - one.input - one.output || byName(one, other);
const byName = (one: UsageSum, other: UsageSum): number => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0);

/** The agent's own figure where it tells one, otherwise the table's. */
function sumOf(name: string, sums: readonly ModelSum[], prices: Prices, context: number | null): UsageSum {
  const total = { input: 0, output: 0, cache_read: 0, cache_write: 0 };
  let [answers, cost, unpriced, isPriced] = [0, 0, 0, false];
  for (const sum of sums) {
    for (const field of ['input', 'output', 'cache_read', 'cache_write'] as const) total[field] += sum[field];
    const { input, output, cache_read, cache_write } = sum.uncosted;
    const tokens = input + output + cache_read + cache_write;
    const about = costOf(sum.uncosted, sum.model, prices);
    answers += sum.answers;
    cost += sum.cost + (about ?? 0);
    if (about === null) unpriced += tokens;
    isPriced ||= sum.cost > 0 || (about !== null && tokens > 0);
  }
  return { name, ...total, answers, cost: isPriced ? cost : null, unpriced, context };
}
