// What Codex's hooks and its notify program say. Hooks are silent on API errors, on retries and on approvals that were
// granted at the keyboard; those are learned from the thread's status, the rollout or the screen.

import { canonical, hashText } from '../../engine/canonical.ts';
import type { AskKind, AskOption } from '../../model/asks.ts';
import type { Fact } from '../../model/events.ts';
import { type AgentSessionId, agentSessionId, askId, mainScope, type ScopeId, scopeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Finding, HookCall, HookReader } from '../contract.ts';
import { type Fields, fieldsIn, idOf, listOf, textOf } from '../fields.ts';

type FindingFact = Finding['fact'];

/** Calls of one tool with the same input in the same turn: a permission request names no call, so it is told by these. */
interface ToolCalls {
  readonly unasked: string[];
  readonly asked: string[];
}

/** SessionStart is not asked for: it comes with the first prompt and says nothing that the prompt does not. */
const events = [
  'UserPromptSubmit',
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'Stop',
  'Interrupt',
  'SessionEnd',
  'PreCompact',
  'PostCompact',
  'SubagentStop',
  'notify',
] as const;

type EventName = (typeof events)[number];

const isEventName = (text: string): text is EventName => (events as readonly string[]).includes(text);

export function codexHooks(): HookReader {
  const memory = new Memory();
  return {
    events,
    stored: ['session_id', 'turn_id', 'tool_name', 'tool_use_id', 'permission_mode', 'trigger', 'reason'],
    session: sessionOf,
    prompt({ event, payload }) {
      const text = event === 'UserPromptSubmit' ? textOf(payload?.prompt) : null;
      return idOf(payload?.agent_id) !== null || isTitlePrompt(text) ? null : text;
    },
    read(call) {
      if (!isEventName(call.event)) return [];
      const facts = factsOf(call.event, call.payload ?? {}, memory);
      const source = call.event === 'notify' ? { source: 'notify' as const } : {};
      return facts.map((fact) => ({ fact, time: call.time, ...source }));
    },
  };
}

function sessionOf({ event, payload }: HookCall): AgentSessionId | null {
  const id = idOf(event === 'notify' ? payload?.['thread-id'] : payload?.session_id);
  return id === null ? null : agentSessionId(id);
}

function factsOf(event: EventName, payload: Fields, memory: Memory): readonly FindingFact[] {
  const subagent = idOf(payload.agent_id);
  switch (event) {
    case 'UserPromptSubmit':
      return subagent !== null || isTitlePrompt(textOf(payload.prompt)) ? [] : [state('running', 'turn_running')];
    case 'PreToolUse':
      return toolBegins(payload, memory);
    case 'PermissionRequest':
      return [permissionAsked(payload, memory)];
    case 'PostToolUse':
      return toolEnded(payload, memory);
    case 'Stop':
      return subagent === null ? stopped(payload, memory) : [{ kind: 'turn.ended', scope: scopeId(subagent) }];
    case 'SubagentStop':
      return subagent === null ? [] : [{ kind: 'turn.ended', scope: scopeId(subagent) }];
    case 'Interrupt':
      return interrupted(payload, memory);
    case 'SessionEnd':
      // A conversation that was cleared away is followed by the next one in the same run.
      return ['clear', 'compact'].includes(textOf(payload.reason) ?? '') ? [] : [{ kind: 'runtime.goodbye' }];
    case 'PreCompact':
      return [state('running', 'compacting')];
    case 'PostCompact':
      // Asked for by hand it belongs to no turn, and no Stop follows.
      return [payload.trigger === 'manual' ? state('idle', 'prompt_ready') : state('running', 'turn_running')];
    case 'notify':
      return notified(payload);
  }
}

const state = (
  name: 'running' | 'completed' | 'idle',
  reason: Extract<Fact, { kind: 'state.observed' }>['reason'],
  detail: string | null = null,
): FindingFact => ({
  kind: 'state.observed',
  state: name,
  reason,
  confidence: 'high',
  ...(detail === null ? {} : { detail: detail.slice(0, limits.detailCharsMax) }),
});

function toolBegins(payload: Fields, memory: Memory): readonly FindingFact[] {
  const use = idOf(payload.tool_use_id);
  if (payload.tool_name === 'request_user_input') return [questionAsked(payload, use)];
  if (use !== null) memory.began(callKey(payload), use);
  return idOf(payload.agent_id) === null ? [state('running', 'tool_running', commandOf(payload))] : [];
}

/** No hook tells that a question is on the screen; the tool that asks it begins just before (there is no other sign). */
function questionAsked(payload: Fields, use: string | null): FindingFact {
  const questions = listOf(fieldsIn(payload.tool_input).questions).map(fieldsIn);
  const only = questions.length === 1 ? questions[0] : undefined;
  const text = questions.map((one) => textOf(one.question) ?? textOf(one.header) ?? '').join('\n');
  return opened(payload, {
    id: use ?? `question:${hashText(callKey(payload))}`,
    kind: 'question',
    text: text.trim() === '' ? 'a question' : text,
    options: listOf(only?.options).flatMap((one, place) => {
      const label = textOf(fieldsIn(one).label);
      return label === null ? [] : [{ id: String(place + 1), label }];
    }),
  });
}

function permissionAsked(payload: Fields, memory: Memory): FindingFact {
  const reason = textOf(fieldsIn(payload.tool_input).description);
  const wanted = commandOf(payload) ?? textOf(payload.tool_name) ?? 'a tool';
  return opened(payload, {
    id: memory.asked(callKey(payload)),
    kind: kindOf(payload.tool_name),
    text: reason === null ? wanted : `${wanted}\n${reason}`,
    options: [],
  });
}

function kindOf(tool: unknown): AskKind {
  if (tool === 'Bash') return 'command';
  return tool === 'apply_patch' ? 'edit' : 'tool';
}

function opened(
  payload: Fields,
  ask: { id: string; kind: AskKind; text: string; options: readonly AskOption[] },
): FindingFact {
  return {
    kind: 'ask.opened',
    ask: {
      ask_id: askId(ask.id),
      kind: ask.kind,
      scope: scopeOf(payload),
      text: ask.text.slice(0, limits.askCharsMax),
      options: ask.options.slice(0, limits.askOptionsMax),
    },
  };
}

const scopeOf = (payload: Fields): ScopeId => {
  const subagent = idOf(payload.agent_id);
  return subagent === null ? mainScope : scopeId(subagent);
};

function toolEnded(payload: Fields, memory: Memory): readonly FindingFact[] {
  const use = idOf(payload.tool_use_id);
  const isQuestion = payload.tool_name === 'request_user_input';
  const settled = isQuestion ? (use === null ? [] : [use]) : memory.ended(callKey(payload), use);
  const facts: FindingFact[] = settled.map((id) => ({
    kind: 'ask.settled',
    ask_id: askId(id),
    how: isQuestion ? 'answered' : 'result',
  }));
  if (idOf(payload.agent_id) === null) facts.push(state('running', 'turn_running'));
  return facts;
}

function stopped(payload: Fields, memory: Memory): readonly FindingFact[] {
  memory.forgetTurn(turnKey(payload));
  return [state('completed', 'turn_completed'), { kind: 'turn.ended', scope: mainScope }];
}

/** Esc in an approval dialog refuses and interrupts in one; there is no other word for it. */
function interrupted(payload: Fields, memory: Memory): readonly FindingFact[] {
  const refused = memory.forgetTurn(turnKey(payload));
  return [
    ...refused.map((id): FindingFact => ({ kind: 'ask.settled', ask_id: askId(id), how: 'denied' })),
    state('idle', refused.length > 0 ? 'refused_by_person' : 'interrupted'),
    { kind: 'turn.ended', scope: mainScope },
  ];
}

function notified(payload: Fields): readonly FindingFact[] {
  if (payload.type !== 'agent-turn-complete') return [];
  if (isTitlePrompt(textOf(listOf(payload['input-messages'])[0]))) return [];
  return [state('completed', 'turn_completed'), { kind: 'turn.ended', scope: mainScope }];
}

function commandOf(payload: Fields): string | null {
  const input = fieldsIn(payload.tool_input);
  return textOf(input.command) ?? textOf(input.cmd);
}

const turnKey = (payload: Fields): string => `${idOf(payload.session_id) ?? ''}/${idOf(payload.turn_id) ?? ''}`;

/** The justification stands in the request alone, so it is no part of what is compared. */
function callKey(payload: Fields): string {
  const { description: _, ...input } = fieldsIn(payload.tool_input);
  return `${turnKey(payload)}/${hashText(canonical([payload.tool_name, input]))}`;
}

/** Which calls of tools were asked about. Lost with the daemon; then ids are made from the call itself. */
class Memory {
  readonly #calls = new Map<string, ToolCalls>();

  began(key: string, use: string): void {
    this.#of(key).unasked.push(use);
  }

  asked(key: string): string {
    const calls = this.#of(key);
    const id = calls.unasked.shift() ?? `permission:${hashText(`${key}/${calls.asked.length}`)}`;
    calls.asked.push(id);
    return id;
  }

  /** The asks that its result settles. */
  ended(key: string, use: string | null): readonly string[] {
    const calls = this.#calls.get(key);
    if (calls === undefined) return [...(use === null ? [] : [use]), `permission:${hashText(`${key}/0`)}`];
    const place = use === null ? -1 : calls.unasked.indexOf(use);
    if (place >= 0) {
      calls.unasked.splice(place, 1);
      return [];
    }
    const own = use === null ? -1 : calls.asked.indexOf(use);
    const settled = calls.asked.splice(Math.max(own, 0), 1);
    if (calls.asked.length === 0 && calls.unasked.length === 0) this.#calls.delete(key);
    return settled;
  }

  /** The turn is over. Returns what was still asked. */
  forgetTurn(turn: string): readonly string[] {
    const open: string[] = [];
    for (const [key, calls] of this.#calls) {
      if (!key.startsWith(`${turn}/`)) continue;
      open.push(...calls.asked);
      this.#calls.delete(key);
    }
    return open;
  }

  #of(key: string): ToolCalls {
    const known = this.#calls.get(key);
    if (known !== undefined) return known;
    const oldest = this.#calls.keys().next();
    if (this.#calls.size >= limits.recentEventsMax && oldest.done !== true) this.#calls.delete(oldest.value);
    const made: ToolCalls = { unasked: [], asked: [] };
    this.#calls.set(key, made);
    return made;
  }
}

export const hooks: HookReader = codexHooks();

/** The hidden thread that names a conversation is Codex talking to itself: nobody waits for it. */
const isTitlePrompt = (text: string | null): boolean =>
  text !== null && /^Generate an? (?:[\w-]+,? ){0,4}(?:task |conversation |thread )?title\b/i.test(text.trim());
