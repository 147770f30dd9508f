// What the system says about a process that asks for something: its terminal, its parents and which of them are agents,
// and the names in its environment. Values of variables are never read out.

import type { ProgramView } from '../agents/contract.ts';
import type { RuntimeId } from '../model/ids.ts';
import type { Processes } from '../platform/processes.ts';
import { argvOf, parseStat, ttyPath } from '../sources/process/stat.ts';
import type { AncestorFacts, CallerFacts } from './principal.ts';

export interface CallerFactsParts {
  readonly processes: Processes;
  /** Whether it runs the program of an agent, of whatever kind. */
  readonly isAgent: (program: ProgramView) => boolean;
  /** The agent whose process this is. */
  readonly runtimeOf: (pid: number, start: string) => RuntimeId | null;
  /** It is the agent of a session of the daemon's own. */
  readonly isManagedProcess: (pid: number, start: string) => boolean;
  /** The background shell that this process is the command of. Its owner is null when that is no known agent. */
  readonly shellOf: (pid: number, start: string) => { readonly owner: RuntimeId | null } | null;
  /** This daemon. */
  readonly ownPid: number;
  readonly isStarter: (pid: number, start: string) => boolean;
}

/** What both ways of looking at a process make of who it is. */
export function belongingOf(
  { pid, start, argv, executable }: { pid: number; start: string; argv: readonly string[]; executable: string | null },
  parts: Omit<CallerFactsParts, 'processes'>,
): Pick<AncestorFacts, 'runtime_id' | 'is_agent' | 'is_led' | 'ours' | 'is_starter' | 'start'> {
  const shell = parts.shellOf(pid, start);
  return {
    runtime_id: parts.runtimeOf(pid, start) ?? shell?.owner ?? null,
    is_agent: parts.isAgent({ executable, argv }),
    is_led: parts.isManagedProcess(pid, start) || shell?.owner != null,
    ours: shell !== null || isHolder(argv) ? 'shell' : pid === parts.ownPid || isDaemon(argv) ? 'daemon' : null,
    is_starter: parts.isStarter(pid, start),
    start,
  };
}

/** Also of another daemon, or of one that is gone. */
const isHolder = (argv: readonly string[]): boolean =>
  argv.slice(0, 3).some((word) => /(?:^|\/)agtmux-shell$/.test(word));

function isDaemon(argv: readonly string[]): boolean {
  const words = argv.slice(1).filter((word) => !word.startsWith('-'));
  const [program = '', command, action] = words;
  if (/(?:^|\/)agtmux$/.test(program) && command === 'daemon' && action === 'run') return true;
  return /\/agtmux[^/]*\/(?:.*\/)?(?:dist\/daemon\.js|src\/daemon\/main\.ts)$/.test(program);
}

const ancestorsMax = 64;
const bytesMax = 262_144;

/** Null when there is no such process. Where there is no /proc, process-facts-ps.ts tells it. */
export function callerFacts(pid: number, parts: CallerFactsParts): CallerFacts | null {
  const { processes } = parts;
  const own = statOf(processes, pid);
  const argv = argvIn(processes, pid);
  // The first process and those of the kernel ask for nothing: it is a number of another pid namespace.
  if (own === null || pid === 1 || argv.length === 0) return null;
  const itself = ancestorOf(pid, own, parts);
  // An agent may ask out of its own process, as plugins do; then it is what stands above itself.
  const ancestors: AncestorFacts[] = itself.is_agent || itself.runtime_id !== null ? [itself] : [];
  let at = own.ppid;
  while (at > 0 && ancestors.length < ancestorsMax) {
    const line = statOf(processes, at);
    if (line === null) break;
    ancestors.push(ancestorOf(at, line, parts));
    at = line.ppid;
  }
  const read = processes.read(`/proc/${pid}/environ`, bytesMax);
  // Cut off somewhere it could hide anything.
  const environment = read === null || read.length >= bytesMax ? null : read;
  return {
    pid,
    argv,
    tty: itself.tty,
    is_at_terminal: itself.is_at_terminal,
    ancestors,
    is_whole: at === 0,
    environment: environment === null ? null : namesIn(environment),
  };
}

type StatLine = NonNullable<ReturnType<typeof parseStat>>;

function ancestorOf(pid: number, line: StatLine, parts: CallerFactsParts): AncestorFacts {
  const { processes } = parts;
  const argv = argvIn(processes, pid);
  const executable = processes.readLink(`/proc/${pid}/exe`)?.replace(/ \(deleted\)$/, '') ?? null;
  const tty = ttyPath(line.ttyNumber);
  return {
    pid,
    argv,
    executable,
    tty,
    is_at_terminal: tty !== null && isTerminal(processes.readLink(`/proc/${pid}/fd/0`), tty),
    is_tmux: line.name === 'tmux: server',
    ...belongingOf({ pid, start: line.startTicks, argv, executable }, parts),
  };
}

/** The terminals of a machine itself have several names. */
const isTerminal = (input: string | null, tty: string): boolean =>
  input === tty || (!tty.startsWith('/dev/pts/') && /^\/dev\/(?:tty|console|hvc)/.test(input ?? ''));

function statOf(processes: Processes, pid: number): StatLine | null {
  const text = processes.read(`/proc/${pid}/stat`, 1_024);
  return text === null ? null : parseStat(text);
}

const argvIn = (processes: Processes, pid: number): readonly string[] =>
  argvOf(processes.read(`/proc/${pid}/cmdline`, bytesMax) ?? '');

function namesIn(environment: string): readonly string[] {
  return environment.split('\0').flatMap((entry) => {
    const at = entry.indexOf('=');
    return at > 0 ? [entry.slice(0, at)] : [];
  });
}
