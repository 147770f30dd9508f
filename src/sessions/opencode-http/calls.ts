// What is said to the server: conversations, prompts, answers, the end of a turn, and looks at how things stand.

import { limits } from '../../model/limits.ts';
import { clip, keep, nextId, write } from '../draft.ts';
import { beginTurn, setWatch } from '../watch.ts';
import { type Call, type HttpDraft, type Look, lookParts, nothingSeen, type OpenAsk, type Purpose } from './memory.ts';

type Method = Call['method'];

interface Wish {
  readonly purpose: Purpose;
  readonly method: Method;
  readonly path: string;
  readonly body?: unknown;
  readonly ask?: OpenAsk;
}

function ask(draft: HttpDraft, { purpose, method, path, body, ask: about }: Wish): void {
  const call = { method, path, body: body === undefined ? null : JSON.stringify(body) };
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

const place = (session: string): string => `/session/${encodeURIComponent(session)}`;

/** A conversation of our own, or the one to go on with. */
export function sayConversation(draft: HttpDraft): void {
  const { session } = draft.memory;
  if (session === null) ask(draft, { purpose: 'create', method: 'POST', path: '/session', body: {} });
  else ask(draft, { purpose: 'check', method: 'GET', path: place(session) });
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
  note(draft);
  const model = opening.model === null ? null : modelOf(opening.model);
  const body = { ...(model === null ? {} : { model }), parts: [{ type: 'text', text }] };
  ask(draft, { purpose: 'prompt', method: 'POST', path: `${place(session)}/prompt_async`, body });
}

/** `provider/model`; the name of a model may have more parts. Null for anything else. */
export function modelOf(name: string): { readonly providerID: string; readonly modelID: string } | null {
  const at = name.indexOf('/');
  if (at <= 0 || at === name.length - 1) return null;
  return { providerID: name.slice(0, at), modelID: name.slice(at + 1) };
}

/** Something was heard or said about state or asks: an older picture must not count any more. */
export const note = (draft: HttpDraft): void => keep(draft, { news: draft.memory.news + 1 });

export function sayAbort(draft: HttpDraft): void {
  const { session } = draft.memory;
  if (session !== null) ask(draft, { purpose: 'abort', method: 'POST', path: `${place(session)}/abort` });
}

/** A yes, or the answers to questions: if they are not taken, it is asked once more. */
export function sayAnswer(draft: HttpDraft, about: OpenAsk, body: unknown): void {
  const path = `/${about.kind}/${encodeURIComponent(about.id)}/reply`;
  note(draft);
  ask(draft, { purpose: 'answer', method: 'POST', path, body, ask: about });
}

/** A no. `ask` is left out where nobody waits for what becomes of it. */
export function sayNo(draft: HttpDraft, about: OpenAsk, because: string | null, isWanted: boolean): void {
  const where = `/${about.kind}/${encodeURIComponent(about.id)}`;
  const more = isWanted ? ({ purpose: 'answer', ask: about } as const) : ({ purpose: 'reject' } as const);
  note(draft);
  if (about.kind === 'question') ask(draft, { ...more, method: 'POST', path: `${where}/reject` });
  else {
    const body = { reply: 'reject', ...(because === null ? {} : { message: because }) };
    ask(draft, { ...more, method: 'POST', path: `${where}/reply`, body });
  }
}

/** What an earlier look still waits for is not wanted any more. */
export function forgetLook(draft: HttpDraft): void {
  const isOfLook = ({ purpose }: Call): boolean => (lookParts as readonly string[]).includes(purpose);
  const others = Object.entries(draft.memory.calls).filter(([, call]) => !isOfLook(call));
  keep(draft, { calls: Object.fromEntries(others) });
}

/** Asks how things stand, all at once. */
export function sayLook(draft: HttpDraft, how: Pick<Look, 'isRejoin' | 'isNeeded'>): void {
  const { session, news } = draft.memory;
  if (session === null) return;
  forgetLook(draft);
  keep(draft, { look: { ...how, parts: {}, news }, lookedAt: draft.at, lookAt: null });
  const paths = {
    status: '/session/status',
    permissions: '/permission',
    questions: '/question',
    messages: `${place(session)}/message?limit=3`,
    children: `${place(session)}/children`,
  };
  for (const part of lookParts) ask(draft, { purpose: part, method: 'GET', path: paths[part] });
}
