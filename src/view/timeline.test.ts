import { describe, expect, it } from 'vitest';
import { timelineSchema } from '../api/timeline.ts';
import { schemaVersion } from '../api/version.ts';
import { agentName, runtimeId, targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Lane } from '../model/state-history.ts';
import type { StateName } from '../model/states.ts';
import { width } from '../text/width.ts';
import { timelineOf } from './timeline.ts';
import { barCells, sumLabel, timelineLines } from './timeline-text.ts';

const hour = 3_600_000;
const evening = Date.parse('2026-03-10T22:00:00Z');

function lane(name: string, ...spans: readonly [StateName, number, number][]): Lane {
  return {
    owner: {
      runtime_id: runtimeId(name),
      agent: agentName('claude'),
      target: targetId('host'),
      cwd: '/home/me/shop/',
      place: 'work:1.0',
    },
    spans: spans.map(([state, from, to]) => ({
      state,
      reason_code: 'prompt_ready',
      from: evening + from * hour,
      to: evening + to * hour,
    })),
    isOpen: false,
  };
}

const window = { since: evening, until: evening + 4 * hour };
const documentOf = (lanes: readonly Lane[], offsetMinutes = 0) => ({
  schema_version: schemaVersion as 1,
  generated_at: '2026-03-11T02:00:00.000Z',
  ...timelineOf({ lanes, ...window, offsetMinutes }),
});

describe('the timeline', () => {
  const lanes = [
    lane('one', ['running', 0, 1], ['waiting_approval', 1, 3]),
    lane('two', ['waiting_input', 1, 4], ['error', 4, 4.5]),
  ];

  it('LOG7 sums up by agent, by day and as a whole; who waited longest comes first', () => {
    const document = timelineSchema.parse(documentOf(lanes));
    expect(document.items.map(({ runtime_id, waited_ms }) => [runtime_id, waited_ms / hour])).toEqual([
      ['two', 3],
      ['one', 2],
    ]);
    expect(document.waited_ms).toBe(5 * hour);
    expect(document.days.map(({ day, waited_ms }) => [day, waited_ms / hour])).toEqual([
      ['2026-03-10', 2],
      ['2026-03-11', 3],
    ]);
    expect(document.items[0]).toMatchObject({ project: 'shop', ref: 'runtime:two', where: 'work:1.0' });
  });

  it('LOG7 days begin where the daemon is', () => {
    expect(documentOf(lanes, 120).days.map(({ day, waited_ms }) => [day, waited_ms / hour])).toEqual([
      ['2026-03-11', 5],
    ]);
  });

  it('LOG7 keeps an answer small: the newest spans are shown, all are counted', () => {
    const count = limits.timelineSpansMax + 5;
    const many = lane(
      'one',
      ...Array.from({ length: count }, (_, at): [StateName, number, number] => [
        'running',
        at / count,
        (at + 0.5) / count,
      ]),
    );
    const document = documentOf([many]);
    expect(document.is_cut).toBe(true);
    expect(document.items[0]?.spans).toHaveLength(limits.timelineSpansMax);
    expect(Date.parse(document.items[0]?.spans[0]?.from ?? '')).toBeGreaterThan(evening);
    expect(document.totals.running / hour).toBeCloseTo(0.5, 3);
    expect(documentOf(lanes).is_cut).toBe(false);
  });

  it('LOG7 a cell is what filled most of it; what nobody saw stays empty', () => {
    const { items, since, until } = documentOf([
      lane('one', ['running', 0, 1.4], ['waiting_approval', 1.4, 2], ['idle', 3.9, 4]),
    ]);
    expect(barCells(items[0]?.spans ?? [], Date.parse(since), Date.parse(until), 4)).toEqual([
      'running',
      'waiting_approval',
      null,
      'idle',
    ]);
  });

  it('SEC3 says it in lines that fit, with foreign names through the gate', () => {
    const [first] = lanes;
    const evil = { ...lanes[0], owner: { ...first?.owner, cwd: '/home/me/a\u001b[2Jb\nc' } } as Lane;
    for (const columns of [40, 80, 200]) {
      const lines = timelineLines(documentOf([evil]), { columns, colour: false });
      expect(lines.every((line) => width(line) <= columns)).toBe(true);
      expect(lines.join('')).not.toContain('\u001b');
      expect(lines.at(-1)).toBe('agents waited for you: 2h 0m');
    }
  });

  it.each([
    [0, '0m'],
    [20_000, '<1m'],
    [38 * 60_000, '38m'],
    [125 * 60_000, '2h 5m'],
  ])('%d ms is %s', (ms, words) => expect(sumLabel(ms)).toBe(words));
});
