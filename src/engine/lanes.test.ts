import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentName, runtimeId, targetId } from '../model/ids.ts';
import type { Lane, LaneOwner, StateHistoryLine } from '../model/state-history.ts';
import type { StateName } from '../model/states.ts';
import { LaneReader } from './lanes.ts';

const one = runtimeId('one');
const owner: LaneOwner = {
  runtime_id: one,
  agent: agentName('claude'),
  target: targetId('host'),
  cwd: '/home/me/shop',
  place: 'work:1.0',
};
const is = (at: number, state: StateName, runtime = one): Extract<StateHistoryLine, { kind: 'state' }> => ({
  kind: 'state',
  at,
  runtime_id: runtime,
  state,
  reason_code: 'prompt_ready',
  owner: { ...owner, runtime_id: runtime },
});
const away = (at: number): StateHistoryLine => ({ ...is(at, 'unknown'), reason_code: 'target_unreachable' });
const start = (at: number): StateHistoryLine => ({ kind: 'start', at });
const beat = (at: number): StateHistoryLine => ({ kind: 'beat', at });
const over = (at: number): StateHistoryLine => ({ kind: 'over', at, runtime_id: one });

function read(lines: readonly StateHistoryLine[], since = 0, until = 100_000): Lane[] {
  const reader = new LaneReader({ since, until });
  for (const line of lines) reader.take(line);
  return reader.lanes();
}

const told = (lanes: readonly Lane[]): string[] =>
  lanes.flatMap(({ spans, isOpen }) => [
    ...spans.map(({ state, from, to }) => `${state} ${from}-${to}`),
    ...(isOpen ? ['open'] : []),
  ]);

describe('lanes', () => {
  it('LOG7 one span a state, the last one open to the end of the window', () => {
    expect(told(read([is(10_000, 'running'), is(30_000, 'waiting_approval')]))).toEqual([
      'running 10000-30000',
      'waiting_approval 30000-100000',
      'open',
    ]);
  });

  it('LOG7 an end closes it', () => {
    expect(told(read([is(10_000, 'running'), over(20_000)]))).toEqual(['running 10000-20000']);
  });

  it('LOG7 a state that is told again went on, in a new file and by the next run', () => {
    const lines = [is(10_000, 'running'), is(10_000, 'running'), beat(40_000), start(60_000), is(10_500, 'running')];
    expect(told(read(lines))).toEqual(['running 10000-100000', 'open']);
  });

  it('LOG7 what nobody saw is nobody’s: from the last beat to what the next run saw begin', () => {
    const lines = [is(10_000, 'running'), beat(40_000), start(60_000), is(60_000, 'running')];
    expect(told(read(lines))).toEqual(['running 10000-40000', 'running 60000-100000', 'open']);
    expect(told(read([is(10_000, 'running'), beat(40_000), start(60_000), is(20_000, 'idle')]))).toEqual([
      'running 10000-20000',
      'idle 20000-100000',
      'open',
    ]);
  });

  it('LOG7 an agent that the next run does not know ended with the run before', () => {
    expect(told(read([is(10_000, 'running'), beat(40_000), start(60_000)]))).toEqual(['running 10000-40000']);
  });

  it('LOG7 RSV6 a machine that does not answer is a gap: a state that is found unchanged after it went on', () => {
    const before = [is(10_000, 'waiting_approval'), away(40_000)];
    expect(told(read(before))).toEqual(['waiting_approval 10000-40000', 'unknown 40000-100000', 'open']);
    expect(told(read([...before, is(10_000, 'waiting_approval')]))).toEqual(['waiting_approval 10000-100000', 'open']);
    const twice = [...before, beat(50_000), start(60_000), away(60_000)];
    expect(told(read(twice))).toEqual([
      'waiting_approval 10000-40000',
      'unknown 40000-50000',
      'unknown 60000-100000',
      'open',
    ]);
    expect(told(read([...twice, is(10_000, 'waiting_approval')]))).toEqual(['waiting_approval 10000-100000', 'open']);
    expect(told(read([...twice, is(80_000, 'idle'), over(90_000)]))).toEqual([
      'waiting_approval 10000-40000',
      'unknown 40000-50000',
      'unknown 60000-80000',
      'idle 80000-90000',
    ]);
    expect(told(read([...before, over(50_000)]))).toEqual(['waiting_approval 10000-40000', 'unknown 40000-50000']);
  });

  it('LOG7 a run that does not know yet where an agent is leaves its place and project as they were', () => {
    const line = is(10_000, 'running');
    const blind = { ...line, owner: { ...owner, cwd: '', place: '' } };
    expect(read([line, start(60_000), blind])[0]?.owner).toEqual(owner);
  });

  it('LOG7 a lane whose name stands in a line that was lost is left out', () => {
    expect(read([{ ...is(10_000, 'running'), owner: null }])).toEqual([]);
  });

  it('LOG7 only what lies in the window counts', () => {
    const lines = [is(10_000, 'running'), is(30_000, 'idle'), is(70_000, 'error')];
    expect(told(read(lines, 20_000, 50_000))).toEqual(['running 20000-30000', 'idle 30000-50000']);
  });

  it('LOG7 whatever the lines: spans lie in the window, in order, and never over each other', () => {
    const at = fc.nat(120_000);
    const runtime = fc.constantFrom(one, runtimeId('two'));
    const states = fc.constantFrom<StateName>('running', 'idle', 'waiting_input');
    const line = fc.oneof(
      fc.tuple(at, states, runtime).map(([when, state, who]) => is(when, state, who)),
      at.map(over),
      at.map(away),
      at.map(beat),
      at.map(start),
    );
    fc.assert(
      fc.property(fc.array(line, { minLength: 5, maxLength: 40, size: 'max' }), (lines) => {
        for (const { spans } of read(lines, 20_000, 90_000)) {
          let last = 20_000;
          for (const { from, to } of spans) {
            expect(from).toBeGreaterThanOrEqual(last);
            expect(to).toBeGreaterThan(from);
            last = to;
          }
          expect(last).toBeLessThanOrEqual(90_000);
        }
      }),
    );
  });
});
