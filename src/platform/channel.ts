// A program that stays: three pipes, handlers that are there from its birth, an environment that is said in full, and an
// end that reaches everything it started. Whatever happens to the program is told once, by `onEnd`; nothing throws.

import { type ChildProcess, spawn } from 'node:child_process';
import { assert } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from './clock.ts';
import { errorCodeOf } from './files.ts';

export interface ChannelCommand {
  /** A path, or a name that is looked up in the PATH of `env`. */
  readonly program: string;
  /** Every user of the machine can read these: no message, prompt or token may be among them (SEC6). */
  readonly args: readonly string[];
  /** All of it: nothing of the daemon's own environment is passed on. */
  readonly env: Readonly<Record<string, string>>;
}

export interface ProcessEnd {
  /** Null when it did not exit by itself. */
  readonly status: number | null;
  readonly signal: string | null;
  /** The last words on stderr. */
  readonly stderr: Uint8Array;
  /** The system's name of the trouble when it never started: ENOENT, EACCES, EAGAIN. */
  readonly spawnError: string | null;
}

export interface ProcessHandlers {
  readonly onData: (bytes: Uint8Array) => void;
  /** Called once, after the last data. */
  readonly onEnd: (end: ProcessEnd) => void;
}

export interface ProcessChannel {
  readonly pid: number | null;
  write(bytes: Uint8Array): void;
  /** Bytes that were written and not taken yet. */
  readonly writeBacklog: number;
  /** Stops and goes on reading; what the program prints meanwhile makes it wait. */
  pause(): void;
  resume(): void;
  /** Ends the program and its whole process group at once. `onEnd` still follows. */
  end(): void;
}

export interface Channels {
  open(command: ChannelCommand, handlers: ProcessHandlers): ProcessChannel;
}

export function createRealChannels(clock: Clock): Channels {
  return {
    open(command, handlers) {
      assert(command.program !== '', 'a channel names a program');
      return new RealChannel(clock, start(command), handlers);
    },
  };
}

/** Node tells some troubles by an event and others by throwing. */
function start(command: ChannelCommand): ChildProcess | string {
  try {
    return spawn(command.program, [...command.args], {
      env: { ...command.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own, so that the end reaches what the program started; also no terminal to ask at.
      detached: true,
      shell: false,
    });
  } catch (error) {
    return errorCodeOf(error) ?? 'EUNKNOWN';
  }
}

class RealChannel implements ProcessChannel {
  readonly #clock: Clock;
  readonly #child: ChildProcess | null;
  readonly #handlers: ProcessHandlers;
  readonly #stderr = new Tail(limits.channelStderrBytesMax);
  #cancelDrain: Cancel | null = null;
  #over = false;

  constructor(clock: Clock, child: ChildProcess | string, handlers: ProcessHandlers) {
    this.#clock = clock;
    this.#handlers = handlers;
    if (typeof child === 'string') {
      this.#child = null;
      // Not from inside the constructor: the caller does not have its channel yet.
      clock.after(0, () => this.#finish(child));
      return;
    }
    this.#child = child;
    child.on('error', (error) => this.#finish(errorCodeOf(error) ?? 'EUNKNOWN'));
    child.on('exit', () => this.#drain());
    child.on('close', () => this.#finish(null));
    child.stdout?.on('data', (chunk: Uint8Array) => {
      if (!this.#over) handlers.onData(chunk);
    });
    child.stderr?.on('data', (chunk: Uint8Array) => this.#stderr.take(chunk));
    // A program may leave without reading its input; that is told by its end, not here.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => undefined);
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  get writeBacklog(): number {
    return this.#over ? 0 : (this.#child?.stdin?.writableLength ?? 0);
  }

  write(bytes: Uint8Array): void {
    const stdin = this.#child?.stdin;
    if (this.#over || stdin === null || stdin === undefined || !stdin.writable) return;
    stdin.write(bytes);
  }

  pause(): void {
    this.#child?.stdout?.pause();
  }

  resume(): void {
    if (!this.#over) this.#child?.stdout?.resume();
  }

  end(): void {
    const child = this.#child;
    if (this.#over || child === null) return;
    killGroup(child);
    // A paused reader would never see the end.
    this.resume();
    this.#drain();
  }

  /** `close` follows when all output was read; someone it left behind may hold the pipes open, so only this long. */
  #drain(): void {
    this.#cancelDrain ??= this.#clock.after(limits.execDrainMs, () => this.#finish(null));
  }

  #finish(spawnError: string | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelDrain?.();
    const child = this.#child;
    for (const stream of [child?.stdin, child?.stdout, child?.stderr]) stream?.destroy();
    child?.unref();
    const exitCode = child?.exitCode ?? null;
    this.#handlers.onEnd({
      status: exitCode !== null && exitCode >= 0 ? exitCode : null,
      signal: child?.signalCode ?? null,
      stderr: this.#stderr.bytes(),
      spawnError,
    });
  }
}

/** Only while the leader is not yet reaped: until then its number cannot belong to another process (IDN3). */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already, which is what was wanted.
  }
}

/** The last bytes of a stream, in at most twice their size. */
export class Tail {
  readonly #bytesMax: number;
  #kept: Uint8Array = new Uint8Array(0);

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  take(chunk: Uint8Array): void {
    const joined = Buffer.concat([this.#kept, chunk.subarray(-this.#bytesMax)]);
    this.#kept = new Uint8Array(joined.subarray(-this.#bytesMax));
  }

  bytes(): Uint8Array {
    return this.#kept;
  }
}
