// Signing in at the hub by whatever the organisation signs in with: OpenID Connect, code flow with PKCE, by a library. Who may, and as
// what, says the file of whoever runs the hub, by their groups.

import type { Configuration } from 'openid-client';
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

const isLoopback = ({ hostname }: URL): boolean => /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
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
  // Some services say it as text.
  const isProved = provider.who !== 'email' || String(claims.email_verified ?? true) === 'true';
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

export class SignIn {
  readonly #providers: readonly SignInProvider[];
  readonly #known = new Map<string, Promise<Configuration>>();

  constructor(providers: readonly SignInProvider[]) {
    this.#providers = providers;
  }

  get tenants(): readonly string[] {
    return this.#providers.map(({ tenant }) => tenant);
  }

  /** Where the browser goes, and what it has to bring back. */
  async begin(tenant: string, callback: string): Promise<{ readonly url: URL; readonly flow: SignInFlow }> {
    const { provider, configuration, oidc } = await this.#of(tenant);
    const flow = {
      tenant,
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    };
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: callback,
      scope: provider.scopes.join(' '),
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    });
    return { url, flow };
  }

  async finish(flow: SignInFlow, came: URL): Promise<SignedInPerson> {
    const { provider, configuration } = await this.#of(flow.tenant);
    const claims = await this.#claims(configuration, flow, came).catch((cause: unknown) => {
      const words = cause instanceof Error ? cause.message : String(cause);
      throw new AgtmuxError('E_SIGNED_OUT', `signing in failed: ${sanitizeLine(foreign(words))}`, {
        next: 'sign in again',
        cause,
      });
    });
    return personOf(provider, claims);
  }

  async #claims(
    configuration: Configuration,
    { state, nonce, verifier }: SignInFlow,
    came: URL,
  ): Promise<Readonly<Record<string, unknown>>> {
    const oidc = await client();
    const tokens = await oidc.authorizationCodeGrant(configuration, came, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('there is no ID token');
    // Many providers keep the ID token short, and say groups and addresses only here.
    const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
    const more = hasMore ? await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub) : {};
    return { ...more, ...claims };
  }

  async #of(tenant: string) {
    const provider = this.#providers.find((one) => one.tenant === tenant);
    if (provider === undefined) throw new AgtmuxError('E_ROUTE', 'nobody signs in like this at this hub');
    const known = this.#known.get(tenant) ?? discover(provider);
    this.#known.set(tenant, known);
    // One that is away now is asked again with the next try.
    known.catch(() => this.#known.delete(tenant));
    return { provider, configuration: await known, oidc: await client() };
  }
}

/** Loaded only where somebody signs in by it. */
const client = () => import('openid-client');

async function discover({ issuer, client_id, client_secret }: SignInProvider): Promise<Configuration> {
  const oidc = await client();
  const url = new URL(issuer);
  const execute = url.protocol === 'http:' && isLoopback(url) ? [oidc.allowInsecureRequests] : [];
  try {
    return await oidc.discovery(url, client_id, client_secret, client_secret === undefined ? oidc.None() : undefined, {
      execute,
      timeout: limits.hubConnectMs / 1_000,
    });
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    throw new AgtmuxError('E_HUB', `the sign-in service cannot be reached: ${sanitizeLine(foreign(words))}`, { cause });
  }
}
