// The daemon: log, engine, inbox, feed and watches wired together, and what its doors are given of them. Everything that
// decides something lives elsewhere; this file only connects.

import { join } from 'node:path';
import { agents } from '../agents/registry.ts';
import type { DaemonService, DaemonStatus, FeedRow, NewTarget } from '../api/service.ts';
import type { HookService } from '../api/service-hooks.ts';
import type { Entry } from '../engine/world.ts';
import type { ActService, CallerClaim } from '../model/actions.ts';
import type { Lane, TimelineQuestion } from '../model/diary.ts';
import { AgtmuxError, assert, ok, type Result } from '../model/errors.ts';
import { type EventEnvelope, isManaged } from '../model/events.ts';
import type { AgentInfo, Explanation } from '../model/explanations.ts';
import type { TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { NoticeService } from '../model/notices.ts';
import type { PaneRow, TargetRow } from '../model/rows.ts';
import type { SessionService } from '../model/sessions.ts';
import type { Verdict } from '../model/verdicts.ts';
import type { LiveService } from '../model/web.ts';
import { AdapterBook } from './adapters.ts';
import { governedFiles, TargetDesk } from './arranging.ts';
import type { DaemonParts } from './daemon-parts.ts';
import { type Diary, openDiary } from './diary.ts';
import { explain } from './explain.ts';
import { createFeed, type Feed } from './feed.ts';
import { handedInParts, handIn } from './handed-in.ts';
import { type Hands, openHands } from './hands.ts';
import { Hooks } from './hooks/service.ts';
import { Inbox } from './inbox.ts';
import { Machines } from './machines.ts';
import { createMcpRegistration } from './mcp/registration.ts';
import { type Notices, openNotices } from './notify/open.ts';
import { PlaceBook } from './places.ts';
import { PolicyBook } from './policy-book.ts';
import { Publishing, seenOn } from './publishing.ts';
import { referTo } from './refer.ts';
import { Retention } from './retention.ts';
import { RowBook } from './rows.ts';
import { RuleBook } from './rules.ts';
import { decayLimitsOf } from './settings.ts';
import { ShellFeed } from './shell-feed.ts';
import type { Shelling } from './shelling.ts';
import { endOf, goodbyeOf } from './sightings.ts';
import { type Ground, layGround } from './start.ts';
import { Ticking } from './ticking.ts';

const notKept = 'what is shown is seen now and not kept';

/** Every screen shows how this machine is. */
const asNotKept = (row: TargetRow): TargetRow =>
  row.kind === 'local' && row.health === 'ok'
    ? { ...row, health: 'degraded', trouble: `nothing can be written down: ${notKept}; free disk space` }
    : row;

export class Daemon implements DaemonService {
  readonly #parts: DaemonParts;
  readonly #ground: Ground;
  readonly #inbox: Inbox;
  readonly #retention: Retention;
  readonly #book: RowBook;
  readonly #machines: Machines;
  readonly #rules: RuleBook;
  readonly #adapters: AdapterBook;
  readonly #policy: PolicyBook;
  #hands: Hands | null = null;
  #notices: Notices | null = null;
  readonly #shellFeed: ShellFeed;
  readonly #startedAt: number;
  readonly feed: Feed<FeedRow>;
  readonly hooks: HookService;
  readonly mcp: HookService;
  readonly #targetDesk: TargetDesk;
  readonly #diary: Diary;
  readonly #places: PlaceBook;
  readonly #publishing: Publishing;
  readonly #ticking: Ticking;
  #isStopped = false;

  private constructor(parts: DaemonParts, ground: Ground) {
    this.#parts = parts;
    this.#ground = ground;
    const { clock, log, settings, rulesFolder: folder } = parts;
    const { ledger, timeline } = ground;
    const now = (): number => timeline.now();
    this.#startedAt = clock.monotonicMs();
    const inbox = new Inbox(ledger, clock, undefined, (problem) => this.#retention.onFailure(problem));
    this.#inbox = inbox;
    this.#retention = new Retention({ clock, now, ledger, inbox, settings, log });
    this.#places = new PlaceBook({ clock, store: ground.loaded.store, log });
    this.#book = new RowBook({
      ledger,
      ...seenOn(() => this.#machines),
      targets: () => this.targets(),
      places: this.#places,
      now,
      marks: () => this.#hands?.actor ?? null,
      sessionOf: (runtime) => this.#hands?.sessions.glanceOf(runtime) ?? null,
    });
    this.feed = createFeed<FeedRow>({
      epoch: ground.epoch,
      firstVersion: ground.feedVersion,
      snapshot: () => [...this.#book.snapshot(), ...this.#shellFeed.snapshot(), ...(this.#notices?.snapshot() ?? [])],
    });
    this.#shellFeed = new ShellFeed(this.feed);
    this.#diary = openDiary(parts, timeline);
    const screens = { book: this.#book, feed: this.feed, diary: this.#diary, machines: () => this.#machines };
    this.#publishing = new Publishing({ clock, ...screens, onRows: () => this.#notices?.look() });
    this.#ticking = new Ticking({ clock, now, ledger, inbox });
    const { manager, clientsFile } = parts.machines;
    const executorOf = (machine: string) => this.#machines.executorOf(machine);
    const installing = { ...parts.hooks, agents, executorOf, random: manager.random, clock };
    const acting = (): ActService => this.acting;
    this.hooks = governedFiles(new Hooks(installing), 'hooks', acting);
    this.mcp = governedFiles(createMcpRegistration({ ...installing, program: parts.mcpProgram }), 'mcp', acting);
    this.#targetDesk = new TargetDesk({ machines: () => this.#machines, rows: () => this.targets(), acting });
    const onChange = (): void => this.#onRules();
    this.#rules = new RuleBook({ agents, files: manager.files, clock, folder, log, onChange });
    this.#policy = new PolicyBook({ files: manager.files, clock, path: parts.policyPath, log });
    this.#adapters = new AdapterBook({
      agents,
      store: ground.loaded.store,
      rules: this.#rules,
      now,
      runningOf: (agent) => this.#living().filter(({ identity }) => identity.agent === agent).length,
      sourcesOf: (agent) => this.#machines.sourcesOf(agent),
    });
    this.#machines = new Machines({
      manager: { ...manager, clock, book: ground.loaded.store },
      settings,
      clientsFile,
      ledger,
      timeline,
      offer: (events) => this.#offer(events),
      take: (events) => Promise.all(events.map((event) => this.#inbox.offer(event))),
      rulesOf: (agent) => this.#rules.rulesOf(agent),
      rules: () => this.#adapters.rules(),
      agentOf: (agent) => this.#adapters.agentOf(agent),
      isOff: (agent) => this.#adapters.isOff(agent),
      isLed: ({ pid, start, boot }) => this.#hands?.sessions.runtimeOfProcess(pid, start, boot) != null,
      onRefused: (file, why) => log.warn('a hook call was refused', { file, why }),
      hearing: { spoolFolder: join(parts.places.stateDir, 'spool'), home: parts.home },
      identify: (program) => this.#adapters.identify(program),
      onChange: () => this.#publishing.soon(),
      onTrouble: ({ code, message }) => log.warn('a target cannot be used', { code, message }),
    });
  }

  #onRules(): void {
    for (const watch of this.#machines.watches()) watch.screens.onRules(this.now());
  }

  /** What is done to agents, and those that are led here. There from the moment the daemon is ready. */
  get acting(): ActService {
    return this.#handsNow().actor;
  }

  get sessions(): SessionService {
    return this.#handsNow().sessions;
  }

  #handsNow(): Hands {
    assert(this.#hands !== null, 'acting begins when the daemon is ready');
    return this.#hands;
  }

  get notices(): NoticeService {
    assert(this.#notices !== null, 'people are told when the daemon is ready');
    return this.#notices.desk;
  }

  get shells(): Shelling {
    return this.#handsNow().shells;
  }

  get live(): LiveService {
    return this.#handsNow().live;
  }

  /** Ready when it resolves: the log is replayed and this machine is being watched. */
  static async start(parts: DaemonParts): Promise<Daemon> {
    let daemon: Daemon | null = null;
    const onChange = (): number => {
      daemon?.changed();
      return daemon?.feed.version() ?? 0;
    };
    const ground = await layGround({
      stateDir: parts.places.stateDir,
      files: parts.machines.manager.files,
      clock: parts.clock,
      random: parts.machines.manager.random,
      decayLimits: decayLimitsOf(parts.settings),
      onChange,
      onStartedOver: (setAside) => {
        parts.log.warn('the log was damaged while it was in use and begins anew with what is known', { setAside });
      },
    });
    const { damage, setAside } = ground.loaded;
    if (damage !== null) parts.log.warn('the log was damaged and begins anew', { damage, setAside });
    const { migrated } = ground.loaded.store;
    if (migrated !== null) parts.log.info('the event log was brought to a newer schema', { ...migrated });
    daemon = new Daemon(parts, ground);
    await daemon.#places.load();
    // Before anything is told: what is written down belongs to this run.
    await daemon.#diary.start();
    await daemon.#adapters.load();
    await daemon.#policy.start();
    await daemon.#rules.start();
    await daemon.#machines.start();
    // What the first look found is on disk and shown before anyone is told that we are ready.
    await daemon.#drain();
    await daemon.#openHands();
    daemon.changed();
    daemon.#retention.start();
    parts.settings.follow(() => daemon?.settingsChanged());
    return daemon;
  }

  async #openHands(): Promise<void> {
    this.#hands = await openHands({
      ...this.#parts,
      ground: this.#ground,
      inbox: this.#inbox,
      machinery: this.#machines,
      agentOf: (name) => this.#adapters.agentOf(name),
      rows: () => this.rows(),
      isPaneless: (runtime) => this.#book.isPaneless(runtime),
      policy: () => this.#policy.current,
      shellFeed: this.#shellFeed,
      offer: (events) => this.#offer(events),
      onChange: () => this.#publishing.soon(),
    });
    this.#notices = await openNotices({
      ...this.#parts,
      machinery: this.#machines,
      now: () => this.now(),
      rows: () => this.#book.shown(),
      publish: (changes) => void this.feed.publish(changes),
      acting: this.#hands.actor,
    });
  }

  /** Before the doors close: whoever waits for a command is told that it runs on. */
  leave(): Promise<void> {
    return this.shells.leave();
  }

  async close(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#ticking.stop();
    this.#publishing.stop();
    this.#parts.settings.stop();
    this.#retention.stop();
    this.#rules.stop();
    this.#policy.stop();
    await this.#notices?.close();
    this.#hands?.actor.close();
    await this.#hands?.shells.close();
    await this.#hands?.sessions.close();
    await this.#machines.stop();
    // A disk that takes nothing any more must not keep the daemon from leaving; senders keep what was not acknowledged.
    await this.#drain();
    await this.#diary.stop();
    await this.#places.save();
    this.#places.stop();
    this.feed.close();
    await this.#ground.loaded.store.close();
  }

  /** Waits until everything taken is on disk, but not for ever. */
  async #drain(): Promise<void> {
    const enough = new Promise<void>((resolve) => this.#parts.clock.after(limits.drainMs, resolve));
    await Promise.race([this.#inbox.drain(), enough]);
  }

  /** The ledger has committed something. */
  changed(): void {
    this.#publishing.soon();
    this.#ticking.tick();
    this.#hands?.actor.changed();
  }

  /** The settings were changed by hand: what is shown and how often is looked follow them at once. */
  settingsChanged(): void {
    this.#machines.settingsChanged();
    void this.#inbox
      .between(() => this.#ground.ledger.reconsider())
      .then(
        () => this.changed(),
        () => this.#ticking.later(),
      );
  }

  rows(): readonly PaneRow[] {
    return this.#book.rows();
  }

  targets(): readonly TargetRow[] {
    const rows = this.#machines?.rows() ?? [];
    return this.#ground.ledger.isKeepingNothing ? rows.map(asNotKept) : rows;
  }

  status(): DaemonStatus {
    const { places, version, pid, clock, memoryBytes } = this.#parts;
    const { failure } = this.#inbox;
    return {
      version,
      pid,
      up_ms: Math.round(clock.monotonicMs() - this.#startedAt),
      ready: true,
      state_dir: places.stateDir,
      socket_path: places.socketPath,
      trouble:
        failure instanceof Error ? `${failure.message}; ${notKept}` : (this.#rules.trouble ?? this.shells.trouble),
      events: this.#ground.ledger.counters(),
      hook_calls: this.#machines.hookCalls(),
      shells: this.shells.counted(),
      feed_version: this.feed.version(),
      memory_bytes: memoryBytes(),
    };
  }

  now(): number {
    return this.#ground.timeline.now();
  }

  toWall(time: number): number {
    return this.#ground.timeline.toWall(time);
  }

  async timeline({ ref, ...window }: TimelineQuestion): Promise<Result<readonly Lane[]>> {
    const found = ref === null ? null : referTo(ref, this.rows(), this.#hands?.actor.nicks);
    if (found !== null && !found.ok) return found;
    const lanes = await this.#diary.lanes(window);
    const wanted = found?.value.agent.runtime_id;
    return ok(wanted === undefined ? lanes : lanes.filter(({ owner }) => owner.runtime_id === wanted));
  }

  endedShownMs(): number {
    return this.#parts.settings.current.states.ended_shown_seconds * 1_000;
  }

  handIn(raws: readonly unknown[], claim: CallerClaim): Promise<readonly Verdict[]> {
    return handIn(handedInParts(this.#ground.ledger, this.#inbox, this.#handsNow().factsOf), raws, claim);
  }

  addTarget(target: NewTarget, claim: CallerClaim): Promise<Result<TargetRow>> {
    return this.#targetDesk.add(target, claim);
  }

  connectTarget(target: TargetId, claim: CallerClaim): Promise<Result<TargetRow>> {
    return this.#targetDesk.connect(target, claim);
  }

  removeTarget(target: TargetId, claim: CallerClaim): Promise<Result<null>> {
    return this.#targetDesk.remove(target, claim);
  }

  async explain(text: string): Promise<Result<Explanation>> {
    const found = referTo(text, this.rows(), this.#hands?.actor.nicks);
    if (!found.ok) return found;
    const { runtime_id, agent } = found.value.agent;
    const events = await this.#ground.loaded.store.eventsOf(runtime_id, limits.explainEventsMax);
    const seen = this.#machines.watch(found.value.identity.target)?.screens.seenOf(runtime_id) ?? null;
    return ok(explain(found.value, events, this.#rules.rulesOf(agent), seen));
  }

  ruleTroubles = (): readonly string[] => this.#rules.unused;
  agentInfos(): readonly AgentInfo[] {
    return this.#adapters.infos();
  }

  setAgentEnabled(name: string, enabled: boolean, claim: CallerClaim): Promise<Result<null>> {
    const deed = { action: 'agents', named: name, detail: { enabled } } as const;
    return this.acting.govern(deed, claim, () => this.#setAgentEnabled(name, enabled));
  }

  async #setAgentEnabled(name: string, enabled: boolean): Promise<Result<null>> {
    const changed = await this.#adapters.setEnabled(name, enabled);
    if (!changed.ok) return changed;
    // Nobody looks at them any more: they leave quietly.
    const isGone = ({ identity }: Entry): boolean => identity.agent === changed.value.name && !isManaged(identity);
    const gone = enabled ? [] : this.#living().filter(isGone);
    const at = this.now();
    void this.#offer(gone.flatMap(({ identity }) => [goodbyeOf(identity, at), endOf(identity, identity, at)]));
    for (const watch of this.#machines.watches()) watch.lookNow();
    return ok(null);
  }

  #living(): readonly Entry[] {
    return [...this.#ground.ledger.world.entries.values()].filter(
      ({ record }) => record !== null && record.ended === null,
    );
  }

  mayStop(claim: CallerClaim): Promise<Result<null>> {
    return this.acting.govern({ action: 'stop', named: 'daemon', detail: {} }, claim, async () => ok(null));
  }

  stop(): void {
    this.#parts.onStop();
  }

  /** False when some were turned away: a full inbox. Whoever looks again offers them again. */
  async #offer(events: readonly EventEnvelope[]): Promise<boolean> {
    const taken = await Promise.allSettled(events.map((event) => this.#inbox.offer(event)));
    const refused = taken.filter((one) => one.status === 'rejected').map((one) => one.reason as unknown);
    const defect = refused.find((problem) => !(problem instanceof AgtmuxError));
    if (defect !== undefined) throw defect;
    if (refused.length > 0) this.#parts.log.warn('observations were not taken', { count: refused.length });
    return refused.length === 0;
  }
}
