// What the machine keeps of a session beside what people see of it, and how both begin. Plain data: it is saved as it is.

import type { MachineEventKind, PendingAsk, SessionRecord } from '../model/sessions.ts';

/** An ask that does not count yet. */
export interface HeldAsk {
  readonly kind: MachineEventKind;
  readonly ask: PendingAsk | null;
  readonly words: string | null;
  /** `partial`: still being written (SES2). `auto_approve`: the agent will most likely answer it itself. */
  readonly why: 'partial' | 'auto_approve';
  /** When it came, or was last added to. */
  readonly at: number;
  /** The agent dated it, so it is known to be no history. */
  readonly is_dated: boolean;
}

export interface MachineMemory {
  /** No `session_created` ever comes from this agent. */
  readonly has_no_created: boolean;
  /** Wall time of the last start: what the agent dates before it is history (SES3). */
  readonly spawned_at: number | null;
  /** When anything was heard, as far as somebody waits for it; on the daemon's timeline. */
  readonly heard_at: number;
  readonly saw_session: boolean;
  readonly saw_request: boolean;
  /** Requests that are known; bounded. */
  readonly requests: readonly string[];
  /** When somebody set it going again after its last stop. */
  readonly resumed_at: number | null;
  /** Of this turn: any output, its end, a refusal by a person. */
  readonly spoke: boolean;
  readonly completion_seen: boolean;
  readonly was_refused: boolean;
  readonly retries: number;
  readonly held: HeldAsk | null;
}

/** What the machine reads and writes of a session. */
export interface Machined
  extends Pick<
    SessionRecord,
    | 'auto_approve'
    | 'updated_at'
    | 'state'
    | 'state_version'
    | 'reason'
    | 'words'
    | 'confidence'
    | 'pending_ask'
    | 'answered'
    | 'agent_session'
    | 'is_resumable'
    | 'turns'
  > {
  readonly memory: MachineMemory;
}

export function freshMemory(options: { readonly hasNoCreated: boolean }): MachineMemory {
  return {
    has_no_created: options.hasNoCreated,
    spawned_at: null,
    heard_at: 0,
    saw_session: false,
    saw_request: false,
    requests: [],
    resumed_at: null,
    spoke: false,
    completion_seen: false,
    was_refused: false,
    retries: 0,
    held: null,
  };
}

/** A session that was not started yet. */
export function freshFields(at: number): Omit<Machined, 'auto_approve' | 'memory'> {
  return {
    updated_at: at,
    state: 'idle',
    state_version: 0,
    reason: null,
    words: null,
    confidence: 'high',
    pending_ask: null,
    answered: [],
    agent_session: null,
    is_resumable: false,
    turns: 0,
  };
}
