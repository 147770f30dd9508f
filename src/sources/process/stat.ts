// What Linux says of one process in /proc/<pid>/stat and /proc/<pid>/cmdline, wherever it was read. Texts hold one byte a
// character; no files are opened here.

export interface StatLine {
  readonly pid: number;
  readonly name: string;
  readonly state: string;
  readonly ppid: number;
  readonly pgid: number;
  /** Device number of the terminal, 0 without one. */
  readonly ttyNumber: number;
  readonly tpgid: number;
  /** Clock ticks after boot, as text: only ever compared. */
  readonly startTicks: string;
  /**
   * Where the stack of the present program begins. It moves when the process executes another program, even one of the
   * same name (a wrapper script `claude` that becomes the program `claude`); 0 when it is not ours to see.
   */
  readonly stackStart: string;
}

/**
 * The name stands in parentheses and may itself hold parentheses, spaces and newlines, so the fields are counted from
 * the last closing one.
 */
export function parseStat(line: string): StatLine | null {
  const open = line.indexOf(' (');
  const close = line.lastIndexOf(') ');
  if (open < 1 || close < open) return null;
  const fields = line.slice(close + 2).split(' ', 26);
  const [state, ppid, pgid, , ttyNumber, tpgid] = fields;
  const startTicks = fields[19];
  const pid = Number(line.slice(0, open));
  if (state === undefined || ppid === undefined || pgid === undefined || ttyNumber === undefined) return null;
  if (tpgid === undefined || startTicks === undefined || !Number.isSafeInteger(pid) || pid <= 0) return null;
  return {
    pid,
    name: line.slice(open + 2, close),
    state,
    ppid: Number(ppid),
    pgid: Number(pgid),
    ttyNumber: Number(ttyNumber),
    tpgid: Number(tpgid),
    startTicks,
    stackStart: fields[25] ?? '0',
  };
}

/** `pid (name) S` and then nothing but numbers to the end of the line. A name has 64 bytes at most, so it cannot hold this. */
const record = /(\d+) \(([^\0]{0,64}?)\) [A-Za-z](?: -?\d+){36,60}\n/y;

/** Many stat files one after another, as `cat` prints them. A piece that is not such a line is stepped over. */
export function parseStats(text: string, linesMax: number): StatLine[] {
  const lines: StatLine[] = [];
  let at = 0;
  while (at < text.length && lines.length < linesMax) {
    record.lastIndex = at;
    const found = record.exec(text)?.[0];
    const line = found === undefined ? null : parseStat(found.slice(0, -1));
    if (line !== null) lines.push(line);
    const next = text.indexOf('\n', at);
    if (found !== undefined) at += found.length;
    else if (next < 0) break;
    else at = next + 1;
  }
  return lines;
}

/** Dead and waiting to be collected: no longer a running process, whatever its pid says. */
export function isDeadState(state: string): boolean {
  return state.startsWith('Z') || state.startsWith('X') || state.startsWith('x');
}

/** The path of a terminal from its device number; null without one. */
export function ttyPath(ttyNumber: number): string | null {
  if (ttyNumber === 0) return null;
  const major = (ttyNumber >>> 8) & 0xfff;
  const minor = (ttyNumber & 0xff) | ((ttyNumber >>> 12) & 0xfff00);
  // Eight major numbers of 256 terminals each on old kernels; one with twenty bits of minor number on those of today.
  if (major >= 136 && major <= 143) return `/dev/pts/${(major - 136) * 256 + minor}`;
  if (major === 4) return minor < 64 ? `/dev/tty${minor}` : `/dev/ttyS${minor - 64}`;
  return `/dev/char/${major}:${minor}`;
}

/** A program that renames itself leaves NULs behind its new name; they are no arguments. */
export function argvOf(raw: string): readonly string[] {
  const text = Buffer.from(raw, 'latin1').toString('utf8').replace(/\0+$/, '');
  return text === '' ? [] : text.split('\0');
}
