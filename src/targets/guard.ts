// Finds out whether this machine can end a program together with the one that started it. Without it a connection still
// ends when its input does, unless a program over there never reads.

import type { Exec } from '../platform/exec.ts';
import { localEnvironment } from './environment.ts';

const guard = ['setpriv', '--pdeathsig', 'KILL', '--'] as const;

/** The words to put before a command line; none where the system has no such program (macOS, busybox). */
export async function findGuard(
  exec: Exec,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const env = localEnvironment(variables);
  const [program, ...options] = guard;
  const tried = await exec.run({ program, args: [...options, 'true'], env, deadlineMs: 2_000, outputBytesMax: 1_024 });
  return tried.status === 0 ? guard : [];
}
