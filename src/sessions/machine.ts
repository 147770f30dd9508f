// The machine of managed sessions: one pure step over the table (SES1). It is total: every event is taken in every state,
// and what a person may not do is refused with a reason. Time comes in with the events; `dueOf` says when `tick` is wanted.

import type { Failure } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { MachineEvent, MachineEventKind, MachineState } from '../model/sessions.ts';
import { guardTests } from './machine-guards.ts';
import { homeOf, isAgentKind, isPersonKind, isResumeAsk, type PersonKind } from './machine-kinds.ts';
import { land, withAnswered } from './machine-land.ts';
import type { HeldAsk, Machined, MachineMemory } from './machine-memory.ts';
import { refusalOf } from './machine-refusals.ts';
import { cellOf, type Outcome, stateOf } from './table.ts';

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
  // It was found to be live when it came; a date makes it so again.
  const event: MachineEvent = {
    kind,
    at,
    ...(ask === null ? {} : { ask }),
    ...(words === null ? {} : { words }),
    ...(held.is_dated ? { said_at: at } : {}),
  };
  const freed = remember(record, { held: null });
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
