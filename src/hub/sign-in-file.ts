// Who may sign in at a hub, and as what: the file of whoever runs it. What people may follows from their groups.

import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { AgtmuxError } from '../model/errors.ts';
import { hubRoles } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import type { Files } from '../platform/files.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import type { PersonSession } from './table.ts';

const name = z.string().min(1).max(limits.idCharsMax);
const names = z.array(name).max(limits.filterValuesMax).default([]);

const roleSchema = z.strictObject({
  /** The first one that fits counts; without a group it fits everyone whom the provider lets in. */
  group: name.optional(),
  role: z.enum(hubRoles),
  owners: names,
  repos: names,
});
const providerSchema = z.strictObject({
  tenant: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/),
  issuer: z.url({ protocol: /^https?$/ }),
  client_id: name,
  /** For a client that is not public. */
  client_secret: z.string().min(1).max(limits.idCharsMax).optional(),
  scopes: z.array(name).max(limits.filterValuesMax).default(['openid', 'email', 'profile']),
  /** The claim that names a person; hub.toml on machines says the same. */
  who: name.default('email'),
  groups: name.default('groups'),
  roles: z.array(roleSchema).min(1).max(limits.filterValuesMax),
});
const fileSchema = z.strictObject({ provider: z.array(providerSchema).min(1).max(limits.filterValuesMax) });
export type SignInProvider = z.infer<typeof providerSchema>;

export async function readProviders(files: Pick<Files, 'read'>, path: string): Promise<readonly SignInProvider[]> {
  const found = await files.read(path, { bytesMax: limits.hubFileBytesMax, followLinks: true });
  if (found === null) return [];
  const wrong = (what: string): AgtmuxError => new AgtmuxError('E_CONFIG', `${path}: ${what}`, { next: 'fix it' });
  let said: unknown;
  try {
    said = parse(Buffer.from(found.bytes).toString());
  } catch (problem) {
    throw wrong(problem instanceof TomlError ? `line ${problem.line}: ${problem.message.split('\n')[0]}` : 'no TOML');
  }
  const checked = fileSchema.safeParse(said);
  if (!checked.success) {
    throw wrong(checked.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`).join('; '));
  }
  const { provider } = checked.data;
  if (new Set(provider.map(({ tenant }) => tenant)).size !== provider.length)
    throw wrong('two providers for one tenant');
  const plain = provider.find(({ issuer }) => !isSafe(new URL(issuer)));
  if (plain !== undefined) throw wrong(`${plain.issuer} has to begin with https://`);
  return provider;
}

export const isLoopback = ({ hostname }: URL): boolean => /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
const isSafe = (url: URL): boolean => url.protocol === 'https:' || isLoopback(url);

/** What the browser keeps between the two steps: whoever comes back has to be the one who went. */
const flowSchema = z.strictObject({ tenant: z.string(), state: z.string(), nonce: z.string(), verifier: z.string() });
export type SignInFlow = z.infer<typeof flowSchema>;

export function readFlow(said: string): SignInFlow | null {
  try {
    return flowSchema.parse(JSON.parse(Buffer.from(said, 'base64url').toString()));
  } catch {
    return null;
  }
}
export const writeFlow = (flow: SignInFlow): string => Buffer.from(JSON.stringify(flow)).toString('base64url');

export type SignedInPerson = Pick<PersonSession, 'who' | 'role' | 'owners' | 'repos'>;

export function personOf(provider: SignInProvider, claims: Readonly<Record<string, unknown>>): SignedInPerson {
  const said = claims[provider.who];
  const who = typeof said === 'string' ? sanitizeLine(foreign(said)).slice(0, 80) : '';
  const isProved = provider.who !== 'email' || claims.email_verified !== false;
  if (who === '' || who === '*' || !isProved) {
    throw new AgtmuxError('E_ROLE', `the sign-in service does not say ${provider.who}, or has not checked it`, {
      next: 'ask whoever runs the hub',
    });
  }
  const told = claims[provider.groups];
  const groups = new Set(Array.isArray(told) ? told : [told]);
  const fitting = provider.roles.find(({ group }) => group === undefined || groups.has(group));
  if (fitting === undefined) {
    throw new AgtmuxError('E_ROLE', 'none of your groups may use this hub', { next: 'ask whoever runs the hub' });
  }
  const { role, owners, repos } = fitting;
  // "me" stands for the person's own machines.
  return { who, role, owners: owners.map((one) => (one === 'me' ? who : one)), repos };
}
