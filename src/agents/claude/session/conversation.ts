// What the Claude adapter remembers between lines. Plain values; bounded.

import { fail, ok, type Result } from '../../../model/errors.ts';
import { type AgentSessionId, askId, mainScope, type ScopeId, scopeId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { MachineEventKind, PendingAsk, SessionMessage } from '../../../model/sessions.ts';
import { type Fields, fieldsIn, idOf, rowsOf, textOf } from '../../fields.ts';
import type { Opening, UserAction } from '../../protocol/adapter.ts';
import {
  clip,
  type Draft,
  freshMarks,
  fullReason,
  hasRoom,
  keep,
  type Marked,
  own,
  plainNo,
  sayLine,
  tell,
  tellRefused,
  type Weighed,
  weightOf,
  write,
} from '../../protocol/draft.ts';
import {
  answeredBy,
  askOfInterview,
  type Interview,
  interviewOf,
  nextOf,
  type Question,
  questionId,
} from '../../protocol/questions.ts';
import { freshWatch, type Watched } from '../../protocol/watch.ts';
import { textIn } from '../../transcript/tools.ts';
import { askOf, kindOf, summaryOf } from '../asks.ts';
import { allowLine, denyLine, refuseLine } from './lines.ts';

/** A tool that wants a yes, or questions that want answers. */
interface OpenAsk extends Weighed {
  /** Of the control request; the id of the ask, too. */
  readonly request: string;
  readonly tool: string;
  readonly toolUse: string | null;
  readonly scope: ScopeId;
  /** What goes back with a yes. */
  readonly input: Fields;
  /** What a person is shown: a plan stands in the call of the tool and not in the request for leave. */
  readonly shown: Fields;
  /** Null: a yes or a no. */
  readonly interview: Interview | null;
}

/** One piece of the answer that is being written. */
interface Block {
  readonly id: string;
  readonly role: Extract<SessionMessage['role'], 'agent' | 'thought' | 'tool'>;
  readonly text: string;
  readonly isOpen: boolean;
  /** The whole of it was told once more, as a message of its own. */
  readonly isTold: boolean;
}

/** The answer that one scope is writing: the agent itself, or one of its subagents. */
interface Answer {
  readonly message: string;
  readonly blocks: readonly Block[];
}

interface OpenTool {
  readonly name: string;
  readonly text: string;
  /** Of a plan, what it says. */
  readonly plan: Fields;
}

export interface ClaudeMemory extends Watched, Marked {
  readonly auto_approve: boolean;
  readonly session: AgentSessionId | null;
  readonly isRetrying: boolean;
  readonly asks: readonly OpenAsk[];
  /** Requests that were answered or withdrawn. */
  readonly settled: readonly string[];
  readonly answers: Readonly<Record<string, Answer>>;
  readonly tools: Readonly<Record<string, OpenTool>>;
  /** A turn was announced and its result is not there yet. */
  readonly isBegun: boolean;
  /** The last announcement of a turn and the last result, by which doubled lines are known. */
  readonly turnMark: string | null;
  readonly resultMark: string | null;
  /** What the agent itself said of the failure that ends the turn. */
  readonly failure: { readonly status: number | null; readonly code: string; readonly words: string } | null;
  /** The ask that a failed turn has left behind: words for it are another prompt. */
  readonly failedAsk: string | null;
  /** Subagents at work behind the answer. */
  readonly behind: number;
  /** All that runs in the background, shells too. */
  readonly tasks: number;
}

export type ClaudeDraft = Draft<ClaudeMemory>;

export const freshMemory = ({ auto_approve, resume, spawned_at }: Opening, at: number): ClaudeMemory => ({
  ...freshMarks(spawned_at),
  auto_approve,
  session: resume,
  isRetrying: false,
  asks: [],
  settled: [],
  answers: {},
  tools: {},
  isBegun: false,
  turnMark: null,
  resultMark: null,
  failure: null,
  failedAsk: null,
  behind: 0,
  tasks: 0,
  watch: freshWatch(at),
});

// What Claude says and does, as messages that grow: words and thoughts piece by piece, tools from their call to what came
// of them. Of a subagent all words are thoughts: they are not the answer.

const mainAnswer = 'main';

/** Whose line it is: the agent's own, or that of the subagent which a tool call of its started. */
const speakerOf = (line: Fields): string => idOf(line.parent_tool_use_id) ?? mainAnswer;

export const isOwn = (line: Fields): boolean => speakerOf(line) === mainAnswer;

/** A piece of an answer on its way. */
export function hearPiece(draft: ClaudeDraft, line: Fields): void {
  const event = fieldsIn(line.event);
  const speaker = speakerOf(line);
  switch (event.type) {
    case 'message_start': {
      const message = idOf(fieldsIn(event.message).id);
      if (message === null) return;
      closeAnswer(draft, speaker);
      setAnswer(draft, speaker, { message, blocks: [] });
      return;
    }
    case 'content_block_start':
      startBlock(draft, speaker, event);
      return;
    case 'content_block_delta':
      growBlock(draft, speaker, event);
      return;
    case 'message_stop':
      closeAnswer(draft, speaker);
      return;
    default:
      return;
  }
}

function startBlock(draft: ClaudeDraft, speaker: string, event: Fields): void {
  const answer = own(draft.memory.answers, speaker);
  const place = placeOf(event);
  if (answer === undefined || place === null || place !== answer.blocks.length) return;
  const content = fieldsIn(event.content_block);
  const role = roleOf(content.type, speaker);
  const id = (role === 'tool' ? idOf(content.id) : null) ?? `${answer.message}.${place}`;
  const text = role === 'tool' ? clip(textOf(content.name) ?? 'a tool', limits.detailCharsMax) : '';
  addBlock(draft, speaker, { id, role, text, isOpen: true, isTold: false });
  if (role === 'tool') writeTool(draft, id, { name: text, text, plan: {} }, 'pending');
  else if (speaker === mainAnswer) tell(draft, 'say:text', { partial: true });
}

function growBlock(draft: ClaudeDraft, speaker: string, event: Fields): void {
  const answer = own(draft.memory.answers, speaker);
  const place = placeOf(event);
  const block = place === null ? undefined : answer?.blocks[place];
  if (answer === undefined || block === undefined || block.isTold || block.role === 'tool') return;
  const delta = fieldsIn(event.delta);
  const piece = typeof delta.text === 'string' ? delta.text : delta.thinking;
  if (typeof piece !== 'string' || piece === '' || block.text.length >= limits.sessionMessageCharsMax) return;
  const grown = { ...block, text: clip(block.text + piece) };
  setBlock(draft, speaker, grown);
  write(draft, { id: grown.id, role: block.role, text: grown.text, partial: true });
}

/** No more will come of it: what stands is the whole. */
function closeAnswer(draft: ClaudeDraft, speaker: string): void {
  for (const block of own(draft.memory.answers, speaker)?.blocks ?? []) {
    if (!block.isOpen || block.role === 'tool') continue;
    setBlock(draft, speaker, { ...block, isOpen: false });
    if (!block.isTold && block.text !== '') write(draft, block);
  }
}

/** An answer, or a part of it, told as a whole. */
export function hearAnswer(draft: ClaudeDraft, line: Fields): void {
  const speaker = speakerOf(line);
  const message = fieldsIn(line.message);
  const id = idOf(message.id);
  if (id === null) return;
  if (own(draft.memory.answers, speaker)?.message !== id) {
    closeAnswer(draft, speaker);
    setAnswer(draft, speaker, { message: id, blocks: [] });
  }
  for (const part of rowsOf(message.content)) hearPart(draft, speaker, part);
  if (speaker === mainAnswer) tell(draft, 'say:text');
}

function hearPart(draft: ClaudeDraft, speaker: string, part: Fields): void {
  const answer = own(draft.memory.answers, speaker);
  if (answer === undefined) return;
  const role = roleOf(part.type, speaker);
  if (role === 'tool') {
    hearCall(draft, speaker, part);
    return;
  }
  const text = textOf(part.text) ?? textOf(part.thinking);
  if (text === null) return;
  const begun = answer.blocks.find((block) => block.role === role && !block.isTold);
  const doubled = answer.blocks.some((block) => block.role === role && block.isTold && block.text === clip(text));
  if (begun === undefined && doubled) return;
  const block = { role, text: clip(text), isOpen: false, isTold: true };
  if (begun === undefined) addBlock(draft, speaker, { ...block, id: `${answer.message}.${answer.blocks.length}` });
  else setBlock(draft, speaker, { ...block, id: begun.id });
  write(draft, { id: begun?.id ?? `${answer.message}.${answer.blocks.length}`, role, text });
}

function hearCall(draft: ClaudeDraft, speaker: string, part: Fields): void {
  const id = idOf(part.id);
  const name = clip(textOf(part.name) ?? '', limits.detailCharsMax);
  const answer = own(draft.memory.answers, speaker);
  if (id === null || name === '' || answer === undefined) return;
  const known = answer.blocks.find((block) => block.id === id);
  if (known?.isTold === true) return;
  const block: Block = { id, role: 'tool', text: name, isOpen: false, isTold: true };
  if (known === undefined) addBlock(draft, speaker, block);
  else setBlock(draft, speaker, block);
  const input = fieldsIn(part.input);
  writeTool(draft, id, { name, text: summaryOf(name, input), plan: planIn(name, input) }, 'running');
}

/** The only thing that is asked for without its words: they are kept as long as they are shown. */
function planIn(name: string, { plan }: Fields): Fields {
  const words = kindOf(name) === 'plan' ? textOf(plan) : null;
  return words === null ? {} : { plan: clip(words, limits.askCharsMax) };
}

/** What came of tools; and words that the program itself puts into the person's mouth. */
export function hearReturn(draft: ClaudeDraft, line: Fields): void {
  const { content } = fieldsIn(line.message);
  for (const part of rowsOf(content)) {
    const id = idOf(part.tool_use_id);
    if (part.type !== 'tool_result' || id === null) continue;
    endTool(draft, id, part.is_error === true ? 'failed' : 'done', textIn(part.content));
    const { [id]: _subagent, ...answers } = draft.memory.answers;
    keep(draft, { answers });
    withdraw(draft, (ask) => ask.toolUse === id);
    if (isOwn(line) && draft.memory.asks.length === 0) tell(draft, 'command_output');
  }
}

/** The turn is over: nothing grows or runs any more. `status` is for tools of which nothing more was told. */
export function endMessages(draft: ClaudeDraft, status: 'done' | 'failed'): void {
  for (const speaker of Object.keys(draft.memory.answers)) closeAnswer(draft, speaker);
  for (const id of Object.keys(draft.memory.tools)) endTool(draft, id, status, '');
  keep(draft, { answers: {} });
}

function roleOf(type: unknown, speaker: string): Block['role'] {
  if (typeof type === 'string' && type.endsWith('tool_use')) return 'tool';
  return type === 'text' && speaker === mainAnswer ? 'agent' : 'thought';
}

function placeOf({ index }: Fields): number | null {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 ? index : null;
}

function setAnswer(draft: ClaudeDraft, speaker: string, answer: Answer): void {
  const { answers } = draft.memory;
  if (!Object.hasOwn(answers, speaker) && Object.keys(answers).length >= limits.sessionToolsMax) return;
  keep(draft, { answers: { ...answers, [speaker]: answer } });
}

function addBlock(draft: ClaudeDraft, speaker: string, block: Block): void {
  const answer = own(draft.memory.answers, speaker);
  if (answer === undefined || answer.blocks.length >= limits.sessionToolsMax) return;
  setAnswer(draft, speaker, { ...answer, blocks: [...answer.blocks, block] });
}

function setBlock(draft: ClaudeDraft, speaker: string, block: Block): void {
  const answer = own(draft.memory.answers, speaker);
  if (answer === undefined) return;
  setAnswer(draft, speaker, { ...answer, blocks: answer.blocks.map((one) => (one.id === block.id ? block : one)) });
}

// Tools that Claude has called, from the call to what came of it: one message each.

type Status = NonNullable<SessionMessage['tool']>['status'];

function writeTool(draft: ClaudeDraft, id: string, tool: OpenTool, status: Status): void {
  const { tools } = draft.memory;
  if (Object.keys(tools).length < limits.sessionToolsMax) keep(draft, { tools: { ...tools, [id]: tool } });
  write(draft, { id, role: 'tool', text: tool.text, partial: true, tool: { name: tool.name, status } });
}

/** A tool that waits for leave, or has got it. */
function markTool(draft: ClaudeDraft, id: string | null, status: 'pending' | 'running'): void {
  const tool = id === null ? undefined : own(draft.memory.tools, id);
  if (id !== null && tool !== undefined) writeTool(draft, id, tool, status);
}

function endTool(draft: ClaudeDraft, id: string, status: 'done' | 'failed', output: string): void {
  const tool = own(draft.memory.tools, id);
  if (tool === undefined) return;
  const { [id]: _ended, ...tools } = draft.memory.tools;
  keep(draft, { tools });
  const text = [tool.text, clip(output, limits.sessionOutputCharsMax)].filter((one) => one !== '').join('\n');
  write(draft, { id, role: 'tool', text, tool: { name: tool.name, status } });
}

// What Claude wants from a person: permissions for tools, plans and questions, one put after another. In automatic mode
// everything but a question is allowed at once, and said so.

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
function putNext(draft: ClaudeDraft): void {
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

type AnsweringAction = Extract<UserAction, { readonly ask_id: string }>;

/** A person's answer to the ask that is open. */
export function answer(draft: ClaudeDraft, deed: AnsweringAction): Result<null> {
  const [ask] = draft.memory.asks;
  if (ask === undefined || idOfAsk(ask) !== deed.ask_id) {
    return fail('E_STATE_CHANGED', 'the request was already answered or withdrawn');
  }
  if (deed.kind === 'reject') {
    settle(draft, ask.request);
    sayLine(draft, denyLine(ask.request, deed.because ?? plainNo));
  } else if (ask.interview === null) {
    if (deed.kind !== 'approve')
      return fail('E_UNSUPPORTED', 'this request needs an approval or a rejection', 'approve or reject it');
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
