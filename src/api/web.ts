// The web server: what is asked for on the private socket, and what a page says to get in and to look at a
// pane. What stands in a link or a cookie is no document and is never listed.

import { callerRoles, outcomes } from '../model/actions.ts';
import { errorCodes } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { head, noQuerySchema, time } from './common.ts';
import { z } from './zod.ts';

const port = z.int().min(1).max(65_535);
const secret = z.string().regex(/^[0-9a-f]{64}$/);

export const newWebSchema = z.strictObject({
  port: port.nullable().default(null).describe('null: the last one used, or a free one'),
  listen: z.union([z.ipv4(), z.ipv6()]).nullable().default(null).describe('a non-loopback address'),
  origin: z
    .string()
    .regex(/^https:\/\/[a-z0-9.-]+(?::[1-9]\d{0,4})?$/)
    .max(limits.pathCharsMax)
    .nullable()
    .default(null)
    .describe('the https origin of a reverse proxy in front of it'),
  unencrypted: z.boolean().default(false).describe('required with listen: traffic is unencrypted'),
  read_only: z.boolean().default(false).describe('create a link for viewing only'),
});

export const webLinkSchema = z.strictObject({
  ...head,
  url: z.string().describe('for one browser, once'),
  address: z.string(),
  port,
  read_only: z.boolean(),
  expires_at: time,
  is_exposed: z.boolean().describe('it also listens on a non-loopback address'),
});

export const webStatusSchema = z.strictObject({
  ...head,
  is_open: z.boolean(),
  address: z.string().nullable(),
  port: port.nullable(),
  origin: z.string().nullable().describe('the https origin of a reverse proxy in front of it'),
  sessions: z.int().nonnegative().describe('signed-in browsers'),
});

export const webEnterSchema = z.strictObject({ token: secret });
export const webTicketRequestSchema = z.strictObject({ ref: z.string().min(1).max(limits.pathCharsMax) });

export const webSessionSchema = z.strictObject({
  ...head,
  role: z.enum(callerRoles),
  read_only: z.boolean(),
  expires_at: time.describe('at the latest; earlier when unused'),
  version: z.string().describe('of the daemon'),
});

export const webEnteredSchema = webSessionSchema.extend({
  key: secret.describe('sent with every request as x-agtmux-key; the cookie alone is not enough'),
});

export const webTicketSchema = z.strictObject({ ...head, ticket: secret, expires_at: time });

/** What a browser says of itself to be told while no page is open; base64url, as it gives them. */
export const webPushAddressSchema = z.strictObject({
  endpoint: z.url({ protocol: /^https$/ }).max(limits.pathCharsMax),
  p256dh: z.string().regex(/^[\w-]{87}$/),
  auth: z.string().regex(/^[\w-]{22}$/),
});

export const webPushSchema = z.strictObject({
  ...head,
  public_key: z.string().describe('of this daemon, for `PushManager.subscribe`'),
  is_on: z.boolean().describe('this browser is told while no page is open'),
});

export const webPushAnswerSchema = z.strictObject({
  notice_id: z.string().min(1).max(limits.idCharsMax),
  press: z.enum(['approve', 'reject']),
  answer: secret.describe('came with the notification'),
});

const problem = z.strictObject({ code: z.enum(errorCodes), message: z.string(), next: z.string() });

export const webPushAnsweredSchema = z.strictObject({
  ...head,
  outcome: z.enum(outcomes),
  failure: problem.nullable(),
});

/** What the socket of a pane says. */
const pasteId = z.int().positive();

export const paneSaysSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('screen'),
    seq: z.int().positive(),
    full: z.boolean(),
    width: z.int().positive(),
    height: z.int().positive(),
    data: z.string().describe('colours, text and cursor moves, for a terminal'),
  }),
  z.strictObject({ type: z.literal('typing'), on: z.boolean(), failure: problem.nullable() }),
  z.strictObject({
    type: z.literal('paste'),
    id: pasteId,
    doubt: z.enum(['off', 'unknown']).nullable().describe('why nothing was pasted; null when it was'),
  }),
  z.strictObject({ type: z.literal('end'), ...problem.shape }),
]);

/** What a page says on it. */
export const pageSaysSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ack'), seq: z.int().positive() }),
  z.strictObject({ type: z.literal('typing'), on: z.boolean() }),
  z.strictObject({ type: z.literal('keys'), data: z.string().min(1).max(limits.webKeysCharsMax) }),
  z.strictObject({
    type: z.literal('paste'),
    id: pasteId,
    data: z.string().min(1).max(limits.webPasteCharsMax),
    sure: z.boolean().describe('a person confirmed that lines may be submitted one by one'),
  }),
]);

export const webDocuments = {
  NewWeb: newWebSchema,
  WebLink: webLinkSchema,
  WebStatus: webStatusSchema,
  WebSession: webSessionSchema,
  WebEntered: webEnteredSchema,
  WebTicket: webTicketSchema,
  WebPush: webPushSchema,
  WebPushAddress: webPushAddressSchema,
  WebPushAnswer: webPushAnswerSchema,
  WebPushAnswered: webPushAnsweredSchema,
  PaneSays: paneSaysSchema,
  PageSays: pageSaysSchema,
} as const;

export const webRoutes = {
  web: {
    method: 'get',
    path: '/v1/web',
    summary: 'Show whether the web server runs, and where',
    query: noQuerySchema,
    reply: 'WebStatus',
    isLocal: true,
  },
  openWeb: {
    method: 'post',
    path: '/v1/web',
    summary: 'Start the web server if needed, and create a sign-in link for one browser',
    query: noQuerySchema,
    body: { words: 'the address and the permissions', document: 'NewWeb' },
    reply: 'WebLink',
    status: 201,
    isLocal: true,
  },
  shutWeb: {
    method: 'delete',
    path: '/v1/web',
    summary: 'Stop the web server and sign out all browsers',
    query: noQuerySchema,
    reply: 'Done',
    isLocal: true,
  },
} as const;

export type WebLinkReply = z.infer<typeof webLinkSchema>;
export type WebSessionReply = z.infer<typeof webSessionSchema>;
export type WebEnteredReply = z.infer<typeof webEnteredSchema>;
export type WebPushReply = z.infer<typeof webPushSchema>;
export type WebPushAddress = z.infer<typeof webPushAddressSchema>;
export type WebPushAnswered = z.infer<typeof webPushAnsweredSchema>;
export type WebTicketReply = z.infer<typeof webTicketSchema>;
export type PaneSays = z.infer<typeof paneSaysSchema>;
export type PageSays = z.infer<typeof pageSaysSchema>;
