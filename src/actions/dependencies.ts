// What acting stands on: the daemon as the hands see it. The daemon wires these; tests give small ones.

import type { Channel, FreshLook, Keys } from '../agents/contract.ts';
import type { Policy } from '../auth/policy.ts';
import type { CallerFacts } from '../auth/principal.ts';
import type { Referable } from '../engine/refer.ts';
import type { AttachPlan, NewAgent, ViewedOutput } from '../model/actions.ts';
import type { Ask } from '../model/asks.ts';
import type { Result } from '../model/errors.ts';
import type { EventEnvelope, RuntimeIdentity } from '../model/events.ts';
import type { AgentName, ProcessIdentity, RuntimeId, TargetId } from '../model/ids.ts';
import type { AuditRecord, Health, SnapshotRecord, StateRecord } from '../model/records.ts';
import type { Verdict } from '../model/verdicts.ts';
import type { Clock } from '../platform/clock.ts';
import type { SurfacePlace } from '../terminals/terminal.ts';
import type { PaneAddress, PaneContent, PaneWriter } from '../terminals/tmux/pane-writer.ts';

/** As much of a row as actions need: whom it names, and where that is. */
export interface ActionRow extends Referable {
  readonly session_id: string;
  readonly cwd: string;
}

export interface ActionDependencies {
  /** The daemon's timeline, ms. */
  readonly now: () => number;
  readonly clock: Clock;
  readonly random: { hex(bytes: number): string };
  readonly rows: () => readonly ActionRow[];
  readonly stateOf: (runtime: RuntimeId) => StateRecord | null;
  /** What it asks as it was told, secrets and all; null when it asks nothing, or when nobody knows what is hidden in it. */
  readonly wholeAskOf: (runtime: RuntimeId) => Ask | null;
  readonly identityOf: (runtime: RuntimeId) => RuntimeIdentity | null;
  readonly sessionsOf: (runtime: RuntimeId) => readonly string[];
  /** The one it had last, also where only its hooks named it; null when that is not known. */
  readonly lastSessionOf: (runtime: RuntimeId) => Promise<string | null>;
  /** The runtime that owns this pane now; null when none does. */
  readonly ownerOf: (target: TargetId, pane: string) => RuntimeId | null;
  /** It runs on without its pane; never of one that has ended. */
  readonly isPaneless: (runtime: RuntimeId) => boolean;
  /** Windows of other terminals, for agents of this machine that are in no pane. */
  readonly terminals: {
    /** It is in one that can be typed at, and a person wants that. */
    readonly canType: (runtime: RuntimeId) => boolean;
    readonly handleOf: (runtime: RuntimeId) => Promise<{ place: PaneAddress; writer: PaneWriter } | null>;
    readonly windowOf: (runtime: RuntimeId) => Promise<SurfacePlace | null>;
  };
  readonly healthOf: (target: TargetId) => Health;
  readonly keysOf: (agent: AgentName) => Keys | null;
  readonly channels: readonly Channel[];
  /** Where the runtime is at this moment by tmux and by its processes; null when it is not the foreground of its pane. */
  readonly placeOf: (runtime: RuntimeId) => Promise<PaneAddress | null>;
  /** The path of a file of this machine on the one where the runtime is; a failure where there is no such file. */
  readonly fileAt: (runtime: RuntimeId, path: string) => Promise<Result<string>>;
  readonly handsOf: (target: TargetId) => PaneWriter | null;
  /** What is in the pane of one that has ended. */
  readonly restOf: (runtime: RuntimeId) => Promise<PaneContent>;
  /** The command as it is started there so that its exact end is known. */
  readonly wrapped: (target: TargetId, command: readonly string[]) => readonly string[];
  /** A fresh look, not what was published; null when the screen could not be read. */
  readonly freshLook: (runtime: RuntimeId) => Promise<FreshLook | null>;
  /** A signal to the process group that this very process leads; gone when it is not there any more (IDN3). */
  readonly signal: (
    target: TargetId,
    process: ProcessIdentity,
    signal: 'INT' | 'TERM' | 'KILL' | 'CONT',
  ) => Promise<'sent' | 'gone' | 'down' | 'unclear'>;
  /** Who asks, as the system tells it; null when there is no such process. */
  readonly factsOf: (pid: number) => Promise<CallerFacts | null>;
  readonly policy: () => Policy;
  /** The hours in which nothing is begun. */
  readonly isQuiet: () => boolean;
  readonly reachOf: (target: TargetId) => Pick<AttachPlan, 'kind' | 'connection_ref' | 'socket_path'> | null;
  /** Resolves when no client of ours attaches to its server: who goes there now changes what it shows (FED6). */
  readonly settled: (target: TargetId) => Promise<void>;
  readonly outputOf: (
    runtime: RuntimeId,
    linesMax: number,
    isScreen?: boolean,
    hasColours?: boolean,
  ) => Promise<Omit<ViewedOutput, 'ref'> | null>;
  /** What was said in its conversation, the last lines; null where its record is not known. */
  readonly transcriptOf: (runtime: RuntimeId, linesMax: number) => Promise<readonly string[] | null>;
  /** Starts an agent in a window of its own; tells the runtime once it is known, null when it did not show up in time. */
  readonly start: (wanted: NewAgent) => Promise<Result<RuntimeId | null>>;
  readonly take: (events: readonly EventEnvelope[]) => Promise<readonly Verdict[]>;
  readonly keepAudit: (record: AuditRecord) => Promise<void>;
  readonly audit: (countMax: number) => Promise<readonly AuditRecord[]>;
  readonly keepSnapshot: (snapshot: SnapshotRecord) => Promise<void>;
  /** Trouble that nobody waits for an answer about. */
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}
