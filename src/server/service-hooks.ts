// What the daemon does about hooks, as its API sees it: tells what is installed, plans a change, and makes a planned one.

import type { CallerClaim } from '../model/actions.ts';
import type { Result } from '../model/errors.ts';

export interface HookRequest {
  /** A machine: `host`, or the name of an ssh target. */
  readonly target: string;
  /** None: every agent that is used there. */
  readonly agents: readonly string[];
  /** Variables that say where agents keep their files, for this machine; others are asked for theirs. */
  readonly env: Readonly<Record<string, string>>;
}

export interface HookPlanRequest extends HookRequest {
  readonly action: 'install' | 'remove';
  /** What is put in only when it is named: `notify`. */
  readonly extras: readonly string[];
}

export interface HookApplyRequest extends HookPlanRequest {
  /** Of the plan that was looked at. */
  readonly digest: string;
  /** The user trusts our hooks and says so: agents with a gate for it are told. */
  readonly trust: boolean;
}

/** `broken`: a file of the user's cannot be read; `unsupported`: agtmux has no hooks for this agent. */
export type HookState = 'installed' | 'partial' | 'absent' | 'broken' | 'unsupported';

export interface HookAgentStatus {
  readonly agent: string;
  readonly state: HookState;
  /** Whether the agent has a folder of its own on that machine. */
  readonly is_used: boolean;
  readonly files: readonly { readonly path: string; readonly state: HookState; readonly problem: string | null }[];
  readonly notes: readonly string[];
}

export interface HookStatus {
  readonly target: string;
  readonly program: { readonly path: string; readonly state: 'current' | 'other' | 'absent' };
  readonly spool_dir: string;
  /** Variables worth sending along. */
  readonly environment: readonly string[];
  readonly agents: readonly HookAgentStatus[];
}

export interface HookEdit {
  /** Null for what all agents share. */
  readonly agent: string | null;
  readonly path: string;
  readonly change: 'create' | 'change' | 'delete';
  /** Unified, without a head. Holds what stands in the user's file. */
  readonly diff: string;
}

export interface HookPlan {
  readonly target: string;
  readonly action: 'install' | 'remove';
  readonly digest: string;
  readonly edits: readonly HookEdit[];
  readonly agents: readonly string[];
  /** Agents that were passed over because they are not used there. */
  readonly unused: readonly string[];
  readonly notes: readonly string[];
}

export interface HookOutcome {
  readonly target: string;
  readonly action: 'install' | 'remove';
  readonly written: readonly string[];
  readonly removed: readonly string[];
  readonly notes: readonly string[];
  /** What came of telling agents their user's trust. */
  readonly trust: readonly { readonly agent: string; readonly trusted: number; readonly problem: string | null }[];
}

export interface HookService {
  status(request: HookRequest): Promise<Result<HookStatus>>;
  /** Looks only. E_HOOKS when a file of the user's cannot be merged with. */
  plan(request: HookPlanRequest): Promise<Result<HookPlan>>;
  /** Plans anew and makes the change only if it is the one that was looked at. Leaves a row in the audit. */
  apply(request: HookApplyRequest, claim: CallerClaim): Promise<Result<HookOutcome>>;
}
