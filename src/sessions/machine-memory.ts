// What the machine keeps of a session beside what people see of it, and how both begin. Plain data: it is saved as it is.

import type { UserAction } from '../agents/protocol/adapter.ts';
import type { AskKind } from '../model/asks.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import { askId, mainScope } from '../model/ids.ts';
import type {
  MachineEvent,
  MachineEventKind,
  MachineState,
  PendingAsk,
  SessionCommand,
  SessionRecord,
} from '../model/sessions.ts';

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

// The events of the machine in groups: who makes them, and which state an ask leads to.

export const personKinds = [
  'start_session',
  'send_message',
  'approve_action',
  'reject_action',
  'cancel_session',
  'resume_session',
  'retry',
] as const satisfies readonly MachineEventKind[];
export type PersonKind = (typeof personKinds)[number];

export function isPersonKind(kind: MachineEventKind): kind is PersonKind {
  return (personKinds as readonly MachineEventKind[]).includes(kind);
}

/** Not from the agent: none of these is a sign of life, and none can be history. */
const ownKinds: readonly MachineEventKind[] = [
  'process_exit_zero',
  'process_exit_nonzero',
  'process_error',
  'creation_timeout',
  'partial_stall',
  'heartbeat_lost',
  'daemon_restarted',
  'rejoined',
];

export function isAgentKind(kind: MachineEventKind): boolean {
  return !ownKinds.includes(kind) && !isPersonKind(kind);
}

/** Where a session waits with each ask. */
const homes: Partial<Readonly<Record<MachineEventKind, MachineState>>> = {
  'ask:tool': 'waiting_approval',
  'ask:command': 'waiting_approval',
  'ask:browser_action_launch': 'waiting_approval',
  'ask:use_mcp_server': 'waiting_approval',
  'ask:followup': 'waiting_input',
  'ask:completion_result': 'completed',
  'ask:api_req_failed': 'error',
  'ask:mistake_limit_reached': 'error',
  'ask:invalid_model': 'error',
  'ask:payment_required_prompt': 'error',
  'ask:resume_task': 'paused',
  'ask:resume_completed_task': 'paused',
};

/** Null: it is no ask. */
export function homeOf(kind: MachineEventKind): MachineState | null {
  return homes[kind] ?? null;
}

export const isResumeAsk = (kind: MachineEventKind): boolean =>
  kind === 'ask:resume_task' || kind === 'ask:resume_completed_task';

/** Who waits must know for what: an ask that came without its words gets some, and an id that is nobody else's. */
export function askOf(event: MachineEvent, version: number): PendingAsk {
  if (event.ask !== undefined) return event.ask;
  const isQuestion = event.kind === 'ask:followup' || event.state === 'waiting_input';
  const kind: AskKind = isQuestion ? 'question' : event.kind === 'ask:command' ? 'command' : 'tool';
  return {
    ask_id: askId(`unnamed-${version}`),
    kind,
    scope: mainScope,
    text: event.words ?? '',
    options: [],
    accepts: isQuestion ? ['text'] : ['approve', 'reject'],
  };
}

// What a person wants of a session, said twice: as the machine's event and as what the adapter has to do. Whether it is
// allowed is the table's business, not this file's.

interface Want {
  readonly event: MachineEvent;
  /** What the adapter does when the step says `deliver`. */
  readonly deed: UserAction;
}

export type SessionAction =
  | Exclude<SessionCommand, { readonly action: 'remove' | 'send' }>
  /** `is_plain`: a message and no more. It is never taken for the answer to what is asked. */
  | (Extract<SessionCommand, { readonly action: 'send' }> & { readonly is_plain?: boolean });
type Answer = Extract<SessionCommand, { readonly action: 'answer' }>;

const naming = (id: string | undefined): { readonly ask_id?: string } => (id === undefined ? {} : { ask_id: id });

/** Whatever is said to it now counts as the answer to what it asks. */
export const takesWordsForAnswer = ({ pending_ask, state }: Pick<Machined, 'pending_ask' | 'state'>): boolean =>
  pending_ask !== null && (state === 'waiting_input' || (state === 'error' && pending_ask.accepts.includes('text')));

/** Words to an agent: the answer to what it asks, the word it waits for, or a message of their own. */
function deedOfWords(record: Machined, text: string): UserAction {
  const { pending_ask, state } = record;
  if (pending_ask !== null && takesWordsForAnswer(record)) return { kind: 'write', ask_id: pending_ask.ask_id, text };
  // Where it asked whether to go on, words are the answer to that.
  return state === 'paused' && pending_ask !== null ? { kind: 'continue', text } : { kind: 'send', text };
}

function chosenOf(ask: PendingAsk, option: string): Result<string> {
  const found = ask.options.find(({ id, label }) => id === option || label === option);
  if (found !== undefined) return ok(found.id);
  const known = ask.options.map(({ id, label }) => (id === label ? id : `${id} (${label})`)).join(', ');
  return fail(
    'E_INPUT',
    `there is no option ${option}; ${known === '' ? 'it has no options' : `its options are ${known}`}`,
  );
}

function wantOfAnswer(record: Machined, deed: Answer, at: number): Result<Want> {
  const ask = record.pending_ask;
  const isApproval = record.state === 'waiting_approval';
  const event: MachineEvent = {
    kind: isApproval ? 'approve_action' : 'send_message',
    at,
    ...naming(deed.ask_id ?? ask?.ask_id),
  };
  const isWaiting = isApproval || record.state === 'waiting_input' || record.state === 'error';
  if (ask === null || !isWaiting) return fail('E_STATE_CHANGED', 'there is no pending request now');
  if (deed.option !== undefined) {
    const chosen = chosenOf(ask, deed.option);
    return chosen.ok ? ok({ event, deed: { kind: 'choose', ask_id: ask.ask_id, option: chosen.value } }) : chosen;
  }
  if (deed.text === undefined) return fail('E_INPUT', 'an answer needs an option or some text');
  if (!ask.accepts.includes('text')) {
    const next = isApproval
      ? 'approve it, or reject it with a reason: `agtmux session reject --because`'
      : 'choose one of its options';
    return fail('E_INPUT', 'it accepts no text as an answer', next);
  }
  return ok({ event, deed: { kind: 'write', ask_id: ask.ask_id, text: deed.text } });
}

/** `isAlive`: there is a process or a server that can be told. */
export function wantOf(record: Machined, deed: SessionAction, at: number, isAlive: boolean): Result<Want> {
  const pendingId = record.pending_ask?.ask_id;
  switch (deed.action) {
    case 'send':
      if (deed.is_plain === true && takesWordsForAnswer(record)) {
        const next = 'answer it first: `agtmux session answer`';
        return fail('E_DIALOG', 'the session has a pending request, and this message does not answer it', next);
      }
      return ok({ event: { kind: 'send_message', at, is_alive: isAlive }, deed: deedOfWords(record, deed.text) });
    case 'approve': {
      const id = deed.ask_id ?? pendingId;
      return ok({
        event: { kind: 'approve_action', at, ...naming(id) },
        deed: { kind: 'approve', ask_id: id ?? '' },
      });
    }
    case 'reject': {
      const id = deed.ask_id ?? pendingId;
      return ok({
        event: { kind: 'reject_action', at, ...naming(id) },
        deed: { kind: 'reject', ask_id: id ?? '', because: deed.because ?? null },
      });
    }
    case 'answer':
      return wantOfAnswer(record, deed, at);
    case 'stop':
      return ok({ event: { kind: 'cancel_session', at }, deed: { kind: 'cancel' } });
    case 'resume':
      return ok({
        event: { kind: 'resume_session', at, is_alive: isAlive },
        deed: { kind: 'continue', text: deed.text ?? null },
      });
    case 'retry':
      return ok({ event: { kind: 'retry', at, is_alive: isAlive }, deed: { kind: 'retry' } });
  }
}

/** With these a turn is over. */
export const turnEnds: readonly MachineEventKind[] = [
  'turn_cancelled',
  'say:completion_result',
  'ask:completion_result',
  'ask:api_req_failed',
];
