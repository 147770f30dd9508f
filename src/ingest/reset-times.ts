// The one place where words about a usage limit get their moment: whoever said that a limit was hit, on a screen, by a hook
// or in a file, seldom says when it resets in other than words (LIM1).

import { resetTimeIn } from '../agents/reset-time.ts';
import type { StateRecord } from '../model/records.ts';
import type { Taker } from './inbox.ts';

export interface ResetTimesParts {
  readonly toWall: (time: number) => number;
  /** Of this machine. */
  readonly zone: () => string;
  readonly published: (runtime: string) => StateRecord | null;
}

/** What comes into the inbox, with the moments filled in. */
export function withResetTimes(taker: Taker, parts: ResetTimesParts): Taker {
  return {
    take: (raws) => taker.take(raws.map((raw) => withResetTime(raw, parts))),
    preview: async (raws) => taker.preview?.(raws?.map((raw) => withResetTime(raw, parts)) ?? null),
    countMerged: (count) => taker.countMerged(count),
    countRefused: (count) => taker.countRefused(count),
  };
}

/** What is no event at all is refused where all events are judged. */
export function withResetTime(raw: unknown, { toWall, zone, published }: ResetTimesParts): unknown {
  if (!isRecord(raw) || raw.kind !== 'state.observed' || !isRecord(raw.payload)) return raw;
  const { reason, detail, until } = raw.payload;
  if (reason !== 'usage_limit' || until !== undefined || typeof detail !== 'string') return raw;
  const time = raw.event_time;
  if (typeof time !== 'number' || !Number.isFinite(time)) return raw;
  const runtime = isRecord(raw.evidence) ? raw.evidence.runtime_id : undefined;
  const before = typeof runtime === 'string' ? published(runtime) : null;
  // The same words seen again, as after a restart, were said when they were seen first.
  const isSame = before?.reason === 'usage_limit' && before.detail === detail;
  if (isSame && before.until !== null) return { ...raw, payload: { ...raw.payload, until: before.until } };
  const wall = toWall(time);
  const reset = resetTimeIn(detail, wall, zone());
  return reset === null ? raw : { ...raw, payload: { ...raw.payload, until: time + reset - wall } };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
