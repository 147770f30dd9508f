// The one who taps on the shoulder: holds the rows against what was told, tells each event once by the ways that are
// wanted, and takes back what was answered elsewhere (NOT1 to NOT6). What was told is on disk before it is told.

import type { PaneRow } from '../api/panes.ts';
import type { ActionRequest, CallerClaim, Receipt } from '../model/actions.ts';
import { limits } from '../model/limits.ts';
import type { NoticeChannel, NoticeMute, NoticeRow, NoticeTold } from '../model/notices.ts';
import type { DocumentStore } from '../model/records.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import { importFile } from '../store/documents.ts';
import type { Message, NotificationChannel, NotifyResult, Press } from './channel.ts';
import { NoticeDocuments, noticeContent, noticeKinds, noticesFile } from './notice-documents.ts';
import { NoticeRegistry } from './notice-registry.ts';
import { channelsFor, fits, isQuiet, type NoticeSettings, quietOf } from './settings.ts';
import { countsOf, kindWords } from './words.ts';

// A flood is one message: after a few notices within a moment the rest is summed up, for ways that a person sees. What is
// in a sum and settled leaves it; with the last one the sum itself is taken back.

export class Pacing {
  readonly #clock: Clock;
  readonly #way: NotificationChannel;
  readonly #openOf: (id: string) => NoticeRow | null;
  #times: readonly number[] = [];
  readonly #summed = new Set<string>();
  #sum: { readonly id: string; readonly handle: string | null; readonly at: number } | null = null;
  #sums = 0;
  #timer: Cancel | null = null;
  #turn: Promise<void> = Promise.resolve();

  constructor(clock: Clock, way: NotificationChannel, openOf: (id: string) => NoticeRow | null) {
    this.#clock = clock;
    this.#way = way;
    this.#openOf = openOf;
  }

  /** Null: it will be part of a sum. */
  async tell(message: Message): Promise<NotifyResult | null> {
    const now = this.#clock.monotonicMs();
    this.#times = this.#times.filter((at) => now - at < limits.noticesBurstMs);
    if (this.#times.length >= limits.noticesBurstMax) {
      this.#summed.add(message.id);
      this.#sumUpSoon(now);
      return null;
    }
    this.#times = [...this.#times, now];
    return this.#way.tell(message);
  }

  /** True when it was part of a sum, which is dealt with here. */
  settled(id: string): boolean {
    if (!this.#summed.delete(id)) return false;
    if (this.#summed.size === 0) void this.#takeBack();
    return true;
  }

  stop(): void {
    this.#timer?.();
    this.#timer = null;
  }

  #sumUpSoon(now: number): void {
    if (this.#timer !== null) return;
    const rest = this.#sum === null ? 0 : this.#sum.at + limits.noticesBurstMs - now;
    this.#timer = this.#clock.after(Math.max(limits.noticesSumMs, rest), () => {
      this.#timer = null;
      // One after the other: of two at once only one could be taken back.
      this.#turn = this.#turn.then(() => this.#sumUp());
    });
  }

  async #sumUp(): Promise<void> {
    await this.#takeBack();
    // Taking back may last: who was answered meanwhile is no part of it any more.
    const open = [...this.#summed].flatMap((id) => this.#openOf(id) ?? []);
    if (open.length === 0) return;
    this.#sums += 1;
    const id = `sum-${this.#way.channel}-${this.#sums}`;
    const who = open.length === 1 ? 'one more agent' : `${open.length} more agents`;
    const body = `${countsOf(open.map(({ event }) => event))}; see agtmux list`;
    const message = { id, title: `${who}: see who needs you`, body, plain: body, isUrgent: true, notice: null };
    const told = await this.#way.tell(message);
    this.#sum = { id, handle: told.ok ? told.handle : null, at: this.#clock.monotonicMs() };
    // All of them may have been answered while it was shown.
    if (this.#summed.size === 0) await this.#takeBack();
  }

  async #takeBack(): Promise<void> {
    const sum = this.#sum;
    this.#sum = null;
    if (sum !== null) await this.#way.withdraw(sum.id, sum.handle);
  }
}

export interface NotifierParts {
  readonly clock: Clock;
  /** The daemon's timeline. */
  readonly now: () => number;
  readonly log: Pick<Log, 'warn' | 'debug'>;
  readonly documents: DocumentStore;
  readonly files: Files;
  /** Where earlier versions kept notices: notices.json, its log beside it. */
  readonly path: string;
  readonly home: string;
  readonly settings: () => NoticeSettings;
  readonly ways: (onPress: (id: string, press: Press) => void) => readonly NotificationChannel[];
  readonly publish: (changes: readonly { readonly key: string; readonly value: NoticeRow | null }[]) => void;
  readonly rows: () => readonly PaneRow[];
  /** An attached client shows this pane. */
  readonly isLookedAt: (row: PaneRow) => boolean;
  readonly act: (request: ActionRequest, claim: CallerClaim) => Promise<Receipt>;
  /** Minutes since midnight where the person is. */
  readonly minuteOfDay: () => number;
}

/** Something that happened, without an ask. */
export interface Announcement {
  readonly id: string;
  readonly title: string;
  readonly body: string;
}

export interface ChannelCount {
  readonly told: number;
  readonly failed: number;
  readonly last_trouble: string | null;
}

const noCount: ChannelCount = { told: 0, failed: 0, last_trouble: null };

export class Notifier {
  readonly #parts: NotifierParts;
  readonly #book = new NoticeRegistry();
  readonly #ways: readonly NotificationChannel[];
  readonly #pacings: ReadonlyMap<NoticeChannel, Pacing>;
  readonly #counts = new Map<NoticeChannel, ChannelCount>();
  readonly #handles = new Map<string, string>();
  /** What an earlier daemon has shown on the desktop: nobody listens to its buttons until they are shown anew. */
  readonly #deaf = new Set<string>();
  readonly #published = new Set<string>();
  /** What a person read who presses a button. */
  readonly #shown = new Map<string, string>();
  /** What is being shown at this moment, by way and notice. */
  readonly #underWay = new Set<string>();
  readonly #documents: NoticeDocuments;
  #mutes: readonly NoticeMute[] = [];
  #timer: { readonly at: number; readonly cancel: Cancel } | null = null;
  #isFirst = true;
  #isStopped = false;

  private constructor(parts: NotifierParts) {
    this.#parts = parts;
    this.#ways = parts.ways((id, press) => void this.#pressed(id, press));
    const seen = this.#ways.filter(({ channel }) => seenChannels.has(channel));
    const openOf = (id: string): NoticeRow | null => this.openNotice(id);
    this.#pacings = new Map(seen.map((way) => [way.channel, new Pacing(parts.clock, way, openOf)]));
    this.#documents = new NoticeDocuments(parts.documents, parts.clock, () => ({
      notices: this.#book.all(),
      handles: Object.fromEntries(this.#handles),
      mutes: this.#mutes,
    }));
  }

  static async open(parts: NotifierParts): Promise<Notifier> {
    const notifier = new Notifier(parts);
    const trouble = await importFile(parts.documents, parts.files, noticesFile(parts.path));
    if (trouble !== null) parts.log.warn('the stored notifications could not be read', { problem: trouble });
    const kept = noticeContent(await parts.documents.documents(noticeKinds));
    notifier.#book.load(kept.notices);
    notifier.#mutes = kept.mutes;
    for (const [id, handle] of Object.entries(kept.handles)) notifier.#handles.set(id, handle);
    for (const id of notifier.#handles.keys()) notifier.#deaf.add(id);
    return notifier;
  }

  async close(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    for (const pacing of this.#pacings.values()) pacing.stop();
    for (const way of this.#ways) way.close();
    await this.#documents.settled();
  }

  /** To be called whenever the rows have changed. */
  look(): void {
    if (this.#isStopped) return;
    const { now, settings, home, rows } = this.#parts;
    const step = this.#book.step(rows(), now(), (subject) => channelsFor(settings(), subject, home));
    for (const notice of step.over) this.#takeBack(notice);
    for (const id of this.#deaf) this.#hearAgain(id);
    const again = step.changed.filter(({ notice_id }) => this.#published.has(notice_id));
    this.#parts.publish(again.map((notice) => ({ key: keyOf(notice), value: notice })));
    // The next daemon would see both for itself.
    if (step.over.length + step.changed.length > 0) this.#documents.saveSoon();
    if (step.opened.length + step.changed.length > 0 || this.#isFirst) this.#wake(limits.noticeAfterMs);
    this.#isFirst = false;
  }

  list(countMax: number): readonly NoticeRow[] {
    return this.#book.all().toReversed().slice(0, countMax);
  }

  /** What the feed has at this moment. */
  snapshot(): readonly { readonly key: string; readonly value: NoticeRow }[] {
    const shown = this.#book.open().filter(({ notice_id }) => this.#published.has(notice_id));
    return shown.map((notice) => ({ key: keyOf(notice), value: notice }));
  }

  mutes(): readonly NoticeMute[] {
    const wall = this.#parts.clock.wallMs();
    return this.#mutes.filter(({ until }) => until === null || until > wall);
  }

  setMutes(mutes: readonly NoticeMute[]): void {
    this.#mutes = mutes;
    void this.#documents.save();
    this.#wake(0);
  }

  /** Something that keeps notices back, or lets them out, has changed. */
  reconsider(): void {
    this.look();
    this.#wake(0);
  }

  countOf(channel: NoticeChannel): ChannelCount {
    return this.#counts.get(channel) ?? noCount;
  }

  isQuietNow(): boolean {
    const quiet = quietOf(this.#parts.settings().quiet ?? '');
    return quiet !== null && isQuiet(quiet, this.#parts.minuteOfDay());
  }

  /** Says something that is about nobody. */
  async tellTest(channel: NoticeChannel): Promise<NotifyResult> {
    const way = this.#ways.find((one) => one.channel === channel);
    if (way === undefined) return { ok: false, problem: 'this channel is not available on this machine' };
    const body = 'Notifications from agtmux look like this.';
    const message: Message = {
      id: 'test',
      title: 'agtmux: test notification',
      body,
      plain: body,
      isUrgent: false,
      notice: null,
    };
    const told = await way.tell(message);
    this.#count(channel, told);
    return told;
  }

  /** Told once by every way that is on, and kept back in quiet hours: nobody has to answer it. */
  announce({ id, title, body }: Announcement): void {
    const { settings } = this.#parts;
    if (this.#isStopped || this.isQuietNow() || !settings().on.includes('error')) return;
    if (this.mutes().some(({ agent, project }) => agent === null && project === null)) return;
    const message: Message = { id, title, body, plain: title, isUrgent: false, notice: null };
    for (const way of this.#ways) {
      if (!settings().channels.includes(way.channel)) continue;
      void way.tell(message).then((told) => this.#count(way.channel, told));
    }
  }

  /** Null once it is over. */
  openNotice(id: string): NoticeRow | null {
    const notice = this.#book.get(id);
    return notice === null || notice.over_at !== null ? null : notice;
  }

  #wake(delayMs: number): void {
    if (this.#isStopped) return;
    const at = this.#parts.clock.monotonicMs() + delayMs;
    if (this.#timer !== null && this.#timer.at <= at) return;
    this.#timer?.cancel();
    const cancel = this.#parts.clock.after(delayMs, () => {
      this.#timer = null;
      void this.#tellDue();
    });
    this.#timer = { at, cancel };
  }

  /** What has been open for a moment and may be told is told. */
  async #tellDue(): Promise<void> {
    const now = this.#parts.now();
    const rows = new Map(this.#parts.rows().map((row) => [row.runtime_id, row] as const));
    const due: { readonly id: string; readonly way: NotificationChannel }[] = [];
    for (const notice of this.#book.open()) {
      const waitMs = notice.at + limits.noticeAfterMs - now;
      if (waitMs > 0) this.#wake(waitMs);
      else due.push(...this.#dueWays(notice, this.#isHeldBack(notice, rows.get(notice.runtime_id))));
    }
    if (due.length === 0) return;
    // On disk first: whatever happens from here on, nobody is told twice (NOT2).
    await this.#documents.save();
    for (const { id, way } of due) void this.#tell(id, way);
  }

  /** The ways that are to be used now; they count as told from here on. */
  #dueWays(notice: NoticeRow, isHeld: boolean): readonly { readonly id: string; readonly way: NotificationChannel }[] {
    const { notice_id: id } = notice;
    if (isHeld) this.#wake(limits.noticesQuietLookMs);
    const ways = isHeld ? [] : this.#ways.filter((way) => isWanted(notice, way.channel));
    const told = ways.map(({ channel }): NoticeTold => ({ channel, outcome: 'told', detail: null }));
    const next = { ...notice, is_quiet: isHeld, told: [...notice.told, ...told] };
    this.#book.put(next);
    if (!this.#published.has(id) || notice.is_quiet !== isHeld) {
      this.#published.add(id);
      this.#parts.publish([{ key: keyOf(next), value: next }]);
    }
    return ways.map((way) => ({ id, way }));
  }

  #isHeldBack({ agent, cwd }: NoticeRow, row: PaneRow | undefined): boolean {
    const { home, settings, isLookedAt } = this.#parts;
    if (this.isQuietNow() || this.mutes().some((mute) => fits(mute, agent, cwd, home))) return true;
    return settings().skip_looked_at && row !== undefined && isLookedAt(row);
  }

  async #tell(id: string, way: NotificationChannel): Promise<void> {
    const notice = this.openNotice(id);
    // Answered while it was being written down (NOT3).
    if (notice === null || this.#isStopped) return;
    const underWay = underWayOf(id, way);
    this.#underWay.add(underWay);
    const message = messageOf(notice, () => this.openNotice(id) !== null);
    if (way.channel === 'desktop') this.#shown.set(id, message.body);
    const told = await (this.#pacings.get(way.channel)?.tell(message) ?? way.tell(message));
    this.#underWay.delete(underWay);
    // Answered while it waited for its turn: nobody was told (NOT3).
    if (told?.ok === true && told.isTooLate === true) return this.#unmark(id, way.channel);
    if (told === null) this.#mark(id, { channel: way.channel, outcome: 'summed_up', detail: null });
    else this.#settled(id, way, told);
    if (this.openNotice(id) === null) void this.#withdraw(id, way);
  }

  /** Once it is known what is asked, the buttons are shown in their place and listened to (NOT5). */
  #hearAgain(id: string): void {
    const notice = this.openNotice(id);
    if (notice !== null && notice.body === '') return;
    this.#deaf.delete(id);
    const way = this.#ways.find(({ channel }) => channel === 'desktop');
    const handle = this.#handles.get(id);
    if (notice !== null && handle !== undefined && way?.renew !== undefined) void this.#renew(notice, way, handle);
  }

  async #renew(notice: NoticeRow, way: NotificationChannel, handle: string): Promise<void> {
    const { notice_id: id } = notice;
    const underWay = underWayOf(id, way);
    this.#underWay.add(underWay);
    const message = messageOf(notice, () => this.openNotice(id) !== null);
    this.#shown.set(id, message.body);
    const told = await way.renew?.(message, handle);
    this.#underWay.delete(underWay);
    if (told?.ok === true && told.handle !== null && told.handle !== handle) {
      this.#handles.set(id, told.handle);
      void this.#documents.save();
    }
    // Buttons that nobody listens to are taken away: what is asked is in every list.
    if (told?.ok !== true || this.openNotice(id) === null) void this.#withdraw(id, way);
  }

  #settled(id: string, way: NotificationChannel, told: NotifyResult): void {
    this.#count(way.channel, told);
    if (!told.ok) {
      this.#mark(id, { channel: way.channel, outcome: 'failed', detail: told.problem });
      this.#parts.log.warn('a notification could not be shown', { by: way.channel, problem: told.problem });
    } else if (told.handle !== null) {
      this.#handles.set(id, told.handle);
      void this.#documents.save();
    }
  }

  #mark(id: string, told: NoticeTold): void {
    const notice = this.#book.get(id);
    if (notice === null) return;
    const others = notice.told.filter(({ channel }) => channel !== told.channel);
    this.#book.put({ ...notice, told: [...others, told] });
    void this.#documents.save();
  }

  #unmark(id: string, channel: NoticeChannel): void {
    const notice = this.#book.get(id);
    if (notice === null) return;
    this.#book.put({ ...notice, told: notice.told.filter((one) => one.channel !== channel) });
    void this.#documents.save();
  }

  #count(channel: NoticeChannel, told: NotifyResult): void {
    const { told: count, failed, last_trouble } = this.countOf(channel);
    this.#counts.set(
      channel,
      told.ok
        ? { told: count + 1, failed, last_trouble }
        : { told: count, failed: failed + 1, last_trouble: told.problem },
    );
  }

  #takeBack(notice: NoticeRow): void {
    const { notice_id: id } = notice;
    if (this.#published.delete(id)) this.#parts.publish([{ key: keyOf(notice), value: null }]);
    this.#shown.delete(id);
    for (const way of this.#ways) {
      // What is just being shown is taken back once it is there.
      if (wasTold(notice, way.channel) && !this.#underWay.has(underWayOf(id, way))) void this.#withdraw(id, way);
    }
  }

  async #withdraw(id: string, way: NotificationChannel): Promise<void> {
    if (this.#pacings.get(way.channel)?.settled(id) === true) return;
    const handle = way.channel === 'desktop' ? (this.#handles.get(id) ?? null) : null;
    if (handle !== null) this.#handles.delete(id);
    await way.withdraw(id, handle);
  }

  /** A button of ours was pressed. What it was about is looked at again, by the same guard as for everyone (NOT5). */
  async #pressed(id: string, press: Press): Promise<void> {
    const notice = this.openNotice(id);
    if (notice === null || notice.ask_id === null) return;
    const { runtime_id, ask_id } = notice;
    // The same ask says something else than what was read.
    if (this.#shown.get(id) !== notice.body)
      return this.#notDone(id, press, 'the request has changed [E_STATE_CHANGED]');
    const request: ActionRequest = {
      action: press,
      ref: `runtime:${runtime_id}`,
      ask_id,
      conditions: { if_runtime: runtime_id },
    };
    const receipt = await this.#parts.act(request, { pid: null, hops: 0, door: 'notification' });
    if (receipt.outcome !== 'refused') return;
    await this.#notDone(
      id,
      press,
      receipt.failure === null ? '' : `${receipt.failure.message} [${receipt.failure.code}]`,
    );
  }

  async #notDone(id: string, press: Press, why: string): Promise<void> {
    const plain = 'It was not done; check the agent.';
    const message: Message = {
      id: `not-${id}`,
      title: `${press} was refused`,
      body: why,
      plain,
      isUrgent: true,
      notice: null,
    };
    await this.#ways.find(({ channel }) => channel === 'desktop')?.tell(message);
  }
}

/** Ways that a person sees: a flood is summed up there. */
const seenChannels: ReadonlySet<NoticeChannel> = new Set(['desktop', 'terminal', 'push']);

const underWayOf = (id: string, { channel }: NotificationChannel): string => `${channel} ${id}`;

const keyOf = ({ notice_id }: NoticeRow): string => `notice:${notice_id}`;

const isWanted = ({ channels, told }: NoticeRow, channel: NoticeChannel): boolean =>
  channels.includes(channel) && told.every((one) => one.channel !== channel);

const wasTold = ({ told }: NoticeRow, channel: NoticeChannel): boolean =>
  told.some((one) => one.channel === channel && one.outcome !== 'failed');

const messageOf = (notice: NoticeRow, isOpen: () => boolean): Message => ({
  id: notice.notice_id,
  title: notice.title,
  body: notice.body,
  plain: `${notice.agent} ${kindWords(notice)} (${notice.place})`,
  isUrgent: notice.event === 'waiting_approval' || notice.event === 'waiting_input',
  notice,
  isWanted: isOpen,
});
