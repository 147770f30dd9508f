// The life of a managed session as data (SES1): for every state and every event what comes next, and where that cell comes
// from. Nothing here decides; sessions/machine looks up a cell, and sessions/machine-guards answers the named questions.

import { isGentle } from '../agents/protocol/adapter.ts';
import { limits } from '../model/limits.ts';
import { type MachineEvent, type MachineEventKind, type MachineState, machineStates } from '../model/sessions.ts';
import type { Machined } from './machine-memory.ts';

/** The states as the table writes them, in the order of its columns. */
export const shortNames = {
  ID: 'idle',
  CR: 'creating',
  ST: 'streaming',
  WA: 'waiting_approval',
  WI: 'waiting_input',
  CO: 'completed',
  PA: 'paused',
  ER: 'error',
  SP: 'stopped',
} as const satisfies Record<string, MachineState>;

/** What else a cell may say than a state. */
export const otherOutcomes = {
  '=': 'no change',
  '!': 'refused, no change',
  '+': 'no change; the message waits for its turn',
  '@': 'the state that the event names',
} as const;

export const origins = {
  T: 'the table of the founding document',
  D: 'only its diagram',
  E: 'only its entry conditions',
  U: 'follows from its table of buttons',
  C: 'only the program it was written for',
  N: 'new: the document is silent',
  X: 'differs from the document, which agents disprove',
} as const;

/** The questions that a cell with two outcomes asks. */
export const guards = {
  begun: 'its session and a request were both seen, or this agent never tells of its session, or it is resumed',
  resumed: 'somebody resumed it after it was stopped',
  live: 'the agent dates the ask after its start, so it is no history',
  spoke: 'the turn had any output, or was said to be complete',
  gentle: 'ended by INT, TERM or HUP, or with the status that stands for one (129, 130, 143)',
  asked: 'the answer names what is asked now, or nothing, and that was not answered yet',
  guidable: 'its process is alive and what it asks takes words for an answer',
  alive: 'its process is alive; otherwise it is started again',
  bearable: 'at most 3 retries, and not because of 401, 402, 403 or 404',
  passing: 'the error was only that it kept retrying or was silent',
  ofAsk: 'it is about what is asked now, or about nothing by name',
  awake: 'the event names a state in which the agent works or waits',
} as const;

type ShortName = keyof typeof shortNames;
export type Outcome = ShortName | keyof typeof otherOutcomes;
type Origin = keyof typeof origins;
type GuardName = keyof typeof guards;
type CellText = `${Outcome} ${Origin}` | `${GuardName}?${Outcome}:${Outcome} ${Origin}`;
type Columns<Value> = readonly [Value, Value, Value, Value, Value, Value, Value, Value, Value];

/** One row an event, one column a state in the order of `shortNames`; `guard?yes:no`, then the origin. */
export const rows = {
  start_session: ['CR T', '! N', '! N', '! N', '! N', 'CR T', 'CR N', 'CR N', 'CR T'],
  session_created: ['CR X', 'begun?ST:= T', '= N', '= N', '= N', '= N', '= N', '= N', '= N'],
  api_req_started: ['ST C', 'begun?ST:= T', '= C', 'ST T', 'ST C', 'ST C', 'ST C', 'ST C', 'resumed?ST:= X'],
  'say:text': ['= N', '= N', '= T', '= N', '= N', '= N', '= N', 'passing?ST:= N', '= N'],
  'say:completion_result': ['CO N', 'CO N', 'CO C', 'CO N', 'CO N', '= N', 'CO N', 'CO N', '= N'],
  'say:checkpoint_saved': ['= N', '= N', '= N', '= N', '= N', '= N', '= N', '= N', '= N'],
  'ask:tool': ['WA N', 'WA N', 'WA T', '= N', 'WA N', 'WA N', 'live?WA:= N', 'WA N', '= N'],
  'ask:command': ['WA N', 'WA N', 'WA T', '= N', 'WA N', 'WA N', 'live?WA:= N', 'WA N', '= N'],
  'ask:browser_action_launch': ['WA N', 'WA N', 'WA C', '= N', 'WA N', 'WA N', 'live?WA:= N', 'WA N', '= N'],
  'ask:use_mcp_server': ['WA N', 'WA N', 'WA C', '= N', 'WA N', 'WA N', 'live?WA:= N', 'WA N', '= N'],
  'ask:followup': ['WI N', 'WI N', 'WI T', 'WI N', '= N', 'WI N', 'live?WI:= N', 'WI N', '= N'],
  'ask:completion_result': ['CO N', 'CO N', 'CO T', 'CO N', 'CO N', '= N', 'CO N', 'CO N', '= N'],
  'ask:api_req_failed': ['ER N', 'ER C', 'ER T', 'ER N', 'ER N', 'ER N', 'ER N', '= N', '= N'],
  'ask:mistake_limit_reached': ['ER N', 'ER N', 'ER T', 'ER N', 'ER N', 'ER N', 'ER N', '= N', '= N'],
  'ask:invalid_model': ['ER N', 'ER N', 'ER E', 'ER N', 'ER N', 'ER N', 'ER N', '= N', '= N'],
  'ask:payment_required_prompt': ['ER N', 'ER C', 'ER D', 'ER N', 'ER N', 'ER N', 'ER N', '= N', '= N'],
  'ask:resume_task': ['PA N', 'PA N', 'PA T', 'PA N', 'PA N', 'PA N', '= N', 'PA N', '= N'],
  'ask:resume_completed_task': ['PA N', 'PA N', 'PA E', 'PA N', 'PA N', '= X', '= N', 'PA N', '= N'],
  process_exit_zero: ['= X', 'ER X', 'spoke?CO:ER T', 'PA N', 'PA N', '= T', '= N', '= N', '= X'],
  process_exit_nonzero: [
    '= X',
    'ER T',
    'gentle?SP:ER T',
    'gentle?SP:ER T',
    'gentle?SP:ER T',
    '= X',
    'gentle?=:ER T',
    '= T',
    '= X',
  ],
  process_error: ['= N', 'ER T', 'ER N', 'ER N', 'ER N', '= N', 'ER N', '= N', '= N'],
  send_message: [
    '! N',
    '+ N',
    '+ N',
    '! N',
    'asked?ST:! T',
    'alive?ST:CR T',
    'alive?ST:CR U',
    'guidable?ST:! N',
    'alive?ST:CR U',
  ],
  approve_action: ['! N', '! N', '! N', 'asked?ST:! T', '! N', '! N', '! N', '! N', '! N'],
  reject_action: ['! N', '! N', '! N', 'asked?ST:! T', '! N', '! N', '! N', '! N', '! N'],
  cancel_session: ['= N', 'SP C', 'SP T', 'SP T', 'SP T', '= X', 'SP T', 'SP T', '= N'],
  resume_session: [
    'CR N',
    '! N',
    '! N',
    '! N',
    '! N',
    'alive?ST:CR U',
    'alive?ST:CR T',
    'alive?ST:CR D',
    'alive?ST:CR T',
  ],
  retry: ['! N', '! N', '! N', '! N', '! N', '! N', '! N', 'alive?ST:CR T', '! N'],

  // What real agents need besides.
  creation_timeout: ['= N', 'ER N', '= N', '= N', '= N', '= N', '= N', '= N', '= N'],
  // Before the table is asked, this becomes the ask that stood still; alone it is nothing.
  partial_stall: ['= N', '= N', '= N', '= N', '= N', '= N', '= N', '= N', '= N'],
  api_retry_scheduled: ['= N', 'bearable?=:ER N', 'bearable?=:ER N', '= N', '= N', '= N', '= N', '= N', '= N'],
  api_retried: ['= N', '= N', '= N', '= N', '= N', '= N', '= N', 'ST N', '= N'],
  command_output: ['= N', '= N', '= N', 'ofAsk?ST:= N', '= N', '= N', '= N', 'passing?ST:= N', '= N'],
  user_feedback: ['= N', '= N', '= N', 'ofAsk?ST:= N', 'ofAsk?ST:= N', '= N', 'ofAsk?ST:= N', 'ofAsk?ST:= N', '= N'],
  'say:error': ['= N', '= N', '= N', '= N', '= N', '= N', '= N', '= N', '= N'],
  session_renamed: ['= N', '= N', '= N', '= N', '= N', '= N', '= N', '= N', '= N'],
  usage_update: ['= N', '= N', '= N', '= N', '= N', '= N', '= N', '= N', '= N'],
  mode_changed: ['= N', '= N', '= N', '= N', '= N', '= N', '= N', '= N', '= N'],
  heartbeat_lost: ['= N', 'ER N', 'ER N', '= N', '= N', '= N', '= N', '= N', '= N'],
  turn_cancelled: ['= N', 'PA N', 'PA N', 'PA N', 'PA N', '= N', '= N', '= N', '= N'],
  daemon_restarted: ['= N', 'PA N', 'PA N', 'PA N', 'PA N', '= N', '= N', '= N', '= N'],
  rejoined: ['@ N', '@ N', '@ N', '@ N', '@ N', '@ N', '@ N', '@ N', 'awake?@:= N'],
} as const satisfies Record<MachineEventKind, Columns<CellText>>;

export interface Cell {
  readonly origin: Origin;
  /** Null: there is one outcome, and it is `yes`. */
  readonly guard: GuardName | null;
  readonly yes: Outcome;
  readonly no: Outcome;
}

function read(text: CellText): Cell {
  const [what = '', origin = ''] = text.split(' ');
  const [guard = '', outcomes] = what.split('?');
  const [yes = '', no = yes] = (outcomes ?? what).split(':');
  return {
    origin: origin as Origin,
    guard: outcomes === undefined ? null : (guard as GuardName),
    yes: yes as Outcome,
    no: no as Outcome,
  };
}

const cells: ReadonlyMap<string, Cell> = new Map(
  Object.entries(rows).flatMap(([kind, columns]) =>
    columns.map((text, index) => [`${kind} ${machineStates[index]}`, read(text)] as const),
  ),
);

/** For words that are in no table, as a damaged file could hold them: nothing happens. */
const nothing: Cell = { origin: 'N', guard: null, yes: '=', no: '=' };

export function cellOf(state: MachineState, kind: MachineEventKind): Cell {
  return cells.get(`${kind} ${state}`) ?? nothing;
}

/** Null: the outcome is none of the states. */
export function stateOf(outcome: Outcome): MachineState | null {
  return Object.hasOwn(shortNames, outcome) ? shortNames[outcome as ShortName] : null;
}

// The questions of the table's cells, each answered from the record and the event alone (SES1).

/** Trying again does not make these right. */
const hopelessStatuses = [401, 402, 403, 404];

/** Errors that end by themselves when the agent is heard again. */
const passingReasons: readonly (string | null)[] = ['needs_action', 'heartbeat_lost'];

/** States in which a prompt is open. */
const awakeStates: readonly (MachineState | undefined)[] = [
  'creating',
  'streaming',
  'waiting_approval',
  'waiting_input',
  'error',
];

function isOfAsk({ pending_ask }: Machined, { ask_id }: MachineEvent): boolean {
  return pending_ask !== null && (ask_id === undefined || ask_id === pending_ask.ask_id);
}

export const guardTests: Readonly<Record<GuardName, (record: Machined, event: MachineEvent) => boolean>> = {
  begun: ({ memory }) => memory.saw_request && (memory.saw_session || memory.has_no_created),
  resumed: ({ memory }, { at }) => memory.resumed_at !== null && at >= memory.resumed_at,
  // What is older than the start never comes to the table, so a date is enough.
  live: (_, { said_at }) => said_at !== undefined,
  spoke: ({ memory }) => memory.spoke || memory.completion_seen,
  gentle: (_, { exit }) => isGentle(exit),
  asked: (record, event) => isOfAsk(record, event) && !record.answered.includes(record.pending_ask?.ask_id ?? ''),
  guidable: ({ pending_ask, reason }, { is_alive }) =>
    is_alive !== false && (pending_ask === null ? reason === 'mistake_limit' : pending_ask.accepts.includes('text')),
  alive: (_, { is_alive }) => is_alive !== false,
  bearable: ({ memory }, { retry }) =>
    memory.retries <= limits.sessionRetriesMax && !hopelessStatuses.includes(retry?.status ?? 0),
  passing: ({ reason }) => passingReasons.includes(reason),
  ofAsk: isOfAsk,
  awake: (_, { state }) => awakeStates.includes(state),
};
