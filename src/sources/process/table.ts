// The process table of a target at one moment, however it was read.

import type { ProcessIdentity } from '../../model/ids.ts';

export interface ProcessEntry {
  readonly identity: ProcessIdentity;
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  /** Foreground process group of its terminal, -1 without one. */
  readonly tpgid: number;
  readonly tty: string | null;
  /** One letter as the system tells it; T and t mean stopped. */
  readonly state: string;
  /** Milliseconds since 1970 by the target's own clock. */
  readonly startedAtMs: number;
  /** Path of the executable where it can be known. */
  readonly executable: string | null;
  readonly argv: readonly string[];
}

export interface ProcessTable {
  readonly boot: string;
  readonly processes: ReadonlyMap<number, ProcessEntry>;
  /** There are more than were taken: who is missing here may well run. */
  readonly isCut?: true;
}
