// Who belongs to a shell, and signals to all of them (SHL3): everything in the session and the group that the command
// leads, and whatever these have started. Nothing is sent unless the leader is the very process that was started (IDN3),
// or is gone and nobody else has its number.

import { fail, ok, type Result } from '../model/errors.ts';
import type { ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Exec } from '../platform/exec.ts';
import type { Processes, SignalName, Signals } from '../platform/processes.ts';
import { parsePsReport, psScript } from '../sources/process/ps.ts';
import { isDeadState } from '../sources/process/stat.ts';
import type { ProcessTable } from '../sources/process/table.ts';

// The process table for reaching shells where there is no /proc: macOS. It does not tell sessions; groups and parents do.

const question = {
  program: '/bin/sh',
  args: ['-c', psScript],
  env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
  deadlineMs: limits.shellTableMs,
  outputBytesMax: limits.shellTableBytesMax,
};

/** Every shell is looked at every second; one table does for all of them. */
const freshMs = 500;

export async function openPsTable(exec: Exec, clock: Clock): Promise<Result<ReachTable>> {
  const first = await read(exec);
  if (!first.ok) return first;
  const { boot } = first.value;
  const rows = async (): Promise<readonly ReachRow[]> => {
    const table = await read(exec);
    return table.ok && table.value.boot === boot ? rowsOf(table.value) : [];
  };
  let recent = { rows: rows(), until: clock.monotonicMs() + freshMs };
  const recentRows = (): Promise<readonly ReachRow[]> => {
    if (clock.monotonicMs() >= recent.until) recent = { rows: rows(), until: clock.monotonicMs() + freshMs };
    return recent.rows;
  };
  return ok({
    boot,
    rows,
    row: async (pid) => (await recentRows()).find((row) => row.pid === pid) ?? null,
    start: (text) => secondsOf(text),
  });
}

async function read(exec: Exec): Promise<Result<ProcessTable>> {
  const { status, stdout } = await exec.run(question);
  if (status !== 0) return fail('E_FILE', 'ps did not answer');
  return parsePsReport(Buffer.from(stdout).toString('latin1'));
}

const rowsOf = ({ processes }: ProcessTable): readonly ReachRow[] =>
  [...processes.values()].map(({ pid, ppid, pgid, state, identity }) => ({
    pid,
    ppid,
    pgid,
    session: null,
    state,
    start: identity.start,
  }));

/** `Sun Nov 15 22:52:00 2026` of the holder, who asked for UTC, as the table has it: seconds since 1970. */
function secondsOf(text: string): string {
  const ms = Date.parse(`${text.trim()} UTC`);
  return Number.isNaN(ms) ? text.trim() : String(ms / 1_000);
}

/** One line of the process table, as far as it matters here. */
export interface ReachRow {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  /** Null where the system does not tell it. */
  readonly session: number | null;
  readonly state: string;
  readonly start: string;
}

/** The process table of this machine, from wherever it can be read. */
export interface ReachTable {
  readonly boot: string;
  /** One process; null when it is gone. */
  row(pid: number): Promise<ReachRow | null>;
  rows(): Promise<readonly ReachRow[]>;
  /** The start of a process as its holder wrote it, in the words of this table. */
  start(text: string): string;
}

export type LifeSign = 'running' | 'stopped' | 'gone';

export type Sent =
  | { readonly kind: 'sent' }
  /** Nobody is left who could be sent anything. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'refused'; readonly reason: string };

export interface Reach {
  readonly boot: string;
  identity(pid: number, startText: string): ProcessIdentity;
  look(leader: ProcessIdentity): Promise<LifeSign>;
  /** The same of all that belong to it: stopped if any of them is. */
  lookAtAll(leader: ProcessIdentity): Promise<LifeSign>;
  send(leader: ProcessIdentity, signal: SignalName): Promise<Sent>;
}

export function createReach(table: ReachTable, signals: Signals, ownPid: number): Reach {
  const { boot } = table;
  const membersOf = async (leader: ProcessIdentity): Promise<readonly ReachRow[]> =>
    leader.boot === boot ? shellMembers(await table.rows(), leader, ownPid) : [];

  return {
    boot,
    identity: (pid, startText) => ({ boot, pid, start: table.start(startText) }),
    look: async (leader) => {
      if (leader.boot !== boot) return 'gone';
      const row = await table.row(leader.pid);
      return row === null || row.start !== leader.start ? 'gone' : signOf([row]);
    },
    lookAtAll: async (leader) => signOf(await membersOf(leader)),
    send: async (leader, signal) => {
      const members = await membersOf(leader);
      // The table took its time: once more, now.
      const row = await table.row(leader.pid);
      const isSame = row === null || row.start === leader.start;
      return isSame ? sendTo(members, leader, signal, signals) : { kind: 'gone' };
    },
  };
}

function signOf(rows: readonly ReachRow[]): LifeSign {
  if (rows.every(({ state }) => isDeadState(state))) return 'gone';
  return rows.some(({ state }) => state.startsWith('T')) ? 'stopped' : 'running';
}

/** Pure. Empty when the leader's number belongs to another process now: its session and group are another's too. */
export function shellMembers(
  rows: readonly ReachRow[],
  leader: Pick<ProcessIdentity, 'pid' | 'start'>,
  ownPid: number,
): readonly ReachRow[] {
  const holder = rows.find(({ pid }) => pid === leader.pid);
  if (holder !== undefined && holder.start !== leader.start) return [];
  const isNear = (row: ReachRow): boolean =>
    row.pid === leader.pid || row.session === leader.pid || row.pgid === leader.pid;
  const members = new Map(rows.filter(isNear).map((row) => [row.pid, row]));
  // Pids mostly grow from parent to child, so one or two rounds settle it.
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const row of rows) if (members.has(row.ppid)) members.set(row.pid, row);
  }
  members.delete(ownPid);
  return [...members.values()].filter(({ pid, state }) => pid > 1 && !isDeadState(state));
}

function sendTo(members: readonly ReachRow[], leader: ProcessIdentity, signal: SignalName, signals: Signals): Sent {
  if (members.length === 0) return { kind: 'gone' };
  const isOfSession = ({ session, pgid }: ReachRow): boolean => session === leader.pid || pgid === leader.pid;
  const groups = new Set(members.filter(isOfSession).map(({ pgid }) => pgid));
  const others = members.filter((row) => !isOfSession(row));
  const troubles = [
    ...[...groups].map((pgid) => signals.toGroup(pgid, signal)),
    ...others.map(({ pid }) => signals.toProcess(pid, signal)),
  ];
  // Who left in between needs no signal.
  if (troubles.includes(null)) return { kind: 'sent' };
  const code = troubles.find((trouble) => trouble !== 'ESRCH') ?? null;
  return code === null ? { kind: 'gone' } : { kind: 'refused', reason: refusalWords(code) };
}

const refusalWords = (code: string): string =>
  code === 'EPERM' ? 'its processes belong to another user (EPERM)' : `the system refused the signal (${code})`;

const statBytesMax = 1_024;
/** A busy machine has thousands of processes: after so many others get their turn. */
const rowsAtOnce = 256;

/** Fails where there is no /proc: macOS. */
export function openProcTable(processes: Processes, clock: Clock): Result<ReachTable> {
  const boot = processes.read('/proc/sys/kernel/random/boot_id', 64)?.trim() ?? '';
  if (boot === '') return fail('E_FILE', 'this machine has no readable /proc', 'agtmux uses ps instead');
  const row = (pid: number): ReachRow | null => {
    const text = processes.read(`/proc/${pid}/stat`, statBytesMax);
    return text === null ? null : procRow(text);
  };
  const pause = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  const read = async (): Promise<readonly ReachRow[]> => {
    const pids = processes.list() ?? [];
    const found: ReachRow[] = [];
    for (let at = 0; at < pids.length; at += rowsAtOnce) {
      if (at > 0) await pause(0);
      found.push(
        ...pids
          .slice(at, at + rowsAtOnce)
          .map(row)
          .filter((one) => one !== null),
      );
    }
    return found;
  };
  // Who asks while one is about to be read gets that one: two hundred kills at once are not two hundred tables.
  let next: Promise<readonly ReachRow[]> | null = null;
  const rows = (): Promise<readonly ReachRow[]> => {
    next ??= pause(limits.shellTableGatherMs).then(() => {
      next = null;
      return read();
    });
    return next;
  };
  return ok({ boot, row: async (pid) => row(pid), rows, start: (text) => text.trim() });
}

/** The name stands in parentheses and may hold anything; what counts stands behind the last of them. */
export function procRow(text: string): ReachRow | null {
  const close = text.lastIndexOf(') ');
  const [state = '', ppid, pgid, session, ...more] = text.slice(close + 2).split(' ');
  const start = more[15];
  const pid = Number.parseInt(text, 10);
  if (close < 0 || start === undefined || !Number.isSafeInteger(pid)) return null;
  return { pid, ppid: Number(ppid), pgid: Number(pgid), session: Number(session), state, start };
}
