// The machine of managed sessions: one pure step over the table (SES1). It is total: every event is taken in every state,
// and what a person may not do is refused with a reason. Time comes in with the events; `dueOf` says when `tick` is wanted.

import { isSame } from '../engine/canonical.ts';
import { type Failure, failure } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ReasonCode } from '../model/reasons.ts';
import type { MachineEvent, MachineEventKind, MachineState, PendingAsk } from '../model/sessions.ts';
import {
  askOf,
  type HeldAsk,
  homeOf,
  isAgentKind,
  isPersonKind,
  isResumeAsk,
  type Machined,
  type MachineMemory,
  type PersonKind,
} from './machine-memory.ts';
import { cellOf, guardTests, type Outcome, stateOf } from './table.ts';

export interface Step<Kept extends Machined> {
  /** The same object when nothing at all changed. */
  readonly record: Kept;
  /** Only for what people want. */
  readonly refusal: Failure | null;
  /** State, reason, ask or anything else that people see. */
  readonly changed: boolean;
  /** `spawn`: start a process. `deliver`: tell the agent now. `queue`: keep the message until it takes one. */
  readonly effect: 'none' | 'spawn' | 'deliver' | 'queue';
}

/** How a process ended, as an event. */
export function exitKind(exit: NonNullable<MachineEvent['exit']>): 'process_exit_zero' | 'process_exit_nonzero' {
  return exit.code === 0 && exit.signal === null ? 'process_exit_zero' : 'process_exit_nonzero';
}

const isShallowSame = (one: object, other: object): boolean =>
  Object.entries(one).every(([name, value]) => Object.is(value, (other as Record<string, unknown>)[name]));

function remember<Kept extends Machined>(record: Kept, notes: Partial<MachineMemory>): Kept {
  return isShallowSame(notes, record.memory) ? record : { ...record, memory: { ...record.memory, ...notes } };
}

/** `before` against `after`: what people see is compared, the machine's own memory is not. */
function stepped<Kept extends Machined>(
  before: Kept,
  after: Kept,
  at: number,
  effect: Step<Kept>['effect'],
): Step<Kept> {
  const isQuiet = isShallowSame({ ...after, memory: null }, { ...before, memory: null });
  if (!isQuiet) return { record: { ...after, updated_at: at }, refusal: null, changed: true, effect };
  const record = after.memory === before.memory ? before : after;
  return { record, refusal: null, changed: false, effect };
}

/** Anything came from the agent. Noted only while somebody counts the silence. */
export function heard<Kept extends Machined>(record: Kept, at: number): Kept {
  const { memory } = record;
  const isCounted = record.state === 'creating' || memory.held?.why === 'partial';
  return isCounted && at > memory.heard_at ? remember(record, { heard_at: at }) : record;
}

function ripeAt({ held, heard_at }: MachineMemory): number | null {
  if (held === null) return null;
  if (held.why === 'auto_approve') return held.at + limits.sessionAutoApproveMs;
  return Math.max(held.at, heard_at) + limits.sessionPartialStillMs;
}

function startDueAt({ state, memory }: Machined): number | null {
  return state === 'creating' ? memory.heard_at + limits.sessionStartSilentMs : null;
}

/** When `tick` is wanted, on the daemon's timeline; null: never. */
export function dueOf(record: Machined): number | null {
  const dues = [ripeAt(record.memory), startDueAt(record)].filter((due) => due !== null);
  return dues.length === 0 ? null : Math.min(...dues);
}

/** The time has come. Before it, nothing changes. */
export function tick<Kept extends Machined>(record: Kept, at: number): Step<Kept> {
  const ripe = ripeAt(record.memory);
  if (ripe !== null && at >= ripe) return ripen(record, at);
  const start = startDueAt(record);
  if (start !== null && at >= start) return step(record, { kind: 'creation_timeout', at });
  return { record, refusal: null, changed: false, effect: 'none' };
}

/** The held ask counts now; only one that nobody has seen whole is doubtful (SES2). */
function ripen<Kept extends Machined>(record: Kept, at: number): Step<Kept> {
  const { held } = record.memory;
  if (held === null) return stepped(record, record, at, 'none');
  const { kind, ask, words } = held;
  const freed = remember(record, { held: null });
  // It was settled while it was held (SES5).
  if (ask !== null && record.answered.includes(ask.ask_id)) return stepped(record, freed, at, 'none');
  // It was found to be live when it came; a date makes it so again.
  const event: MachineEvent = {
    kind,
    at,
    ...(ask === null ? {} : { ask }),
    ...(words === null ? {} : { words }),
    ...(held.is_dated ? { said_at: at } : {}),
  };
  return stepped(record, move(freed, event, { isRipe: true, isStalled: held.why === 'partial' }), at, 'none');
}

function hold<Kept extends Machined>(record: Kept, event: MachineEvent, why: HeldAsk['why']): Kept {
  const { held } = record.memory;
  const ask = event.ask ?? null;
  // The second printing of a whole ask does not begin its time anew.
  const isAgain = why === 'auto_approve' && held?.why === why && held.ask?.ask_id === ask?.ask_id;
  const at = isAgain ? held.at : event.at;
  const words = event.words ?? null;
  const is_dated = event.said_at !== undefined;
  return remember(record, { held: { kind: event.kind, ask, words, why, at, is_dated }, heard_at: event.at });
}

export function step<Kept extends Machined>(record: Kept, event: MachineEvent): Step<Kept> {
  const { kind, at } = event;
  if (isPersonKind(kind)) return wish(record, event, kind);
  if (kind === 'partial_stall') {
    return record.memory.held?.why === 'partial' ? ripen(record, at) : stepped(record, record, at, 'none');
  }
  const listening = isAgentKind(kind) ? heard(record, at) : record;
  if (isWithoutEffect(listening, event)) return stepped(record, listening, at, 'none');
  if (event.partial === true && kind !== 'say:text') {
    const isAsk = homeOf(kind) !== null;
    return stepped(record, isAsk ? hold(listening, event, 'partial') : listening, at, 'none');
  }
  return stepped(record, move(listening, event, { isRipe: false, isStalled: false }), at, 'none');
}

/** History (SES3), reports of usage, asks that were answered, and a partial printing of what is known whole. */
function isWithoutEffect({ memory, answered, pending_ask }: Machined, event: MachineEvent): boolean {
  const { kind, said_at, ask } = event;
  const isHistory = said_at !== undefined && memory.spawned_at !== null && said_at < memory.spawned_at;
  if (isHistory && isAgentKind(kind) && !isResumeAsk(kind)) return true;
  if (kind === 'api_req_started')
    return event.is_usage === true || (event.request !== undefined && memory.requests.includes(event.request));
  if (homeOf(kind) === null || ask === undefined) return false;
  return answered.includes(ask.ask_id) || (event.partial === true && pending_ask?.ask_id === ask.ask_id);
}

/** What an event tells besides where it leads. */
function notesOf({ state, memory }: Machined, event: MachineEvent): Partial<MachineMemory> {
  const { kind } = event;
  if (kind === 'session_created') return { saw_session: true };
  if (kind === 'api_req_started') {
    const { request } = event;
    const requests = request === undefined ? memory.requests : [...memory.requests, request];
    return { saw_request: true, was_refused: false, requests: requests.slice(-limits.sessionRequestsMax) };
  }
  if (kind === 'api_retry_scheduled') return { retries: event.retry?.count ?? memory.retries + 1 };
  // Before the first request this is the prompt, said back.
  if (kind === 'say:text') return state === 'creating' ? {} : { spoke: true, retries: 0 };
  const home = homeOf(kind);
  if (kind === 'say:completion_result' || home === 'completed')
    return { spoke: true, retries: 0, completion_seen: true };
  if (kind === 'command_output' || home === 'waiting_approval' || home === 'waiting_input')
    return { spoke: true, retries: 0 };
  return {};
}

/** Signs that the agent went on: what it asked before is settled, whoever did it. */
const signs: readonly MachineEventKind[] = [
  'api_req_started',
  'command_output',
  'user_feedback',
  'say:completion_result',
  'ask:completion_result',
  'turn_cancelled',
];

/** Settles what is held when the agent went on, and what the event itself names. */
function settleHeld<Kept extends Machined>(record: Kept, event: MachineEvent): Kept {
  const { held } = record.memory;
  if (!signs.includes(event.kind)) return record;
  const isAbout = event.ask_id === undefined || event.ask_id === held?.ask?.ask_id;
  // An ask that is waited with is settled by leaving it, not here.
  const isOfPending = event.ask_id === record.pending_ask?.ask_id;
  const ids = [isAbout ? held?.ask?.ask_id : undefined, isOfPending ? undefined : event.ask_id];
  const answered = withAnswered(record.answered, ids);
  const freed = isAbout ? remember(record, { held: null }) : record;
  return answered === record.answered ? freed : { ...freed, answered };
}

function outcomeOf(record: Machined, event: MachineEvent): Outcome {
  const cell = cellOf(record.state, event.kind);
  return cell.guard === null || guardTests[cell.guard](record, event) ? cell.yes : cell.no;
}

function nextOf(record: Machined, event: MachineEvent, outcome: Outcome): MachineState {
  if (outcome !== '@') return stateOf(outcome) ?? record.state;
  // Still shown is no proof that the answer was lost: better not to wait than to answer twice (SES5).
  const told = event.state ?? record.state;
  const isWaiting = told === 'waiting_approval' || told === 'waiting_input';
  const isAnswered = event.ask !== undefined && record.answered.includes(event.ask.ask_id);
  return isWaiting && isAnswered ? 'streaming' : told;
}

interface Manner {
  /** It was held long enough. */
  readonly isRipe: boolean;
  readonly isStalled: boolean;
}

function move<Kept extends Machined>(record: Kept, event: MachineEvent, { isRipe, isStalled }: Manner): Kept {
  const noted = settleHeld(remember(record, notesOf(record, event)), event);
  const next = nextOf(noted, event, outcomeOf(noted, event));
  const isMove = next !== record.state;
  const isApproval = isMove && next === 'waiting_approval' && homeOf(event.kind) === next;
  if (isApproval && record.auto_approve && !isRipe) return hold(noted, event, 'auto_approve');
  // It has come whole, or the work is over: nothing is held any more.
  const isWhole = homeOf(event.kind) !== null && event.ask?.ask_id === noted.memory.held?.ask?.ask_id;
  const notes = { ...(isMove || isWhole ? { held: null } : {}), ...(isMove ? { heard_at: event.at } : {}) };
  return land(remember(noted, notes), event, next, isStalled);
}

/** What a person wants. */
function wish<Kept extends Machined>(record: Kept, event: MachineEvent, kind: PersonKind): Step<Kept> {
  const outcome = outcomeOf(record, event);
  if (outcome === '!') return { record, refusal: refusalOf(record, event, kind), changed: false, effect: 'none' };
  if (outcome === '+') return { record, refusal: null, changed: false, effect: 'queue' };
  const next = nextOf(record, event, outcome);
  if (next === record.state) return { record, refusal: null, changed: false, effect: 'none' };
  // Whoever stops it leaves nothing to be answered later (SES4).
  const dropped = kind === 'cancel_session' ? [record.memory.held?.ask?.ask_id] : [];
  const ready = {
    ...remember(record, intentOf(record, event, kind, next)),
    answered: withAnswered(record.answered, dropped),
  };
  return stepped(record, land(ready, event, next, false), event.at, next === 'creating' ? 'spawn' : 'deliver');
}

const freshTurn = { spoke: false, completion_seen: false, was_refused: false, retries: 0, held: null } as const;

/** What a wish means for the memory. */
function intentOf(record: Machined, event: MachineEvent, kind: PersonKind, next: MachineState): Partial<MachineMemory> {
  const { at } = event;
  if (kind === 'cancel_session') return { resumed_at: null, held: null };
  const isAnswer = record.state === 'waiting_approval' || record.state === 'waiting_input';
  if (isAnswer) return { was_refused: kind === 'reject_action' };
  if (next !== 'creating') return { ...freshTurn, resumed_at: at };
  return {
    ...freshTurn,
    resumed_at: at,
    spawned_at: event.said_at ?? at,
    heard_at: at,
    // A conversation that goes on need not be told to exist.
    saw_session: kind !== 'start_session' && record.agent_session !== null,
    saw_request: false,
    requests: [],
  };
}

// What a session is after an event that the table let through: its ask, its reason, its counters. Pure; `record` is as it
// was before, apart from what the machine has noted in its memory.

const endKinds: readonly MachineEventKind[] = [
  'process_exit_zero',
  'process_exit_nonzero',
  'process_error',
  'daemon_restarted',
];
const isEnd = (kind: MachineEventKind): boolean => endKinds.includes(kind);
const isWaiting = (state: MachineState): boolean => state === 'waiting_approval' || state === 'waiting_input';

/** Adds what is not there yet and forgets the oldest (SES5: none is answered twice). */
function withAnswered(answered: readonly string[], ids: readonly (string | undefined)[]): readonly string[] {
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

function land<Kept extends Machined>(record: Kept, event: MachineEvent, next: MachineState, isStalled: boolean): Kept {
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

// Why a session is in its state, in the codes of the one table and in words.

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
function reasonAfter(record: Machined, event: MachineEvent, next: MachineState): ReasonCode | null {
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
  return exit.signal === null
    ? `it exited with status ${exit.code ?? 'unknown'}`
    : `it was terminated by ${exit.signal}`;
}

function wordsOfRetry({ retry }: MachineEvent, count: number): string {
  const status = typeof retry?.status === 'number' ? ` after status ${retry.status}` : '';
  return `retry ${count}${status}`;
}

/** What a person reads beside the reason; null: the reason says it all. */
function wordsAfter(record: Machined, event: MachineEvent): string | null {
  if (event.words !== undefined) return event.words.slice(0, limits.detailCharsMax);
  if (event.kind === 'api_retry_scheduled') return wordsOfRetry(event, record.memory.retries);
  if (event.kind === 'creation_timeout') return `no response for ${limits.sessionStartSilentMs / 1_000} s`;
  return wordsOfExit(event);
}

// Why a wish of a person is refused: what the session is doing, and what would help.

/** What it is doing, as the end of "the session ...". */
const doing: Readonly<Record<MachineState, string>> = {
  idle: 'has not been started',
  creating: 'is starting',
  streaming: 'is working',
  waiting_approval: 'waits for an approval',
  waiting_input: 'waits for an answer',
  completed: 'has finished',
  paused: 'is paused',
  error: 'is in error',
  stopped: 'is stopped',
};

function refusedAnswer(record: Machined, event: MachineEvent): Failure {
  const { pending_ask, answered } = record;
  const isAnswered = event.ask_id !== undefined && answered.includes(event.ask_id);
  if (isAnswered) return failure('E_STATE_CHANGED', 'it was answered already');
  const isOther = event.ask_id !== undefined && pending_ask !== null && pending_ask.ask_id !== event.ask_id;
  if (isOther) return failure('E_STATE_CHANGED', 'the pending request is another one now');
  const next = record.state === 'waiting_input' ? 'answer it: `agtmux session answer`' : undefined;
  return failure('E_STATE_CHANGED', `nothing to approve or reject: the session ${doing[record.state]}`, next);
}

function refusedMessage(record: Machined, event: MachineEvent): Failure {
  if (record.state === 'waiting_approval') {
    const next = 'approve or reject it first: `agtmux session approve`, `agtmux session reject`';
    return failure('E_DIALOG', 'the session waits for an approval, and a message does not give it', next);
  }
  if (record.state === 'waiting_input') return refusedAnswer(record, event);
  const next = record.state === 'error' ? 'retry or stop it: `agtmux session retry`, `agtmux session stop`' : undefined;
  return failure('E_STATE_CHANGED', `the session accepts no message: it ${doing[record.state]}`, next);
}

function refusalOf(record: Machined, event: MachineEvent, kind: PersonKind): Failure {
  switch (kind) {
    case 'approve_action':
    case 'reject_action':
      return refusedAnswer(record, event);
    case 'send_message':
      return refusedMessage(record, event);
    case 'start_session':
      return failure(
        'E_STATE_CHANGED',
        `the session ${doing[record.state]}; it cannot be started again`,
        'stop it first: `agtmux session stop`',
      );
    case 'resume_session':
      return failure('E_STATE_CHANGED', `nothing to resume: the session ${doing[record.state]}`);
    case 'retry':
      return failure('E_STATE_CHANGED', `nothing to retry: the session ${doing[record.state]}`);
    case 'cancel_session':
      return failure('E_STATE_CHANGED', `nothing to stop: the session ${doing[record.state]}`);
  }
}
