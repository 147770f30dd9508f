// What the server's events mean. Unknown ones are passed over, and so is what is about other conversations: people may
// have several on the same server.

import { type Fields, fieldsIn, idOf, parseFields, textOf } from '../../agents/fields.ts';
import { agentSessionId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { keep, nextId, note as notice, own, tell } from '../draft.ts';
import { beginTurn, endTurn, hearIdle, setWatch } from '../watch.ts';
import { askIn, hearAsk, hearSettled } from './asks.ts';
import { note, sayAbort, sayWaiting } from './calls.ts';
import { type HttpDraft, nothingSeen, type OpenAsk } from './memory.ts';
import { failed, hearOver, isAbort, troubleIn } from './outcome.ts';
import { hearPart, hearPiece, hearRemoved, see } from './parts.ts';

/** One event of the stream. */
export function hearEvent(draft: HttpDraft, data: string): void {
  const event = parseFields(data);
  const type = textOf(event?.type);
  if (event === null || type === null) return;
  const properties = fieldsIn(event.properties);
  const session = sessionIn(properties);
  if (type === 'session.created' || type === 'session.updated') learnChildren(draft, [fieldsIn(properties.info)]);
  if (session === null) {
    // About settings and plugins, not about a turn.
    if (type === 'session.error')
      notice(draft, `trouble-${draft.memory.mark}`, troubleIn(properties.error)?.words ?? null);
    return;
  }
  const isOwn = session === draft.memory.session;
  if (!isOwn && !draft.memory.children.includes(session)) return;
  setWatch(draft, { heardAt: Math.max(draft.at, draft.memory.watch.heardAt) });
  if (!hearAsked(draft, type, properties) && isOwn) hearOwn(draft, type, properties);
}

function sessionIn(properties: Fields): string | null {
  const info = fieldsIn(properties.info);
  return (
    idOf(properties.sessionID) ?? idOf(info.sessionID) ?? idOf(fieldsIn(properties.part).sessionID) ?? idOf(info.id)
  );
}

/** Conversations that ours has started, and those that they have. */
export function learnChildren(draft: HttpDraft, infos: readonly Fields[]): void {
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
  const id = idOf(properties.requestID) ?? idOf(properties.permissionID);
  const isNo = type === 'question.rejected' || (properties.reply ?? properties.response) === 'reject';
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
      note(draft);
      hearBusy(draft);
      return;
    case 'retry':
      note(draft);
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
export function hearBusy(draft: HttpDraft): void {
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

export function hearRetry(draft: HttpDraft, { attempt, message, next }: Fields): void {
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
export function hearMessage(draft: HttpDraft, info: Fields): void {
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
