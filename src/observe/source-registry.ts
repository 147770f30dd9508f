// The ears of each machine: made when it is first watched, with the ports that fit how it is reached, and closed when it is
// let go.

import type { Agent, Identify, NativeLine } from '../agents/contract.ts';
import type { EventProcessor } from '../ingest/event-processor.ts';
import type { HookCallsParts } from '../ingest/hook-calls.ts';
import type { Timeline } from '../ingest/timeline.ts';
import type { EventEnvelope, RuntimeIdentity } from '../model/events.ts';
import type { SourceInfo } from '../model/explanations.ts';
import { type AgentName, type ProcessIdentity, type RuntimeId, type TargetId, targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Verdict } from '../model/verdicts.ts';
import type { Clock } from '../platform/clock.ts';
import { createRealFileWatch } from '../platform/file-watch.ts';
import type { Files } from '../platform/files.ts';
import { createRealProcesses, realOpenFilesOf } from '../platform/processes.ts';
import { createLocalReach } from '../sources/native/local-reach.ts';
import { createRemoteReach, type ReadRemoteFiles } from '../sources/native/remote-files.ts';
import { RunViews } from '../sources/native/run-view.ts';
import type { NativeRun } from '../sources/native/sources.ts';
import type { ProcSource } from '../sources/process/proc.ts';
import { type SpoolRefusal, spoolRefusals, type TakeCall } from '../sources/spool/call.ts';
import { originOf } from '../sources/spool/origin.ts';
import { RemoteSpool } from '../sources/spool/remote-spool.ts';
import { Spool } from '../sources/spool/spool.ts';
import type { Collector } from '../targets/collector.ts';
import type { Machine } from '../targets/machine.ts';
import { machineNameOf } from '../targets/names.ts';
import { outside, type SpoolFollower, TargetSources } from './target-sources.ts';

export interface SourceRegistryParts {
  readonly clock: Clock;
  readonly files: Files;
  readonly uid: number;
  readonly home: string;
  /** Where hooks of this machine leave their calls. */
  readonly spoolFolder: string;
  readonly ledger: EventProcessor;
  readonly timeline: Timeline;
  readonly proc: ProcSource | null;
  readonly identify: Identify;
  readonly agentOf: (name: AgentName) => Agent | null;
  readonly offer: (events: readonly EventEnvelope[]) => void;
  readonly take: (events: readonly EventEnvelope[]) => Promise<readonly Verdict[]>;
  /** Targets of a machine with the sockets of their tmux servers. */
  readonly targetsOf: (machine: TargetId) => readonly { readonly target: TargetId; readonly path: string }[];
  /** A call of this machine waits for its runtime. */
  readonly onPending: (machine: TargetId) => void;
  readonly isOff: (name: AgentName) => boolean;
  /** Who the agent of a process of this machine is where that is in no pane. */
  readonly meet: NonNullable<HookCallsParts['meet']>;
  /** The process of a session that agtmux leads. */
  readonly isManagedProcess: (process: ProcessIdentity) => boolean;
  /** A file of the spool was refused, in words. */
  readonly onRefused: (file: string, why: string) => void;
}

const textOf = (bytes: Uint8Array | null): string => new TextDecoder().decode(bytes ?? undefined);

interface Ear {
  readonly hearing: TargetSources;
  readonly views: RunViews;
}

export class SourceRegistry {
  readonly #parts: SourceRegistryParts;
  readonly #ears = new Map<TargetId, Ear>();

  constructor(parts: SourceRegistryParts) {
    this.#parts = parts;
  }

  readonly #onRefused = (file: string, why: SpoolRefusal): void => this.#parts.onRefused(file, spoolRefusals[why]);

  of(name: TargetId, machine: Machine): Ear {
    const known = this.#ears.get(name);
    if (known !== undefined) return known;
    const ear = machine.collector === null ? this.#near(name) : this.#far(name, machine, machine.collector);
    this.#ears.set(name, ear);
    ear.hearing.start();
    return ear;
  }

  /** The runs of a machine that are in no pane. */
  setRunsOutside(name: TargetId, runs: readonly NativeRun[]): void {
    this.#ears.get(name)?.hearing.setRuns(outside, runs);
  }

  /** Nobody watches this target any more: what its runs had is not followed. */
  forget(target: TargetId): void {
    for (const { hearing } of this.#ears.values()) hearing.setRuns(target, []);
  }

  /** Nobody watches this machine any more. */
  async drop(name: TargetId): Promise<void> {
    const ear = this.#ears.get(name);
    this.#ears.delete(name);
    await ear?.hearing.stop();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#ears.keys()].map((name) => this.drop(name)));
  }

  /** What the agent of a runtime was last asked for. */
  taskOf(identity: RuntimeIdentity): string | null {
    return this.#ears.get(targetId(machineNameOf(identity.target)))?.hearing.taskOf(identity) ?? null;
  }

  linesOf(runtime: RuntimeId, source: string): readonly NativeLine[] {
    return [...this.#ears.values()].flatMap(({ hearing }) => hearing.linesOf(runtime, source));
  }

  runs(): readonly NativeRun[] {
    return [...this.#ears.values()].flatMap(({ hearing }) => hearing.runs());
  }

  infosOf(agent: AgentName): readonly SourceInfo[] {
    return [...this.#ears.values()].flatMap(({ hearing }) => hearing.infosOf(agent));
  }

  /** What became of the hook calls of all machines. */
  counts(): { readonly taken: number; readonly waiting: number; readonly refused: number } {
    const sum = { taken: 0, waiting: 0, refused: 0 };
    for (const { hearing } of this.#ears.values()) {
      const { taken, waiting, refused } = hearing.counts();
      sum.taken += taken;
      sum.waiting += waiting;
      sum.refused += Object.values(refused).reduce((all, one) => all + one, 0);
    }
    return sum;
  }

  #near(name: TargetId): Ear {
    const { clock, files, uid, spoolFolder, proc, timeline, identify, home } = this.#parts;
    const onRefused = this.#onRefused;
    const openSpool = (take: TakeCall): SpoolFollower =>
      new Spool({ folder: spoolFolder, uid, files, watch: createRealFileWatch(), clock, take, onRefused });
    const hearing = this.#hearing(name, {
      reach: createLocalReach(clock),
      openSpool,
      now: () => clock.wallMs(),
      toTimeline: (wallMs, notBeforeMs) => timeline.fromLocalWall(wallMs, notBeforeMs),
      boot: () => proc?.boot ?? null,
      programOf: (process) => proc?.program(process) ?? null,
      meet: this.#parts.meet,
      originOf: (call) => (proc === null ? 'possible' : originOf(call, proc, uid)),
    });
    const ports = proc === null ? null : { processes: createRealProcesses(), openFilesOf: realOpenFilesOf };
    return { hearing, views: new RunViews({ clock, identify, proc: ports, home }) };
  }

  #far(name: TargetId, machine: Machine, collector: Collector): Ear {
    const { clock, timeline, identify } = this.#parts;
    const readFiles: ReadRemoteFiles = async (paths) => {
      const told = await collector.readFiles(paths);
      if (!told.ok) throw new Error(told.failure.message);
      const found = new Map(
        told.value.map(({ name, bytes, mtimeMs }) => [name, { text: textOf(bytes), changedAt: mtimeMs }]),
      );
      const asked = paths.slice(0, limits.remoteFilesMax);
      return new Map(asked.map((path) => [path, found.get(path) ?? null]));
    };
    const wallMs = (): number => timeline.targetNow(name) ?? clock.wallMs();
    const isReady = (): boolean => machine.view().health !== 'down' && timeline.targetNow(name) !== null;
    const hearing = this.#hearing(name, {
      reach: createRemoteReach({ clock, now: wallMs, readFiles }),
      openSpool: (take) => new RemoteSpool({ collector, clock, take, isReady, onRefused: this.#onRefused }),
      now: wallMs,
      toTimeline: (ms, notBeforeMs) => timeline.fromTarget(name, ms, notBeforeMs) ?? timeline.now(),
      boot: () => machine.view().facts?.boot ?? null,
      programOf: () => null,
      meet: null,
      originOf: () => 'possible',
    });
    return { hearing, views: new RunViews({ clock, identify, proc: null, home: machine.view().facts?.home ?? '' }) };
  }

  #hearing(
    machine: TargetId,
    ports: Pick<ConstructorParameters<typeof TargetSources>[0], 'reach' | 'openSpool' | 'now' | 'toTimeline'> &
      Pick<HookCallsParts, 'boot' | 'programOf' | 'meet' | 'originOf'>,
  ): TargetSources {
    const { ledger, timeline, agentOf, identify, offer, take, targetsOf, onPending, isOff, isManagedProcess } =
      this.#parts;
    const { boot, programOf, meet, originOf: origin, ...rest } = ports;
    return new TargetSources({
      machine,
      ledger,
      timelineNow: () => timeline.now(),
      fromMonotonic: (ms) => timeline.fromMonotonic(ms),
      ...rest,
      calls: {
        boot,
        agentOf,
        identify,
        programOf,
        meet,
        originOf: origin,
        socketOf: ({ target }) => targetsOf(machine).find((one) => one.target === target)?.path ?? null,
        targetOf: (socket) => targetsOf(machine).find((one) => one.path === socket)?.target ?? machine,
        onPending: () => onPending(machine),
        isOff,
        isManagedProcess,
      },
      offer,
      take,
    });
  }
}
