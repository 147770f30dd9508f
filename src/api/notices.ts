// Notifications: what was noticed, the settings, mutes, and what a test came to.

import { askKinds } from '../model/asks.ts';
import { limits } from '../model/limits.ts';
import { desktopTexts, noticeChannels, noticeEvents } from '../model/notices.ts';
import { noQuerySchema } from './common.ts';
import { schemaVersion } from './version.ts';
import { z } from './zod.ts';

const head = { schema_version: z.literal(schemaVersion), generated_at: z.string() };
const events = z.array(z.enum(noticeEvents));
const channel = z.enum(noticeChannels);
const scope = { agent: z.string().nullable(), project: z.string().nullable() };

export const noticeItemSchema = z.strictObject({
  notice_id: z.string().describe('stable across restarts of the daemon'),
  event: z.enum(noticeEvents),
  ref: z.string(),
  runtime_id: z.string(),
  agent: z.string(),
  project: z.string(),
  place: z.string(),
  title: z.string(),
  body: z.string(),
  ask_id: z.string().nullable(),
  ask_kind: z.enum(askKinds).nullable(),
  at: z.string(),
  over_at: z.string().nullable(),
  is_quiet: z.boolean().describe('not shown now: muted, quiet hours, or the pane is being viewed'),
  channels: z.array(channel),
  told: z.array(
    z.strictObject({ channel, outcome: z.enum(['told', 'failed', 'summed_up']), detail: z.string().nullable() }),
  ),
});

export const noticeListSchema = z.strictObject({ ...head, items: z.array(noticeItemSchema) });

export const noticeSettingsSchema = z.strictObject({
  ...head,
  path: z.string(),
  on: events,
  channels: z.array(channel),
  quiet: z.string().nullable(),
  skip_looked_at: z.boolean(),
  desktop_text: z.enum(desktopTexts),
  push_text: z.enum(desktopTexts),
  rules: z.array(z.strictObject({ ...scope, on: events.nullable(), channels: z.array(channel).nullable() })),
  command: z.string().nullable(),
  webhook: z.string().nullable().describe('where it goes, without the path'),
  mutes: z.array(z.strictObject({ ...scope, until: z.string().nullable() })),
  is_quiet_now: z.boolean(),
  trouble: z.string().nullable(),
  status: z.array(
    z.strictObject({
      channel,
      is_on: z.boolean(),
      told: z.int(),
      failed: z.int(),
      last_trouble: z.string().nullable(),
    }),
  ),
});

export const noticeTestSchema = z.strictObject({
  ...head,
  channels: z.array(
    z.strictObject({ channel, outcome: z.enum(['told', 'off', 'failed']), detail: z.string().nullable() }),
  ),
});

const someone = {
  agent: z.string().min(1).max(limits.idCharsMax).optional(),
  project: z.string().min(1).max(limits.pathCharsMax).optional(),
};

export const noticesQuerySchema = z.strictObject({ count: z.int().min(1).max(limits.noticesListMax).optional() });

export const noticeChangeSchema = z.strictObject({
  on: events.optional(),
  channels: z.array(channel).optional(),
  turn_on: z.array(channel).optional(),
  turn_off: z.array(channel).optional(),
  quiet: z.string().max(limits.idCharsMax).nullable().optional(),
  skip_looked_at: z.boolean().optional(),
  desktop_text: z.enum(desktopTexts).optional(),
  push_text: z.enum(desktopTexts).optional(),
});

export const newMuteSchema = z.strictObject({
  minutes: z.number().positive().max(limits.noticeMuteMinutesMax).optional().describe('until unmuted when left out'),
  ...someone,
});

export const unmuteSchema = z.strictObject({ ...someone });
export const newNoticeTestSchema = z.strictObject({ channel: channel.optional() });

export const noticeDocuments = {
  NoticeItem: noticeItemSchema,
  NoticeList: noticeListSchema,
  NoticeSettings: noticeSettingsSchema,
  NoticeTest: noticeTestSchema,
  NoticeChange: noticeChangeSchema,
  NewMute: newMuteSchema,
  Unmute: unmuteSchema,
  NewNoticeTest: newNoticeTestSchema,
} as const;

export const noticeRoutes = {
  notices: {
    method: 'get',
    path: '/v1/notifications',
    summary: 'List notifications, newest first; open ones are also on the feed',
    query: noticesQuerySchema,
    reply: 'NoticeList',
  },
  noticeSettings: {
    method: 'get',
    path: '/v1/notifications/settings',
    summary: 'Show notification settings, mutes and the health of each channel',
    query: noQuerySchema,
    reply: 'NoticeSettings',
  },
  changeNotices: {
    method: 'post',
    path: '/v1/notifications/settings',
    summary: 'Change settings; programs and addresses can be changed in the file only',
    query: noQuerySchema,
    body: { words: 'the changes', document: 'NoticeChange' },
    reply: 'NoticeSettings',
  },
  muteNotices: {
    method: 'post',
    path: '/v1/notifications/mute',
    summary: 'Mute notifications of all or some agents, for a time or until unmuted',
    query: noQuerySchema,
    body: { words: 'which agents, and how long', document: 'NewMute' },
    reply: 'NoticeSettings',
  },
  unmuteNotices: {
    method: 'post',
    path: '/v1/notifications/unmute',
    summary: 'Resume notifications and deliver what is pending',
    query: noQuerySchema,
    body: { words: 'which agents; all if none is named', document: 'Unmute' },
    reply: 'NoticeSettings',
  },
  testNotices: {
    method: 'post',
    path: '/v1/notifications/test',
    summary: 'Send a test notification through every channel in use, or through one, and return the results',
    query: noQuerySchema,
    body: { words: 'which channel', document: 'NewNoticeTest' },
    reply: 'NoticeTest',
  },
} as const;

export type NoticeItem = z.infer<typeof noticeItemSchema>;
export type NoticeSettingsReply = z.infer<typeof noticeSettingsSchema>;
