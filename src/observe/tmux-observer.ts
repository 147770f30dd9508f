// One tmux server under watch: its topology, the agents in its panes, and whether they are alive. What is seen goes into
// the inbox; what is shown comes out of the ledger.

import { claimOf } from '../engine/contradict.ts';
import { isPaneless, type RuntimeIdentity } from '../model/events.ts';
import {
  type AgentName,
  type PaneId,
  type ProcessIdentity,
  processKey,
  type RuntimeId,
  type TargetId,
} from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Health } from '../model/records.ts';
import type { StateName } from '../model/states.ts';
import type { Cancel } from '../platform/clock.ts';
import { isSeenElsewhere, rowedElsewhere } from '../reconcile/elsewhere.ts';
import { ExitDetector, terminalLookOf } from '../reconcile/exit-detection.ts';
import { NestedAgents } from '../reconcile/nested-agents.ts';
import type { ScreenRun } from '../reconcile/screen-memory.ts';
import { ScreenReconciler } from '../reconcile/screen-reconciler.ts';
import { agentIn, type PaneAgents } from '../sources/process/foreground.ts';
import type { ProcessTable } from '../sources/process/table.ts';
import { TmuxLink } from '../terminals/tmux/link.ts';
import type { UserOption } from '../terminals/tmux/user-options.ts';
import type { PaneScreen, TmuxPane, TmuxServer, Topology } from '../terminals/tmux/view.ts';
import { serverKeyOf } from '../terminals/tmux/view.ts';
import { claimsOf, lookRestMs, outclaimed, StartBudget, UnlistedPanes } from './pane-claims.ts';
import { PaneReach } from './pane-reach.ts';
import { Rounds } from './rounds.ts';
import { RunFollower } from './run-follower.ts';
import {
  doubles,
  endOf,
  factsOf,
  goodbyeOf,
  LeftPanes,
  type LiveRuntime,
  type Look,
  leftPane,
  partings,
  serverSeenOf,
  withoutTwins,
} from './sightings.ts';
import type { TmuxObserverParts } from './tmux-observer-parts.ts';
import { anyOptionsOf, optionChanges } from './tmux-status.ts';
import { WaitingEnds } from './waiting-ends.ts';

/** Between two full looks when nothing seems to change: finds what a glance and a cheap check cannot. */
const fullLookMs = 10_000;
/** Between two looks at every process of the machine; the others leave out who had nothing to do with its panes. */
const wholeLookMs = 60_000;
/** The same for another machine whose glance tells of everything below the panes. */
const fullLookFarMs = 60_000;

const overShareWords = `it reports more than ${limits.farAgentsMax} agents; the rest are omitted`;
const overPanesWords = `it lists ${limits.farPanesMax} panes or more; the rest are omitted`;
const cutTableWords = `more than ${limits.processesMax} processes run there: new agents may be missed, and no agent counts as ended because its process is not listed`;

export class TmuxObserver {
  readonly #parts: TmuxObserverParts;
  readonly #link: TmuxLink;
  readonly #screens: ScreenReconciler;
  readonly #leaving: ExitDetector;
  readonly #waitingEnds = new WaitingEnds();
  readonly #runs: RunFollower;
  readonly #guests: NestedAgents;
  #glances: ReadonlyMap<number, string> = new Map();
  readonly #rounds: Rounds;
  #topology: Topology | null = null;
  /** Nothing is believed before the first look was answered (RSV5). */
  #health: Health = 'down';
  #trouble: string | null = null;
  #lastSeenAt: number | null = null;
  #looking: Promise<void> | null = null;
  #lookAgain = false;
  #isExpecting = false;
  #hurryAlive: () => void = () => undefined;
  #tellLooked: () => void = () => undefined;
  /** Resolves when the server, or that there is none, was seen once. */
  readonly looked = new Promise<void>((resolve) => {
    this.#tellLooked = resolve;
  });
  /** Agents that run here, as they were last counted. */
  #liveCount = 0;
  #wholeAt = Number.NEGATIVE_INFINITY;
  #lookedAt = 0;
  /** Set while the next look is put off. */
  #cancelRest: Cancel | null = null;
  #shape = '';
  readonly #left = new LeftPanes();
  readonly #unlisted = new UnlistedPanes();
  readonly #starts = new StartBudget();
  /** It tells of more agents than a machine behind ssh may have. */
  #isOverShare = false;
  #table: ProcessTable | null = null;
  /** Of the panes, without those that are agents. */
  #paneProcesses: readonly ProcessIdentity[] = [];
  #wanted: readonly PaneId[] = [];
  #shown: ReadonlyMap<string, UserOption> = new Map();
  #shownAt: number | null = null;
  #isStopped = true;
  /** What the last glance at another machine told. */
  #farWords: string | null = null;
  /** The last look found something that another one has to confirm or go on with. */
  #isUnfinished = true;

  constructor(parts: TmuxObserverParts) {
    this.#parts = parts;
    this.#rounds = new Rounds(parts.clock);
    this.#link = new TmuxLink({
      ...parts.link,
      clock: parts.clock,
      now: parts.now,
      handlers: {
        onTopology: (topology) => this.#onTopology(topology),
        onScreen: (screen) => this.#onScreen(screen),
        onRefresh: (at) => this.#onRefresh(at),
        onHealth: ({ health, trouble }) => this.#onHealth(health, trouble),
        onServerGone: (server) => this.#onServerGone(server),
        isSettled: () => this.#screens.isSettled && this.#guests.isSettled,
      },
    });
    const capture = (pane: PaneId, colours = false): Promise<readonly string[]> =>
      this.#link.capture(pane, { colours });
    const { rulesOf } = parts;
    this.#leaving = new ExitDetector({
      terminalLookOf: (pane) => terminalLookOf((text) => this.#link.command(text), pane),
      capture,
      rulesOf,
    });
    this.#screens = new ScreenReconciler({
      target: parts.target,
      clock: parts.clock,
      now: parts.now,
      rulesOf,
      published: (runtime) => parts.ledger.world.entries.get(runtime)?.record ?? null,
      claimed: (runtime) => {
        const entry = parts.ledger.world.entries.get(runtime);
        return entry?.record == null ? null : claimOf(entry.record, entry.fold);
      },
      offer: parts.offer,
      capture,
      tellAgain: (pane) => this.#link.tellAgain(pane),
      keysOf: (agent) => parts.agentOf(agent)?.keys ?? null,
      titleOf: (pane) => this.#topology?.panes.get(pane)?.title ?? '',
      onLook: (runtime, state) => this.#onLook(runtime, state),
    });
    const { sight, identify } = parts;
    const { address, random } = parts.link;
    this.reach = new PaneReach({ link: this.#link, address, sight, identify, random });
    this.#guests = new NestedAgents({
      rules: parts.rules,
      originOf: (agent) => parts.agentOf(agent)?.forkOf ?? agent,
      isSeenElsewhere: (pane, agents, agent) => this.#isSeenElsewhere(pane, agents, agent),
      onChange: () => this.#look(),
    });
    this.#runs = new RunFollower({
      clock: parts.clock,
      views: parts.views,
      agentOf: parts.agentOf,
      onScreenRuns: (runs) => this.#wantScreens(runs),
      onRuns: parts.onRuns,
    });
  }

  get screens(): ScreenReconciler {
    return this.#screens;
  }

  /** For who acts on what is watched. */
  readonly reach: PaneReach;

  get target(): TargetId {
    return this.#parts.target;
  }

  get kind(): 'local' | 'ssh' {
    return this.#parts.kind;
  }

  get topology(): Topology | null {
    return this.#topology;
  }

  get hasNoServer(): boolean {
    return this.#topology === null && this.#health === 'ok' && this.#trouble !== null;
  }

  /** Its process runs, but not below the pane it was found in: a terminal of its own was taken out of it. */
  hasLeftPane(runtime: RuntimeId): boolean {
    return this.#left.has(runtime);
  }

  get health(): { readonly health: Health; readonly trouble: string | null; readonly lastSeenAt: number | null } {
    const lastSeenAt = this.#lastSeenAt;
    const degraded = (trouble: string) => ({ health: 'degraded' as const, trouble, lastSeenAt });
    if (this.#isOverShare && this.#health === 'ok') return degraded(overShareWords);
    const isOverPanes = this.kind === 'ssh' && (this.#topology?.panes.size ?? 0) >= limits.farPanesMax;
    if (isOverPanes && this.#health === 'ok') return degraded(overPanesWords);
    if (this.#table?.isCut === true && this.#health === 'ok') return degraded(cutTableWords);
    return { health: this.#health, trouble: this.#trouble, lastSeenAt };
  }

  /** Shows states in tmux itself; sends only what is new to this server. */
  show(wanted: ReadonlyMap<string, UserOption>): void {
    const server = this.#topology?.server.pid ?? null;
    if (server === null || !this.#link.isControlled) return;
    // A daemon that was killed left its options behind: what stands there is not known, so everything is set or taken away.
    if (server !== this.#shownAt) this.#shown = anyOptionsOf(this.#topology);
    const changes = optionChanges(this.#shown, wanted);
    this.#shown = wanted;
    this.#shownAt = server;
    // A pane may have gone meanwhile; the next change corrects what this one could not set.
    if (changes.length > 0) this.#link.setOptions(changes).catch(() => undefined);
  }

  /** The state of some agent changed: its screen may have to be held against that. */
  stir(): void {
    this.#link.stir();
  }

  /** Resolves when what the screens show now was read and confirmed. */
  async caughtUp(): Promise<void> {
    await this.#link.looked();
    while (this.#screens.isConfirming && !this.#isStopped)
      await new Promise<void>((resolve) => this.#parts.clock.after(limits.screenConfirmPollMs, resolve));
  }

  /** Somebody has reason to believe that things are not as they were. */
  lookNow(): void {
    this.#link.lookNow();
    this.#look();
  }

  start(): void {
    this.#isStopped = false;
    this.#link.start();
    this.#rounds.every(
      () => this.#parts.glanceMs,
      () => this.#glance(),
    );
    // Where no agent runs there is nothing to check: a wake-up costs more than the check.
    const hasAgents = (): boolean => this.#isExpecting || this.#liveCount > 0;
    const aliveMs = (): number => (hasAgents() ? this.#parts.aliveMs : this.#parts.glanceMs);
    if (this.#parts.sight.anyGone !== null) this.#hurryAlive = this.#rounds.every(aliveMs, () => this.#checkAlive());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#rounds.stop();
    this.#cancelRest?.();
    // What nobody keeps up to date any more must not be shown.
    this.show(new Map());
    this.#screens.stop();
    await this.#link.stop();
    await this.#looking;
  }

  #onTopology(topology: Topology): void {
    this.#topology = topology;
    this.#offerServer(topology.server);
    this.#screens.onTopology(this.#parts.now());
    this.#runs.onTitles((pane) => topology.panes.get(pane)?.title ?? '');
    // A title that turns ten times a second says nothing about processes.
    const shape = [...topology.panes.values()].map(
      (one) => `${one.pane} ${one.panePid} ${one.currentCommand} ${one.dead}`,
    );
    if (shape.join('\n') !== this.#shape) this.#look();
    this.#shape = shape.join('\n');
    this.#parts.onChange();
  }

  #onScreen({ pane, lines, capturedAt }: PaneScreen): void {
    this.#screens.onScreen(pane, lines, capturedAt);
    this.#guests.onScreen(pane, lines, this.#topology?.panes.get(pane)?.title ?? '', capturedAt);
  }

  #onRefresh(at: number): void {
    const isFirst = this.#lastSeenAt === null;
    this.#lastSeenAt = at;
    this.#screens.onRefresh(at);
    this.#guests.onRefresh(at);
    if (isFirst) this.#onHealth('ok', null);
  }

  #onHealth(health: Health, trouble: string | null): void {
    this.#health = health;
    this.#trouble = trouble;
    // Without a server there is nothing more to look at.
    if (this.#topology === null) this.#tellLooked();
    this.#parts.onChange();
  }

  /** Its panes are gone with it; its runtimes end by their processes, or when another server answers (IDN2). */
  #isSeenElsewhere(pane: PaneId, { inside, door }: PaneAgents, agent: AgentName): boolean {
    const { machine, around } = this.#parts;
    const table = this.#table;
    if (inside === null || door === null || table === null) return false;
    return isSeenElsewhere({ machine, pane, inside, door, table }, agent, around());
  }

  #onServerGone(_server: TmuxServer): void {
    this.#topology = null;
    this.#shape = '';
    this.#glances = new Map();
    this.#look();
    this.#parts.onChange();
  }

  #offerServer(server: TmuxServer): void {
    const { target, toTimeline, offer, now, ledger } = this.#parts;
    const seen = serverSeenOf(target, server, toTimeline, now());
    if (ledger.world.index.server(target)?.server !== seen.payload.server) offer([seen]);
  }

  /** Looks at the processes when the foreground of some pane has changed, or where only a full look can tell. */
  #glance(): void {
    const { glance, glanceFar } = this.#parts.sight;
    const isTree = this.#farWords?.startsWith('tree\n') === true;
    const isDue = this.#parts.clock.monotonicMs() - this.#lookedAt >= (isTree ? fullLookFarMs : fullLookMs);
    if (glanceFar !== null && !isDue) {
      void this.#glanceFar(glanceFar);
      return;
    }
    let changed = glance === null || isDue;
    if (glance !== null) {
      const glances = new Map<number, string>();
      for (const { panePid } of this.#topology?.panes.values() ?? []) {
        const words = glance(panePid) ?? '';
        if (this.#glances.get(panePid) !== words) changed = true;
        glances.set(panePid, words);
      }
      // Not of panes that are gone: on a long day there are thousands.
      this.#glances = glances;
    }
    if (changed) this.#look();
  }

  /** A whole table of another machine costs more than all else that is asked there. */
  async #glanceFar(ask: (pids: readonly number[]) => Promise<string | null>): Promise<void> {
    const live = this.#live();
    const panes = this.#topology?.panes;
    const pids = [
      ...[...(panes?.values() ?? [])].map((one) => one.panePid),
      ...live.flatMap(({ identity }) => (identity.process === null ? [] : [identity.process.pid])),
    ];
    const isListed = live.every(({ identity }) => identity.pane === null || panes?.has(identity.pane) === true);
    const isSimple = isListed && !this.#isUnfinished && pids.length <= limits.farGlancePidsMax;
    if (isSimple && pids.length === 0) return;
    const words = isSimple ? await ask(pids) : null;
    if (this.#isStopped || (words !== null && words === this.#farWords)) return;
    this.#farWords = words;
    // A respawned pane rings no bell (IDN4).
    if (words !== null) this.#link.lookNow();
    this.#look();
  }

  /** One look at a time; a call during one asks for another right after it. */
  #look(): void {
    if (this.#looking !== null) {
      this.#lookAgain = true;
      return;
    }
    // One is coming.
    if (this.#cancelRest !== null) return;
    const { clock, kind } = this.#parts;
    const restMs = kind === 'ssh' ? lookRestMs(this.#table) - (clock.monotonicMs() - this.#lookedAt) : 0;
    if (restMs > 0) {
      this.#cancelRest = clock.after(restMs, () => {
        this.#cancelRest = null;
        this.#look();
      });
      return;
    }
    this.#looking = this.#lookOnce()
      .catch(() => undefined)
      .finally(() => {
        this.#looking = null;
        this.#tellLooked();
        if (this.#lookAgain && !this.#isStopped) {
          this.#lookAgain = false;
          this.#look();
        }
      });
  }

  async #lookOnce(): Promise<void> {
    const lookedBefore = this.#lookedAt;
    this.#lookedAt = this.#parts.clock.monotonicMs();
    const { target, sight, identify, ledger, now, toTimeline, offer } = this.#parts;
    const topology = this.#topology;
    const panes = [...(topology?.panes.values() ?? [])];
    const live = this.#live();
    this.#liveCount = live.length;
    this.#leaving.keepOnly(new Set(live.map(({ identity }) => identity.runtime_id)));
    if (panes.length === 0 && live.length === 0) {
      this.#runs.clear();
      return;
    }
    // After a long rest pids may have come round.
    const isAgain = this.#lookedAt - this.#wholeAt < wholeLookMs && this.#lookedAt - lookedBefore < 2 * fullLookMs;
    if (!isAgain) this.#wholeAt = this.#lookedAt;
    const paneRoots = panes.map((pane) => pane.panePid);
    const table = await sight.read(paneRoots, isAgain);
    if (table === null || this.#isStopped) return;
    const wasCut = this.#table?.isCut;
    this.#table = table;
    if (table.isCut !== wasCut) this.#parts.onChange();
    const agentPids = new Set(live.map(({ identity }) => identity.process?.pid));
    this.#paneProcesses = panes
      .filter(({ dead, panePid }) => !dead && !agentPids.has(panePid))
      .flatMap(({ panePid }) => table.processes.get(panePid)?.identity ?? []);
    const twins = rowedElsewhere(target, this.#parts.around());
    const agentsIn = (pane: TmuxPane): PaneAgents => withoutTwins(agentIn(table, pane.panePid, identify), twins);
    const isFar = this.#parts.kind === 'ssh';
    const claims = claimsOf(panes, live, agentsIn, isFar ? limits.farAgentsMax : limits.panesPerServerMax);
    this.#noteShare(claims.isCut);
    const found = this.#guests.withGuests(claims.agents, now());
    const look: Look = {
      target,
      server:
        topology === null
          ? serverKeyOf(target, { socketPath: '', pid: 0, startTime: 0 })
          : serverKeyOf(target, topology.server),
      panes,
      table,
      agentsIn: (pane) => found.get(pane) ?? agentIn(table, pane.panePid, identify),
      live,
      epochOf: (pane) => this.#epochOf(pane),
      isKnown: (runtime) => ledger.world.entries.has(runtime),
      toTimeline,
      now: now(),
    };
    const { isNew, isChanged } = this.#left.note(leftPane(look));
    this.#lookAgain ||= isNew;
    if (isChanged) this.#parts.onChange();
    const all = factsOf(look);
    const facts = isFar ? this.#starts.within(all, this.#lookedAt) : all;
    const ends = new Set(facts.flatMap((fact) => (fact.kind === 'runtime.ended' ? [fact.evidence.runtime_id] : [])));
    this.#isUnfinished = facts.length < all.length || facts.length > 0 || claims.isCut;
    if (facts.length > ends.size) offer(facts.filter((fact) => fact.kind !== 'runtime.ended'));
    if (!isFar) this.#parts.onFound(processesIn(found));
    const ended = live.filter(({ identity }) => ends.has(identity.runtime_id));
    this.#endAll(this.#waitingEnds.due(ended, look, this.#lookedAt));
    offer([...partings(look, found), ...doubles(look, twins), ...outclaimed(look, found)]);
    if (isFar && topology !== null) this.#dropUnlisted(look);
    this.#runs.follow(look, found);
    // A new agent may end within the second: it is checked on from now, not from the next slow round.
    this.#isExpecting = facts.some((fact) => fact.kind === 'runtime.started');
    if (this.#isExpecting) this.#hurryAlive();
  }

  /** Silence is no list: only a server that answers can say that a pane is gone (RSV6). */
  #dropUnlisted(look: Look): void {
    const due = this.#health === 'ok' ? this.#unlisted.due(look, this.#lookedAt) : [];
    if (due.length > 0)
      this.#parts.offer(
        due.flatMap(({ identity }) => [goodbyeOf(identity, look.now), endOf(look, identity, look.now)]),
      );
  }

  #noteShare(isCut: boolean): void {
    if (isCut === this.#isOverShare) return;
    this.#isOverShare = isCut;
    this.#parts.onChange();
  }

  #checkAlive(): void {
    const live = this.#live();
    this.#liveCount = live.length;
    const processes = live.flatMap(({ identity }) => identity.process ?? []);
    if (this.#parts.sight.anyGone?.([...processes, ...this.#paneProcesses]) !== true) return;
    // A respawned pane rings no bell, and its server may be at rest (IDN4).
    this.#link.lookNow();
    // The look tells the end, after whoever is there instead by then: told alone it would promote somebody else (RTE3).
    this.#look();
  }

  #endAll(gone: readonly LiveRuntime[]): void {
    const at = this.#parts.now();
    for (const { identity } of gone) {
      const end = endOf(this.#parts, identity, at);
      void this.#leaving.end(identity, (left) => this.#parts.offer(left ? [goodbyeOf(identity, at), end] : [end]));
    }
  }

  #wantScreens(runs: readonly ScreenRun[]): void {
    this.#screens.follow(runs);
    const wanted = [...new Set([...this.#screens.panes, ...this.#guests.panes])];
    if (wanted.join() === this.#wanted.join()) return;
    this.#wanted = wanted;
    this.#link.wantScreens(wanted);
  }

  /** The first readable screen of a run, and every change after it. */
  #onLook(runtime: RuntimeId, state: StateName): void {
    this.#parts.onLook(runtime, state);
    const identity = this.#parts.ledger.world.entries.get(runtime)?.identity;
    if (identity !== undefined) void this.#leaving.note(identity);
  }

  #live(): readonly LiveRuntime[] {
    const live: LiveRuntime[] = [];
    // Ten times a second, through all that ever ran.
    for (const { identity, record } of this.#parts.ledger.world.entries.values()) {
      if (record === null || record.ended !== null || identity.target !== this.target) continue;
      live.push({ identity, suspended: record.suspended });
    }
    return live;
  }

  #epochOf(pane: RuntimeIdentity['pane']): number {
    const epochs = this.#entries().map(({ identity }) => (identity.pane === pane ? identity.pane_epoch : -1));
    return Math.max(-1, ...epochs);
  }

  #entries() {
    const { entries } = this.#parts.ledger.world;
    const isOutside = ({ parent, ...identity }: RuntimeIdentity): boolean => {
      const root = parent === null ? { ...identity, parent } : entries.get(parent)?.identity;
      return root !== undefined && isPaneless(root);
    };
    return [...entries.values()].filter(({ identity }) => identity.target === this.target && !isOutside(identity));
  }
}

const processesIn = (found: ReadonlyMap<TmuxPane, PaneAgents>): ReadonlySet<string> =>
  new Set(
    [...found.values()].flatMap(({ agent, process, children }) => [
      ...(agent === null || process === null ? [] : [processKey(process.identity)]),
      ...children.map((child) => processKey(child.process.identity)),
    ]),
  );
