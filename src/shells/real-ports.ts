// What the keeper stands on, for real: the process table of this machine, from /proc or by ps, and the rest as it is.

import { ok, type Result } from '../model/errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { Exec } from '../platform/exec.ts';
import { createRealFileWatch } from '../platform/file-watch.ts';
import type { Files } from '../platform/files.ts';
import { createRealFolders } from '../platform/folders.ts';
import { createRealLaunch } from '../platform/launch.ts';
import type { Processes } from '../platform/processes.ts';
import { createRealSignals } from '../platform/signals.ts';
import { createReach, openProcTable } from './reach.ts';
import { openPsTable } from './reach-ps.ts';
import type { ShellPorts } from './shell-transitions.ts';

export interface ShellPortOptions {
  readonly clock: Clock;
  readonly files: Files;
  readonly exec: Exec;
  readonly processes: Processes;
  readonly ownPid: number;
}

export async function openShellPorts(ground: ShellPortOptions): Promise<Result<ShellPorts>> {
  const { clock, files, exec, processes, ownPid } = ground;
  const proc = openProcTable(processes, clock);
  const table = proc.ok ? proc : await openPsTable(exec, clock);
  if (!table.ok) return table;
  return ok({
    clock,
    files,
    watch: createRealFileWatch(),
    folders: createRealFolders(),
    launch: createRealLaunch(clock),
    reach: createReach(table.value, createRealSignals(), ownPid),
  });
}
