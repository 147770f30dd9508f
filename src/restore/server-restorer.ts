// One lost tmux server brought back at its socket: windows that are missing are opened with their agents in them, and
// agents whose pane is back already are resumed there, in place of an idle shell and of nothing else (RST4, RST6).

import { dirname } from 'node:path';
import type { RuntimeId, TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { RestoreChoice, RestoreEnd } from '../model/restore.ts';
import { isWaitingShell } from '../observe/pane-reach.ts';
import type { Clock } from '../platform/clock.ts';
import type { Executor } from '../targets/executor.ts';
import type { KeptServer, KeptServers, KeptWindow } from './kept-servers.ts';
import type { SeenProcess } from './living.ts';
import { type PlannedAgent, skippingOf } from './plan.ts';
import { markOf, openWindowArgv, type PaneNow, type PaneStart, respawnArgv, startLine } from './rebuild.ts';
import { panesAt, runTmux } from './tmux-calls.ts';

export interface DecidedAgent {
  readonly planned: PlannedAgent;
  readonly choice: RestoreChoice;
}

export interface ServerRestorerParts {
  readonly clock: Clock;
  readonly kept: KeptServers;
  /** Null when they cannot be listed. */
  readonly processes: () => Promise<readonly SeenProcess[] | null>;
  readonly ownerOf: (target: TargetId, pane: string) => RuntimeId | null;
  readonly executor: Executor;
  readonly allowsSkipping: boolean;
  /** Runs what opens or moves windows of a server. */
  readonly change: <Value>(target: TargetId, work: () => Promise<Value>) => Promise<Value>;
  /** Why it must not be resumed after all; null: it may. */
  readonly stillFree: (planned: PlannedAgent) => Promise<string | null>;
}

type Outcome = Pick<RestoreEnd, 'outcome' | 'words'>;

export class ServerRestorer {
  readonly #parts: ServerRestorerParts;
  #shell = '/bin/sh';

  constructor(parts: ServerRestorerParts) {
    this.#parts = parts;
  }

  async restore(server: KeptServer, decided: readonly DecidedAgent[]): Promise<readonly RestoreEnd[]> {
    await this.#prepare(server);
    const ends = new Map<string, Outcome>();
    const sessions = new Set(
      decided.filter(({ choice }) => choice !== 'leave').map(({ planned }) => planned.window.session_name),
    );
    for (const window of server.windows) {
      const own = decided.filter(({ planned, choice }) => planned.window === window && choice !== 'leave');
      const isWanted = own.length > 0 || (!server.is_rebuilt && sessions.has(window.session_name));
      if (isWanted) await this.#window(server, window, own, ends);
    }
    await this.#rebuilt(server);
    return this.#seen(server, decided, ends);
  }

  /** After a reboot even the folder of the sockets is gone. */
  async #prepare({ socket_path }: KeptServer): Promise<void> {
    const folder = dirname(socket_path);
    const bounds = { deadlineMs: limits.tmuxRequestMs, outputBytesMax: 1_024 };
    if (/\/tmux-\d+$/.test(folder)) await this.#parts.executor.run(['mkdir', '-p', '-m', '700', folder], bounds);
    const told = await runTmux(this.#parts.executor, socket_path, ['show-options', '-gv', 'default-shell']);
    const own = told?.status === 0 ? told.stdout.trim() : await this.#loginShell();
    if (own.startsWith('/')) this.#shell = own;
  }

  async #loginShell(): Promise<string> {
    const bounds = { deadlineMs: limits.tmuxRequestMs, outputBytesMax: 1_024 };
    const { status, stdout } = await this.#parts.executor.run(['sh', '-c', 'printf %s "$SHELL"'], bounds);
    return status === 0 ? Buffer.from(stdout).toString().trim() : '';
  }

  async #window(
    server: KeptServer,
    window: KeptWindow,
    own: readonly DecidedAgent[],
    ends: Map<string, Outcome>,
  ): Promise<void> {
    const panes = (await panesAt(this.#parts.executor, server.socket_path)) ?? [];
    const back = paneBack(server, window, panes);
    if (back === null) {
      await this.#open(server, window, own, panes, ends);
      return;
    }
    for (const { planned, choice } of own) {
      const pane = back[planned.position] ?? null;
      const { runtime_id } = planned.item;
      if (choice === 'shell') ends.set(runtime_id, { outcome: 'shell', words: null });
      else if (pane?.paneMark === runtime_id) ends.set(runtime_id, { outcome: 'resumed', words: null });
      else if (pane === null) ends.set(runtime_id, { outcome: 'refused', words: 'its pane is not there' });
      else ends.set(runtime_id, await this.#resumeIn(server, planned, pane));
    }
  }

  /** Nothing of it is there: it is opened with its agents in it, in one step. */
  async #open(
    server: KeptServer,
    window: KeptWindow,
    own: readonly DecidedAgent[],
    panes: readonly PaneNow[],
    ends: Map<string, Outcome>,
  ): Promise<void> {
    const starts: (PaneStart | null)[] = window.panes.map(() => null);
    for (const { planned, choice } of own) {
      const { runtime_id } = planned.item;
      const why = choice === 'resume' ? await this.#parts.stillFree(planned) : null;
      const start = choice === 'resume' && why === null ? this.#startOf(planned) : null;
      starts[planned.position] = start;
      if (start !== null) ends.set(runtime_id, { outcome: 'started', words: null });
      // It has its shell now, and can still be resumed there once nothing speaks against it.
      else ends.set(runtime_id, { outcome: choice === 'shell' ? 'shell' : 'refused', words: why });
    }
    const indexes = panes
      .filter(({ sessionName }) => sessionName === window.session_name)
      .map((one) => one.windowIndex);
    const isNew = indexes.length === 0;
    const isTaken = indexes.includes(window.window_index);
    const index = isNew ? null : isTaken ? Math.max(...indexes) + 1 : window.window_index;
    const mark = markOf(server.server, window);
    const { executor } = this.#parts;
    const argv = openWindowArgv(window, mark, starts, index);
    const told = await this.#parts.change(server.target, () => runTmux(executor, server.socket_path, argv));
    // Whatever tmux said: what stands there now is what counts.
    const now = (await panesAt(executor, server.socket_path)) ?? [];
    const opened = now.filter(({ windowMark }) => windowMark === mark);
    if (opened.length === 0) {
      const words = `tmux did not open its window: ${(told?.stderr ?? 'no answer').trim()}`;
      for (const { planned } of own) ends.set(planned.item.runtime_id, { outcome: 'refused', words });
      return;
    }
    for (const { planned } of own) {
      const { runtime_id } = planned.item;
      const isLost = starts[planned.position] !== null && !opened.some(({ paneMark }) => paneMark === runtime_id);
      if (isLost) ends.set(runtime_id, { outcome: 'refused', words: 'tmux had no room for its pane' });
    }
    await this.#renumber(server, window, opened);
  }

  /** The first window of a new session has the number that tmux begins with. */
  async #renumber(server: KeptServer, window: KeptWindow, opened: readonly PaneNow[]): Promise<void> {
    const [pane] = opened;
    if (pane === undefined || pane.windowIndex === window.window_index) return;
    const to = `=${window.session_name}:${window.window_index}`;
    const argv = ['move-window', '-d', '-s', pane.windowId, '-t', to];
    await this.#parts.change(server.target, () => runTmux(this.#parts.executor, server.socket_path, argv));
  }

  async #resumeIn(server: KeptServer, planned: PlannedAgent, pane: PaneNow): Promise<Outcome> {
    const start = this.#startOf(planned);
    if (start === null) return { outcome: 'refused', words: 'its command cannot be written for a shell' };
    if (!(await this.#isIdleShell(pane))) {
      return { outcome: 'refused', words: `another program is in ${pane.pane}, where it was` };
    }
    const why = await this.#parts.stillFree(planned);
    if (why !== null) return { outcome: 'refused', words: why };
    const { executor } = this.#parts;
    await runTmux(executor, server.socket_path, respawnArgv(pane, start, planned.agent.cwd));
    const now = (await panesAt(executor, server.socket_path))?.find((one) => one.pane === pane.pane);
    return now?.paneMark === start.runtime_id
      ? { outcome: 'started', words: null }
      : { outcome: 'refused', words: 'its pane changed meanwhile' };
  }

  /** The shell of the pane with nothing below it, or a pane whose program has ended. A shell that starts up has children. */
  async #isIdleShell({ panePid, dead }: PaneNow): Promise<boolean> {
    if (dead) return true;
    for (let look = 0; look < shellLooks; look += 1) {
      const all = (await this.#parts.processes()) ?? [];
      const own = all.find(({ identity }) => identity.pid === panePid);
      if (own === undefined || !isWaitingShell(own.argv)) return false;
      if (!all.some(({ ppid }) => ppid === panePid)) return true;
      await this.#wait(shellLookMs);
    }
    return false;
  }

  #startOf({ agent, resume }: PlannedAgent): PaneStart | null {
    if (resume === null) return null;
    const skipping = new Set(this.#parts.allowsSkipping ? [] : skippingOf(agent));
    const options = agent.options.map(({ words }) => words).filter((words) => !skipping.has(words));
    const line = startLine([...resume, ...options.flat()], agent.env, this.#shell);
    return line === null ? null : { runtime_id: agent.runtime_id, line };
  }

  async #rebuilt(server: KeptServer): Promise<void> {
    const now = this.#parts.kept.find(server.server);
    if (now !== null) this.#parts.kept.put({ ...now, is_rebuilt: true });
    await this.#parts.kept.save();
  }

  /** Started is what was run; resumed what was seen to be there again. */
  async #seen(
    server: KeptServer,
    decided: readonly DecidedAgent[],
    ends: ReadonlyMap<string, Outcome>,
  ): Promise<readonly RestoreEnd[]> {
    const panes = (await panesAt(this.#parts.executor, server.socket_path)) ?? [];
    const paneOf = ({ item }: PlannedAgent) => panes.find(({ paneMark }) => paneMark === item.runtime_id)?.pane ?? null;
    const ownerOf = (planned: PlannedAgent) => {
      const pane = paneOf(planned);
      return pane === null ? null : this.#parts.ownerOf(server.target, pane);
    };
    const waiting = (): boolean =>
      decided.some(
        ({ planned }) => ends.get(planned.item.runtime_id)?.outcome === 'started' && ownerOf(planned) === null,
      );
    const until = this.#parts.clock.monotonicMs() + limits.agentStartMs;
    while (waiting() && this.#parts.clock.monotonicMs() < until) await this.#wait(shellLookMs);
    return decided.map(({ planned }): RestoreEnd => {
      const { item } = planned;
      const end = ends.get(item.runtime_id) ?? { outcome: 'left' as const, words: item.why };
      const became = end.outcome === 'started' || end.outcome === 'resumed' ? ownerOf(planned) : null;
      const isSeen = end.outcome === 'started' && became !== null;
      return {
        runtime_id: item.runtime_id,
        place: item.place,
        agent: item.agent,
        outcome: isSeen ? 'resumed' : end.outcome,
        became,
        words: end.words,
      };
    });
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.#parts.clock.after(delayMs, resolve));
  }
}

const shellLookMs = 100;
const shellLooks = 30;

/**
 * The panes of a window that is there again, in the order of the record: one that was opened here, or one that somebody
 * else, a plugin of tmux for instance, has brought back at the same place. Null when it is not.
 */
export function paneBack(
  server: KeptServer,
  window: KeptWindow,
  panes: readonly PaneNow[],
): readonly (PaneNow | null)[] | null {
  const mark = markOf(server.server, window);
  const own = panes
    .filter(({ windowMark }) => windowMark === mark)
    .toSorted((one, other) => one.paneIndex - other.paneIndex);
  if (own.length > 0) {
    // Panes that were marked are found by that: others may have been opened between them.
    return window.panes.map(
      ({ agent }, position) =>
        own.find(({ paneMark }) => agent !== null && paneMark === agent.runtime_id) ?? own[position] ?? null,
    );
  }
  const there = panes.filter(
    (pane) =>
      pane.windowMark === null && pane.sessionName === window.session_name && pane.windowIndex === window.window_index,
  );
  const back = window.panes.map(
    (kept) =>
      there.find((pane) => pane.paneIndex === kept.pane_index && pane.cwd === (kept.agent?.cwd ?? kept.cwd)) ?? null,
  );
  return back.every((pane) => pane === null) ? null : back;
}
