// Why a session is in its state, in the codes of the one table and in words.

import { limits } from '../model/limits.ts';
import type { ReasonCode } from '../model/reasons.ts';
import type { MachineEvent, MachineEventKind, MachineState } from '../model/sessions.ts';
import type { Machined } from './machine-memory.ts';

/** Events that say themselves why, in whatever state they end. */
const ownReasons: Partial<Readonly<Record<MachineEventKind, ReasonCode>>> = {
  'ask:api_req_failed': 'api_error',
  'ask:mistake_limit_reached': 'mistake_limit',
  'ask:invalid_model': 'invalid_model',
  'ask:payment_required_prompt': 'payment_required',
  creation_timeout: 'creation_timeout',
  heartbeat_lost: 'heartbeat_lost',
  api_retry_scheduled: 'needs_action',
  daemon_restarted: 'daemon_restarted',
};

function reasonOfExit({ exit }: MachineEvent, wasCreating: boolean): ReasonCode {
  if (exit?.signal === 'SIGKILL' || exit?.code === 137) return 'killed_or_oom';
  if (exit?.code === 124) return 'ran_out_of_time';
  if (wasCreating) return 'start_failed';
  return exit === undefined || exit.signal === null ? 'ended_with_status' : 'ended_by_signal';
}

function reasonOfEnd(event: MachineEvent, completionSeen: boolean): ReasonCode {
  return event.outcome === 'unverified' || !completionSeen ? 'outcome_unverified' : 'turn_completed';
}

/** Why it is in `next` after `event`; `record` is as it was before. */
export function reasonAfter(record: Machined, event: MachineEvent, next: MachineState): ReasonCode | null {
  const wasCreating = record.state === 'creating';
  switch (next) {
    case 'idle':
      return null;
    case 'creating':
      return event.kind === 'resume_session' || event.kind === 'send_message' || event.kind === 'retry'
        ? 'resuming'
        : 'starting';
    case 'streaming':
      return event.kind === 'api_retry_scheduled' ? 'retrying' : 'turn_running';
    case 'waiting_approval':
      return 'approval_asked';
    case 'waiting_input':
      return 'question_asked';
    case 'completed':
      return reasonOfEnd(event, record.memory.completion_seen || event.kind !== 'process_exit_zero');
    case 'paused':
      if (event.kind === 'turn_cancelled') return record.memory.was_refused ? 'refused_by_person' : 'interrupted';
      if (event.kind === 'process_exit_zero') return 'exited_with_ask';
      return ownReasons[event.kind] ?? 'paused';
    case 'stopped':
      return event.kind === 'process_exit_nonzero' ? 'stopped_outside' : 'stopped';
    case 'error':
      if (event.kind === 'process_exit_nonzero') return reasonOfExit(event, wasCreating);
      if (event.kind === 'process_exit_zero') return wasCreating ? 'start_failed' : 'no_output';
      if (event.kind === 'process_error') return wasCreating ? 'start_failed' : 'process_failed';
      return ownReasons[event.kind] ?? 'turn_failed';
  }
}

function wordsOfExit({ exit }: MachineEvent): string | null {
  if (exit === undefined) return null;
  return exit.signal === null ? `it ended with status ${exit.code ?? 'unknown'}` : `it was ended by ${exit.signal}`;
}

function wordsOfRetry({ retry }: MachineEvent, count: number): string {
  const status = typeof retry?.status === 'number' ? ` after status ${retry.status}` : '';
  return `retry ${count}${status}`;
}

/** What a person reads beside the reason; null: the reason says it all. */
export function wordsAfter(record: Machined, event: MachineEvent): string | null {
  if (event.words !== undefined) return event.words.slice(0, limits.detailCharsMax);
  if (event.kind === 'api_retry_scheduled') return wordsOfRetry(event, record.memory.retries);
  if (event.kind === 'creation_timeout') return `nothing was heard for ${limits.sessionStartSilentMs / 1_000} s`;
  return wordsOfExit(event);
}
