// The way to the daemon: ask it, and start it first when it is not there. Light, because every command goes through here;
// what starting takes is loaded only then.

import { ask, type LeanOptions, type LeanReply } from '../api/client-lean.ts';
import { AgtmuxError } from '../model/errors.ts';
import { type Context, places } from './context.ts';
import { note } from './output.ts';

export interface DaemonOptions {
  /** Sockets for a daemon that this command has to start. */
  readonly tmuxSockets?: readonly string[];
  readonly isQuiet?: boolean;
}

/** The answer of a daemon that runs; E_DAEMON_DOWN when none does. */
export async function askRunning(request: LeanOptions): Promise<LeanReply> {
  return ask(places().socketPath, request);
}

export async function askDaemon(context: Context, request: LeanOptions, options: DaemonOptions = {}): Promise<string> {
  const reply = await askRunning(request).catch(async (problem: unknown) => {
    if (!isDown(problem)) throw problem;
    const { startDaemon } = await import('./start-daemon.ts');
    await startDaemon(context, options.tmuxSockets);
    return askRunning(request);
  });
  if (options.isQuiet !== true && isOlder(reply.version, context.version)) {
    note(`the daemon is version ${reply.version}, this is ${context.version}; run \`agtmux daemon restart\``);
  }
  return reply.body;
}

export const isDown = (problem: unknown): boolean => problem instanceof AgtmuxError && problem.code === 'E_DAEMON_DOWN';

export function isOlder(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => (/^(\d+)\.(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number));
  for (const place of [0, 1, 2]) {
    const difference = (left?.[place] ?? 0) - (right?.[place] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
