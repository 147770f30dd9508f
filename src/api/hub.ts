// The hub as programs of this machine see it: whether this daemon reports to one, what it lets out, and the list of all machines.

import { hubShares, machineKinds } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import { stateNames } from '../model/states.ts';
import { count, head, noQuerySchema, textQuery, time } from './common.ts';
import { z } from './zod.ts';

const share = z.enum(hubShares).describe('what leaves this machine: no texts, or asks too; views is as asks so far');

export const joinHubSchema = z.strictObject({
  url: z.string().min(1).max(limits.pathCharsMax),
  code: z.string().min(1).max(limits.idCharsMax).describe('for one machine, once'),
  label: z.string().min(1).max(80).nullable().default(null).describe('null: the name of this machine'),
  share: share.default('asks'),
});
export const shareHubSchema = z.strictObject({ share });

const membership = z.strictObject({
  url: z.string(),
  tenant: z.string(),
  daemon: z.string(),
  label: z.string(),
  kind: z.enum(machineKinds),
  share,
  allows: z.array(z.string()).describe('what hub.toml lets people at the hub do here'),
  allow_trouble: z.string().nullable(),
  connected: z.boolean(),
  trouble: z.string().nullable(),
  last_sent_at: time.nullable(),
});
export const hubStatusSchema = z.strictObject({
  ...head,
  membership: membership.nullable().describe('null: this daemon reports to no hub'),
});

const hubRow = z.looseObject({
  id: z.string(),
  machine: z.string(),
  owner: z.string(),
  repo: z.string(),
  reachable: z.boolean(),
  seen_at: time.nullable(),
  state: z.enum(stateNames),
  needs: z.boolean(),
  item: z.looseObject({}).describe('the row as its machine tells it; see PaneItem'),
});
const counts = z.record(z.string(), count);
const window = {
  total: count,
  needs_action: count,
  offset: count,
  by_state: counts,
  by_agent: counts,
  by_machine: counts,
  by_owner: counts,
  by_repo: counts,
  items: z.array(hubRow),
  missing: z.array(z.string()).describe('machines that are silent'),
};
export const hubWindowSchema = z.looseObject(window);
export const hubListSchema = z.strictObject({ ...head, ...window });

const values = z.array(z.string().max(limits.pathCharsMax)).max(limits.filterValuesMax).optional();
const flag = z.boolean().optional();
export const hubSorts = ['needs', 'age', 'agent', 'machine', 'state'] as const;

/** The filters of every list, and those that only a hub has. */
export const hubFilters = {
  state: values,
  agent: values,
  target: values,
  session: values,
  machine: values,
  owner: values,
  repo: values,
  needs_action: flag,
  ended: flag,
  sort: z.enum(hubSorts).optional(),
  offset: count.optional(),
  limit: z.int().positive().max(limits.hubWindowRowsMax).optional(),
};
export const hubQuerySchema = z.strictObject(hubFilters);
const hubListQuerySchema = z.strictObject({ ...hubFilters, ...textQuery });

export const hubDocuments = {
  JoinHub: joinHubSchema,
  ShareHub: shareHubSchema,
  HubStatus: hubStatusSchema,
  HubList: hubListSchema,
} as const;

export const hubRoutes = {
  hub: {
    method: 'get',
    path: '/v1/hub',
    summary: 'Get the hub that this daemon reports to, and what it shares with it',
    query: noQuerySchema,
    reply: 'HubStatus',
  },
  joinHub: {
    method: 'post',
    path: '/v1/hub',
    summary: 'Join a hub with a one-use code',
    query: noQuerySchema,
    body: { words: 'the hub and the code', document: 'JoinHub' },
    reply: 'HubStatus',
    isLocal: true,
  },
  shareHub: {
    method: 'post',
    path: '/v1/hub/share',
    summary: 'Choose what leaves this machine',
    query: noQuerySchema,
    body: { words: 'what is shared', document: 'ShareHub' },
    reply: 'HubStatus',
    isLocal: true,
  },
  leaveHub: {
    method: 'delete',
    path: '/v1/hub',
    summary: 'Leave the hub; nothing is told to it any more',
    query: noQuerySchema,
    reply: 'Done',
    isLocal: true,
  },
  hubPanes: {
    method: 'get',
    path: '/v1/hub/panes',
    summary: 'List the agents of every machine of the hub; a person has to ask',
    query: hubListQuerySchema,
    hasText: true,
    reply: 'HubList',
    isLocal: true,
  },
} as const;

export type HubStatusReply = z.infer<typeof hubStatusSchema>;
export type HubWindow = z.infer<typeof hubWindowSchema>;
