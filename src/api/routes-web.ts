// The routes by which the web door is opened and shut, for the table in routes.ts; and what a page may and may not ask of
// the others. Data only.

import { noQuerySchema } from './schemas.ts';
import { claimQuerySchema } from './schemas-act.ts';
import * as web from './schemas-web.ts';

export const webDocuments = {
  NewWeb: web.newWebSchema,
  WebLink: web.webLinkSchema,
  WebStatus: web.webStatusSchema,
  WebSession: web.webSessionSchema,
  WebEntered: web.webEnteredSchema,
  WebTicket: web.webTicketSchema,
  PaneSays: web.paneSaysSchema,
  PageSays: web.pageSaysSchema,
} as const;

export const webRoutes = {
  web: {
    method: 'get',
    path: '/v1/web',
    summary: 'Show whether the web server runs, and where',
    query: noQuerySchema,
    reply: 'WebStatus',
  },
  openWeb: {
    method: 'post',
    path: '/v1/web',
    summary: 'Start the web server if needed, and create a sign-in link for one browser',
    query: noQuerySchema,
    body: { words: 'the address and the permissions', document: 'NewWeb' },
    reply: 'WebLink',
    status: 201,
  },
  shutWeb: {
    method: 'delete',
    path: '/v1/web',
    summary: 'Stop the web server and sign out all browsers',
    query: claimQuerySchema,
    reply: 'Done',
  },
} as const;

/** Routes that are for programs of this machine alone; a page is told that there is no such thing. */
export const notForPages = ['web', 'openWeb', 'shutWeb', 'stop', 'events', 'runShell', 'shellNotices'] as const;
