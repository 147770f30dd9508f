// The one way to reach a target: run a program there, or keep a channel to one open. Local and ssh look the same from
// here; nothing above this folder knows which it has. Nothing a target sends is ever executed on this machine (SEC5).

import type { Failure } from '../model/errors.ts';
import type { TargetId } from '../model/ids.ts';

export interface RunOptions {
  readonly stdin?: Uint8Array;
  readonly deadlineMs: number;
  readonly outputBytesMax: number;
}

export interface RunResult {
  /** Null when it was ended by a signal, by the deadline, or never started. */
  readonly status: number | null;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly truncated: boolean;
  readonly timedOut: boolean;
  /** Set when the way to the target failed, not the program: nothing is known about the program then. */
  readonly failure?: Failure;
}

/** Why a channel is over: the program left, or the way to it broke. */
export interface ChannelEnd {
  readonly status: number | null;
  readonly signal: string | null;
  /** The last words on stderr, bounded; foreign text. */
  readonly stderr: string;
  /** Set when the way to the target failed, not the program. */
  readonly failure?: Failure;
}

/** A long-lived program with its three pipes. Handlers are set once, at birth. */
export interface Channel {
  /** Process id of the local end (tmux itself, or ssh), for cleaning up after a crash. */
  readonly pid: number | null;
  write(bytes: Uint8Array): void;
  /** Bytes that were written and not taken yet. */
  readonly writeBacklog: number;
  /** Ends the program and whatever carries it. */
  end(): void;
}

export interface ChannelHandlers {
  readonly onData: (bytes: Uint8Array) => void;
  /** Called once, after the last data. */
  readonly onEnd: (end: ChannelEnd) => void;
}

export interface Executor {
  readonly target: TargetId;
  readonly kind: 'local' | 'ssh';
  /** argv, never a shell line; over ssh each word is quoted for the remote shell. */
  run(argv: readonly string[], options: RunOptions): Promise<RunResult>;
  open(argv: readonly string[], handlers: ChannelHandlers): Channel;
  /** Ends every channel and the connection itself. */
  close(): Promise<void>;
}
