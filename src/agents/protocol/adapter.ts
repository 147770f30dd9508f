// How agents are led: an adapter is the pure half (what was heard, to events and messages; what is wanted, to what is said),
// a runner the half that has a process or a socket. A recorded conversation can therefore be replayed without either.

import type { Result } from '../../model/errors.ts';
import type { AgentSessionId } from '../../model/ids.ts';
import type { MachineEvent, SessionMessage } from '../../model/sessions.ts';

/** What an adapter is told at the beginning. */
export interface Opening {
  readonly prompt: string;
  readonly cwd: string;
  readonly model: string | null;
  readonly auto_approve: boolean;
  /** To be continued; null: a new one. */
  readonly resume: AgentSessionId | null;
  /** Wall time of the start: what the agent dates before it is replay (SES3). */
  readonly spawned_at: number;
  /** It lived on while the daemon was gone: what was kept to find it again. Nothing is prompted then; null otherwise. */
  readonly rejoin: Readonly<Record<string, string>> | null;
}

/** What comes in. Lines are without their end; a body or data is text that was received whole. */
export type Incoming =
  | { readonly from: 'stdout'; readonly line: string }
  | { readonly from: 'stderr'; readonly line: string }
  | { readonly from: 'reply'; readonly request: string; readonly status: number; readonly body: string }
  | { readonly from: 'stream'; readonly data: string }
  /** The stream broke and was opened again: what was missed has to be asked for. */
  | { readonly from: 'reconnect' }
  | { readonly from: 'exit'; readonly code: number | null; readonly signal: string | null }
  /** A timer of `wake` went off. `isAsked`: a person can see what is asked; left out: what is open is seen. */
  | { readonly from: 'clock'; readonly isAsked?: boolean };

/** What goes out. */
export type Outgoing =
  | { readonly to: 'stdin'; readonly line: string }
  | {
      readonly to: 'server';
      /** Comes back with its reply. */
      readonly request: string;
      readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
      readonly path: string;
      readonly body: string | null;
    }
  /** Ends the process in good order. */
  | { readonly to: 'process'; readonly signal: 'INT' | 'TERM' };

export type UserAction =
  | { readonly kind: 'send'; readonly text: string }
  | { readonly kind: 'approve'; readonly ask_id: string }
  | { readonly kind: 'reject'; readonly ask_id: string; readonly because: string | null }
  | { readonly kind: 'choose'; readonly ask_id: string; readonly option: string }
  | { readonly kind: 'write'; readonly ask_id: string; readonly text: string }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'retry' }
  /** The process is alive and waits: `text` or the agent's own word for going on. */
  | { readonly kind: 'continue'; readonly text: string | null };

export interface Turn<Memory> {
  readonly memory: Memory;
  readonly events: readonly MachineEvent[];
  readonly messages: readonly SessionMessage[];
  readonly said: readonly Outgoing[];
  /** Call again with `clock` after so many milliseconds; null: no need. Replaces the one before. */
  readonly wakeMs?: number | null;
  /** What of the session has to outlive the daemon for a rejoin. */
  readonly rejoin?: Readonly<Record<string, string>>;
  readonly tokens?: { readonly input: number; readonly output: number };
}

/**
 * Why an agent at rest keeps its process. busy: it is not at rest. behind: it has work in the background, which would end.
 * no_resume: nothing would bring the conversation back. shared: the program is not ours.
 */
export type Wakeful = 'busy' | 'behind' | 'no_resume' | 'shared';

/**
 * How far the words have come that were given last. held: not told to the agent yet. dropped: they were held and never will
 * be. said: told, without a sign of the agent that it has them. taken: it has them.
 */
export type Delivery = 'held' | 'dropped' | 'said' | 'taken';

export interface ProtocolAdapter<Memory> {
  readonly name: string;
  /** No `session_created` ever comes: creating ends with the first request (SES1). */
  readonly hasNoCreated: boolean;
  /** The agent's server outlives the daemon and can be joined again (SES5). */
  readonly livesOn: boolean;
  open(opening: Opening, at: number): Turn<Memory>;
  /**
   * `asksRoom`: how much one more ask may hold, by what all sessions hold (SES10).
   * Garbage, half lines and unknown words are no errors: they change nothing, or become a notice.
   */
  hear(memory: Memory, heard: Incoming, at: number, asksRoom?: number): Turn<Memory>;
  do(memory: Memory, deed: UserAction, at: number): Result<Turn<Memory>>;
  /** What its open asks hold, in bytes. */
  asksBytes(memory: Memory): number;
  /** Of the words of a person; nobody's words are `taken`. */
  delivery(memory: Memory): Delivery;
  /** Null: its process may go, and the agent's own resume brings everything back (SES11). */
  wakeful(memory: Memory): Wakeful | null;
}

export type Answering = Extract<UserAction, { readonly ask_id: string }>;

const gentleSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Programs that trap a signal leave with 128 and its number, and say that no signal ended them. */
const gentleCodes = [129, 130, 143];

export function isGentle(exit: MachineEvent['exit']): boolean {
  if (exit === undefined) return false;
  if (exit.signal !== null) return gentleSignals.includes(exit.signal);
  return exit.code !== null && gentleCodes.includes(exit.code);
}
