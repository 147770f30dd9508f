// Where words about a limit get their moment, and where they do not.

import { describe, expect, it } from 'vitest';
import type { StateRecord } from '../model/records.ts';
import { type ResetTimesParts, withResetTime } from './reset-times.ts';

const wallAhead = 5_000;
const now = Date.parse('2026-11-18T12:00:00Z') - wallAhead;
const parts = (published: Partial<StateRecord> | null = null): ResetTimesParts => ({
  toWall: (time) => time + wallAhead,
  zone: () => 'America/New_York',
  published: () => published as StateRecord | null,
});
const event = (payload: object) => ({
  evidence: { target: 'host', runtime_id: 'a' },
  source: 'screen',
  kind: 'state.observed',
  event_time: now,
  payload: { state: 'error', reason: 'usage_limit', confidence: 'high', ...payload },
});
const untilOf = (raw: unknown): unknown => (raw as { payload: { until?: number } }).payload.until;

describe('words about a limit', () => {
  it('LIM1 get their moment, on the daemon’s timeline and in this machine’s zone', () => {
    const told = withResetTime(event({ detail: 'Try again at 3:00 PM.' }), parts());
    expect(untilOf(told)).toBe(Date.parse('2026-11-18T20:00:00Z') - wallAhead);
  });

  it('LIM1 keep the one that was told, and the one of the first time they were seen', () => {
    expect(untilOf(withResetTime(event({ detail: 'resets 3pm', until: 7 }), parts()))).toBe(7);
    const detail = 'try again in 2 hours';
    const known = { reason: 'usage_limit', detail, until: 42 } as const;
    expect(untilOf(withResetTime(event({ detail }), parts(known)))).toBe(42);
    expect(untilOf(withResetTime(event({ detail: 'try again in 3 hours' }), parts(known)))).toBe(now + 10_800_000);
  });

  it('LIM2 are about nothing else', () => {
    const temporary = 'API Error: Server is temporarily limiting requests (not your usage limit), resets 3pm';
    const raw = event({ reason: 'api_error', detail: temporary });
    expect(withResetTime(raw, parts())).toBe(raw);
    for (const odd of [null, 7, 'x', [], { kind: 'state.observed' }, event({ detail: 3 })]) {
      expect(withResetTime(odd, parts())).toEqual(odd);
    }
  });
});
