// What travels between a daemon and its hub, whatever carries it. Each side checks what the other says: an old hub keeps what it
// does not know of a row, and a hostile edge can say nothing that is too large or of another shape.

import { actionKinds, outcomes } from '../model/actions.ts';
import { errorCodes } from '../model/errors.ts';
import { hubActionKinds, hubRoles, hubShares, machineKinds } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import { count } from './common.ts';
import { z } from './zod.ts';

const id = z
  .string()
  .min(1)
  .max(limits.idCharsMax)
  .regex(/^\P{Cc}+$/u);
const text = z.string().max(limits.hubTextCharsMax);
/** No control characters: one of the engines takes no text with a zero in it. */
const key = z
  .string()
  .min(1)
  .max(limits.pathCharsMax)
  .regex(/^\P{Cc}+$/u);
const signature = z.string().regex(/^[A-Za-z0-9_-]{86}$/);
const publicKey = z.string().regex(/^[A-Za-z0-9_-]{43}$/);
const daemonIdPattern = /^[0-9a-f]{32}$/;
const daemonId = z.string().regex(daemonIdPattern);
const tenantName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/);
const label = z
  .string()
  .min(1)
  .max(80)
  .regex(/^\P{C}+$/u);

/** A row as it is kept: what lists need must be there, the rest stays as it came (FED3). */
const itemSchema = z.looseObject({
  identity: z.looseObject({
    target: text,
    session_name: text,
    window_id: text.nullable(),
    pane_id: text.nullable(),
  }),
  ref: text,
  runtime_id: id.nullable(),
  agent: text,
  state: text,
  since: z.iso.datetime().nullable(),
  state_version: count.nullable(),
  cwd: z.string().max(limits.pathCharsMax),
});
export type WireItem = z.infer<typeof itemSchema>;

const change = z.strictObject({ key, version: count, value: itemSchema.nullable() });
const batchHead = { v: z.literal(1), epoch: id, to: count };

/** `from` and the versions are those of the daemon's feed; a batch begins where the one before it ended. */
const changesSchema = z.strictObject({
  ...batchHead,
  kind: z.literal('changes'),
  from: count,
  changes: z.array(change).max(limits.hubBatchChangesMax),
});
/** One part of everything that there is at `to`. The last part takes away what was in none. */
const snapshotSchema = z.strictObject({
  ...batchHead,
  kind: z.literal('snapshot'),
  part: count,
  parts: z.int().positive().max(limits.hubDaemonAgentsMax),
  changes: z.array(change).max(limits.hubBatchChangesMax),
});
export const batchSchema = z.discriminatedUnion('kind', [changesSchema, snapshotSchema]);
export type WireBatch = z.infer<typeof batchSchema>;

const logRow = z.strictObject({
  number: z.int().positive(),
  at: z.iso.datetime(),
  actor: text,
  action: text,
  runtime_id: id.nullable(),
  result: text,
  detail: z.record(z.string().max(limits.idCharsMax), z.unknown()),
});
export const wireLogSchema = z.strictObject({
  v: z.literal(1),
  kind: z.enum(['audit', 'states']),
  rows: z.array(logRow).max(limits.hubLogRowsMax),
});
export type WireLog = z.infer<typeof wireLogSchema>;
export type WireLogRow = z.infer<typeof logRow>;

export const beatSchema = z.strictObject({
  v: z.literal(1),
  epoch: id.nullable(),
  /** The newest version that was published to the hub. */
  version: count,
  share: z.enum(hubShares),
  allows: z.array(text).max(limits.filterValuesMax),
  agtmux: z.string().max(80),
  /** The number of its last audit row. */
  audit: count,
  /** Of the machine and of the daemon's start: two that hold one key at once are told apart by it. */
  life: id,
  at: z.iso.datetime(),
  goodbye: z.boolean(),
});

/** What became of a batch. */
export const appliedSchema = z.discriminatedUnion('result', [
  z.strictObject({ result: z.enum(['applied', 'old', 'gap', 'refused']) }),
  /** The table knows newer versions than this daemon has: it was set back. */
  z.strictObject({ result: z.literal('behind'), version: count }),
]);
export type WireApplied = z.infer<typeof appliedSchema>;

export const joinSchema = z.strictObject({
  v: z.literal(1),
  code: z.string().regex(/^[a-z0-9-]{8,64}$/),
  public_key: publicKey,
  label,
  share: z.enum(hubShares),
  agtmux: z.string().max(80),
  at: z.iso.datetime(),
  /** That who joins holds the key. */
  signature,
});
export const joinedSchema = z.strictObject({
  tenant: tenantName,
  daemon: daemonId,
  hub_key: publicKey,
  label,
  kind: z.enum(machineKinds),
  link: z.strictObject({ kind: z.literal('stream') }),
});
export type WireJoined = z.infer<typeof joinedSchema>;

/** What a daemon says in front of a request or a connection of its own, signed. */
export const claimedSchema = z.strictObject({ tenant: tenantName, daemon: daemonId, at: z.iso.datetime(), signature });

/** What a hub asks of an edge: the act, and who wants it; signed as one text. */
export const orderSchema = z.strictObject({
  v: z.literal(1),
  id,
  tenant: tenantName,
  daemon: daemonId,
  who: label,
  role: z.enum(hubRoles),
  nonce: z.string().regex(/^[0-9a-f]{32}$/),
  expires_at: z.iso.datetime(),
  /** The version of the state that was on the screen; null where none was. */
  state_version: count.nullable(),
  act: z.looseObject({ action: z.enum(hubActionKinds), ref: key }),
});
export type WireOrder = z.infer<typeof orderSchema>;
export const signedOrderSchema = z.strictObject({
  text: z.string().max(limits.hubMessageBytesMax),
  signature,
});

export const wireReceiptSchema = z.strictObject({
  outcome: z.enum(outcomes),
  action: z.enum(actionKinds).optional(),
  ref: text.nullable(),
  way: text.nullable(),
  words: text.nullable(),
  failure: z.strictObject({ code: z.enum(errorCodes), message: text, next: text }).nullable(),
});

export const askKindsOfHub = ['resync', 'act', 'view', 'logs'] as const;
export type HubAskKind = (typeof askKindsOfHub)[number];

// The frames of the stream: JSON texts over one web socket that the daemon opens.

const frameId = z.int().nonnegative();
const hubFrame = z.discriminatedUnion('t', [
  z.strictObject({ t: z.literal('challenge'), nonce: id, hub_key: publicKey }),
  z.strictObject({ t: z.literal('welcome'), epoch: id.nullable(), version: count }),
  z.strictObject({ t: z.literal('taken'), id: frameId, applied: appliedSchema.nullable() }),
  z.strictObject({ t: z.literal('ask'), id: frameId, kind: z.enum(askKindsOfHub), body: z.unknown() }),
  z.strictObject({ t: z.literal('refused'), code: z.enum(errorCodes), message: text, next: text }),
]);
const edgeFrame = z.discriminatedUnion('t', [
  z.strictObject({ t: z.literal('hello'), tenant: tenantName, daemon: daemonId, life: id, signature }),
  z.strictObject({ t: z.literal('put'), id: frameId, kind: z.enum(['feed', 'log', 'beat']), body: z.unknown() }),
  z.strictObject({ t: z.literal('answer'), id: frameId, body: z.unknown() }),
]);
export type HubFrame = z.infer<typeof hubFrame>;
export type EdgeFrame = z.infer<typeof edgeFrame>;

const read = <Value>(schema: z.ZodType<Value>, said: string): Value | null => {
  try {
    const checked = schema.safeParse(JSON.parse(said));
    return checked.success ? checked.data : null;
  } catch {
    return null;
  }
};
export const readHubFrame = (said: string): HubFrame | null => read(hubFrame, said);
export const readEdgeFrame = (said: string): EdgeFrame | null => read(edgeFrame, said);

// The texts that are signed. Each begins with what it is for, so that no signature fits anything else.

export const signedTexts = {
  hello: (hubKey: string, nonce: string, daemon: string, life: string) =>
    ['agtmux hello', hubKey, nonce, daemon, life].join('\n'),
  join: (code: string, publicKey: string, at: string) => ['agtmux join', code, publicKey, at].join('\n'),
  request: (hubKey: string, daemon: string, at: string, body: string) =>
    ['agtmux request', hubKey, daemon, at, body].join('\n'),
  order: (body: string) => `agtmux order\n${body}`,
} as const;
