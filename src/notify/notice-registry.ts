// Which notices there are: held against the rows at every look, so that each event is one notice, also over a restart, and
// what is no longer so is over (NOT1). Pure bookkeeping: no clock, no file, nobody is told from here.

import { z } from 'zod';
import type { PaneRow } from '../api/schemas.ts';
import { hashText } from '../engine/canonical.ts';
import { askKinds } from '../model/asks.ts';
import { type AskId, agentName, askId, type RuntimeId, runtimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import {
  type NoticeChannel,
  type NoticeEvent,
  type NoticeMute,
  type NoticeRow,
  noticeChannels,
  noticeEvents,
} from '../model/notices.ts';
import { hasAgent, type WithAgent } from '../model/rows.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { FileError, type Files } from '../platform/files.ts';
import type { NoticeSubject } from './settings.ts';
import { bodyOf, isWhole, placeOf, projectOf, titleOf } from './words.ts';

// What notifications must not forget over a restart: which events were told, how to take them back, and what is muted.
// Private files, written before anyone is told: told twice is worse than told not at all, since every list shows it. One
// file holds everything, a log beside it what changed since: a change costs its own bytes, not those of all notices.

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

const mutesSchema = z.array(
  z.object({ agent: z.string().nullable(), project: z.string().nullable(), until: z.number().nullable() }),
);

const keptSchema = z.object({
  version: z.literal(1),
  /** Which part of the log comes after this. */
  generation: z.number().default(0),
  notices: z.array(noticeSchema),
  /** By which number the desktop knows a notice. */
  handles: z.record(z.string(), z.string()),
  mutes: mutesSchema,
});

/** A line of the log: after which whole file the next lines come, or one thing as it is from there on. */
const lineSchema = z.union([
  z.object({ generation: z.number() }),
  z.object({ notice: noticeSchema }),
  z.object({ handle: z.tuple([z.string(), z.string().nullable()]) }),
  z.object({ mutes: mutesSchema }),
]);

interface KeptNotices {
  readonly notices: readonly NoticeRow[];
  readonly handles: Readonly<Record<string, string>>;
  readonly mutes: readonly NoticeMute[];
}

interface ReadNotices {
  readonly kept: KeptNotices;
  readonly generation: number;
  readonly trouble: string | null;
}

const nothing: ReadNotices = { kept: { notices: [], handles: {}, mutes: [] }, generation: 0, trouble: null };

const logPathOf = (path: string): string => `${path.replace(/\.json$/, '')}.log`;

/** A file that cannot be understood is set aside: then asks that are open are told once more. */
export async function readKept(files: Files, path: string): Promise<ReadNotices> {
  try {
    const text = await textOf(files, path);
    if (text === null) return nothing;
    const read = keptSchema.safeParse(parsed(text));
    if (!read.success) {
      await files.rename(path, `${path}.damaged`);
      return { ...nothing, trouble: `${path} could not be understood and was set aside` };
    }
    const whole = wholeOf(read.data, await textOf(files, logPathOf(path)));
    // What was asked is not kept: the row says it again.
    const notices = [...whole.notices.values()].map((one) => ({ ...one, body: '', is_whole: false, is_quiet: false }));
    const kept = { notices, handles: Object.fromEntries(whole.handles), mutes: whole.mutes };
    return { kept, generation: read.data.generation, trouble: null };
  } catch (problem) {
    if (!(problem instanceof FileError)) throw problem;
    return { ...nothing, trouble: problem.message };
  }
}

async function textOf(files: Files, path: string): Promise<string | null> {
  const found = await files.read(path, { bytesMax: limits.noticesFileBytesMax });
  return found === null ? null : Buffer.from(found.bytes).toString();
}

/** A line that a crash cut short says nothing; those of an earlier whole file are in the present one already. */
function wholeOf(first: z.infer<typeof keptSchema>, log: string | null) {
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
  return { notices, handles, mutes };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** By its key, each thing as the line that keeps it. */
type Lines = ReadonlyMap<string, string>;

export class NoticesFile {
  readonly #files: Files;
  readonly #clock: Clock;
  readonly #path: string;
  readonly #compose: () => KeptNotices;
  /** A row never changes; what became of it is another one. */
  readonly #noticeLines = new WeakMap<NoticeRow, string>();
  #generation = 0;
  /** What is on disk; null when that is not known, and then everything is written. */
  #written: Lines | null = null;
  #logBytes = 0;
  #isDirty = false;
  #writing: Promise<boolean> | null = null;
  #later: Cancel | null = null;

  constructor(files: Files, clock: Clock, path: string, compose: () => KeptNotices) {
    this.#files = files;
    this.#clock = clock;
    this.#path = path;
    this.#compose = compose;
  }

  /** What was read belongs to this generation; what is written from now on belongs to later ones. */
  goOnFrom(generation: number): void {
    this.#generation = generation;
  }

  /** True when everything that was true at the call is on disk; a full disk does not keep anyone from being told. */
  save(): Promise<boolean> {
    this.#later?.();
    this.#later = null;
    this.#isDirty = true;
    this.#writing ??= this.#write();
    return this.#writing;
  }

  /** For what the next daemon finds out by itself should this one die before: many changes are one write. */
  saveSoon(): void {
    this.#later ??= this.#clock.after(limits.noticesSaveSoonMs, () => void this.save());
  }

  /** Resolves when nothing is left to be written. */
  async settled(): Promise<void> {
    if (this.#later !== null) void this.save();
    await this.#writing;
  }

  async #write(): Promise<boolean> {
    try {
      // Whoever comes while it is being written is in the next round.
      await Promise.resolve();
      while (this.#isDirty) {
        this.#isDirty = false;
        const kept = this.#compose();
        const lines = this.#linesOf(kept);
        const before = this.#written;
        // Until the write has succeeded nobody knows what is there.
        this.#written = null;
        if (before === null || this.#logBytes > limits.noticesLogBytesMax) await this.#writeWhole(kept);
        else await this.#append(changesOf(before, lines));
        this.#written = lines;
      }
      return true;
    } catch (problem) {
      if (problem instanceof FileError) return false;
      throw problem;
    } finally {
      this.#writing = null;
    }
  }

  async #writeWhole({ notices, ...rest }: KeptNotices): Promise<void> {
    this.#generation += 1;
    const shown = notices.map(keptOf);
    const text = JSON.stringify({ version: 1, generation: this.#generation, ...rest, notices: shown });
    await this.#files.writeAtomic(this.#path, Buffer.from(text));
    this.#logBytes = 0;
    await this.#files.remove(logPathOf(this.#path));
  }

  #linesOf({ notices, handles, mutes }: KeptNotices): Lines {
    const lines = new Map(notices.map((one) => [`notice ${one.notice_id}`, this.#lineOf(one)]));
    for (const [id, handle] of Object.entries(handles))
      lines.set(`handle ${id}`, JSON.stringify({ handle: [id, handle] }));
    return lines.set('mutes', JSON.stringify({ mutes }));
  }

  #lineOf(notice: NoticeRow): string {
    const line = this.#noticeLines.get(notice) ?? JSON.stringify({ notice: keptOf(notice) });
    this.#noticeLines.set(notice, line);
    return line;
  }

  async #append(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    // On a line of its own, whatever a crash may have left there.
    const head = this.#logBytes === 0 ? ['', JSON.stringify({ generation: this.#generation })] : [];
    const bytes = Buffer.from([...head, ...lines, ''].join('\n'));
    await this.#files.append(logPathOf(this.#path), bytes, { sync: true });
    this.#logBytes += bytes.length;
  }
}

const keptOf = ({ body: _, is_whole: __, is_quiet: ___, ...one }: NoticeRow): object => one;

/** A notice that is no longer remembered needs no line: there are never more of them than the bound. */
function changesOf(before: Lines, now: Lines): readonly string[] {
  const changed = [...now].filter(([key, line]) => before.get(key) !== line).map(([, line]) => line);
  const gone = [...before.keys()].filter((key) => key.startsWith('handle ') && !now.has(key));
  return [...changed, ...gone.map((key) => JSON.stringify({ handle: [key.slice('handle '.length), null] }))];
}

export interface Step {
  readonly opened: readonly NoticeRow[];
  readonly over: readonly NoticeRow[];
  /** They say something else now: another text, another ask id. */
  readonly changed: readonly NoticeRow[];
}

type AgentRow = WithAgent<PaneRow>;

interface Candidate {
  readonly row: AgentRow;
  readonly event: NoticeEvent;
  readonly channels: readonly NoticeChannel[];
}

export class NoticeRegistry {
  /** In the order they were noticed. */
  readonly #notices = new Map<string, NoticeRow>();
  /** The row that each open notice was made of last: while it is the same one, nothing new is to be said. */
  readonly #rowOf = new Map<string, PaneRow>();

  load(notices: readonly NoticeRow[]): void {
    for (const notice of notices) this.#notices.set(notice.notice_id, notice);
  }

  all(): readonly NoticeRow[] {
    return [...this.#notices.values()];
  }

  open(): readonly NoticeRow[] {
    return this.all().filter(({ over_at }) => over_at === null);
  }

  get(id: string): NoticeRow | null {
    return this.#notices.get(id) ?? null;
  }

  put(notice: NoticeRow): void {
    this.#notices.set(notice.notice_id, notice);
  }

  step(
    rows: readonly PaneRow[],
    now: number,
    channelsFor: (subject: NoticeSubject) => readonly NoticeChannel[] | null,
  ): Step {
    const before = this.all();
    const byRuntime = Map.groupBy(before, ({ runtime_id }) => runtime_id);
    const seen = new Set<string>();
    const opened: NoticeRow[] = [];
    const changed: NoticeRow[] = [];
    for (const candidate of candidatesOf(rows, channelsFor)) {
      const known = knownOf(byRuntime.get(candidate.row.runtime_id) ?? [], candidate, now);
      if (known === null && isOld(candidate, now)) continue;
      if (known !== null && this.#saysAlready(known, candidate)) {
        seen.add(known.notice_id);
        continue;
      }
      const notice = noticeOf(candidate, now, known);
      this.#rowOf.set(notice.notice_id, candidate.row);
      seen.add(notice.notice_id);
      this.#notices.set(notice.notice_id, notice);
      if (known === null) opened.push(notice);
      else if (known.over_at !== null || !saysTheSame(known, notice)) changed.push(notice);
    }
    const doubtful = doubtfulOf(rows);
    const over = before
      .filter((one) => one.over_at === null && !seen.has(one.notice_id) && !doubtful.has(one.runtime_id))
      .map((one) => ({ ...one, over_at: now }));
    for (const one of over) this.#notices.set(one.notice_id, one);
    this.#forget();
    return { opened, over, changed };
  }

  /** It was made of this very row, and for these ways. */
  #saysAlready(known: NoticeRow, { row, channels }: Candidate): boolean {
    if (known.over_at !== null || this.#rowOf.get(known.notice_id) !== row) return false;
    return known.channels.join() === channels.join();
  }

  #forget(): void {
    for (const id of this.#rowOf.keys()) if (this.get(id)?.over_at !== null) this.#rowOf.delete(id);
    const surplus = this.#notices.size - limits.noticesKept;
    if (surplus <= 0) return;
    const oldest = this.all().filter(({ over_at }) => over_at !== null);
    for (const { notice_id } of oldest.slice(0, surplus)) this.#notices.delete(notice_id);
  }
}

/** The notice that this event already has. */
function knownOf(ofRuntime: readonly NoticeRow[], { row, event }: Candidate, now: number): NoticeRow | null {
  const own = ofRuntime.filter((one) => one.event === event);
  if (row.ask === null) return own.findLast((one) => isSameStay(one, row)) ?? null;
  const { ask_id } = row.ask;
  const exact = own.findLast((one) => one.ask_id === ask_id);
  return exact ?? own.findLast((one) => one.over_at === null && isSameDialog(one, ask_id, now)) ?? null;
}

function* candidatesOf(
  rows: readonly PaneRow[],
  channelsFor: (subject: NoticeSubject) => readonly NoticeChannel[] | null,
): Generator<Candidate> {
  for (const row of rows.filter(hasAgent)) {
    const event = eventOf(row);
    const channels = event === null ? null : channelsFor({ event, agent: row.agent, cwd: row.cwd });
    if (event !== null && channels !== null) yield { row, event, channels };
  }
}

/** Agents of agents are their parent's business; what a person has seen needs no telling. */
function eventOf({ state, parent, seen, ended }: AgentRow): NoticeEvent | null {
  if (parent !== null || seen === true || (ended !== null && state !== 'error')) return null;
  return noticeEvents.find((event) => event === state) ?? null;
}

/** Nobody can say whether it still asks: neither news nor over. */
function doubtfulOf(rows: readonly PaneRow[]): ReadonlySet<RuntimeId> {
  const unknown = rows.filter(hasAgent).filter(({ state, ended }) => state === 'unknown' && ended === null);
  return new Set(unknown.map(({ runtime_id }) => runtime_id));
}

/** A state has no id; one that began before it was noticed is the one that was noticed. */
const isSameStay = (notice: NoticeRow, { since }: AgentRow): boolean =>
  notice.over_at === null
    ? since <= notice.at + limits.noticeSameStateMs
    : Math.abs(since - notice.since) <= limits.noticeSameStateMs;

/** The screen's own ask gives way to the agent's for the same dialog, and a state may be known before its ask is. */
const isSameDialog = ({ ask_id, at }: NoticeRow, next: AskId, now: number): boolean =>
  ask_id === null || (isScreens(ask_id) && !isScreens(next) && now - at <= limits.noticeSameAskMs);

const isScreens = (id: string): boolean => id.startsWith('screen:');

/** Finished or failed long ago, while nobody watched: it is in every list, and no news. Asks never get old. */
const isOld = ({ row, event }: Candidate, now: number): boolean =>
  (event === 'error' || event === 'completed') && now - row.since > limits.noticeFreshMs;

function noticeOf({ row, event, channels }: Candidate, now: number, known: NoticeRow | null): NoticeRow {
  const body = bodyOf(row);
  return {
    notice_id: known?.notice_id ?? idOf(row, event),
    event,
    runtime_id: row.runtime_id,
    agent: row.agent,
    project: projectOf(row.cwd),
    cwd: row.cwd,
    place: placeOf(row),
    title: titleOf(event, row),
    body,
    is_whole: row.ask !== null && isWhole(row.ask.text, body),
    ask_id: row.ask?.ask_id ?? known?.ask_id ?? null,
    ask_kind: row.ask?.kind ?? known?.ask_kind ?? null,
    since: known?.since ?? row.since,
    at: known?.at ?? now,
    over_at: null,
    is_quiet: known?.is_quiet ?? false,
    channels,
    told: known?.told ?? [],
  };
}

/** The same after a restart that forgot it: a page that has shown it knows it again. */
const idOf = ({ runtime_id, ask, since }: AgentRow, event: NoticeEvent): string =>
  hashText(`${runtime_id}\n${event}\n${ask?.ask_id ?? Math.round(since)}`);

const saysTheSame = (one: NoticeRow, other: NoticeRow): boolean =>
  one.title === other.title &&
  one.body === other.body &&
  one.ask_id === other.ask_id &&
  one.place === other.place &&
  one.channels.join() === other.channels.join();
