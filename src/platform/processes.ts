// The running processes of this machine as Linux shows them in /proc, and whether a pid is there at all. Reading is
// synchronous on purpose: /proc is memory, and the asynchronous way costs four hops through the thread pool a file.
// What is gone or forbidden is null: processes end while one looks at them. A look that could not be taken is no answer, and
// thrown: it must not pass for an end.

import { closeSync, opendirSync, openSync, readdirSync, readlinkSync, readSync, statfsSync } from 'node:fs';
import { assert } from '../model/errors.ts';
import { errorCodeOf } from './files.ts';

// Which files a process of this machine holds open, as Linux shows it below /proc. Synchronous like all of /proc; null
// where there is no such folder or it is not ours to see.

/** Paths of regular names only: pipes, sockets and removed files have none. */
export type OpenFilesOf = (pid: number, entriesMax: number) => readonly string[] | null;

export const realOpenFilesOf: OpenFilesOf = (pid, entriesMax) => {
  assert(Number.isSafeInteger(pid) && pid > 0, `a pid is a positive number, not ${pid}`);
  const folder = `/proc/${pid}/fd`;
  const numbers = orNull(() => namesIn(folder, entriesMax));
  if (numbers === null) return null;
  const paths = numbers.map((number) => orNull(() => readlinkSync(`${folder}/${number}`)));
  return paths.filter((path) => path !== null).filter((path) => path.startsWith('/') && !path.endsWith(' (deleted)'));
};

function namesIn(folder: string, entriesMax: number): string[] {
  const names: string[] = [];
  const open = opendirSync(folder);
  try {
    for (let entry = open.readSync(); entry !== null && names.length < entriesMax; entry = open.readSync()) {
      names.push(entry.name);
    }
  } finally {
    open.closeSync();
  }
  return names;
}

/** Processes end while one looks at them, and those of other users are closed to us. */
function orNull<Value>(work: () => Value): Value | null {
  try {
    return work();
  } catch (error) {
    if (errorCodeOf(error) === null) throw error;
    return null;
  }
}

// Sends signals, as a port. Whether the number still belongs to who is meant has to be known before: a pid alone is no
// identity (IDN3).

export type SignalName = 'SIGTERM' | 'SIGKILL' | 'SIGCONT';

export interface Signals {
  /** Null when it was sent; otherwise the system's name of the trouble: ESRCH, EPERM. */
  toProcess(pid: number, signal: SignalName): string | null;
  /** To all of a group at once, so that none of it can fork away. */
  toGroup(pgid: number, signal: SignalName): string | null;
}

export function createRealSignals(): Signals {
  return {
    toProcess: (pid, signal) => send(checked(pid), signal),
    toGroup: (pgid, signal) => send(-checked(pgid), signal),
  };
}

/** 0 would be our own group, 1 the first process, and -1 every process there is. */
function checked(number: number): number {
  assert(Number.isSafeInteger(number) && number > 1, `a signal goes to a process of its own, not to ${number}`);
  return number;
}

function send(target: number, signal: SignalName): string | null {
  try {
    process.kill(target, signal);
    return null;
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === null) throw error;
    return code;
  }
}

export interface Processes {
  /** The file below /proc as bytes in a string (one character a byte), cut at `bytesMax`; null when it is not readable. */
  read(path: string, bytesMax: number): string | null;
  /** Where a link below /proc leads; null when it is gone or not ours to see. */
  readLink(path: string): string | null;
  /** Every pid; null where there is no /proc. */
  list(): readonly number[] | null;
  /** Some process, even a dead one that nobody has collected, has this pid now. Says nothing about which one (IDN3). */
  exists(pid: number): boolean;
  /**
   * Words that change when a process or thread begins or is gone for good; null where nobody tells. For one read instead
   * of a call for each process. In a container an end here and a beginning elsewhere may hide each other.
   */
  turnover(): string | null;
  /** The pid given out last, of those that `list` counts; null where nobody tells. Pids are given out in a circle. */
  lastPid(): number | null;
}

/** What one process can do to us: it may be gone, another user's, or in the middle of ending. */
const expected = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL', 'EIO', 'ENOTDIR', 'EFAULT', 'ENAMETOOLONG'];

export function createRealProcesses(): Processes {
  let buffer = Buffer.alloc(8_192);

  function readBytes(path: string, bytesMax: number): string {
    if (buffer.length < bytesMax) buffer = Buffer.alloc(bytesMax);
    const handle = openSync(path, 'r');
    try {
      // One read is enough: these files are one record each, handed out whole or until the buffer is full.
      return buffer.toString('latin1', 0, readSync(handle, buffer, 0, bytesMax, null));
    } finally {
      closeSync(handle);
    }
  }

  const turnover = createTurnover();
  return {
    read: (path, bytesMax) => procOrNull(path, () => withSpare(() => readBytes(path, bytesMax))),
    readLink: (path) => procOrNull(path, () => readlinkSync(path)),
    list: () =>
      procOrNull('/proc', () =>
        withSpare(() => readdirSync('/proc'))
          .filter(isNumber)
          .map(Number),
      ),
    exists,
    turnover,
    lastPid: () => {
      const last = Number(turnover()?.split(' ')[1] ?? 0);
      return last > 0 && isOwnCount() ? last : null;
    },
  };
}

/** No file can be opened: this process, or the machine, has as many open as it may. */
export const isOutOfDescriptors = (error: unknown): boolean => ['EMFILE', 'ENFILE'].includes(errorCodeOf(error) ?? '');

/** Open for nothing else than to be given up when /proc has to be read and no descriptor is left; one for the whole program. */
let spare: number | null = null;

function withSpare<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (spare === null || !isOutOfDescriptors(error)) throw error;
    closeSync(spare);
    spare = null;
    return work();
  } finally {
    spare ??= openSpare();
  }
}

function openSpare(): number | null {
  try {
    return openSync('/dev/null', 'r');
  } catch (error) {
    if (!isOutOfDescriptors(error)) throw error;
    return null;
  }
}

/** What statfs says of the kernel's own /proc. Others only look like it, and tell what was some seconds ago. */
const procMagic = 0x9fa0;
const turnoverPath = '/proc/loadavg';

/** Threads of the machine and the pid given out last, from a file that stays open: a fifth of opening it each time. */
function createTurnover(): () => string | null {
  const buffer = Buffer.alloc(128);
  let handle: number | null | undefined;
  return () => {
    if (handle === undefined) {
      try {
        handle = procOrNull(turnoverPath, openTurnover);
      } catch (error) {
        if (!isOutOfDescriptors(error)) throw error;
      }
    }
    if (handle === null || handle === undefined) return null;
    const text = buffer.toString('latin1', 0, readSync(handle, buffer, 0, buffer.length, 0));
    return /\/([1-9]\d* [1-9]\d*)\s*$/.exec(text)?.[1] ?? null;
  };
}

/** Of a /proc that shows the processes of a machine around this container the numbers would be others. */
const isOwnCount = (): boolean => procOrNull('/proc/self', () => readlinkSync('/proc/self')) === String(process.pid);

const openTurnover = (): number | null =>
  statfsSync(turnoverPath).type === procMagic ? openSync(turnoverPath, 'r') : null;

const isNumber = (name: string): boolean => {
  const first = name.charCodeAt(0);
  return first >= 0x31 && first <= 0x39;
};

function exists(pid: number): boolean {
  // 0 and negative numbers would ask for whole groups.
  assert(Number.isSafeInteger(pid) && pid > 0, `a pid is a positive number, not ${pid}`);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCodeOf(error) === 'EPERM';
  }
}

function procOrNull<Value>(path: string, work: () => Value): Value | null {
  assert(path.startsWith('/proc'), `only /proc is read here, not ${path}`);
  try {
    return work();
  } catch (error) {
    if (expected.includes(errorCodeOf(error) ?? '')) return null;
    throw error;
  }
}
