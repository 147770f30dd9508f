// What can be brought back after a tmux server is gone: which agents it had, and what would become of each (RST1).

import type { CallerClaim } from './actions.ts';
import type { Result } from './errors.ts';
import type { AgentName, RuntimeId, ServerKey, TargetId } from './ids.ts';

/** An option of an agent's start as it was given, without prompts and secrets. */
export interface KeptOption {
  readonly words: readonly string[];
  /** With it the agent acts without asking. */
  readonly skips_permissions: boolean;
}

/** resume: its conversation, in its place. shell: its place with a shell. leave: nothing at all. */
export const restoreChoices = ['resume', 'shell', 'leave'] as const;
export type RestoreChoice = (typeof restoreChoices)[number];

/** One agent that a lost tmux server had. */
export interface RestoreItem {
  /** The run that was lost. */
  readonly runtime_id: RuntimeId;
  readonly target: TargetId;
  readonly server: ServerKey;
  readonly agent: AgentName;
  /** `work:1.0`, as tmux called it. */
  readonly place: string;
  readonly cwd: string;
  readonly agent_session: string | null;
  readonly lost_at: number;
  /** What is done unless a person says otherwise. */
  readonly choice: RestoreChoice;
  /** Less than this can be asked for, more cannot. */
  readonly why: string | null;
  /** What would be run, without the options that skip permissions; null when nothing would. */
  readonly command: string | null;
  /** Options that skip permissions: given again only when a person says so. */
  readonly skipping: readonly string[];
}

export interface RestorePlan {
  readonly items: readonly RestoreItem[];
  /** Windows that would be opened. */
  readonly windows: number;
  readonly sessions: readonly string[];
}

export interface RestoreRequest {
  /** What a person decided otherwise, by the lost run. */
  readonly choices: Readonly<Record<string, RestoreChoice>>;
  /** The runs that were shown: what was lost since then is left. Null: all. */
  readonly shown: readonly string[] | null;
  readonly allow_skip_permissions: boolean;
}

/** What became of one. */
export interface RestoreEnd {
  readonly runtime_id: RuntimeId;
  readonly place: string;
  readonly agent: AgentName;
  /** resumed: it is there again. started: its command was run, it has not been seen yet. refused: nothing was done. */
  readonly outcome: 'resumed' | 'started' | 'shell' | 'left' | 'refused';
  /** The run that came of it. */
  readonly became: RuntimeId | null;
  readonly words: string | null;
}

export interface RestoreService {
  plan(): Promise<RestorePlan>;
  restore(request: RestoreRequest, claim: CallerClaim): Promise<Result<readonly RestoreEnd[]>>;
  /** Agents that could be resumed, as far as is known without a look. */
  readonly waiting: number;
}
