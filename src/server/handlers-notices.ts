// The routes of notifications: reads the request, asks the daemon, answers with the document.

import type { RouteName } from '../api/routes.ts';
import * as schemas from '../api/schemas-notices.ts';
import { limits } from '../model/limits.ts';
import type { NoticeSettingsView } from '../model/notices.ts';
import { isoTime, noticeItem } from '../view/lists-items.ts';
import { type Handler, headOf, noQuery } from './handler-kit.ts';
import { jsonReply, unwrap } from './replies.ts';
import { readBody, readQuery } from './requests.ts';
import type { DaemonService } from './service.ts';

export function noticeHandlers(service: DaemonService) {
  const reply = (value: object): Response => jsonReply({ ...headOf(service), ...value });
  const settings = ({ mutes, ...rest }: NoticeSettingsView): Response =>
    reply({
      ...rest,
      mutes: mutes.map((one) => ({ ...one, until: one.until === null ? null : isoTime(one.until) })),
    });
  return {
    notices(context) {
      const { count = limits.noticesListDefault } = readQuery(schemas.noticesQuerySchema, context.req.queries());
      const items = service.notices.list(count).map((row) => noticeItem(row, (time) => service.toWall(time)));
      return reply({ items });
    },
    noticeSettings(context) {
      noQuery(context);
      return settings(service.notices.settings());
    },
    async changeNotices(context) {
      noQuery(context);
      const { pid, hops, ...change } = await readBody(schemas.noticeChangeSchema, context.env.incoming);
      return settings(unwrap(await service.notices.change(change, { pid, hops })));
    },
    async muteNotices(context) {
      noQuery(context);
      const wanted = await readBody(schemas.newMuteSchema, context.env.incoming);
      const { pid, hops, minutes = null, agent = null, project = null } = wanted;
      return settings(unwrap(await service.notices.mute({ agent, project }, minutes, { pid, hops })));
    },
    async unmuteNotices(context) {
      noQuery(context);
      const { pid, hops, agent = null, project = null } = await readBody(schemas.unmuteSchema, context.env.incoming);
      return settings(unwrap(await service.notices.unmute({ agent, project }, { pid, hops })));
    },
    async testNotices(context) {
      noQuery(context);
      const { pid, hops, channel = null } = await readBody(schemas.newNoticeTestSchema, context.env.incoming);
      return reply({ channels: unwrap(await service.notices.test(channel, { pid, hops })) });
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}
