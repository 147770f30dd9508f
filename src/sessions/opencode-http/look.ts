// How things stand, asked of the server itself: after a loss of its events, after the daemon was gone (SES5), and when
// nothing was heard of an open turn for a while. A picture that is older than the last event does not count.

import { type Fields, fieldsIn, idOf, rowsOf, textOf } from '../../agents/fields.ts';
import { limits } from '../../model/limits.ts';
import type { MachineEvent } from '../../model/sessions.ts';
import { keep, own, tell } from '../draft.ts';
import { beginTurn } from '../watch.ts';
import { askIn, callAskedFor, hearAsk, hearSettled, pendingOf } from './asks.ts';
import { forgetLook, sayLook } from './calls.ts';
import { hearBusy, hearMessage, hearRetry, learnChildren } from './events.ts';
import { type HttpDraft, type Look, type LookPart, lookParts, type OpenAsk } from './memory.ts';
import { failTurn, hearOver, isAbort, isGood, troubleIn, unwind } from './outcome.ts';
import { hearPart, see } from './parts.ts';

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
  if (look.isRejoin) tell(draft, 'process_error', { words: 'its server does not answer any more' });
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
    failTurn(draft, { name: 'prompt', status: null, words: 'its server did not take up the prompt' });
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
