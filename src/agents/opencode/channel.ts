// What is said to the server that OpenCode and its fork Kilo run beside their interface: which request carries out a wish,
// and by which event it is known to have arrived. Pure; the daemon does the asking.

import { isSame } from '../../engine/canonical.ts';
import type { ActionRequest } from '../../model/actions.ts';
import type { Ask, AskOption } from '../../model/asks.ts';
import { fail, ok, type Result } from '../../model/errors.ts';
import { type Fields, fieldsIn, listOf, parseFields, rowsOf, textOf } from '../fields.ts';
import { EventReader } from './events.ts';

/** One request that changes something, and how its outcome is recognised among the server's events. */
export interface ServerCall {
  readonly path: string;
  readonly body: Fields | null;
  /** ours: exactly this was taken. other: something else was, before it. Null: the event is about something else. */
  readonly outcomeIn: (event: Fields) => 'ours' | 'other' | null;
  /** What is worth knowing. */
  readonly words: string | null;
}

type Kind = 'permission' | 'question';

/** Its ids say what they are of. One that the screen gave is not known to any server. */
const kindOf = ({ ask_id }: Ask): Kind | null => {
  const prefix = /^(per|que)_[A-Za-z0-9]+$/.exec(ask_id)?.[1];
  if (prefix === undefined) return null;
  return prefix === 'per' ? 'permission' : 'question';
};

/** Where the server lists what waits for an answer; null where no server is asked. */
export const listPathOf = (ask: Ask): string | null => {
  const kind = kindOf(ask);
  return kind === null ? null : `/${kind}`;
};

/**
 * Whether this can be said to the server at all. A lasting yes is not: at the keyboard it is asked about a second time.
 * Several questions in one are shown one after the other, so one answer does not fit all of them.
 */
export function canReply(request: ActionRequest, ask: Ask): boolean {
  const kind = kindOf(ask);
  switch (request.action) {
    case 'approve':
      return kind === 'permission';
    case 'reject':
      return kind !== null;
    case 'answer':
      if (kind !== 'question' || ask.options.length === 0) return false;
      return request.option === undefined ? request.text !== undefined : optionMeant(request.option, ask) !== null;
    default:
      return false;
  }
}

/** By its id or by its words. */
function optionMeant(named: string, { options }: Ask): AskOption | null {
  const byId = options.filter(({ id }) => id === named);
  const found = byId.length > 0 ? byId : options.filter(({ label }) => label.trim() === named.trim());
  const [option, other] = found;
  return option === undefined || other !== undefined ? null : option;
}

/** The request for this very ask, out of what the server says is open. */
export function replyTo(request: ActionRequest, ask: Ask, listed: unknown): Result<ServerCall> {
  const kind = kindOf(ask);
  const open = rowsOf(listed).find(({ id }) => id === ask.ask_id);
  if (kind === null || open === undefined) return fail('E_STATE_CHANGED', 'it was settled meanwhile');
  if (!isAsShown(kind, open, ask)) return fail('E_STATE_CHANGED', 'its server words it otherwise than it was shown');
  switch (request.action) {
    case 'approve':
      return ok(permissionCall(ask, 'once', null));
    case 'reject':
      return ok(kind === 'permission' ? permissionCall(ask, 'reject', request.because ?? null) : refusal(ask, request));
    case 'answer':
      return answerCall(request, ask, open);
    default:
      return fail('E_UNSUPPORTED', `its server takes no ${request.action}`);
  }
}

/** Read by the very reader that told the ask: whatever a person decided on stands there word for word. */
function isAsShown(kind: Kind, open: Fields, { text, options }: Ask): boolean {
  const [found] = new EventReader().read({ type: `${kind}.asked`, properties: open }, 0);
  if (found?.fact.kind !== 'ask.opened') return false;
  return found.fact.ask.text === text && isSame(found.fact.ask.options, options);
}

function permissionCall({ ask_id }: Ask, reply: 'once' | 'reject', message: string | null): ServerCall {
  return {
    path: `/permission/${ask_id}/reply`,
    body: { reply, ...(message === null ? {} : { message }) },
    outcomeIn: (event) =>
      about(event, 'permission.replied', ask_id, (properties) => (properties.reply ?? properties.response) === reply),
    words: null,
  };
}

function refusal({ ask_id }: Ask, { because }: Extract<ActionRequest, { action: 'reject' }>): ServerCall {
  return {
    path: `/question/${ask_id}/reject`,
    body: null,
    outcomeIn: (event) =>
      about(event, 'question.rejected', ask_id, () => true) ?? about(event, 'question.replied', ask_id, () => false),
    words: because === undefined ? null : 'a refused question takes no words: they were not passed on',
  };
}

function answerCall(request: Extract<ActionRequest, { action: 'answer' }>, ask: Ask, open: Fields): Result<ServerCall> {
  const questions = rowsOf(open.questions);
  const [question] = questions;
  if (question === undefined || questions.length !== 1) {
    return fail('E_UNSUPPORTED', 'it asks several things at once');
  }
  const label = request.option === undefined ? request.text : labelOf(request.option, ask, question);
  if (label === undefined || label === null) return fail('E_INPUT', `there is no option ${request.option ?? ''}`);
  if (request.option === undefined && question.custom === false) {
    return fail('E_INPUT', 'it takes none but its own options');
  }
  const { ask_id } = ask;
  const answers = [[label]];
  return ok({
    path: `/question/${ask_id}/reply`,
    body: { answers },
    outcomeIn: (event) =>
      about(event, 'question.replied', ask_id, (properties) => isSame(properties.answers, answers)) ??
      about(event, 'question.rejected', ask_id, () => false),
    words: null,
  });
}

/** As the server spells it: what was shown may have been cut. */
function labelOf(named: string, ask: Ask, question: Fields): string | null {
  const option = optionMeant(named, ask);
  if (option === null) return null;
  return textOf(fieldsIn(listOf(question.options)[ask.options.indexOf(option)]).label);
}

function about(
  event: Fields,
  type: string,
  id: string,
  isOurs: (properties: Fields) => boolean,
): 'ours' | 'other' | null {
  const properties = fieldsIn(event.properties);
  if (event.type !== type || (properties.requestID ?? properties.permissionID) !== id) return null;
  return isOurs(properties) ? 'ours' : 'other';
}

/** Conversations at work, out of what the server says of all of them. */
export const busyIn = (status: unknown): readonly string[] =>
  Object.entries(fieldsIn(status)).flatMap(([id, one]) => (fieldsIn(one).type === 'idle' ? [] : [id]));

/** The conversation that this one was started by; null for one of its own. */
export const parentIn = (session: unknown): string | null => textOf(fieldsIn(session).parentID);

/** Stops the turn of a conversation; its subagents stop with it. */
export function abortCall(session: string): ServerCall {
  return {
    path: `/session/${encodeURIComponent(session)}/abort`,
    body: null,
    outcomeIn: (event) => {
      const properties = fieldsIn(event.properties);
      if (properties.sessionID !== session) return null;
      const isOver = event.type === 'session.idle' || event.type === 'session.error';
      return isOver || (event.type === 'session.status' && fieldsIn(properties.status).type === 'idle') ? 'ours' : null;
    },
    words: null,
  };
}

/** Older versions had other routes and other events. */
export function hasServer(version: string | null): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map((part) => Number.parseInt(part, 10));
  return version === null || major > 1 || (major === 1 && minor >= 1);
}

/**
 * Kilo makes up a password for the server beside its interface, which nobody else is told (7.7.7): unless its events are
 * heard, it is closed.
 */
export const hasOwnPassword = (agent: string): boolean => agent === 'kilo';

/** One event of the stream; null when it is none. */
export const serverEvent = (text: string): Fields | null => parseFields(text.replace(/^data:/, ''));
