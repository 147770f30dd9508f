// What Gemini's hooks mean. Its payloads carry no ids of tools or turns, and nothing is called when a person refuses at the
// dialog, so an ask is also over when any later step of the same conversation is heard of.

import { canonical, hashText } from '../../engine/canonical.ts';
import type { Ask, AskKind, AskOption } from '../../model/asks.ts';
import type { StateFact } from '../../model/events.ts';
import { type AgentSessionId, agentSessionId, askId, mainScope } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Finding, HookCall, HookReader } from '../contract.ts';
import { type Fields, fieldsOf, idOf, listOf, textOf } from '../fields.ts';

export const hooks: HookReader = {
  // Not PreCompress, which comes with every request whether something is compressed or not, nor the hooks around the model,
  // which come with every piece of an answer.
  events: ['SessionStart', 'BeforeAgent', 'BeforeTool', 'Notification', 'AfterTool', 'AfterAgent', 'SessionEnd'],
  stored: ['session_id', 'source', 'reason', 'notification_type', 'tool_name'],
  session: (call) => sessionOf(call),
  prompt: ({ event, payload }) => {
    if (event === 'SessionStart' && payload?.source === 'clear') return '';
    return event === 'BeforeAgent' ? textOf(payload?.prompt) : null;
  },
  read: (call) => factsOf(call).map((fact) => ({ fact, time: call.time, ...dedupeOf(call, fact) })),
};

const dedupePrefix = 'goodbye:';

function sessionOf({ payload }: HookCall): AgentSessionId | null {
  const id = idOf(payload?.session_id, limits.idCharsMax - dedupePrefix.length);
  return id === null ? null : agentSessionId(id);
}

type Said = Finding['fact'];

const overNow: Said = { kind: 'turn.ended', scope: mainScope };

const isState = (state: StateFact['state'], reason: StateFact['reason'], detail: string | null = null): StateFact => ({
  kind: 'state.observed',
  state,
  reason,
  confidence: 'high',
  ...(detail === null ? {} : { detail: detail.slice(0, limits.detailCharsMax) }),
});

function factsOf(call: HookCall): readonly Said[] {
  const payload = call.payload ?? {};
  switch (call.event) {
    case 'SessionStart':
      // At a start it is called while the trust dialog may still be open; only /clear leaves nothing but the prompt.
      return payload.source === 'clear' ? [overNow, isState('idle', 'prompt_ready')] : [];
    case 'BeforeAgent':
      return [overNow, isState('running', 'turn_running')];
    case 'BeforeTool':
      return beforeTool(payload, call.time);
    case 'Notification':
      return asked(payload, call.time);
    case 'AfterTool':
      // Dialogs come one after the other and a tool runs after its own, so the one that was open is answered.
      return [overNow, isState('running', 'turn_running')];
    case 'AfterAgent':
      return [overNow, endedSomehow];
    case 'SessionEnd':
      // Also called when trusting a folder makes it start anew; whether it is gone is learned from its process (RSV8).
      return payload.reason === 'clear' ? [] : [{ kind: 'runtime.goodbye' }];
    default:
      return [];
  }
}

/** It comes before the approval, so it says no more than that the turn goes on; only a question is certain to follow. */
function beforeTool(payload: Fields, time: number): readonly Said[] {
  const tool = textOf(payload.tool_name);
  const running = isState('running', 'turn_running', tool);
  if (tool !== 'ask_user') return [running];
  const questions = listOf(fieldsOf(payload.tool_input)?.questions);
  const texts = questions.flatMap((one) => textOf(fieldsOf(one)?.question) ?? []);
  if (texts.length === 0) return [running];
  const [first] = questions;
  const options = questions.length === 1 ? labelsOf(fieldsOf(first)?.options) : [];
  return [running, opened('question', texts.join('\n'), options, payload, time)];
}

function asked(payload: Fields, time: number): readonly Said[] {
  if (payload.notification_type !== 'ToolPermission') return [];
  const details = fieldsOf(payload.details) ?? {};
  const title = textOf(details.title) ?? textOf(payload.message) ?? 'a tool';
  switch (details.type) {
    case 'ask_user':
      // What is asked was told before the tool; this only tells that the dialog is there.
      return [isState('waiting_input', 'question_asked')];
    case 'exec':
      return [opened('command', textOf(details.command) ?? title, [], payload, time)];
    case 'edit':
      return [opened('edit', editText(details, title), [], payload, time)];
    case 'exit_plan_mode':
      return [opened('plan', textOf(details.planPath) ?? title, [], payload, time)];
    case 'info':
      return [opened('tool', textOf(details.prompt) ?? title, [], payload, time)];
    case 'mcp': {
      const names = [textOf(details.serverName), textOf(details.toolDisplayName) ?? textOf(details.toolName)];
      const text = names.filter((one) => one !== null).join(': ');
      return [opened('tool', text === '' ? title : text, [], payload, time)];
    }
    // Kinds that came later than this adapter still ask for a yes or a no.
    default:
      return [opened('tool', title, [], payload, time)];
  }
}

function editText(details: Fields, title: string): string {
  const file = textOf(details.filePath) ?? textOf(details.fileName) ?? title;
  const change = textOf(details.fileDiff);
  return change === null ? file : `${file}\n${change}`;
}

/**
 * It ends alike when it was finished, interrupted after its first words, cut off or failed (RSV13). Unknown takes back
 * "running" and leaves the word to the screen, which tells them apart.
 */
const endedSomehow: StateFact = {
  kind: 'state.observed',
  state: 'unknown',
  reason: 'unsupported_signal',
  confidence: 'low',
};

/** The same command may be asked for twice in a turn, so the id carries Gemini's stamp; a copy of a call keeps it. */
function opened(kind: AskKind, text: string, options: readonly AskOption[], payload: Fields, time: number): Said {
  const stamp = textOf(payload.timestamp) ?? String(time);
  const id = hashText(canonical([payload.session_id ?? null, stamp, kind, text]));
  const ask: Ask = {
    ask_id: askId(`gemini:${id}`),
    kind,
    scope: mainScope,
    text: text.slice(0, limits.askCharsMax),
    options,
  };
  return { kind: 'ask.opened', ask };
}

function labelsOf(value: unknown): readonly AskOption[] {
  const labels = listOf(value).flatMap((one) => textOf(fieldsOf(one)?.label) ?? []);
  return labels.slice(0, limits.askOptionsMax).map((label, place) => ({ id: String(place + 1), label }));
}

/** The end of a session is told three times. */
function dedupeOf(call: HookCall, fact: Said): Pick<Finding, 'dedupe'> {
  const session = sessionOf(call);
  return fact.kind === 'runtime.goodbye' && session !== null ? { dedupe: `${dedupePrefix}${session}` } : {};
}
