// Starts a program that outlives us and hears the first line it says: a session of its own, nothing of ours left open in
// it, and no further tie. How it ends is not told here; it has to write that down itself.

import { type ChildProcess, spawn } from 'node:child_process';
import { assert } from '../model/errors.ts';
import type { Clock } from './clock.ts';
import { errorCodeOf } from './files.ts';

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
