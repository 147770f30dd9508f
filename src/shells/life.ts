// The life of a shell as one total, pure function: a record and what happened in, the next record and what follows out.
// What follows is only said here; the keeper does it. The table is data (life-table.ts), the words are in life-words.ts.

import { assert } from '../model/errors.ts';
import type { ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type {
  ShellEndReason,
  ShellEvent,
  ShellId,
  ShellNotice,
  ShellOwner,
  ShellParty,
  ShellRecord,
  ShellRequest,
  ShellResult,
  ShellVia,
} from '../model/shells.ts';
import { type LifeCase, type LifeEffectKind, type LifeRow, type LifeState, lifeTable } from './life-table.ts';
import {
  adoptionWords,
  cancelWords,
  endWords,
  killFailedWords,
  killWords,
  lostEndWords,
  noticeWords,
  promotionWords,
  reasonOf,
  restartWords,
  spawnFailedWords,
  timeoutWords,
} from './life-words.ts';

// Which records can be: every combination of status, end and mode that is none of the known ones is a defect (SHL1, SHL2).

/** What cannot be, in words; null when the record is sound. Also for records that were read from a disk. */
export function problemOf(record: ShellRecord): string | null {
  const { status, exit_code, signal, ended_by, end_reason, kill_requested_by } = record;
  const isEnded = status !== 'running';
  if (!Number.isInteger(record.attempt) || record.attempt < 1) return 'attempts count from 1';
  if (isEnded !== (ended_by !== null)) return 'what has ended was ended by someone, and nothing else was';
  if (isEnded !== (end_reason !== null)) return 'what has ended has a reason, and nothing else has';
  if (isEnded !== (record.ended_at !== null)) return 'what has ended has an end, and nothing else has';
  if (!isEnded)
    return exit_code === null && signal === null ? promotionProblem(record) : 'a running shell has no status';
  if ((status === 'completed') !== (exit_code === 0 && signal === null)) return 'completed means status 0';
  if (record.is_stopped) return 'what has ended is not stopped';
  if (record.is_signal_inferred && (signal === null || exit_code === null)) return 'an inferred signal has its status';
  if (end_reason !== 'spawn_error' && ended_by !== (kill_requested_by ?? 'system')) return 'not ended by who killed it';
  return endProblem(record) ?? promotionProblem(record);
}

function promotionProblem({ start_mode, requested_mode, promoted_by }: ShellRecord): string | null {
  const isMoved = requested_mode === 'foreground' && start_mode === 'background';
  if (requested_mode === 'background' && start_mode === 'foreground') return 'nothing goes to the foreground';
  return isMoved === (promoted_by !== null) ? null : 'what was moved was moved by someone, and nothing else was';
}

/** Which reasons go with which status (the rows of the seed's table of ends). */
function endProblem({ end_reason, exit_code, signal, ended_by, kill_requested_by }: ShellRecord): string | null {
  const hasStatus = exit_code !== null || signal !== null;
  switch (end_reason) {
    case 'exited':
      return exit_code !== null && signal === null && ended_by === 'system' ? null : 'exited means a status of its own';
    case 'signaled':
      return signal !== null && ended_by === 'system' ? null : 'signaled means a signal from outside';
    case 'killed':
      return hasStatus && ended_by !== 'system' ? null : 'killed means by the agent or the user, with a status';
    case 'timeout':
      return hasStatus && kill_requested_by === 'system' ? null : 'timeout means killed by the system, with a status';
    case 'spawn_error':
      return !hasStatus && ended_by === 'system' ? null : 'what could not be started has no status';
    case 'lost':
      return hasStatus ? 'a lost status is not there' : null;
    case null:
      return null;
  }
}

/** Who can ask for something. The system has events of its own: a budget, a timeout. */
export type ShellActor = Exclude<ShellParty, 'system'>;

interface Asked {
  readonly by: ShellActor;
  /** Where a person did it, if it is not the usual one: the panel for a kill, Ctrl+R for the background. */
  readonly via?: ShellVia;
}

interface End {
  /** The agent waits for this very answer: its `shell_run` in the foreground, or its `shell_kill`. */
  readonly awaited: boolean;
}

export type LifeEvent = { readonly at: number } & (
  | { readonly kind: 'started'; readonly process: ProcessIdentity }
  | ({
      readonly kind: 'exit';
      readonly exit_code: number | null;
      readonly signal: string | null;
      readonly is_signal_inferred: boolean;
    } & End)
  | { readonly kind: 'budget_elapsed' }
  | ({ readonly kind: 'background_request' } & Asked)
  | ({ readonly kind: 'kill' } & Asked)
  | { readonly kind: 'kill_failed'; readonly reason: string }
  | ({
      readonly kind: 'resume';
      readonly call_id: string;
      /** Why it could not be run again; null: it can. */
      readonly unavailable: string | null;
    } & Asked)
  | { readonly kind: 'stopped' }
  | { readonly kind: 'continued' }
  | { readonly kind: 'timeout_elapsed' }
  | ({ readonly kind: 'spawn_failed'; readonly reason: string } & End)
  | ({ readonly kind: 'holder_lost' } & End)
  | { readonly kind: 'adopted'; readonly process: ProcessIdentity | null }
  | { readonly kind: 'cancelled' }
);

export type LifeEffect =
  /** To everything that belongs to it, after a look that it is still the same process. */
  | { readonly kind: 'send_term' }
  | { readonly kind: 'continue' }
  | { readonly kind: 'send_kill_later'; readonly after_ms: number }
  /** Begin the attempt that the record now names. */
  | { readonly kind: 'rerun' }
  /** The `shell_run` that waits, if one does. */
  | { readonly kind: 'answer_call'; readonly result: ShellResult; readonly reason: string }
  /** Every kill that waits, if any does. */
  | { readonly kind: 'answer_kills'; readonly result: ShellResult; readonly reason: string };

/** The feed numbers it. */
export type UnnumberedShellEvent = Omit<ShellEvent, 'seq'>;

export interface Step {
  readonly record: ShellRecord;
  /** What whoever asked is told; null when nobody asked, or nothing was to be said. */
  readonly result: ShellResult | null;
  readonly reason: string | null;
  readonly ended_by: ShellParty | null;
  readonly effects: readonly LifeEffect[];
  readonly notices: readonly ShellNotice[];
  readonly events: readonly UnnumberedShellEvent[];
}

export interface Birth {
  readonly shell_id: ShellId;
  readonly owner: ShellOwner;
  readonly wish: ShellRequest;
  readonly at: number;
}

/** The record of a first attempt, before anything was spawned. */
export function bornShell({ shell_id, owner, wish, at }: Birth): ShellRecord {
  const mode = wish.run_in_background ? 'background' : 'foreground';
  return {
    ...unended,
    shell_id,
    attempt: 1,
    call_id: wish.call_id,
    command: wish.command,
    cwd: wish.cwd,
    label: wish.label,
    owner,
    started_by: 'agent',
    status: 'running',
    requested_mode: mode,
    start_mode: mode,
    promoted_by: null,
    budget_ms: wish.budget_ms ?? limits.shellBudgetMs,
    expected_ms: inMs(wish.expected_duration_s),
    timeout_ms: inMs(wish.timeout_s),
    tty: wish.tty,
    started_at: at,
    words: null,
  };
}

const inMs = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1000);

/** What every attempt begins with. */
const unended = {
  is_stopped: false,
  ended_at: null,
  process: null,
  exit_code: null,
  signal: null,
  is_signal_inferred: false,
  ended_by: null,
  end_reason: null,
  kill_requested_by: null,
  log: { bytes: 0, first_offset: 0, is_capped: false },
  seen: false,
} as const;

export function stateOf({ status, start_mode }: Pick<ShellRecord, 'status' | 'start_mode'>): LifeState {
  if (status !== 'running') return status;
  return start_mode === 'foreground' ? 'running_fg' : 'running_bg';
}

const rows: ReadonlyMap<string, LifeRow> = new Map(lifeTable.map((row) => [`${row.state} ${row.event}`, row]));

function holds(when: LifeCase['when'], record: ShellRecord, event: LifeEvent): boolean {
  switch (when) {
    case 'always':
      return true;
    case 'status_zero':
      return event.kind === 'exit' && event.exit_code === 0 && event.signal === null;
    case 'kill_pending':
      return record.kill_requested_by !== null;
    case 'is_stopped':
      return record.is_stopped;
    case 'unavailable':
      return event.kind === 'resume' && event.unavailable !== null;
  }
}

export function step(record: ShellRecord, event: LifeEvent): Step {
  const row = rows.get(`${stateOf(record)} ${event.kind}`);
  const chosen = row?.cases.find(({ when }) => holds(when, record, event));
  assert(chosen !== undefined, `the life of a shell has no row for ${stateOf(record)} and ${event.kind}`);
  const next = changed(record, event, chosen);
  const problem = problemOf(next);
  assert(problem === null, `${record.shell_id}: ${problem}`);
  assert(stateOf(next) === chosen.to, `${record.shell_id}: ${stateOf(next)} instead of ${chosen.to}`);
  const unavailable = event.kind === 'resume' ? event.unavailable : null;
  return {
    record: next,
    result: chosen.result,
    reason: chosen.result === null ? null : reasonOf(chosen.result, next, unavailable),
    // One that runs again was ended by nobody, whoever ended it before.
    ended_by: chosen.result === null ? null : next.ended_by,
    effects: effectsOf(chosen, next),
    notices: noticesOf(chosen, record, next, event),
    events: eventsOf(chosen, record, next, event),
  };
}

function changed(record: ShellRecord, event: LifeEvent, { change }: LifeCase): ShellRecord {
  switch (change) {
    case null:
      return record;
    case 'know_process':
      return event.kind === 'started' ? { ...record, process: event.process } : record;
    case 'finish':
      return finished(record, event);
    case 'promote':
      return promoted(record, event);
    case 'adopt':
      return adopted(record, event);
    case 'request_kill':
      return { ...record, ...killRequest(record, event) };
    case 'forget_kill':
      return {
        ...record,
        kill_requested_by: null,
        words: killFailedWords(record, event.kind === 'kill_failed' ? event.reason : ''),
      };
    case 'stop':
      return { ...record, is_stopped: true };
    case 'continue':
      return { ...record, is_stopped: false };
    case 'restart':
      return restarted(record, event);
  }
}

const isPending = ({ kill_requested_by }: ShellRecord): boolean => kill_requested_by !== null;

function promoted(record: ShellRecord, event: LifeEvent): ShellRecord {
  const by = event.kind === 'background_request' ? event.by : 'system';
  const via = event.kind === 'background_request' ? (event.via ?? null) : null;
  const words = isPending(record) ? record.words : promotionWords(by, record.budget_ms, via);
  return { ...record, start_mode: 'background', promoted_by: by, words };
}

function adopted(record: ShellRecord, event: LifeEvent): ShellRecord {
  const process = record.process ?? (event.kind === 'adopted' ? event.process : null);
  if (record.start_mode === 'background') return { ...record, process };
  const words = isPending(record) ? record.words : adoptionWords;
  return { ...record, process, start_mode: 'background', promoted_by: 'system', words };
}

type KillRequest = Pick<ShellRecord, 'kill_requested_by' | 'words'>;

function killRequest(record: ShellRecord, event: LifeEvent): KillRequest {
  if (event.kind === 'kill') return { kill_requested_by: event.by, words: killWords(event.by, event.via ?? null) };
  if (event.kind === 'cancelled') return { kill_requested_by: 'agent', words: cancelWords };
  return { kill_requested_by: 'system', words: timeoutWords(record.timeout_ms) };
}

function restarted(record: ShellRecord, event: LifeEvent): ShellRecord {
  assert(event.kind === 'resume', 'only a resume runs a shell again');
  return {
    ...record,
    ...unended,
    attempt: record.attempt + 1,
    call_id: event.call_id,
    started_by: event.by,
    status: 'running',
    requested_mode: 'background',
    start_mode: 'background',
    promoted_by: null,
    started_at: event.at,
    words: restartWords(event.by),
  };
}

/** SHL1: whose kill was accepted before the exit was seen has ended it, everything else is the system. */
function finished(record: ShellRecord, event: LifeEvent): ShellRecord {
  const over = { ...record, ended_at: event.at, is_stopped: false, status: 'failed' as const };
  const ended_by = record.kill_requested_by ?? 'system';
  if (event.kind === 'exit') {
    const { exit_code, signal, is_signal_inferred } = event;
    const end = { exit_code, signal, is_signal_inferred };
    const status = exit_code === 0 && signal === null ? 'completed' : 'failed';
    return { ...over, ...end, status, ended_by, end_reason: exitReason(record, signal), words: endWords(record, end) };
  }
  if (event.kind === 'spawn_failed') {
    return { ...over, ended_by: 'system', end_reason: 'spawn_error', words: spawnFailedWords(event.reason) };
  }
  return { ...over, ended_by, end_reason: 'lost', words: lostEndWords(record) };
}

function exitReason({ kill_requested_by }: ShellRecord, signal: string | null): ShellEndReason {
  if (kill_requested_by === 'system') return 'timeout';
  if (kill_requested_by !== null) return 'killed';
  return signal === null ? 'exited' : 'signaled';
}

const effectsOf = (chosen: LifeCase, next: ShellRecord): readonly LifeEffect[] =>
  chosen.effects.map((kind) => effectOf(kind, chosen, next));

function effectOf(kind: LifeEffectKind, { call, kills }: LifeCase, next: ShellRecord): LifeEffect {
  switch (kind) {
    case 'send_term':
    case 'continue':
    case 'rerun':
      return { kind };
    case 'send_kill_later':
      return { kind, after_ms: limits.shellKillMs };
    case 'answer_call':
      assert(call !== null, 'the table says that a call is answered, but not how');
      return { kind, result: call, reason: reasonOf(call, next) };
    case 'answer_kills':
      assert(kills !== null, 'the table says that kills are answered, but not how');
      return { kind, result: kills, reason: reasonOf(kills, next) };
  }
}

/** What others did is always told; what the agent did itself, or waits for, it hears as its answer (SHL7). */
function noticesOf(
  { notice }: LifeCase,
  before: ShellRecord,
  next: ShellRecord,
  event: LifeEvent,
): readonly ShellNotice[] {
  const told = (kind: ShellNotice['kind'], by: ShellParty): readonly ShellNotice[] => [
    { shell_id: next.shell_id, attempt: next.attempt, kind, by, at: event.at, words: noticeWords(kind, by, next) },
  ];
  switch (notice) {
    case null:
      return [];
    case 'promoted':
      if (next.promoted_by === 'user') return told('user_background', 'user');
      return next.promoted_by === 'system' ? told('auto_background', 'system') : [];
    case 'resumed':
      return event.kind === 'resume' && event.by === 'user' ? told('resumed', 'user') : [];
    case 'ended': {
      const by = next.ended_by ?? 'system';
      const isAwaited = 'awaited' in event && event.awaited;
      if (isAwaited && by !== 'user') return [];
      if (next.end_reason === 'lost') return told('lost', by);
      return told(before.kill_requested_by === null ? 'exited' : 'killed', by);
    }
  }
}

const ofPeople: ReadonlySet<string> = new Set(['kill', 'background_request', 'resume']);

function eventsOf(
  { told }: LifeCase,
  before: ShellRecord,
  next: ShellRecord,
  event: LifeEvent,
): readonly UnnumberedShellEvent[] {
  const isByUser = 'by' in event && event.by === 'user';
  // One that ended before anyone looked was started all the same, and so was one whose daemon went away too early.
  const isUnheard = before.process === null && (event.kind === 'exit' || (event.kind === 'adopted' && next.process));
  const kinds = [...(isUnheard ? (['start'] as const) : []), ...told];
  return kinds
    .filter((kind) => isByUser || !ofPeople.has(kind))
    .map((kind) => ({
      kind,
      at: event.at,
      call_id: next.call_id,
      shell_id: next.shell_id,
      attempt: next.attempt,
      pid: next.process?.pid ?? null,
      start_mode: kind === 'start' ? before.start_mode : next.start_mode,
      ended_by: kind === 'terminate' ? next.ended_by : null,
      exit_code: kind === 'terminate' ? next.exit_code : null,
    }));
}
