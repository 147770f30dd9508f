// What a daemon remembers of its hub, in one private file: where it is, who we are there, and the key that proves it. Made by joining,
// gone after leaving.

import { z } from 'zod';
import { joinedSchema, signedTexts, type WireJoined } from '../api/hub-wire.ts';
import { AgtmuxError, fail, ok, type Result } from '../model/errors.ts';
import { hubShares, type JoinRequest, machineKinds } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Files } from '../platform/files.ts';
import type { RandomSource } from '../platform/random.ts';
import type { AskRemote, RemoteAnswer } from '../platform/remote.ts';
import { daemonIdOf, type SigningKey, signingKeyOf } from '../platform/signing.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';

const membershipSchema = z.strictObject({
  v: z.literal(1),
  url: z.url(),
  tenant: z.string(),
  daemon: z.string(),
  hub_key: z.string(),
  label: z.string(),
  kind: z.enum(machineKinds),
  share: z.enum(hubShares),
  link: joinedSchema.shape.link,
  /** The key: 32 bytes as hex. */
  seed: z.string().regex(/^[0-9a-f]{64}$/),
  /** Added to the versions of the feed. */
  offset: z.int().nonnegative(),
  /** The last audit row that the hub has, by the number it was told under. */
  audit_sent: z.int().nonnegative(),
  /** Added to the numbers of audit rows, where the log has begun again. */
  audit_offset: z.int().nonnegative().optional(),
  /** The last line of the history of states that the hub has; none before the first one was told. */
  states_sent: z.int().nonnegative().optional(),
});
export type Membership = z.infer<typeof membershipSchema>;

export const keyOf = ({ seed }: Pick<Membership, 'seed'>): SigningKey => signingKeyOf(Buffer.from(seed, 'hex'));

export interface MembershipParts {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly files: Files;
  readonly path: string;
  readonly ask: AskRemote;
  readonly hostName: string;
  readonly version: string;
  /** The number of the last audit row: what was before joining is nobody's business. */
  readonly lastAudit: () => Promise<number>;
}

export async function readMembership({
  files,
  path,
}: Pick<MembershipParts, 'files' | 'path'>): Promise<Membership | null> {
  const found = await files.read(path, { bytesMax: limits.hubFileBytesMax });
  if (found === null) return null;
  try {
    return membershipSchema.parse(JSON.parse(Buffer.from(found.bytes).toString()));
  } catch (cause) {
    throw new AgtmuxError('E_FILE', `${path} cannot be understood`, {
      next: 'run `agtmux hub leave`, then join again',
      cause,
    });
  }
}

export async function writeMembership(
  { files, path }: Pick<MembershipParts, 'files' | 'path'>,
  membership: Membership,
): Promise<void> {
  await files.writeAtomic(path, Buffer.from(`${JSON.stringify(membership, null, 2)}\n`));
}

/** Outside of this machine nobody may listen. */
export function checkUrl(said: string): Result<URL> {
  let url: URL;
  try {
    url = new URL(said);
  } catch {
    return fail('E_INPUT', 'the address of the hub is no URL', 'write it as https://hub.example.com');
  }
  const isLoopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)) return ok(url);
  return fail(
    'E_INPUT',
    'the address of a hub begins with https://',
    'http:// is for a hub on this machine, or behind `ssh -L`',
  );
}

export async function joinHub(parts: MembershipParts, wish: JoinRequest): Promise<Result<Membership>> {
  const url = checkUrl(wish.url);
  if (!url.ok) return url;
  const seed = parts.random.hex(32);
  const key = keyOf({ seed });
  const at = new Date(parts.clock.wallMs()).toISOString();
  const label = wish.label ?? parts.hostName;
  const asked = {
    v: 1,
    code: wish.code,
    public_key: key.publicKey,
    label,
    share: wish.share,
    agtmux: parts.version,
    at,
    signature: key.sign(signedTexts.join(wish.code, key.publicKey, at)),
  };
  const answer = await askHub(parts.ask, url.value, '/edge/v1/join', asked);
  if (!answer.ok) return answer;
  const checked = joinedSchema.safeParse(answer.value);
  if (!checked.success || checked.data.daemon !== daemonIdOf(key.publicKey)) {
    return fail('E_HUB', 'what answers at this address is no hub of this version');
  }
  const { hub_key, ...joined } = checked.data satisfies WireJoined;
  const membership: Membership = {
    v: 1,
    url: url.value.origin,
    share: wish.share,
    seed,
    offset: 0,
    audit_sent: await parts.lastAudit(),
    hub_key,
    ...joined,
  };
  await writeMembership(parts, membership);
  return ok(membership);
}

/** The answer as JSON, or the failure that the hub says. */
export async function askHub(ask: AskRemote, url: URL | string, path: string, body: unknown): Promise<Result<unknown>> {
  const headers = { 'content-type': 'application/json' };
  const deadlineMs = limits.hubConnectMs;
  const answer = await ask({
    url: new URL(path, url).href,
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    deadlineMs,
  });
  if (answer.kind === 'failed') return fail('E_HUB', `the hub cannot be reached: ${answer.why}`);
  return readAnswer(answer);
}

const failureSchema = z.object({ error: z.object({ code: z.string(), message: z.string(), next: z.string() }) });

function readAnswer({ status, text }: Extract<RemoteAnswer, { kind: 'answered' }>): Result<unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (status >= 200 && status < 300) return ok(value);
    const { error } = failureSchema.parse(value);
    const words = [error.message, error.next].map((one) => sanitizeLine(foreign(one.slice(0, limits.detailCharsMax))));
    const code =
      error.code === 'E_HUB_CODE' || error.code === 'E_ROLE' || error.code === 'E_FILTER' ? error.code : 'E_HUB';
    return fail(code, words[0] ?? '', words[1] ?? '');
  } catch {
    return fail('E_HUB', `what answers at this address is no hub (${status})`);
  }
}
