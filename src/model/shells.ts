// Background shells: commands that agents start and that nobody has to wait for. The record of one, what may be asked of
// it, and what is told about it (SHL1 to SHL8).

import type { EditorCaller, WebCaller } from './actions.ts';
import type { Failure, Result } from './errors.ts';
import type { ProcessIdentity, RuntimeId } from './ids.ts';

/** `shell-3`: counted up by the daemon for ever, so that no two cards ever share a name. */
export type ShellId = `shell-${number}`;

export const shellStatuses = ['running', 'completed', 'failed'] as const;
export type ShellStatus = (typeof shellStatuses)[number];

export const shellModes = ['foreground', 'background'] as const;
export type ShellMode = (typeof shellModes)[number];

/** Who did something to a shell. system: the daemon, the operating system, or the command itself. */
export const shellParties = ['agent', 'user', 'system'] as const;
export type ShellParty = (typeof shellParties)[number];

export const shellEndReasons = ['exited', 'signaled', 'killed', 'spawn_error', 'timeout', 'lost'] as const;
export type ShellEndReason = (typeof shellEndReasons)[number];

/** The agent that a shell belongs to, as far as it is known. */
export interface ShellOwner {
  /** Notices are kept under it: the runtime, else the client's own thread, else the connection. */
  readonly key: string;
  readonly runtime_id: RuntimeId | null;
  /** What the MCP client calls itself: `codex-mcp-client 0.128`. */
  readonly client: string | null;
  /** The client's own thread or session. */
  readonly thread: string | null;
}

export interface ShellLog {
  /** Bytes that were written in this attempt; offsets count from the first. */
  readonly bytes: number;
  /** What lies before was dropped. */
  readonly first_offset: number;
  /** The cap was reached: from here on nothing was stored. */
  readonly is_capped: boolean;
}

export interface ShellRecord {
  readonly shell_id: ShellId;
  /** Counts from 1. */
  readonly attempt: number;
  /** Of the tool call that started this attempt. */
  readonly call_id: string;
  readonly command: string;
  readonly cwd: string;
  readonly label: string | null;
  readonly owner: ShellOwner;
  /** user: a person ran it again. */
  readonly started_by: ShellParty;
  readonly status: ShellStatus;
  readonly requested_mode: ShellMode;
  /** The mode it is in now, whatever its name says: that is how agents know it. */
  readonly start_mode: ShellMode;
  readonly promoted_by: ShellParty | null;
  /** How long the caller can wait for an answer (SHL2). */
  readonly budget_ms: number;
  readonly expected_ms: number | null;
  readonly timeout_ms: number | null;
  readonly tty: boolean;
  /** Stopped by a signal: it can be continued. */
  readonly is_stopped: boolean;
  /** The daemon's timeline. */
  readonly started_at: number;
  readonly ended_at: number | null;
  /** The command's own process, leader of its group. */
  readonly process: ProcessIdentity | null;
  readonly exit_code: number | null;
  readonly signal: string | null;
  /** The signal was read from a status above 128, which a command may also give by itself. */
  readonly is_signal_inferred: boolean;
  readonly ended_by: ShellParty | null;
  readonly end_reason: ShellEndReason | null;
  /** The first whose kill was accepted. */
  readonly kill_requested_by: ShellParty | null;
  /** In a few words for the card: "auto background (60s budget exceeded)". Null when there is nothing to say. */
  readonly words: string | null;
  readonly log: ShellLog;
  /** A person has looked at it since it ended. */
  readonly seen: boolean;
}

/** A record with what a card shows of its log, in the lists and on the feed. */
export interface ShellRow extends ShellRecord {
  /** At most two lines, through the gate, of bounded width. */
  readonly last_log: readonly string[];
}

export interface ShellRequest {
  readonly command: string;
  readonly cwd: string;
  readonly label: string | null;
  readonly run_in_background: boolean;
  readonly expected_duration_s: number | null;
  readonly timeout_s: number | null;
  readonly tty: boolean;
  /** What the command finds in its environment: the caller's own. Kept private, for running it again. */
  readonly env: Readonly<Record<string, string>>;
  /** Null: the usual budget. */
  readonly budget_ms: number | null;
  readonly call_id: string;
}

/** Where a person did it. */
export const shellVias = ['Shell panel', 'Ctrl+R', 'command line', 'web page', 'editor'] as const;
export type ShellVia = (typeof shellVias)[number];

/** What the API or the web server knows of the agent that asks. The daemon looks at the process itself; the words are only words. */
export interface ShellClaim {
  readonly pid: number | null;
  readonly client: string | null;
  readonly thread: string | null;
  /** Null: not a person, or at the usual place. */
  readonly via: ShellVia | null;
  /** A web session; only the web server says this. */
  readonly web?: WebCaller;
  /** A paired editor; only the socket says this. */
  readonly editor?: EditorCaller;
}

export const shellResults = [
  'Started',
  'Completed',
  'Failed',
  'Running',
  'Killed',
  'KillPending',
  'KillFailed',
  'Backgrounded',
  'AlreadyBackground',
  'Resumed',
  'Restarted',
  'AlreadyRunning',
  'ResumeUnavailable',
  'AlreadyFinishedCompleted',
  'AlreadyFinishedFailed',
  'NotFound',
  'Refused',
] as const;
export type ShellResult = (typeof shellResults)[number];

export const shellNoticeKinds = ['exited', 'killed', 'auto_background', 'user_background', 'resumed', 'lost'] as const;

/** What an agent has to be told and did not hear as an answer. Given once, in its next result of whatever tool (SHL7). */
export interface ShellNotice {
  readonly shell_id: ShellId;
  readonly attempt: number;
  readonly kind: (typeof shellNoticeKinds)[number];
  readonly by: ShellParty;
  readonly at: number;
  /** "the user killed shell-3 (sleep 120)". */
  readonly words: string;
}

/** The answer to everything that is asked of a shell. */
export interface ShellAnswer {
  readonly result: ShellResult;
  readonly reason: string;
  readonly ended_by: ShellParty | null;
  /** Null when it was not found or never began. */
  readonly shell: ShellRow | null;
  /** The end of its log when it has ended or was put in the background. */
  readonly page: ShellLogPage | null;
}

export const shellLogModes = ['tail', 'body', 'diagnostic'] as const;
export type ShellLogMode = (typeof shellLogModes)[number];

export interface ShellLogRequest {
  readonly mode: ShellLogMode;
  /** `attempt:offset`; null: the end for tail and diagnostic, the beginning for body. */
  readonly cursor: string | null;
  readonly lines: number | null;
}

/** At most 120 lines and 16 KiB (SHL5). */
export interface ShellLogPage {
  readonly shell_id: ShellId;
  readonly attempt: number;
  readonly lines: readonly string[];
  /** Where to read on. Stays before a last line that is not whole yet. */
  readonly cursor: string;
  /** There is more after it now. */
  readonly has_more: boolean;
  /** What the cursor pointed to was dropped. */
  readonly truncated: boolean;
  readonly partial_line: boolean;
  /** A line of it was longer than a page, and was split. */
  readonly has_split_line: boolean;
  /** The cap was reached: what came later was not stored. */
  readonly is_capped: boolean;
  /** Only in mode diagnostic. */
  readonly diagnosis: string | null;
}

export const shellEventKinds = ['start', 'promote', 'terminate', 'kill', 'background_request', 'resume'] as const;

/** On the feed. The last three are what people did. */
export interface ShellEvent {
  readonly seq: number;
  readonly at: number;
  readonly kind: (typeof shellEventKinds)[number];
  readonly call_id: string;
  readonly shell_id: ShellId;
  readonly attempt: number;
  readonly pid: number | null;
  readonly start_mode: ShellMode;
  readonly ended_by: ShellParty | null;
  readonly exit_code: number | null;
}

/** From `shell_run` to its answer, of the last calls. */
export interface ShellLatency {
  readonly count: number;
  readonly p50_ms: number | null;
  readonly max_ms: number | null;
}

/** Whoever asks, under every key that its shells may have been kept under: an agent that was new then is known now. */
export interface ShellAsker {
  readonly owner: ShellOwner;
  readonly keys: readonly string[];
}

/** What people and agents may ask of a shell that is there. seen: a person has looked at it. */
export const shellControls = ['kill', 'background', 'resume', 'seen'] as const;
export type ShellControl = (typeof shellControls)[number];

/** An answer, and why it was refused in the words that every interface uses; null when it was not. */
export interface ShellReceipt extends ShellAnswer {
  readonly failure: Failure | null;
}

/** As much of an AbortSignal as is needed: this room knows no platform. */
export interface CancelSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', heard: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', heard: () => void): void;
}

export interface ShellService {
  /**
   * Answers when it has ended, was put in the background, or could not be started; at once when the background was asked
   * for. `cancelled` is the caller going away: nobody would hear of a foreground command any more, so it is killed.
   */
  run(wish: ShellRequest, claim: ShellClaim, cancelled: CancelSignal): Promise<ShellReceipt>;
  list(): readonly ShellRow[];
  /** `ref`: a shell id, or enough of its label to mean one. */
  find(ref: string): Result<ShellRow>;
  log(ref: string, wish: ShellLogRequest): Promise<Result<ShellLogPage>>;
  /** Whether it is done for an agent or for a person is told from the process that asks, never by it (ACT6). */
  control(control: ShellControl, ref: string, claim: ShellClaim): Promise<ShellReceipt>;
  askerOf(claim: ShellClaim): Promise<ShellAsker>;
  /** What this agent was not told yet; taking it takes it away. */
  takeNotices(asker: ShellAsker): readonly ShellNotice[];
  /** They could not be handed over: they come first the next time. */
  returnNotices(asker: ShellAsker, notices: readonly ShellNotice[]): void;
  /** Of those that are kept, what was told on the feed behind this version of it. */
  eventsAfter(version: number): readonly ShellEvent[];
  latency(): ShellLatency;
}

// How the end of a shell is named in a few letters; the same on cards, in lists and in answers.

/** `running`, `completed`, `failed (code 3)`, `failed (SIGTERM)`. */
export function shellStatusText({
  status,
  exit_code,
  signal,
}: Pick<ShellRecord, 'status' | 'exit_code' | 'signal'>): string {
  if (status !== 'failed') return status;
  if (exit_code !== null) return `failed (code ${exit_code})`;
  return signal === null ? 'failed' : `failed (${signal})`;
}
