// The processes of this machine for sessions: who they are, whether they are still there, and which of them carry a mark of
// ours. From /proc where there is one, from ps elsewhere.

import type { ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { openProc } from '../observe/process/proc.ts';
import { parsePsReport, psScript } from '../observe/process/ps.ts';
import { argvOf } from '../observe/process/stat.ts';
import type { ProcessTable } from '../observe/process/table.ts';
import type { Processes } from '../platform/processes.ts';
import type { ProcessTruth } from '../sessions/runner-parts.ts';
import type { Executor } from '../targets/executor.ts';
import { sendSignal } from './signals.ts';

const environmentBytesMax = 262_144;

export function createProcessTruth(processes: Processes, executor: () => Executor | null): ProcessTruth {
  const signal: ProcessTruth['signal'] = async (identity, name) => {
    const at = executor();
    return at !== null && (await sendSignal(at, identity, name)) === 'sent';
  };
  const proc = openProc(processes);
  if (proc.ok) {
    const { identity, isAlive } = proc.value;
    return {
      identityOf: async (pid) => identity(pid),
      isAlive: async (one) => isAlive(one),
      signal,
      marked: async (mark) => markedIn(processes, mark, identity),
    };
  }
  const isThere = (table: ProcessTable | null, { pid, start }: ProcessIdentity): boolean =>
    table?.processes.get(pid)?.identity.start === start;
  return {
    identityOf: async (pid) => (await tableOf(executor()))?.processes.get(pid)?.identity ?? null,
    isAlive: async (one) => isThere(await tableOf(executor()), one),
    signal,
    // Other systems do not show the environment of a process to anyone.
    marked: async () => [],
  };
}

async function tableOf(executor: Executor | null): Promise<ProcessTable | null> {
  if (executor === null) return null;
  const { stdout, status } = await executor.run(['sh', '-c', psScript], {
    deadlineMs: limits.processesAnswerMs,
    outputBytesMax: limits.processesBytesMax,
  });
  const read = status === 0 ? parsePsReport(Buffer.from(stdout).toString('latin1')) : null;
  return read?.ok === true ? read.value : null;
}

async function markedIn(
  processes: Processes,
  mark: string,
  identityOf: (pid: number) => ProcessIdentity | null,
): ReturnType<ProcessTruth['marked']> {
  const line = `AGTMUX_AGENT=${mark}`;
  return (processes.list() ?? []).flatMap((pid) => {
    const environment = processes.read(`/proc/${pid}/environ`, environmentBytesMax);
    if (environment?.split('\0').includes(line) !== true) return [];
    const identity = identityOf(pid);
    const [program = 'a process'] = argvOf(processes.read(`/proc/${pid}/cmdline`, 4_096) ?? '');
    return identity === null ? [] : [{ identity, command: program }];
  });
}
