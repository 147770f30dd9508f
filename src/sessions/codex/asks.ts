// What Codex wants from a person: leave for commands, edits and permissions, answers to its questions and to those of MCP
// servers, one put after another. In automatic mode everything but a question is granted at once, and said so.

import { type Fields, fieldsIn, idOf, rowsOf, textOf } from '../../agents/fields.ts';
import type { AskKind } from '../../model/asks.ts';
import { fail, ok, type Result } from '../../model/errors.ts';
import { askId, mainScope, scopeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { MachineEventKind, PendingAsk } from '../../model/sessions.ts';
import { fullCode, fullReason, hasRoom, tellRefused, weightOf } from '../asks-room.ts';
import type { Deed } from '../dialect.ts';
import { keep, note, own, sayLine, tell } from '../draft.ts';
import { methodUnknown, type RpcId, refusalLine, replyLine } from '../json-rpc.ts';
import {
  answeredBy,
  askOfInterview,
  type Interview,
  interviewOf,
  nextOf,
  type Question,
  questionId,
} from '../questions.ts';
import { hearIdle } from '../watch.ts';
import { sayPrompt } from './calls.ts';
import { formContent, formQuestions } from './forms.ts';
import { markTool } from './items.ts';
import type { CodexDraft, OpenAsk } from './memory.ts';

interface Manner {
  readonly event: MachineEventKind;
  readonly kind: AskKind;
  /** The reply to a yes and to a no. */
  readonly reply: (isYes: boolean, params: Fields) => unknown;
}

const decision = (isYes: boolean): unknown => ({ decision: isYes ? 'accept' : 'decline' });
const consent = (isYes: boolean): unknown => ({ action: isYes ? 'accept' : 'decline', content: null, _meta: null });

const manners: Readonly<Record<string, Manner>> = {
  'item/commandExecution/requestApproval': { event: 'ask:command', kind: 'command', reply: decision },
  'item/fileChange/requestApproval': { event: 'ask:tool', kind: 'edit', reply: decision },
  'item/permissions/requestApproval': {
    event: 'ask:tool',
    kind: 'tool',
    reply: (isYes, { permissions }) => ({ permissions: isYes ? fieldsIn(permissions) : {}, scope: 'turn' }),
  },
  'item/tool/requestUserInput': { event: 'ask:followup', kind: 'question', reply: () => ({ answers: {} }) },
  'mcpServer/elicitation/request': { event: 'ask:use_mcp_server', kind: 'tool', reply: consent },
};

/** A request of the server. */
export function hearRequest(draft: CodexDraft, id: RpcId, method: string, params: Fields): void {
  const manner = own(manners, method);
  if (manner === undefined) {
    sayLine(draft, refusalLine(id, methodUnknown, `agtmux does not serve ${method}`));
    return;
  }
  const ask = openAsk(draft, id, method, params);
  const { asks, settled, opening } = draft.memory;
  if (settled.includes(ask.key) || asks.some(({ key }) => key === ask.key)) return;
  if (opening.auto_approve && ask.interview === null) {
    settle(draft, ask.key);
    sayLine(draft, replyLine(id, manner.reply(true, params)));
    note(draft, `auto-${ask.key}`, `approved automatically: ${textOfAsk(draft, ask)}`);
    return;
  }
  if (!hasRoom(draft, ask)) {
    settle(draft, ask.key);
    sayLine(draft, refusalLine(id, fullCode, fullReason));
    tellRefused(draft, textOfAsk(draft, ask));
    return;
  }
  keep(draft, { asks: [...asks, ask] });
  markTool(draft, idOf(params.itemId), 'pending');
  if (asks.length === 0) putNext(draft);
}

function openAsk(draft: CodexDraft, id: RpcId, method: string, params: Fields): OpenAsk {
  const thread = idOf(params.threadId);
  const parts = [idOf(params.turnId), idOf(params.itemId), idOf(params.approvalId)].filter((one) => one !== null);
  const isItem = idOf(params.itemId) !== null;
  const questions = method.endsWith('requestUserInput') ? questionsOf(params) : formQuestions(params);
  return {
    bytes: weightOf(params),
    id,
    // Requests of MCP servers are about no item; their number is all there is.
    key: (isItem ? parts : [...parts, `${draft.memory.mark}-${id}`]).join('/'),
    method,
    params,
    scope: thread === null || thread === draft.memory.thread ? mainScope : scopeId(thread),
    interview: questions.length === 0 ? null : interviewOf(questions),
  };
}

function questionsOf(params: Fields): readonly Question[] {
  return rowsOf(params.questions).flatMap((one) => {
    const key = idOf(one.id);
    const text = textOf(one.question) ?? textOf(one.header);
    if (key === null || text === null) return [];
    const labels = rowsOf(one.options).flatMap(({ label }) => textOf(label) ?? []);
    return [{ key, text, labels, isMany: false, isFree: one.isOther === true || labels.length === 0 }];
  });
}

/** The first of the open asks, in the words of the machine. */
export function putNext(draft: CodexDraft): void {
  const [ask] = draft.memory.asks;
  const manner = ask === undefined ? undefined : own(manners, ask.method);
  if (ask === undefined || manner === undefined) return;
  tell(draft, ask.interview === null ? manner.event : 'ask:followup', { ask: pendingOf(draft, ask, manner.kind) });
}

export function pendingOf(draft: CodexDraft, ask: OpenAsk, kind: AskKind): PendingAsk {
  const question = ask.interview === null ? null : askOfInterview(ask.key, ask.scope, ask.interview);
  if (question !== null) return question;
  const text = textOfAsk(draft, ask).slice(0, limits.askCharsMax);
  return { ask_id: askId(ask.key), kind, scope: ask.scope, text, options: [], accepts: ['approve', 'reject'] };
}

function textOfAsk(draft: CodexDraft, { method, params }: OpenAsk): string {
  const reason = textOf(params.reason);
  const about = reason === null ? [] : [`# ${reason.replace(/\s+/g, ' ')}`];
  if (method.startsWith('mcpServer/')) {
    return [
      textOf(params.message) ?? `a request of ${textOf(params.serverName) ?? 'an MCP server'}`,
      textOf(params.url),
    ]
      .filter((one) => one !== null)
      .join('\n');
  }
  const item = own(draft.memory.items, idOf(params.itemId) ?? '');
  const permissions = fieldsIn(params.permissions);
  const wanted = Object.keys(permissions).length === 0 ? null : `permissions ${JSON.stringify(permissions)}`;
  return [textOf(params.command) ?? wanted ?? item?.text ?? 'an edit', ...about].join('\n');
}

function settle(draft: CodexDraft, key: string): void {
  const { asks, settled } = draft.memory;
  keep(draft, {
    asks: asks.filter((ask) => ask.key !== key),
    settled: [...settled, key].slice(-limits.sessionRequestsKept),
  });
}

/** The server has its answer: ours is settled already, so it was somebody else's. */
export function hearResolved(draft: CodexDraft, id: RpcId): void {
  const [first] = draft.memory.asks;
  const gone = draft.memory.asks.find((ask) => ask.id === id);
  if (gone === undefined) return;
  settle(draft, gone.key);
  if (gone !== first) return;
  tell(draft, 'user_feedback', { ask_id: idOfAsk(gone) });
  putNext(draft);
}

/** A turn is over, and with it what was asked in it; of one that has begun, what was asked before it. */
export function dropAsks(draft: CodexDraft, begun: string | null = null): void {
  for (const { key, scope, params } of draft.memory.asks) {
    if (scope === mainScope && (begun === null || idOf(params.turnId) !== begun)) settle(draft, key);
  }
}

const idOfAsk = ({ key, interview }: OpenAsk): string => (interview === null ? key : questionId(key, interview));

type Answer = Extract<Deed, { readonly ask_id: string }>;

/** A person's answer to the ask that is open. */
export function answer(draft: CodexDraft, deed: Answer): Result<null> {
  const [ask] = draft.memory.asks;
  const manner = ask === undefined ? undefined : own(manners, ask.method);
  if (ask === undefined || manner === undefined || idOfAsk(ask) !== deed.ask_id) {
    return fail('E_STATE_CHANGED', 'that was answered already, or the agent took it back');
  }
  if (deed.kind === 'reject') {
    settle(draft, ask.key);
    sayLine(draft, replyLine(ask.id, manner.reply(false, ask.params)));
    // A no takes no words here: they are said into the turn that goes on.
    if (deed.because !== null) sayPrompt(draft, deed.because);
  } else if (ask.interview === null) {
    if (deed.kind !== 'approve') return fail('E_UNSUPPORTED', 'this wants a yes or a no', 'approve or reject it');
    settle(draft, ask.key);
    markTool(draft, idOf(ask.params.itemId), 'running');
    sayLine(draft, replyLine(ask.id, manner.reply(true, ask.params)));
  } else {
    const interview = answeredBy(ask.interview, deed);
    if (!interview.ok) return interview;
    goOnWith(draft, { ...ask, interview: interview.value }, interview.value);
  }
  // An ask of another thread, after our own turn: nothing tells when its work is over.
  const { turn, isBegun, waiting, asks } = draft.memory;
  if (turn === null && !isBegun && waiting === null && asks.length === 0 && ask.scope !== mainScope) hearIdle(draft);
  putNext(draft);
  return ok(null);
}

/** With the last answer the request is answered; before it the next question is put. */
function goOnWith(draft: CodexDraft, ask: OpenAsk, interview: Interview): void {
  if (nextOf(interview) !== null) {
    keep(draft, { asks: [ask, ...draft.memory.asks.slice(1)] });
    return;
  }
  const given = interview.questions.map(({ key }, place) => [key, interview.answers[place] ?? []] as const);
  settle(draft, ask.key);
  const result = ask.method.startsWith('mcpServer/')
    ? { action: 'accept', content: formContent(ask.params, Object.fromEntries(given)), _meta: null }
    : { answers: Object.fromEntries(given.map(([key, answers]) => [key, { answers }])) };
  sayLine(draft, replyLine(ask.id, result));
}
