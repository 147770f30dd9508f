// The daemon that runs, if one does: asks it, and tells a daemon that is not there from every other trouble. Starts nothing.

import { ask, type LeanOptions, type LeanReply } from '../api/client-lean.ts';
import { AgtmuxError } from '../model/errors.ts';
import { places } from './context.ts';

/** The answer of a daemon that runs; E_DAEMON_DOWN when none does. */
export async function askRunning(request: LeanOptions): Promise<LeanReply> {
  return ask(places().socketPath, request);
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
