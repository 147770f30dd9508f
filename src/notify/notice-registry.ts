// Which notices there are: held against the rows at every look, so that each event is one notice, also over a restart, and
// what is no longer so is over (NOT1). Pure bookkeeping: no clock, no file, nobody is told from here.

import type { PaneRow } from '../api/panes.ts';
import { hashText } from '../engine/canonical.ts';
import type { AskId, RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { type NoticeChannel, type NoticeEvent, type NoticeRow, noticeEvents } from '../model/notices.ts';
import { hasAgent, type WithAgent } from '../model/rows.ts';
import type { NoticeSubject } from './settings.ts';
import { bodyOf, isWhole, placeOf, projectOf, titleOf } from './words.ts';

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

  /** It was made of this very row, and for these channels. */
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
  for (const row of rows) {
    // Most of what ever ran has ended well.
    if (!hasAgent(row) || (row.ended !== null && row.state !== 'error')) continue;
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
  const doubtful = new Set<RuntimeId>();
  for (const row of rows)
    if (row.state === 'unknown' && row.ended === null && hasAgent(row)) doubtful.add(row.runtime_id);
  return doubtful;
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
