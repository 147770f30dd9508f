// What a session is after an event that the table let through: its ask, its reason, its counters. Pure; `record` is as it
// was before, apart from what the machine has noted in its memory.

import { isSame } from '../engine/canonical.ts';
import { limits } from '../model/limits.ts';
import type { MachineEvent, MachineEventKind, MachineState, PendingAsk } from '../model/sessions.ts';
import { askOf, homeOf, isPersonKind, isResumeAsk } from './machine-kinds.ts';
import type { Machined } from './machine-memory.ts';
import { reasonAfter, wordsAfter } from './machine-reasons.ts';

const endKinds: readonly MachineEventKind[] = [
  'process_exit_zero',
  'process_exit_nonzero',
  'process_error',
  'daemon_restarted',
];
const isEnd = (kind: MachineEventKind): boolean => endKinds.includes(kind);
const isWaiting = (state: MachineState): boolean => state === 'waiting_approval' || state === 'waiting_input';

/** Adds what is not there yet and forgets the oldest (SES5: none is answered twice). */
export function withAnswered(answered: readonly string[], ids: readonly (string | undefined)[]): readonly string[] {
  const added = ids.filter((id): id is string => id !== undefined && !answered.includes(id));
  return added.length === 0 ? answered : [...answered, ...new Set(added)].slice(-limits.sessionAnsweredMax);
}

function askAfter(record: Machined, event: MachineEvent, next: MachineState): PendingAsk | null {
  const isStay = next === record.state;
  const lands = homeOf(event.kind) === next || event.kind === 'rejoined';
  if (lands && isWaiting(next)) {
    const kept = isStay ? record.pending_ask : null;
    return event.ask ?? (event.kind === 'rejoined' ? kept : null) ?? askOf(event, record.state_version + 1);
  }
  if (lands && (next === 'error' || next === 'paused')) return event.ask ?? (isStay ? record.pending_ask : null);
  // A process that is gone cannot be told to try again.
  if (isStay) return record.state === 'error' && isEnd(event.kind) ? null : record.pending_ask;
  // Nothing is lost: what was asked is shown until it goes on (SES5).
  return next === 'paused' && isEnd(event.kind) ? record.pending_ask : null;
}

/** Whether the ask that is gone now was dealt with, as opposed to lost with its process or pushed aside by another. */
function isSettled(record: Machined, event: MachineEvent): boolean {
  if (isEnd(event.kind) || homeOf(event.kind) !== null) return event.kind === 'ask:completion_result';
  return record.state !== 'paused' || record.reason === 'paused';
}

function isResumableAfter(record: Machined, { kind, agent_session }: MachineEvent): boolean {
  if (kind === 'start_session') return false;
  if (isResumeAsk(kind)) return true;
  // Nothing was said yet in a session that has no name: there is nothing to go on with.
  if (kind === 'daemon_restarted') return record.agent_session !== null || !['idle', 'creating'].includes(record.state);
  return record.is_resumable || agent_session !== undefined;
}

/** Who begins a turn: an answer goes on with the one that is there. */
function beginsTurn(record: Machined, { kind }: MachineEvent): boolean {
  return kind === 'start_session' || (kind === 'send_message' && !isWaiting(record.state) && record.state !== 'error');
}

function hasNewReason(record: Machined, event: MachineEvent, next: MachineState): boolean {
  if (next !== record.state || homeOf(event.kind) === next) return true;
  if (event.kind === 'api_retry_scheduled') return next === 'streaming' || next === 'creating';
  return event.kind === 'say:completion_result' && next === 'completed';
}

type Why = Pick<Machined, 'reason' | 'words' | 'confidence'>;

function whyAfter(record: Machined, event: MachineEvent, next: MachineState, isStalled: boolean): Why {
  const { reason, words, confidence } = record;
  if (!hasNewReason(record, event, next)) return { reason, words, confidence };
  const now = next === 'creating' && next === record.state ? 'retrying' : reasonAfter(record, event, next);
  // Once the end was seen to be good, a second word on it takes nothing back.
  if (next === record.state && reason === 'turn_completed') return { reason, words, confidence };
  return {
    reason: now,
    words: wordsAfter(record, event),
    confidence: isStalled || now === 'outcome_unverified' ? 'low' : 'high',
  };
}

/** A request that works again: it is no longer retried. */
function isRecovery(record: Machined, kind: MachineEventKind): boolean {
  if (record.state !== 'streaming' || record.reason !== 'retrying') return false;
  return kind === 'say:text' || kind === 'command_output' || kind === 'api_req_started' || kind === 'api_retried';
}

export function land<Kept extends Machined>(
  record: Kept,
  event: MachineEvent,
  next: MachineState,
  isStalled: boolean,
): Kept {
  const before = record.pending_ask;
  const asked = askAfter(record, event, next);
  const pending = isSame(asked, before) ? before : asked;
  const isGone = before !== null && before.ask_id !== pending?.ask_id;
  const isNew = before?.ask_id !== pending?.ask_id || next !== record.state;
  const why = isRecovery(record, event.kind)
    ? { reason: 'turn_running', words: null, confidence: record.confidence }
    : whyAfter(record, event, next, isStalled);
  return {
    ...record,
    ...why,
    state: next,
    state_version: isNew ? record.state_version + 1 : record.state_version,
    pending_ask: pending,
    answered: isGone && isSettled(record, event) ? withAnswered(record.answered, [before.ask_id]) : record.answered,
    agent_session: event.kind === 'start_session' ? null : (event.agent_session ?? record.agent_session),
    is_resumable: isResumableAfter(record, event),
    turns: isPersonKind(event.kind) && beginsTurn(record, event) ? record.turns + 1 : record.turns,
  };
}
