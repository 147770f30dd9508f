// The identities of the product. Branded strings: a pane id can never be passed where a runtime id is meant.

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** One machine plus one tmux socket: `host`, `host@name`, `vm1` (IDN1). */
export type TargetId = Branded<'TargetId'>;
/** tmux's own pane id, `%5`. Restarts at %0 with the server, so never an identity by itself (IDN2). */
export type PaneId = Branded<'PaneId'>;
/** One run of one agent. Opaque, never reused (IDN5). */
export type RuntimeId = Branded<'RuntimeId'>;
/** target, socket path, server pid and server start time in one string (IDN2). */
export type ServerKey = Branded<'ServerKey'>;
/** One thing an agent wants from a person. Unique inside its runtime (ASK1). */
export type AskId = Branded<'AskId'>;
/** `main`, or the id of a subagent: asks and turn ends belong to a scope (ASK4). */
export type ScopeId = Branded<'ScopeId'>;
/** The agent's own session or thread id. */
export type AgentSessionId = Branded<'AgentSessionId'>;
/** Name of an agent kind: claude, codex, gemini. Open: adapters add their own. */
export type AgentName = Branded<'AgentName'>;
/** Server-side record that an action was decided on (ACT1). */
export type SnapshotId = Branded<'SnapshotId'>;
/** Place in the event log, given by the store at commit; grows by arrival and never decides order. */
export type EventId = number;

export const targetId = (text: string): TargetId => text as TargetId;
export const paneId = (text: string): PaneId => text as PaneId;
export const runtimeId = (text: string): RuntimeId => text as RuntimeId;
export const serverKey = (text: string): ServerKey => text as ServerKey;
export const askId = (text: string): AskId => text as AskId;
export const scopeId = (text: string): ScopeId => text as ScopeId;
export const agentSessionId = (text: string): AgentSessionId => text as AgentSessionId;
export const agentName = (text: string): AgentName => text as AgentName;
export const snapshotId = (text: string): SnapshotId => text as SnapshotId;

/** The scope of the agent itself, as opposed to one of its subagents. */
export const mainScope: ScopeId = scopeId('main');

/** A process is (boot id, pid, start time); a pid alone is never an identity (IDN3). */
export interface ProcessIdentity {
  readonly boot: string;
  readonly pid: number;
  /** Start time as the system tells it (clock ticks on Linux, `lstart` on macOS), only ever compared for equality. */
  readonly start: string;
}

export function processKey(process: ProcessIdentity): string {
  return `${process.boot}/${process.pid}/${process.start}`;
}
