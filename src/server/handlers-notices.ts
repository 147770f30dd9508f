// Notifications: asks the daemon, answers with the document.

import { limits } from '../model/limits.ts';
import type { NoticeSettingsView } from '../model/notices.ts';
import { isoTime, noticeItem } from '../view/lists-items.ts';
import type { Handlers, Reply } from './dispatch.ts';
import { unwrap } from './replies.ts';
import type { DaemonService } from './service.ts';

type Names = 'notices' | 'noticeSettings' | 'changeNotices' | 'muteNotices' | 'unmuteNotices' | 'testNotices';

export function noticeHandlers(service: DaemonService): Pick<Handlers, Names> {
  const { notices } = service;
  return {
    notices({ query: { count = limits.noticesListDefault } }) {
      return { items: notices.list(count).map((row) => noticeItem(row, (time) => service.toWall(time))) };
    },
    noticeSettings: () => settingsReply(notices.settings()),
    async changeNotices({ body, caller }) {
      return settingsReply(unwrap(await notices.change(body, caller)));
    },
    async muteNotices({ body: { minutes = null, agent = null, project = null }, caller }) {
      return settingsReply(unwrap(await notices.mute({ agent, project }, minutes, caller)));
    },
    async unmuteNotices({ body: { agent = null, project = null }, caller }) {
      return settingsReply(unwrap(await notices.unmute({ agent, project }, caller)));
    },
    async testNotices({ body: { channel = null }, caller }) {
      return { channels: unwrap(await notices.test(channel, caller)) };
    },
  };
}

const settingsReply = ({ mutes, ...rest }: NoticeSettingsView): Reply<'noticeSettings'> => ({
  ...rest,
  mutes: mutes.map((one) => ({ ...one, until: one.until === null ? null : isoTime(one.until) })),
});
