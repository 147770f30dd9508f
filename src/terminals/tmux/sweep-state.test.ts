import { describe, expect, it } from 'vitest';
import { paneId } from '../../model/ids.ts';
import { SweepState } from './sweep-state.ts';
import type { ActivityRow, FullRow } from './topology.ts';

const server = { pid: 1, startTime: 2, version: '3.3a', socketPath: '/s' };
const one = paneId('%1');
const two = paneId('%2');

function gate(pane: string, activity: number, more: Partial<ActivityRow> = {}): ActivityRow {
  return { pane: paneId(pane), panePid: 10, activity, title: 't', ...more };
}

function full(pane: string, activity: number, more: Partial<ActivityRow> = {}): FullRow {
  const row = gate(pane, activity, more);
  const place = { sessionId: '$0', sessionName: 's', windowId: '@0', windowIndex: 0, windowName: 'w', paneIndex: 0 };
  const rest = { tty: '/dev/pts/1', visible: false, dead: false, deadStatus: null, deadSignal: null, inMode: false };
  const shape = { width: 80, height: 24, currentCommand: 'sh', cwd: '/' };
  return { ...row, view: { pane: row.pane, panePid: row.panePid, title: row.title, ...place, ...rest, ...shape } };
}

const body = (text: string): Uint8Array => Buffer.from(text);

function state(rows: readonly FullRow[]): SweepState {
  const made = new SweepState();
  made.takeFull(rows);
  made.want([one, two]);
  return made;
}

describe('captures', () => {
  it('are due for wanted panes that were never read, that printed since, or that may still print in that second', () => {
    const sweep = state([full('%1', 100), full('%2', 50), full('%3', 100)]);
    expect(sweep.capturesDue()).toEqual([one, two]);
    sweep.takeCapture(one, body('a'), 0, 200);
    sweep.takeCapture(two, body('b'), 0, 200);
    expect(sweep.capturesDue()).toEqual([]);
    expect(sweep.takeGate(body('g1'), () => [gate('%1', 100), gate('%2', 60), gate('%3', 100)])).toBe(true);
    expect(sweep.capturesDue()).toEqual([two]);
  });

  it('RSV5 from within the second of the stamp are taken again, however long nobody looked in between', () => {
    const sweep = state([full('%1', 100)]);
    sweep.want([one]);
    // In the same second and in the one after it the window may print, or be about to, under the same stamp.
    for (const serverTime of [100, 101]) {
      sweep.takeCapture(one, body('working'), 0, serverTime);
      expect(sweep.capturesDue()).toEqual([one]);
    }
    expect(sweep.takeCapture(one, body('asking'), 0, 104)?.lines).toEqual(['asking']);
    expect(sweep.capturesDue()).toEqual([]);
  });

  it('are told only when the lines differ', () => {
    const sweep = state([full('%1', 100)]);
    expect(sweep.takeCapture(one, body('a\nb'), 7, 200)).toEqual({ pane: one, lines: ['a', 'b'], capturedAt: 7 });
    expect(sweep.takeCapture(one, body('a\nb'), 8, 200)).toBeNull();
    expect(sweep.takeCapture(one, body('a\nc'), 9, 200)?.lines).toEqual(['a', 'c']);
    expect(sweep.takeCapture(paneId('%9'), body('x'), 9, 200)).toBeNull();
    sweep.want([]);
    expect(sweep.takeCapture(one, body('d'), 9, 200)).toBeNull();
  });

  it('of a pane that went and came again are news', () => {
    const sweep = state([full('%1', 100)]);
    sweep.takeCapture(one, body('a'), 0, 200);
    sweep.takeFull([]);
    sweep.takeFull([full('%1', 100)]);
    expect(sweep.capturesDue()).toEqual([one]);
    expect(sweep.takeCapture(one, body('a'), 1, 200)).not.toBeNull();
  });
});

describe('news', () => {
  it('FED1 of one pane leave the others the very same', () => {
    const sweep = state([full('%1', 100), full('%2', 100)]);
    const before = sweep.news(server);
    sweep.takeFull([full('%1', 100), full('%2', 100, { panePid: 11 })]);
    const after = sweep.news(server);
    expect(after?.panes.get(one)).toBe(before?.panes.get(one));
    expect(after?.panes.get(two)).not.toBe(before?.panes.get(two));
    expect([after?.panes.get(two)?.panePid, [...(after?.panes.keys() ?? [])]]).toEqual([11, [one, two]]);
  });
});

describe('the gate', () => {
  it('IDN4 another process, another pane or another order asks for the full answer', () => {
    const sweep = state([full('%1', 100), full('%2', 100)]);
    const takes = (rows: ActivityRow[]): boolean => sweep.takeGate(body(JSON.stringify(rows)), () => rows);
    expect(takes([gate('%1', 100), gate('%2', 100)])).toBe(true);
    expect(takes([gate('%1', 100, { panePid: 11 }), gate('%2', 100)])).toBe(false);
    expect(takes([gate('%2', 100), gate('%1', 100)])).toBe(false);
    expect(takes([gate('%1', 100)])).toBe(false);
    expect(takes([gate('%1', 100), gate('%2', 100), gate('%3', 1)])).toBe(false);
  });

  it('that says the same again is not even read', () => {
    const sweep = state([full('%1', 100)]);
    let reads = 0;
    const read = (): ActivityRow[] => {
      reads += 1;
      return [gate('%1', 100)];
    };
    for (let round = 0; round < 5; round += 1) expect(sweep.takeGate(body('same'), read)).toBe(true);
    expect(reads).toBe(1);
  });

  it('a new title is a new topology, a new stamp is not', () => {
    const sweep = state([full('%1', 100)]);
    expect(sweep.news(server)?.panes.size).toBe(1);
    sweep.takeGate(body('1'), () => [gate('%1', 101)]);
    expect(sweep.news(server)).toBeNull();
    sweep.takeGate(body('2'), () => [gate('%1', 101, { title: 'new' })]);
    expect(sweep.news(server)?.panes.get(one)?.title).toBe('new');
    sweep.takeFull([full('%1', 101, { title: 'new' })]);
    expect(sweep.news(server)).toBeNull();
    sweep.forget();
    sweep.takeFull([full('%1', 101, { title: 'new' })]);
    expect(sweep.news(server)).not.toBeNull();
  });
});
