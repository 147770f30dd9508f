// Every machine and every tmux socket on it under watch: the manager says which there are, each gets a watch of its own
// with its own deadlines, so that a slow or hostile one never holds up another (IDN1, FED4).

import type { TargetRow } from '../api/targets.ts';
import type { Config } from '../config/config.ts';
import type { EventProcessor } from '../ingest/event-processor.ts';
import type { Timeline } from '../ingest/timeline.ts';
import { type Failure, failure, type Result } from '../model/errors.ts';
import type { EventEnvelope, RuntimeIdentity } from '../model/events.ts';
import type { SourceInfo } from '../model/explanations.ts';
import { type AgentName, type PaneId, processKey, type RuntimeId, type TargetId, targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Health } from '../model/records.ts';
import type { Cancel } from '../platform/clock.ts';
import { createRealProcesses, realOpenFilesOf } from '../platform/processes.ts';
import type { TerminalWatch } from '../platform/terminal-watch.ts';
import type { Surroundings, WatchedServer } from '../reconcile/elsewhere.ts';
import { RunViews } from '../sources/native/run-view.ts';
import { openProc, type ProcSource } from '../sources/process/proc.ts';
import { psScript } from '../sources/process/ps.ts';
import type { Executor } from '../targets/executor.ts';
import type { Machine, MachineView } from '../targets/machine.ts';
import { type ManagerOptions, type TargetEvent, TargetManager, type TargetView } from '../targets/manager.ts';
import { hostTarget, machineNameOf } from '../targets/names.ts';
import { unwatchedWords } from '../targets/sockets.ts';
import { type ClientRecords, createClientRecords } from '../terminals/tmux/client-records.ts';
import { serverKeyOf } from '../terminals/tmux/view.ts';
import { EditorWindows } from './editor-windows.ts';
import { type Outside, PanelessAgents } from './paneless-agents.ts';
import { viewOfCollector, viewOfProc, viewOfPs } from './process-views.ts';
import { endOf, goodbyeOf } from './sightings.ts';
import { SourceRegistry, type SourceRegistryParts } from './source-registry.ts';
import { TerminalReach } from './terminal-reach.ts';
import { TmuxObserver } from './tmux-observer.ts';
import type { ProcessView, TmuxObserverParts } from './tmux-observer-parts.ts';

export interface TargetControllerParts {
  readonly manager: Omit<ManagerOptions, 'onEvent'>;
  readonly clientsFile: string;
  /** How the system tells that something was printed; null where it does not. */
  readonly terminals: TerminalWatch | null;
  readonly settings: { readonly current: Config };
  readonly ledger: EventProcessor;
  readonly timeline: Timeline;
  /** False when some were turned away. */
  readonly offer: (events: readonly EventEnvelope[]) => Promise<boolean>;
  readonly take: SourceRegistryParts['take'];
  readonly rulesOf: TmuxObserverParts['rulesOf'];
  readonly rules: TmuxObserverParts['rules'];
  readonly agentOf: TmuxObserverParts['agentOf'];
  readonly identify: TmuxObserverParts['identify'];
  readonly hearing: Pick<SourceRegistryParts, 'spoolFolder' | 'home'>;
  readonly isOff: SourceRegistryParts['isOff'];
  readonly isManagedProcess: SourceRegistryParts['isManagedProcess'];
  readonly onRefused: SourceRegistryParts['onRefused'];
  readonly onChange: () => void;
  /** A target of the book that cannot be used. */
  readonly onTrouble: (failure: Failure) => void;
}

/** Between two glances at the foreground of every pane, and between two process tables of a far machine. */
const glanceMs = 2_000;

export class TargetController {
  readonly #parts: TargetControllerParts;
  readonly #manager: TargetManager;
  readonly #watches = new Map<TargetId, TmuxObserver>();
  readonly #addresses = new Map<TargetId, string>();
  readonly #proc: ProcSource | null;
  readonly #ears: SourceRegistry;
  readonly #paneless: PanelessAgents | null;
  readonly terminals: TerminalReach | null;
  readonly editorWindows: EditorWindows | null;
  #clients: ClientRecords | null = null;
  #orphanTimer: Cancel | null = null;
  #isStopped = false;

  constructor(parts: TargetControllerParts) {
    this.#parts = parts;
    this.#manager = new TargetManager({
      ...parts.manager,
      processesScript: psScript,
      onEvent: (event) => this.#onEvent(event),
    });
    const proc = openProc(createRealProcesses());
    this.#proc = proc.ok ? proc.value : null;
    const { ledger, timeline, identify, agentOf, offer, take, hearing } = parts;
    this.#ears = new SourceRegistry({
      clock: parts.manager.clock,
      files: parts.manager.files,
      uid: parts.manager.uid,
      ...hearing,
      ledger,
      timeline,
      proc: this.#proc,
      identify,
      agentOf,
      offer,
      take,
      targetsOf: (machine) =>
        this.#manager
          .targets()
          .filter((view) => view.machine === machine)
          .map(({ target, socket }) => ({ target, path: socket.path })),
      onPending: (machine) => this.#lookAt(machine),
      meet: (process) => this.#paneless?.meet(process) ?? 'gone',
      isOff: parts.isOff,
      isManagedProcess: parts.isManagedProcess,
      onRefused: parts.onRefused,
    });
    this.editorWindows = this.#proc === null ? null : this.#newWindows(this.#proc);
    this.#paneless =
      this.#proc === null || this.editorWindows === null ? null : this.#newPaneless(this.#proc, this.editorWindows);
    this.terminals =
      this.#proc === null || this.editorWindows === null ? null : this.#newTerminals(this.#proc, this.editorWindows);
  }

  #newWindows(proc: ProcSource): EditorWindows {
    const { clock, runtimeDir: folder } = this.#parts.manager;
    return new EditorWindows({ clock, proc, folder, onChange: () => this.#paneless?.lookNow() });
  }

  #newPaneless(proc: ProcSource, windows: EditorWindows): PanelessAgents {
    const { manager, hearing, timeline, settings } = this.#parts;
    const { ledger, identify, agentOf, offer, isManagedProcess, onChange } = this.#parts;
    const { clock, uid } = manager;
    const processes = createRealProcesses();
    const ports = { processes, openFilesOf: realOpenFilesOf };
    return new PanelessAgents({
      target: hostTarget,
      clock,
      now: () => timeline.now(),
      toTimeline: (wallMs) => timeline.fromLocalWall(wallMs),
      proc,
      processes,
      views: new RunViews({ clock, identify, proc: ports, home: hearing.home }),
      uid,
      ledger,
      identify,
      agentOf,
      offer,
      isManagedProcess,
      paneRoots: () => this.#paneRoots(),
      editorRoots: () => windows.roots(),
      homeless: () => this.#homeless(),
      onRuns: (runs) => this.#ears.setRunsOutside(hostTarget, runs),
      onChange,
      aliveMs: () => settings.current.observe.alive_ms,
    });
  }

  #newTerminals(proc: ProcSource, windows: EditorWindows): TerminalReach {
    const { manager, identify, rulesOf, agentOf } = this.#parts;
    return new TerminalReach({
      clock: manager.clock,
      proc,
      processes: createRealProcesses(),
      executor: () => this.executorOf(hostTarget),
      windows,
      identify,
      rulesOf,
      keysOf: (agent) => agentOf(agent)?.keys ?? null,
    });
  }

  /** What everything in a watched pane of this machine runs below. */
  #paneRoots(): ReadonlySet<number> {
    const roots = new Set<number>();
    for (const { kind, topology } of this.#watches.values()) {
      if (kind !== 'local' || topology === null) continue;
      roots.add(topology.server.pid);
      for (const { panePid } of topology.panes.values()) roots.add(panePid);
    }
    return roots;
  }

  /** Those of this machine that live on without the pane they were found in. */
  #homeless(): readonly RuntimeIdentity[] {
    const { entries } = this.#parts.ledger.world;
    return [...entries.values()].flatMap(({ identity, record }) => {
      const { target, pane, process, server } = identity;
      if (pane === null || process === null || record === null || record.ended !== null) return [];
      const watch = this.#watches.get(target);
      if (watch === undefined || watch.kind !== 'local') return [];
      if (watch.topology === null) return watch.hasNoServer ? [identity] : [];
      const isHere = server === serverKeyOf(target, watch.topology.server);
      return isHere && (!watch.topology.panes.has(pane) || watch.hasLeftPane(identity.runtime_id)) ? [identity] : [];
    });
  }

  /** Where an agent without a pane is; null where that is not known. */
  outsideOf(runtime: RuntimeId): Outside | null {
    return this.#paneless?.outsideOf(runtime) ?? null;
  }

  hookCalls(): ReturnType<SourceRegistry['counts']> {
    return this.#ears.counts();
  }

  /** The runs whose own files and streams are followed. */
  runs(): ReturnType<SourceRegistry['runs']> {
    return this.#ears.runs();
  }

  /** Open connections to an agent's own server, by the runtime and the id of the source. */
  taskOf(...of: Parameters<SourceRegistry['taskOf']>): ReturnType<SourceRegistry['taskOf']> {
    return this.#ears.taskOf(...of);
  }

  linesOf(...of: Parameters<SourceRegistry['linesOf']>): ReturnType<SourceRegistry['linesOf']> {
    return this.#ears.linesOf(...of);
  }

  /** How the agents' own words are heard on all machines. */
  sourcesOf(agent: AgentName): readonly SourceInfo[] {
    return this.#ears.infosOf(agent);
  }

  async start(): Promise<void> {
    for (const failure of await this.#manager.start()) this.#parts.onTrouble(failure);
    await this.#manager.connect(hostTarget);
    this.#follow();
    this.#paneless?.start();
    this.#endOrphansLater();
    const locals = [...this.#watches.values()].filter((watch) => watch.kind === 'local');
    const { clock } = this.#parts.manager;
    await Promise.race([
      Promise.all(locals.map((watch) => watch.looked)),
      new Promise<void>((resolve) => clock.after(limits.firstLookMs, resolve)),
    ]);
  }

  /** Agents on this machine whose tmux server nobody watches any more still end by their processes (RSV8). */
  #endOrphansLater(): void {
    this.#orphanTimer = this.#parts.manager.clock.after(glanceMs, () => {
      this.#endOrphans();
      if (!this.#isStopped) this.#endOrphansLater();
    });
  }

  #endOrphans(): void {
    const { ledger, offer, timeline } = this.#parts;
    const watched = this.#around().agents.filter(({ target }) => this.#watches.has(target));
    const rowed = new Set(watched.flatMap(({ process }) => (process === null ? [] : [processKey(process)])));
    for (const { identity, record } of ledger.world.entries.values()) {
      const { target, process } = identity;
      if (process === null || record === null || record.ended !== null || this.#watches.has(target)) continue;
      const at = timeline.now();
      if (process.boot === this.#proc?.boot && !this.#proc.isAlive(process)) offer([endOf({ target }, identity, at)]);
      // Its socket has another name now, and it has its row there.
      else if (rowed.has(processKey(process))) offer([goodbyeOf(identity, at), endOf({ target }, identity, at)]);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#orphanTimer?.();
    this.#paneless?.stop();
    await Promise.all([...this.#watches.values()].map((watch) => watch.stop()));
    await this.#ears.stop();
    await this.#manager.close();
  }

  /** The state of some agent changed. */
  stir(): void {
    for (const watch of this.#watches.values()) watch.stir();
  }

  /** Resolves when what the screens of this machine show now was read. Those of others are too far to wait for. */
  async caughtUp(): Promise<void> {
    const here = [...this.#watches.values()].filter(({ kind }) => kind === 'local');
    await Promise.all(here.map((watch) => watch.caughtUp()));
  }

  watches(): Iterable<TmuxObserver> {
    return this.#watches.values();
  }

  /** How a machine is reached; null for one that is not known. */
  executorOf(machine: string): Executor | null {
    return this.#manager.machine(machine)?.executor ?? null;
  }

  /** How a person gets to a target. */
  reachOf(target: TargetId): { kind: 'local' | 'ssh'; connection_ref: string; socket_path: string } | null {
    const view = this.#manager.targets().find((one) => one.target === target);
    const machine = view === undefined ? null : this.#manager.machine(view.machine);
    if (view === undefined || machine === null) return null;
    return { kind: view.kind, connection_ref: machine.view().connectionRef, socket_path: view.socket.path };
  }

  /** Where programs run on the machine of a target. */
  executorAt(target: TargetId): Executor | null {
    const view = this.#manager.targets().find((one) => one.target === target);
    return view === undefined ? null : this.executorOf(view.machine);
  }

  watch(target: TargetId): TmuxObserver | undefined {
    return this.#watches.get(target);
  }

  async add(name: string, kind: 'local' | 'ssh', connectionRef: string): Promise<Result<MachineView>> {
    const added = await this.#manager.add(name, kind, connectionRef);
    this.#follow();
    return added;
  }

  async connect(name: string): Promise<Result<MachineView>> {
    const connected = await this.#manager.connect(name);
    this.#follow();
    return connected;
  }

  async remove(name: string): Promise<Result<null>> {
    const removed = await this.#manager.remove(name);
    if (removed.ok) this.#letGo(name);
    if (removed.ok) await this.#ears.drop(targetId(name));
    this.#follow();
    return removed;
  }

  /** Nobody looks at a removed machine any more: its agents leave quietly, and none of them keeps the route (RTE2). */
  #letGo(name: string): void {
    const { ledger, offer, timeline } = this.#parts;
    for (const { identity, record } of ledger.world.entries.values()) {
      const isThere = identity.target === name || identity.target.startsWith(`${name}@`);
      if (!isThere || record === null || record.ended !== null) continue;
      offer([goodbyeOf(identity, timeline.now()), endOf({ target: identity.target }, identity, timeline.now())]);
    }
  }

  /** A target is as well as its machine, and as its tmux server. */
  healthOf(target: TargetId): Health {
    const view = this.#manager.targets().find((one) => one.target === target);
    // Whoever is not looked at is not known to be well: an unreached machine, a socket that is gone (RSV5, RSV6).
    if (view === undefined) return 'down';
    return view.health === 'ok' ? (this.#watches.get(target)?.health.health ?? 'down') : view.health;
  }

  /** When this pane was last seen to be there, on the daemon's timeline; null when it is not known. */
  paneSeenAt(target: TargetId, pane: PaneId | null): number | null {
    const watch = this.#watches.get(target);
    const isThere = pane !== null && watch?.topology?.panes.has(pane) === true;
    return isThere ? (watch?.health.lastSeenAt ?? null) : null;
  }

  /** It answered, and no tmux server runs there: also where the socket itself is gone from a machine that answers. */
  hasNoServer(target: TargetId): boolean {
    const watch = this.#watches.get(target);
    if (watch !== undefined) return watch.hasNoServer;
    const machine = this.#manager.machine(machineNameOf(target))?.view();
    return machine?.health === 'ok' && machine.lastSeenAt !== null;
  }

  rows(): readonly TargetRow[] {
    const seen = new Set<TargetId>();
    const rows = this.#manager.targets().map((view) => {
      seen.add(view.machine);
      return this.#row(view.target, view.kind, view.health, view.trouble, this.#watches.get(view.target));
    });
    // A machine that was never reached has no sockets yet; it is listed all the same.
    for (const { machine, kind, health, trouble } of this.#manager.machines()) {
      if (!seen.has(machine)) rows.push(this.#row(machine, kind, health, trouble, undefined));
    }
    for (const { target, kind, left } of this.#manager.unwatched()) {
      rows.push(this.#row(target, kind, 'down', failure('E_TARGET_DOWN', unwatchedWords(left)), undefined));
    }
    return rows;
  }

  /** Watches whose pace was changed begin anew. */
  settingsChanged(): void {
    this.#follow();
  }

  #row(
    target: TargetId,
    kind: 'local' | 'ssh',
    health: Health,
    trouble: Failure | null,
    watch?: TmuxObserver,
  ): TargetRow {
    const own = watch?.health;
    const isOk = health === 'ok';
    const lastSeenAt = own?.lastSeenAt ?? null;
    return {
      target,
      kind,
      health: isOk ? (own?.health ?? 'ok') : health,
      trouble: isOk ? (own?.trouble ?? null) : (trouble?.message ?? null),
      tmux_version: watch?.topology?.server.version ?? null,
      // Whole seconds: a list is not new because it was looked at again.
      last_seen_at: lastSeenAt === null ? null : Math.floor(lastSeenAt / 1_000) * 1_000,
      panes: watch?.topology?.panes.size ?? 0,
    };
  }

  #onEvent(event: TargetEvent): void {
    if (event.kind === 'health' && event.view.clockOffset !== null) {
      this.#parts.timeline.setTargetOffset(event.view.machine, event.view.clockOffset.offsetMs);
    }
    if (event.kind === 'removed') this.#parts.timeline.forgetTarget(event.machine);
    this.#follow();
    if (event.kind === 'health' && event.view.health === 'ok') this.#lookAt(event.view.machine);
    this.#parts.onChange();
  }

  /** A machine that is back is looked at now: the watches over its sockets wait for seconds after a failed attempt. */
  #lookAt(machine: TargetId): void {
    for (const view of this.#manager.targets()) if (view.machine === machine) this.#watches.get(view.target)?.lookNow();
  }

  /** Begins watches for targets that are new and ends those whose target is gone. */
  #follow(): void {
    if (this.#isStopped) return;
    const views = new Map(this.#manager.targets().map((view) => [view.target, view]));
    for (const [target, watch] of this.#watches) {
      // A machine that was just reached may have its socket or its tmux elsewhere than was thought.
      if (this.#addressOf(views.get(target)) === this.#addresses.get(target)) continue;
      // Its socket was given a name: the agents there are met again under that one.
      if (watch.kind === 'local' && !views.has(target) && this.#isRenamed(target, views)) this.#letGo(target);
      this.#watches.delete(target);
      this.#ears.forget(target);
      void watch.stop().then(() => this.#parts.onChange());
    }
    for (const view of views.values()) {
      const machine = this.#manager.machine(view.machine);
      const address = this.#addressOf(view);
      if (machine === null || address === null || this.#watches.has(view.target)) continue;
      const watch = this.#newWatch(view, machine);
      this.#watches.set(view.target, watch);
      this.#addresses.set(view.target, address);
      watch.start();
    }
  }

  #isRenamed(target: TargetId, views: ReadonlyMap<TargetId, TargetView>): boolean {
    const address = this.#addresses.get(target) ?? null;
    return [...views.values()].some((view) => view.kind === 'local' && this.#addressOf(view) === address);
  }

  /** Where and how often a target is looked at, null when there is none or its machine has not said so yet. */
  #addressOf(view: TargetView | undefined): string | null {
    if (view === undefined) return null;
    const facts = this.#manager.machine(view.machine)?.view().facts ?? null;
    if (view.kind === 'ssh' && facts === null) return null;
    const { sweep_ms, alive_ms } = this.#parts.settings.current.observe;
    return `${facts?.tmuxPath ?? 'tmux'} ${view.socket.path} ${sweep_ms} ${alive_ms}`;
  }

  #newWatch(view: TargetView, machine: Machine): TmuxObserver {
    const { manager, ledger, timeline, settings, offer, onChange } = this.#parts;
    const { sweep_ms, alive_ms } = settings.current.observe;
    const { target, kind, socket } = view;
    const facts = machine.view().facts;
    const { hearing, views } = this.#ears.of(view.machine, machine);
    const program = facts === null || facts.tmuxPath === null ? {} : { program: facts.tmuxPath };
    return new TmuxObserver({
      target,
      kind,
      link: {
        address: { executor: machine.executor, socket: { kind: 'path', path: socket.path }, ...program },
        random: manager.random,
        sweepMs: sweep_ms,
        ...(kind === 'local' ? { ledger: this.#clientsOf(machine.executor), terminals: this.#parts.terminals } : {}),
      },
      clock: manager.clock,
      now: () => timeline.now(),
      toTimeline: (wallMs) =>
        kind === 'local'
          ? timeline.fromLocalWall(wallMs)
          : (timeline.fromTarget(view.machine, wallMs) ?? timeline.now()),
      sight: this.#sightOf(machine),
      ledger,
      identify: this.#parts.identify,
      offer,
      rulesOf: this.#parts.rulesOf,
      rules: this.#parts.rules,
      agentOf: this.#parts.agentOf,
      views,
      machine: machineWord(view),
      around: () => this.#around(),
      onFound: (found) => this.#paneless?.release(found),
      onRuns: (runs) => hearing.setRuns(target, runs),
      onLook: (runtime, state) => hearing.look(runtime, state),
      onChange,
      glanceMs,
      aliveMs: alive_ms,
    });
  }

  /** Every server under watch and every agent that lives, for whoever asks whether one was seen already. */
  #around(): Surroundings {
    const { ledger, agentOf } = this.#parts;
    const servers = this.#manager.targets().map((view): WatchedServer => {
      const topology = this.#watches.get(view.target)?.topology ?? null;
      const connectionRef = this.#manager.machine(view.machine)?.view().connectionRef ?? '';
      return { target: view.target, kind: view.kind, connectionRef, machine: machineWord(view), topology };
    });
    const agents = [...ledger.world.entries.values()].flatMap(({ identity, record }) =>
      record === null || record.ended !== null || identity.parent !== null ? [] : [identity],
    );
    return { servers, agents, originOf: (agent) => agentOf(agent)?.forkOf ?? agent };
  }

  /** One file for all control clients on this machine. */
  #clientsOf(executor: Executor): ClientRecords {
    const { manager, clientsFile } = this.#parts;
    if (this.#clients === null) {
      this.#clients = createClientRecords({ files: manager.files, executor, path: clientsFile });
      void this.#clients.endLeftovers();
    }
    return this.#clients;
  }

  #sightOf(machine: Machine): ProcessView {
    if (machine.collector !== null) return viewOfCollector(machine.collector);
    const [proc, windows] = [this.#proc, this.editorWindows];
    if (proc === null || windows === null) return viewOfPs(machine.executor);
    const read: ProcSource['read'] = (pids, isAgain) => windows.outside(proc.read(pids, isAgain));
    return viewOfProc({ ...proc, read }, this.#parts.manager.clock);
  }
}

/** All local targets are one machine, however many names a person gave to its sockets. */
const machineWord = ({ kind, machine }: TargetView): string => (kind === 'local' ? hostTarget : machine);
