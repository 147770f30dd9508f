// What one machine's agents say themselves: calls in the hook spool, and their own files and streams. Becomes events of
// the runtimes they are about; how well each way works is told to whoever asks.

import type { Agent, Finding, NativeSource } from '../agents/contract.ts';
import type { EventEnvelope, RuntimeIdentity } from '../model/events.ts';
import type { SourceInfo } from '../model/explanations.ts';
import { type AgentName, processKey, type RuntimeId, type TargetId } from '../model/ids.ts';
import type { Health } from '../model/records.ts';
import type { StateName } from '../model/states.ts';
import type { Verdict } from '../model/verdicts.ts';
import type { NativeHealth, NativeLine } from '../observe/native/entry.ts';
import type { Reach } from '../observe/native/follower.ts';
import { type NativeRun, NativeSources } from '../observe/native/sources.ts';
import type { TakeCall } from '../observe/spool/call.ts';
import type { SpoolCounts } from '../observe/spool/handover.ts';
import { envelopeOf } from './findings.ts';
import { HookCalls, type HookCallsParts } from './hook-calls.ts';
import type { Ledger } from './ledger.ts';
import { Arrivals } from './timeline.ts';

/** A spool, near or far. */
export interface SpoolFollower {
  start(): void;
  stop(): Promise<void>;
  counts(): SpoolCounts;
}

export interface HearingParts {
  readonly machine: TargetId;
  readonly ledger: Ledger;
  readonly reach: Reach;
  readonly openSpool: (take: TakeCall) => SpoolFollower;
  /** Wall time of the machine, ms since 1970. */
  readonly now: () => number;
  readonly toTimeline: (wallMs: number) => number;
  /** The daemon's own time. */
  readonly timelineNow: () => number;
  readonly calls: Pick<
    HookCallsParts,
    'boot' | 'agentOf' | 'identify' | 'programOf' | 'socketOf' | 'targetOf' | 'onPending' | 'isOff' | 'isLed'
  >;
  readonly offer: (events: readonly EventEnvelope[]) => void;
  readonly take: (events: readonly EventEnvelope[]) => Promise<readonly Verdict[]>;
}

export class Hearing {
  readonly #parts: HearingParts;
  readonly #calls: HookCalls;
  readonly #spool: SpoolFollower;
  readonly #natives: NativeSources;
  readonly #runs = new Map<TargetId, readonly NativeRun[]>();
  readonly #arrivals: Arrivals;

  constructor(parts: HearingParts) {
    this.#parts = parts;
    this.#arrivals = new Arrivals(parts.timelineNow);
    this.#calls = new HookCalls({
      ...parts.calls,
      toTimeline: (wallMs) => this.#arrivals.timeOf(parts.toTimeline(wallMs)),
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

  /** The runs of one of the machine's targets, as they are now. */
  setRuns(target: TargetId, runs: readonly NativeRun[]): void {
    if (runs.length === 0 && !this.#runs.has(target)) return;
    this.#runs.set(target, runs);
    this.#natives.setRuns(this.runs());
  }

  look(runtime: RuntimeId, state: StateName): void {
    this.#natives.look(runtime, state);
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

  #onFinding({ name }: Agent, source: NativeSource, finding: Finding): void {
    const { runtime_id, agent_session } = finding;
    const target = this.#targetOf(runtime_id);
    const time = this.#arrivals.timeOf(this.#parts.toTimeline(finding.time));
    const evidence = { target, agent: name, ...(agent_session === undefined ? {} : { agent_session }) };
    const { seq } = finding;
    const counted =
      seq === undefined
        ? finding
        : {
            ...finding,
            seq: { ...seq, epoch: this.#arrivals.epochOf(`${runtime_id ?? ''} ${source.source}`, seq.epoch) },
          };
    this.#parts.offer([envelopeOf(counted, { evidence, source: source.source, time, dedupe: null })]);
  }

  #targetOf(runtime: RuntimeId | undefined): TargetId {
    const identity = runtime === undefined ? undefined : this.#parts.ledger.world.entries.get(runtime)?.identity;
    if (identity !== undefined) return identity.target;
    for (const [target, runs] of this.#runs) if (runs.some(({ run }) => run.runtime_id === runtime)) return target;
    return this.#parts.machine;
  }

  #runtimesOf(process: string): readonly RuntimeIdentity[] {
    const { ledger, machine } = this.#parts;
    const targets = new Set([machine, ...this.#runs.keys()]);
    return [...targets].flatMap((target) => ledger.world.index.ofProcess(target, process));
  }
}
