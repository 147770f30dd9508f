// The routes of sessions that agtmux leads, as data for the one table of routes.

import { noQuerySchema } from './schemas.ts';
import { sessionFollowQuerySchema, sessionPageQuerySchema } from './schemas-sessions.ts';

export const sessionRoutes = {
  managed: {
    method: 'get',
    path: '/v1/managed',
    summary: 'Sessions that agtmux leads, newest first',
    query: noQuerySchema,
    reply: 'ManagedList',
  },
  startManaged: {
    method: 'post',
    path: '/v1/managed',
    summary: 'Starts a session with its first prompt',
    query: noQuerySchema,
    body: { words: 'which agent, where, with what to do', document: 'NewSession' },
    reply: 'ManagedReply',
    status: 201,
  },
  managedOne: {
    method: 'get',
    path: '/v1/managed/{id}',
    summary: 'One session, by its id or any of its references',
    query: noQuerySchema,
    reply: 'ManagedReply',
  },
  managedMessages: {
    method: 'get',
    path: '/v1/managed/{id}/messages',
    summary: 'What was said in a session, a page at a time',
    query: sessionPageQuerySchema,
    reply: 'MessagePage',
  },
  followManaged: {
    method: 'get',
    path: '/v1/managed/{id}/follow',
    summary: 'Server-sent events: messages (MessagePage) as they come, session (ManagedReply) with every change, gone',
    query: sessionFollowQuerySchema,
    reply: null,
  },
  doManaged: {
    method: 'post',
    path: '/v1/managed/{id}/{deed}',
    summary: 'Does something to a session: send, approve, reject, answer, stop, resume, retry or remove',
    query: noQuerySchema,
    body: { words: 'what the deed needs, and who asks', document: 'SessionDeed' },
    reply: 'ManagedReply',
  },
} as const;
