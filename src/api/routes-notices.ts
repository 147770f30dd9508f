// The routes of notifications, for the table in routes.ts. Data only.

import { noQuerySchema } from './schemas.ts';
import * as notices from './schemas-notices.ts';

export const noticeDocuments = {
  NoticeItem: notices.noticeItemSchema,
  NoticeList: notices.noticeListSchema,
  NoticeSettings: notices.noticeSettingsSchema,
  NoticeTest: notices.noticeTestSchema,
  NoticeChange: notices.noticeChangeSchema,
  NewMute: notices.newMuteSchema,
  Unmute: notices.unmuteSchema,
  NewNoticeTest: notices.newNoticeTestSchema,
} as const;

export const noticeRoutes = {
  notices: {
    method: 'get',
    path: '/v1/notifications',
    summary: 'List notifications, newest first; open ones are also on the feed',
    query: notices.noticesQuerySchema,
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
