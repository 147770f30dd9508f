// What notifications must not forget over a restart: which events were told, how to take them back, and what is muted. Each is
// a document of the log's file, written before anyone is told: told twice is worse than told not at all, since every list
// shows it.

import { z } from 'zod';
import { askKinds } from '../model/asks.ts';
import { agentName, askId, runtimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { type NoticeMute, type NoticeRow, noticeChannels, noticeEvents } from '../model/notices.ts';
import type { DocumentKind, DocumentRecord, DocumentStore } from '../model/records.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { type Document, DocumentWriter, NotKeptError, type OldFile } from '../store/documents.ts';

const noticeSchema = z.object({
  notice_id: z.string(),
  event: z.enum(noticeEvents),
  runtime_id: z.string().transform(runtimeId),
  agent: z.string().transform(agentName),
  project: z.string(),
  cwd: z.string(),
  place: z.string(),
  title: z.string(),
  ask_id: z.string().transform(askId).nullable(),
  ask_kind: z.enum(askKinds).nullable(),
  since: z.number(),
  at: z.number(),
  over_at: z.number().nullable(),
  channels: z.array(z.enum(noticeChannels)),
  told: z.array(
    z.object({
      channel: z.enum(noticeChannels),
      outcome: z.enum(['told', 'failed', 'summed_up']),
      detail: z.string().nullable(),
    }),
  ),
});

const handleSchema = z.string();

const mutesSchema = z.array(
  z.object({ agent: z.string().nullable(), project: z.string().nullable(), until: z.number().nullable() }),
);

export interface NoticeContent {
  readonly notices: readonly NoticeRow[];
  /** How a channel finds again what it has shown, by `<channel> <notice>`. */
  readonly handles: Readonly<Record<string, string>>;
  readonly mutes: readonly NoticeMute[];
}

export const noticeKinds = ['notice', 'notice_handle', 'notice_mutes'] as const satisfies readonly DocumentKind[];

/** A row never changes; what became of it is another one. */
const noticeBodies = new WeakMap<object, string>();

function noticeBody(notice: NoticeRow): string {
  const { body: _, is_whole: __, is_quiet: ___, ...kept } = notice;
  const body = noticeBodies.get(notice) ?? JSON.stringify(kept);
  noticeBodies.set(notice, body);
  return body;
}

function* noticeDocuments({ notices, handles, mutes }: NoticeContent): Generator<Document> {
  for (const one of notices) yield { kind: 'notice', id: one.notice_id, body: noticeBody(one) };
  for (const [id, handle] of Object.entries(handles)) {
    yield { kind: 'notice_handle', id, body: JSON.stringify(handle) };
  }
  yield { kind: 'notice_mutes', id: 'all', body: JSON.stringify(mutes) };
}

/** One that cannot be understood is passed over: then an ask that is open is told once more. */
export function noticeContent(documents: readonly DocumentRecord[]): NoticeContent {
  const all = <Value>(kind: DocumentKind, schema: z.ZodType<Value>) =>
    documents.flatMap((document) => {
      const value = document.kind === kind ? schema.safeParse(parsed(document.body)).data : undefined;
      return value === undefined ? [] : [{ id: document.id, value }];
    });
  return {
    notices: all('notice', noticeSchema).map(({ value }) => withoutWords(value)),
    handles: Object.fromEntries(all('notice_handle', handleSchema).map(({ id, value }) => [handleKey(id), value])),
    mutes: all('notice_mutes', mutesSchema).flatMap(({ value }) => value),
  };
}

/** Earlier versions kept handles of the desktop only, by the notice alone. */
const handleKey = (id: string): string => (id.includes(' ') ? id : `desktop ${id}`);

/** What was asked is not kept: the row says it again. */
const withoutWords = (one: z.infer<typeof noticeSchema>): NoticeRow => ({
  ...one,
  body: '',
  is_whole: false,
  is_quiet: false,
});

export class NoticeDocuments {
  readonly #clock: Clock;
  readonly #writer: DocumentWriter;
  #last: Promise<unknown> = Promise.resolve();
  #later: Cancel | null = null;

  constructor(store: DocumentStore, clock: Clock, compose: () => NoticeContent) {
    this.#clock = clock;
    this.#writer = new DocumentWriter(store, noticeKinds, () => noticeDocuments(compose()));
  }

  /** True when everything that was true at the call is on disk; a full disk does not keep anyone from being told. */
  save(): Promise<boolean> {
    this.#later?.();
    this.#later = null;
    const saved = this.#writer.save().then(() => true, isNotKept);
    this.#last = saved;
    return saved;
  }

  /** For what the next daemon finds out by itself should this one die before: many changes are one write. */
  saveSoon(): void {
    this.#later ??= this.#clock.after(limits.noticesSaveSoonMs, () => void this.save());
  }

  /** Resolves when nothing is left to be written. */
  async settled(): Promise<void> {
    if (this.#later !== null) void this.save();
    await this.#last;
  }
}

function isNotKept(problem: unknown): false {
  if (problem instanceof NotKeptError) return false;
  throw problem;
}

/** notices.json, as it was before schema 3. */
const fileSchema = z.object({
  version: z.literal(1),
  /** Which part of the log comes after this. */
  generation: z.number().default(0),
  notices: z.array(noticeSchema),
  handles: z.record(z.string(), z.string()),
  mutes: mutesSchema,
});

/** A line of its log: after which whole file the next lines come, or one thing as it is from there on. */
const lineSchema = z.union([
  z.object({ generation: z.number() }),
  z.object({ notice: noticeSchema }),
  z.object({ handle: z.tuple([z.string(), z.string().nullable()]) }),
  z.object({ mutes: mutesSchema }),
]);

export const noticesFile = (path: string): OldFile => ({
  path,
  logPath: `${path.replace(/\.json$/, '')}.log`,
  bytesMax: limits.noticesFileBytesMax,
  read: (text, log) => {
    const { data } = fileSchema.safeParse(parsed(text));
    return data === undefined ? null : [...noticeDocuments(wholeOf(data, log))];
  },
});

/** A line that a crash cut short says nothing; those of an earlier whole file are in the present one already. */
function wholeOf(first: z.infer<typeof fileSchema>, log: string | null): NoticeContent {
  const notices = new Map(first.notices.map((one) => [one.notice_id, one]));
  const handles = new Map(Object.entries(first.handles));
  let { mutes } = first;
  let generation: number | null = null;
  for (const text of log?.split('\n') ?? []) {
    const line = lineSchema.safeParse(parsed(text)).data;
    if (line === undefined) continue;
    if ('generation' in line) generation = line.generation;
    if (generation !== first.generation) continue;
    if ('notice' in line) notices.set(line.notice.notice_id, line.notice);
    if ('mutes' in line) mutes = line.mutes;
    if (!('handle' in line)) continue;
    const [id, handle] = line.handle;
    if (handle === null) handles.delete(id);
    else handles.set(id, handle);
  }
  return { notices: [...notices.values()].map(withoutWords), handles: Object.fromEntries(handles), mutes };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
