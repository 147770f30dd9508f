// What acting stands on: the daemon as the hands see it. The daemon wires these; tests give small ones.

import type { Keys, SeenAsk, SeenPrompt } from '../agents/contract.ts';
import type { ActionRequest, AttachPlan, NewAgent, ViewedOutput } from '../model/actions.ts';
import type { Ask } from '../model/asks.ts';
import type { Failure, Result } from '../model/errors.ts';
import type { EventEnvelope, RuntimeIdentity } from '../model/events.ts';
import type { AgentName, ProcessIdentity, RuntimeId, TargetId } from '../model/ids.ts';
import type { AuditRecord, Health, SnapshotRecord, StateRecord } from '../model/records.ts';
import type { PaneRow } from '../model/rows.ts';
import type { StateName } from '../model/states.ts';
import type { Verdict } from '../model/verdicts.ts';
import type { Clock } from '../platform/clock.ts';
import type { CallerFacts } from './callers.ts';
import type { Hands, Place } from './hands.ts';
import type { Policy } from './policy.ts';

/** What the rules of an agent make of its screen at this moment. */
export interface FreshLook {
  readonly state: StateName;
  /** The dialog that is open, as the screen words it. */
  readonly ask: SeenAsk | null;
  /** The screen that this was read from. */
  readonly lines?: readonly string[];
  /** Its prompt; null when it is not there, left out where nobody knows its looks. */
  readonly prompt?: Pick<SeenPrompt, 'unsent' | 'sign'> | null;
}

export type ChannelEnd =
  | { readonly kind: 'delivered' | 'unconfirmed' | 'queued'; readonly words: string | null }
  | { readonly kind: 'refused'; readonly failure: Failure };

/** An agent's own way of being told something, which comes before keys (ACT4). */
export interface Channel {
  /** As receipts name it. */
  readonly name: string;
  /** It keeps messages itself until the agent takes them. */
  readonly keepsMessages?: boolean;
  can(request: ActionRequest, runtime: RuntimeIdentity): boolean;
  run(request: ActionRequest, runtime: RuntimeIdentity): Promise<ChannelEnd>;
}

/** What has the keyboard of a pane after its agent has ended. */
export type PaneRest =
  /** The pane's own shell and nothing else, in this directory; foreign text: what stands left of the cursor. */
  | { readonly kind: 'shell'; readonly place: Place; readonly cwd: string; readonly line: string }
  /** The same, but it reads something else than a command. */
  | { readonly kind: 'reading' }
  /** The pane's own process is dead; tmux keeps what it showed (remain-on-exit). */
  | { readonly kind: 'dead'; readonly place: Place }
  /** Foreign text: what is in front. */
  | { readonly kind: 'other'; readonly command: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unclear' };

export interface ActGround {
  /** The daemon's timeline, ms. */
  readonly now: () => number;
  readonly clock: Clock;
  readonly random: { hex(bytes: number): string };
  readonly rows: () => readonly PaneRow[];
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
  readonly healthOf: (target: TargetId) => Health;
  readonly keysOf: (agent: AgentName) => Keys | null;
  readonly channels: readonly Channel[];
  /** Where the runtime is at this moment by tmux and by its processes; null when it is not the foreground of its pane. */
  readonly placeOf: (runtime: RuntimeId) => Promise<Place | null>;
  readonly handsOf: (target: TargetId) => Hands | null;
  /** What is in the pane of one that has ended. */
  readonly restOf: (runtime: RuntimeId) => Promise<PaneRest>;
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
  readonly reachOf: (target: TargetId) => Pick<AttachPlan, 'kind' | 'connection_ref' | 'socket_path'> | null;
  readonly outputOf: (
    runtime: RuntimeId,
    linesMax: number,
    isScreen?: boolean,
    hasColours?: boolean,
  ) => Promise<Omit<ViewedOutput, 'ref'> | null>;
  /** Starts an agent in a window of its own; tells the runtime once it is known, null when it did not show up in time. */
  readonly start: (wanted: NewAgent) => Promise<Result<RuntimeId | null>>;
  readonly take: (events: readonly EventEnvelope[]) => Promise<readonly Verdict[]>;
  readonly keepAudit: (record: AuditRecord) => Promise<void>;
  readonly audit: (countMax: number) => Promise<readonly AuditRecord[]>;
  readonly keepSnapshot: (snapshot: SnapshotRecord) => Promise<void>;
  /** Trouble that nobody waits for an answer about. */
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}
