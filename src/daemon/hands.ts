// What can be done: to agents, and by them. Opened once the daemon has looked at its machine.

import { join } from 'node:path';
import { Actor } from '../act/actor.ts';
import type { ActGround } from '../act/ground.ts';
import type { Places } from '../platform/environment.ts';
import { removeLeftovers } from '../platform/leftovers.ts';
import { createRealProcesses } from '../platform/processes.ts';
import type { SessionBook } from '../sessions/book.ts';
import { type ActingParts, actGround } from './acting.ts';
import { type LeadingParts, openSessions } from './leading.ts';
import { LivePanes } from './live-panes.ts';
import type { Machines, MachinesParts } from './machines.ts';
import type { ShellFeed } from './shell-feed.ts';
import type { Shelling } from './shelling.ts';
import { openShells } from './shells-open.ts';
import type { Ground } from './start.ts';

export interface HandsParts
  extends Pick<ActingParts, 'clock' | 'log' | 'inbox' | 'agentOf' | 'rows' | 'isPaneless' | 'policy' | 'wrapperPath'>,
    Pick<LeadingParts, 'home' | 'settings' | 'offer' | 'onChange'> {
  readonly places: Places;
  readonly pid: number;
  /** bin/agtmux-shell. */
  readonly shellPath: string;
  readonly machines: { readonly manager: Pick<MachinesParts['manager'], 'random' | 'files' | 'exec' | 'uid'> };
  readonly ground: Ground;
  readonly machinery: Machines;
  readonly shellFeed: ShellFeed;
}

export interface Hands {
  readonly actor: Actor;
  /** Those that are led here. */
  readonly sessions: SessionBook;
  readonly shells: Shelling;
  /** Panes that somebody looks at through a page. */
  readonly live: LivePanes;
  readonly factsOf: ActGround['factsOf'];
}

/** Folders of the state directory in which files are written whole, beside their place. */
const writtenFolders = ['.', 'sessions', 'shells'] as const;

/** The state directory is locked: what a daemon that was killed left half written has nobody else, and may hold messages. */
async function tidy({ places, machines, clock, log }: HandsParts): Promise<void> {
  const { files, uid } = machines.manager;
  // Newer than the start of this process: of another one that has yet to find the lock taken.
  const before = clock.wallMs() - clock.monotonicMs();
  for (const folder of writtenFolders) {
    const gone = await removeLeftovers(files, join(places.stateDir, folder), { uid, before });
    if (gone.length > 0) log.warn('files of a write that was cut short were removed', { folder, count: gone.length });
  }
}

export async function openHands(parts: HandsParts): Promise<Hands> {
  const { clock, log, places, inbox, agentOf, rows, isPaneless, policy, wrapperPath, pid } = parts;
  const { ledger, loaded, timeline } = parts.ground;
  const { random, files, exec, uid } = parts.machines.manager;
  const processes = createRealProcesses();
  let book: SessionBook | null = null;
  let shelling: Shelling | null = null;
  const ground = actGround({
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
    wrapperPath,
    sessions: () => book,
    shells: () => shelling,
    pid,
  });
  const { stateDir } = places;
  await tidy(parts);
  const sessions = await openSessions({ ...parts, machines: parts.machinery, ground, files, exec, stateDir });
  book = sessions;
  const actor = await Actor.open({ ground, files, path: join(stateDir, 'acting.json') });
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
  return { actor, sessions, shells, live, factsOf: ground.factsOf };
}
