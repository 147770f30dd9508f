// One immutable observation: the envelope as it arrives (ADM1), and the closed list of facts it may carry. Adapters
// translate what agents say into these facts; nothing behind the inbox knows an agent's own words.

import type { Ask, SettleKind } from './asks.ts';
import type {
  AgentName,
  AgentSessionId,
  AskId,
  PaneId,
  ProcessIdentity,
  RuntimeId,
  ScopeId,
  ServerKey,
  TargetId,
} from './ids.ts';
import type { ReasonCode } from './reasons.ts';
import type { SourceName } from './sources.ts';
import type { Confidence, StateName } from './states.ts';

/** Evidence of which runtime an event belongs to (BND1). A pane or a directory alone is not evidence. */
export interface BindingEvidence {
  readonly target: TargetId;
  readonly runtime_id?: RuntimeId;
  /** The processes the event came from, nearest first. */
  readonly ancestry?: readonly ProcessIdentity[];
  readonly agent_session?: AgentSessionId;
  /** Narrows ancestry to runtimes of this agent: a nested agent never speaks for its host. */
  readonly agent?: AgentName;
}

/** Who a runtime is: fixed when it is found and never changed (IDN2 to IDN6, IDN9). */
export interface RuntimeIdentity {
  readonly runtime_id: RuntimeId;
  readonly target: TargetId;
  readonly agent: AgentName;
  /** Null for what has no pane: managed sessions (IDN9), agents that were found without one (IDN10). */
  readonly server: ServerKey | null;
  readonly pane: PaneId | null;
  readonly pane_epoch: number;
  readonly process: ProcessIdentity | null;
  /** The runtime this one runs inside of; such children are shown but not routable (IDN6). */
  readonly parent: RuntimeId | null;
  /** Start of the process on the daemon's timeline, ms. Routing orders by it (RTE2). */
  readonly started_at: number;
}

/** A session that agtmux leads itself: in no pane, and whoever's process it has, it stays the same (IDN9). */
export const isManaged = ({ pane, parent, process }: RuntimeIdentity): boolean =>
  pane === null && parent === null && process === null;

/** An agent that was found without a pane: its process is all that it is known by (IDN10). */
export const isPaneless = ({ pane, parent, process }: RuntimeIdentity): boolean =>
  pane === null && parent === null && process !== null;

export const endCauses = ['exit', 'signal', 'vanished'] as const;
export type EndCause = (typeof endCauses)[number];

export type Fact =
  | { readonly kind: 'runtime.started'; readonly runtime: RuntimeIdentity }
  | { readonly kind: 'runtime.session'; readonly agent_session: AgentSessionId }
  | { readonly kind: 'runtime.goodbye' }
  | { readonly kind: 'runtime.ended'; readonly cause: EndCause; readonly status?: number; readonly signal?: string }
  | { readonly kind: 'server.seen'; readonly server: ServerKey; readonly server_started_at: number }
  | StateFact
  | { readonly kind: 'state.repeated' }
  | { readonly kind: 'ask.opened'; readonly ask: Ask }
  | { readonly kind: 'ask.settled'; readonly ask_id: AskId; readonly how: SettleKind }
  | { readonly kind: 'turn.ended'; readonly scope: ScopeId }
  | { readonly kind: 'background.counted'; readonly shells: number; readonly agents: number }
  | { readonly kind: 'process.observed'; readonly suspended: boolean }
  | { readonly kind: 'route.activated' }
  | { readonly kind: 'runtime.base'; readonly fold: string };

export interface StateFact {
  readonly kind: 'state.observed';
  readonly state: StateName;
  readonly reason: ReasonCode;
  readonly confidence: Confidence;
  /** Level sources only: false = this source sees that no dialog is open now (ASK4). */
  readonly dialog?: boolean;
  /** What it is doing or what went wrong, in the agent's words. Foreign text. */
  readonly detail?: string;
  /** When a limit resets, ms on the daemon's timeline (RSV9). */
  readonly until?: number;
}

export type FactKind = Fact['kind'];

export const factKinds = [
  'runtime.started',
  'runtime.session',
  'runtime.goodbye',
  'runtime.ended',
  'server.seen',
  'state.observed',
  'state.repeated',
  'ask.opened',
  'ask.settled',
  'turn.ended',
  'background.counted',
  'process.observed',
  'route.activated',
  'runtime.base',
] as const satisfies readonly FactKind[];

export function isFactKind(text: string): text is FactKind {
  return (factKinds as readonly string[]).includes(text);
}

/** An event as a source hands it over. Untrusted: engine/admit turns it into an `AdmittedEvent` or refuses it. */
export interface EventEnvelope {
  readonly evidence: BindingEvidence;
  readonly source: SourceName;
  readonly kind: FactKind;
  /** When the fact arose, stamped once at its origin, ms. */
  readonly event_time: number;
  /** For numbered sources: the number, and when that counter began, so that a reset is not a step back. */
  readonly source_seq?: number;
  readonly source_epoch?: number;
  /** The source's own id of this event, if it has one. */
  readonly dedupe_key?: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Total order inside one source: number or time, then content (ORD2). Arrival is no part of it. */
export interface OrderKey {
  readonly major: number;
  readonly minor: number;
  readonly hash: string;
}

/** An event that passed admission: the only form the rest of the engine and the store know. */
export interface AdmittedEvent {
  readonly evidence: BindingEvidence;
  readonly source: SourceName;
  readonly fact: Fact;
  readonly key: OrderKey;
  /** When the fact arose, on the daemon's timeline. Compares facts across sources. */
  readonly time: number;
  readonly ingested_at: number;
  readonly dedupe_key: string;
  /** Fields of the agent's payload that its adapter allowed to be stored, and envelope fields of newer versions. */
  readonly extra?: Readonly<Record<string, unknown>>;
}
