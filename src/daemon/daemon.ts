// The daemon: log, engine, inbox, feed and watches wired together, and what its API is given of them. Everything that
// decides something lives elsewhere; this file only connects.

import { join } from 'node:path';
import type { ExplainedRow, PaneRow } from '../api/panes.ts';
import type { TargetRow } from '../api/targets.ts';
import { PolicyFile } from '../auth/policy-file.ts';
import { decayLimitsOf } from '../config/settings.ts';
import { referTo } from '../engine/refer.ts';
import type { Entry } from '../engine/world.ts';
import { createFeed, type Feed, type FeedRow } from '../feed/feed.ts';
import { LastPlaces } from '../feed/last-places.ts';
import { Publisher, seenOn } from '../feed/publisher.ts';
import { RowProjection } from '../feed/row-projection.ts';
import { ShellFeed } from '../feed/shell-feed.ts';
import type { StateHistory } from '../feed/state-history.ts';
import { StateAging } from '../ingest/aging.ts';
import { Inbox } from '../ingest/inbox.ts';
import { type OpenedLog, openLog } from '../ingest/open-log.ts';
import { Retention } from '../ingest/retention.ts';
import { submitEvents, submittedEventsParts } from '../ingest/submitted-events.ts';
import { createMcpRegistration } from '../install/mcp-launcher.ts';
import { Hooks } from '../install/service.ts';
import type { ActionService, CallerClaim } from '../model/actions.ts';
import { AgtmuxError, assert, ok, type Result } from '../model/errors.ts';
import { type EventEnvelope, isManaged } from '../model/events.ts';
import type { AgentInfo } from '../model/explanations.ts';
import type { TurnDiff } from '../model/git.ts';
import type { GrepService } from '../model/grep.ts';
import type { HubService } from '../model/hub.ts';
import type { AgentName, TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { NoticeService } from '../model/notices.ts';
import type { PushService } from '../model/push.ts';
import { notKeptTrouble } from '../model/reasons.ts';
import type { DocumentStore } from '../model/records.ts';
import type { RestoreService } from '../model/restore.ts';
import type { WithAgent } from '../model/rows.ts';
import type { SessionService } from '../model/sessions.ts';
import type { Lane, TimelineQuestion } from '../model/state-history.ts';
import type { UsageService } from '../model/usage.ts';
import type { Verdict } from '../model/verdicts.ts';
import type { LiveService } from '../model/web.ts';
import { type Notices, openNotices } from '../notify/open-notifications.ts';
import { AdapterRegistry } from '../observe/adapter-registry.ts';
import { DefinitionStore } from '../observe/definition-store.ts';
import { RuleStore } from '../observe/rule-store.ts';
import { endOf, goodbyeOf } from '../observe/sightings.ts';
import { TargetController } from '../observe/target-controller.ts';
import { explain } from '../reconcile/explain.ts';
import type { DaemonService, DaemonStatus, NewTarget } from '../server/service.ts';
import type { HookService } from '../server/service-hooks.ts';
import type { ShellManager } from '../shells/shell-service.ts';
import type { MemberService } from '../uplink/member-service.ts';
import type { UsageMeter } from '../usage/usage-service.ts';
import { AdminService, auditedFiles } from './admin.ts';
import type { DaemonParts } from './daemon-options.ts';
import { type Git, openGit } from './git.ts';
import { openGrep } from './grep.ts';
import { openStateHistory, takerOf } from './history.ts';
import { openMetering } from './metering.ts';
import { openRestoring, type Restoring } from './restoring.ts';
import { openServices, type Services } from './services.ts';
import { openShellFiles, type ShellFiles } from './shell-files.ts';
import { openUplinking } from './uplinking.ts';

const notKept = 'what is shown is current but not stored';

/** Every screen shows how this machine is. */
const asNotKept = (row: TargetRow): TargetRow =>
  row.kind === 'local' && row.health === 'ok' ? { ...row, health: 'degraded', trouble: notKeptTrouble } : row;

export class Daemon implements DaemonService {
  readonly #parts: DaemonParts;
  readonly #ground: OpenedLog;
  readonly #inbox: Inbox;
  readonly #retention: Retention;
  readonly #book: RowProjection;
  readonly #machines: TargetController;
  readonly #definitions: DefinitionStore;
  readonly #rules: RuleStore;
  readonly #adapters: AdapterRegistry;
  readonly #policy: PolicyFile;
  #hands: Services | null = null;
  #notices: Notices | null = null;
  #restoring: Restoring | null = null;
  #meter: UsageMeter | null = null;
  readonly #git: Git;
  readonly #shellFiles: ShellFiles;
  #member: MemberService | null = null;
  readonly #shellFeed: ShellFeed;
  readonly #startedAt: number;
  readonly feed: Feed<FeedRow>;
  readonly hooks: HookService;
  readonly mcp: HookService;
  readonly #targetDesk: AdminService;
  readonly #history: StateHistory;
  readonly #places: LastPlaces;
  readonly #publishing: Publisher;
  readonly #ticking: StateAging;
  #isStopped = false;

  private constructor(parts: DaemonParts, ground: OpenedLog) {
    this.#parts = parts;
    this.#ground = ground;
    const { clock, log, settings, rulesFolder: folder } = parts;
    const { ledger, timeline } = ground;
    const now = (): number => timeline.now();
    this.#startedAt = clock.monotonicMs();
    const inbox = new Inbox(takerOf(ground), clock, undefined, (problem) => this.#retention.onFailure(problem));
    this.#inbox = inbox;
    this.#retention = new Retention({ clock, now, ledger, inbox, settings, log });
    this.#places = new LastPlaces({ clock, store: ground.loaded.store, log });
    this.#git = this.#openGit(parts);
    this.#shellFiles = openShellFiles(parts, this, () => this.#hands?.shells.list() ?? []);
    this.#book = new RowProjection({
      ledger,
      ...seenOn(() => this.#machines),
      endedShownMs: () => parts.settings.current.states.ended_shown_seconds * 1_000,
      targets: () => this.targets(),
      places: this.#places,
      gitOf: (target, cwd) => this.#git.factsOf(target, cwd),
      now,
      marks: () => this.#hands?.actor ?? null,
      sessionOf: (runtime) => this.#hands?.sessions.summaryOf(runtime) ?? null,
    });
    this.feed = createFeed<FeedRow>({
      epoch: ground.epoch,
      firstVersion: ground.feedVersion,
      snapshot: () => [...this.#book.snapshot(), ...this.#shellFeed.snapshot(), ...(this.#notices?.snapshot() ?? [])],
    });
    this.#shellFeed = new ShellFeed(this.feed);
    this.#history = openStateHistory(parts, timeline);
    const screens = { book: this.#book, feed: this.feed, diary: this.#history, machines: () => this.#machines };
    this.#publishing = new Publisher({ clock, ...screens, onRows: () => this.#onRows() });
    this.#ticking = new StateAging({ clock, now, ledger, inbox });
    const { manager } = parts.machines;
    this.#definitions = new DefinitionStore({
      ...{ files: manager.files, clock, log, folder: parts.definitionsFolder },
      onChange: (gone) => this.#onDefinitions(gone),
    });
    const installing = {
      ...parts.hooks,
      agents: () => this.#definitions.agents,
      executorOf: (machine: string) => this.#machines.executorOf(machine),
      random: manager.random,
      clock,
    };
    const acting = (): ActionService => this.acting;
    this.hooks = auditedFiles(new Hooks(installing), 'hooks', acting);
    this.mcp = auditedFiles(createMcpRegistration({ ...installing, program: parts.mcpProgram }), 'mcp', acting);
    this.#targetDesk = new AdminService({ machines: () => this.#machines, rows: () => this.targets(), acting });
    const onChange = (): void => this.#onRules();
    this.#rules = new RuleStore({
      builtIn: () => this.#definitions.rules,
      files: manager.files,
      clock,
      folder,
      log,
      onChange,
    });
    this.#policy = new PolicyFile({ files: manager.files, clock, path: parts.policyPath, log });
    this.#adapters = new AdapterRegistry({
      definitions: this.#definitions,
      store: ground.loaded.store,
      rules: this.#rules,
      now,
      runningOf: (agent) => this.#living().filter(({ identity }) => identity.agent === agent).length,
      sourcesOf: (agent) => this.#machines.sourcesOf(agent),
    });
    this.#machines = this.#watching(parts, ground);
  }

  #watching(
    { clock, log, machines, settings, places, home }: DaemonParts,
    { ledger, timeline, loaded }: OpenedLog,
  ): TargetController {
    const { manager, clientsFile, terminals } = machines;
    return new TargetController({
      manager: { ...manager, clock, book: loaded.store },
      settings,
      clientsFile,
      terminals,
      ledger,
      timeline,
      offer: (events) => this.#offer(events),
      take: (events) => Promise.all(events.map((event) => this.#inbox.offer(event))),
      rulesOf: (agent) => this.#rules.rulesOf(agent),
      rules: () => this.#adapters.rules(),
      agentOf: (agent) => this.#adapters.agentOf(agent),
      isOff: (agent) => this.#adapters.isOff(agent),
      isManagedProcess: ({ pid, start, boot }) => this.#hands?.sessions.runtimeOfProcess(pid, start, boot) != null,
      onRefused: (file, why) => log.warn('a hook call was refused', { file, why }),
      hearing: { spoolFolder: join(places.stateDir, 'spool'), home: home },
      identify: (program) => this.#adapters.identify(program),
      onChange: () => this.#onMachines(),
      onTrouble: ({ code, message }) => log.warn('a target cannot be used', { code, message }),
    });
  }

  #openGit({ clock, places, machines }: DaemonParts): Git {
    return openGit({
      ...machines.manager,
      clock,
      stateDir: places.stateDir,
      isHere: (target) => this.#machines.watch(target)?.kind === 'local',
      onChange: () => this.#publishing.soon(),
    });
  }

  get search(): GrepService {
    return openGrep(this.#parts.clock, () => this.rows(), this.#machines, this.#handsNow());
  }

  /** What was just published. */
  #onRows(): void {
    this.#git.look(this.#book.shown());
    this.#shellFiles.look();
    this.#notices?.look();
  }

  #onMachines(): void {
    this.#publishing.soon();
    this.#restoring?.recorder.soon();
  }

  #onRules(): void {
    for (const watch of this.#machines.watches()) watch.screens.onRules(this.now());
  }

  /** What is no agent any more leaves quietly; what has become one is seen with the next look. */
  #onDefinitions(gone: ReadonlySet<AgentName>): void {
    this.#adapters.onDefinitions();
    this.#rules.onDefinitions();
    void this.#rules.look();
    this.#letGo(({ identity }) => gone.has(identity.agent));
    this.#onRules();
  }

  /** What is done to agents, and those that are led here. There from the moment the daemon is ready. */
  get acting(): ActionService {
    return this.#handsNow().actor;
  }

  get sessions(): SessionService {
    return this.#handsNow().sessions;
  }

  #handsNow(): Services {
    assert(this.#hands !== null, 'acting begins when the daemon is ready');
    return this.#hands;
  }

  get push(): PushService {
    assert(this.#notices !== null, 'people are told when the daemon is ready');
    return this.#notices.push;
  }

  get notices(): NoticeService {
    assert(this.#notices !== null, 'people are told when the daemon is ready');
    return this.#notices.service;
  }

  get usage(): UsageService {
    assert(this.#meter !== null, 'usage is known when the daemon is ready');
    return this.#meter;
  }

  get hub(): HubService {
    assert(this.#member !== null, 'a hub is told of when the daemon is ready');
    return this.#member;
  }

  get restore(): RestoreService {
    assert(this.#restoring !== null, 'restoring begins when the daemon is ready');
    return this.#restoring.restorer;
  }

  /** Where services keep what they must not forget. */
  get documents(): DocumentStore {
    return this.#ground.loaded.store;
  }

  get editorWindows(): TargetController['editorWindows'] {
    return this.#machines.editorWindows;
  }

  get shells(): ShellManager {
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
    const ground = await openLog({
      stateDir: parts.places.stateDir,
      files: parts.machines.manager.files,
      clock: parts.clock,
      random: parts.machines.manager.random,
      decayLimits: decayLimitsOf(parts.settings),
      onChange,
      onStartedOver: (setAside) => {
        parts.log.warn('the event log was damaged while in use; a new one starts with what is known', { setAside });
      },
    });
    const { damage, setAside } = ground.loaded;
    if (damage !== null) parts.log.warn('the event log was damaged; a new one was started', { damage, setAside });
    const { migrated } = ground.loaded.store;
    if (migrated !== null) parts.log.info('the event log was upgraded to a newer schema', { ...migrated });
    daemon = new Daemon(parts, ground);
    await daemon.#places.load();
    // Before anything is told: what is written down belongs to this run.
    await daemon.#history.start();
    await daemon.#adapters.load();
    await daemon.#policy.start();
    await daemon.#definitions.start();
    await daemon.#rules.start();
    await daemon.#machines.start();
    // What the first look found is on disk and shown before anyone is told that we are ready.
    await Promise.race([daemon.#inbox.drain(), daemon.#after(limits.drainMs)]);
    await daemon.#openServices();
    daemon.changed();
    daemon.#retention.start();
    parts.settings.follow(() => daemon?.settingsChanged());
    return daemon;
  }

  async #openServices(): Promise<void> {
    this.#hands = await openServices({
      ...this.#parts,
      startedAt: this.#startedAt,
      ground: this.#ground,
      inbox: this.#inbox,
      machinery: this.#machines,
      agentOf: (name) => this.#adapters.agentOf(name),
      rows: () => this.rows(),
      isPaneless: (runtime) => this.#book.isPaneless(runtime),
      policy: () => this.#policy.current,
      isQuiet: () => this.#notices?.isQuietNow() ?? false,
      shellFeed: this.#shellFeed,
      offer: (events) => this.#offer(events),
      onChange: () => this.#publishing.soon(),
    });
    this.#notices = await openNotices({
      ...this.#parts,
      machinery: this.#machines,
      now: () => this.now(),
      rows: () => this.#book.shown(),
      documents: this.#ground.loaded.store,
      publish: (changes) => void this.feed.publish(changes),
      acting: this.#hands.actor,
    });
    await this.#openRestoring(this.#hands);
    const { clock, log, home, places, settings, noticesPath, machines } = this.#parts;
    const { files, variables } = machines.manager;
    const announce: Notices['announce'] = (announcement) => this.#notices?.announce(announcement);
    const of = { clock, log, files, variables, home, settings, noticesPath };
    this.#meter = openMetering({ ...of, stateDir: places.stateDir, announce });
    const toWall = (time: number): number => this.toWall(time);
    this.#member = await openUplinking({
      ...this.#parts,
      ...{ feed: this.feed, toWall, store: this.#ground.loaded.store, history: this.#history },
      rows: () => this.rows(),
      acting: () => this.acting,
    });
  }

  async #openRestoring({ actor, ownerOf }: Services): Promise<void> {
    const { clock, log, places, machines } = this.#parts;
    this.#restoring = await openRestoring({
      clock,
      log,
      files: machines.manager.files,
      stateDir: places.stateDir,
      ground: this.#ground,
      machinery: this.#machines,
      agentOf: (name) => this.#adapters.agentOf(name),
      ownerOf,
      announce: (announcement) => this.#notices?.announce(announcement),
      acting: actor,
    });
    this.#restoring.recorder.soon();
  }

  /** Before the API closes: whoever waits for a command is told that it runs on. */
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
    this.#git.stop();
    await this.#shellFiles.stop();
    this.#definitions.stop();
    this.#rules.stop();
    this.#policy.stop();
    await this.#member?.close();
    await this.#notices?.close();
    await this.#restoring?.recorder.stop();
    await this.#meter?.stop();
    this.#hands?.actor.close();
    await this.#hands?.shells.close();
    await this.#hands?.sessions.close();
    await this.#machines.stop();
    // A disk that takes nothing any more must not keep the daemon from leaving; senders keep what was not acknowledged.
    await Promise.race([this.#inbox.drain(), this.#after(limits.drainMs)]);
    await this.#history.stop();
    await this.#places.save();
    this.#places.stop();
    this.feed.close();
    await this.#ground.loaded.store.close();
  }

  /** Resolves when what this machine's screens show now is part of the rows; soon, also when it is not (RSV5a). */
  caughtUp(): Promise<void> {
    const read = this.#machines.caughtUp().then(() => this.#inbox.drain());
    return Promise.race([read, this.#after(limits.listLookMs)]);
  }

  #after(ms: number): Promise<void> {
    return new Promise((resolve) => this.#parts.clock.after(ms, resolve));
  }

  /** The ledger has committed something. */
  changed(): void {
    this.#publishing.soon();
    this.#ticking.tick();
    this.#hands?.changed();
    this.#restoring?.recorder.soon();
    this.#machines.stir();
  }

  /** The settings were changed by hand: what is shown and how often is looked follow them at once. */
  settingsChanged(): void {
    this.#shellFiles.look();
    this.#machines.settingsChanged();
    void this.#inbox
      .between(() => this.#ground.ledger.reconsider())
      .then(
        () => this.changed(),
        () => this.#ticking.later(),
      );
  }

  rows(): readonly PaneRow[] {
    return this.#book.rows().map((row) => {
      const { identity, ended, last_seen_at } = row;
      if (last_seen_at === null || ended !== null) return row;
      // As it is at this moment; what is published tells only what changed.
      const seenAt = this.#machines?.paneSeenAt(identity.target, identity.pane_id) ?? 0;
      return seenAt > last_seen_at ? { ...row, last_seen_at: seenAt } : row;
    });
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
        failure instanceof Error
          ? `${failure.message}; ${notKept}`
          : (this.#reserveTrouble() ?? this.#definitions.trouble ?? this.#rules.trouble ?? this.shells.trouble),
      events: this.#ground.ledger.counters(),
      hook_calls: this.#machines.hookCalls(),
      restorable: this.#restoring?.restorer.waiting ?? 0,
      shells: this.shells.counted(),
      feed_version: this.feed.version(),
      memory_bytes: memoryBytes(),
    };
  }

  /** Writing goes on, but the next full disk finds nothing to give up (LOG5). */
  #reserveTrouble(): string | null {
    return this.#ground.loaded.store.hasBallast
      ? null
      : 'the disk is nearly full: the space that was set apart for that is used up; free disk space';
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
    const lanes = await this.#history.lanes(window);
    const wanted = found?.value.runtime_id;
    return ok(wanted === undefined ? lanes : lanes.filter(({ owner }) => owner.runtime_id === wanted));
  }

  submitEvents(raws: readonly unknown[], claim: CallerClaim): Promise<readonly Verdict[]> {
    return submitEvents(submittedEventsParts(this.#ground.ledger, this.#inbox, this.#handsNow().factsOf), raws, claim);
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

  async explain(text: string): Promise<Result<ExplainedRow>> {
    const found = referTo(text, this.rows(), this.#hands?.actor.nicks);
    if (!found.ok) return found;
    const { runtime_id, agent } = found.value;
    const events = await this.#ground.loaded.store.eventsOf(runtime_id, limits.explainEventsMax);
    const seen = this.#machines.watch(found.value.identity.target)?.screens.seenOf(runtime_id) ?? null;
    return ok(explain(found.value, events, this.#rules.rulesOf(agent), seen));
  }

  async diff(text: string): Promise<Result<{ readonly row: WithAgent<PaneRow>; readonly diff: TurnDiff }>> {
    const found = referTo(text, this.rows(), this.#hands?.actor.nicks);
    if (!found.ok) return found;
    const diff = await this.#git.diff(found.value);
    return diff.ok ? ok({ row: found.value, diff: diff.value }) : diff;
  }

  ruleTroubles = (): readonly string[] => [...this.#definitions.troubles, ...this.#rules.unused];
  agentInfos(): readonly AgentInfo[] {
    return this.#adapters.infos();
  }

  setAgentEnabled(name: string, enabled: boolean, claim: CallerClaim): Promise<Result<null>> {
    const deed = { action: 'agents', named: name, detail: { enabled } } as const;
    return this.acting.authorizeAndAudit(deed, claim, () => this.#setAgentEnabled(name, enabled));
  }

  async #setAgentEnabled(name: string, enabled: boolean): Promise<Result<null>> {
    const changed = await this.#adapters.setEnabled(name, enabled);
    if (!changed.ok) return changed;
    this.#letGo(({ identity }) => !enabled && identity.agent === changed.value.name);
    return ok(null);
  }

  /** Nobody looks at them any more: they leave quietly. */
  #letGo(isGone: (entry: Entry) => boolean): void {
    const gone = this.#living().filter((entry) => !isManaged(entry.identity) && isGone(entry));
    const at = this.now();
    void this.#offer(gone.flatMap(({ identity }) => [goodbyeOf(identity, at), endOf(identity, identity, at)]));
    for (const watch of this.#machines.watches()) watch.lookNow();
  }

  #living(): readonly Entry[] {
    return [...this.#ground.ledger.world.entries.values()].filter(
      ({ record }) => record !== null && record.ended === null,
    );
  }

  mayStop(claim: CallerClaim): Promise<Result<null>> {
    return this.acting.authorizeAndAudit({ action: 'stop', named: 'daemon', detail: {} }, claim, async () => ok(null));
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
    if (refused.length > 0) this.#parts.log.warn('observations were not accepted', { count: refused.length });
    return refused.length === 0;
  }
}
