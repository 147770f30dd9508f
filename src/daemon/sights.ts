// How the processes of a machine are looked at: by /proc on this one, by its collector on another, by ps where neither is.

import { limits } from '../model/limits.ts';
import type { ProcSource } from '../observe/process/proc.ts';
import { parsePsReport, psScript } from '../observe/process/ps.ts';
import type { Collector } from '../targets/collector.ts';
import type { Executor } from '../targets/executor.ts';
import type { ProcessSight } from './watch-parts.ts';

export function sightOfProc(proc: ProcSource): ProcessSight {
  return {
    read: (panePids) => Promise.resolve(proc.read(panePids)),
    glance: (panePid) => proc.glance(panePid),
    isAlive: (process) => proc.seemsAlive(process),
  };
}

export function sightOfCollector(collector: Collector): ProcessSight {
  return {
    read: async () => {
      const told = await collector.ask('processes');
      return told.ok ? tableOf(told.value) : null;
    },
    glance: null,
    isAlive: null,
  };
}

/** macOS, and Linux without a readable /proc. */
export function sightOfPs(executor: Executor): ProcessSight {
  const bounds = { deadlineMs: limits.processesAnswerMs, outputBytesMax: limits.processesBytesMax };
  return {
    read: async () => tableOf((await executor.run(['sh', '-c', psScript], bounds)).stdout),
    glance: null,
    isAlive: null,
  };
}

function tableOf(bytes: Uint8Array): ReturnType<ProcSource['read']> | null {
  const table = parsePsReport(Buffer.from(bytes).toString('latin1'));
  return table.ok ? table.value : null;
}
