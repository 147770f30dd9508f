// Who belongs to a shell, from process tables that are made up; and that a signal never goes to anybody else.

import { describe, expect, it } from 'vitest';
import { createRealClock } from '../platform/clock.ts';
import { type Exec, notStarted } from '../platform/exec.ts';
import type { Processes, SignalName } from '../platform/processes.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import {
  createReach,
  openProcTable,
  openPsTable,
  procRow,
  type ReachRow,
  type ReachTable,
  shellMembers,
} from './reach.ts';

const row = (
  pid: number,
  ppid: number,
  pgid: number,
  session: number | null,
  fields: Partial<ReachRow> = {},
): ReachRow => ({
  pid,
  ppid,
  pgid,
  session,
  state: 'S',
  start: String(pid * 10),
  ...fields,
});

const leader = { boot: 'b', pid: 100, start: '1000' };
const daemon = row(50, 1, 50, 50);
const holder = row(90, 50, 90, 90);
const own = [row(100, 90, 100, 100), row(101, 100, 100, 100), row(102, 1, 102, 100), row(103, 101, 103, 103)];
const strangers = [daemon, holder, row(200, 1, 200, 200), row(201, 200, 200, 200)];

const pidsOf = (rows: readonly ReachRow[]): readonly number[] =>
  rows.map(({ pid }) => pid).sort((one, other) => one - other);

interface ShellTransitions {
  readonly reach: ReturnType<typeof createReach>;
  readonly sent: string[];
}

function desk(rows: readonly ReachRow[], trouble: string | null = null): ShellTransitions {
  const sent: string[] = [];
  const table: ReachTable = {
    boot: 'b',
    row: async (pid) => rows.find((one) => one.pid === pid) ?? null,
    rows: async () => rows,
    start: (text) => text,
  };
  const note = (kind: string) => (pid: number, signal: SignalName) => {
    sent.push(`${kind} ${pid} ${signal}`);
    return trouble;
  };
  return { reach: createReach(table, { toProcess: note('process'), toGroup: note('group') }, 50), sent };
}

describe('who belongs to a shell', () => {
  it('SHL3 its session, its group and whatever these have started', () => {
    expect(pidsOf(shellMembers([...strangers, ...own], leader, 50))).toEqual([100, 101, 102, 103]);
  });

  it('SHL3 also when its leader is gone', () => {
    expect(pidsOf(shellMembers([...strangers, ...own.slice(1)], leader, 50))).toEqual([101, 102, 103]);
  });

  it('SHL3 where sessions are not told, its group and its children', () => {
    const rows = [...strangers, ...own].map((one) => ({ ...one, session: null }));
    expect(pidsOf(shellMembers(rows, leader, 50))).toEqual([100, 101, 103]);
  });

  it('SHL3 before it has a session of its own, neither the holder nor the rest of its session', () => {
    const rows = [holder, row(91, 90, 90, 90), row(100, 91, 90, 90)];
    expect(pidsOf(shellMembers(rows, leader, 50))).toEqual([100]);
  });

  it('IDN3 nobody, when another process has its number', () => {
    const others = [row(100, 1, 100, 100, { start: '7777' }), row(101, 100, 100, 100)];
    expect(shellMembers([...strangers, ...others], leader, 50)).toEqual([]);
  });

  it('SHL3 never the daemon itself, nor what is dead already', () => {
    const rows = [row(100, 90, 100, 100), row(50, 100, 50, 50), row(104, 100, 100, 100, { state: 'Z' })];
    expect(pidsOf(shellMembers(rows, leader, 50))).toEqual([100]);
  });
});

describe('a signal', () => {
  it('SHL3 goes to the groups of its session as a whole, and to others one by one', async () => {
    const { reach, sent } = desk([...strangers, ...own]);
    expect(await reach.send(leader, 'SIGTERM')).toEqual({ kind: 'sent' });
    expect(sent.sort()).toEqual(['group 100 SIGTERM', 'group 102 SIGTERM', 'process 103 SIGTERM']);
  });

  it('IDN3 goes to nobody when its number was given to another, or on another boot', async () => {
    const { reach, sent } = desk([row(100, 1, 100, 100, { start: '7777' })]);
    expect(await reach.send(leader, 'SIGKILL')).toEqual({ kind: 'gone' });
    expect(await reach.look(leader)).toBe('gone');
    const whole = desk(own);
    expect(await whole.reach.send({ ...leader, boot: 'another' }, 'SIGKILL')).toEqual({ kind: 'gone' });
    expect(await whole.reach.look({ ...leader, boot: 'another' })).toBe('gone');
    expect([...sent, ...whole.sent]).toEqual([]);
  });

  it('SHL3 that is refused says why; that came too late is none', async () => {
    expect(await desk(own, 'EPERM').reach.send(leader, 'SIGTERM')).toMatchObject({ kind: 'refused' });
    expect(await desk(own, 'ESRCH').reach.send(leader, 'SIGTERM')).toEqual({ kind: 'gone' });
  });

  it('SHL4 one that is stopped anywhere can be continued', async () => {
    const stopped = own.map((one) => (one.pid === 101 ? { ...one, state: 'T' } : one));
    expect(await desk(stopped).reach.look(leader)).toBe('running');
    expect(await desk(stopped).reach.lookAtAll(leader)).toBe('stopped');
    expect(await desk([]).reach.lookAtAll(leader)).toBe('gone');
  });
});

it('IDN3 a line of /proc is read right, whatever the process calls itself', () => {
  const line = (name: string): string => `42 (${name}) T 7 40 41 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 420761 99 1`;
  for (const name of ['sh', 'a b', ') S 1 2 3', '((', 'x\ny']) {
    expect(procRow(line(name))).toEqual({ pid: 42, ppid: 7, pgid: 40, session: 41, state: 'T', start: '420761' });
  }
  expect([procRow(''), procRow('42 (sh'), procRow('x (sh) S 1')]).toEqual([null, null, null]);
});

it('SHL3 many who ask at once for all processes are given one table, and who asks later a new one', async () => {
  let lists = 0;
  const processes: Processes = {
    read: (path) =>
      path.endsWith('boot_id')
        ? 'b\n'
        : `${path.split('/')[2]} (sh) S 1 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 7 99 1`,
    readLink: () => null,
    list: () => {
      lists += 1;
      return Array.from({ length: 600 }, (_, at) => at + 2);
    },
    exists: () => true,
    turnover: () => null,
    lastPid: () => null,
  };
  const table = openProcTable(processes, createRealClock());
  if (!table.ok) throw new Error(table.failure.message);
  const tables = await Promise.all(Array.from({ length: 50 }, () => table.value.rows()));
  expect([lists, new Set(tables).size, tables[0]?.length]).toEqual([1, 1, 600]);
  await table.value.rows();
  expect(lists).toBe(2);
});

it('IDN3 a number that is given to another while the table is read is not signalled', async () => {
  const sent: number[] = [];
  const table: ReachTable = {
    boot: 'b',
    row: async (pid) => row(pid, 1, pid, pid, { start: '7777' }),
    rows: async () => own,
    start: (text) => text,
  };
  const note = (pid: number): null => {
    sent.push(pid);
    return null;
  };
  const reach = createReach(table, { toProcess: note, toGroup: note }, 50);
  expect(await reach.send(leader, 'SIGKILL')).toEqual({ kind: 'gone' });
  expect(sent).toEqual([]);
});

const report = (state: string): string => `agtmux-boot A1B2
agtmux-stat

agtmux-arguments-of-processes

agtmux-ps
  100     1   100    -1 ??       ${state}    Sun Nov 15 22:52:00 2026 /bin/sh -c x
  101   100   100    -1 ??       S    Sun Nov 15 22:52:01 2026 sleep 600

agtmux-end 0
`;

function answering(answer: () => { readonly status: number; readonly text: string }): Exec & { runs(): number } {
  let runs = 0;
  return {
    runs: () => runs,
    run: async () => {
      runs += 1;
      const { status, text } = answer();
      return { ...notStarted(''), spawnError: null, status, stdout: Buffer.from(text) };
    },
  };
}

it('SHL3 tells groups, parents and starts, and the start that a holder wrote in its own words', async () => {
  const clock = createSimulatedClock();
  let state = 'S';
  const exec = answering(() => ({ status: 0, text: report(state) }));
  const table = await openPsTable(exec, clock);
  if (!table.ok) throw new Error(table.failure.message);
  expect(table.value.boot).toBe('A1B2');
  const start = table.value.start('Sun Nov 15 22:52:00 2026\n');
  expect(await table.value.row(100)).toEqual({ pid: 100, ppid: 1, pgid: 100, session: null, state: 'S', start });
  expect(await table.value.row(7)).toBeNull();
  state = 'T';
  // A look every second at each of many shells is one table; who sends signals gets a new one.
  const runs = exec.runs();
  expect((await table.value.row(100))?.state).toBe('S');
  expect(exec.runs()).toBe(runs);
  expect((await table.value.rows()).map((row) => row.state)).toEqual(['T', 'S']);
  clock.advance(1_000);
  expect((await table.value.row(100))?.state).toBe('T');
});

it('SHL3 fails where ps does not answer', async () => {
  const silent = answering(() => ({ status: 1, text: '' }));
  expect(await openPsTable(silent, createSimulatedClock())).toMatchObject({ ok: false });
});
