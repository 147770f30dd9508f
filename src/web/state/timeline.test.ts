// Spans, ticks and times of the plots.

import { describe, expect, it } from 'vitest';
import type { TimelineDocument, TimelineLane } from '../../api/timeline.ts';
import { barsOf, durationText, lanesIn, roundTop, spanText, ticksOf, upTo } from './timeline.ts';

const hour = 3_600_000;
const noon = new Date(2026, 0, 5, 12).getTime();
const iso = (ms: number): string => new Date(ms).toISOString();

const lane = (
  spans: readonly (readonly [TimelineLane['spans'][number]['state'], number, number])[],
  is_open = false,
): TimelineLane =>
  ({
    runtime_id: 'a',
    is_open,
    spans: spans.map(([state, from, to]) => ({
      state,
      reason_code: 'turn_running',
      from: iso(noon + from),
      to: iso(noon + to),
    })),
  }) as unknown as TimelineLane;

const frame = { from: noon, to: noon + hour };

describe('the timeline', () => {
  it('cuts spans to what is looked at, and leaves out what lies outside', () => {
    const bars = barsOf(
      lane([
        ['running', -hour, hour / 2],
        ['idle', hour / 2, 3 * hour],
        ['error', 4 * hour, 5 * hour],
      ]),
      frame,
    );
    expect(bars.map(({ state, x, width }) => [state, x, width])).toEqual([
      ['running', 0, 0.5],
      ['idle', 0.5, 0.5],
    ]);
  });

  it('shows even the shortest wait, inside the plot', () => {
    const [bar] = barsOf(lane([['waiting_approval', hour - 1, hour]]), frame);
    expect(bar?.width).toBeGreaterThan(0.001);
    expect((bar?.x ?? 1) + (bar?.width ?? 1)).toBeLessThanOrEqual(1);
  });

  it('stands on round times', () => {
    expect(ticksOf(frame, 8).map(({ words }) => words)).toEqual(['12:00', '12:10', '12:20', '12:30', '12:40', '12:50']);
    expect(ticksOf({ from: noon, to: noon + 24 * hour }, 8)[0]?.words).toBe('12:00');
    expect(ticksOf({ from: noon, to: noon + 31 * 24 * hour }, 8).length).toBeLessThanOrEqual(8);
    expect(ticksOf({ from: noon, to: noon + 7 * 24 * hour }, 8)[0]?.words).toBe('06.01.');
  });

  it('tells a time as people do', () => {
    expect([0, 12_000, 60_000, 38 * 60_000, 125 * 60_000, 76 * hour].map(durationText)).toEqual([
      '0 s',
      '12 s',
      '1 min',
      '38 min',
      '2 h 05',
      '3 d 4 h',
    ]);
    expect(
      spanText({ state: 'waiting_approval', reason_code: 'approval_asked', from: iso(noon), to: iso(noon + 240_000) }),
    ).toBe('▲ approve, asks for approval, 12:00 to 12:04 (4 min)');
  });

  it('lets what goes on reach until now, and only that', () => {
    const open = lane([['running', 0, 1_000]], true);
    const closed = lane([['running', 0, 1_000]]);
    const document = { items: [open, closed] } as unknown as TimelineDocument;
    const [first, second] = upTo(document, noon + 5_000).items;
    expect(first?.spans[0]?.to).toBe(iso(noon + 5_000));
    expect(second?.spans[0]?.to).toBe(iso(noon + 1_000));
    expect(lanesIn({ ...document, items: [lane([['idle', 4 * hour, 5 * hour]]), open] }, frame, 5)).toHaveLength(1);
  });

  it('has a round top', () => {
    expect([1, 5, 71, 200, 5_000].map(roundTop)).toEqual([5, 5, 120, 240, 5_760]);
  });
});
