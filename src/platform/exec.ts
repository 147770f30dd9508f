// Runs a program to its end, as a port and for real: an argv without a shell, an environment that is said in full, a
// deadline, a cap on its output. Whatever happens to the program is a value; nothing here throws for it.

import { type ChildProcess, spawn } from 'node:child_process';
import { assert } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from './clock.ts';
import { errorCodeOf } from './files.ts';

export interface Command {
  /** A path, or a name that is looked up in the PATH of `env`. */
  readonly program: string;
  /** Every user of the machine can read these: no message, prompt or token may be among them (SEC6). */
  readonly args: readonly string[];
  readonly stdin?: Uint8Array;
  /** All of it: nothing of the daemon's own environment is passed on. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly deadlineMs: number;
  /** For stdout and stderr each. A program that prints more is stopped: reading on would only burn time (T7). */
  readonly outputBytesMax: number;
}

export interface ExecResult {
  /** Null when it did not exit by itself. */
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly truncated: boolean;
  readonly timedOut: boolean;
  /**
   * The program ended, but something it left behind still held its output (ssh's master connection does). What the
   * program itself printed is here; what the other may still print is not.
   */
  readonly leftOpen: boolean;
  /** The system's name of the trouble when it never started: ENOENT, EACCES, EAGAIN. */
  readonly spawnError: string | null;
}

export interface Exec {
  run(command: Command): Promise<ExecResult>;
}

export function createRealExec(clock: Clock): Exec {
  return {
    run: (command) => {
      assertCommand(command);
      return new Promise((resolve) => runOnce(clock, command, resolve));
    },
  };
}

export function assertCommand(command: Command): void {
  assert(command.program !== '', 'a command names a program');
  assert(Number.isFinite(command.deadlineMs) && command.deadlineMs > 0, 'a command has a deadline');
  assert(Number.isSafeInteger(command.outputBytesMax) && command.outputBytesMax >= 0, 'a command has an output cap');
}

export function notStarted(spawnError: string): ExecResult {
  const nothing = new Uint8Array(0);
  const ends = { status: null, signal: null, truncated: false, timedOut: false, leftOpen: false };
  return { ...ends, stdout: nothing, stderr: nothing, spawnError };
}

function runOnce(clock: Clock, command: Command, resolve: (result: ExecResult) => void): void {
  const child = start(command);
  if (typeof child === 'string') {
    resolve(notStarted(child));
    return;
  }

  const stdout = new CappedOutput(command.outputBytesMax);
  const stderr = new CappedOutput(command.outputBytesMax);
  let timedOut = false;
  let finished = false;
  let cancelDrain: Cancel | null = null;

  const finish = (leftOpen: boolean, spawnError: string | null): void => {
    if (finished) return;
    finished = true;
    cancelDeadline();
    cancelDrain?.();
    letGo(child);
    resolve({
      status: child.exitCode !== null && child.exitCode >= 0 ? child.exitCode : null,
      signal: child.signalCode,
      stdout: stdout.bytes(),
      stderr: stderr.bytes(),
      truncated: stdout.truncated || stderr.truncated,
      timedOut,
      leftOpen,
      spawnError,
    });
  };
  // `close` follows when all output was read; it is not waited for longer than this, nor is a process that cannot die.
  const drain = (): void => {
    cancelDrain ??= clock.after(limits.execDrainMs, () => finish(hasEnded(child), null));
  };
  const stop = (): void => {
    killGroup(child);
    drain();
  };

  const cancelDeadline = clock.after(command.deadlineMs, () => {
    timedOut = true;
    stop();
  });
  child.on('error', (error) => finish(false, errorCodeOf(error) ?? 'EUNKNOWN'));
  child.on('exit', drain);
  child.on('close', () => finish(false, null));
  child.stdout?.on('data', (chunk: Uint8Array) => stdout.take(chunk) || stop());
  child.stderr?.on('data', (chunk: Uint8Array) => stderr.take(chunk) || stop());
  // The program may end without reading its input; that is told by how it ended, not here.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => undefined);
  child.stdin?.end(command.stdin ?? new Uint8Array(0));
}

/** Node tells some troubles by an event and others by throwing. */
function start(command: Command): ChildProcess | string {
  try {
    return spawn(command.program, [...command.args], {
      env: { ...command.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own, so that the deadline reaches what the program started; also no terminal to ask at.
      detached: true,
      shell: false,
      ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
    });
  } catch (error) {
    return errorCodeOf(error) ?? 'EUNKNOWN';
  }
}

/** Only while the leader is not yet reaped: until then its number cannot belong to another process (IDN3). */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || hasEnded(child)) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already, which is what was wanted.
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function letGo(child: ChildProcess): void {
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  child.unref();
}

/** Keeps what a stream said up to the cap. */
export class CappedOutput {
  readonly #bytesMax: number;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;
  truncated = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** False when the cap is passed. */
  take(chunk: Uint8Array): boolean {
    const fitting = chunk.subarray(0, this.#bytesMax - this.#length);
    if (fitting.length > 0) this.#chunks.push(fitting);
    this.#length += fitting.length;
    if (fitting.length < chunk.length) this.truncated = true;
    return !this.truncated;
  }

  bytes(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#chunks));
  }
}
