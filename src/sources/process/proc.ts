// The process table of this machine from Linux' /proc. Every process is in it; arguments and executables only for the
// trees that were asked for, and kept while the process runs the same program.

import type { ProgramView } from '../../agents/contract.ts';
import { fail, ok, type Result } from '../../model/errors.ts';
import type { ProcessIdentity } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Processes } from '../../platform/processes.ts';
import { argvOf, isDeadState, parseStat, type StatLine, ttyPath } from './stat.ts';
import type { ProcessEntry, ProcessTable } from './table.ts';

export interface ProcSource {
  readonly boot: string;
  /**
   * Reads every process. `roots` are the panes' own processes: what runs below them or on their terminals gets its
   * arguments and executable read; all others have none. `isAgain`: those that had nothing to do with the roots of any
   * earlier look are listed as they were then; only who began since is read, and whoever has to do with these roots. A
   * process that moves below them, or to a terminal of theirs, is missed until the next look at everything.
   */
  read(roots: Iterable<number>, isAgain?: boolean): ProcessTable;
  /**
   * A few words that change when a pane's foreground changes, for one or two reads instead of all of /proc. The same
   * words twice do not promise that nothing changed: a wrapper may have started another child in the same group.
   */
  glance(panePid: number): string | null;
  /** This process and those above it, the nearest first: what it is by itself, without all others being read. */
  lineage(pid: number): readonly StatLine[];
  /** The user that it runs as; null when it is gone. */
  userOf(pid: number): number | null;
  /** When it began, ms by the machine's clock. */
  startedAtMs(line: Pick<StatLine, 'startTicks'>): number;
  identity(pid: number): ProcessIdentity | null;
  /** What this very process runs; null when it is gone. */
  program(identity: ProcessIdentity): ProgramView | null;
  /** This very process still runs: pid, start time, and not merely waiting to be collected (IDN3). */
  isAlive(identity: ProcessIdentity): boolean;
  /**
   * Some process has its pid: a fifteenth of the cost of `isAlive`, for a look many times a second at many agents. False
   * is certain; true still holds for one that nobody collects, and for a pid that came back.
   */
  seemsAlive(identity: ProcessIdentity): boolean;
  /** While these words stay the same nobody of this machine has begun or ended; null where nobody tells. */
  turnover(): string | null;
}

/** What a process runs, kept until it executes something else. */
interface Program {
  readonly startTicks: string;
  readonly name: string;
  readonly stackStart: string;
  readonly executable: string | null;
  readonly argv: readonly string[];
  readonly startedAtMs: number;
}

/** A process as the last look found it. */
interface Known {
  readonly line: StatLine;
  readonly program: Program;
  readonly entry: ProcessEntry;
}

const always = (): boolean => true;

/** Whether a pid was given out after the one and until the other. They go round in a circle. */
function givenOut(after: number | null, until: number | null): (pid: number) => boolean {
  if (after === null || until === null) return always;
  return after <= until ? (pid) => pid > after && pid <= until : (pid) => pid > after || pid <= until;
}

/** What user space is told, on every architecture that Node runs on; the kernel's own rate is another matter. */
const ticksPerSecond = 100;
const statBytesMax = 1_024;
const statusBytesMax = 4_096;
/** The line of the boot time follows one line a core and one of all interrupts. */
const kernelStatBytesMax = 262_144;

/** Fails where /proc does not tell what is needed: macOS, or a container that hides it. */
export function openProc(processes: Processes): Result<ProcSource> {
  const boot = processes.read('/proc/sys/kernel/random/boot_id', 64)?.trim() ?? '';
  if (boot === '' || bootSeconds(processes) === null) {
    return fail('E_FILE', 'this machine has no readable /proc', 'agtmux uses ps instead');
  }
  return ok(createProcSource(processes, boot));
}

type StatOf = (pid: number) => StatLine | null;

/** The lines of all processes, and which of them have to do with the roots: those were read just now. */
interface Lines {
  readonly lines: ReadonlyMap<number, StatLine>;
  readonly wanted: ReadonlySet<number>;
}

function linesReader(processes: Processes, statOf: StatOf) {
  /** Before the last look. */
  let lastPid: number | null = null;

  return (roots: readonly number[], isAgain: boolean, known: ReadonlyMap<number, Known>): Lines => {
    const before = processes.lastPid();
    const pids = processes.list() ?? [];
    const mayBeNew = isAgain ? givenOut(lastPid, processes.lastPid()) : always;
    lastPid = before;
    const lines = new Map<number, StatLine>();
    const unread = new Set<number>();
    for (const pid of pids) {
      const old = mayBeNew(pid) ? undefined : known.get(pid)?.line;
      if (old !== undefined) unread.add(pid);
      const line = old ?? statOf(pid);
      if (line !== null) lines.set(pid, line);
    }
    for (;;) {
      const wanted = wantedPids(lines, roots);
      const due = [...wanted].filter((pid) => unread.delete(pid));
      if (due.length === 0) return { lines, wanted };
      for (const pid of due) {
        const line = statOf(pid);
        if (line === null) lines.delete(pid);
        else lines.set(pid, line);
      }
    }
  };
}

function tableReader(processes: Processes, boot: string, statOf: StatOf): ProcSource['read'] {
  const readLines = linesReader(processes, statOf);
  let known: ReadonlyMap<number, Known> = new Map();

  return (roots, isAgain = false) => {
    const { lines, wanted } = readLines([...roots], isAgain, known);
    const kept = new Map<number, Known>();
    // The machine's idea of when it booted moves when its clock is set, so it is asked anew, and only when needed.
    let bootMs: number | null = null;
    const bootMsNow = (): number => {
      bootMs ??= (bootSeconds(processes) ?? 0) * 1_000;
      return bootMs;
    };
    const table = new Map<number, ProcessEntry>();
    for (const line of lines.values()) {
      const old = known.get(line.pid);
      if (old?.line === line) {
        kept.set(line.pid, old);
        table.set(line.pid, old.entry);
        continue;
      }
      const same = isSameProgram(old?.program, line) ? old?.program : undefined;
      const program = same ?? readProgram(processes, line, wanted, bootMsNow());
      // Read for a tree that was not asked for before: the arguments are still missing.
      const whole =
        wanted.has(line.pid) && program.argv.length === 0 ? withArguments(processes, program, line) : program;
      const entry = entryOf(boot, line, whole);
      kept.set(line.pid, { line, program: whole, entry });
      table.set(line.pid, entry);
    }
    known = kept;
    return { boot, processes: table };
  };
}

function createProcSource(processes: Processes, boot: string): ProcSource {
  const statOf = (pid: number): StatLine | null => {
    const text = processes.read(`/proc/${pid}/stat`, statBytesMax);
    return text === null ? null : parseStat(text);
  };

  function glance(panePid: number): string | null {
    const pane = statOf(panePid);
    if (pane === null) return null;
    const own = `${pane.startTicks} ${pane.stackStart} ${pane.tpgid} ${pane.state === 'T' ? 'T' : ''}`;
    if (pane.tpgid <= 0 || pane.tpgid === panePid) return own;
    const leader = statOf(pane.tpgid);
    return leader === null ? own : `${own} ${leader.startTicks} ${leader.stackStart} ${leader.name}`;
  }

  return {
    boot,
    read: tableReader(processes, boot, statOf),
    glance,
    ...lookUp(processes, statOf),
    identity: (pid) => {
      const line = statOf(pid);
      return line === null || isDeadState(line.state) ? null : { boot, pid, start: line.startTicks };
    },
    program: (identity) => {
      const line = identity.boot === boot ? statOf(identity.pid) : null;
      if (line === null || line.startTicks !== identity.start || isDeadState(line.state)) return null;
      const argv = argvOf(processes.read(`/proc/${line.pid}/cmdline`, limits.argvBytesMax) ?? '');
      return { executable: executableOf(processes, line.pid), argv };
    },
    isAlive: (identity) => {
      if (identity.boot !== boot || !processes.exists(identity.pid)) return false;
      const line = statOf(identity.pid);
      return line !== null && line.startTicks === identity.start && !isDeadState(line.state);
    },
    seemsAlive: (identity) => identity.boot === boot && processes.exists(identity.pid),
    turnover: () => processes.turnover(),
  };
}

/** What is asked about single processes: no other is read for it. */
function lookUp(
  processes: Processes,
  statOf: (pid: number) => StatLine | null,
): Pick<ProcSource, 'lineage' | 'userOf' | 'startedAtMs'> {
  return {
    lineage: (pid) => {
      const lines: StatLine[] = [];
      for (let at = pid; at > 0 && lines.length < limits.lineageMax; ) {
        const line = statOf(at);
        if (line === null || lines.some((one) => one.pid === line.pid)) break;
        lines.push(line);
        at = line.ppid;
      }
      return lines;
    },
    userOf: (pid) => {
      const uid = /^Uid:\s+\d+\s+(\d+)/m.exec(processes.read(`/proc/${pid}/status`, statusBytesMax) ?? '')?.[1];
      return uid === undefined ? null : Number(uid);
    },
    startedAtMs: ({ startTicks }) => startedAtMs((bootSeconds(processes) ?? 0) * 1_000, startTicks),
  };
}

const startedAtMs = (bootMs: number, ticks: string): number =>
  bootMs + Math.round((Number(ticks) * 1_000) / ticksPerSecond);

function bootSeconds(processes: Processes): number | null {
  const text = processes.read('/proc/stat', kernelStatBytesMax);
  const found = /^btime (\d+)$/m.exec(text ?? '')?.[1];
  return found === undefined ? null : Number(found);
}

/** The roots, everything below them, and everything on their terminals (jobs whose parent is gone). */
function wantedPids(lines: ReadonlyMap<number, StatLine>, roots: Iterable<number>): ReadonlySet<number> {
  const wanted = new Set<number>();
  const ttys = new Set<number>();
  for (const pid of roots) {
    const line = lines.get(pid);
    if (line === undefined) continue;
    wanted.add(pid);
    if (line.ttyNumber !== 0) ttys.add(line.ttyNumber);
  }
  const undecided: StatLine[] = [];
  for (const line of lines.values()) {
    if (ttys.has(line.ttyNumber)) wanted.add(line.pid);
    else undecided.push(line);
  }
  // Pids mostly grow from parent to child, so one or two rounds settle it.
  let rest = undecided;
  for (let grew = true; grew; ) {
    const next = rest.filter((line) => {
      if (!wanted.has(line.ppid)) return true;
      wanted.add(line.pid);
      return false;
    });
    grew = next.length < rest.length;
    rest = next;
  }
  return wanted;
}

function isSameProgram(known: Program | undefined, line: StatLine): known is Program {
  return (
    known !== undefined &&
    known.startTicks === line.startTicks &&
    known.name === line.name &&
    known.stackStart === line.stackStart
  );
}

function readProgram(processes: Processes, line: StatLine, wanted: ReadonlySet<number>, bootMs: number): Program {
  const program: Program = {
    startTicks: line.startTicks,
    name: line.name,
    stackStart: line.stackStart,
    executable: null,
    argv: [],
    startedAtMs: startedAtMs(bootMs, line.startTicks),
  };
  return wanted.has(line.pid) ? withArguments(processes, program, line) : program;
}

function withArguments(processes: Processes, program: Program, line: StatLine): Program {
  const raw = processes.read(`/proc/${line.pid}/cmdline`, limits.argvBytesMax);
  return { ...program, argv: argvOf(raw ?? ''), executable: executableOf(processes, line.pid) };
}

/** An upgrade removes the file of a program that runs on. */
function executableOf(processes: Processes, pid: number): string | null {
  return processes.readLink(`/proc/${pid}/exe`)?.replace(/ \(deleted\)$/, '') ?? null;
}

function entryOf(boot: string, line: StatLine, program: Program): ProcessEntry {
  return {
    identity: { boot, pid: line.pid, start: line.startTicks },
    pid: line.pid,
    ppid: line.ppid,
    pgid: line.pgid,
    tpgid: line.tpgid > 0 ? line.tpgid : -1,
    tty: ttyPath(line.ttyNumber),
    state: line.state,
    startedAtMs: program.startedAtMs,
    executable: program.executable,
    argv: program.argv,
  };
}
