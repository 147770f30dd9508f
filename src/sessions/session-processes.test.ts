import { describe, expect, it } from 'vitest';
import type { ReachRow } from '../shells/reach.ts';
import { membersOf } from './session-processes.ts';

const boot = 'boot';
const leader = { boot, pid: 100, start: '5' };
const row = (pid: number, more: Partial<ReachRow> = {}): ReachRow => ({
  pid,
  ppid: 1,
  pgid: pid,
  session: pid,
  state: 'S',
  start: String(pid),
  ...more,
});
const run = (known: readonly number[] = []) => ({
  leader,
  mark: 'mark',
  known: known.map((pid) => ({ boot, pid, start: String(pid) })),
});
const pids = (rows: readonly ReachRow[], marked: readonly number[] = [], known: readonly number[] = []): number[] =>
  membersOf(rows, run(known), { boot, hasMark: (pid) => marked.includes(pid) }).members.map(({ pid }) => pid);

const gone = [row(101, { session: 100, pgid: 100 }), row(102, { session: 100 }), row(103, { ppid: 102 }), row(104)];

describe('who belongs to a session', () => {
  it('SES4 while its program is there: its session and group of the system, and what these have started', () => {
    const there = row(100, { start: '5' });
    expect(pids([there, ...gone])).toEqual([100, 101, 102, 103]);
  });

  it('IDN3 after it has gone, its number alone proves nothing: one that carries the mark or was seen vouches', () => {
    expect(pids(gone)).toEqual([]);
    expect(pids(gone, [101])).toEqual([101, 102, 103]);
    expect(pids(gone, [], [102])).toEqual([101, 102, 103]);
    // Apart from it: a server that it started is nobody's but its own.
    expect(pids(gone, [104])).toEqual([]);
    expect(pids(gone, [], [104])).toEqual([104]);
  });

  it('IDN3 another process under the same number, or after another start of the machine, is left alone', () => {
    const other = [row(100, { start: '900' }), ...gone];
    expect(pids(other, [101])).toEqual([]);
    expect(pids([row(104, { start: '901' })], [], [104])).toEqual([]);
    expect(membersOf(gone, run(), { boot: 'later', hasMark: () => true }).members).toEqual([]);
  });

  it('the dead and this very process are not among them', () => {
    const there = row(100, { start: '5' });
    const rows = [there, row(101, { session: 100, state: 'Z' }), row(process.pid, { session: 100 })];
    expect(pids(rows)).toEqual([100]);
  });
});
