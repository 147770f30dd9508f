// A program that is led over its pipes. It starts behind a gate: its pid is known before it runs its first line, and it
// never runs when whoever started it dies in between. Its end reaches the whole group; whatever happens is told once.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { open, truncate } from 'node:fs/promises';
import { assert } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from './clock.ts';
import { assertAbsolute, errorCodeOf, privateFileMode } from './files.ts';

export interface ManagedCommand {
  /** A path: whether there is such a program was asked before. */
  readonly program: string;
  /** Every user of the machine can read these: no message, prompt or token may be among them (SEC6). */
  readonly args: readonly string[];
  /** All of it: nothing of the daemon's own environment is passed on. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** What it prints goes into this file instead of to us: it shall outlive us, and nobody reads a broken pipe. */
  readonly outputPath?: string;
}

export interface ManagedEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** The system's name of the trouble when it never started: ENOENT, EAGAIN. */
  readonly spawnError: string | null;
}

export interface ManagedHandlers {
  readonly onStdout: (bytes: Uint8Array) => void;
  readonly onStderr: (bytes: Uint8Array) => void;
  /** Called once, after the last data. */
  readonly onEnd: (end: ManagedEnd) => void;
}

export type ManagedSignal = 'INT' | 'TERM' | 'KILL';

export interface ManagedProcess {
  readonly pid: number | null;
  /** Opens the gate: the program begins. */
  begin(): void;
  /** False when it cannot be told now: gone, its input closed, or it has not read for too long. */
  write(text: string): boolean;
  endInput(): void;
  /** Stops and goes on reading; what the program prints meanwhile makes it wait. */
  pause(): void;
  resume(): void;
  /** To its whole group, and only while it is certain to be this very process. */
  signal(signal: ManagedSignal): void;
}

export interface ManagedPrograms {
  open(command: ManagedCommand, handlers: ManagedHandlers): ManagedProcess;
  /** What a program has printed into its file from here on; at most so much of it. Nothing when it cannot be read. */
  printed(path: string, from: number, bytesMax: number): Promise<Uint8Array>;
  /** Empties the file, so that it does not grow for ever. */
  cut(path: string): Promise<void>;
}

/**
 * `read` takes its line byte by byte, so that everything behind it is the program's; `exec` keeps the pid. End of input
 * means that nobody leads any more.
 */
const gate = 'IFS= read -r go || exit 0; exec "$@"';
const gateWord = 'go\n';

export function createManagedPrograms(clock: Clock): ManagedPrograms {
  return {
    open(command, handlers) {
      assertAbsolute(command.program);
      assertAbsolute(command.cwd);
      return new Led(clock, start(command), handlers);
    },
    printed: (path, from, bytesMax) => readFrom(path, from, bytesMax).catch(() => new Uint8Array(0)),
    cut: (path) => truncate(path).catch(() => undefined),
  };
}

async function readFrom(path: string, from: number, bytesMax: number): Promise<Uint8Array> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { buffer, bytesRead } = await handle.read(new Uint8Array(bytesMax), 0, bytesMax, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Node tells some troubles by an event and others by throwing. */
function start({ program, args, env, cwd, outputPath }: ManagedCommand): ChildProcess | string {
  let output: number | null = null;
  try {
    output = outputPath === undefined ? null : openSync(outputPath, outputFlags, privateFileMode);
    return spawn('/bin/sh', ['-c', gate, 'agtmux-session', program, ...args], {
      env: { ...env },
      cwd,
      stdio: ['pipe', output ?? 'pipe', output ?? 'pipe'],
      // A session of its own: no terminal, and an end that reaches what it started.
      detached: true,
      shell: false,
    });
  } catch (error) {
    return errorCodeOf(error) ?? 'EUNKNOWN';
  } finally {
    if (output !== null) closeSync(output);
  }
}

/**
 * Appending, so that the file can be cut while the program writes; empty at first, since the address in it that the program
 * before had printed would be believed.
 */
const outputFlags =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

class Led implements ManagedProcess {
  readonly #clock: Clock;
  readonly #child: ChildProcess | null;
  readonly #handlers: ManagedHandlers;
  #cancelDrain: Cancel | null = null;
  #hasBegun = false;
  #isOver = false;

  constructor(clock: Clock, child: ChildProcess | string, handlers: ManagedHandlers) {
    this.#clock = clock;
    this.#handlers = handlers;
    if (typeof child === 'string') {
      this.#child = null;
      // Not from inside the constructor: the caller does not have it yet.
      clock.after(0, () => this.#finish(child));
      return;
    }
    this.#child = child;
    child.on('error', (error) => this.#finish(errorCodeOf(error) ?? 'EUNKNOWN'));
    child.on('exit', () => this.#drain());
    child.on('close', () => this.#finish(null));
    child.stdout?.on('data', (chunk: Uint8Array) => {
      if (!this.#isOver) handlers.onStdout(chunk);
    });
    child.stderr?.on('data', (chunk: Uint8Array) => {
      if (!this.#isOver) handlers.onStderr(chunk);
    });
    // A program may leave without reading its input; that is told by its end, not here.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => undefined);
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  begin(): void {
    assert(!this.#hasBegun, 'a program begins once');
    this.#hasBegun = true;
    this.#child?.stdin?.write(gateWord);
  }

  write(text: string): boolean {
    const stdin = this.#child?.stdin;
    if (this.#isOver || stdin === null || stdin === undefined || !stdin.writable) return false;
    if (stdin.writableLength > limits.sessionStdinBytesMax) return false;
    stdin.write(text);
    return true;
  }

  endInput(): void {
    this.#child?.stdin?.end();
  }

  pause(): void {
    this.#child?.stdout?.pause();
    this.#child?.stderr?.pause();
  }

  resume(): void {
    if (this.#isOver) return;
    this.#child?.stdout?.resume();
    this.#child?.stderr?.resume();
  }

  signal(signal: ManagedSignal): void {
    const child = this.#child;
    // Until the leader is collected its number cannot belong to another process (IDN3).
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(-child.pid, `SIG${signal}`);
    } catch {
      // The group is gone already, which is what was wanted.
    }
  }

  /** `close` follows when all output was read; someone it left behind may hold the pipes open, so only this long. */
  #drain(): void {
    // A paused reader would never see the end.
    this.resume();
    this.#cancelDrain ??= this.#clock.after(limits.execDrainMs, () => this.#finish(null));
  }

  #finish(spawnError: string | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelDrain?.();
    const child = this.#child;
    for (const stream of [child?.stdin, child?.stdout, child?.stderr]) stream?.destroy();
    child?.unref();
    const code = child?.exitCode ?? null;
    this.#handlers.onEnd({
      code: code !== null && code >= 0 ? code : null,
      signal: child?.signalCode ?? null,
      spawnError,
    });
  }
}
