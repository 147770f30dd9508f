// Sends signals, as a port. Whether the number still belongs to who is meant has to be known before: a pid alone is no
// identity (IDN3).

import { assert } from '../model/errors.ts';
import { errorCodeOf } from './files.ts';

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
