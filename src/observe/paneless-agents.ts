// Agents of this machine that are in no pane: in a plain terminal, an editor's, `screen`, under nohup or in CI. Their
// process is all they are known by (IDN10). They are met when something speaks of them, a hook call or a file of their own,
// and looked at one by one: nothing here grows with all processes of the machine.

import type { Agent, Identified, Identify } from '../agents/contract.ts';
import { canonical, hashText } from '../engine/canonical.ts';
import type { EventProcessor } from '../ingest/event-processor.ts';
import { type EventEnvelope, isPaneless, type RuntimeIdentity } from '../model/events.ts';
import {
  type AgentName,
  type ProcessIdentity,
  processKey,
  type RuntimeId,
  runtimeId,
  type TargetId,
} from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Processes } from '../platform/processes.ts';
import { type RunViews, variablesOf } from '../sources/native/run-view.ts';
import type { NativeRun } from '../sources/native/sources.ts';
import { agentIn, type PaneAgents } from '../sources/process/foreground.ts';
import type { ProcSource } from '../sources/process/proc.ts';
import { ttyPath } from '../sources/process/stat.ts';
import type { ProcessEntry, ProcessTable } from '../sources/process/table.ts';
import { terminalName, terminalVariables } from '../sources/process/terminal-name.ts';
import { Rounds } from './rounds.ts';
import { endOf, goodbyeOf } from './sightings.ts';

/** Where an agent without a pane is, as far as its process tells. */
export interface Outside {
  readonly pid: number;
  /** `kitty`, `screen`, `ssh`...; `tty` where nobody can name it, `none` where there is none. */
  readonly terminal: string;
  readonly tty: string | null;
  readonly cwd: string;
  readonly command: string;
}

export interface PanelessAgentsParts {
  readonly target: TargetId;
  readonly clock: Clock;
  readonly now: () => number;
  readonly toTimeline: (wallMs: number) => number;
  readonly proc: ProcSource;
  readonly processes: Pick<Processes, 'read' | 'readLink'>;
  readonly views: RunViews;
  /** The user whose agents these are. */
  readonly uid: number;
  readonly ledger: EventProcessor;
  readonly identify: Identify;
  readonly agentOf: (name: AgentName) => Agent | null;
  readonly offer: (events: readonly EventEnvelope[]) => void;
  readonly isManagedProcess: (process: ProcessIdentity) => boolean;
  /** Processes of panes that are watched, and of their tmux servers. */
  readonly paneRoots: () => ReadonlySet<number>;
  /** Shells of the integrated terminals that editors have told of. */
  readonly editorRoots: () => readonly number[];
  /** Runtimes that live on without the pane they were found in. */
  readonly homeless: () => readonly RuntimeIdentity[];
  readonly onRuns: (runs: readonly NativeRun[]) => void;
  readonly onChange: () => void;
  readonly aliveMs: () => number;
}

/** Who a process that something speaks of is; else why it has no row here. */
export type Meeting = RuntimeIdentity | 'in_a_pane' | 'other_user' | 'gone' | 'no_agent' | 'managed';

/** Between two checks that these very processes live; the cheap ones between them are wrong about pids that came back. */
const checkMs = 2_000;
/** Between two looks at what a known agent's processes are and hold open. */
const lookMs = 10_000;
/** Between two looks at every process of the machine; the others leave out who has nothing to do with an agent. */
const wholeLookMs = 60_000;

export class PanelessAgents {
  readonly #parts: PanelessAgentsParts;
  readonly #rounds: Rounds;
  readonly #outside = new Map<RuntimeId, Outside>();
  /** Told already, and perhaps not yet in the ledger. */
  readonly #told = new Map<string, RuntimeIdentity>();
  #suspended = new Set<RuntimeId>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #wholeAt = Number.NEGATIVE_INFINITY;
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** Met below a tmux server that is not watched, or not yet. */
  readonly #inTmux = new Map<string, { readonly process: ProcessIdentity; readonly since: number }>();
  /** Those whose processes are checked on. */
  #watched: readonly RuntimeIdentity[] = [];
  #followed = 0;
  /** What stood in the foreground of the terminals of editors when they were looked into last. */
  #glances = '';
  #hurry: () => void = () => undefined;
  #isStopped = false;

  constructor(parts: PanelessAgentsParts) {
    this.#parts = parts;
    this.#rounds = new Rounds(parts.clock);
  }

  start(): void {
    this.#checkAlive();
    const paceMs = (): number => (this.#watched.length === 0 ? checkMs : this.#parts.aliveMs());
    this.#hurry = this.#rounds.every(paceMs, () => this.#checkAlive());
  }

  stop(): void {
    this.#isStopped = true;
    this.#rounds.stop();
  }

  /** Where a runtime without a pane is; null for whoever is not known to be without one. */
  outsideOf(runtime: RuntimeId): Outside | null {
    return this.#outside.get(runtime) ?? null;
  }

  /**
   * Something speaks of an agent by this process. Where it is in no pane its beginning is told at once, so that whatever
   * is said of it next finds it there.
   */
  meet(process: ProcessIdentity): Meeting {
    const { proc, uid, isManagedProcess } = this.#parts;
    if (this.#isStopped || process.boot !== proc.boot || !proc.isAlive(process)) return 'gone';
    const known = this.#told.get(processKey(process)) ?? this.#runtimesOf(process).at(-1);
    if (known !== undefined) return known;
    if (proc.userOf(process.pid) !== uid) return 'other_user';
    const lineage = proc.lineage(process.pid);
    const { boot } = proc;
    if (lineage.some(({ pid, startTicks }) => isManagedProcess({ boot, pid, start: startTicks }))) return 'managed';
    const roots = this.#parts.paneRoots();
    const editors = new Set(this.#parts.editorRoots());
    const inEditor = lineage.findIndex(({ pid }) => editors.has(pid));
    // Of what is above it the nearest counts: an editor may itself have been started in a pane.
    const above = inEditor < 0 ? lineage : lineage.slice(0, inEditor + 1);
    if (above.some(({ pid }) => roots.has(pid))) return 'in_a_pane';
    // A server that was started just now is found a moment later; one that nobody watches is a terminal like another.
    if (above.some(({ name }) => name === tmuxServerName) && !this.#hasWaited(process)) return 'in_a_pane';
    const top = above.findLast((line) => this.#identified({ boot, pid: line.pid, start: line.startTicks }) !== null);
    if (top === undefined) return 'no_agent';
    this.#begin(proc.read([top.pid]), top.pid);
    return this.#told.get(processKey(process)) ?? 'no_agent';
  }

  #hasWaited(process: ProcessIdentity): boolean {
    const now = this.#parts.clock.monotonicMs();
    const known = this.#inTmux.get(processKey(process)) ?? { process, since: now };
    this.#inTmux.set(processKey(process), known);
    for (const key of this.#inTmux.keys()) if (this.#inTmux.size > limits.strangersMax) this.#inTmux.delete(key);
    return now - known.since >= limits.guestInTmuxMs;
  }

  /** These have a pane, whatever was thought of them before: one agent is one row (IDN7b). */
  release(processes: ReadonlySet<string>): void {
    const at = this.#parts.now();
    for (const identity of this.#live()) {
      if (identity.process === null || !processes.has(processKey(identity.process))) continue;
      this.#parts.offer([goodbyeOf(identity, at), endOf(identity, identity, at)]);
      this.#forget(identity);
    }
  }

  #identified(process: ProcessIdentity): Identified | null {
    const program = this.#parts.proc.program(process);
    return program === null ? null : this.#parts.identify(program);
  }

  #runtimesOf(process: ProcessIdentity): readonly RuntimeIdentity[] {
    const key = processKey(process);
    const all = [...this.#parts.ledger.world.entries.values()];
    return all.flatMap(({ identity, record }) =>
      identity.process !== null && processKey(identity.process) === key && record?.ended === null ? [identity] : [],
    );
  }

  /** The agent whose topmost process this is, and those that it runs. */
  #begin(table: ProcessTable, pid: number): void {
    const found = agentIn(table, pid, this.#parts.identify);
    const [own, ...below] = runsOf(found);
    if (own === undefined) return;
    const identity = this.#tell(own, null);
    for (const child of below) this.#tell(child, identity.runtime_id);
    this.#note(identity);
    this.#watched = this.#live();
    this.#hurry();
    this.#follow(table);
    this.#parts.onChange();
  }

  #tell({ agent, process }: Run, parent: RuntimeId | null): RuntimeIdentity {
    const { target, toTimeline, now, offer } = this.#parts;
    const startedAt = Math.min(toTimeline(process.startedAtMs), now());
    const id = this.#newId(process.identity);
    const runtime: RuntimeIdentity = {
      runtime_id: id,
      target,
      agent: agent.agent,
      server: null,
      pane: null,
      pane_epoch: 0,
      process: process.identity,
      parent,
      started_at: startedAt,
    };
    this.#told.set(processKey(process.identity), runtime);
    offer([
      {
        evidence: { target },
        source: 'process',
        kind: 'runtime.started',
        event_time: startedAt,
        dedupe_key: `start:${id}`,
        payload: { runtime },
      },
    ]);
    return runtime;
  }

  /** Made of who it is, so that it is the same after a restart of the daemon; a run that was let go is over for good (IDN5). */
  #newId(process: ProcessIdentity): RuntimeId {
    const { ledger, target } = this.#parts;
    for (let times = 0; ; times += 1) {
      const words = [target, processKey(process), ...(times === 0 ? [] : [times])];
      const id = runtimeId(`r${hashText(canonical(words)).slice(-14)}`);
      if (ledger.world.entries.get(id)?.record?.ended == null) return id;
    }
  }

  /** Where it is does not change while it runs, but for its directory. */
  #note({ runtime_id, process }: RuntimeIdentity): void {
    if (process === null || this.#outside.has(runtime_id)) return;
    const { proc, processes } = this.#parts;
    const lineage = proc.lineage(process.pid);
    const raw = processes.read(`/proc/${process.pid}/environ`, limits.environBytesMax) ?? '';
    const link = processes.readLink(`/proc/${process.pid}/cwd`) ?? '';
    const [own] = lineage;
    if (own === undefined || own.startTicks !== process.start) return;
    this.#outside.set(runtime_id, {
      pid: process.pid,
      terminal: terminalName(lineage, variablesOf(raw, new Set(terminalVariables))),
      tty: ttyPath(own.ttyNumber),
      cwd: link.startsWith('/') ? link.replace(/ \(deleted\)$/, '') : '',
      command: own.name,
    });
  }

  /** Who is gone has ended. Between thorough looks only whether some process has the pid: that is nearly free. */
  #checkAlive(): void {
    const { proc, clock } = this.#parts;
    const now = clock.monotonicMs();
    const isThorough = now - this.#checkedAt >= checkMs;
    if (isThorough) {
      this.#checkedAt = now;
      this.#watched = this.#live();
      for (const [key, { process }] of this.#inTmux) {
        const met = this.meet(process);
        if (met !== 'in_a_pane') this.#inTmux.delete(key);
      }
    }
    for (const identity of this.#watched) {
      const { process } = identity;
      if (process !== null && !(isThorough ? proc.isAlive(process) : proc.seemsAlive(process))) this.#end(identity);
    }
    if (!isThorough) return;
    const isDue = now - this.#lookedAt >= lookMs;
    if (isDue) this.#look();
    this.#lookIntoEditors(isDue);
  }

  /** An editor has told of other terminals. */
  lookNow(): void {
    this.#checkedAt = Number.NEGATIVE_INFINITY;
    this.#hurry();
  }

  /** What runs in their terminals is looked for: nothing else may ever speak of it (IDN10a). */
  #lookIntoEditors(isDue: boolean): void {
    const { proc, editorRoots, identify } = this.#parts;
    const roots = editorRoots();
    const glances = roots.map((pid) => `${pid} ${proc.glance(pid)}`).join('\n');
    if (roots.length === 0 || (!isDue && glances === this.#glances)) return;
    this.#glances = glances;
    const table = proc.read(roots);
    for (const root of roots) {
      const { process } = agentIn(table, root, identify);
      if (process !== null) this.meet(process.identity);
    }
  }

  #end(identity: RuntimeIdentity): void {
    this.#parts.offer([endOf(identity, identity, this.#parts.now())]);
    this.#forget(identity);
    this.#hurry();
  }

  /** Also at those who live on without the pane they were found in: what they tell themselves is still heard. */
  #look(): void {
    const { proc, homeless } = this.#parts;
    const here = [...this.#live().filter(isPaneless), ...homeless()];
    const now = this.#parts.clock.monotonicMs();
    // After a long rest pids may have come round.
    const isAgain = now - this.#wholeAt < wholeLookMs && now - this.#lookedAt < 2 * lookMs;
    this.#lookedAt = now;
    const kept = new Set(here.map(({ runtime_id }) => runtime_id));
    for (const runtime of this.#outside.keys()) if (!kept.has(runtime)) this.#outside.delete(runtime);
    if (here.length === 0 && this.#followed === 0) return;
    for (const identity of here) this.#note(identity);
    if (!isAgain) this.#wholeAt = now;
    const pids = here.flatMap(({ process }) => (process === null ? [] : [process.pid]));
    this.#follow(proc.read(pids, isAgain));
  }

  /** What they tell themselves is followed as that of agents in panes. */
  #follow(table: ProcessTable): void {
    const { agentOf, views, onRuns, homeless, identify, now, offer } = this.#parts;
    const runs: NativeRun[] = [];
    const suspended = new Set<RuntimeId>();
    for (const identity of [...this.#live().filter(isPaneless), ...homeless()]) {
      const { runtime_id, process, agent: name } = identity;
      const entry = process === null ? undefined : table.processes.get(process.pid);
      const agent = agentOf(name);
      if (process === null || entry === undefined || processKey(entry.identity) !== processKey(process)) continue;
      if (entry.state === 'T' || entry.state === 't') suspended.add(runtime_id);
      if (agent === null) continue;
      const version = identify(entry)?.version ?? null;
      const facts = { runtime_id, agent, version, process: entry, title: '', paneCwd: '' };
      runs.push({ agent, run: views.view(facts, table) });
      if (suspended.has(runtime_id) === this.#suspended.has(runtime_id)) continue;
      offer([
        {
          evidence: { target: identity.target, runtime_id },
          source: 'process',
          kind: 'process.observed',
          event_time: now(),
          payload: { suspended: suspended.has(runtime_id) },
        },
      ]);
    }
    this.#suspended = suspended;
    views.keepOnly(new Set(runs.map(({ run }) => run.runtime_id)));
    this.#followed = runs.length;
    onRuns(runs);
  }

  #forget({ runtime_id }: RuntimeIdentity): void {
    this.#watched = this.#watched.filter((one) => one.runtime_id !== runtime_id);
    this.#outside.delete(runtime_id);
  }

  /** Those that are ours to watch, their children included; what was just told is not in the ledger yet. */
  #live(): readonly RuntimeIdentity[] {
    const { ledger, target } = this.#parts;
    const { entries } = ledger.world;
    const found = new Map<RuntimeId, RuntimeIdentity>();
    for (const [key, identity] of this.#told) {
      const entry = entries.get(identity.runtime_id);
      // Once the ledger has it, it is asked.
      if (entry === undefined) found.set(identity.runtime_id, identity);
      else this.#told.delete(key);
    }
    for (const { identity, record } of entries.values()) {
      if (identity.target !== target || record === null || record.ended !== null) continue;
      const root = identity.parent === null ? identity : entries.get(identity.parent)?.identity;
      if (root !== undefined && isPaneless(root)) found.set(identity.runtime_id, identity);
    }
    return [...found.values()];
  }
}

/** How Linux calls the server's process. */
const tmuxServerName = 'tmux: server';

type Run = Pick<PaneAgents['children'][number], 'agent' | 'process'>;

/** The topmost first. One that only does a job owns no terminal, and is a run all the same. */
function runsOf({ agent, process, children }: PaneAgents): readonly Run[] {
  return agent === null || process === null ? children : [{ agent, process: process as ProcessEntry }, ...children];
}
