// What Claude wants from a person: permissions for tools, plans and questions, one put after another. In automatic mode
// everything but a question is allowed at once, and said so.

import { askOf, kindOf, summaryOf } from '../../agents/claude/asks.ts';
import { type Fields, fieldsIn, idOf, rowsOf, textOf } from '../../agents/fields.ts';
import { fail, ok, type Result } from '../../model/errors.ts';
import { askId, mainScope, scopeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { MachineEventKind, PendingAsk } from '../../model/sessions.ts';
import { fullReason, hasRoom, tellRefused, weightOf } from '../asks-room.ts';
import type { Deed } from '../dialect.ts';
import { keep, own, sayLine, tell, write } from '../draft.ts';
import {
  answeredBy,
  askOfInterview,
  type Interview,
  interviewOf,
  nextOf,
  type Question,
  questionId,
} from '../questions.ts';
import { plainNo } from '../words.ts';
import { allowLine, denyLine, refuseLine } from './lines.ts';
import type { ClaudeDraft, OpenAsk } from './memory.ts';
import { markTool } from './tools.ts';

/** A control request of the agent. */
export function hearRequest(draft: ClaudeDraft, line: Fields): void {
  const request = idOf(line.request_id);
  if (request === null) return;
  const { asks, settled } = draft.memory;
  if (settled.includes(request) || asks.some((ask) => ask.request === request)) return;
  const fields = fieldsIn(line.request);
  const tool = textOf(fields.tool_name);
  if (fields.subtype !== 'can_use_tool' || tool === null) {
    settle(draft, request);
    sayLine(draft, refuseLine(request, `agtmux does not serve ${textOf(fields.subtype) ?? 'this'}`));
    return;
  }
  const ask = openAsk(draft, request, tool, fields);
  if (draft.memory.auto_approve && ask.interview === null) allowUnasked(draft, ask);
  else if (!hasRoom(draft, ask)) refuseUnseen(draft, ask);
  else {
    keep(draft, { asks: [...asks, ask] });
    markTool(draft, ask.toolUse, 'pending');
    if (asks.length === 0) putNext(draft);
  }
}

function refuseUnseen(draft: ClaudeDraft, { request, tool, input }: OpenAsk): void {
  settle(draft, request);
  sayLine(draft, denyLine(request, fullReason));
  tellRefused(draft, summaryOf(tool, input));
}

function openAsk(draft: ClaudeDraft, request: string, tool: string, fields: Fields): OpenAsk {
  const toolUse = idOf(fields.tool_use_id);
  const subagent = idOf(fields.agent_id);
  const input = fieldsIn(fields.input);
  const questions = kindOf(tool) === 'question' ? questionsOf(input) : [];
  const called = toolUse === null ? undefined : own(draft.memory.tools, toolUse)?.plan;
  return {
    bytes: weightOf(input),
    request,
    tool,
    toolUse,
    scope: subagent === null ? mainScope : scopeId(subagent),
    input,
    shown: kindOf(tool) === 'plan' ? { ...called, ...input } : input,
    interview: questions.length === 0 ? null : interviewOf(questions),
  };
}

function questionsOf(input: Fields): readonly Question[] {
  return rowsOf(input.questions).flatMap((one) => {
    const text = textOf(one.question);
    if (text === null) return [];
    const labels = rowsOf(one.options).flatMap(({ label }) => textOf(label) ?? []);
    return [{ key: text, text, labels, isMany: one.multiSelect === true, isFree: true }];
  });
}

function allowUnasked(draft: ClaudeDraft, { request, tool, input }: OpenAsk): void {
  settle(draft, request);
  sayLine(draft, allowLine(request, input));
  write(draft, { id: `auto-${request}`, role: 'notice', text: `approved automatically: ${summaryOf(tool, input)}` });
}

/** The first of the open asks, in the words of the machine. */
export function putNext(draft: ClaudeDraft): void {
  const [ask] = draft.memory.asks;
  if (ask === undefined) return;
  tell(draft, eventOf(ask), { ask: pendingOf(ask) });
}

function eventOf({ tool, interview }: OpenAsk): MachineEventKind {
  if (interview !== null) return 'ask:followup';
  if (tool.startsWith('mcp__')) return 'ask:use_mcp_server';
  return kindOf(tool) === 'command' ? 'ask:command' : 'ask:tool';
}

function pendingOf({ request, tool, scope, shown, interview }: OpenAsk): PendingAsk {
  const question = interview === null ? null : askOfInterview(request, scope, interview);
  if (question !== null) return question;
  const ask = askOf({ session: '', prompt: '', scope, tool, input: shown }, askId(request));
  return { ...ask, options: [], accepts: ['approve', 'reject'] };
}

/** Takes a request out of those that are open; a doubled line of it is known from then on. */
function settle(draft: ClaudeDraft, request: string): void {
  const { asks, settled } = draft.memory;
  keep(draft, {
    asks: asks.filter((ask) => ask.request !== request),
    settled: [...settled, request].slice(-limits.sessionRequestsKept),
  });
}

/** The agent takes a request back, or its tool came to an end: somebody else has decided. */
export function withdraw(draft: ClaudeDraft, matches: (ask: OpenAsk) => boolean): void {
  const gone = draft.memory.asks.filter(matches);
  const [first] = draft.memory.asks;
  for (const { request } of gone) settle(draft, request);
  if (first === undefined || !gone.includes(first)) return;
  tell(draft, 'user_feedback', { ask_id: idOfAsk(first) });
  putNext(draft);
}

/** The agent's own turn is over, and with it what was asked in it; the machine learns that from how it ended. */
export function dropOwnAsks(draft: ClaudeDraft): void {
  for (const { request, scope } of draft.memory.asks) if (scope === mainScope) settle(draft, request);
}

const idOfAsk = ({ request, interview }: OpenAsk): string =>
  interview === null ? request : questionId(request, interview);

type Answer = Extract<Deed, { readonly ask_id: string }>;

/** A person's answer to the ask that is open. */
export function answer(draft: ClaudeDraft, deed: Answer): Result<null> {
  const [ask] = draft.memory.asks;
  if (ask === undefined || idOfAsk(ask) !== deed.ask_id) {
    return fail('E_STATE_CHANGED', 'that was answered already, or the agent took it back');
  }
  if (deed.kind === 'reject') {
    settle(draft, ask.request);
    sayLine(draft, denyLine(ask.request, deed.because ?? plainNo));
  } else if (ask.interview === null) {
    if (deed.kind !== 'approve') return fail('E_UNSUPPORTED', 'this wants a yes or a no', 'approve or reject it');
    settle(draft, ask.request);
    markTool(draft, ask.toolUse, 'running');
    sayLine(draft, allowLine(ask.request, ask.input));
  } else {
    const interview = answeredBy(ask.interview, deed);
    if (!interview.ok) return interview;
    goOnWith(draft, { ...ask, interview: interview.value }, interview.value);
  }
  putNext(draft);
  return ok(null);
}

/** With the last answer the request is answered; before it the next question is put. */
function goOnWith(draft: ClaudeDraft, ask: OpenAsk, interview: Interview): void {
  if (nextOf(interview) !== null) {
    keep(draft, { asks: [ask, ...draft.memory.asks.slice(1)] });
    return;
  }
  const answers = Object.fromEntries(
    interview.questions.map(({ key }, place) => [key, (interview.answers[place] ?? []).join(', ')]),
  );
  settle(draft, ask.request);
  sayLine(draft, allowLine(ask.request, { ...ask.input, answers }));
}
