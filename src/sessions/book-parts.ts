// What the book of sessions is given: the ports it stands on, the agents it can lead, and the daemon around it.

import type { KnownCaller } from '../act/callers.ts';
import type { Policy } from '../act/policy.ts';
import type { SessionWay } from '../agents/session-way.ts';
import type { CallerClaim } from '../model/actions.ts';
import type { EventEnvelope } from '../model/events.ts';
import type { AgentName, RuntimeId, TargetId } from '../model/ids.ts';
import type { AuditRecord, StateRecord } from '../model/records.ts';
import type { Exec } from '../platform/exec.ts';
import type { Files } from '../platform/files.ts';
import type { Dialect } from './dialect.ts';
import type { LivePorts } from './live-parts.ts';

/** An agent that can be led, and the ways to do it. */
export interface LedAgent {
  readonly name: AgentName;
  readonly ways: readonly SessionWay[];
}

export interface BookParts {
  readonly ports: LivePorts;
  readonly files: Files;
  readonly exec: Exec;
  /** Where sessions are kept. */
  readonly folder: string;
  /** What they belong to: this machine. */
  readonly target: TargetId;
  /** As the settings say now. */
  readonly agents: () => readonly LedAgent[];
  readonly dialects: ReadonlyMap<string, Dialect<unknown>>;
  readonly callerOf: (claim: CallerClaim) => Promise<KnownCaller>;
  readonly policy: () => Policy;
  readonly keepAudit: (record: AuditRecord) => Promise<void>;
  /** Hands events to the inbox; resolves when they are on disk. */
  readonly offer: (events: readonly EventEnvelope[]) => Promise<unknown>;
  /** What the engine knows of a runtime. */
  readonly stateOf: (runtime: RuntimeId) => StateRecord | null;
  /** What is served has changed. */
  readonly onChange: () => void;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}
