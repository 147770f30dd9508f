// Which windows of editors have told of terminals: found from the processes below, gone with their own process or their key.
import { expect, it } from 'vitest';
import { limits } from '../model/limits.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import type { StatLine } from '../sources/process/stat.ts';
import type { ProcessTable } from '../sources/process/table.ts';
import { EditorWindows } from './editor-windows.ts';

/** Below which the others stand: 10 to 13 are windows and 4 what started them; everything from 100 on is a shell of theirs. */
const parents = new Map([
  ...[10, 11, 12, 13].map((pid) => [pid, 4] as const),
  ...[[4, 3] as const, [3, 2] as const, [20, 3] as const, [30, 2] as const, [31, 30] as const],
]);
const programs = new Map([2, 20, 30, 31].map((pid) => [pid, pid === 2 ? 'tmux' : 'bash']));

function world() {
  const gone = new Set<number>();
  let changes = 0;
  const windows = new EditorWindows({
    clock: createSimulatedClock(),
    proc: {
      identity: (pid) => (gone.has(pid) ? null : { boot: 'b', pid, start: '5' }),
      isAlive: ({ pid }) => !gone.has(pid),
      lineage: (pid) => lineOf(pid).map((at) => ({ pid: at, startTicks: '5' }) as StatLine),
      program: ({ pid }) => ({ executable: pid === 3 ? null : (programs.get(pid) ?? 'code'), argv: [] }),
    },
    folder: '/run',
    onChange: () => {
      changes += 1;
    },
  });
  return { windows, gone, changes: () => changes };
}

function lineOf(pid: number): readonly number[] {
  const parent = pid >= 100 ? 4 : parents.get(pid);
  return parent === undefined ? [pid] : [pid, ...lineOf(parent)];
}

const told = (socket: string, ...pids: readonly number[]) => ({
  socket: `/run${socket}`,
  secret: 'abc',
  terminals: pids.map((pid) => ({ id: String(pid), pid })),
});
const lineage = (...pids: readonly number[]) => pids.map((pid) => ({ pid }));

it('EDI9 IDN10a knows the terminals that a window told of last, and what runs below them', () => {
  const { windows, changes } = world();
  expect(windows.put('e1', 10, told('/a', 100))).toBe('new');
  expect(windows.put('e1', 10, told('/a', 100, 101))).toBe('known');
  expect(windows.put('e1', 11, told('/b', 200))).toBe('new');
  expect([windows.roots(), changes()]).toEqual([[100, 101, 200], 3]);
  expect(windows.rootIn(lineage(900, 500, 101, 50))).toBe(2);
  expect(windows.rootIn(lineage(900, 50))).toBeNull();
  expect([windows.backendOf(101)?.name, windows.backendOf(102)]).toEqual(['vscode', null]);
  windows.put('e1', 10, told('/a', 100));
  expect(windows.rootIn(lineage(900, 101))).toBeNull();
});

it('EDI9 forgets a window with its process, with the key of its editor, and the oldest of too many', () => {
  const { windows, gone } = world();
  windows.put('e1', 10, told('/a', 100));
  windows.put('e2', 11, told('/b', 200));
  windows.put('e2', 12, told('/c', 300));
  gone.add(12);
  expect(windows.roots()).toEqual([100, 200]);
  expect(windows.put('e2', 12, told('/c', 300))).toBe('gone');
  windows.drop(['e2']);
  expect(windows.roots()).toEqual([100]);
  for (let number = 0; number < limits.editorWindowsMax; number += 1) {
    windows.put('e3', 13, told(`/window-${number}`, 1_000 + number));
  }
  expect([windows.roots().length, windows.rootIn(lineage(100))]).toEqual([limits.editorWindowsMax, null]);
});

it('EDI9 IDN10a takes what runs in its terminals out of the tree of the pane that it was started in', () => {
  const { windows } = world();
  const processes = new Map([10, 100, 101].map((pid) => [pid, { pid, ppid: 10 }]));
  const table = { boot: 'b', processes } as unknown as ProcessTable;
  expect(windows.outside(table)).toBe(table);
  windows.put('e1', 10, told('/a', 100));
  expect([...windows.outside(table).processes.values()].map(({ ppid }) => ppid)).toEqual([10, 0, 10]);
  expect(processes.get(100)?.ppid).toBe(10);
});

it('EDI9 leaves out what is not below the program of the window, and the window itself', () => {
  const { windows } = world();
  // 2 is what all of them were started in, and 3 cannot be looked at.
  windows.put('e1', 10, told('/a', 100, 31, 30, 20, 3, 2, 4, 10));
  expect(windows.roots()).toEqual([100]);
  windows.put('e1', 30, told('/b', 31, 101, 20));
  expect(windows.roots()).toEqual([100, 31]);
});

it('EDI9 takes no socket that is not beside the one of the daemon', () => {
  const { windows, changes } = world();
  for (const socket of ['/tmp/a', '/run/../a', '/run/below/a', '/a']) {
    expect(windows.put('e1', 10, { ...told('/a', 100), socket })).toBe('elsewhere');
  }
  expect([windows.roots(), changes()]).toEqual([[], 0]);
});
