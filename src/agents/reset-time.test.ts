// The moment a limit resets, in the words of the agents: time zones, clocks that are set, words that name no moment.

import { describe, expect, it } from 'vitest';
import { resetTimeIn } from './reset-time.ts';

const at = (iso: string): number => Date.parse(iso);
const iso = (words: string, saidAt: string, zone = 'UTC'): string | null => {
  const found = resetTimeIn(words, at(saidAt), zone);
  return found === null ? null : new Date(found).toISOString().slice(0, 16);
};

const claude = (time: string, zone: string): string => `You've hit your session limit · resets ${time} (${zone})`;

describe('LIM1 the reset time', () => {
  const zones = [
    ['Europe/Warsaw', '2026-11-18T14:00'],
    ['America/New_York', '2026-11-18T20:00'],
    ['Asia/Kolkata', '2026-11-18T09:30'],
    ['Australia/Adelaide', '2026-11-18T04:30'],
    ['America/Los_Angeles', '2026-11-18T23:00'],
  ] as const;

  it.each(zones)('LIM1 is right in %s, named or the machine’s own', (zone, expected) => {
    const saidAt = `${new Date(at(`${expected}Z`) - 2 * 3_600_000).toISOString()}`;
    expect(iso(claude('3pm', zone), saidAt)).toBe(expected);
    expect(iso("■ You've hit your usage limit. Try again at 3:00 PM.", saidAt, zone)).toBe(expected);
    expect(iso('5-hour limit reached ∙ resets 15:00', saidAt, zone)).toBe(expected);
  });

  it('LIM1 over a change of clocks', () => {
    // Clocks go back in Warsaw on 2026-10-25 at 3:00, and forward on 2027-03-28 at 2:00.
    expect(iso(claude('4am', 'Europe/Warsaw'), '2026-10-24T23:30:00Z')).toBe('2026-10-25T03:00');
    expect(iso(claude('2:30am', 'Europe/Warsaw'), '2026-10-24T22:00:00Z')).toBe('2026-10-25T00:30');
    expect(iso(claude('4am', 'Europe/Warsaw'), '2027-03-28T00:30:00Z')).toBe('2027-03-28T02:00');
    expect(iso(claude('2:30am', 'Europe/Warsaw'), '2027-03-28T00:30:00Z')).toBe('2027-03-28T01:30');
    // New York, on 2026-11-01 at 2:00 back to 1:00.
    expect(iso(claude('1:30am', 'America/New_York'), '2026-11-01T03:00:00Z')).toBe('2026-11-01T05:30');
    expect(iso(claude('3am', 'America/New_York'), '2026-11-01T03:00:00Z')).toBe('2026-11-01T08:00');
  });

  it('LIM1 over midnight, and past is past', () => {
    expect(iso(claude('1am', 'UTC'), '2026-11-18T22:00:00Z')).toBe('2026-11-19T01:00');
    expect(iso(claude('12am', 'UTC'), '2026-11-18T22:00:00Z')).toBe('2026-11-19T00:00');
    // A screen that is read again an hour after the reset.
    expect(iso(claude('3pm', 'UTC'), '2026-11-18T16:00:00Z')).toBe('2026-11-18T15:00');
  });

  it.each([
    ["■ You've hit your usage limit … try again at Feb 23rd, 2027 9:01 PM.", '2027-02-23T21:01'],
    ["You've hit your usage limit. Try again in 4 days 20 hours.", '2026-11-23T08:00'],
    ['Your quota will reset after 11h32m10s.', '2026-11-18T23:32'],
    ['try again in 35 minutes', '2026-11-18T12:35'],
    ["You've hit your weekly limit · resets Nov 23, 1pm (UTC)", '2026-11-23T13:00'],
    ["You've hit your weekly limit · resets Jan 2 at 9am (UTC)", '2027-01-02T09:00'],
    ['Opus limit reached ∙ resets Mon 9:00am', '2026-11-23T09:00'],
    ['Claude AI usage limit reached|1795021200', new Date(1_795_021_200_000).toISOString().slice(0, 16)],
    ['Access resets at 3:00 PM PDT.', '2026-11-18T23:00'],
  ])('LIM1 %s', (words, expected) => {
    expect(iso(words, '2026-11-18T12:00:00Z')).toBe(expected);
  });

  it.each([
    'usage limit reached',
    'API Error: Server is temporarily limiting requests (not your usage limit)',
    'You have used 95% of your 5 hour limit',
    'limit reached (3:00 PM was the last request)',
    'resets 25:00',
    'resets 13pm',
    'resets 3pm (Nowhere/Land)'.replace('3pm', 'soon'),
  ])('LIM1 no moment in: %s', (words) => {
    expect(iso(words, '2026-11-18T12:00:00Z')).toBeNull();
  });
});
