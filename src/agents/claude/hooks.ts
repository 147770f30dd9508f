// What the hooks of Claude Code mean. They tell when a turn begins and ends, and what is asked; they are silent on Esc, on
// what a person answers to a dialog, and on retries, so the registry, the transcript and the screen speak there.

import type { StateFact } from '../../model/events.ts';
import { type AskId, agentSessionId, askId, mainScope, type ScopeId, scopeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { ReasonCode } from '../../model/reasons.ts';
import type { StateName } from '../../model/states.ts';
import type { Finding, HookCall, HookReader } from '../contract.ts';
import { type Fields, fieldsOf, idOf, rowsOf, textOf } from '../fields.ts';
import { askOf, contentId, kindOf, summaryOf, type ToolCall } from './asks.ts';

type Fact = Finding['fact'];
type Reading = (payload: Fields, memory: Memory) => readonly Fact[];

/** What calls leave out and earlier ones told. */
interface Memory {
  /** Ids of tool calls by their content: PermissionRequest comes right after PreToolUse and does not repeat the id. */
  readonly calls: Map<AskId, AskId>;
  /** By conversation: the prompt it works on, and whether another one was typed meanwhile. */
  readonly prompts: Map<string, { readonly prompt: string; readonly isQueued: boolean }>;
}

const readings: Readonly<Record<string, Reading>> = {
  SessionStart: ({ source }) =>
    source === 'compact' ? [] : [state('idle', 'prompt_ready'), { kind: 'turn.ended', scope: mainScope }],
  UserPromptSubmit: readPrompt,
  PreToolUse: readToolStart,
  PermissionRequest: readRequest,
  PermissionDenied: (payload) => readToolEnd(payload, 'denied'),
  PostToolUse: (payload) => readToolEnd(payload, 'result'),
  PostToolUseFailure: (payload) => readToolEnd(payload, 'result'),
  Notification: readNotification,
  Stop: readStop,
  StopFailure: readFailure,
  SubagentStop: readSubagentStop,
  PreCompact: () => [state('running', 'compacting')],
  // Asked for, it ends where it began; in the middle of a turn the turn goes on.
  PostCompact: ({ trigger }) => [trigger === 'auto' ? state('running', 'turn_running') : state('idle', 'prompt_ready')],
  SessionEnd: ({ reason }) => (stays.includes(textOf(reason) ?? '') ? [] : [{ kind: 'runtime.goodbye' }]),
};

/**
 * A version skips the whole settings file, its user's own settings included, when that names an event it does not know:
 * 2.0 with a dialog at every start. So these are wanted only where the version is known to be 2.1 or later; what they tell
 * is in the transcript and the registry as well.
 */
export const eventsSince21: readonly string[] = ['StopFailure', 'PostCompact', 'PermissionDenied'];

/** Ends of a conversation after which the same process goes on with another one. */
const stays = ['clear', 'compact', 'resume'];

/** Memory is per reader; a reader that was not there for the start of a call falls back to the call's content. */
export function hookReader(): HookReader {
  const memory: Memory = { calls: new Map(), prompts: new Map() };
  return {
    events: Object.keys(readings).filter((event) => !eventsSince21.includes(event)),
    stored: [
      ...['hook_event_name', 'session_id', 'prompt_id', 'permission_mode', 'agent_id', 'agent_type', 'tool_name'],
      ...['tool_use_id', 'notification_type', 'source', 'reason', 'error', 'trigger', 'stop_hook_active'],
    ],
    session: ({ payload }) => {
      const session = idOf(payload?.session_id);
      return session === null ? null : agentSessionId(session);
    },
    prompt: ({ event, payload }) => {
      if (event === 'SessionStart' && payload?.source === 'clear') return '';
      return event === 'UserPromptSubmit' && idOf(payload?.agent_id) === null ? textOf(payload?.prompt) : null;
    },
    read: ({ event, payload, time }: HookCall) => {
      const reading = Object.hasOwn(readings, event) ? readings[event] : undefined;
      if (reading === undefined || payload === null) return [];
      return reading(payload, memory).map((fact) => ({ fact, time }));
    },
  };
}

export const hooks: HookReader = hookReader();

function state(name: StateName, reason: ReasonCode, detail: string | null = null): StateFact {
  const words = detail === null ? {} : { detail: detail.slice(0, limits.detailCharsMax) };
  return { kind: 'state.observed', state: name, reason, confidence: 'high', ...words };
}

const scopeOf = (payload: Fields): ScopeId => {
  const agent = idOf(payload.agent_id);
  return agent === null ? mainScope : scopeId(agent);
};

/** Null where it names no tool. */
export function callOf(payload: Fields): ToolCall | null {
  const tool = idOf(payload.tool_name);
  if (tool === null) return null;
  return {
    session: idOf(payload.session_id) ?? '',
    prompt: idOf(payload.prompt_id) ?? '',
    scope: scopeOf(payload),
    tool,
    input: fieldsOf(payload.tool_input) ?? {},
  };
}

function readToolStart(payload: Fields, memory: Memory): readonly Fact[] {
  const call = callOf(payload);
  if (call === null) return [];
  const id = idOf(payload.tool_use_id);
  if (id !== null) remember(memory.calls, contentId(call), askId(id));
  // These two only open a dialog: nothing runs.
  const isDialog = kindOf(call.tool) === 'question' || kindOf(call.tool) === 'plan';
  return isDialog ? [] : [state('running', 'tool_running', summaryOf(call.tool, call.input))];
}

function remember<Name, Known>(memory: Map<Name, Known>, name: Name, known: Known): void {
  memory.delete(name);
  memory.set(name, known);
  const oldest = memory.size > limits.hookCallsMax ? memory.keys().next() : null;
  if (oldest?.value !== undefined) memory.delete(oldest.value);
}

/** A message that is typed while a turn runs is told at once, under the id of that turn. */
function readPrompt(payload: Fields, { prompts }: Memory): readonly Fact[] {
  const session = idOf(payload.session_id);
  const prompt = idOf(payload.prompt_id);
  if (session !== null && prompt !== null)
    remember(prompts, session, { prompt, isQueued: prompts.get(session)?.prompt === prompt });
  return [state('running', 'turn_running')];
}

function readRequest(payload: Fields, memory: Memory): readonly Fact[] {
  const call = callOf(payload);
  if (call === null) return [];
  const content = contentId(call);
  const id = idOf(payload.tool_use_id);
  return [{ kind: 'ask.opened', ask: askOf(call, id === null ? (memory.calls.get(content) ?? content) : askId(id)) }];
}

/** Both ids are settled: the request may have been read by a reader that did not know the call's own. */
function readToolEnd(payload: Fields, how: 'result' | 'denied'): readonly Fact[] {
  const call = callOf(payload);
  if (call === null) return [];
  const id = idOf(payload.tool_use_id);
  const settled = [contentId(call), ...(id === null ? [] : [askId(id)])];
  return [
    ...settled.map((ask_id) => ({ kind: 'ask.settled', ask_id, how }) as const),
    state('running', 'turn_running'),
  ];
}

/**
 * Notifications come 6 s after the fact. They count only where no other hook tells: dialogs of the automatic mode, and
 * versions before PermissionRequest, which do not say what kind of notification it is.
 */
function readNotification(payload: Fields): readonly Fact[] {
  const message = textOf(payload.message);
  switch (payload.notification_type) {
    case 'agent_needs_input':
      return [state('waiting_input', 'dialog_open', message)];
    case 'elicitation_dialog':
    case 'elicitation_url_dialog':
      return [state('waiting_input', 'question_asked', message)];
    case 'worker_permission_prompt':
      return [state('waiting_approval', 'approval_asked', message)];
    case undefined:
      return message !== null && /needs your (permission|approval)/.test(message)
        ? [state('waiting_approval', 'approval_asked', message)]
        : [];
    default:
      return [];
  }
}

interface Tasks {
  readonly shells: number;
  readonly agents: number;
}

/** Null where this version does not tell. The one that just stopped is still in its own list. */
function tasksOf(payload: Fields, stopped: string | null): Tasks | null {
  if (!Array.isArray(payload.background_tasks)) return null;
  let [shells, agents] = [0, 0];
  for (const task of rowsOf(payload.background_tasks)) {
    if (task.status !== 'running' || (stopped !== null && task.id === stopped)) continue;
    if (task.type === 'shell') shells += 1;
    else agents += 1;
  }
  return { shells, agents };
}

const counted = (tasks: Tasks | null): readonly Fact[] =>
  tasks === null ? [] : [{ kind: 'background.counted', ...tasks }];

/**
 * The main turn is over; as long as subagents work for it, so does the agent. Their asks stay open (ASK4). A message that
 * waited is taken up now, and no hook tells of it; should it have been taken up within the turn, the registry says idle.
 */
function readStop(payload: Fields, { prompts }: Memory): readonly Fact[] {
  const session = idOf(payload.session_id) ?? '';
  const isQueued = prompts.get(session)?.isQueued === true;
  prompts.delete(session);
  const tasks = tasksOf(payload, null);
  const agents = tasks?.agents ?? 0;
  return [
    { kind: 'turn.ended', scope: mainScope },
    ...counted(tasks),
    agents > 0
      ? state('running', 'turn_running', `waits for ${agents} ${agents === 1 ? 'subagent' : 'subagents'}`)
      : isQueued
        ? state('running', 'turn_running')
        : state('completed', 'turn_completed'),
  ];
}

function readSubagentStop(payload: Fields): readonly Fact[] {
  const agent = idOf(payload.agent_id);
  if (agent === null) return [];
  return [{ kind: 'turn.ended', scope: scopeId(agent) }, ...counted(tasksOf(payload, agent))];
}

function readFailure(payload: Fields): readonly Fact[] {
  const message = textOf(payload.last_assistant_message) ?? textOf(payload.error);
  return [{ kind: 'turn.ended', scope: mainScope }, failed(textOf(payload.error), message)];
}

function failed(error: string | null, message: string | null): StateFact {
  if (message !== null && usageLimit.test(message)) {
    // Some versions write the moment of the reset behind the words, in seconds since 1970.
    const seconds = /\|(\d{10})\b/.exec(message)?.[1];
    const until = seconds === undefined ? {} : { until: Number(seconds) * 1_000 };
    return { ...state('error', 'usage_limit', message), ...until };
  }
  return state('error', error === 'authentication_failed' ? 'login_needed' : 'api_error', message);
}

const usageLimit =
  /usage limit reached|you've (hit|reached) your .{0,40}limit|\b(session|weekly|hour|opus|sonnet) limit reached/i;
