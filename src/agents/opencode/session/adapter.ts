// How OpenCode and Kilo are led: by the HTTP server that each brings along, and its stream of events. The server outlives
// us; the conversation is found again by its id (SES5).

import { ok, type Result } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { fieldsIn, idOf, parseFields, textOf } from '../../fields.ts';
import type {
  Delivery,
  Incoming,
  Opening,
  ProtocolAdapter,
  Turn,
  UserAction,
  Wakeful,
} from '../../protocol/adapter.ts';
import {
  type ActionHandlers,
  carryOut,
  draftOf,
  goOn,
  goOnAfterFailure,
  hearStillborn,
  hearStray,
  heldBy,
  keep,
  own,
  tell,
  turnOf,
} from '../../protocol/draft.ts';
import { isBegun } from '../../protocol/questions.ts';
import {
  deliveryOf,
  type Excuse,
  hearClock,
  hearGone,
  hearTaken,
  noteAnswer,
  setWatch,
  spokenTo,
  watchSigns,
} from '../../protocol/watch.ts';
import { modelOf } from '../protocol.ts';
import {
  answer,
  askOnceMore,
  type Call,
  endItems,
  freshMemory,
  type HttpDraft,
  type HttpMemory,
  isOpening,
  putNext,
  refuseAsks,
  sayAbort,
  sayAgain,
  sayConversation,
  sayLook,
  sayPrompt,
} from './conversation.ts';
import { endNow, failTurn, finishTurn, hearCreated, hearEvent, hearLookPart, lookIfDue, wordsIn } from './events.ts';

export const opencodeHttp: ProtocolAdapter<HttpMemory> = {
  name: 'opencode-http',
  hasNoCreated: false,
  livesOn: true,
  open(opening: Opening, at: number): Turn<HttpMemory> {
    const draft = draftOf(freshMemory(opening, at), at);
    begin(draft, opening);
    return scheduled(draft);
  },
  hear(memory: HttpMemory, heard: Incoming, at: number, asksRoom?: number): Turn<HttpMemory> {
    const draft = draftOf(memory, at, asksRoom);
    hear(draft, heard);
    return scheduled(draft);
  },
  do(memory: HttpMemory, deed: UserAction, at: number): Result<Turn<HttpMemory>> {
    const draft = draftOf(memory, at);
    spokenTo(draft);
    const done = carryOut(draft, deed, manners);
    if (done.ok) noteAnswer(draft, deed, isHolding(draft.memory));
    return done.ok ? ok(scheduled(draft)) : done;
  },
  asksBytes: ({ asks }: HttpMemory): number => heldBy(asks),
  delivery: (memory: HttpMemory): Delivery => deliveryOf(memory.watch, isHolding(memory)),
  wakeful: ({ session, asks, watch, waiting, winding, look }: HttpMemory): Wakeful | null => {
    const isWaited = waiting !== null || winding !== null || look !== null;
    if (watch.isTurnOpen || asks.length > 0 || isWaited) return 'busy';
    return session === null ? 'no_resume' : null;
  },
};

function begin(draft: HttpDraft, { prompt, model, rejoin }: Opening): void {
  if (rejoin !== null) {
    sayLook(draft, { isRejoin: true, isNeeded: true });
    if (draft.memory.session === null) giveUp(draft, 'it was stopped before its conversation had started');
    return;
  }
  if (model !== null && modelOf(model) === null) {
    giveUp(draft, `"${model}" names no provider: use provider/model`);
    return;
  }
  sayConversation(draft);
  sayPrompt(draft, prompt === '' ? goOn : prompt);
}

/** It cannot begin: the server is of no use. */
function giveUp(draft: HttpDraft, words: string): void {
  hearGone(draft);
  tell(draft, 'process_error', { words });
  draft.said.push({ to: 'process', signal: 'TERM' });
}

function hear(draft: HttpDraft, heard: Incoming): void {
  switch (heard.from) {
    case 'stream':
      hearEvent(draft, heard.data);
      watchSigns(draft);
      return;
    case 'reply':
      hearReply(draft, heard);
      watchSigns(draft);
      return;
    case 'stdout':
    case 'stderr':
      if (!/listening on http:/.test(heard.line)) hearStray(draft, heard.line);
      return;
    case 'reconnect':
      sayLook(draft, { isRejoin: draft.memory.look?.isRejoin ?? false, isNeeded: true });
      return;
    case 'exit':
      if (isOpening(draft)) hearStillborn(draft, heard);
      endItems(draft, 'failed');
      keep(draft, { asks: [], calls: {}, look: null, lookAt: null });
      hearGone(draft);
      return;
    case 'clock':
      lookIfDue(draft);
      // An error that was never followed by the end of its turn.
      if (draft.memory.watch.due?.why === 'idle' && draft.memory.watch.due.at <= draft.at) endNow(draft);
      else hearClock(draft, excuseOf(draft.memory), heard.isAsked);
      return;
  }
}

/** A prompt that the server would not take yet, or answers that go out together. */
const isHolding = ({ waiting, asks }: HttpMemory): boolean =>
  waiting !== null || asks.some(({ interview }) => isBegun(interview));

function excuseOf({ asks, items }: HttpMemory): Excuse {
  if (asks.length > 0) return 'ask';
  return Object.values(items).some(({ role }) => role === 'tool') ? 'tool' : null;
}

/** When to wake next: for what is watched, or for a look at an open turn that has gone quiet. */
function scheduled(draft: HttpDraft): Turn<HttpMemory> {
  const { watch, asks, look, lookAt, session, waiting, winding } = draft.memory;
  const isQuiet = watch.isTurnOpen && asks.length === 0 && session !== null && watch.due?.why === 'silence';
  if (isQuiet && look === null && lookAt === null) {
    const isHeldUp = waiting !== null && winding !== null;
    const next = isHeldUp
      ? draft.at + limits.serverLookAgainMs
      : Math.max(watch.heardAt, draft.memory.lookedAt) + limits.serverLookMs;
    keep(draft, { lookAt: next });
  }
  const dues = [watch.isTurnOpen ? watch.due?.at : null, draft.memory.lookAt].filter((due) => typeof due === 'number');
  draft.wakeMs = dues.length === 0 ? null : Math.max(1, Math.min(...dues) - draft.at);
  return turnOf(draft);
}

function hearReply(draft: HttpDraft, { request, status, body }: Extract<Incoming, { readonly from: 'reply' }>): void {
  const call = own(draft.memory.calls, request);
  if (call === undefined) return;
  const { [request]: _answered, ...calls } = draft.memory.calls;
  keep(draft, { calls });
  const isGood = status >= 200 && status < 300;
  switch (call.purpose) {
    case 'create':
    case 'check':
      hearConversation(draft, call, status, body);
      return;
    case 'prompt':
      // A refusal is shown as the end of the turn; what was lost on the way is nobody's yet.
      if (status !== 0) hearTaken(draft);
      if (status === 0) sayLook(draft, { isRejoin: false, isNeeded: true });
      else if (!isGood) failTurn(draft, { name: 'prompt', status: null, words: refusalIn(status, body) });
      return;
    case 'answer':
      if (isGood) hearTaken(draft);
      else hearUnanswered(draft, call, status, body);
      return;
    case 'abort':
      if (status === 0 && draft.memory.watch.isCancelling) sayAgain(draft, call);
      return;
    case 'reject':
      return;
    case 'status':
    case 'permissions':
    case 'questions':
    case 'messages':
    case 'children':
      hearLookPart(draft, call.purpose, isGood ? parsed(body) : undefined);
      return;
  }
}

function hearConversation(draft: HttpDraft, call: Call, status: number, body: string): void {
  const id = status >= 200 && status < 300 ? idOf(fieldsIn(parsed(body)).id) : null;
  if (id !== null) hearCreated(draft, id);
  else if (status !== 0 || !sayAgain(draft, call)) {
    giveUp(draft, status === 404 ? 'the conversation no longer exists' : refusalIn(status, body));
  }
}

/** Our answer did not arrive, or was not taken. */
function hearUnanswered(draft: HttpDraft, call: Call, status: number, body: string): void {
  // Somebody else was quicker, or the turn is over: the events tell.
  if (status === 404) {
    sayLook(draft, { isRejoin: false, isNeeded: true });
    return;
  }
  const isLost = status === 0 || status >= 500;
  if (isLost && sayAgain(draft, call)) return;
  if (call.ask !== null) askOnceMore(draft, call.ask, refusalIn(status, body));
}

function refusalIn(status: number, body: string): string {
  if (status === 0) return `its server did not answer (${body})`.slice(0, limits.detailCharsMax);
  if (status === 401 || status === 403) return 'its server rejected the password';
  return wordsIn(parseFields(body) ?? {}) ?? textOf(body)?.slice(0, limits.detailCharsMax) ?? `status ${status}`;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const manners: ActionHandlers<HttpMemory> = {
  say: (draft, text) => {
    sayPrompt(draft, text);
    putNext(draft);
  },
  // While it retries by itself, another prompt would only wait behind that.
  retry: (draft) => {
    if (!draft.memory.isRetrying) sayPrompt(draft, goOnAfterFailure);
  },
  cancel,
  answer,
};

function cancel(draft: HttpDraft): void {
  const { waiting } = draft.memory;
  keep(draft, { waiting: null });
  if (waiting !== null && !isOpening(draft)) {
    finishTurn(draft, { kind: 'turn_cancelled' });
    return;
  }
  setWatch(draft, { isCancelling: draft.memory.watch.isTurnOpen });
  refuseAsks(draft);
  if (!isOpening(draft)) sayAbort(draft);
}
