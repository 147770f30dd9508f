// The processes of this machine for sessions: who they are, whether they are still there, and which of them carry a mark of
// ours. From /proc where there is one, from ps elsewhere.

import { sendSignal } from '../actions/signals.ts';
import type { ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Processes } from '../platform/processes.ts';
import { openProcTable, type ReachRow, shellMembers } from '../shells/reach.ts';
import { openProc } from '../sources/process/proc.ts';
import { parsePsReport, psScript } from '../sources/process/ps.ts';
import { argvOf, isDeadState } from '../sources/process/stat.ts';
import type { ProcessTable } from '../sources/process/table.ts';
import type { Executor } from '../targets/executor.ts';
import type { ProcessChecks, ProgramRun, RunMembers } from './runner.ts';

const environmentBytesMax = 262_144;

export function createProcessChecks(
  processes: Processes,
  executor: () => Executor | null,
  clock: Clock,
): ProcessChecks {
  const signal: ProcessChecks['signal'] = async (identity, name) => {
    const at = executor();
    return at !== null && (await sendSignal(at, identity, name)) === 'sent';
  };
  const proc = openProc(processes);
  const table = openProcTable(processes, clock);
  if (proc.ok && table.ok) {
    const { identity, isAlive } = proc.value;
    return {
      identityOf: async (pid) => identity(pid),
      isAlive: async (one) => isAlive(one),
      signal,
      members: async (run) => {
        const hasMark = (pid: number): boolean => run.mark !== null && isMarked(processes, pid, run.mark);
        return membersOf(await table.value.rows(), run, { boot: table.value.boot, hasMark });
      },
      marked: async (mark) => markedIn(processes, mark, identity),
    };
  }
  const isThere = (table: ProcessTable | null, { pid, start }: ProcessIdentity): boolean =>
    table?.processes.get(pid)?.identity.start === start;
  return {
    identityOf: async (pid) => (await tableOf(executor()))?.processes.get(pid)?.identity ?? null,
    isAlive: async (one) => isThere(await tableOf(executor()), one),
    signal,
    members: async (run) => {
      const read = await tableOf(executor());
      if (read === null) return { isLeaderThere: false, members: [] };
      const rows = [...read.processes.values()].map((one) => ({ ...one, session: null, start: one.identity.start }));
      return membersOf(rows, run, { boot: read.boot, hasMark: () => false });
    },
    // Other systems do not show the environment of a process to anyone.
    marked: async () => [],
  };
}

async function tableOf(executor: Executor | null): Promise<ProcessTable | null> {
  if (executor === null) return null;
  const { stdout, status } = await executor.run(['sh', '-c', psScript], {
    deadlineMs: limits.processesAnswerMs,
    outputBytesMax: limits.processesBytesMax,
  });
  const read = status === 0 ? parsePsReport(Buffer.from(stdout).toString('latin1')) : null;
  return read?.ok === true ? read.value : null;
}

async function markedIn(
  processes: Processes,
  mark: string,
  identityOf: (pid: number) => ProcessIdentity | null,
): ReturnType<ProcessChecks['marked']> {
  return (processes.list() ?? []).flatMap((pid) => {
    if (!isMarked(processes, pid, mark)) return [];
    const identity = identityOf(pid);
    const [program = 'a process'] = argvOf(processes.read(`/proc/${pid}/cmdline`, 4_096) ?? '');
    return identity === null ? [] : [{ identity, command: program }];
  });
}

const isMarked = (processes: Processes, pid: number, mark: string): boolean =>
  processes.read(`/proc/${pid}/environ`, environmentBytesMax)?.split('\0').includes(`AGTMUX_AGENT=${mark}`) === true;

/**
 * Pure. Where the leader is gone, its number says nothing by itself: another program may have had it since. But a number is
 * not given away while one process of its session or group lives, so one that is certainly ours vouches for the others.
 */
export function membersOf(
  rows: readonly ReachRow[],
  { leader, known }: ProgramRun,
  { boot, hasMark }: { readonly boot: string; readonly hasMark: (pid: number) => boolean },
): RunMembers {
  if (leader.boot !== boot) return { isLeaderThere: false, members: [] };
  const keyOf = ({ pid, start }: Pick<ProcessIdentity, 'pid' | 'start'>): string => `${pid} ${start}`;
  const knownKeys = new Set(known.map(keyOf));
  const isLeaderThere = rows.some((row) => keyOf(row) === keyOf(leader) && !isDeadState(row.state));
  const near = shellMembers(rows, leader, process.pid);
  const vouches = (row: ReachRow): boolean =>
    (row.session === leader.pid || row.pgid === leader.pid) && (knownKeys.has(keyOf(row)) || hasMark(row.pid));
  const members = new Map<number, ReachRow>();
  for (const row of isLeaderThere || near.some(vouches) ? near : []) members.set(row.pid, row);
  for (const row of rows) if (knownKeys.has(keyOf(row))) members.set(row.pid, row);
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const row of rows) if (members.has(row.ppid)) members.set(row.pid, row);
  }
  members.delete(process.pid);
  const alive = [...members.values()].filter(({ pid, state }) => pid > 1 && !isDeadState(state));
  return { isLeaderThere, members: alive.map(({ pid, start }) => ({ boot, pid, start })) };
}
