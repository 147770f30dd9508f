// How the processes of a machine are looked at: by /proc on this one, by its collector on another, by ps where neither is.

import { limits } from '../model/limits.ts';
import type { ProcSource } from '../sources/process/proc.ts';
import { parsePsReport, psScript } from '../sources/process/ps.ts';
import type { Collector } from '../targets/collector.ts';
import type { Executor } from '../targets/executor.ts';
import type { ProcessView } from './tmux-observer-parts.ts';

export function viewOfProc(proc: ProcSource): ProcessView {
  return {
    read: (panePids) => Promise.resolve(proc.read(panePids)),
    glance: (panePid) => proc.glance(panePid),
    glanceFar: null,
    isAlive: (process) => proc.seemsAlive(process),
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
    isAlive: null,
  };
}

/** macOS, and Linux without a readable /proc. */
export function viewOfPs(executor: Executor): ProcessView {
  const bounds = { deadlineMs: limits.processesAnswerMs, outputBytesMax: limits.processesBytesMax };
  return {
    read: async () => tableOf((await executor.run(['sh', '-c', psScript], bounds)).stdout),
    glance: null,
    glanceFar: null,
    isAlive: null,
  };
}

function tableOf(bytes: Uint8Array): ReturnType<ProcSource['read']> | null {
  const table = parsePsReport(Buffer.from(bytes).toString('latin1'));
  return table.ok ? table.value : null;
}
