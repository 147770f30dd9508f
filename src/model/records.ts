// The records that are kept and shown: what the store persists and what every screen is told.

import type { Ask } from './asks.ts';
import type { AdmittedEvent, EndCause, RuntimeIdentity } from './events.ts';
import type { AgentName, EventId, PaneId, RuntimeId, SnapshotId, TargetId } from './ids.ts';
import type { ReasonCode } from './reasons.ts';
import type { SourceName } from './sources.ts';
import type { Confidence, StateName } from './states.ts';
import type { VerdictReason } from './verdicts.ts';

export const healths = ['ok', 'degraded', 'down'] as const;
export type Health = (typeof healths)[number];

export interface TargetRecord {
  readonly target: TargetId;
  readonly kind: 'local' | 'ssh';
  /** A host alias of the user's own ssh configuration, never a secret. */
  readonly connection_ref: string;
  readonly is_default: boolean;
  readonly health: Health;
  readonly last_seen_at: number | null;
  readonly updated_at: number;
}

/** Where a runtime was last seen, as tmux called it then. All of it is foreign text. */
export interface PlaceRecord {
  readonly runtime_id: RuntimeId;
  readonly session_id: string;
  readonly session_name: string;
  readonly other_sessions: readonly string[];
  readonly window_id: string;
  readonly window_index: number;
  readonly window_name: string;
  readonly pane_index: number;
  readonly title: string;
  readonly cwd: string;
  readonly current_command: string;
  /** When it was found to run on without its pane; null while it has one, or when that is not known. */
  readonly closed_at: number | null;
}

/** One line of evidence, as `explain` shows it. */
export interface Evidence {
  readonly source: SourceName;
  readonly state: StateName;
  readonly reason: ReasonCode;
  readonly confidence: Confidence;
  readonly time: number;
}

export interface EndRecord {
  readonly cause: EndCause | 'replaced' | 'server_gone';
  readonly status: number | null;
  readonly signal: string | null;
  readonly clean: boolean;
  readonly time: number;
}

/** The state of one runtime as it is published. Keyed by runtime, never by pane (IDN9). */
export interface StateRecord {
  readonly runtime_id: RuntimeId;
  readonly state: StateName;
  readonly reason: ReasonCode;
  readonly confidence: Confidence;
  readonly detail: string | null;
  readonly until: number | null;
  /** When this state began, on the daemon's timeline. */
  readonly since: number;
  readonly last_seen_at: number;
  /** Grows only when state, reason, runtime or open ask changes (RSV11). */
  readonly state_version: number;
  readonly decided_by: SourceName | null;
  readonly competing: readonly Evidence[];
  readonly ask: Ask | null;
  readonly asks_open: number;
  readonly background: { readonly shells: number; readonly agents: number };
  readonly suspended: boolean;
  readonly ended: EndRecord | null;
}

/** An event as it goes into the log. */
export interface NewEvent {
  /** Null while no runtime has claimed it, and for ever when none did in time. */
  readonly runtime_id: RuntimeId | null;
  readonly verdict: VerdictReason;
  readonly event: AdmittedEvent;
}

/** An event in the log. */
export interface StoredEvent extends NewEvent {
  readonly event_id: EventId;
}

/** A later word on a logged event: its runtime became known, a nearer one did, or none did in time. */
export interface Rebinding {
  readonly event_id: EventId;
  readonly runtime_id: RuntimeId | null;
  readonly verdict: VerdictReason;
}

export interface RuntimeRecord {
  readonly identity: RuntimeIdentity;
  readonly ended_at: number | null;
}

export interface SnapshotRecord {
  readonly snapshot_id: SnapshotId;
  readonly target: TargetId;
  readonly pane: PaneId | null;
  readonly runtime_id: RuntimeId;
  readonly state_version: number;
  readonly observed_at: number;
  readonly expires_at: number;
  readonly nonce: string;
}

export interface AdapterRecord {
  readonly adapter: string;
  readonly agent: AgentName;
  readonly version: string;
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly enabled: boolean;
  readonly updated_at: number;
}

export interface AuditRecord {
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly runtime_id: RuntimeId | null;
  readonly snapshot_id: SnapshotId | null;
  readonly result: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** With the number that the log gave it. */
export interface NumberedAudit extends AuditRecord {
  readonly audit_id: number;
}

/** What the log's file keeps beside facts about agents: what people said and what was done for them. */
export const documentKinds = [
  'message',
  'name',
  'seen',
  'answered',
  'hops',
  'notice',
  'notice_handle',
  'notice_mutes',
  'web_server',
  'editor',
  'imported_file',
] as const;
export type DocumentKind = (typeof documentKinds)[number];

/** One of them: what it says is JSON that only its owner understands. */
export interface DocumentRecord {
  readonly kind: DocumentKind;
  readonly id: string;
  /** Documents of a kind are read back in this order. */
  readonly number: number;
  readonly body: string;
}

/** All of it at once, or nothing. */
export interface DocumentChange {
  readonly put: readonly DocumentRecord[];
  readonly remove: readonly Pick<DocumentRecord, 'kind' | 'id'>[];
}

/** Where documents are kept. What is resolved is on disk; rejects with an AgtmuxError, and then nothing was changed. */
export interface DocumentStore {
  documents(kinds: readonly DocumentKind[]): Promise<readonly DocumentRecord[]>;
  putDocuments(change: DocumentChange): Promise<void>;
  /** How often a damaged log was replaced while it was in use: what was written before may not be there any more. */
  readonly timesStartedOver: number;
}
