// Notifications put together from the daemon's parts: settings, ways of this machine, and who acts when a button is pressed.

import { join } from 'node:path';
import type { PaneRow } from '../api/panes.ts';
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
import type { PushService } from '../model/push.ts';
import type { DocumentStore } from '../model/records.ts';
import type { TargetController } from '../observe/target-controller.ts';
import type { Channels } from '../platform/channel.ts';
import type { Clock } from '../platform/clock.ts';
import type { Exec } from '../platform/exec.ts';
import type { Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import { createPost } from '../platform/loopback-http.ts';
import type { RandomSource } from '../platform/random.ts';
import { writeToTerminal } from '../platform/terminal-write.ts';
import type { NotificationChannel, Press } from './channel.ts';
import { LinuxDesktop, MacDesktop } from './desktop.ts';
import { Notifier } from './notifier.ts';
import { CommandChannel, type TerminalClient, Terminals, WebhookChannel } from './programs.ts';
import { PushChannel } from './push.ts';
import { ResetNotices } from './reset-notices.ts';
import type { NoticeSettings } from './settings.ts';
import { NoticeSettingsFile } from './settings-file.ts';

// Notifications as doors see them: what there is, the settings, mutes and a test. Who changes anything is looked at as for
// every deed, and it leaves its row in the audit.

interface NotificationServiceParts {
  readonly clock: Clock;
  readonly notifier: Notifier;
  readonly file: NoticeSettingsFile;
  readonly path: string;
  readonly authorizeAndAudit: ActionService['authorizeAndAudit'];
}

class NotificationService implements NoticeService {
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
    return this.#governed('settings', { ...change }, claim, () => this.#parts.file.change(change));
  }

  mute(scope: NoticeScope, minutes: number | null, claim: CallerClaim): Promise<Result<NoticeSettingsView>> {
    return this.#governed('mute', { ...scope, minutes }, claim, async () => {
      const { notifier, clock } = this.#parts;
      const until = minutes === null ? null : clock.wallMs() + minutes * 60_000;
      const others = notifier.mutes().filter((one) => !isSameScope(one, scope));
      if (others.length >= limits.noticeMutesMax) return fail('E_QUEUE_FULL', 'there are too many mutes');
      notifier.setMutes([...others, { ...scope, until }]);
      return ok(null);
    });
  }

  unmute(scope: NoticeScope, claim: CallerClaim): Promise<Result<NoticeSettingsView>> {
    return this.#governed('unmute', { ...scope }, claim, async () => {
      const { notifier } = this.#parts;
      const isAll = scope.agent === null && scope.project === null;
      notifier.setMutes(isAll ? [] : notifier.mutes().filter((one) => !isSameScope(one, scope)));
      return ok(null);
    });
  }

  async test(channel: NoticeChannel | null, claim: CallerClaim): Promise<Result<readonly NoticeTest[]>> {
    const { file } = this.#parts;
    const made: NoticeTest[] = [];
    const done = await this.#governed('test', { channel }, claim, async () => {
      const tried = noticeChannels.filter((one) => (channel === null ? true : one === channel));
      // A way that is named is tried, also when it is not in use yet.
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

  async #governed(
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

export interface NoticesParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly home: string;
  readonly places: { readonly stateDir: string };
  readonly platform: string;
  /** notifications.toml. */
  readonly noticesPath: string;
  readonly machines: {
    readonly manager: {
      readonly files: Files;
      readonly random: Pick<RandomSource, 'hex'>;
      readonly exec: Exec;
      readonly channels: Channels;
      readonly uid: number;
      readonly variables: Readonly<Record<string, string | undefined>>;
    };
  };
  readonly machinery: Pick<TargetController, 'watches' | 'watch'>;
  readonly now: () => number;
  readonly rows: () => readonly PaneRow[];
  readonly documents: DocumentStore;
  readonly publish: (changes: readonly { readonly key: string; readonly value: NoticeRow | null }[]) => void;
  readonly acting: ActionService;
}

export interface Notices {
  readonly desk: NotificationService;
  readonly push: PushService;
  /** The rows have changed. */
  readonly look: () => void;
  readonly snapshot: Notifier['snapshot'];
  readonly isQuietNow: () => boolean;
  /** Says something that is about no ask of an agent, by the ways that are on. */
  readonly announce: Notifier['announce'];
  close(): Promise<void>;
}

export async function openNotices(parts: NoticesParts): Promise<Notices> {
  const { clock, log, home, acting, machinery } = parts;
  const { files, random } = parts.machines.manager;
  let notifier: Notifier | null = null;
  const path = parts.noticesPath;
  const file = new NoticeSettingsFile({ files, clock, path, log, onChange: () => notifier?.reconsider() });
  await file.start();
  const push = await PushChannel.open({
    files,
    random,
    log,
    path: join(parts.places.stateDir, 'web-push.json'),
    post: createPost(clock),
    text: () => file.current.push_text,
    openNotice: (id) => notifier?.openNotice(id) ?? null,
    act: (request, claim) => acting.act(request, claim),
  });
  notifier = await Notifier.open({
    clock,
    now: parts.now,
    log,
    documents: parts.documents,
    files,
    path: join(parts.places.stateDir, 'notices.json'),
    home,
    settings: () => file.current,
    ways: (onPress) => [...waysOf(parts, file, onPress), push],
    publish: parts.publish,
    rows: parts.rows,
    isLookedAt: ({ identity }) =>
      identity.pane_id !== null &&
      machinery.watch(identity.target)?.topology?.panes.get(identity.pane_id)?.visible === true,
    act: (request, claim) => acting.act(request, claim),
    minuteOfDay: () => {
      const now = new Date(clock.wallMs());
      return now.getHours() * 60 + now.getMinutes();
    },
  });
  const made = notifier;
  const resets = new ResetNotices({ clock, now: parts.now, announce: (announcement) => made.announce(announcement) });
  const authorizeAndAudit: ActionService['authorizeAndAudit'] = (deed, claim, effect) =>
    acting.authorizeAndAudit(deed, claim, effect);
  return {
    push,
    desk: new NotificationService({ clock, notifier: made, file, path, authorizeAndAudit }),
    look: () => {
      made.look();
      resets.look(parts.rows());
    },
    snapshot: () => made.snapshot(),
    isQuietNow: () => made.isQuietNow(),
    announce: (announcement) => made.announce(announcement),
    close: () => {
      resets.stop();
      file.stop();
      return made.close();
    },
  };
}

function waysOf(
  parts: NoticesParts,
  file: NoticeSettingsFile,
  onPress: (id: string, press: Press) => void,
): readonly NotificationChannel[] {
  const { clock, platform } = parts;
  const { exec, channels, uid, variables } = parts.machines.manager;
  const all = definedOf(variables);
  const env = desktopEnv(all, uid);
  const desktop =
    platform === 'darwin'
      ? new MacDesktop({ exec, env })
      : new LinuxDesktop({ clock, channels, exec, env, text: () => file.current.desktop_text, onPress });
  return [
    desktop,
    new Terminals({
      clients: () => clientsOf(parts.machinery),
      write: (tty, bytes) => writeToTerminal(tty, bytes, uid),
    }),
    new CommandChannel({ exec, env: all, settings: () => file.current.command }),
    new WebhookChannel({ post: createPost(clock), settings: () => file.current.webhook }),
  ];
}

const definedOf = (variables: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

const desktopNames = /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_\w+|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_\w+|DBUS_\w+)$/;

/** What a program of the desktop needs, and nothing else. A daemon from a plain login does not know the desktop's bus. */
function desktopEnv(variables: Readonly<Record<string, string>>, uid: number): Readonly<Record<string, string>> {
  const known = Object.fromEntries(Object.entries(variables).filter(([name]) => desktopNames.test(name)));
  const bus = `unix:path=${known.XDG_RUNTIME_DIR ?? `/run/user/${uid}`}/bus`;
  return { ...known, DBUS_SESSION_BUS_ADDRESS: known.DBUS_SESSION_BUS_ADDRESS ?? bus };
}

const clientFormat = '#{client_control_mode} #{client_tty} #{client_termname}';

async function clientsOf(machinery: Pick<TargetController, 'watches'>): Promise<readonly TerminalClient[]> {
  const here = [...machinery.watches()].filter(({ kind, topology }) => kind === 'local' && topology !== null);
  const told = await Promise.all(
    here.map(async ({ reach }) => {
      const [block] = await reach.command(`list-clients -F "${clientFormat}"`).catch(() => []);
      return block === undefined || block.isError ? '' : Buffer.from(block.body).toString();
    }),
  );
  const lines = told.flatMap((text) => text.split('\n'));
  const clients = lines.flatMap((line) => {
    const [, tty, term] = /^0 (\S+) (.*)$/.exec(line) ?? [];
    return tty === undefined ? [] : [{ tty, term: term ?? '' }];
  });
  return [...new Map(clients.map((client) => [client.tty, client])).values()];
}
