// How the processes of a machine are looked at: by /proc on this one, by its collector on another, by ps where neither is.

import type { ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { isOutOfDescriptors } from '../platform/processes.ts';
import type { ProcSource } from '../sources/process/proc.ts';
import { parsePsReport, psScript } from '../sources/process/ps.ts';
import type { Collector } from '../targets/collector.ts';
import type { Executor } from '../targets/executor.ts';
import type { ProcessView } from './tmux-observer-parts.ts';

type LookedAt = Pick<ProcSource, 'read' | 'glance' | 'seemsAlive' | 'turnover'>;

export function viewOfProc(proc: LookedAt, clock: Clock): ProcessView {
  return {
    read: (panePids, isAgain) => Promise.resolve(unlessShort(() => proc.read(panePids, isAgain))),
    glance: (panePid) => unlessShort(() => proc.glance(panePid)),
    glanceFar: null,
    anyGone: createEndCheck(proc, clock),
  };
}

/** Without a descriptor nobody can be looked at. That says nothing about who runs; the next look does. */
function unlessShort<Value>(look: () => Value): Value | null {
  try {
    return look();
  } catch (error) {
    if (!isOutOfDescriptors(error)) throw error;
    return null;
  }
}

/** However little the machine tells, each process is asked about this often. */
const surelyMs = 1_000;

/**
 * Sixty agents are asked about ten times a second, and almost always nobody on the machine has begun or ended since. What
 * is asked for instead is one short read; a machine whose words once hid an end is not taken at its word again.
 */
export function createEndCheck(
  proc: Pick<ProcSource, 'seemsAlive' | 'turnover'>,
  clock: Clock,
): (processes: readonly ProcessIdentity[]) => boolean {
  let told: string | null = null;
  let known: ReadonlySet<ProcessIdentity> = new Set();
  let checkedMs = Number.NEGATIVE_INFINITY;
  let isTrusted = true;
  return (processes) => {
    const words = isTrusted ? proc.turnover() : null;
    const isSame = words !== null && words === told && processes.every((one) => known.has(one));
    if (isSame && clock.monotonicMs() - checkedMs < surelyMs) return false;
    const isGone = processes.some((one) => !proc.seemsAlive(one));
    if (isGone && isSame) isTrusted = false;
    // Whoever is gone is asked about until nobody follows it any more.
    told = isGone ? null : words;
    known = new Set(processes);
    checkedMs = clock.monotonicMs();
    return isGone;
  };
}

export function viewOfCollector(collector: Collector): ProcessView {
  return {
    read: async () => {
      const told = await collector.ask('processes');
      return told.ok ? tableOf(told.value) : null;
    },
    glance: null,
    glanceFar: async (pids) => {
      const told = await collector.glance(pids);
      return told.ok ? told.value : null;
    },
    anyGone: null,
  };
}

/** macOS, and Linux without a readable /proc. */
export function viewOfPs(executor: Executor): ProcessView {
  const bounds = { deadlineMs: limits.processesAnswerMs, outputBytesMax: limits.processesBytesMax };
  return {
    read: async () => tableOf((await executor.run(['sh', '-c', psScript], bounds)).stdout),
    glance: null,
    glanceFar: null,
    anyGone: null,
  };
}

function tableOf(bytes: Uint8Array): ReturnType<ProcSource['read']> | null {
  const table = parsePsReport(Buffer.from(bytes).toString('latin1'));
  return table.ok ? table.value : null;
}
