// What the Codex adapter remembers between lines. Plain values; bounded.

import type { AskKind } from '../../../model/asks.ts';
import { fail, ok, type Result } from '../../../model/errors.ts';
import { askId, mainScope, type ScopeId, scopeId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { MachineEventKind, PendingAsk, SessionMessage } from '../../../model/sessions.ts';
import { type Fields, fieldsIn, idOf, listOf, rowsOf, textOf } from '../../fields.ts';
import type { Answering, Opening } from '../../protocol/adapter.ts';
import {
  clip,
  type Draft,
  freshMarks,
  fullCode,
  fullReason,
  hasRoom,
  keep,
  type Marked,
  nextId,
  note,
  own,
  sayLine,
  tell,
  tellRefused,
  type Weighed,
  weightOf,
  write,
} from '../../protocol/draft.ts';
import {
  type Calls,
  call,
  methodUnknown,
  noCalls,
  type RpcId,
  refusalLine,
  replyLine,
} from '../../protocol/json-rpc.ts';
import {
  answeredBy,
  askOfInterview,
  formContent,
  formQuestions,
  type Interview,
  interviewOf,
  nextOf,
  type Question,
  questionId,
} from '../../protocol/questions.ts';
import { beginTurn, freshWatch, hearIdle, setWatch, type Watched } from '../../protocol/watch.ts';
import { approvalMethods, type CodexFailure, type CodexRequest, initializedLine, requests } from '../protocol.ts';

/** A request of the server that waits for a person. */
interface OpenAsk extends Weighed {
  readonly id: RpcId;
  /** The id of the ask: that of the item it is about, which stays the same on another connection. */
  readonly key: string;
  readonly method: string;
  readonly params: Fields;
  readonly scope: ScopeId;
  /** Null: a yes or a no. */
  readonly interview: Interview | null;
}

/** Something that is being said or done. */
interface Item {
  readonly role: Extract<SessionMessage['role'], 'agent' | 'thought' | 'tool'>;
  /** Of a tool. */
  readonly name: string;
  readonly text: string;
  readonly output: string;
}

export interface CodexMemory extends Watched, Marked {
  readonly opening: Opening;
  /** The server is the user's own and outlives us. */
  readonly livesOn: boolean;
  readonly calls: Calls;
  readonly thread: string | null;
  /** The server has put the thread away: it has to be taken up before the next turn. */
  readonly isAway: boolean;
  readonly turn: string | null;
  /** A turn was announced and its end is not there yet. */
  readonly isBegun: boolean;
  /** Anything but the prompt was heard of the turn. */
  readonly hasOutput: boolean;
  /** What is to be said as soon as there is a thread; null: nothing. */
  readonly waiting: string | null;
  /** Prompts of ours that the server has not repeated yet. */
  readonly unrepeated: readonly string[];
  readonly asks: readonly OpenAsk[];
  readonly settled: readonly string[];
  readonly items: Readonly<Record<string, Item>>;
  /** Commands that were begun and have not ended: they may outlast their turn. */
  readonly running: readonly string[];
  readonly isRetrying: boolean;
  /** What the server said of the failure that ends the turn. */
  readonly failure: CodexFailure | null;
  /** The ask that a failed turn has left behind: words for it are another prompt. */
  readonly failedAsk: string | null;
}

export type CodexDraft = Draft<CodexMemory>;

export const freshMemory = (opening: Opening, livesOn: boolean, at: number): CodexMemory => ({
  ...freshMarks(opening.spawned_at),
  opening,
  livesOn,
  calls: noCalls,
  thread: opening.rejoin?.thread ?? opening.resume,
  isAway: false,
  turn: null,
  isBegun: false,
  hasOutput: false,
  waiting: null,
  unrepeated: [],
  asks: [],
  settled: [],
  items: {},
  running: [],
  isRetrying: false,
  failure: null,
  failedAsk: null,
  watch: freshWatch(at),
});

// What is said to Codex's app-server: the opening, turns and their interruption.

/** What a reply is about. */
export type Purpose = 'initialize' | 'thread' | 'turn' | 'interrupt' | 'turns';

function ask(draft: CodexDraft, purpose: Purpose, { method, params }: CodexRequest): void {
  const { calls, line } = call(draft.memory.calls, method, params, {}, purpose);
  keep(draft, { calls });
  sayLine(draft, line);
}

export function sayHello(draft: CodexDraft): void {
  ask(draft, 'initialize', requests.initialize());
}

/** Goes on with a thread, or begins one. Whether something needs leave is for a person to say, in automatic mode for us. */
export function sayThread(draft: CodexDraft): void {
  const { thread, opening } = draft.memory;
  const { cwd, model, rejoin } = opening;
  sayLine(draft, initializedLine);
  if (rejoin !== null || (draft.memory.livesOn && thread !== null)) {
    ask(draft, 'thread', requests.resumeThread(thread));
    return;
  }
  const settings = {
    cwd,
    approvalPolicy: 'on-request',
    sandbox: 'workspace-write',
    ...(model === null ? {} : { model }),
  };
  if (thread === null) ask(draft, 'thread', requests.startThread(settings));
  else ask(draft, 'thread', requests.resumeThread(thread, settings));
}

/** There is no thread yet. */
export const isOpening = ({ calls }: CodexMemory): boolean =>
  Object.values(calls.open).some((purpose) => purpose === 'initialize' || purpose === 'thread');

/** A prompt. While a turn runs the server takes it into that turn; before there is a thread it waits. */
export function sayPrompt(draft: CodexDraft, text: string): void {
  write(draft, { id: nextId(draft, 'user'), role: 'user', text });
  const { waiting, turn } = draft.memory;
  if (turn === null) beginTurn(draft);
  if (draft.memory.isAway) {
    keep(draft, { isAway: false });
    ask(draft, 'thread', requests.resumeThread(draft.memory.thread));
  }
  if (isOpening(draft.memory)) {
    keep(draft, { waiting: waiting === null ? text : `${waiting}\n\n${text}` });
    setWatch(draft, { words: 'held' });
  } else sayTurn(draft, text);
}

export function sayTurn(draft: CodexDraft, text: string): void {
  const { thread, unrepeated } = draft.memory;
  keep(draft, { waiting: null, unrepeated: [...unrepeated, clip(text)].slice(-8) });
  setWatch(draft, { words: 'said' });
  ask(draft, 'turn', requests.startTurn(thread, text));
}

/** What it does now; a turn of which nothing was heard yet is interrupted as soon as it has an id. */
export function sayInterrupt(draft: CodexDraft): void {
  const { thread, turn, watch } = draft.memory;
  setWatch(draft, { isCancelling: watch.isTurnOpen });
  keep(draft, { waiting: null });
  if (turn !== null) ask(draft, 'interrupt', requests.interruptTurn(thread, turn));
}

/** The turn that runs in a thread we have joined. */
export function askTurns(draft: CodexDraft): void {
  const { thread } = draft.memory;
  ask(draft, 'turns', requests.lastTurn(thread, { sortDirection: 'desc' }));
}

// What Codex says and does, as messages that grow: its items, from their start over their pieces to their end.

type Status = NonNullable<SessionMessage['tool']>['status'];

export function hearItem(draft: CodexDraft, item: Fields, isDone: boolean): void {
  const id = idOf(item.id);
  if (id === null) return;
  if (item.type !== 'userMessage') keep(draft, { hasOutput: true });
  switch (item.type) {
    case 'userMessage':
      if (isDone) hearPrompt(draft, id, item);
      return;
    case 'agentMessage':
    case 'plan':
      hearWords(draft, id, 'agent', textOf(item.text) ?? '', isDone);
      return;
    case 'reasoning':
      hearWords(draft, id, 'thought', thoughtIn(item), isDone);
      return;
    case 'contextCompaction':
      if (isDone) note(draft, id, 'the conversation was compacted');
      return;
    case 'hookPrompt':
    case 'enteredReviewMode':
    case 'exitedReviewMode':
      return;
    default:
      hearTool(draft, id, item, isDone);
  }
}

/** What somebody else typed into a thread we have joined; what we said ourselves is written already. */
function hearPrompt(draft: CodexDraft, id: string, item: Fields): void {
  const text = rowsOf(item.content)
    .flatMap((part) => textOf(part.text) ?? [])
    .join('\n');
  const place = draft.memory.unrepeated.indexOf(clip(text));
  if (place >= 0) keep(draft, { unrepeated: draft.memory.unrepeated.toSpliced(place, 1) });
  else if (text !== '') write(draft, { id, role: 'user', text });
}

function hearWords(draft: CodexDraft, id: string, role: 'agent' | 'thought', text: string, isDone: boolean): void {
  tell(draft, 'say:text', { partial: !isDone });
  if (isDone) {
    const begun = own(draft.memory.items, id)?.text ?? '';
    forget(draft, id);
    if (text !== '' || begun !== '') write(draft, { id, role, text: text === '' ? begun : text });
  } else remember(draft, id, { role, name: '', text, output: '' });
}

const thoughtIn = ({ summary, content }: Fields): string =>
  [...listOf(summary), ...listOf(content)].filter((one): one is string => typeof one === 'string').join('\n');

/** One more piece of something said or printed. */
export function hearPiece(draft: CodexDraft, params: Fields): void {
  const id = idOf(params.itemId);
  const item = id === null ? undefined : own(draft.memory.items, id);
  const { delta } = params;
  if (id === null || item === undefined || typeof delta !== 'string') return;
  if (item.role === 'tool') growOutput(draft, id, item, delta);
  else if (item.text.length < limits.sessionMessageCharsMax) {
    const grown = { ...item, text: clip(item.text + delta) };
    remember(draft, id, grown);
    write(draft, { id, role: item.role, text: grown.text, partial: true });
  }
}

function growOutput(draft: CodexDraft, id: string, item: Item, delta: string): void {
  hearOutput(draft);
  if (item.output.length >= limits.sessionOutputCharsMax) return;
  const grown = { ...item, output: clip(item.output + delta, limits.sessionOutputCharsMax) };
  remember(draft, id, grown);
  writeTool(draft, id, grown, 'running');
}

function hearTool(draft: CodexDraft, id: string, item: Fields, isDone: boolean): void {
  const known = own(draft.memory.items, id);
  const output = clip(textOf(item.aggregatedOutput) ?? known?.output ?? '', limits.sessionOutputCharsMax);
  const { name, text } = callOf(item);
  const tool: Item = { role: 'tool', name: clip(name, limits.detailCharsMax), text: clip(text), output };
  if (item.type === 'commandExecution') hearRunning(draft, id, !isDone);
  if (!isDone) {
    remember(draft, id, tool);
    writeTool(draft, id, tool, 'running');
    return;
  }
  forget(draft, id);
  writeTool(draft, id, tool, item.status === 'failed' || item.status === 'declined' ? 'failed' : 'done');
  hearOutput(draft);
}

/** A sign of work, unless it looks like the answer to an open ask, or comes from behind a turn that is over. */
function hearOutput(draft: CodexDraft): void {
  const { asks, watch } = draft.memory;
  if (asks.length === 0 && watch.isTurnOpen) tell(draft, 'command_output');
}

/** A command may go on when its turn has ended, also when that was stopped. */
function hearRunning(draft: CodexDraft, id: string, isBegun: boolean): void {
  const others = draft.memory.running.filter((one) => one !== id);
  keep(draft, { running: isBegun ? [...others, id].slice(-limits.sessionToolsMax) : others });
}

/** What it is called and what it does, in one line. */
function callOf(item: Fields): Pick<Item, 'name' | 'text'> {
  const type = textOf(item.type) ?? 'tool';
  switch (type) {
    case 'commandExecution':
      return { name: 'command', text: textOf(item.command) ?? 'a command' };
    case 'fileChange':
      return { name: 'edit', text: changesIn(item) };
    case 'mcpToolCall':
    case 'dynamicToolCall': {
      const name = [item.server, item.namespace, item.tool].flatMap((one) => textOf(one) ?? []).join('.');
      return { name: name === '' ? type : name, text: `${name} ${wordsOf(item.arguments)}`.trim() };
    }
    default:
      return { name: type, text: textOf(item.query) ?? textOf(item.path) ?? textOf(item.prompt) ?? type };
  }
}

const changesIn = (item: Fields): string => {
  const paths = rowsOf(item.changes).flatMap(({ path }) => textOf(path) ?? []);
  return paths.length === 0 ? 'files' : paths.join(', ');
};

function wordsOf(value: unknown): string {
  const words = typeof value === 'string' ? value : JSON.stringify(fieldsIn(value));
  return words === '{}' ? '' : clip(words, limits.detailCharsMax);
}

/** A tool that waits for leave, or has got it. */
function markTool(draft: CodexDraft, id: string | null, status: 'pending' | 'running'): void {
  const item = id === null ? undefined : own(draft.memory.items, id);
  if (id !== null && item?.role === 'tool') writeTool(draft, id, item, status);
}

function writeTool(draft: CodexDraft, id: string, { name, text, output }: Item, status: Status): void {
  const words = output === '' ? text : `${text}\n${output}`;
  const isEnd = status === 'done' || status === 'failed';
  write(draft, { id, role: 'tool', text: words, partial: !isEnd, tool: { name, status } });
}

/** The turn is over: nothing grows any more. `status` is for tools of which nothing more was told. */
export function endItems(draft: CodexDraft, status: 'done' | 'failed'): void {
  for (const [id, item] of Object.entries(draft.memory.items)) {
    if (item.role === 'tool') writeTool(draft, id, item, status);
    else if (item.text !== '') write(draft, { id, role: item.role, text: item.text });
  }
  keep(draft, { items: {} });
}

function remember(draft: CodexDraft, id: string, item: Item): void {
  const { items } = draft.memory;
  if (!Object.hasOwn(items, id) && Object.keys(items).length >= limits.sessionToolsMax) return;
  keep(draft, { items: { ...items, [id]: item } });
}

function forget(draft: CodexDraft, id: string): void {
  const { [id]: _ended, ...items } = draft.memory.items;
  keep(draft, { items });
}

// What Codex wants from a person: leave for commands, edits and permissions, answers to its questions and to those of MCP
// servers, one put after another. In automatic mode everything but a question is granted at once, and said so.

interface Manner {
  readonly event: MachineEventKind;
  readonly kind: AskKind;
  /** The reply to a yes and to a no. */
  readonly reply: (isYes: boolean, params: Fields) => unknown;
}

const decision = (isYes: boolean): unknown => ({ decision: isYes ? 'accept' : 'decline' });
const consent = (isYes: boolean): unknown => ({ action: isYes ? 'accept' : 'decline', content: null, _meta: null });

const manners: Readonly<Record<string, Manner>> = {
  [approvalMethods.command]: { event: 'ask:command', kind: 'command', reply: decision },
  [approvalMethods.edit]: { event: 'ask:tool', kind: 'edit', reply: decision },
  [approvalMethods.permissions]: {
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

function pendingOf(draft: CodexDraft, ask: OpenAsk, kind: AskKind): PendingAsk {
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

/** A person's answer to the ask that is open. */
export function answer(draft: CodexDraft, deed: Answering): Result<null> {
  const [ask] = draft.memory.asks;
  const manner = ask === undefined ? undefined : own(manners, ask.method);
  if (ask === undefined || manner === undefined || idOfAsk(ask) !== deed.ask_id) {
    return fail('E_STATE_CHANGED', 'the request was already answered or withdrawn');
  }
  if (deed.kind === 'reject') {
    settle(draft, ask.key);
    sayLine(draft, replyLine(ask.id, manner.reply(false, ask.params)));
    // A no takes no words here: they are said into the turn that goes on.
    if (deed.because !== null) sayPrompt(draft, deed.because);
  } else if (ask.interview === null) {
    if (deed.kind !== 'approve')
      return fail('E_UNSUPPORTED', 'this request needs an approval or a rejection', 'approve or reject it');
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
