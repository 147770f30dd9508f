// Notifications as the API serves them: what there is, the settings, mutes and a test. Who changes anything is authorized as
// for every action, and it leaves its row in the audit.

import type { ActionService, CallerClaim } from '../model/actions.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import {
  type NoticeChange,
  type NoticeChannel,
  type NoticeMute,
  type NoticeRow,
  type NoticeScope,
  type NoticeService,
  type NoticeSettingsView,
  type NoticeTest,
  noticeChannels,
} from '../model/notices.ts';
import type { Clock } from '../platform/clock.ts';
import type { Notifier } from './notifier.ts';
import type { NoticeSettings } from './settings.ts';
import type { NoticeSettingsFile } from './settings-file.ts';

interface NotificationServiceParts {
  readonly clock: Clock;
  readonly notifier: Notifier;
  readonly file: NoticeSettingsFile;
  readonly path: string;
  readonly authorizeAndAudit: ActionService['authorizeAndAudit'];
}

export class NotificationService implements NoticeService {
  readonly #parts: NotificationServiceParts;

  constructor(parts: NotificationServiceParts) {
    this.#parts = parts;
  }

  list(countMax: number): readonly NoticeRow[] {
    return this.#parts.notifier.list(countMax);
  }

  settings(): NoticeSettingsView {
    const { notifier, file, path } = this.#parts;
    const { on, channels, quiet, skip_looked_at, desktop_text, push_text, rules, command, webhook } = file.current;
    return {
      path,
      on,
      channels,
      quiet: quiet ?? null,
      skip_looked_at,
      desktop_text,
      push_text,
      rules: rules.map((rule) => ({
        agent: rule.agent ?? null,
        project: rule.project ?? null,
        on: rule.on ?? null,
        channels: rule.channels ?? null,
      })),
      command: command?.argv[0] ?? null,
      webhook: webhook === undefined ? null : new URL(webhook.url).origin,
      mutes: notifier.mutes(),
      is_quiet_now: notifier.isQuietNow(),
      trouble: file.trouble,
      status: noticeChannels.map((channel) => ({
        channel,
        is_on: isUsed(file.current, channel),
        ...notifier.countOf(channel),
      })),
    };
  }

  change(change: NoticeChange, claim: CallerClaim): Promise<Result<NoticeSettingsView>> {
    return this.#audited('settings', { ...change }, claim, () => this.#parts.file.change(change));
  }

  mute(scope: NoticeScope, minutes: number | null, claim: CallerClaim): Promise<Result<NoticeSettingsView>> {
    return this.#audited('mute', { ...scope, minutes }, claim, async () => {
      const { notifier, clock } = this.#parts;
      const until = minutes === null ? null : clock.wallMs() + minutes * 60_000;
      const others = notifier.mutes().filter((one) => !isSameScope(one, scope));
      if (others.length >= limits.noticeMutesMax) return fail('E_QUEUE_FULL', 'there are too many mutes');
      notifier.setMutes([...others, { ...scope, until }]);
      return ok(null);
    });
  }

  unmute(scope: NoticeScope, claim: CallerClaim): Promise<Result<NoticeSettingsView>> {
    return this.#audited('unmute', { ...scope }, claim, async () => {
      const { notifier } = this.#parts;
      const isAll = scope.agent === null && scope.project === null;
      notifier.setMutes(isAll ? [] : notifier.mutes().filter((one) => !isSameScope(one, scope)));
      return ok(null);
    });
  }

  async test(channel: NoticeChannel | null, claim: CallerClaim): Promise<Result<readonly NoticeTest[]>> {
    const { file } = this.#parts;
    const made: NoticeTest[] = [];
    const done = await this.#audited('test', { channel }, claim, async () => {
      const tried = noticeChannels.filter((one) => (channel === null ? true : one === channel));
      // A channel that is named is tried, also when it is not in use yet.
      const tests = tried.map((one) => this.#test(one, channel !== null || isUsed(file.current, one)));
      made.push(...(await Promise.all(tests)));
      return ok(null);
    });
    return done.ok ? ok(made) : done;
  }

  async #test(channel: NoticeChannel, isTried: boolean): Promise<NoticeTest> {
    if (!isTried) return { channel, outcome: 'off', detail: null };
    if (channel === 'browser') return { channel, outcome: 'told', detail: 'open pages show notifications themselves' };
    const told = await this.#parts.notifier.tellTest(channel);
    return { channel, outcome: told.ok ? 'told' : 'failed', detail: told.ok ? null : told.problem };
  }

  async #audited(
    named: string,
    detail: Readonly<Record<string, unknown>>,
    claim: CallerClaim,
    effect: () => Promise<Result<null>>,
  ): Promise<Result<NoticeSettingsView>> {
    const done = await this.#parts.authorizeAndAudit({ action: 'notify', named, detail }, claim, effect);
    return done.ok ? ok(this.settings()) : done;
  }
}

const isSameScope = (one: NoticeMute, other: NoticeScope): boolean =>
  one.agent === other.agent && one.project === other.project;

const isUsed = ({ channels, rules }: NoticeSettings, channel: NoticeChannel): boolean =>
  channels.includes(channel) || rules.some((rule) => rule.channels?.includes(channel) === true);
