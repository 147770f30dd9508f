// Notifications put together from the daemon's parts: the settings, the channels of this machine, the notifier, and the service
// that the API serves.

import { join } from 'node:path';
import type { PaneRow } from '../api/panes.ts';
import type { ActionService } from '../model/actions.ts';
import type { NoticeRow } from '../model/notices.ts';
import type { PushService } from '../model/push.ts';
import type { DocumentStore } from '../model/records.ts';
import type { TargetController } from '../observe/target-controller.ts';
import type { Channels } from '../platform/channel.ts';
import type { Clock } from '../platform/clock.ts';
import type { Exec } from '../platform/exec.ts';
import type { Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import { createPost } from '../platform/post.ts';
import type { RandomSource } from '../platform/random.ts';
import { writeToTerminal } from '../platform/terminal-write.ts';
import type { NotificationChannel, OnPress } from './channel.ts';
import { CommandChannel } from './command.ts';
import { LinuxDesktop, MacDesktop } from './desktop.ts';
import { NotificationService } from './notification-service.ts';
import { Notifier } from './notifier.ts';
import { PushChannel } from './push.ts';
import { ResetNotices } from './reset-notices.ts';
import { NoticeSettingsFile } from './settings-file.ts';
import { TerminalChannel, terminalClients } from './terminal.ts';
import { WebhookChannel } from './webhook.ts';

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
  readonly service: NotificationService;
  readonly push: PushService;
  /** The rows have changed. */
  readonly look: () => void;
  readonly snapshot: Notifier['snapshot'];
  readonly isQuietNow: () => boolean;
  /** Says something that is about no ask of an agent, on the channels that are on. */
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
    channels: (onPress) => [...channelsOf(parts, file, onPress), push],
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
  const authorizeAndAudit: ActionService['authorizeAndAudit'] = (action, claim, effect) =>
    acting.authorizeAndAudit(action, claim, effect);
  return {
    push,
    service: new NotificationService({ clock, notifier: made, file, path, authorizeAndAudit }),
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

function channelsOf(parts: NoticesParts, file: NoticeSettingsFile, onPress: OnPress): readonly NotificationChannel[] {
  const { clock, platform } = parts;
  const { exec, channels, uid, variables } = parts.machines.manager;
  const all = definedOf(variables);
  const env = desktopEnv(all, uid);
  const desktop =
    platform === 'darwin'
      ? new MacDesktop({ exec, env })
      : new LinuxDesktop({
          clock,
          channels,
          exec,
          env,
          text: () => file.current.desktop_text,
          onPress: (id, press) => onPress('desktop', id, press),
        });
  return [
    desktop,
    new TerminalChannel({
      clients: () => terminalClients(parts.machinery),
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
