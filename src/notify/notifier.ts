// Holds the rows against what was told, tells each event once on the channels that are wanted, and takes back what was
// answered elsewhere (NOT1 to NOT6). What was told is on disk before it is told. Knows no channel by name but for the sums.

import type { PaneRow } from '../api/panes.ts';
import type { ActionRequest, CallerClaim, Receipt } from '../model/actions.ts';
import { limits } from '../model/limits.ts';
import type { NoticeChannel, NoticeMute, NoticeRow, NoticeTold } from '../model/notices.ts';
import type { DocumentStore } from '../model/records.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import { importFile } from '../store/documents.ts';
import type { Message, NotificationChannel, NotifyResult, OnPress, Press } from './channel.ts';
import { NoticeDocuments, noticeContent, noticeKinds, noticesFile } from './notice-documents.ts';
import { NoticeRegistry } from './notice-registry.ts';
import { Pacing } from './pacing.ts';
import { channelsFor, fits, isQuiet, type NoticeSettings, quietOf } from './settings.ts';
import { kindWords } from './words.ts';

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
  readonly channels: (onPress: OnPress) => readonly NotificationChannel[];
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
  readonly #registry = new NoticeRegistry();
  readonly #channels: readonly NotificationChannel[];
  readonly #pacings: ReadonlyMap<NoticeChannel, Pacing>;
  readonly #counts = new Map<NoticeChannel, ChannelCount>();
  /** How a channel finds again what it has shown; these and the next by channel and notice, as `keyIn` says. */
  readonly #handles = new Map<string, string>();
  /** What an earlier daemon has shown: nobody listens to its buttons until they are shown anew. */
  readonly #unrenewed = new Set<string>();
  /** What a person read who presses a button. */
  readonly #shown = new Map<string, string>();
  /** What is being shown at this moment. */
  readonly #beingShown = new Set<string>();
  /** The notices that are on the feed. */
  readonly #published = new Set<string>();
  readonly #documents: NoticeDocuments;
  #mutes: readonly NoticeMute[] = [];
  #timer: { readonly at: number; readonly cancel: Cancel } | null = null;
  #isFirst = true;
  #isStopped = false;

  private constructor(parts: NotifierParts) {
    this.#parts = parts;
    this.#channels = parts.channels((channel, id, press) => void this.#pressed(channel, id, press));
    const seen = this.#channels.filter(({ name }) => summedUp.has(name));
    const openOf = (id: string): NoticeRow | null => this.openNotice(id);
    this.#pacings = new Map(seen.map((channel) => [channel.name, new Pacing(parts.clock, channel, openOf)]));
    this.#documents = new NoticeDocuments(parts.documents, parts.clock, () => ({
      notices: this.#registry.all(),
      handles: Object.fromEntries(this.#handles),
      mutes: this.#mutes,
    }));
  }

  static async open(parts: NotifierParts): Promise<Notifier> {
    const notifier = new Notifier(parts);
    const trouble = await importFile(parts.documents, parts.files, noticesFile(parts.path));
    if (trouble !== null) parts.log.warn('the stored notifications could not be read', { problem: trouble });
    const kept = noticeContent(await parts.documents.documents(noticeKinds));
    notifier.#registry.load(kept.notices);
    notifier.#mutes = kept.mutes;
    for (const [key, handle] of Object.entries(kept.handles)) notifier.#handles.set(key, handle);
    for (const key of notifier.#handles.keys()) notifier.#unrenewed.add(key);
    return notifier;
  }

  async close(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    for (const pacing of this.#pacings.values()) pacing.stop();
    for (const channel of this.#channels) channel.close();
    await this.#documents.settled();
  }

  /** To be called whenever the rows have changed. */
  look(): void {
    if (this.#isStopped) return;
    const { now, settings, home, rows } = this.#parts;
    const step = this.#registry.step(rows(), now(), (subject) => channelsFor(settings(), subject, home));
    for (const notice of step.over) this.#takeBack(notice);
    this.#renewShown();
    const again = step.changed.filter(({ notice_id }) => this.#published.has(notice_id));
    this.#parts.publish(again.map((notice) => ({ key: keyOf(notice), value: notice })));
    // The next daemon would see both for itself.
    if (step.over.length + step.changed.length > 0) this.#documents.saveSoon();
    if (step.opened.length + step.changed.length > 0 || this.#isFirst) this.#wake(limits.noticeAfterMs);
    this.#isFirst = false;
  }

  list(countMax: number): readonly NoticeRow[] {
    return this.#registry.all().toReversed().slice(0, countMax);
  }

  /** What the feed has at this moment. */
  snapshot(): readonly { readonly key: string; readonly value: NoticeRow }[] {
    const shown = this.#registry.open().filter(({ notice_id }) => this.#published.has(notice_id));
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
  async tellTest(name: NoticeChannel): Promise<NotifyResult> {
    const channel = this.#channels.find((one) => one.name === name);
    if (channel === undefined) return { ok: false, problem: 'this channel is not available on this machine' };
    const body = 'Notifications from agtmux look like this.';
    const message: Message = {
      id: 'test',
      title: 'agtmux: test notification',
      body,
      plain: body,
      isUrgent: false,
      notice: null,
    };
    const told = await channel.tell(message);
    this.#count(name, told);
    return told;
  }

  /** Told once by every channel that is on, and kept back in quiet hours: nobody has to answer it. */
  announce({ id, title, body }: Announcement): void {
    const { settings } = this.#parts;
    if (this.#isStopped || this.isQuietNow() || !settings().on.includes('error')) return;
    if (this.mutes().some(({ agent, project }) => agent === null && project === null)) return;
    const message: Message = { id, title, body, plain: title, isUrgent: false, notice: null };
    for (const channel of this.#channels) {
      if (!settings().channels.includes(channel.name)) continue;
      void channel.tell(message).then((told) => this.#count(channel.name, told));
    }
  }

  /** Null once it is over. */
  openNotice(id: string): NoticeRow | null {
    const notice = this.#registry.get(id);
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
    const due: { readonly id: string; readonly channel: NotificationChannel }[] = [];
    for (const notice of this.#registry.open()) {
      const waitMs = notice.at + limits.noticeAfterMs - now;
      if (waitMs > 0) this.#wake(waitMs);
      else due.push(...this.#dueChannels(notice, this.#isHeldBack(notice, rows.get(notice.runtime_id))));
    }
    if (due.length === 0) return;
    // On disk first: whatever happens from here on, nobody is told twice (NOT2).
    await this.#documents.save();
    for (const { id, channel } of due) void this.#tell(id, channel);
  }

  /** The channels that are to be used now; they count as told from here on. */
  #dueChannels(
    notice: NoticeRow,
    isHeld: boolean,
  ): readonly { readonly id: string; readonly channel: NotificationChannel }[] {
    const { notice_id: id } = notice;
    if (isHeld) this.#wake(limits.noticesQuietLookMs);
    const channels = isHeld ? [] : this.#channels.filter((channel) => isWanted(notice, channel.name));
    const told = channels.map(({ name }): NoticeTold => ({ channel: name, outcome: 'told', detail: null }));
    const next = { ...notice, is_quiet: isHeld, told: [...notice.told, ...told] };
    this.#registry.put(next);
    if (!this.#published.has(id) || notice.is_quiet !== isHeld) {
      this.#published.add(id);
      this.#parts.publish([{ key: keyOf(next), value: next }]);
    }
    return channels.map((channel) => ({ id, channel }));
  }

  #isHeldBack({ agent, cwd }: NoticeRow, row: PaneRow | undefined): boolean {
    const { home, settings, isLookedAt } = this.#parts;
    if (this.isQuietNow() || this.mutes().some((mute) => fits(mute, agent, cwd, home))) return true;
    return settings().skip_looked_at && row !== undefined && isLookedAt(row);
  }

  async #tell(id: string, channel: NotificationChannel): Promise<void> {
    const notice = this.openNotice(id);
    // Answered while it was being written down (NOT3).
    if (notice === null || this.#isStopped) return;
    const key = keyIn(channel, id);
    this.#beingShown.add(key);
    const message = messageOf(notice, () => this.openNotice(id) !== null);
    this.#shown.set(key, message.body);
    const told = await (this.#pacings.get(channel.name)?.tell(message) ?? channel.tell(message));
    this.#beingShown.delete(key);
    // Answered while it waited for its turn: nobody was told (NOT3).
    if (told?.ok === true && told.isTooLate === true) return this.#unmark(id, channel.name);
    if (told === null) this.#mark(id, { channel: channel.name, outcome: 'summed_up', detail: null });
    else this.#settled(id, channel, told);
    if (this.openNotice(id) === null) void this.#withdraw(id, channel);
  }

  /** Once it is known what is asked, what an earlier daemon has shown is shown anew and its buttons are listened to (NOT5). */
  #renewShown(): void {
    for (const key of this.#unrenewed) {
      const [name = '', id = ''] = key.split(' ');
      const notice = this.openNotice(id);
      if (notice !== null && notice.body === '') continue;
      this.#unrenewed.delete(key);
      const channel = this.#channels.find((one) => one.name === name);
      const handle = this.#handles.get(key);
      if (notice !== null && handle !== undefined && channel?.renew !== undefined)
        void this.#renew(notice, channel, handle);
    }
  }

  async #renew(notice: NoticeRow, channel: NotificationChannel, handle: string): Promise<void> {
    const { notice_id: id } = notice;
    const key = keyIn(channel, id);
    this.#beingShown.add(key);
    const message = messageOf(notice, () => this.openNotice(id) !== null);
    this.#shown.set(key, message.body);
    const told = await channel.renew?.(message, handle);
    this.#beingShown.delete(key);
    if (told?.ok === true && told.handle !== null && told.handle !== handle) {
      this.#handles.set(key, told.handle);
      void this.#documents.save();
    }
    // Buttons that nobody listens to are taken away: what is asked is in every list.
    if (told?.ok !== true || this.openNotice(id) === null) void this.#withdraw(id, channel);
  }

  #settled(id: string, channel: NotificationChannel, told: NotifyResult): void {
    this.#count(channel.name, told);
    if (!told.ok) {
      this.#mark(id, { channel: channel.name, outcome: 'failed', detail: told.problem });
      this.#parts.log.warn('a notification could not be shown', { by: channel.name, problem: told.problem });
    } else if (told.handle !== null) {
      this.#handles.set(keyIn(channel, id), told.handle);
      void this.#documents.save();
    }
  }

  #mark(id: string, told: NoticeTold): void {
    const notice = this.#registry.get(id);
    if (notice === null) return;
    const others = notice.told.filter(({ channel }) => channel !== told.channel);
    this.#registry.put({ ...notice, told: [...others, told] });
    void this.#documents.save();
  }

  #unmark(id: string, channel: NoticeChannel): void {
    const notice = this.#registry.get(id);
    if (notice === null) return;
    this.#registry.put({ ...notice, told: notice.told.filter((one) => one.channel !== channel) });
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
    for (const channel of this.#channels) {
      const key = keyIn(channel, id);
      this.#shown.delete(key);
      // What is just being shown is taken back once it is there.
      if (wasTold(notice, channel.name) && !this.#beingShown.has(key)) void this.#withdraw(id, channel);
    }
  }

  async #withdraw(id: string, channel: NotificationChannel): Promise<void> {
    if (this.#pacings.get(channel.name)?.settled(id) === true) return;
    const key = keyIn(channel, id);
    const handle = this.#handles.get(key) ?? null;
    this.#handles.delete(key);
    await channel.withdraw(id, handle);
  }

  /** A button of ours was pressed. What it was about is looked at again, by the same guard as for everyone (NOT5). */
  async #pressed(channel: NoticeChannel, id: string, press: Press): Promise<void> {
    const notice = this.openNotice(id);
    if (notice === null || notice.ask_id === null) return;
    const { runtime_id, ask_id } = notice;
    // The same ask says something else than what was read.
    if (this.#shown.get(keyIn({ name: channel }, id)) !== notice.body)
      return this.#notDone(channel, id, press, 'the request has changed [E_STATE_CHANGED]');
    const request: ActionRequest = {
      action: press,
      ref: `runtime:${runtime_id}`,
      ask_id,
      conditions: { if_runtime: runtime_id },
    };
    const receipt = await this.#parts.act(request, { pid: null, hops: 0, isNotification: true });
    if (receipt.outcome !== 'refused') return;
    await this.#notDone(
      channel,
      id,
      press,
      receipt.failure === null ? '' : `${receipt.failure.message} [${receipt.failure.code}]`,
    );
  }

  async #notDone(channel: NoticeChannel, id: string, press: Press, why: string): Promise<void> {
    const plain = 'It was not done; check the agent.';
    const message: Message = {
      id: `not-${id}`,
      title: `${press} was refused`,
      body: why,
      plain,
      isUrgent: true,
      notice: null,
    };
    await this.#channels.find(({ name }) => name === channel)?.tell(message);
  }
}

/** Channels that a person sees: a flood is summed up there. */
const summedUp: ReadonlySet<NoticeChannel> = new Set(['desktop', 'terminal', 'push']);

/** A notice as one channel has it. */
const keyIn = ({ name }: Pick<NotificationChannel, 'name'>, id: string): string => `${name} ${id}`;

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
