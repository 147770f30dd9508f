// The same as process-facts.ts where there is no /proc, as on macOS: by ps and lsof. What they do not tell is doubt, and
// doubt makes the smaller role. Values of variables are never kept.

import { limits } from '../model/limits.ts';
import { parsePsReport, psScript } from '../sources/process/ps.ts';
import type { ProcessEntry, ProcessTable } from '../sources/process/table.ts';
import type { Executor } from '../targets/executor.ts';
import type { AncestorFacts, CallerFacts } from './principal.ts';
import { belongingOf, type CallerFactsParts } from './process-facts.ts';

type FactsParts = Omit<CallerFactsParts, 'processes'>;

export interface CallerPsParts extends FactsParts {
  readonly executor: Pick<Executor, 'run'>;
}

const ancestorsMax = 64;

/**
 * Arguments: the pid, and its whole chain with commas. ps prints the environment behind the arguments, so it is asked twice;
 * procps has another word for it than the others.
 */
const detailScript = `LC_ALL=C PATH=$PATH:/usr/sbin:/sbin; export LC_ALL PATH
ps -ww -o command= -p "$1"
printf '\\nagtmux-environment\\n'
ps -E -ww -o command= -p "$1" 2>/dev/null || ps eww -o command= -p "$1"
printf '\\nagtmux-files\\n'
lsof -w -n -P -a -p "$2" -d 0,txt -F pfn 2>/dev/null
printf 'agtmux-end\\n'
`;

export async function callerFactsByPs(pid: number, parts: CallerPsParts): Promise<CallerFacts | null> {
  const bounds = { deadlineMs: limits.processesAnswerMs, outputBytesMax: limits.processesBytesMax };
  const told = await parts.executor.run(['sh', '-c', psScript], bounds);
  const table = parsePsReport(Buffer.from(told.stdout).toString('latin1'));
  if (!table.ok) return null;
  const chain = chainOf(table.value, pid);
  const argv = ['sh', '-c', detailScript, 'sh', String(pid), chain.map((one) => one.pid).join(',')];
  const more = await parts.executor.run(argv, bounds);
  return factsByPs(pid, table.value, Buffer.from(more.stdout).toString('latin1'), parts);
}

/** What was read, as facts. */
export function factsByPs(pid: number, table: ProcessTable, detailText: string, parts: FactsParts): CallerFacts | null {
  const [own, ...above] = chainOf(table, pid);
  // The first process and those of the kernel ask for nothing.
  if (own === undefined || pid === 1 || own.argv.length === 0) return null;
  const details = readDetails(detailText);
  const facts = (entry: ProcessEntry): AncestorFacts => ancestorOf(entry, details, parts);
  const itself = facts(own);
  const ancestors = above.slice(0, ancestorsMax).map(facts);
  return {
    pid,
    argv: own.argv,
    tty: own.tty,
    is_at_terminal: itself.is_at_terminal,
    // An agent may ask out of its own process, as plugins do; then it is what stands above itself.
    ancestors: itself.is_agent || itself.runtime_id !== null ? [itself, ...ancestors] : ancestors,
    is_whole: above.length <= ancestorsMax && (above.at(-1) ?? own).ppid === 0,
    environment: details.environment,
  };
}

/** The process and everyone above it, as far as the table tells. */
function chainOf({ processes }: ProcessTable, pid: number): readonly ProcessEntry[] {
  const chain: ProcessEntry[] = [];
  let entry = processes.get(pid);
  while (entry !== undefined && chain.length <= ancestorsMax + 1 && !chain.includes(entry)) {
    chain.push(entry);
    entry = processes.get(entry.ppid);
  }
  return chain;
}

interface Details {
  readonly environment: readonly string[] | null;
  /** By pid: the file it runs, and what it reads from. */
  readonly executables: ReadonlyMap<number, string>;
  readonly inputs: ReadonlyMap<number, string>;
}

function ancestorOf(
  { pid, argv, tty, identity }: ProcessEntry,
  { executables, inputs }: Details,
  parts: FactsParts,
): AncestorFacts {
  const executable = executables.get(pid) ?? null;
  const program = (executable ?? argv[0] ?? '').split('/').at(-1) ?? '';
  return {
    pid,
    argv,
    executable,
    tty,
    is_at_terminal: tty !== null && inputs.get(pid) === tty,
    // Its clients have a terminal; the server gave its own away.
    is_tmux: tty === null && /^tmux(?:: server)?$/.test(program),
    ...belongingOf({ pid, start: identity.start, argv, executable }, parts),
  };
}

function readDetails(text: string): Details {
  const [head = '', files = ''] = text.split('\nagtmux-files\n');
  const [plain = '', whole = ''] = head.split('\nagtmux-environment\n');
  const executables = new Map<number, string>();
  const inputs = new Map<number, string>();
  let pid = 0;
  let file = '';
  for (const line of files.split('\n')) {
    const value = line.slice(1);
    if (line.startsWith('p')) pid = Number(value);
    else if (line.startsWith('f')) file = value;
    else if (line.startsWith('n') && file === '0') inputs.set(pid, value);
    // The program itself comes before its libraries.
    else if (line.startsWith('n') && file === 'txt' && !executables.has(pid)) executables.set(pid, value);
  }
  return { environment: environmentIn(plain.trimEnd(), whole.trimEnd()), executables, inputs };
}

/**
 * ps separates the variables by blanks, which values hold too: everything that may be a name counts as one, which can only
 * make a caller smaller. Null when ps does not tell it.
 */
function environmentIn(plain: string, whole: string): readonly string[] | null {
  if (plain === '' || !whole.startsWith(plain)) return null;
  const names = [...whole.slice(plain.length).matchAll(/(?:^|\s)([A-Za-z_]\w*)=/g)].map(([, name = '']) => name);
  return names.length === 0 ? null : names;
}
