// Single commands to the tmux server at a socket, as processes: it may not run yet, and nobody may be connected to it.

import { limits } from '../model/limits.ts';
import type { Executor } from '../targets/executor.ts';
import { type PaneNow, panesArgv, panesNow } from './rebuild.ts';

export interface TmuxAnswer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Null when tmux could not be run. */
export async function runTmux(
  executor: Executor | null,
  socket: string,
  args: readonly string[],
): Promise<TmuxAnswer | null> {
  if (executor === null) return null;
  const bounds = { deadlineMs: limits.restoreTmuxMs, outputBytesMax: limits.processesBytesMax };
  const { status, stdout, stderr, failure } = await executor.run(['tmux', '-u', '-S', socket, ...args], bounds);
  if (failure !== undefined) return null;
  return { status, stdout: Buffer.from(stdout).toString(), stderr: Buffer.from(stderr).toString() };
}

/** Null when no tmux server answers there. */
export async function panesAt(executor: Executor | null, socket: string): Promise<readonly PaneNow[] | null> {
  const told = await runTmux(executor, socket, panesArgv);
  return told === null || told.status !== 0 ? null : panesNow(told.stdout);
}
