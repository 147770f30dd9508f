// The routes of sessions that agtmux leads, as data for the one table of routes.

import { noQuerySchema } from './schemas.ts';
import { sessionFollowQuerySchema, sessionPageQuerySchema } from './schemas-sessions.ts';

export const sessionRoutes = {
  managed: {
    method: 'get',
    path: '/v1/managed',
    summary: 'List managed sessions, newest first',
    query: noQuerySchema,
    reply: 'ManagedList',
  },
  startManaged: {
    method: 'post',
    path: '/v1/managed',
    summary: 'Start a session with its first prompt',
    query: noQuerySchema,
    body: { words: 'the agent, the directory and the prompt', document: 'NewSession' },
    reply: 'ManagedReply',
    status: 201,
  },
  managedOne: {
    method: 'get',
    path: '/v1/managed/{id}',
    summary: 'Get one session, by its id or any of its references',
    query: noQuerySchema,
    reply: 'ManagedReply',
  },
  managedMessages: {
    method: 'get',
    path: '/v1/managed/{id}/messages',
    summary: 'Get the messages of a session, one page at a time',
    query: sessionPageQuerySchema,
    reply: 'MessagePage',
  },
  followManaged: {
    method: 'get',
    path: '/v1/managed/{id}/follow',
    summary:
      'Follow a session as server-sent events: messages (MessagePage) as they arrive, session (ManagedReply) with every change, gone',
    query: sessionFollowQuerySchema,
    reply: null,
  },
  doManaged: {
    method: 'post',
    path: '/v1/managed/{id}/{deed}',
    summary: 'Act on a session: send, approve, reject, answer, stop, resume, retry or remove',
    query: noQuerySchema,
    body: { words: 'the input of the action, and the caller', document: 'SessionCommand' },
    reply: 'ManagedReply',
  },
} as const;
