// What one machine's agents say themselves: calls in the hook spool, and their own files and streams. Becomes events of
// the runtimes they are about; how well each way works is told to whoever asks.

import type { Agent, Finding, NativeLine, NativeSource } from '../agents/contract.ts';
import type { EventProcessor } from '../ingest/event-processor.ts';
import { envelopeOf } from '../ingest/findings.ts';
import { HookCalls, type HookCallsParts } from '../ingest/hook-calls.ts';
import { taskText } from '../ingest/task-text.ts';
import { Arrivals } from '../ingest/timeline.ts';
import type { EventEnvelope, RuntimeIdentity } from '../model/events.ts';
import type { SourceInfo } from '../model/explanations.ts';
import { type AgentName, processKey, type RuntimeId, type TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Health } from '../model/records.ts';
import type { StateName } from '../model/states.ts';
import type { Verdict } from '../model/verdicts.ts';
import type { NativeHealth } from '../sources/native/entry.ts';
import type { Reach } from '../sources/native/follower.ts';
import { type NativeRun, NativeSources } from '../sources/native/sources.ts';
import type { SpoolCall, TakeCall } from '../sources/spool/call.ts';
import type { SpoolCounts } from '../sources/spool/handover.ts';

/** In place of a target: runs that are in no pane. */
export const outside = Symbol('outside of all panes');

/** A spool, near or far. */
export interface SpoolFollower {
  start(): void;
  stop(): Promise<void>;
  counts(): SpoolCounts;
}

export interface TargetSourcesParts {
  readonly machine: TargetId;
  readonly ledger: EventProcessor;
  readonly reach: Reach;
  readonly openSpool: (take: TakeCall) => SpoolFollower;
  /** Wall time of the machine, ms since 1970. */
  readonly now: () => number;
  readonly toTimeline: (wallMs: number, notBeforeMs?: number) => number;
  /** The daemon's own time. */
  readonly timelineNow: () => number;
  readonly fromMonotonic: (monotonicMs: number) => number;
  readonly calls: Pick<
    HookCallsParts,
    | ('boot' | 'agentOf' | 'identify' | 'programOf' | 'socketOf' | 'targetOf')
    | ('onPending' | 'isOff' | 'isManagedProcess' | 'meet' | 'originOf')
  >;
  readonly offer: (events: readonly EventEnvelope[]) => void;
  readonly take: (events: readonly EventEnvelope[]) => Promise<readonly Verdict[]>;
}

export class TargetSources {
  readonly #parts: TargetSourcesParts;
  readonly #calls: HookCalls;
  readonly #spool: SpoolFollower;
  readonly #natives: NativeSources;
  readonly #runs = new Map<TargetId | typeof outside, readonly NativeRun[]>();
  readonly #arrivals: Arrivals;
  /** When the hooks of each agent spoke last before this run: what waits in the spool was called after that. */
  readonly #heardBefore: ReadonlyMap<RuntimeId, number>;
  /** By runtime, or by process as long as its runtime is not known; the oldest first. */
  readonly #tasks = new Map<string, string>();

  constructor(parts: TargetSourcesParts) {
    this.#parts = parts;
    this.#arrivals = new Arrivals(parts.timelineNow);
    this.#heardBefore = lastHookTimes(parts.ledger);
    this.#calls = new HookCalls({
      ...parts.calls,
      timeOf: (call, runtime) => this.#timeOfCall(call, runtime),
      onPrompt: (runtime, ancestry, text) => this.#setTask(runtime?.runtime_id ?? null, ancestry.map(processKey), text),
      take: parts.take,
      runtimesOf: (process) => this.#runtimesOf(processKey(process)),
    });
    this.#spool = parts.openSpool((call) => this.#calls.take(call));
    this.#natives = new NativeSources({
      reach: parts.reach,
      now: parts.now,
      offer: (agent, source, finding) => this.#onFinding(agent, source, finding),
    });
  }

  start(): void {
    this.#spool.start();
  }

  async stop(): Promise<void> {
    this.#natives.close();
    await this.#spool.stop();
  }

  /** What became of the files in the spool. */
  counts(): SpoolCounts {
    return this.#spool.counts();
  }

  /** The runs of one of the machine's targets, or those that are in no pane, as they are now. */
  setRuns(target: TargetId | typeof outside, runs: readonly NativeRun[]): void {
    if (runs.length === 0 && !this.#runs.has(target)) return;
    this.#runs.set(target, runs);
    this.#natives.setRuns(this.runs());
  }

  look(runtime: RuntimeId, state: StateName): void {
    this.#natives.look(runtime, state);
  }

  /** Kept in memory only: what people write to their agents is not stored. */
  taskOf({ runtime_id, process }: RuntimeIdentity): string | null {
    return this.#tasks.get(runtime_id) ?? (process === null ? null : (this.#tasks.get(processKey(process)) ?? null));
  }

  /** Under its processes until the runtime is known, whose first prompt may be older than the first look at it. */
  #setTask(runtime: RuntimeId | null, processes: readonly string[], text: string): void {
    const task = taskText(text);
    for (const key of [...processes, ...(runtime === null ? [] : [runtime])]) this.#tasks.delete(key);
    if (task !== null) for (const key of runtime === null ? processes : [runtime]) this.#tasks.set(key, task);
    for (const key of this.#tasks.keys()) if (this.#tasks.size > limits.tasksKept) this.#tasks.delete(key);
  }

  linesOf(runtime: RuntimeId, source: string): readonly NativeLine[] {
    return this.#natives.linesOf(runtime, source);
  }

  runs(): readonly NativeRun[] {
    return [...this.#runs.values()].flat();
  }

  infosOf(agent: AgentName): readonly SourceInfo[] {
    const hooks = this.#calls.infoOf(agent);
    const natives = this.#natives.health().filter((one) => one.agent === agent);
    return [...(hooks === null ? [] : [hooks]), ...natives.map((one) => this.#infoOf(one))];
  }

  #infoOf({ source, state, trouble, findings, lastAt }: NativeHealth): SourceInfo {
    const health: Health = state === 'failed' ? 'degraded' : 'ok';
    return {
      source,
      health,
      trouble: state === 'failed' ? trouble : null,
      count: findings,
      last_at: lastAt === null ? null : Math.min(this.#parts.toTimeline(lastAt), this.#parts.timelineNow()),
    };
  }

  #timeOfCall({ time: told, sinceMs }: SpoolCall, runtime: RuntimeIdentity | null): number {
    const { toTimeline, fromMonotonic } = this.#parts;
    const notBefore = sinceMs === null ? null : fromMonotonic(sinceMs);
    const heard = runtime === null ? undefined : this.#heardBefore.get(runtime.runtime_id);
    const earliest = heard === undefined ? 0 : Math.floor(heard) + 1;
    // No agent calls before it was started, which is known about.
    const started = runtime === null ? 0 : runtime.started_at - limits.wallJumpMs;
    // The part of a millisecond keeps calls of one moment in order; the timeline knows whole ones.
    const placed = toTimeline(Math.floor(told), Math.max(started, earliest, notBefore ?? 0));
    const time = Math.max(placed, earliest) + (told % 1);
    return this.#arrivals.timeOf({ stream: 'spool', told, time, notBefore });
  }

  #onFinding({ name }: Agent, source: NativeSource, finding: Finding): void {
    const { runtime_id, agent_session, prompt } = finding;
    if (runtime_id !== undefined && prompt !== undefined) this.#setTask(runtime_id, [], prompt);
    const target = this.#targetOf(runtime_id);
    const stream = `${runtime_id ?? ''} ${source.source}`;
    const told = finding.time;
    const time = this.#arrivals.timeOf({ stream, told, time: this.#parts.toTimeline(told), notBefore: null });
    const evidence = { target, agent: name, ...(agent_session === undefined ? {} : { agent_session }) };
    const { seq } = finding;
    const counted =
      seq === undefined ? finding : { ...finding, seq: { ...seq, epoch: this.#arrivals.epochOf(stream, seq.epoch) } };
    this.#parts.offer([envelopeOf(counted, { evidence, source: source.source, time, dedupe: null })]);
  }

  #targetOf(runtime: RuntimeId | undefined): TargetId {
    const identity = runtime === undefined ? undefined : this.#parts.ledger.world.entries.get(runtime)?.identity;
    if (identity !== undefined) return identity.target;
    for (const [target, runs] of this.#runs) {
      if (target !== outside && runs.some(({ run }) => run.runtime_id === runtime)) return target;
    }
    return this.#parts.machine;
  }

  #runtimesOf(process: string): readonly RuntimeIdentity[] {
    const { ledger, machine } = this.#parts;
    const targets = new Set([machine, ...[...this.#runs.keys()].filter((one) => one !== outside)]);
    return [...targets].flatMap((target) => ledger.world.index.ofProcess(target, process));
  }
}

/**
 * Calls are handed over in their order and leave the spool when they are in the log. After a restart nothing else says on
 * which side of a jump a stamp was made that the clock has shown twice.
 */
function lastHookTimes({ world }: EventProcessor): ReadonlyMap<RuntimeId, number> {
  const times = new Map<RuntimeId, number>();
  for (const [runtime, { fold }] of world.entries) {
    const asked = [...fold.asked.values()].filter(({ source }) => source === 'hook').map((ask) => ask.time);
    const time = Math.max(fold.claims.hook?.time ?? 0, fold.activeAt.hook ?? 0, ...asked);
    if (time > 0) times.set(runtime, time);
  }
  return times;
}
