// What leading an agent needs of the machine, and what is asked of whoever does it: a program, a server or a socket.

import type { Launch } from '../agents/session-way.ts';
import type { ProcessIdentity } from '../model/ids.ts';
import type { Clock } from '../platform/clock.ts';
import type { LedPrograms, LedSignal } from '../platform/led-process.ts';
import type { AskLoopback } from '../platform/loopback-http.ts';
import type { openEventStream } from '../platform/sse.ts';
import type { connectWebSocket } from '../platform/web-socket.ts';
import type { Heard, Said } from './dialect.ts';

/** One run of an agent's program, by whom its processes are known. */
export interface ProgramRun {
  readonly leader: ProcessIdentity;
  readonly mark: string | null;
  /** Seen to belong to it while the leader was there. */
  readonly known: readonly ProcessIdentity[];
}

export interface RunMembers {
  readonly isLeaderThere: boolean;
  readonly members: readonly ProcessIdentity[];
}

/** The processes of this machine by what they are, not by their number (IDN3). */
export interface ProcessTruth {
  identityOf(pid: number): Promise<ProcessIdentity | null>;
  isAlive(identity: ProcessIdentity): Promise<boolean>;
  /** To its group, after a look whether it is still the same; false when it is gone. */
  signal(identity: ProcessIdentity, signal: LedSignal): Promise<boolean>;
  /** Everyone who certainly belongs to this run: its session and group of the system, and what these have started. */
  members(run: ProgramRun): Promise<RunMembers>;
  /** Those that have this mark in their environment, as far as the system tells. */
  marked(mark: string): Promise<readonly { readonly identity: ProcessIdentity; readonly command: string }[]>;
}

export interface RunnerPorts {
  readonly clock: Clock;
  readonly programs: LedPrograms;
  readonly processes: ProcessTruth;
  readonly askLoopback: AskLoopback;
  readonly openEvents: typeof openEventStream;
  readonly openSocket: typeof connectWebSocket;
}

export interface RunnerHandlers {
  readonly onHeard: (heard: Heard) => void;
  /** Worth telling to whoever reads along: something was dropped. */
  readonly onNotice: (words: string) => void;
  /** Once and last. With `words`: it cannot be led any further, for this reason. */
  readonly onEnd: (end: RunnerEnd) => void;
}

export interface RunnerEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly words: string | null;
}

export interface Runner {
  /** Of a process that it started; null where it started none. */
  readonly pid: number | null;
  /** Where its server answers, once that is known. */
  readonly address: string | null;
  /** Who it is has been written down: it may run. */
  begin(): void;
  /** False: it cannot be told any more. */
  say(said: Said): boolean;
  endInput(): void;
  signal(signal: LedSignal): void;
  /** Nothing is told from here on; the process goes on and can still be ended. */
  release(): void;
  /** Resolves when its process is gone; at once where it has none of its own. */
  gone(): Promise<void>;
}

export interface RunPlan {
  /** Its program is a path. */
  readonly launch: Launch;
  /** Where the program was found; null where nothing is started. */
  readonly program: string | null;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly secret: string;
  /** Where it prints to, for programs that outlive us; null: to us. */
  readonly outputPath: string | null;
}
