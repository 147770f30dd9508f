// What the server's events mean. Unknown ones are passed over, and so is what is about other conversations: people may
// have several on the same server.

import { agentSessionId, askId, mainScope } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { MachineEvent, MachineEventKind } from '../../../model/sessions.ts';
import { type Fields, fieldsIn, fieldsOf, idOf, rowsOf, textOf } from '../../fields.ts';
import { keep, nextId, note, own, tell } from '../../protocol/draft.ts';
import { beginTurn, endTurn, hearIdle, setWatch } from '../../protocol/watch.ts';
import { callAskedFor, eventIn, replyIn, sessionIn, settledIn } from '../protocol.ts';
import {
  askIn,
  countNews,
  dropAsks,
  endItems,
  forgetLook,
  type HttpDraft,
  type HttpMemory,
  hearAsk,
  hearPart,
  hearPiece,
  hearRemoved,
  hearSettled,
  type Look,
  type LookPart,
  lookParts,
  nothingSeen,
  type OpenAsk,
  pendingOf,
  sayAbort,
  sayLook,
  sayWaiting,
  see,
  type Trouble,
} from './conversation.ts';

/** One event of the stream. */
export function hearEvent(draft: HttpDraft, data: string): void {
  const event = eventIn(data);
  const type = textOf(event?.type);
  if (event === null || type === null) return;
  const properties = fieldsIn(event.properties);
  const session = sessionIn(properties);
  if (type === 'session.created' || type === 'session.updated') learnChildren(draft, [fieldsIn(properties.info)]);
  if (session === null) {
    // About settings and plugins, not about a turn.
    if (type === 'session.error')
      note(draft, `trouble-${draft.memory.mark}`, troubleIn(properties.error)?.words ?? null);
    return;
  }
  const isOwn = session === draft.memory.session;
  if (!isOwn && !draft.memory.children.includes(session)) return;
  setWatch(draft, { heardAt: Math.max(draft.at, draft.memory.watch.heardAt) });
  if (!hearAsked(draft, type, properties) && isOwn) hearOwn(draft, type, properties);
}

/** Conversations that ours has started, and those that they have. */
function learnChildren(draft: HttpDraft, infos: readonly Fields[]): void {
  for (const info of infos) {
    const { session, children } = draft.memory;
    const [id, parent] = [idOf(info.id), idOf(info.parentID)];
    const isOurs = parent !== null && (parent === session || children.includes(parent));
    if (id !== null && isOurs && id !== session && !children.includes(id)) {
      keep(draft, { children: [...children, id].slice(-limits.conversationsRememberedMax) });
    }
  }
}

/** There is a conversation: what was to be said is said, unless somebody thought better of it. */
export function hearCreated(draft: HttpDraft, id: string): void {
  const { waiting, watch } = draft.memory;
  keep(draft, { session: id });
  draft.rejoin = { session: id };
  tell(draft, 'session_created', { agent_session: agentSessionId(id) });
  if (waiting !== null) sayWaiting(draft);
  else if (watch.isCancelling) endTurn(draft, { kind: 'turn_cancelled', at: draft.at });
}

/** Asks of the conversation and of those below it. */
function hearAsked(draft: HttpDraft, type: string, properties: Fields): boolean {
  switch (type) {
    case 'permission.asked':
    // Up to 1.0.
    case 'permission.updated':
      hearWanted(draft, askIn(draft, 'permission', properties));
      return true;
    case 'question.asked':
      hearWanted(draft, askIn(draft, 'question', properties));
      return true;
    case 'permission.replied':
    case 'question.replied':
    case 'question.rejected':
      hearReplied(draft, type, properties);
      return true;
    default:
      return false;
  }
}

function hearWanted(draft: HttpDraft, ask: OpenAsk | null): void {
  if (ask === null) return;
  if (!draft.memory.watch.isTurnOpen) beginTurn(draft);
  // Whoever asks has taken the prompt, unless it is the turn before.
  if (!draft.memory.seen.isAfterStop) see(draft, { isBegun: true });
  hearAsk(draft, ask);
}

function hearReplied(draft: HttpDraft, type: string, properties: Fields): void {
  const id = idOf(settledIn(properties));
  const isNo = type === 'question.rejected' || replyIn(properties) === 'reject';
  if (isNo && draft.memory.watch.isTurnOpen) see(draft, { wasRefused: true });
  if (id !== null) hearSettled(draft, id);
}

function hearOwn(draft: HttpDraft, type: string, properties: Fields): void {
  switch (type) {
    case 'session.status':
      hearStatus(draft, fieldsIn(properties.status));
      return;
    case 'session.idle':
      hearOver(draft);
      return;
    case 'session.error':
      hearTrouble(draft, properties.error);
      return;
    case 'session.updated':
      hearUsage(draft, fieldsIn(fieldsIn(properties.info).tokens));
      return;
    case 'session.turn.close':
      hearClosed(draft, properties.reason);
      return;
    case 'message.updated':
      hearMessage(draft, fieldsIn(properties.info));
      return;
    case 'message.part.updated':
      hearPart(draft, fieldsIn(properties.part));
      return;
    case 'message.part.delta':
      hearPiece(draft, properties);
      return;
    case 'message.part.removed':
      hearRemoved(draft, idOf(properties.partID));
      return;
    default:
      return;
  }
}

function hearStatus(draft: HttpDraft, status: Fields): void {
  switch (status.type) {
    case 'busy':
      countNews(draft);
      hearBusy(draft);
      return;
    case 'retry':
      countNews(draft);
      hearRetry(draft, status);
      return;
    case 'idle':
      hearOver(draft);
      return;
    default:
      return;
  }
}

/** It works. A turn that nobody here began is somebody else's, at another screen of the same conversation. */
function hearBusy(draft: HttpDraft): void {
  const { watch, seen } = draft.memory;
  if (!watch.isTurnOpen) {
    beginTurn(draft);
    keep(draft, { seen: nothingSeen });
    begin(draft);
  } else if (!seen.isBegun && !seen.isAfterStop) begin(draft);
}

/** The prompt was taken. */
function begin(draft: HttpDraft): void {
  see(draft, { isBegun: true });
  if (draft.memory.asks.length === 0) tell(draft, 'api_req_started', { request: nextId(draft, 'turn') });
  // The word to stop came before there was anything to stop.
  if (draft.memory.watch.isCancelling) sayAbort(draft);
}

function hearRetry(draft: HttpDraft, { attempt, message, next }: Fields): void {
  hearBusy(draft);
  const { skewMs, watch } = draft.memory;
  const count = typeof attempt === 'number' ? attempt : 1;
  const until = typeof next === 'number' ? next - skewMs : null;
  // It said how long nothing will be heard of it.
  if (until !== null) setWatch(draft, { heardAt: Math.max(watch.heardAt, until) });
  keep(draft, { isRetrying: true });
  const words = textOf(message)?.slice(0, limits.detailCharsMax);
  tell(draft, 'api_retry_scheduled', {
    retry: { count, status: null, until },
    ...(words === undefined ? {} : { words }),
  });
}

/** An error comes before the end of its turn, or never gets one. */
function hearTrouble(draft: HttpDraft, error: unknown): void {
  const trouble = troubleIn(error);
  const { watch, seen } = draft.memory;
  if (trouble === null || !watch.isTurnOpen || (isAbort(trouble) && !seen.isBegun)) return;
  see(draft, { trouble, isBegun: true });
  hearIdle(draft);
}

/** A message of a person or an answer of the model has begun, or was brought up to date. */
function hearMessage(draft: HttpDraft, info: Fields): void {
  const id = idOf(info.id);
  if (id === null || (info.role !== 'user' && info.role !== 'assistant')) return;
  const { speakers, watch, seen, winding } = draft.memory;
  const isNew = own(speakers, id) === undefined;
  if (isNew) {
    const kept = Object.entries(speakers).slice(1 - limits.serverCallsMax);
    keep(draft, { speakers: Object.fromEntries([...kept, [id, info.role]]) });
  }
  const isDone = fieldsIn(info.time).completed !== undefined;
  if (winding?.answer === id && isDone) keep(draft, { winding: { ...winding, isDone } });
  if (!watch.isTurnOpen) return;
  if (info.role === 'user') {
    if (isNew && !seen.isBegun) begin(draft);
  } else hearAnswer(draft, id, info, isNew);
}

function hearAnswer(draft: HttpDraft, id: string, info: Fields, isNew: boolean): void {
  if (isNew) {
    if (!draft.memory.seen.isBegun && draft.memory.seen.isAfterStop) return;
    see(draft, { isBegun: true, answer: id, isAnswerDone: false, finish: null, trouble: null, wasRefused: false });
    // A new answer: the turn before is over, whatever was heard of it.
    keep(draft, { winding: null });
    // It goes on after an error.
    if (draft.memory.watch.due?.why === 'idle') beginTurn(draft);
    if (draft.memory.asks.length === 0) tell(draft, 'api_req_started', { request: id });
  }
  if (draft.memory.seen.answer !== id) return;
  const finish = textOf(info.finish);
  const trouble = troubleIn(info.error);
  if (fieldsIn(info.time).completed !== undefined) see(draft, { isAnswerDone: true });
  if (finish !== null) see(draft, { finish });
  if (trouble !== null) see(draft, { trouble });
}

function hearUsage(draft: HttpDraft, { input, output }: Fields): void {
  if (typeof input !== 'number' || typeof output !== 'number') return;
  const { tokens } = draft.memory;
  if (tokens?.input === input && tokens.output === output) return;
  draft.tokens = { input, output };
  keep(draft, { tokens: draft.tokens });
  tell(draft, 'usage_update');
}

/** Kilo says how the turn was, a moment after it called itself idle. */
function hearClosed(draft: HttpDraft, reason: unknown): void {
  const { wasGood, watch } = draft.memory;
  if (reason !== 'error' || !wasGood || watch.isTurnOpen) return;
  keep(draft, { wasGood: false });
  const trouble = { name: 'turn', status: null, words: 'the turn ended with an error' };
  draft.events.push({ ...failed(trouble, nextId(draft, 'failed')), at: draft.at });
}

// How things stand, asked of the server itself: after a loss of its events, after the daemon was gone (SES5), and when
// nothing was heard of an open turn for a while. A picture that is older than the last event does not count.

/** One part of a look. `value` is undefined when the server did not give it. */
export function hearLookPart(draft: HttpDraft, part: LookPart, value: unknown): void {
  const { look } = draft.memory;
  if (look === null) return;
  if (value === undefined) {
    lookAgain(draft, look);
    return;
  }
  const whole = { ...look, parts: { ...look.parts, [part]: value } };
  keep(draft, { look: whole });
  if (lookParts.some((one) => !(one in whole.parts))) return;
  if (whole.news === draft.memory.news) apply(draft, whole);
  else lookAgain(draft, whole);
}

/** It failed, or was overtaken. */
function lookAgain(draft: HttpDraft, look: Look): void {
  const { lookTries } = draft.memory;
  const isOver = lookTries + 1 >= limits.serverLooksMax;
  forgetLook(draft);
  keep(draft, { look: null, lookTries: isOver ? 0 : lookTries + 1 });
  if (!look.isNeeded) return;
  if (!isOver) {
    keep(draft, { look: { ...look, parts: {} }, lookAt: draft.at + limits.serverLookAgainMs });
    return;
  }
  if (look.isRejoin) tell(draft, 'process_error', { words: 'its server no longer responds' });
}

/** A look is due. */
export function lookIfDue(draft: HttpDraft): void {
  const { lookAt, look, watch, asks, waiting } = draft.memory;
  if (lookAt === null || lookAt > draft.at) return;
  const isQuiet = watch.isTurnOpen && asks.length === 0 && watch.heardAt + limits.serverLookMs <= draft.at;
  if (look === null && waiting === null && !isQuiet) keep(draft, { lookAt: null });
  else sayLook(draft, { isRejoin: look?.isRejoin ?? false, isNeeded: look?.isNeeded ?? false });
}

interface Picture {
  readonly isBusy: boolean;
  readonly status: Fields;
  readonly asks: readonly OpenAsk[];
  readonly messages: readonly Fields[];
}

function apply(draft: HttpDraft, look: Look): void {
  const { session } = draft.memory;
  keep(draft, { look: null, lookTries: 0 });
  learnChildren(draft, rowsOf(look.parts.children));
  const status = fieldsIn(own(fieldsIn(look.parts.status), session ?? ''));
  const isBusy = status.type === 'busy' || status.type === 'retry';
  const messages = rowsOf(look.parts.messages);
  const picture = { isBusy, status, messages, asks: isBusy ? asksIn(draft, look, messages) : [] };
  if (look.isRejoin) rejoin(draft, picture);
  else compare(draft, picture);
}

/** What is asked now. A turn that was stopped leaves its asks in the lists for ever: they are of tools that are over. */
function asksIn(draft: HttpDraft, look: Look, messages: readonly Fields[]): readonly OpenAsk[] {
  const { session, children } = draft.memory;
  const answer = messages.map(({ info }) => fieldsIn(info)).findLast(({ role }) => role === 'assistant');
  const isNow = (about: Fields): boolean => {
    const from = idOf(about.sessionID);
    if (from !== session) return from !== null && children.includes(from);
    const { message } = callAskedFor(about);
    return message === null || message === idOf(answer?.id);
  };
  const read = (kind: OpenAsk['kind'], list: unknown): readonly OpenAsk[] =>
    rowsOf(list)
      .filter(isNow)
      .flatMap((about) => askIn(draft, kind, about) ?? []);
  return [...read('permission', look.parts.permissions), ...read('question', look.parts.questions)];
}

/** The words of the last messages, as far as the agent said them: those of people were written when they were said. */
function readMessages(draft: HttpDraft, messages: readonly Fields[]): void {
  for (const { info, parts } of messages) {
    if (fieldsIn(info).role !== 'assistant') continue;
    hearMessage(draft, fieldsIn(info));
    for (const part of rowsOf(parts)) hearPart(draft, part);
  }
}

/** Against what was believed: after a loss, or after a long silence. */
function compare(draft: HttpDraft, { isBusy, status, asks, messages }: Picture): void {
  const { watch, speakers, winding, asks: known } = draft.memory;
  if (winding !== null) {
    if (!isBusy) unwind(draft);
    return;
  }
  const infos = messages.map(({ info }) => fieldsIn(info));
  const isNews = infos.some(({ id, role }) => role === 'user' && own(speakers, idOf(id) ?? '') === undefined);
  if (isNews && watch.isTurnOpen) see(draft, { isBegun: true });
  readMessages(draft, messages);
  if (isBusy) {
    if (status.type === 'retry') hearRetry(draft, status);
    else hearBusy(draft);
    for (const { id } of known) if (asks.every((ask) => ask.id !== id)) hearSettled(draft, id);
    for (const ask of asks) hearAsk(draft, ask);
    return;
  }
  for (const info of infos) if (info.role === 'user') hearMessage(draft, info);
  const { isTurnOpen, heardAt } = draft.memory.watch;
  const { isBegun, answer, trouble } = draft.memory.seen;
  const isTaken = isBegun ? answer !== null || trouble !== null : draft.at - heardAt < limits.serverLookMs;
  if (isTurnOpen && !isTaken) {
    failTurn(draft, { name: 'prompt', status: null, words: 'its server did not start on the prompt' });
  } else hearOver(draft);
}

/** The conversation went on while nobody listened. */
function rejoin(draft: HttpDraft, { isBusy, status, asks, messages }: Picture): void {
  if (!isBusy) {
    readMessages(draft, messages);
    tell(draft, 'rejoined', restOf(messages));
    return;
  }
  beginTurn(draft);
  see(draft, { isBegun: true });
  // Told as one, not as new happenings.
  const before = draft.events.length;
  readMessages(draft, messages);
  for (const ask of asks) hearAsk(draft, ask);
  draft.events.splice(before);
  const [first] = draft.memory.asks;
  if (first === undefined) {
    tell(draft, 'rejoined', { state: 'streaming' });
    if (status.type === 'retry') hearRetry(draft, status);
    return;
  }
  const ask = pendingOf(first);
  tell(draft, 'rejoined', { state: first.interview === null ? 'waiting_approval' : 'waiting_input', ask });
}

/** What a conversation at rest is in, by its last message. */
function restOf(messages: readonly Fields[]): Omit<MachineEvent, 'kind' | 'at'> {
  const info = fieldsIn(messages.at(-1)?.info);
  const trouble = troubleIn(info.error);
  if (info.role !== 'assistant' || (trouble !== null && isAbort(trouble))) return { state: 'paused' };
  if (trouble !== null) return { state: 'error', words: trouble.words };
  return { state: 'completed', outcome: isGood(textOf(info.finish)) ? 'verified' : 'unverified' };
}

// How a turn ended. The server only says that it is idle; why is to be found in what was heard before that (SES6).

type Ending = Omit<MachineEvent, 'at'>;

/** Null for what is no error. */
function troubleIn(value: unknown): Trouble | null {
  const error = fieldsOf(value);
  if (error === null) return null;
  const data = fieldsIn(error.data);
  const name = textOf(error.name) ?? 'an error';
  const status = typeof data.statusCode === 'number' ? data.statusCode : null;
  return { name, status, words: wordsIn(error) ?? name };
}

/** What an error says, wherever it says it: the first line, since stacks may follow. */
export function wordsIn(error: Fields): string | null {
  const words = textOf(fieldsIn(error.data).message) ?? textOf(error.message);
  return words === null ? null : (words.split('\n')[0] ?? words).slice(0, limits.detailCharsMax);
}

const isAbort = ({ name }: Trouble): boolean => name === 'MessageAbortedError';

/** A model that had its say. Other reasons to stop leave the answer cut or unfinished. */
const goodFinishes: readonly (string | null)[] = ['stop', 'end_turn', 'end-turn'];

/** What a turn is that the server calls over. */
function endingOf({ seen, watch, isRetrying }: HttpMemory, failureId: () => string): Ending {
  const { trouble, wasRefused, hasOutput, finish } = seen;
  if (watch.isCancelling) return { kind: 'turn_cancelled' };
  if (trouble !== null) return isAbort(trouble) ? { kind: 'turn_cancelled' } : failed(trouble, failureId());
  // It never gives up retrying by itself: whoever comes from there was interrupted.
  if (wasRefused || isRetrying) return { kind: 'turn_cancelled' };
  if (finish === 'error') return failed({ name: 'error', status: null, words: 'the model failed' }, failureId());
  if (hasOutput && isGood(finish)) return { kind: 'say:completion_result', outcome: 'verified' };
  return { kind: 'say:completion_result', outcome: 'unverified', words: doubtOf(hasOutput, finish) };
}

const isGood = (finish: string | null): boolean => goodFinishes.includes(finish);

function doubtOf(hasOutput: boolean, finish: string | null): string {
  if (!hasOutput) return 'the turn ended without output';
  return finish === null ? 'the agent did not report how the turn ended' : `the model stopped for "${finish}"`;
}

function failed(trouble: Trouble, id: string): Ending {
  const isLogin = trouble.name === 'ProviderAuthError' || trouble.status === 401;
  const words = `${trouble.words}${isLogin ? ' (log in with its own `auth login`)' : ''}`;
  const text = words.slice(0, limits.detailCharsMax);
  const ask = { ask_id: askId(id), kind: 'dialog', scope: mainScope, text, options: [], accepts: ['retry'] } as const;
  return { kind: kindOf(trouble), words: text, ask };
}

function kindOf({ name, status, words }: Trouble): MachineEventKind {
  if (status === 402) return 'ask:payment_required_prompt';
  const isModel = name === 'ProviderModelNotFoundError' || /^model not found/i.test(words);
  return isModel ? 'ask:invalid_model' : 'ask:api_req_failed';
}

/** The server is idle. Told two to four times; only the first after a turn has begun is its end. */
function hearOver(draft: HttpDraft): void {
  const { watch, seen, winding } = draft.memory;
  countNews(draft);
  if (winding !== null) {
    if (winding.isDone) unwind(draft);
    return;
  }
  if (!watch.isTurnOpen || !seen.isBegun) return;
  // Over before there was an answer or an error: that of another turn, or a prompt that was lost.
  if (seen.answer === null && seen.trouble === null && !watch.isCancelling) lookSoon(draft);
  else endNow(draft);
}

/** By what was heard of it so far. */
export function endNow(draft: HttpDraft): void {
  const ending = endingOf(draft.memory, () => nextId(draft, 'failed'));
  finishTurn(draft, ending);
}

/** The turn before is over and done with: what waited for that is said. */
function unwind(draft: HttpDraft): void {
  keep(draft, { winding: null });
  sayWaiting(draft);
}

/** Events do not tell; the server itself has to. */
function lookSoon(draft: HttpDraft): void {
  const { news } = draft.memory;
  const look = { isRejoin: false, isNeeded: true, parts: {}, news };
  keep(draft, { look, lookAt: draft.at + limits.serverLookAgainMs });
}

export function failTurn(draft: HttpDraft, trouble: Trouble): void {
  finishTurn(draft, failed(trouble, nextId(draft, 'failed')));
}

export function finishTurn(draft: HttpDraft, ending: Ending): void {
  const isGoodEnd = ending.kind === 'say:completion_result';
  const { answer, isAnswerDone } = draft.memory.seen;
  dropAsks(draft);
  endItems(draft, isGoodEnd ? 'done' : 'failed');
  keep(draft, {
    seen: nothingSeen,
    winding: answer === null || isAnswerDone ? null : { answer, isDone: false },
    look: null,
    isRetrying: false,
    wasGood: isGoodEnd,
    failedAsk: ending.ask?.ask_id ?? null,
    lookAt: null,
  });
  endTurn(draft, { ...ending, at: draft.at });
}
