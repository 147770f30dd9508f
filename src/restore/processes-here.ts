// Every process of this machine with what it runs and where: from /proc, or by ps where there is none.

import { limits } from '../model/limits.ts';
import type { Processes } from '../platform/processes.ts';
import { parsePsReport, psScript } from '../sources/process/ps.ts';
import { argvOf, isDeadState, parseStat } from '../sources/process/stat.ts';
import type { Executor } from '../targets/executor.ts';
import type { SeenProcess } from './living.ts';

const statBytesMax = 1_024;

/** Null when they cannot be listed. */
export async function processesHere(
  processes: Processes,
  executor: Executor | null,
): Promise<readonly SeenProcess[] | null> {
  const pids = processes.list();
  const boot = processes.read('/proc/sys/kernel/random/boot_id', statBytesMax)?.trim();
  if (pids === null || boot === undefined) return byPs(executor);
  return pids.flatMap((pid): SeenProcess[] => {
    const line = parseStat(processes.read(`/proc/${pid}/stat`, statBytesMax) ?? '');
    if (line === null || isDeadState(line.state)) return [];
    const argv = argvOf(processes.read(`/proc/${pid}/cmdline`, limits.argvBytesMax) ?? '');
    const executable = processes.readLink(`/proc/${pid}/exe`)?.replace(/ \(deleted\)$/, '') ?? null;
    const cwd = processes.readLink(`/proc/${pid}/cwd`);
    return [{ identity: { boot, pid, start: line.startTicks }, ppid: line.ppid, executable, argv, cwd }];
  });
}

async function byPs(executor: Executor | null): Promise<readonly SeenProcess[] | null> {
  if (executor === null) return null;
  const bounds = { deadlineMs: limits.processesAnswerMs, outputBytesMax: limits.processesBytesMax };
  const { stdout } = await executor.run(['sh', '-c', psScript], bounds);
  const table = parsePsReport(Buffer.from(stdout).toString('latin1'));
  // A table that was cut may lack the very process that has the conversation.
  if (!table.ok || table.value.isCut === true) return null;
  return [...table.value.processes.values()].map(({ identity, ppid, executable, argv }) => ({
    identity,
    ppid,
    executable,
    argv,
    cwd: null,
  }));
}
