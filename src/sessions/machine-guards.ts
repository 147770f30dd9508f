// The questions of the table's cells, each answered from the record and the event alone (SES1).

import { limits } from '../model/limits.ts';
import type { MachineEvent, MachineState } from '../model/sessions.ts';
import type { Machined } from './machine-memory.ts';
import type { GuardName } from './table.ts';

type Exit = NonNullable<MachineEvent['exit']>;

const gentleSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Programs that trap a signal leave with 128 and its number, and say that no signal ended them. */
const gentleCodes = [129, 130, 143];

export function isGentle(exit: Exit | undefined): boolean {
  if (exit === undefined) return false;
  if (exit.signal !== null) return gentleSignals.includes(exit.signal);
  return exit.code !== null && gentleCodes.includes(exit.code);
}

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
