// Managed sessions: agents that agtmux starts and drives itself. The states and events of their machine, what is kept of
// one, and what may be asked of it (SES1 to SES7).

import type { CallerClaim } from './actions.ts';
import type { Ask } from './asks.ts';
import type { Result } from './errors.ts';
import type { AgentName, AgentSessionId, ProcessIdentity, RuntimeId } from './ids.ts';

/** `s7`: counted up by the daemon for ever. Its reference is `session:s7`. */
export type ManagedId = `s${number}`;

export const machineStates = [
  'idle',
  'creating',
  'streaming',
  'waiting_approval',
  'waiting_input',
  'completed',
  'paused',
  'error',
  'stopped',
] as const;
export type MachineState = (typeof machineStates)[number];

/** The 27 events of the table; then those that real agents need besides. */
export const machineEventKinds = [
  'start_session',
  'session_created',
  'api_req_started',
  'say:text',
  'say:completion_result',
  'say:checkpoint_saved',
  'ask:tool',
  'ask:command',
  'ask:browser_action_launch',
  'ask:use_mcp_server',
  'ask:followup',
  'ask:completion_result',
  'ask:api_req_failed',
  'ask:mistake_limit_reached',
  'ask:invalid_model',
  'ask:payment_required_prompt',
  'ask:resume_task',
  'ask:resume_completed_task',
  'process_exit_zero',
  'process_exit_nonzero',
  'process_error',
  'send_message',
  'approve_action',
  'reject_action',
  'cancel_session',
  'resume_session',
  'retry',
] as const;
export const extraEventKinds = [
  /** Nothing was heard within the time a start may take. */
  'creation_timeout',
  /** A partial ask stood still (SES2). */
  'partial_stall',
  'api_retry_scheduled',
  'api_retried',
  'command_output',
  /** Somebody else answered what was asked. */
  'user_feedback',
  'say:error',
  'session_renamed',
  'usage_update',
  'mode_changed',
  /** The agent says nothing although a prompt is open (SES6). */
  'heartbeat_lost',
  /** The turn was ended by the agent after a cancel of ours, or of somebody at its own screen. */
  'turn_cancelled',
  /** The daemon came back and the process did not (SES5). */
  'daemon_restarted',
  /** The daemon came back, and the agent with it: `state` says what it is in. */
  'rejoined',
] as const;
export type MachineEventKind = (typeof machineEventKinds)[number] | (typeof extraEventKinds)[number];

/** What the agent waits for. `answers` are the words that it takes: approve, reject, an option's id, free text. */
export interface PendingAsk extends Ask {
  readonly accepts: readonly ('approve' | 'reject' | 'option' | 'text' | 'retry')[];
}

/** One thing that happened, in the words of the machine. Only the fields that its kind needs are set. */
export interface MachineEvent {
  readonly kind: MachineEventKind;
  /** When we learned of it, on the daemon's timeline. */
  readonly at: number;
  /** When the agent says it happened, in milliseconds of the wall; older than the start means replay (SES3). */
  readonly said_at?: number;
  /** True: not whole yet. Absent means whole. */
  readonly partial?: boolean;
  /** Of the request that began; the same again reports usage and is no new one. */
  readonly request?: string;
  readonly is_usage?: boolean;
  readonly ask?: PendingAsk;
  readonly exit?: { readonly code: number | null; readonly signal: string | null };
  /** Why, in words for people. */
  readonly words?: string;
  /** For `api_retry_scheduled`: which try, the status, when. */
  readonly retry?: { readonly count: number; readonly status: number | null; readonly until: number | null };
  /** For `say:completion_result` and `ask:completion_result`: what the check of the outcome found (SES6). */
  readonly outcome?: 'verified' | 'unverified';
  /** For answers of people. */
  readonly ask_id?: string;
  /** For `rejoined`. */
  readonly state?: MachineState;
  /** For `resume_session`: the process is alive and only wants the word. */
  readonly is_alive?: boolean;
  /** For `session_created` and `session_renamed`. */
  readonly agent_session?: AgentSessionId;
}

export const messageRoles = ['user', 'agent', 'thought', 'tool', 'notice'] as const;

/** One line of the conversation. The same id again replaces it; a partial one grows. */
export interface SessionMessage {
  readonly id: string;
  readonly role: (typeof messageRoles)[number];
  readonly at: number;
  readonly text: string;
  readonly partial: boolean;
  /** Of a tool: its name and how it stands. */
  readonly tool?: { readonly name: string; readonly status: 'pending' | 'running' | 'done' | 'failed' };
}

export interface SessionView {
  readonly showSpinner: boolean;
  readonly showCancelButton: boolean;
  readonly showResumeButton: boolean;
  readonly showAutoModeWarning: boolean;
  readonly inputEnabled: boolean;
  readonly isActive: boolean;
  readonly showRetryButton: boolean;
  readonly showDismissButton: boolean;
}

/** What is kept of a session; enough to go on after the daemon was gone. */
export interface SessionRecord {
  readonly id: ManagedId;
  readonly runtime_id: RuntimeId;
  readonly agent: AgentName;
  /** Which driver leads it: `claude-stream`, `codex-app-server`, `acp`, `opencode-http`, `kilo-lines`. */
  readonly driver: string;
  readonly title: string;
  readonly cwd: string;
  readonly model: string | null;
  readonly auto_approve: boolean;
  readonly worktree: { readonly path: string; readonly branch: string; readonly repository: string } | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly state: MachineState;
  /** Counts every change of state or ask. */
  readonly state_version: number;
  readonly reason: string | null;
  readonly words: string | null;
  readonly confidence: 'high' | 'low';
  readonly pending_ask: PendingAsk | null;
  /** Ids of asks that were answered: none is answered twice. Bounded. */
  readonly answered: readonly string[];
  readonly agent_session: AgentSessionId | null;
  readonly is_resumable: boolean;
  readonly process: ProcessIdentity | null;
  /** When its process was let go because it rested; null: it was not, or was woken since (SES11). */
  readonly asleep_since: number | null;
  /** What the driver needs to find it again: an address of a server, a socket. No secrets. */
  readonly rejoin: Readonly<Record<string, string>> | null;
  readonly turns: number;
  readonly tokens: { readonly input: number; readonly output: number } | null;
}

export interface SessionRequest {
  readonly agent: string;
  readonly prompt: string;
  readonly cwd: string;
  readonly model: string | null;
  readonly auto_approve: boolean;
  /** A branch, '' for a name of our own; null: no worktree. */
  readonly worktree: string | null;
  readonly title: string | null;
  /** What the agent finds in its environment: the caller's own. */
  readonly env: Readonly<Record<string, string>>;
  /** Null: what fits the agent best. */
  readonly driver: string | null;
  /** A conversation of the agent's own to go on with, or to join; then the prompt may be empty. Null: a new one. */
  readonly resume: string | null;
}

export interface SessionRow extends SessionRecord {
  readonly view: SessionView;
  /** The last line of what it said, through the gate. */
  readonly last_words: string | null;
  /** Messages that wait until it takes one. */
  readonly queued: number;
}

/** As much of a session as every list shows beside its agent. */
export type SessionSummary = Pick<
  SessionRow,
  'id' | 'driver' | 'title' | 'model' | 'state' | 'auto_approve' | 'is_resumable' | 'view'
>;

export interface MessagePage {
  readonly id: ManagedId;
  readonly messages: readonly SessionMessage[];
  /** Where to read on. */
  readonly cursor: number;
  /** Older ones were dropped. */
  readonly truncated: boolean;
}

export type SessionCommand =
  | { readonly action: 'send'; readonly text: string }
  | { readonly action: 'approve'; readonly ask_id?: string }
  | { readonly action: 'reject'; readonly ask_id?: string; readonly because?: string }
  | { readonly action: 'answer'; readonly ask_id?: string; readonly option?: string; readonly text?: string }
  | { readonly action: 'stop' }
  | { readonly action: 'resume'; readonly text?: string }
  | { readonly action: 'retry' }
  | { readonly action: 'remove'; readonly force: boolean };

export interface SessionService {
  start(wish: SessionRequest, claim: CallerClaim): Promise<Result<SessionRow>>;
  list(): readonly SessionRow[];
  get(ref: string): Result<SessionRow>;
  messages(ref: string, after: number, countMax: number): Promise<Result<MessagePage>>;
  /** Called when there are new messages or another state; gives back how to stop. */
  follow(ref: string, onChange: () => void): Result<() => void>;
  /** Every deed leaves one audit row, refused ones too. */
  do(ref: string, deed: SessionCommand, claim: CallerClaim): Promise<Result<SessionRow>>;
}
