// Shells put together at the start of the daemon: the keeper takes over what still runs, the feed hears of it, and callers
// are looked at the way acting does it. A folder that cannot be used leaves a daemon that does all the rest.

import type { ActionDependencies } from '../actions/dependencies.ts';
import type { ShellFeed } from '../feed/shell-feed.ts';
import type { EventProcessor } from '../ingest/event-processor.ts';
import type { Timeline } from '../ingest/timeline.ts';
import { type Failure, ok, type Result } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import type { ShellAnswer } from '../model/shells.ts';
import type { Clock } from '../platform/clock.ts';
import type { Exec } from '../platform/exec.ts';
import { createRealFileWatch } from '../platform/file-watch.ts';
import { createRealFolders, type Files } from '../platform/files.ts';
import { createRealLaunch } from '../platform/launch.ts';
import { createRealSignals, type Processes } from '../platform/processes.ts';
import { parseStat } from '../sources/process/stat.ts';
import { createReach, openProcTable, openPsTable } from './reach.ts';
import type { ShellCallerParts } from './shell-callers.ts';
import { ShellRegistry } from './shell-registry.ts';
import { ShellManager, type ShellRegistryPort, type ShellServiceParts } from './shell-service.ts';
import type { ShellPorts } from './shell-transitions.ts';

// What the keeper stands on, for real: the process table of this machine, from /proc or by ps, and the rest as it is.

interface ShellPortOptions {
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

export interface OpenShellsParts {
  readonly ports: {
    readonly clock: Clock;
    readonly random: { hex(bytes: number): string };
    readonly files: Files;
    readonly exec: Exec;
    readonly processes: Processes;
    readonly uid: number;
    /** Our own process, which belongs to no shell. */
    readonly pid: number;
  };
  /** Where shells keep their files. */
  readonly root: string;
  /** bin/agtmux-shell. */
  readonly program: string;
  readonly timeline: Pick<Timeline, 'now' | 'fromLocalWall'>;
  readonly feed: ShellFeed;
  readonly ground: Pick<ActionDependencies, 'factsOf' | 'policy' | 'keepAudit' | 'warn'>;
  readonly ledger: EventProcessor;
}

export async function openShells(parts: OpenShellsParts): Promise<ShellManager> {
  const { ports, timeline, feed, ground } = parts;
  const shelling: ShellServiceParts = {
    clock: ports.clock,
    now: () => timeline.now(),
    random: ports.random,
    callers: callersOf(parts),
    keepAudit: ground.keepAudit,
    warn: ground.warn,
  };
  const opened = await openKeeper(parts);
  if (opened.ok) return new ShellManager(opened.value, feed, shelling);
  const { message, code } = opened.failure;
  ground.warn('background shells cannot be used', { code, message });
  return new ShellManager(noKeeper(opened.failure), feed, shelling, `background shells: ${message}`);
}

async function openKeeper({
  ports,
  root,
  program,
  timeline,
  feed,
  ground,
}: OpenShellsParts): Promise<Result<ShellRegistry>> {
  const { clock, files, exec, processes, uid, pid } = ports;
  const keeperPorts = await openShellPorts({ clock, files, exec, processes, ownPid: pid });
  if (!keeperPorts.ok) return keeperPorts;
  let isOpen = false;
  const opened = await ShellRegistry.open(keeperPorts.value, {
    root,
    uid,
    program,
    now: () => timeline.now(),
    fromWall: (wallMs) => timeline.fromLocalWall(wallMs),
    onRow: (id, row) => feed.put(id, row),
    // What runs already was told as started by the daemon that started it: each event is told once.
    onEvents: (events) => feed.tell(isOpen ? events : events.filter(({ kind }) => kind !== 'start')),
    warn: ground.warn,
  });
  isOpen = true;
  return opened;
}

function callersOf({ ports, ground, ledger }: OpenShellsParts): ShellCallerParts {
  return {
    factsOf: ground.factsOf,
    policy: ground.policy,
    startOf: (pid) => {
      const text = ports.processes.read(`/proc/${pid}/stat`, statBytesMax);
      return text === null ? null : (parseStat(text)?.startTicks ?? null);
    },
    runtimeOfSession: (session) => runtimeWith(ledger, session),
  };
}

const statBytesMax = 1_024;

function runtimeWith(ledger: EventProcessor, session: string): RuntimeId | null {
  for (const { identity, record, fold } of ledger.world.entries.values()) {
    if (record?.ended === null && [...fold.sessions].some((one) => one === session)) return identity.runtime_id;
  }
  return null;
}

/** Refuses everything, with the reason. */
function noKeeper(problem: Failure): ShellRegistryPort {
  const answer: ShellAnswer = { result: 'Refused', reason: problem.message, ended_by: null, shell: null, page: null };
  const refuse = async (): Promise<ShellAnswer> => answer;
  const failed = { ok: false, failure: problem } as const;
  return {
    run: refuse,
    kill: refuse,
    background: refuse,
    resume: refuse,
    see: refuse,
    rows: () => [],
    row: () => null,
    find: () => failed,
    log: async () => failed,
    takeNotices: () => [],
    returnNotices: () => undefined,
    close: async () => undefined,
  };
}
