// The way to the daemon: ask it, and start it first when it is not there. Light, because every command goes through here;
// what starting takes is loaded only then.

import type { ApiRequest } from '../api/requests.ts';
import type { Context } from './context.ts';
import { type Answer, askRunning, isDown, tellOtherBuild } from './running.ts';

export interface DaemonOptions {
  /** Sockets for a daemon that this command has to start. */
  readonly tmuxSockets?: readonly string[];
  readonly isQuiet?: boolean;
}

export async function askDaemon<Reply>(
  context: Context,
  request: ApiRequest<Reply>,
  options: DaemonOptions = {},
): Promise<Answer<Reply>> {
  const answer = await askRunning(request).catch(async (problem: unknown) => {
    if (!isDown(problem)) throw problem;
    const { startDaemon } = await import('./start-daemon.ts');
    await startDaemon(context, options.tmuxSockets);
    return askRunning(request);
  });
  if (options.isQuiet !== true) await tellOtherBuild(context, answer.version);
  return answer;
}
