// What agents have used: tokens, and what they cost about, summed up by whatever a person asks for (USG1).

import type { Result } from './errors.ts';

export const usageGroups = ['agent', 'project', 'day', 'model', 'session'] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface UsageCounts {
  /** Without what came out of a cache or went into one. */
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
}

export interface UsageSum extends UsageCounts {
  /** The agent, folder, day, model or conversation; empty where the record does not tell. */
  readonly name: string;
  readonly answers: number;
  /** In USD, about: null where no price is known for any of it. */
  readonly cost: number | null;
  /** Tokens of models without a price, which are not in the cost. */
  readonly unpriced: number;
  /** Of conversations: what the model was given with the last answer. */
  readonly context: number | null;
}

export interface UsageReport {
  readonly by: UsageGroup;
  /** The first day, `2026-11-18`; null: since the records begin. */
  readonly since: string | null;
  readonly items: readonly UsageSum[];
  readonly total: UsageSum;
  readonly prices: { readonly date: string; readonly source: string };
  readonly files: number;
  /** Lines that say something about usage and cannot be understood. */
  readonly broken_lines: number;
  /** For one day, in USD; null when none is set. */
  readonly budget_day: number | null;
}

export interface UsageService {
  report(question: { readonly by: UsageGroup; readonly since: string | null }): Promise<Result<UsageReport>>;
}
