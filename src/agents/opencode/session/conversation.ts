// What the adapter of OpenCode's and Kilo's server remembers between events. Plain values; bounded.

import { fail, ok, type Result } from '../../../model/errors.ts';
import { askId, mainScope, type ScopeId, scopeId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { MachineEventKind, PendingAsk, SessionMessage } from '../../../model/sessions.ts';
import { type Fields, fieldsIn, idOf, textOf } from '../../fields.ts';
import type { Answering, Opening, Outgoing } from '../../protocol/adapter.ts';
import {
  clip,
  type Draft,
  freshMarks,
  fullReason,
  hasRoom,
  keep,
  type Marked,
  nextId,
  note,
  own,
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
  questionId,
} from '../../protocol/questions.ts';
import { beginTurn, freshWatch, hearTaken, setWatch, type Watched } from '../../protocol/watch.ts';
import { permissionKind, permissionText } from '../events.ts';
import { type AskedKind, modelOf, questionsIn, requests, type ServerRequest } from '../protocol.ts';

/** What a reply is about. The last five are one look at how things stand. */
type Purpose = 'create' | 'check' | 'prompt' | 'answer' | 'reject' | 'abort' | LookPart;
export const lookParts = ['status', 'permissions', 'questions', 'messages', 'children'] as const;
export type LookPart = (typeof lookParts)[number];

type Request = Pick<Extract<Outgoing, { readonly to: 'server' }>, 'method' | 'path' | 'body'>;

/** A request that was not answered yet. */
export interface Call extends Request {
  readonly purpose: Purpose;
  /** How often it was said. */
  readonly tries: number;
  /** For an answer: what was answered, to be asked again if the server did not take it. */
  readonly ask: OpenAsk | null;
}

/** Something that waits for a person. */
export interface OpenAsk extends Weighed {
  /** As the server knows it. */
  readonly id: string;
  /** The id of the ask: the same, unless an answer was not taken and it is asked once more. */
  readonly key: string;
  readonly kind: AskedKind;
  readonly scope: ScopeId;
  readonly about: Fields;
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

/** Why a turn failed, in the server's words. */
export interface Trouble {
  readonly name: string;
  readonly status: number | null;
  readonly words: string;
}

/** What was heard of the turn, for the check of its outcome (SES6). */
interface Seen {
  /** The server has taken the prompt: what it says from now on is about this turn. */
  readonly isBegun: boolean;
  /** It was said while another turn was being stopped, whose last words may come late. */
  readonly isAfterStop: boolean;
  readonly hasOutput: boolean;
  /** The last answer of the model. */
  readonly answer: string | null;
  /** That answer is written to its end: nothing of it comes late. */
  readonly isAnswerDone: boolean;
  /** Why the model stopped, of that answer. */
  readonly finish: string | null;
  readonly trouble: Trouble | null;
  /** Somebody said no, and no other answer began since. */
  readonly wasRefused: boolean;
}

export const nothingSeen: Seen = {
  isBegun: false,
  isAfterStop: false,
  hasOutput: false,
  answer: null,
  isAnswerDone: false,
  finish: null,
  trouble: null,
  wasRefused: false,
};

/** A look at how things stand, while its parts come in. */
export interface Look {
  /** The conversation lived on without us: what it is in has to be told. */
  readonly isRejoin: boolean;
  /** It must be known: after a loss, as opposed to a look now and then. */
  readonly isNeeded: boolean;
  readonly parts: Partial<Readonly<Record<LookPart, unknown>>>;
  /** What was the news when it began: an older picture than the events must not count. */
  readonly news: number;
}

export interface HttpMemory extends Watched, Marked {
  readonly opening: Opening;
  /** From the daemon's timeline to the wall's, as far as the start tells. */
  readonly skewMs: number;
  readonly session: string | null;
  /** Conversations that this one has started. */
  readonly children: readonly string[];
  readonly calls: Readonly<Record<string, Call>>;
  /** What is to be said as soon as there is a conversation that takes it; null: nothing. */
  readonly waiting: string | null;
  /** Prompts of ours that the server has not repeated yet. */
  readonly unrepeated: readonly string[];
  /** Who said a message, of the last ones. */
  readonly speakers: Readonly<Record<string, 'user' | 'assistant'>>;
  readonly seen: Seen;
  /**
   * A turn that failed or was stopped is called over at once, and wound up for another second: a prompt in between would be
   * lost in it. The answer that is not done yet, and whether it is by now; null: nothing is wound up.
   */
  readonly winding: { readonly answer: string; readonly isDone: boolean } | null;
  readonly asks: readonly OpenAsk[];
  readonly settled: readonly string[];
  readonly items: Readonly<Record<string, Item>>;
  readonly isRetrying: boolean;
  /** The last turn was taken for a good one. */
  readonly wasGood: boolean;
  /** The ask that a failed turn has left behind: words for it are another prompt. */
  readonly failedAsk: string | null;
  readonly look: Look | null;
  /** Looks that failed or were overtaken, one after another. */
  readonly lookTries: number;
  readonly lookedAt: number;
  /** When to look next. */
  readonly lookAt: number | null;
  readonly tokens: { readonly input: number; readonly output: number } | null;
  /** Counts what was heard or said about state and asks. */
  readonly news: number;
}

export type HttpDraft = Draft<HttpMemory>;

export const freshMemory = (opening: Opening, at: number): HttpMemory => ({
  ...freshMarks(opening.spawned_at),
  opening,
  skewMs: opening.spawned_at - at,
  session: opening.resume ?? opening.rejoin?.session ?? null,
  children: [],
  calls: {},
  waiting: null,
  unrepeated: [],
  speakers: {},
  seen: nothingSeen,
  winding: null,
  asks: [],
  settled: [],
  items: {},
  isRetrying: false,
  wasGood: false,
  failedAsk: null,
  look: null,
  lookTries: 0,
  lookedAt: at,
  lookAt: null,
  tokens: null,
  news: 0,
  watch: freshWatch(at),
});

// What is said to the server: conversations, prompts, answers, the end of a turn, and looks at how things stand.

function ask(draft: HttpDraft, purpose: Purpose, { method, path, body }: ServerRequest, about?: OpenAsk): void {
  const call = { method, path, body: body === null ? null : JSON.stringify(body) };
  // A prompt is not said twice by itself, so it need not be kept.
  const kept = purpose === 'prompt' ? { ...call, body: null } : call;
  register(draft, call, { ...kept, purpose, tries: 1, ask: about ?? null });
}

function register(draft: HttpDraft, request: Pick<Call, 'method' | 'path' | 'body'>, call: Call): void {
  const id = nextId(draft, call.purpose);
  const kept = Object.entries(draft.memory.calls).slice(1 - limits.serverCallsMax);
  keep(draft, { calls: Object.fromEntries([...kept, [id, call]]) });
  draft.said.push({ to: 'server', request: id, method: request.method, path: request.path, body: request.body });
}

/** The same once more; false when it was said often enough. */
export function sayAgain(draft: HttpDraft, call: Call): boolean {
  if (call.tries >= limits.serverTriesMax) return false;
  register(draft, call, { ...call, tries: call.tries + 1 });
  return true;
}

/** A conversation of our own, or the one to go on with. */
export function sayConversation(draft: HttpDraft): void {
  const { session } = draft.memory;
  if (session === null) ask(draft, 'create', requests.createSession());
  else ask(draft, 'check', requests.session(session));
}

/** There is no conversation yet. */
export const isOpening = (draft: HttpDraft): boolean =>
  Object.values(draft.memory.calls).some(({ purpose }) => purpose === 'create' || purpose === 'check');

export function sayPrompt(draft: HttpDraft, text: string): void {
  write(draft, { id: nextId(draft, 'user'), role: 'user', text });
  const { waiting, watch, seen } = draft.memory;
  const isAfterStop = watch.isCancelling || (watch.isTurnOpen && seen.isAfterStop);
  setWatch(draft, { isCancelling: false });
  beginTurn(draft);
  keep(draft, { seen: { ...nothingSeen, isAfterStop }, isRetrying: false, wasGood: false, failedAsk: null });
  keep(draft, { waiting: waiting === null ? text : `${waiting}\n\n${text}` });
  setWatch(draft, { words: 'held' });
  sayWaiting(draft);
}

/** What waits is said, if it would be taken. */
export function sayWaiting(draft: HttpDraft): void {
  const { waiting, session, winding } = draft.memory;
  if (waiting !== null && session !== null && winding === null && !isOpening(draft)) sayTurn(draft, waiting, session);
}

function sayTurn(draft: HttpDraft, text: string, session: string): void {
  const { opening, unrepeated } = draft.memory;
  keep(draft, { waiting: null, unrepeated: [...unrepeated, clip(text)].slice(-8) });
  setWatch(draft, { words: 'said' });
  countNews(draft);
  const model = opening.model === null ? null : modelOf(opening.model);
  ask(draft, 'prompt', requests.prompt(session, text, model === null ? {} : { model }));
}

/** Something was heard or said about state or asks: an older picture must not count any more. */
export const countNews = (draft: HttpDraft): void => keep(draft, { news: draft.memory.news + 1 });

export function sayAbort(draft: HttpDraft): void {
  const { session } = draft.memory;
  if (session !== null) ask(draft, 'abort', requests.abort(session));
}

/** A yes, or the answers to questions: if they are not taken, it is asked once more. */
function sayAnswer(draft: HttpDraft, about: OpenAsk, request: ServerRequest): void {
  countNews(draft);
  ask(draft, 'answer', request, about);
}

/** A no. `isWanted`: somebody waits for what becomes of it. */
function sayNo(draft: HttpDraft, about: OpenAsk, because: string | null, isWanted: boolean): void {
  const request = requests.refuse(about.kind, about.id, because);
  countNews(draft);
  if (isWanted) ask(draft, 'answer', request, about);
  else ask(draft, 'reject', request);
}

/** What an earlier look still waits for is not wanted any more. */
export function forgetLook(draft: HttpDraft): void {
  const isOfLook = ({ purpose }: Call): boolean => (lookParts as readonly string[]).includes(purpose);
  const others = Object.entries(draft.memory.calls).filter(([, call]) => !isOfLook(call));
  keep(draft, { calls: Object.fromEntries(others) });
}

/** The last answer, the prompt before it, and one more. */
const lookMessagesMax = 3;

/** Asks how things stand, all at once. */
export function sayLook(draft: HttpDraft, how: Pick<Look, 'isRejoin' | 'isNeeded'>): void {
  const { session, news } = draft.memory;
  if (session === null) return;
  forgetLook(draft);
  keep(draft, { look: { ...how, parts: {}, news }, lookedAt: draft.at, lookAt: null });
  const parts: Readonly<Record<LookPart, ServerRequest>> = {
    status: requests.status(),
    permissions: requests.asked('permission'),
    questions: requests.asked('question'),
    messages: requests.messages(session, lookMessagesMax),
    children: requests.children(session),
  };
  for (const part of lookParts) ask(draft, part, parts[part]);
}

// What the agent says and does, as messages that grow: the parts of its answers, from their beginning over their pieces to
// their end.

type Status = NonNullable<SessionMessage['tool']>['status'];

export const see = (draft: HttpDraft, seen: Partial<Seen>): void =>
  keep(draft, { seen: { ...draft.memory.seen, ...seen } });

/** A part as it is now, of one of the messages of the conversation. */
export function hearPart(draft: HttpDraft, part: Fields): void {
  const id = idOf(part.id);
  // What the program puts in by itself: its notes to the model, and signs of its own work that it takes back.
  if (id === null || part.synthetic === true || part.ignored === true) return;
  if (own(draft.memory.speakers, idOf(part.messageID) ?? '') === 'user') {
    if (part.type === 'text') hearPrompt(draft, id, textOf(part.text));
    return;
  }
  hearRetried(draft);
  switch (part.type) {
    case 'text':
      hearWords(draft, id, 'agent', part);
      return;
    case 'reasoning':
      hearWords(draft, id, 'thought', part);
      return;
    case 'tool':
      hearTool(draft, id, part);
      return;
    case 'compaction':
      note(draft, id, 'the conversation was compacted');
      return;
    default:
      return;
  }
}

/** What somebody else typed into the conversation; what we said ourselves is written already. */
function hearPrompt(draft: HttpDraft, id: string, text: string | null): void {
  if (text === null) return;
  const { unrepeated } = draft.memory;
  const at = unrepeated.indexOf(clip(text));
  if (at >= 0) hearTaken(draft);
  if (at >= 0) keep(draft, { unrepeated: unrepeated.toSpliced(at, 1) });
  else write(draft, { id, role: 'user', text });
}

/** The model answers again. */
function hearRetried(draft: HttpDraft): void {
  if (!draft.memory.isRetrying) return;
  keep(draft, { isRetrying: false });
  tell(draft, 'api_retried');
}

const isOpen = (draft: HttpDraft): boolean => draft.memory.watch.isTurnOpen;

function hearWords(draft: HttpDraft, id: string, role: 'agent' | 'thought', part: Fields): void {
  const text = typeof part.text === 'string' ? part.text : '';
  const isEnd = fieldsIn(part.time).end !== undefined || !isOpen(draft);
  if (isEnd) {
    forget(draft, id);
    if (text !== '') write(draft, { id, role, text });
  } else remember(draft, id, { role, name: '', text: clip(text), output: '' });
  if (text !== '') spoke(draft, role, !isEnd);
}

function spoke(draft: HttpDraft, role: Item['role'], partial: boolean): void {
  if (!isOpen(draft)) return;
  if (role === 'agent') see(draft, { hasOutput: true });
  tell(draft, 'say:text', { partial });
}

/** One more piece of something that is being said. */
export function hearPiece(draft: HttpDraft, { partID, field, delta }: Fields): void {
  const id = idOf(partID);
  const item = id === null ? undefined : own(draft.memory.items, id);
  if (id === null || item === undefined || item.role === 'tool' || field !== 'text' || typeof delta !== 'string')
    return;
  if (item.text === '') spoke(draft, item.role, true);
  if (item.text.length >= limits.sessionMessageCharsMax) return;
  const grown = { ...item, text: clip(item.text + delta) };
  remember(draft, id, grown);
  write(draft, { id, role: item.role, text: grown.text, partial: true });
}

function hearTool(draft: HttpDraft, id: string, part: Fields): void {
  const state = fieldsIn(part.state);
  const output = textOf(state.output) ?? textOf(state.error) ?? textOf(fieldsIn(state.metadata).output) ?? '';
  const tool: Item = { role: 'tool', ...callIn(part, state), output: clip(output, limits.sessionOutputCharsMax) };
  const status = statusOf(state.status, isOpen(draft));
  if (status === 'done' || status === 'failed') forget(draft, id);
  else remember(draft, id, tool);
  writeTool(draft, id, tool, status);
  if (!isOpen(draft) || output === '') return;
  see(draft, { hasOutput: true });
  // Beside an open ask it would look like the answer to it.
  if (draft.memory.asks.length === 0) tell(draft, 'command_output');
}

function statusOf(said: unknown, isTurnOpen: boolean): Status {
  if (said === 'completed') return 'done';
  if (said === 'error' || !isTurnOpen) return 'failed';
  return said === 'pending' ? 'pending' : 'running';
}

/** What it is called and what it does, in one line. */
function callIn(part: Fields, state: Fields): Pick<Item, 'name' | 'text'> {
  const name = clip(textOf(part.tool) ?? 'tool', limits.detailCharsMax);
  const input = fieldsIn(state.input);
  const about = [input.command, input.filePath, input.pattern, input.url, input.query, state.title, input.description];
  return { name, text: clip(about.flatMap((one) => textOf(one) ?? [])[0] ?? name) };
}

function writeTool(draft: HttpDraft, id: string, { name, text, output }: Item, status: Status): void {
  const words = output === '' ? text : `${text}\n${output}`;
  const isEnd = status === 'done' || status === 'failed';
  write(draft, { id, role: 'tool', text: words, partial: !isEnd, tool: { name, status } });
}

/** Taken back by the agent: nothing more will be heard of it. */
export function hearRemoved(draft: HttpDraft, id: string | null): void {
  const item = id === null ? undefined : own(draft.memory.items, id);
  if (id === null || item === undefined) return;
  forget(draft, id);
  endItem(draft, id, item, 'failed');
}

function endItem(draft: HttpDraft, id: string, item: Item, status: 'done' | 'failed'): void {
  if (item.role === 'tool') writeTool(draft, id, item, status);
  else if (item.text !== '') write(draft, { id, role: item.role, text: item.text });
}

/** The turn is over: nothing grows any more. `status` is for tools of which nothing more was told. */
export function endItems(draft: HttpDraft, status: 'done' | 'failed'): void {
  for (const [id, item] of Object.entries(draft.memory.items)) endItem(draft, id, item, status);
  keep(draft, { items: {} });
}

function remember(draft: HttpDraft, id: string, item: Item): void {
  const { items } = draft.memory;
  if (!Object.hasOwn(items, id) && Object.keys(items).length >= limits.sessionToolsMax) return;
  keep(draft, { items: { ...items, [id]: item } });
}

function forget(draft: HttpDraft, id: string): void {
  if (!Object.hasOwn(draft.memory.items, id)) return;
  const { [id]: _ended, ...items } = draft.memory.items;
  keep(draft, { items });
}

// What the agent wants from a person: leave for its tools, and answers to its questions, put one after another. In automatic
// mode everything but a question is granted at once, and said so.

/** What is asked, out of an event or a list of the server's; null for what is none. */
export function askIn(draft: HttpDraft, kind: OpenAsk['kind'], about: Fields): OpenAsk | null {
  const id = idOf(about.id);
  const session = idOf(about.sessionID);
  const questions = kind === 'question' ? questionsIn(about) : [];
  if (id === null || (kind === 'question' && questions.length === 0)) return null;
  const isMain = session === null || session === draft.memory.session;
  const shown = kind === 'permission' ? shownOf(about) : {};
  const interview = kind === 'question' ? interviewOf(questions) : null;
  return {
    bytes: weightOf([shown, interview]),
    id,
    key: id,
    kind,
    scope: isMain ? mainScope : scopeId(session),
    about: shown,
    interview,
  };
}

/** Only what is shown: the rest may be long. */
const shownOf = (about: Fields): Fields => {
  const permission = textOf(about.permission) ?? textOf(about.type) ?? 'tool';
  return { permission, text: permissionText(permission, about).slice(0, limits.askCharsMax) };
};

export function hearAsk(draft: HttpDraft, ask: OpenAsk): void {
  const { asks, settled, opening, watch } = draft.memory;
  if (settled.includes(ask.id) || asks.some(({ id }) => id === ask.id)) return;
  countNews(draft);
  // It had not heard of the stop yet.
  if (watch.isCancelling) {
    settle(draft, ask.id);
    sayNo(draft, ask, null, false);
    return;
  }
  if (opening.auto_approve && ask.interview === null) {
    settle(draft, ask.id);
    sayAnswer(draft, ask, requests.allowOnce(ask.id));
    note(draft, `auto-${ask.key}`, `approved automatically: ${textOf(ask.about.text) ?? 'a tool'}`);
    return;
  }
  if (!hasRoom(draft, ask)) {
    settle(draft, ask.id);
    sayNo(draft, ask, fullReason, false);
    tellRefused(draft, pendingOf(ask).text);
    return;
  }
  keep(draft, { asks: [...asks, ask] });
  if (asks.length === 0) putNext(draft);
}

/** The server did not take the answer: it is asked once more, as another ask, since an ask is answered only once. */
export function askOnceMore(draft: HttpDraft, ask: OpenAsk, why: string): void {
  const { asks, settled } = draft.memory;
  const tries = Number(/~(\d+)$/.exec(ask.key)?.[1] ?? 1) + 1;
  const again = { ...ask, key: `${ask.id}~${tries}` };
  note(draft, `refused-${again.key}`, `the answer was not accepted: ${why}`);
  keep(draft, { asks: [...asks, again], settled: settled.filter((id) => id !== ask.id) });
  if (asks.length === 0) putNext(draft);
}

/** The first of the open asks, in the words of the machine. */
export function putNext(draft: HttpDraft): void {
  const [ask] = draft.memory.asks;
  if (ask !== undefined) tell(draft, eventOf(ask), { ask: pendingOf(ask) });
}

function eventOf({ interview, about }: OpenAsk): MachineEventKind {
  if (interview !== null) return 'ask:followup';
  return permissionKind(textOf(about.permission) ?? '') === 'command' ? 'ask:command' : 'ask:tool';
}

export function pendingOf({ key, scope, interview, about }: OpenAsk): PendingAsk {
  const question = interview === null ? null : askOfInterview(key, scope, interview);
  if (question !== null) return question;
  const kind = permissionKind(textOf(about.permission) ?? '');
  const text = textOf(about.text) ?? 'a tool';
  return { ask_id: askId(key), kind, scope, text, options: [], accepts: ['approve', 'reject'] };
}

function settle(draft: HttpDraft, id: string): void {
  const { asks, settled } = draft.memory;
  keep(draft, {
    asks: asks.filter((ask) => ask.id !== id),
    settled: [...settled, id].slice(-limits.sessionRequestsKept),
  });
}

const idOfAsk = ({ key, interview }: OpenAsk): string => (interview === null ? key : questionId(key, interview));

/** It has its answer: ours is settled already, so it was somebody else's. */
export function hearSettled(draft: HttpDraft, id: string): void {
  const { asks } = draft.memory;
  const gone = asks.find((ask) => ask.id === id);
  countNews(draft);
  if (gone === undefined) return;
  settle(draft, id);
  if (gone !== asks[0]) return;
  tell(draft, 'user_feedback', { ask_id: idOfAsk(gone) });
  putNext(draft);
}

/** Nobody is asked any more. */
export function dropAsks(draft: HttpDraft): void {
  for (const { id } of draft.memory.asks) settle(draft, id);
}

/** A stopped turn leaves what it asked behind on the server, to be found there for ever: it is refused. */
export function refuseAsks(draft: HttpDraft): void {
  for (const ask of draft.memory.asks) sayNo(draft, ask, null, false);
  dropAsks(draft);
}

/** A person's answer to the ask that is open. */
export function answer(draft: HttpDraft, deed: Answering): Result<null> {
  const [ask] = draft.memory.asks;
  if (ask === undefined || idOfAsk(ask) !== deed.ask_id) {
    return fail('E_STATE_CHANGED', 'the request was already answered or withdrawn');
  }
  if (deed.kind === 'reject') {
    settle(draft, ask.id);
    sayNo(draft, ask, deed.because, true);
  } else if (ask.interview === null) {
    if (deed.kind !== 'approve')
      return fail('E_UNSUPPORTED', 'this request needs an approval or a rejection', 'approve or reject it');
    settle(draft, ask.id);
    sayAnswer(draft, ask, requests.allowOnce(ask.id));
  } else {
    const interview = answeredBy(ask.interview, deed);
    if (!interview.ok) return interview;
    const { answers, questions } = interview.value;
    if (nextOf(interview.value) !== null) {
      keep(draft, { asks: [{ ...ask, interview: interview.value }, ...draft.memory.asks.slice(1)] });
    } else {
      settle(draft, ask.id);
      const again = { ...ask, interview: interviewOf(questions) };
      sayAnswer(draft, again, requests.answer(again.id, answers));
    }
  }
  putNext(draft);
  return ok(null);
}
