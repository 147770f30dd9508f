// What a daemon left behind that did not leave by itself: the process it led is ended, by who it is and not by its number
// (IDN3); what that process had started is named to whoever reads along, and left alone (SES5).

import { limits } from '../model/limits.ts';
import type { LivePorts } from './live-parts.ts';
import type { KeptSession } from './store-record.ts';

const looksMax = 20;

export async function endLeft(
  { processes, clock }: Pick<LivePorts, 'processes' | 'clock'>,
  { process, mark }: Pick<KeptSession, 'process' | 'mark'>,
  tell: (words: string) => void,
): Promise<void> {
  if (process !== null && (await processes.isAlive(process))) {
    for (const signal of ['TERM', 'KILL'] as const) {
      await processes.signal(process, signal);
      for (let looks = 0; looks < looksMax && (await processes.isAlive(process)); looks += 1) {
        await new Promise<void>((resolve) => void clock.after(limits.sessionReadMs, resolve));
      }
    }
    const isGone = !(await processes.isAlive(process));
    tell(`its process (${process.pid}) had outlived the daemon and ${isGone ? 'was ended' : 'cannot be ended'}`);
  }
  for (const { identity, command } of mark === null ? [] : await processes.marked(mark)) {
    tell(`${command} (process ${identity.pid}), which it had started, still runs`);
  }
}
