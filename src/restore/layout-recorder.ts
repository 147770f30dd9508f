// Keeps what each tmux server of this machine looks like as it changes (RST1). An agent that has just gone stays in the
// record for a moment: a server that is shut down loses its panes one after the other, and none of them was closed.

import type { Agent, RunView } from '../agents/contract.ts';
import { keptOptions } from '../agents/keys/start-options.ts';
import type { Entry } from '../engine/world.ts';
import type { AgentName, PaneId, RuntimeId, ServerKey, TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { serverKeyOf, type TmuxPane, type Topology } from '../terminals/tmux/view.ts';
import type { KeptAgent, KeptServer, KeptServers, KeptWindow } from './kept-servers.ts';

/** As much of a watched tmux server as its record needs. */
export interface RecordedServer {
  readonly target: TargetId;
  readonly kind: 'local' | 'ssh';
  readonly topology: Topology | null;
  /** Null when nobody answers. */
  readonly ask: (command: string) => Promise<string | null>;
}

export interface LayoutRecorderParts {
  readonly clock: Clock;
  readonly now: () => number;
  readonly log: Pick<Log, 'warn'>;
  readonly kept: KeptServers;
  readonly servers: () => readonly RecordedServer[];
  /** It answered, and no tmux server runs there. */
  readonly hasNoServer: (target: TargetId) => boolean;
  readonly entries: () => Iterable<Entry>;
  readonly runs: () => readonly { readonly agent: Agent; readonly run: RunView }[];
  readonly agentOf: (agent: AgentName) => Agent | null;
  readonly sessionOf: (runtime: RuntimeId) => Promise<string | null>;
  /** A server is gone, and so many of its agents could be resumed. */
  readonly onLost: (server: ServerKey, agents: number) => void;
}

const layoutFormat = '#{window_id} #{window_active} #{?automatic-rename,1,0} #{window_layout}';

export class LayoutRecorder {
  readonly #parts: LayoutRecorderParts;
  readonly #shapes = new Map<TargetId, string>();
  /** Since when agents are missing that the record has. */
  readonly #shrunkAt = new Map<ServerKey, number>();
  /** Asked again only when something was heard of the agent: the answer is looked for in the log. */
  readonly #sessions = new Map<RuntimeId, { readonly heard: string; readonly session: string | null }>();
  #timer: Cancel | null = null;
  #working: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(parts: LayoutRecorderParts) {
    this.#parts = parts;
  }

  /** Something about panes or agents may have changed. */
  soon(delayMs: number = limits.restoreRecordMs): void {
    if (this.#isStopped || this.#timer !== null) return;
    this.#timer = this.#parts.clock.after(delayMs, () => {
      this.#timer = null;
      void this.record();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.();
    this.#timer = null;
    await this.#working;
  }

  /** Looks now; resolves when what was new is on disk. */
  record(): Promise<void> {
    this.#working = this.#working
      .then(() => this.#record())
      .catch((problem: unknown) => {
        this.#parts.log.warn('the layout of tmux could not be kept', { why: String(problem) });
      });
    return this.#working;
  }

  async #record(): Promise<void> {
    const { kept, servers } = this.#parts;
    const here = servers().filter(({ kind }) => kind === 'local');
    let isChanged = this.#noteLost(here);
    for (const server of here) isChanged = (await this.#look(server)) || isChanged;
    const isLiving = ({ record }: Entry): boolean => record !== null && record.ended === null;
    const living = new Set([...this.#parts.entries()].filter(isLiving).map(({ identity }) => identity.runtime_id));
    for (const runtime of this.#sessions.keys()) if (!living.has(runtime)) this.#sessions.delete(runtime);
    if (!isChanged) return;
    kept.prune(this.#parts.now());
    await kept.save();
  }

  /** A server is lost when another one, or none, answers at its place (IDN2). */
  #noteLost(here: readonly RecordedServer[]): boolean {
    const { kept, hasNoServer, now } = this.#parts;
    let isChanged = false;
    for (const server of kept.all()) {
      if (server.lost_at !== null) continue;
      const watch = here.find(({ target }) => target === server.target);
      const topology = watch?.topology ?? null;
      const isThere = topology !== null && serverKeyOf(server.target, topology.server) === server.server;
      if (isThere || (topology === null && !hasNoServer(server.target))) continue;
      kept.put({ ...server, lost_at: now() });
      this.#shrunkAt.delete(server.server);
      const agents = agentsIn(server.windows).filter(({ agent_session }) => agent_session !== null);
      if (agents.length > 0) this.#parts.onLost(server.server, agents.length);
      isChanged = true;
    }
    return isChanged;
  }

  async #look(server: RecordedServer): Promise<boolean> {
    const { target, topology } = server;
    if (topology === null) return false;
    const living = this.#livingIn(target);
    const runs = new Set(this.#parts.runs().map(({ run }) => run.runtime_id));
    const shape = shapeOf(topology, living, runs);
    if (this.#shapes.get(target) === shape) return false;
    const told = await server.ask(`list-windows -a -F "${layoutFormat}"`);
    if (told === null) return false;
    const windows = await this.#windows(topology, living, layoutsIn(told));
    const key = serverKeyOf(target, topology.server);
    const before = this.#parts.kept.find(key);
    if (before !== null && this.#isShrinking(before, windows)) return false;
    this.#shapes.set(target, shape);
    if (before !== null && JSON.stringify(before.windows) === JSON.stringify(windows)) return false;
    this.#parts.kept.put({
      server: key,
      target,
      socket_path: topology.server.socketPath,
      seen_at: this.#parts.now(),
      lost_at: null,
      is_rebuilt: false,
      windows: [...windows],
      settled: [],
    });
    return true;
  }

  /** True while agents that have just gone may have gone with their server. */
  #isShrinking({ server, windows: before }: KeptServer, windows: readonly KeptWindow[]): boolean {
    const there = new Set(agentsIn(windows).map(({ runtime_id }) => runtime_id));
    if (agentsIn(before).every(({ runtime_id }) => there.has(runtime_id))) {
      this.#shrunkAt.delete(server);
      return false;
    }
    const now = this.#parts.clock.monotonicMs();
    const since = this.#shrunkAt.get(server) ?? now;
    this.#shrunkAt.set(server, since);
    const restMs = since + limits.restoreSettleMs - now;
    if (restMs > 0) this.soon(restMs);
    else this.#shrunkAt.delete(server);
    return restMs > 0;
  }

  #livingIn(target: TargetId): ReadonlyMap<PaneId, Entry> {
    const living = new Map<PaneId, Entry>();
    for (const entry of this.#parts.entries()) {
      const { pane, parent, pane_epoch } = entry.identity;
      if (entry.identity.target !== target || pane === null || parent !== null) continue;
      if (entry.record === null || entry.record.ended !== null) continue;
      if ((living.get(pane)?.identity.pane_epoch ?? -1) < pane_epoch) living.set(pane, entry);
    }
    return living;
  }

  async #windows(
    topology: Topology,
    living: ReadonlyMap<PaneId, Entry>,
    layouts: ReadonlyMap<string, WindowLayout>,
  ): Promise<readonly KeptWindow[]> {
    const windows = new Map<string, KeptWindow>();
    for (const pane of topology.panes.values()) {
      const entry = living.get(pane.pane);
      const agent = entry === undefined ? null : await this.#agent(entry, pane);
      const known = windows.get(pane.windowId) ?? newWindow(pane, layouts.get(pane.windowId));
      const { pane: pane_id, paneIndex: pane_index, cwd } = pane;
      windows.set(pane.windowId, { ...known, panes: [...known.panes, { pane_id, pane_index, cwd, agent }] });
    }
    return [...windows.values()].slice(0, limits.restoreWindowsMax);
  }

  async #sessionOf(entry: Entry): Promise<string | null> {
    const { runtime_id } = entry.identity;
    const heard = heardOf(entry);
    const known = this.#sessions.get(runtime_id);
    if (known?.heard === heard) return known.session;
    const session = await this.#parts.sessionOf(runtime_id);
    this.#sessions.set(runtime_id, { heard, session });
    return session;
  }

  async #agent(entry: Entry, pane: TmuxPane): Promise<KeptAgent> {
    const { runtime_id, agent, process } = entry.identity;
    const { run } = this.#parts.runs().find((one) => one.run.runtime_id === runtime_id) ?? {};
    const [program] = run?.programs ?? [];
    const known = this.#parts.agentOf(agent)?.keys?.startOptions ?? [];
    const places = Object.entries(run?.env ?? {}).filter(([, value]) => value.startsWith('/'));
    return {
      runtime_id,
      agent,
      agent_session: await this.#sessionOf(entry),
      process,
      cwd: run?.cwd ?? pane.cwd,
      options: keptOptions(program?.argv ?? [], known).map(({ words, skips_permissions }) => ({
        words: [...words],
        skips_permissions,
      })),
      env: Object.fromEntries(places),
    };
  }
}

interface WindowLayout {
  readonly isActive: boolean;
  readonly isNamedByTmux: boolean;
  readonly layout: string;
}

function layoutsIn(told: string): ReadonlyMap<string, WindowLayout> {
  const layouts = new Map<string, WindowLayout>();
  for (const line of told.split('\n')) {
    const [, id, active, automatic, layout] = /^(@\d+) ([01]) ([01]) (\S+)$/.exec(line) ?? [];
    if (id === undefined || layout === undefined) continue;
    layouts.set(id, { isActive: active === '1', isNamedByTmux: automatic === '1', layout });
  }
  return layouts;
}

const newWindow = (pane: TmuxPane, told: WindowLayout | undefined): KeptWindow => ({
  session_name: pane.sessionName,
  window_id: pane.windowId,
  window_index: pane.windowIndex,
  window_name: told?.isNamedByTmux === true ? null : pane.windowName,
  layout: told?.layout ?? '',
  is_active: told?.isActive ?? false,
  panes: [],
});

/** Where its own files name one conversation that is it; elsewhere its hooks may name another with every change. */
const heardOf = ({ fold: { sessions }, record }: Entry): string =>
  sessions.size === 1 ? [...sessions].join() : `${sessions.size} ${record?.state_version}`;

/** Everything that a record is made of, cheaply: nothing is asked while it stays the same. */
function shapeOf(
  { server, panes }: Topology,
  living: ReadonlyMap<PaneId, Entry>,
  runs: ReadonlySet<RuntimeId>,
): string {
  const rows = [...panes.values()].map(
    (pane) =>
      `${pane.pane} ${pane.sessionName} ${pane.windowIndex} ${pane.paneIndex} ${pane.width}x${pane.height} ${pane.windowName} ${pane.cwd}`,
  );
  const agents = [...living.values()].map((entry) => {
    const { runtime_id } = entry.identity;
    return `${runtime_id} ${runs.has(runtime_id)} ${heardOf(entry)}`;
  });
  return [server.pid, server.startTime, ...rows, ...agents].join('\n');
}

export const agentsIn = (windows: readonly KeptWindow[]): readonly KeptAgent[] =>
  windows.flatMap(({ panes }) => panes.flatMap(({ agent }) => agent ?? []));
