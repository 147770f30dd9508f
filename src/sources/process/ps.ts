// The process table of a machine that is asked by command: remote ones, and macOS. One POSIX sh script prints the boot
// id, on Linux the stat lines and the arguments, and what `ps` says; here it is read back. What a machine prints is only
// ever parsed (SEC5).

import { fail, ok, type Result } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { argvOf, parseStats } from './stat.ts';
import type { ProcessEntry, ProcessTable } from './table.ts';

/**
 * Each column has its own -o: an empty header given in a list is read differently by the different systems. UTC, because
 * `lstart` is printed in the machine's zone; C, because months and days have names.
 */
const columns = 'pid= -o ppid= -o pgid= -o tpgid= -o tty= -o stat= -o lstart= -o args=';

/**
 * Run as `sh -c psScript`, or on the standard input of a shell. On Linux the start time that ps prints is worked out
 * from the wall clock and moves with it, so the identity of a process comes from its stat line. On macOS the id of the
 * boot session stays when the clock is set; its boot time does not. Linux also tells where each argument ends.
 */
export const psScript = `LC_ALL=C TZ=UTC0; export LC_ALL TZ
printf 'agtmux-boot '
cat /proc/sys/kernel/random/boot_id 2>/dev/null || sysctl -n kern.bootsessionuuid 2>/dev/null || sysctl -n kern.boottime 2>/dev/null || echo
printf 'agtmux-stat\\n'
if [ -r /proc/self/stat ]; then cat /proc/[0-9]*/stat 2>/dev/null; fi
printf '\\nagtmux-arguments-of-processes\\n'
if [ -r /proc/self/stat ]; then head -c 4096 /proc/[0-9]*/cmdline 2>/dev/null; fi
printf '\\nagtmux-ps\\n'
ps -A -ww -o ${columns} 2>&1
printf '\\nagtmux-end %s\\n' "$?"
`;

/**
 * A table, or why there is none: a `ps` that does not know these columns (busybox), an answer that was cut. `text` holds
 * one byte a character: arguments end with NUL and may be in any encoding.
 */
export function parsePsReport(text: string): Result<ProcessTable> {
  const sections = sectionsOf(text);
  if (sections === null) return fail('E_INPUT', 'the answer about processes is not complete');
  const { bootText, statText, argvText, psText, status } = sections;
  const boot = bootOf(bootText);
  if (boot === null) return fail('E_INPUT', 'the machine does not report when it was started');
  // Bounded by the size of the answer: a start that is missing would be taken for another process.
  const starts = new Map(parseStats(statText, Number.POSITIVE_INFINITY).map((line) => [line.pid, line.startTicks]));
  const argvs = parseArguments(argvText);
  const lines = psText.split('\n').filter((line) => line.trim() !== '');
  const processes = new Map<number, ProcessEntry>();
  // Agents run on terminals: where not all fit, these do.
  const first = lines.length > limits.processesMax ? byTerminal(lines) : lines;
  for (const line of first.slice(0, limits.processesMax)) {
    const entry = parsePsLine(line, boot, starts, argvs);
    if (entry !== null) processes.set(entry.pid, entry);
  }
  if (status !== '0' || processes.size === 0) {
    return fail(
      'E_INPUT',
      'the ps of that machine does not print what agtmux asks for',
      'install procps there (busybox has a ps with fewer columns)',
    );
  }
  return ok({ boot, processes, ...(lines.length > limits.processesMax ? { isCut: true } : {}) });
}

function byTerminal(lines: readonly string[]): readonly string[] {
  const hasTerminal = (line: string): boolean => !/^\s*(?:-?\d+\s+){4}\?+\s/.test(line);
  return [...lines.filter(hasTerminal), ...lines.filter((line) => !hasTerminal(line))];
}

interface Sections {
  readonly bootText: string;
  readonly statText: string;
  readonly argvText: string;
  readonly psText: string;
  readonly status: string;
}

/**
 * No process can forge a heading. Names in the stat lines are shorter than the heading that follows them; arguments may
 * hold anything, so the last heading of ps counts; and ps prints no newlines inside a line.
 */
function sectionsOf(text: string): Sections | null {
  const [bootMark, statMark, psMark, endMark] = ['agtmux-boot ', '\nagtmux-stat\n', '\nagtmux-ps\n', '\nagtmux-end '];
  const argvMark = '\nagtmux-arguments-of-processes\n';
  const statAt = text.indexOf(statMark);
  const argvAt = text.indexOf(argvMark, statAt);
  const psAt = text.lastIndexOf(psMark);
  const endAt = text.lastIndexOf(endMark);
  if (!text.startsWith(bootMark) || statAt < 0 || argvAt < statAt || psAt < argvAt || endAt < psAt) return null;
  return {
    bootText: text.slice(bootMark.length, statAt).split('\n', 1)[0] ?? '',
    statText: text.slice(statAt + statMark.length, argvAt),
    argvText: text.slice(argvAt + argvMark.length - 1, psAt),
    psText: text.slice(psAt + psMark.length, endAt),
    status: text.slice(endAt + endMark.length).trim(),
  };
}

/**
 * What `head` prints of many cmdline files. A process may have another's heading among its arguments: a pid that comes
 * twice is left out, and what ps says of it counts.
 */
function parseArguments(text: string): ReadonlyMap<number, readonly string[]> {
  const argvs = new Map<number, readonly string[]>();
  const twice = new Set<number>();
  const parts = text.split(/\n==> \/proc\/(\d{1,10})\/cmdline <==\n/);
  for (let at = 1; at + 1 < parts.length; at += 2) {
    const pid = Number(parts[at]);
    if (argvs.has(pid)) twice.add(pid);
    argvs.set(pid, argvOf(parts[at + 1] ?? ''));
  }
  for (const pid of twice) argvs.delete(pid);
  return argvs;
}

/** A boot id, a boot session id, or the second that `sysctl kern.boottime` names. */
function bootOf(text: string): string | null {
  const second = /\bsec = (\d+)/.exec(text)?.[1];
  if (second !== undefined) return second;
  return /^[0-9A-Za-z-]{1,64}$/.test(text.trim()) ? text.trim() : null;
}

const psLine = new RegExp(
  [
    /^ *(\d{1,10}) +(\d{1,10}) +(\d{1,10}) +(-?\d{1,10}) +(\S{1,64}) +(\S{1,16}) +/,
    /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) +/,
    /(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +(\d{1,2}) +(\d\d):(\d\d):(\d\d) +(\d{4})(?: (.*))?$/,
  ]
    .map((part) => part.source)
    .join(''),
);
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `starts` are the stat lines' ticks: with them a process that ps saw and they did not is left for the next look. */
function parsePsLine(
  line: string,
  boot: string,
  starts: ReadonlyMap<number, string>,
  argvs: ReadonlyMap<number, readonly string[]>,
): ProcessEntry | null {
  const found = psLine.exec(line);
  if (found === null) return null;
  const [, pid, ppid, pgid, tpgid, tty = '', state = '', month = '', day, hour, minute, second, year, args = ''] =
    found;
  const startedAtMs = Date.UTC(Number(year), months.indexOf(month), ...numbers(day, hour, minute, second));
  const ticks = starts.get(Number(pid));
  if (starts.size > 0 && ticks === undefined) return null;
  return {
    identity: { boot, pid: Number(pid), start: ticks ?? String(startedAtMs / 1_000) },
    pid: Number(pid),
    ppid: Number(ppid),
    pgid: Number(pgid),
    tpgid: Number(tpgid) > 0 ? Number(tpgid) : -1,
    tty: /^[?-]+$/.test(tty) ? null : `/dev/${tty.replace(/^\/dev\//, '')}`,
    state: state.slice(0, 1),
    startedAtMs,
    executable: null,
    argv: argvs.get(Number(pid)) ?? wordsOf(args.slice(0, limits.argvBytesMax)),
  };
}

function numbers(
  day: string | undefined,
  hour: string | undefined,
  minute: string | undefined,
  second: string | undefined,
): [number, number, number, number] {
  return [Number(day), Number(hour), Number(minute), Number(second)];
}

/** ps joins the arguments by single blanks: where one ended is lost. A dead or kernel process has its name in brackets. */
function wordsOf(args: string): readonly string[] {
  const text = args.trim();
  return text === '' || text.startsWith('[') || text.endsWith('<defunct>') ? [] : text.split(/\s+/);
}
