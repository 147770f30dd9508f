// What Copilot's hooks mean. They tell less than its journal: nothing when a person interrupts, approves or refuses, and no
// ids. So they open no asks, which only the journal could settle by name; they say that one is open, and who reads the
// journal or the screen says which.

import type { StateFact } from '../../model/events.ts';
import { type AgentSessionId, agentSessionId, mainScope } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Confidence } from '../../model/states.ts';
import type { Finding, HookCall, HookReader } from '../contract.ts';
import { type Fields, textOf } from '../fields.ts';

export const hooks: HookReader = {
  // Not preToolUse, which comes before the approval, and not permissionRequest, which also comes for what no person is
  // asked about.
  events: [
    ...['userPromptSubmitted', 'notification', 'postToolUse', 'postToolUseFailure'],
    ...['errorOccurred', 'agentStop', 'sessionEnd'],
  ],
  stored: ['sessionId', 'notification_type', 'toolName', 'stopReason', 'reason', 'recoverable'],
  session: (call) => sessionOf(call),
  prompt: ({ event, payload }) =>
    event === 'userPromptSubmitted' && isFromPerson(payload ?? {}) ? textOf(payload?.prompt) : null,
  read: (call) => factsOf(call).map((fact) => ({ fact, time: call.time })),
};

function sessionOf({ payload }: HookCall): AgentSessionId | null {
  const id = textOf(payload?.sessionId);
  return id === null || id.length > limits.idCharsMax ? null : agentSessionId(id);
}

type Said = Finding['fact'];

const overNow: Said = { kind: 'turn.ended', scope: mainScope };

const isState = (
  state: StateFact['state'],
  reason: StateFact['reason'],
  detail: string | null = null,
  confidence: Confidence = 'high',
): StateFact => ({
  kind: 'state.observed',
  state,
  reason,
  confidence,
  ...(detail === null ? {} : { detail: detail.slice(0, limits.detailCharsMax) }),
});

/** It takes back what was said before and leaves the word to journal and screen. */
const cannotTell = isState('unknown', 'unsupported_signal', null, 'low');

function factsOf(call: HookCall): readonly Said[] {
  const payload = call.payload ?? {};
  switch (call.event) {
    case 'userPromptSubmitted':
      // A shell that ended in the background also comes as a prompt. The agent works on it, but no person typed, so a
      // dialog may still be open.
      return isFromPerson(payload)
        ? [overNow, isState('running', 'turn_running')]
        : [isState('running', 'turn_running')];
    case 'notification':
      return notified(payload);
    case 'postToolUse':
    case 'postToolUseFailure':
      return [isState('running', 'turn_running')];
    case 'errorOccurred':
      return [failed(payload)];
    case 'agentStop':
      return [overNow, payload.stopReason === 'end_turn' ? isState('completed', 'turn_completed') : cannotTell];
    case 'sessionEnd':
      return payload.reason === 'user_exit' || payload.reason === 'complete' ? [{ kind: 'runtime.goodbye' }] : [];
    default:
      return [];
  }
}

const isFromPerson = (payload: Fields): boolean =>
  !(textOf(payload.prompt) ?? '').trimStart().startsWith('<system_notification>');

function notified(payload: Fields): readonly Said[] {
  const message = textOf(payload.message);
  switch (payload.notification_type) {
    case 'permission_prompt':
      return [isState('waiting_approval', 'approval_asked', message)];
    case 'elicitation_dialog':
      return [isState('waiting_input', 'question_asked', message)];
    // A shell or a subagent that has ended changes nothing here; what the agent makes of it is told by other calls.
    default:
      return [];
  }
}

/** Called for every attempt, and also for the last one, after which nothing more is called: it may go on or be over. */
function failed(payload: Fields): StateFact {
  if (payload.recoverable !== false) return cannotTell;
  const error = payload.error;
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  return isState('error', 'api_error', textOf(message));
}
