// What the agent wants from a person: leave for its tools, and answers to its questions, put one after another. In automatic
// mode everything but a question is granted at once, and said so.

import { type Fields, fieldsIn, idOf, rowsOf, textOf } from '../../agents/fields.ts';
import { permissionKind, permissionText } from '../../agents/opencode/events.ts';
import { fail, ok, type Result } from '../../model/errors.ts';
import { askId, mainScope, scopeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { MachineEventKind, PendingAsk } from '../../model/sessions.ts';
import { fullReason, hasRoom, tellRefused, weightOf } from '../asks-room.ts';
import type { Deed } from '../dialect.ts';
import { keep, note as notice, tell } from '../draft.ts';
import { answeredBy, askOfInterview, interviewOf, nextOf, type Question, questionId } from '../questions.ts';
import { note, sayAnswer, sayNo } from './calls.ts';
import type { HttpDraft, OpenAsk } from './memory.ts';

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

function questionsIn(about: Fields): readonly Question[] {
  return rowsOf(about.questions).flatMap((one) => {
    const text = textOf(one.question) ?? textOf(one.header);
    if (text === null) return [];
    const labels = rowsOf(one.options).flatMap(({ label }) => textOf(label) ?? []);
    return [{ key: text, text, labels, isMany: one.multiple === true, isFree: one.custom !== false }];
  });
}

export function hearAsk(draft: HttpDraft, ask: OpenAsk): void {
  const { asks, settled, opening, watch } = draft.memory;
  if (settled.includes(ask.id) || asks.some(({ id }) => id === ask.id)) return;
  note(draft);
  // It had not heard of the stop yet.
  if (watch.isCancelling) {
    settle(draft, ask.id);
    sayNo(draft, ask, null, false);
    return;
  }
  if (opening.auto_approve && ask.interview === null) {
    settle(draft, ask.id);
    sayAnswer(draft, ask, { reply: 'once' });
    notice(draft, `auto-${ask.key}`, `approved automatically: ${textOf(ask.about.text) ?? 'a tool'}`);
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
  notice(draft, `refused-${again.key}`, `the answer was not taken: ${why}`);
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
  note(draft);
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

type Answer = Extract<Deed, { readonly ask_id: string }>;

/** A person's answer to the ask that is open. */
export function answer(draft: HttpDraft, deed: Answer): Result<null> {
  const [ask] = draft.memory.asks;
  if (ask === undefined || idOfAsk(ask) !== deed.ask_id) {
    return fail('E_STATE_CHANGED', 'that was answered already, or the agent took it back');
  }
  if (deed.kind === 'reject') {
    settle(draft, ask.id);
    sayNo(draft, ask, deed.because, true);
  } else if (ask.interview === null) {
    if (deed.kind !== 'approve') return fail('E_UNSUPPORTED', 'this wants a yes or a no', 'approve or reject it');
    settle(draft, ask.id);
    sayAnswer(draft, ask, { reply: 'once' });
  } else {
    const interview = answeredBy(ask.interview, deed);
    if (!interview.ok) return interview;
    const { answers, questions } = interview.value;
    if (nextOf(interview.value) !== null) {
      keep(draft, { asks: [{ ...ask, interview: interview.value }, ...draft.memory.asks.slice(1)] });
    } else {
      settle(draft, ask.id);
      const again = { ...ask, interview: interviewOf(questions) };
      sayAnswer(draft, again, { answers });
    }
  }
  putNext(draft);
  return ok(null);
}

/** The tool call that is asked about: the message that it is in and its own id. */
export const callAskedFor = (about: Fields): { readonly message: string | null; readonly call: string | null } => {
  const tool = fieldsIn(about.tool);
  return { message: idOf(tool.messageID), call: idOf(tool.callID) };
};
