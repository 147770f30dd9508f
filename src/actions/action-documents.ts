// What acting must not forget over a restart: waiting messages, names, marks, answered asks and how far messages went, each as
// a document of the log's file. These are wishes of people, no facts about agents: no retention drops them.

import { z } from 'zod';
import { callerRoles } from '../model/actions.ts';
import { runtimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { DocumentKind, DocumentRecord } from '../model/records.ts';
import type { Document, OldFile } from '../store/documents.ts';

const runtime = z.string().transform(runtimeId);

const messageSchema = z.object({
  id: z.string(),
  runtime_id: runtime,
  text: z.string(),
  enter: z.boolean(),
  queued_at: z.number(),
  expires_at: z.number(),
  /** For the reset of a usage limit, and only while its agent is limited. */
  not_before: z.number().nullable().default(null),
  /** It was being typed when this was written: if it still stands here after a restart, nobody knows whether it arrived. */
  is_sending: z.boolean(),
  from: z.object({
    role: z.enum(callerRoles),
    name: z.string(),
    runtime_id: runtime.nullable(),
    hops: z.number(),
    why: z.string(),
    editor_id: z.string().nullable().default(null),
  }),
});
const nameSchema = z.object({ nick: z.string(), runtime_id: runtime });
const seenSchema = z.object({ runtime_id: runtime, at: z.number() });
const answeredSchema = z.object({ runtime_id: runtime, key: z.string() });
/** How many agents a message to this one went through. */
const hopsSchema = z.object({ runtime_id: runtime, count: z.int().positive() });

/** acting.json, as it was before schema 3. */
const fileSchema = z.object({
  version: z.literal(1),
  messages: z.array(messageSchema),
  names: z.array(nameSchema),
  seen: z.array(seenSchema),
  answered: z.array(answeredSchema),
  hops: z.array(hopsSchema).default([]),
});

export type StoredMessage = z.infer<typeof messageSchema>;
export type ActionContent = Omit<z.infer<typeof fileSchema>, 'version'>;

export const actionKinds = ['message', 'name', 'seen', 'answered', 'hops'] as const satisfies readonly DocumentKind[];

/** A message never changes, what becomes of it is another one; and it may be long. */
const messageBodies = new WeakMap<StoredMessage, string>();

function messageBody(message: StoredMessage): string {
  const body = messageBodies.get(message) ?? JSON.stringify(message);
  messageBodies.set(message, body);
  return body;
}

export function* actionDocuments({ messages, names, seen, answered, hops }: ActionContent): Generator<Document> {
  for (const one of messages) yield { kind: 'message', id: one.id, body: messageBody(one) };
  for (const one of names) yield { kind: 'name', id: one.nick, body: JSON.stringify(one) };
  for (const one of seen) yield { kind: 'seen', id: one.runtime_id, body: JSON.stringify(one) };
  for (const one of answered) {
    yield { kind: 'answered', id: `${one.runtime_id} ${one.key}`, body: JSON.stringify(one) };
  }
  for (const one of hops) yield { kind: 'hops', id: one.runtime_id, body: JSON.stringify(one) };
}

/** One that cannot be understood is passed over: better forgotten than half believed. */
export function actionContent(documents: readonly DocumentRecord[]): ActionContent {
  const all = <Value>(kind: DocumentKind, schema: z.ZodType<Value>): Value[] =>
    documents
      .filter((document) => document.kind === kind)
      .flatMap(({ body }) => schema.safeParse(parsed(body)).data ?? []);
  return {
    messages: all('message', messageSchema),
    names: all('name', nameSchema),
    // Marks go by age, and a mark that is set again keeps its number.
    seen: all('seen', seenSchema).sort((one, other) => one.at - other.at),
    answered: all('answered', answeredSchema),
    hops: all('hops', hopsSchema),
  };
}

export const actingFile = (path: string): OldFile => ({
  path,
  bytesMax: limits.actingFileBytesMax,
  read: (text) => {
    const { data } = fileSchema.safeParse(parsed(text));
    return data === undefined ? null : [...actionDocuments(data)];
  },
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
