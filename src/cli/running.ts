// The daemon that runs, if one does: asks it, and tells a daemon that is not there from every other trouble. Starts nothing.

import { ask, type LeanOptions, type LeanReply } from '../api/client-lean.ts';
import { AgtmuxError } from '../model/errors.ts';
import { type Context, places } from './context.ts';
import { note } from './output.ts';

/** The answer of a daemon that runs; E_DAEMON_DOWN when none does. */
export async function askRunning(request: LeanOptions): Promise<LeanReply> {
  return ask(places().socketPath, request);
}

export const isDown = (problem: unknown): boolean => problem instanceof AgtmuxError && problem.code === 'E_DAEMON_DOWN';

/** Said once for each run of the daemon: a status line asks every second (INS5). */
export async function tellOtherBuild({ version }: Context, daemon: string): Promise<void> {
  // Who reads JSON has the version in `status --json`, and no use for a line of prose beside it.
  if (daemon === version || process.argv.includes('--json')) return;
  const { isNews, otherBuildWords } = await import('./other-build.ts');
  if (isNews(places(), daemon, version)) note(otherBuildWords(daemon, version));
}
