// This machine as a target: programs are started directly, with a small clean environment.

import { failure } from '../model/errors.ts';
import type { TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Channels, ProcessChannel, ProcessEnd } from '../platform/channel.ts';
import type { Exec, ExecResult } from '../platform/exec.ts';
import { localEnvironment } from './environment.ts';
import type { Channel, ChannelEnd, ChannelHandlers, Executor, RunOptions, RunResult } from './executor.ts';

export interface LocalOptions {
  readonly target: TargetId;
  readonly exec: Exec;
  readonly channels: Channels;
  /** The daemon's own environment; only what tmux needs is taken from it. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

export function createLocalExecutor(options: LocalOptions): Executor {
  const env = localEnvironment(options.variables);
  const open = new Set<ProcessChannel>();

  return {
    target: options.target,
    kind: 'local',

    async run(argv: readonly string[], run: RunOptions): Promise<RunResult> {
      const [program = '', ...args] = argv;
      const stdin = run.stdin === undefined ? {} : { stdin: run.stdin };
      const { deadlineMs, outputBytesMax } = run;
      return resultOf(program, await options.exec.run({ program, args, env, deadlineMs, outputBytesMax, ...stdin }));
    },

    open(argv: readonly string[], handlers: ChannelHandlers): Channel {
      const [program = '', ...args] = argv;
      const process = options.channels.open(
        { program, args, env },
        {
          onData: handlers.onData,
          onEnd: (end) => {
            open.delete(process);
            handlers.onEnd(endOf(program, end));
          },
        },
      );
      open.add(process);
      return new BoundedChannel(process);
    },

    async close(): Promise<void> {
      for (const process of open) process.end();
    },
  };
}

/** A program that stopped reading is ended before what waits for it grows without bound. */
class BoundedChannel implements Channel {
  readonly #process: ProcessChannel;

  constructor(process: ProcessChannel) {
    this.#process = process;
  }

  get pid(): number | null {
    return this.#process.pid;
  }

  get writeBacklog(): number {
    return this.#process.writeBacklog;
  }

  write(bytes: Uint8Array): void {
    if (this.#process.writeBacklog + bytes.length > limits.channelBacklogBytesMax) this.#process.end();
    else this.#process.write(bytes);
  }

  end(): void {
    this.#process.end();
  }
}

/** The statuses a shell gives for the same troubles, so that a missing tmux looks alike here and over ssh. */
const shellStatus: Readonly<Record<string, number>> = { ENOENT: 127, EACCES: 126 };

function resultOf(program: string, result: ExecResult): RunResult {
  const { status, stdout, stderr, truncated, timedOut, spawnError } = result;
  if (spawnError === null) return { status, stdout, stderr, truncated, timedOut };
  const told = startTrouble(program, spawnError);
  return {
    status: told.status,
    stdout,
    stderr: new TextEncoder().encode(told.words),
    truncated,
    timedOut,
    ...told.more,
  };
}

function endOf(program: string, end: ProcessEnd): ChannelEnd {
  if (end.spawnError === null) {
    return { status: end.status, signal: end.signal, stderr: new TextDecoder().decode(end.stderr) };
  }
  const told = startTrouble(program, end.spawnError);
  return { status: told.status, signal: null, stderr: told.words, ...told.more };
}

function startTrouble(program: string, spawnError: string): StartTrouble {
  const status = shellStatus[spawnError] ?? null;
  const words = status === 127 ? `${program}: not found` : `${program}: cannot be started (${spawnError})`;
  if (status !== null) return { status, words, more: {} };
  const next = 'free some processes, open files or memory';
  return {
    status,
    words,
    more: { failure: failure('E_TARGET_DOWN', `this machine cannot start programs: ${words}`, next) },
  };
}

interface StartTrouble {
  readonly status: number | null;
  readonly words: string;
  readonly more: Pick<RunResult, 'failure'>;
}
