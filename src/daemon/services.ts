// What can be done: to agents, and by them. Opened once the daemon has looked at its machine.

import { join } from 'node:path';
import { ActionExecutor } from '../actions/action-executor.ts';
import type { ActionDependencies } from '../actions/dependencies.ts';
import { LivePanes } from '../actions/live-panes.ts';
import type { WaitingCall } from '../agents/contract.ts';
import type { Entry } from '../engine/world.ts';
import type { ShellFeed } from '../feed/shell-feed.ts';
import type { OpenedLog } from '../ingest/open-log.ts';
import type { TargetController, TargetControllerParts } from '../observe/target-controller.ts';
import type { Places } from '../platform/environment.ts';
import { removeLeftovers } from '../platform/files.ts';
import { createRealProcesses } from '../platform/processes.ts';
import type { SessionManager } from '../sessions/manager.ts';
import { type OpenSessionsParts, openSessions } from '../sessions/open-sessions.ts';
import { openShells } from '../shells/open-shells.ts';
import type { ShellManager } from '../shells/shell-service.ts';
import { HookAnswers } from '../sources/spool/answers.ts';
import { type ActingParts, actionDependencies } from './action-dependencies.ts';

export interface ServicesParts
  extends Pick<
      ActingParts,
      'clock' | 'log' | 'inbox' | 'agentOf' | 'rows' | 'isPaneless' | 'policy' | 'isQuiet' | 'wrapperPath'
    >,
    Pick<OpenSessionsParts, 'home' | 'settings' | 'offer' | 'onChange'> {
  readonly places: Places;
  readonly pid: number;
  /** When this daemon began, on the monotonic clock. */
  readonly startedAt: number;
  /** bin/agtmux-shell. */
  readonly shellPath: string;
  readonly machines: { readonly manager: Pick<TargetControllerParts['manager'], 'random' | 'files' | 'exec' | 'uid'> };
  readonly ground: OpenedLog;
  readonly machinery: TargetController;
  readonly shellFeed: ShellFeed;
}

export interface Services {
  readonly actor: ActionExecutor;
  /** Those that are led here. */
  readonly sessions: SessionManager;
  readonly shells: ShellManager;
  /** Panes that somebody looks at through a page. */
  readonly live: LivePanes;
  readonly factsOf: ActionDependencies['factsOf'];
  /** What agents do or ask has changed. */
  changed(): void;
  readonly ownerOf: ActionDependencies['ownerOf'];
  readonly transcriptOf: ActionDependencies['transcriptOf'];
}

/** Folders of the state directory in which files are written whole, beside their place. */
const writtenFolders = ['.', 'sessions', 'shells'] as const;

/** The state directory is locked: what a daemon that was killed left half written has nobody else, and may hold messages. */
async function tidy({ places, machines, clock, log, startedAt }: ServicesParts): Promise<void> {
  const { files, uid } = machines.manager;
  // Newer than this daemon: of another one that has yet to find the lock taken.
  const before = clock.wallMs() - (clock.monotonicMs() - startedAt);
  for (const folder of writtenFolders) {
    const gone = await removeLeftovers(files, join(places.stateDir, folder), { uid, before });
    if (gone.length > 0) log.warn('files of interrupted writes were removed', { folder, count: gone.length });
  }
}

export async function openServices(parts: ServicesParts): Promise<Services> {
  const { clock, log, places, inbox, agentOf, rows, isPaneless, policy, isQuiet, wrapperPath, pid } = parts;
  const { ledger, loaded, timeline } = parts.ground;
  const { random, files, exec, uid } = parts.machines.manager;
  const processes = createRealProcesses();
  let book: SessionManager | null = null;
  let shelling: ShellManager | null = null;
  const hookAnswers = new HookAnswers({ clock, files, processes, uid, folder: join(places.stateDir, 'answers') });
  await hookAnswers.open();
  const ground = actionDependencies({
    hookAnswers,
    clock,
    random,
    log,
    ledger,
    store: loaded.store,
    inbox,
    machines: parts.machinery,
    processes,
    agentOf,
    rows,
    isPaneless,
    now: () => timeline.now(),
    policy,
    isQuiet,
    settings: parts.settings,
    wrapperPath,
    sessions: () => book,
    shells: () => shelling,
    pid,
  });
  const { stateDir } = places;
  await tidy(parts);
  const sessions = await openSessions({ ...parts, machines: parts.machinery, ground, files, exec, stateDir });
  book = sessions;
  const actor = await ActionExecutor.open({
    ground,
    documents: parts.ground.loaded.store,
    files,
    path: join(stateDir, 'acting.json'),
  });
  const shells = await openShells({
    ports: { clock, random, files, exec, processes, uid, pid },
    root: join(stateDir, 'shells'),
    program: parts.shellPath,
    timeline,
    feed: parts.shellFeed,
    ground,
    ledger,
  });
  shelling = shells;
  const live = new LivePanes({ machines: parts.machinery, ground, actor });
  const changed = (): void => {
    actor.changed();
    hookAnswers.soon((call) => isAsking(ledger.world.entries.values(), call));
  };
  return {
    actor,
    sessions,
    shells,
    live,
    changed,
    factsOf: ground.factsOf,
    ownerOf: ground.ownerOf,
    transcriptOf: ground.transcriptOf,
  };
}

/** Whether the agent that a call came from asks something, or is not known yet. */
function isAsking(entries: Iterable<Entry>, { ancestors }: WaitingCall): boolean {
  const own = [...entries].filter(({ identity: { process } }) =>
    ancestors.some(({ pid, start }) => pid === process?.pid && start === process.start),
  );
  return (
    own.length === 0 || own.some(({ record }) => record === null || (record.ended === null && record.asks_open > 0))
  );
}
