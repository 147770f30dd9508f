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
    summary: 'What was noticed that wants a person, newest first; those that are open are also on the feed',
    query: notices.noticesQuerySchema,
    reply: 'NoticeList',
  },
  noticeSettings: {
    method: 'get',
    path: '/v1/notifications/settings',
    summary: 'Who is told of what and how, what is muted, and how each way does',
    query: noQuerySchema,
    reply: 'NoticeSettings',
  },
  changeNotices: {
    method: 'post',
    path: '/v1/notifications/settings',
    summary: 'Changes settings; programs and addresses are changed in the file only',
    query: noQuerySchema,
    body: { words: 'what is to be different', document: 'NoticeChange' },
    reply: 'NoticeSettings',
  },
  muteNotices: {
    method: 'post',
    path: '/v1/notifications/mute',
    summary: 'Keeps notifications back, of all or of some agents, for a time or until they are let out again',
    query: noQuerySchema,
    body: { words: 'of whom, and how long', document: 'NewMute' },
    reply: 'NoticeSettings',
  },
  unmuteNotices: {
    method: 'post',
    path: '/v1/notifications/unmute',
    summary: 'Lets them out again; what still waits is told then',
    query: noQuerySchema,
    body: { words: 'of whom; of all when nobody is named', document: 'Unmute' },
    reply: 'NoticeSettings',
  },
  testNotices: {
    method: 'post',
    path: '/v1/notifications/test',
    summary: 'Says something by every way that is in use, or by the one that is named, and tells what came of it',
    query: noQuerySchema,
    body: { words: 'which way', document: 'NewNoticeTest' },
    reply: 'NoticeTest',
  },
} as const;
