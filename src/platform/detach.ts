// Starts a program that outlives us: a session of its own, no terminal, its output in a file that only we can read.

import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { assert } from '../model/errors.ts';
import { errorCodeOf, privateFileMode } from './files.ts';

export interface DetachedCommand {
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

const signalStatus = 128;
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
