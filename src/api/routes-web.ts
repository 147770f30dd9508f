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
    summary: 'Whether the web door is open, and where',
    query: noQuerySchema,
    reply: 'WebStatus',
  },
  openWeb: {
    method: 'post',
    path: '/v1/web',
    summary: 'Opens the web door if it is shut, and gives a link for one browser',
    query: noQuerySchema,
    body: { words: 'where, and with which rights', document: 'NewWeb' },
    reply: 'WebLink',
    status: 201,
  },
  shutWeb: {
    method: 'delete',
    path: '/v1/web',
    summary: 'Shuts the web door and signs every browser out',
    query: claimQuerySchema,
    reply: 'Done',
  },
} as const;

/** Routes that are for programs of this machine alone; a page is told that there is no such thing. */
export const notForPages = ['web', 'openWeb', 'shutWeb', 'stop', 'events', 'runShell', 'shellNotices'] as const;
