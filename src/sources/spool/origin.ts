// Whether a call in the spool can have come from the processes it names: what still runs of them is held against what the
// system says. A program of the same user can forge what has ended by now; what it says of the living is checked.

import type { ProcSource } from '../process/proc.ts';
import type { SpoolCall } from './call.ts';

export type CallOrigin =
  | 'possible'
  /** The processes it names did not start each other. */
  | 'forged'
  /** It names a process of another user. */
  | 'other_user';

/** A hook writes its file within milliseconds; what is older than this was not it. */
const hookAgeMsMax = 2_000;

export function originOf(
  { pid, ppid, ancestors, time }: Pick<SpoolCall, 'pid' | 'ppid' | 'ancestors' | 'time'>,
  proc: Pick<ProcSource, 'lineage' | 'userOf' | 'startedAtMs'>,
  uid: number,
): CallOrigin {
  const [first] = ancestors;
  if (first === undefined) return 'possible';
  // A plugin tells of the very process that it runs in.
  const isOwn = first.pid === pid;
  if (!isOwn && first.pid !== ppid) return 'forged';
  // Each as it is now; null for what has gone, and for a pid that is somebody else's by now (IDN3).
  const living = ancestors.map((one) => {
    const [line] = proc.lineage(one.pid);
    return line?.startTicks === one.start ? line : null;
  });
  for (const [place, line] of living.entries()) {
    if (line === null) continue;
    if (proc.userOf(line.pid) !== uid) return 'other_user';
    // Who lost its parent was given another one; where the one it named still runs it was never its child.
    const above = living[place + 1] ?? null;
    if (above !== null && line.ppid !== above.pid) return 'forged';
  }
  if (isOwn) return living[0] != null && living[0].ppid !== ppid ? 'forged' : 'possible';
  const [caller] = proc.lineage(pid);
  const isOther = caller !== undefined && living[0] != null && caller.ppid !== first.pid;
  return isOther && proc.startedAtMs(caller) + hookAgeMsMax < time ? 'forged' : 'possible';
}
