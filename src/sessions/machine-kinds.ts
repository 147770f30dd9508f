// The events of the machine in groups: who makes them, and which state an ask leads to.

import type { AskKind } from '../model/asks.ts';
import { askId, mainScope } from '../model/ids.ts';
import type { MachineEvent, MachineEventKind, MachineState, PendingAsk } from '../model/sessions.ts';

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
