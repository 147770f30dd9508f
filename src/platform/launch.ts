// Starts a program that outlives us and hears the first line it says: a session of its own, nothing of ours left open in
// it, and no further tie. How it ends is not told here; it has to write that down itself.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { assert } from '../model/errors.ts';
import type { Clock } from './clock.ts';
import { errorCodeOf, privateFileMode } from './files.ts';

// Hands the terminal over to another program: for good by becoming it, or, on a Node that cannot, by waiting for it; or for
// as long as that program runs.

/** What a shell says of a program that a signal ended. */
const signalStatus = 128;

type Become = (file: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>) => void;

/** Does not come back where Node can become another program; else resolves with its status. */
export function becomeProgram(
  program: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const become = (process as { execve?: Become }).execve;
  if (become !== undefined) {
    // That the way is new is nothing a user has to be told in the middle of a terminal.
    process.emitWarning = () => undefined;
    become.call(process, program, argv, env);
  }
  return lendTerminal(program, argv, env);
}

/** Resolves with its status when it has ended; until then the terminal is its own. */
export function lendTerminal(
  program: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const signals = ['SIGINT', 'SIGQUIT'] as const;
  // Keys are meant for the program; it has the terminal.
  const ignore = (): void => undefined;
  for (const signal of signals) process.on(signal, ignore);
  return new Promise<number>((resolve) => {
    const child = spawn(program, argv.slice(1), { env: { ...env }, stdio: 'inherit', argv0: argv[0] });
    child.on('error', () => resolve(signalStatus - 1));
    child.on('exit', (code) => resolve(code ?? signalStatus));
  }).finally(() => {
    for (const signal of signals) process.off(signal, ignore);
  });
}

// Starts a program that outlives us: a session of its own, no terminal, its output in a file that only we can read.

interface DetachedCommand {
  readonly program: string;
  /** Every user of the machine can read these: no message, prompt or token may be among them (SEC6). */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** What it prints is appended here. */
  readonly outputPath: string;
}

export interface DetachedProcess {
  readonly pid: number | null;
  /** Its exit status, 128 and more for a signal; null while it runs. */
  status(): number | null;
}

/** What a shell says of a program that could not be started. */
const notStartedStatus = 127;

/** Throws the system's error when the output cannot be opened. */
export function startDetached(command: DetachedCommand): DetachedProcess {
  assert(command.program !== '', 'a command names a program');
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const output = openSync(command.outputPath, flags, privateFileMode);
  let status: number | null = null;
  try {
    const child = spawn(command.program, [...command.args], {
      env: { ...command.env },
      cwd: command.cwd,
      stdio: ['ignore', output, output],
      detached: true,
      shell: false,
    });
    child.on('error', () => {
      status = notStartedStatus;
    });
    child.on('exit', (code) => {
      status = code ?? signalStatus;
    });
    child.unref();
    return { pid: child.pid ?? null, status: () => status };
  } catch (error) {
    if (errorCodeOf(error) === null) throw error;
    return { pid: null, status: () => notStartedStatus };
  } finally {
    closeSync(output);
  }
}

export interface LaunchCommand {
  readonly program: string;
  /** Every user of the machine can read these: no message, prompt or token may be among them (SEC6). */
  readonly args: readonly string[];
  /** All of it: nothing of the daemon's own environment is passed on. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** How long the line is waited for. The program is left alone when it is late. */
  readonly lineMs: number;
  readonly lineBytesMax: number;
}

export type Launched =
  | { readonly kind: 'said'; readonly line: string }
  /** It ended, or closed its output, without a whole line. */
  | { readonly kind: 'ended' }
  | { readonly kind: 'late' }
  /** The system's name of the trouble: ENOENT, EACCES, E2BIG, EAGAIN. */
  | { readonly kind: 'not_started'; readonly code: string };

export interface Launch {
  start(command: LaunchCommand): Promise<Launched>;
}

export function createRealLaunch(clock: Clock): Launch {
  return {
    start: (command) => {
      assert(command.program !== '', 'a command names a program');
      return new Promise((resolve) => launch(clock, command, resolve));
    },
  };
}

function launch(clock: Clock, command: LaunchCommand, resolve: (launched: Launched) => void): void {
  const child = spawned(command);
  if (typeof child === 'string') {
    resolve({ kind: 'not_started', code: child });
    return;
  }
  let text = '';
  let isOver = false;
  const finish = (launched: Launched): void => {
    if (isOver) return;
    isOver = true;
    cancelWait();
    child.stdout?.destroy();
    child.unref();
    resolve(launched);
  };
  const cancelWait = clock.after(command.lineMs, () => finish({ kind: 'late' }));
  child.on('error', (error) => finish({ kind: 'not_started', code: errorCodeOf(error) ?? 'EUNKNOWN' }));
  child.stdout?.on('error', () => undefined);
  child.stdout?.on('data', (chunk: Uint8Array) => {
    text += Buffer.from(chunk).toString('latin1');
    const end = text.indexOf('\n');
    if (end >= 0) finish({ kind: 'said', line: text.slice(0, end) });
    else if (text.length > command.lineBytesMax) finish({ kind: 'ended' });
  });
  // After whatever it said before it closed its output.
  child.stdout?.on('end', () => finish({ kind: 'ended' }));
}

/** Node tells some troubles by an event and others by throwing. */
function spawned(command: LaunchCommand): ChildProcess | string {
  try {
    return spawn(command.program, [...command.args], {
      env: { ...command.env },
      cwd: command.cwd,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
      shell: false,
    });
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === null) throw error;
    return code;
  }
}
