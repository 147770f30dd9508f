// Durations as people write them: `500ms`, `2s`, `1m`, `3h`; a bare number is seconds.

import { AgtmuxError } from '../model/errors.ts';

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

export interface DurationBounds {
  readonly minMs: number;
  readonly maxMs: number;
  /** The bounds in words: `from 50ms to 60m`. */
  readonly words: string;
}

/** Null when the option was not given. */
export function durationOf(option: string, text: string | undefined, bounds: DurationBounds): number | null {
  if (text === undefined) return null;
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Math.round(Number(count ?? Number.NaN) * (unitsMs[unit] ?? 0));
  if (ms >= bounds.minMs && ms <= bounds.maxMs) return ms;
  throw new AgtmuxError('E_USAGE', `--${option} must be a duration ${bounds.words}`, {
    next: 'for example 500ms, 2s or 1m',
  });
}
