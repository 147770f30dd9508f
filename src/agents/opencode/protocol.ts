// The protocol of the HTTP server that OpenCode and its fork Kilo bring along: its routes and what is sent there, and how
// its events name what they are about. One place for whoever acts over it (channel.ts) or runs a session on it (session/);
// what the events mean for the state of an agent stands in events.ts. Pure.

import { type Fields, fieldsIn, idOf, parseFields, rowsOf, textOf } from '../fields.ts';
import type { Question } from '../protocol/questions.ts';

export interface ServerRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: Fields | null;
}

/** What waits for a person. */
export type AskedKind = 'permission' | 'question';

const get = (path: string): ServerRequest => ({ method: 'GET', path, body: null });
const post = (path: string, body: Fields | null = null): ServerRequest => ({ method: 'POST', path, body });
const sessionPath = (id: string): string => `/session/${encodeURIComponent(id)}`;
const askPath = (kind: AskedKind, id: string): string => `/${kind}/${encodeURIComponent(id)}`;

export const requests = {
  createSession: (): ServerRequest => post('/session', {}),
  session: (id: string): ServerRequest => get(sessionPath(id)),
  /** Of all conversations. */
  status: (): ServerRequest => get('/session/status'),
  children: (id: string): ServerRequest => get(`${sessionPath(id)}/children`),
  /** The last ones. */
  messages: (id: string, limit: number): ServerRequest => get(`${sessionPath(id)}/message?limit=${limit}`),
  prompt: (id: string, text: string, settings: Fields): ServerRequest =>
    post(`${sessionPath(id)}/prompt_async`, { ...settings, parts: [{ type: 'text', text }] }),
  /** Stops the turn of a conversation; its subagents stop with it. */
  abort: (id: string): ServerRequest => post(`${sessionPath(id)}/abort`),
  /** What is open of a kind, of all conversations. */
  asked: (kind: AskedKind): ServerRequest => get(`/${kind}`),
  allowOnce: (id: string): ServerRequest => post(`${askPath('permission', id)}/reply`, { reply: 'once' }),
  answer: (id: string, answers: readonly (readonly string[])[]): ServerRequest =>
    post(`${askPath('question', id)}/reply`, { answers }),
  /** A refused question takes no words. */
  refuse: (kind: AskedKind, id: string, because: string | null): ServerRequest =>
    kind === 'question'
      ? post(`${askPath(kind, id)}/reject`)
      : post(`${askPath(kind, id)}/reply`, { reply: 'reject', ...(because === null ? {} : { message: because }) }),
} as const;

/** One event of the stream; null when it is none. */
export const eventIn = (text: string): Fields | null => parseFields(text.replace(/^data:/, ''));

/** The conversation that an event is about. */
export function sessionIn(properties: Fields): string | null {
  const info = fieldsIn(properties.info);
  return (
    idOf(properties.sessionID) ?? idOf(info.sessionID) ?? idOf(fieldsIn(properties.part).sessionID) ?? idOf(info.id)
  );
}

/** The ask that was settled; up to 1.0 under another name. */
export const settledIn = (properties: Fields): unknown => properties.requestID ?? properties.permissionID;

/** `once`, `always` or `reject`, of a permission. */
export const replyIn = (properties: Fields): unknown => properties.reply ?? properties.response;

/** `provider/model`; the name of a model may have more parts. Null for anything else. */
export function modelOf(name: string): { readonly providerID: string; readonly modelID: string } | null {
  const at = name.indexOf('/');
  if (at <= 0 || at === name.length - 1) return null;
  return { providerID: name.slice(0, at), modelID: name.slice(at + 1) };
}

/** What is asked, one question after another. */
export function questionsIn(about: Fields): readonly Question[] {
  return rowsOf(about.questions).flatMap((one) => {
    const text = textOf(one.question) ?? textOf(one.header);
    if (text === null) return [];
    const labels = rowsOf(one.options).flatMap(({ label }) => textOf(label) ?? []);
    return [{ key: text, text, labels, isMany: one.multiple === true, isFree: one.custom !== false }];
  });
}

/** The tool call that is asked about: the message that it is in and its own id. */
export const callAskedFor = (about: Fields): { readonly message: string | null; readonly call: string | null } => {
  const tool = fieldsIn(about.tool);
  return { message: idOf(tool.messageID), call: idOf(tool.callID) };
};
